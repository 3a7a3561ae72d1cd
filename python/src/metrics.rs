//! How good a detector is.

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use unjitter::evaluation::{
    self, Bins, BootstrapOptions, Confusion, CurvePoint, Detection, EventOptions, Interval,
    MeanInterval, PairedTest, Scores, SessionEvents, Tolerance,
};

use crate::convert::{from_json, to_json, to_python};

type Floats<'py> = PyReadonlyArray1<'py, f64>;
type Labels<'py> = PyReadonlyArray1<'py, bool>;

fn owned<T: numpy::Element + Clone>(values: &PyReadonlyArray1<'_, T>) -> Vec<T> {
    values.as_array().to_vec()
}

/// True positives, false positives, false negatives, true negatives.
#[pyfunction]
pub(crate) fn confusion(
    py: Python<'_>,
    labels: Labels<'_>,
    probabilities: Floats<'_>,
    threshold: f64,
) -> PyResult<(usize, usize, usize, usize)> {
    let (labels, probabilities) = (owned(&labels), owned(&probabilities));
    let counts = py.detach(|| evaluation::confusion(&probabilities, &labels, threshold));
    let Confusion { true_positives, false_positives, false_negatives, true_negatives } =
        counts.map_err(to_python)?;
    Ok((true_positives, false_positives, false_negatives, true_negatives))
}

/// Precision, recall and F1 at a threshold.
#[pyfunction]
pub(crate) fn scores(
    py: Python<'_>,
    labels: Labels<'_>,
    probabilities: Floats<'_>,
    threshold: f64,
) -> PyResult<(f64, f64, f64)> {
    let (labels, probabilities) = (owned(&labels), owned(&probabilities));
    let counts = py.detach(|| evaluation::confusion(&probabilities, &labels, threshold));
    let Scores { precision, recall, f1 } = counts.map_err(to_python)?.scores();
    Ok((precision, recall, f1))
}

/// Thresholds from the highest down, and precision and recall at each.
#[pyfunction]
#[expect(clippy::type_complexity, reason = "three arrays")]
pub(crate) fn precision_recall_curve<'py>(
    py: Python<'py>,
    labels: Labels<'py>,
    probabilities: Floats<'py>,
) -> PyResult<(Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>)> {
    let (labels, probabilities) = (owned(&labels), owned(&probabilities));
    let curve = py.detach(|| evaluation::precision_recall_curve(&probabilities, &labels));
    let curve = curve.map_err(to_python)?;
    let column = |of: fn(&CurvePoint) -> f64| -> Bound<'py, PyArray1<f64>> {
        curve.iter().map(of).collect::<Vec<f64>>().into_pyarray(py)
    };
    Ok((
        column(|point| point.threshold),
        column(|point| point.scores.precision),
        column(|point| point.scores.recall),
    ))
}

/// Area under the steps of precision over recall.
#[pyfunction]
pub(crate) fn average_precision(
    py: Python<'_>,
    labels: Labels<'_>,
    probabilities: Floats<'_>,
) -> PyResult<f64> {
    let (labels, probabilities) = (owned(&labels), owned(&probabilities));
    py.detach(|| evaluation::average_precision(&probabilities, &labels)).map_err(to_python)
}

/// The threshold of highest F1, with precision, recall and F1 there.
#[pyfunction]
pub(crate) fn best_f1(
    py: Python<'_>,
    labels: Labels<'_>,
    probabilities: Floats<'_>,
) -> PyResult<(f64, f64, f64, f64)> {
    let (labels, probabilities) = (owned(&labels), owned(&probabilities));
    let best = py.detach(|| evaluation::best_f1(&probabilities, &labels)).map_err(to_python)?;
    let CurvePoint { threshold, scores: Scores { precision, recall, f1 } } = best;
    Ok((threshold, precision, recall, f1))
}

/// Mean probability, share of positives and number of instances of each bin that is not empty.
#[pyfunction]
#[expect(clippy::type_complexity, reason = "three arrays")]
pub(crate) fn reliability_curve<'py>(
    py: Python<'py>,
    labels: Labels<'py>,
    probabilities: Floats<'py>,
    bins: &str,
) -> PyResult<(Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<i64>>)> {
    let (labels, probabilities) = (owned(&labels), owned(&probabilities));
    let bins: Bins = from_json("bins", bins)?;
    let curve = py.detach(|| evaluation::reliability_curve(&probabilities, &labels, bins));
    let curve = curve.map_err(to_python)?;
    let predicted: Vec<f64> = curve.iter().map(|bin| bin.mean_predicted).collect();
    let observed: Vec<f64> = curve.iter().map(|bin| bin.observed_share).collect();
    let counts: Vec<i64> = curve.iter().map(|bin| bin.count as i64).collect();
    Ok((predicted.into_pyarray(py), observed.into_pyarray(py), counts.into_pyarray(py)))
}

