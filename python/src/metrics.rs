//! Detected events against true ones.

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use unjitter::evaluation::{
    self, Bout, BoutOptions, ClassDetection, Detection, EventOptions, SessionBouts, SessionEvents,
    Tolerance, detect_class_events,
};

use crate::convert::{from_json, to_json, to_python};

type Floats<'py> = PyReadonlyArray1<'py, f64>;

fn owned(values: &Floats<'_>) -> Vec<f64> {
    values.as_array().to_vec()
}

/// When detected events begin and end, their probabilities, and the numbers of their classes.
type Detected<'py> = (
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<i64>>,
);

/// Events of labels that are independent or form a chain; probabilities are by instance and class.
#[pyfunction]
#[pyo3(signature = (times, probabilities, threshold, min_separation, labels="independent", classes=1))]
pub(crate) fn detect_events<'py>(
    py: Python<'py>,
    times: Floats<'py>,
    probabilities: Floats<'py>,
    threshold: f64,
    min_separation: f64,
    labels: &str,
    classes: usize,
) -> PyResult<Detected<'py>> {
    let (times, probabilities) = (owned(&times), owned(&probabilities));
    let labels = from_json("labels", &to_json(&labels)?)?;
    let options = EventOptions { threshold, min_separation, labels };
    let found = py.detach(|| detect_class_events(&times, &probabilities, classes, &options));
    let found = found.map_err(to_python)?;
    let column = |of: fn(&Detection) -> f64| -> Bound<'py, PyArray1<f64>> {
        found.iter().map(|one| of(&one.event)).collect::<Vec<f64>>().into_pyarray(py)
    };
    let class = |one: &ClassDetection| one.class as i64;
    Ok((
        column(|event| event.time),
        column(|event| event.end),
        column(|event| event.score),
        found.iter().map(class).collect::<Vec<i64>>().into_pyarray(py),
    ))
}

/// The number of the likeliest class of each instance, by probabilities by instance and class; −1 where an event of any
/// class is less probable than the threshold.
#[pyfunction]
pub(crate) fn told_classes<'py>(
    py: Python<'py>,
    probabilities: Floats<'py>,
    classes: usize,
    threshold: f64,
) -> Bound<'py, PyArray1<i64>> {
    let probabilities = owned(&probabilities);
    let told =
        |own: &[f64]| evaluation::told_class(own, threshold).map_or(-1, |class| class as i64);
    let told: Vec<i64> = probabilities.chunks_exact(classes.max(1)).map(told).collect();
    told.into_pyarray(py)
}

/// Scores of the classes `names`, as JSON: one class per instance in `truth` and in `found`, none for no event.
#[pyfunction]
pub(crate) fn class_scores(
    py: Python<'_>,
    names: Vec<String>,
    truth: Vec<Option<String>>,
    found: Vec<Option<String>>,
) -> PyResult<String> {
    let scores = py.detach(|| {
        let [truth, found] = [&truth, &found]
            .map(|own| own.iter().map(|class| class.as_deref().unwrap_or_default()).collect());
        let (truth, found): (Vec<&str>, Vec<&str>) = (truth, found);
        evaluation::class_scores(&names, &truth, &found)
    });
    to_json(&scores.map_err(to_python)?)
}

/// When runs in order of time end, from their first and last instances, which last for `spacing`.
#[pyfunction]
pub(crate) fn lasting<'py>(
    py: Python<'py>,
    begins: Floats<'py>,
    ends: Floats<'py>,
    spacing: f64,
) -> Bound<'py, PyArray1<f64>> {
    let run = |(time, end)| Detection { time, end, score: 1.0 };
    let runs: Vec<Detection> = owned(&begins).into_iter().zip(owned(&ends)).map(run).collect();
    let bouts = evaluation::lasting(&runs, spacing);
    bouts.iter().map(|bout| bout.end).collect::<Vec<f64>>().into_pyarray(py)
}