/// Mean gap between promise and observation over bins.
#[pyfunction]
pub(crate) fn expected_calibration_error(
    py: Python<'_>,
    labels: Labels<'_>,
    probabilities: Floats<'_>,
    bins: &str,
) -> PyResult<f64> {
    let (labels, probabilities) = (owned(&labels), owned(&probabilities));
    let bins: Bins = from_json("bins", bins)?;
    py.detach(|| evaluation::expected_calibration_error(&probabilities, &labels, bins))
        .map_err(to_python)
}

/// Mean squared difference between probability and label.
#[pyfunction]
pub(crate) fn brier_score(
    py: Python<'_>,
    labels: Labels<'_>,
    probabilities: Floats<'_>,
) -> PyResult<f64> {
    let (labels, probabilities) = (owned(&labels), owned(&probabilities));
    py.detach(|| evaluation::brier_score(&probabilities, &labels)).map_err(to_python)
}

/// Mean of −log(probability of the label).
#[pyfunction]
pub(crate) fn log_loss(
    py: Python<'_>,
    labels: Labels<'_>,
    probabilities: Floats<'_>,
) -> PyResult<f64> {
    let (labels, probabilities) = (owned(&labels), owned(&probabilities));
    py.detach(|| evaluation::log_loss(&probabilities, &labels)).map_err(to_python)
}

/// Times and probabilities of detected events.
#[pyfunction]
#[expect(clippy::type_complexity, reason = "two arrays")]
pub(crate) fn detect_events<'py>(
    py: Python<'py>,
    times: Floats<'py>,
    probabilities: Floats<'py>,
    threshold: f64,
    min_separation: f64,
) -> PyResult<(Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>)> {
    let (times, probabilities) = (owned(&times), owned(&probabilities));
    let options = EventOptions { threshold, min_separation };
    let found = py.detach(|| evaluation::detect_events(&times, &probabilities, &options));
    let found = found.map_err(to_python)?;
    let times: Vec<f64> = found.iter().map(|event| event.time).collect();
    let scores: Vec<f64> = found.iter().map(|event| event.score).collect();
    Ok((times.into_pyarray(py), scores.into_pyarray(py)))
}

/// Positions of matched events and of the detections that are credited with them.
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

/// One session: true events, detections, their scores, and how long anybody looked.
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
                .map(|(time, score)| Detection { time, score })
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

/// Mean difference, t, degrees of freedom and p.
#[pyfunction]
pub(crate) fn paired_t_test(
    first: Floats<'_>,
    second: Floats<'_>,
) -> PyResult<(f64, f64, usize, f64)> {
    let test = evaluation::paired_t_test(&owned(&first), &owned(&second)).map_err(to_python)?;
    let PairedTest { mean_difference, t, degrees_of_freedom, p_value } = test;
    Ok((mean_difference, t, degrees_of_freedom, p_value))
}

/// min(1, p · comparisons).
#[pyfunction]
pub(crate) fn bonferroni(p_value: f64, comparisons: usize) -> PyResult<f64> {
    evaluation::bonferroni(p_value, comparisons).map_err(to_python)
}

/// Mean of scores and the ends of its t-interval.
#[pyfunction]
pub(crate) fn mean_interval(scores: Floats<'_>, level: f64) -> PyResult<(f64, f64, f64)> {
    let found = evaluation::mean_interval(&owned(&scores), level).map_err(to_python)?;
    let MeanInterval { mean, low, high } = found;
    Ok((mean, low, high))
}

/// Percentile interval of `statistic(positions)` under resampling of sessions.
#[pyfunction]
pub(crate) fn bootstrap_interval(
    py: Python<'_>,
    statistic: &Bound<'_, PyAny>,
    sessions: usize,
    options: (f64, usize, u64),
) -> PyResult<(f64, f64)> {
    let (level, resamples, seed) = options;
    let options = BootstrapOptions { level, resamples, seed };
    let mut failure = None;
    let interval = evaluation::bootstrap_interval(sessions, &options, |drawn| {
        let positions: Vec<i64> = drawn.iter().map(|&k| k as i64).collect();
        // What is not written in Python sees no signal.
        let value = py
            .check_signals()
            .and_then(|()| statistic.call1((positions.into_pyarray(py),))?.extract());
        // Not a number ends the resampling; what Python said comes first.
        value.unwrap_or_else(|error| {
            failure = Some(error);
            f64::NAN
        })
    });
    if let Some(failure) = failure {
        return Err(failure);
    }
    let Interval { low, high } = interval.map_err(to_python)?;
    Ok((low, high))
}