/// Positions of matched events and of their detections.
#[pyfunction]
#[expect(clippy::type_complexity, reason = "two arrays")]
pub(crate) fn match_events<'py>(
    py: Python<'py>,
    truths: Floats<'py>,
    detections: Floats<'py>,
    tolerance: (f64, f64),
) -> PyResult<(Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>)> {
    let (truths, detections) = (owned(&truths), owned(&detections));
    let tolerance = window(tolerance);
    let pairs = py.detach(|| evaluation::match_events(&detections, &truths, &tolerance));
    let pairs = pairs.map_err(to_python)?;
    let truths: Vec<i64> = pairs.iter().map(|pair| pair.truth as i64).collect();
    let detections: Vec<i64> = pairs.iter().map(|pair| pair.detection as i64).collect();
    Ok((truths.into_pyarray(py), detections.into_pyarray(py)))
}

/// One session: true events, detections, their scores, and the observed time.
type Events<'py> = (Floats<'py>, Floats<'py>, Floats<'py>, f64);

/// The same, owned.
struct Owned {
    truths: Vec<f64>,
    detections: Vec<Detection>,
    observed: f64,
}

impl Owned {
    fn all(sessions: &[Events<'_>]) -> Vec<Self> {
        let own = |(truths, times, scores, observed): &Events<'_>| Self {
            truths: owned(truths),
            detections: owned(times)
                .into_iter()
                .zip(owned(scores))
                .map(|(time, score)| Detection::at(time, score))
                .collect(),
            observed: *observed,
        };
        sessions.iter().map(own).collect()
    }

    fn lend(&self) -> SessionEvents<'_> {
        let Self { truths, detections, observed } = self;
        SessionEvents { detections, truths, observed: *observed }
    }

    fn lend_all(all: &[Self]) -> Vec<SessionEvents<'_>> {
        all.iter().map(Self::lend).collect()
    }
}

fn window((before, after): (f64, f64)) -> Tolerance {
    Tolerance { before, after }
}

/// Hits, misses, false alarms and timing, as JSON.
#[pyfunction]
pub(crate) fn event_metrics(
    py: Python<'_>,
    sessions: Vec<Events<'_>>,
    tolerance: (f64, f64),
    seconds_per_unit: f64,
) -> PyResult<String> {
    let (sessions, tolerance) = (Owned::all(&sessions), window(tolerance));
    let found = py.detach(|| {
        evaluation::event_metrics(&Owned::lend_all(&sessions), &tolerance, seconds_per_unit)
    });
    to_json(&found.map_err(to_python)?)
}

/// Area under precision over recall of ranked detections, averaged over tolerances.
#[pyfunction]
pub(crate) fn mean_event_average_precision(
    py: Python<'_>,
    sessions: Vec<Events<'_>>,
    tolerances: Vec<(f64, f64)>,
) -> PyResult<f64> {
    let sessions = Owned::all(&sessions);
    let tolerances: Vec<Tolerance> = tolerances.into_iter().map(window).collect();
    py.detach(|| evaluation::mean_event_average_precision(&Owned::lend_all(&sessions), &tolerances))
        .map_err(to_python)
}

/// Bouts of one session, true and detected, as rows of start and end; and when the session begins.
type Bouts<'py> = (PyReadonlyArray2<'py, f64>, PyReadonlyArray2<'py, f64>, f64);

/// What detected bouts have in common with true ones, as JSON.
#[pyfunction]
pub(crate) fn bout_metrics(
    py: Python<'_>,
    sessions: Vec<Bouts<'_>>,
    overlap: f64,
    detection: f64,
    truth: f64,
    stretch: f64,
) -> PyResult<String> {
    let bouts = |rows: &PyReadonlyArray2<'_, f64>| -> Vec<Bout> {
        let rows = rows.as_array();
        rows.rows().into_iter().map(|row| Bout { start: row[0], end: row[1] }).collect()
    };
    let own = |(truths, found, begins): &Bouts<'_>| (bouts(truths), bouts(found), *begins);
    let all: Vec<_> = sessions.iter().map(own).collect();
    let options = BoutOptions { overlap, detection, truth, stretch };
    let found = py.detach(|| {
        let sessions: Vec<SessionBouts<'_>> = all
            .iter()
            .map(|(truths, detections, begins)| SessionBouts {
                detections,
                truths,
                begins: *begins,
            })
            .collect();
        evaluation::bout_metrics(&sessions, &options)
    });
    to_json(&found.map_err(to_python)?)
}
