//! Data with a known truth.

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use unjitter::learning::median_spacing;
use unjitter::simulation::{
    Annotator, ChestBand, Presses, Respiration, Sloppiness, WEARABLE_FEATURES, Wearable,
};
use unjitter::{Control, Recording};

use crate::convert::{from_json, to_json, to_python};
use crate::dataset::{NewSession, annotators_of, ends_of};
use crate::session::{PySession, recordings};
use crate::watch::watched;

/// Settings of a study by its name, resized to the given numbers of subjects or sessions.
#[pyfunction]
#[pyo3(signature = (kind, subjects=None, sessions=None))]
pub(crate) fn study(
    kind: &str,
    subjects: Option<usize>,
    sessions: Option<usize>,
) -> PyResult<String> {
    let mut options = match kind {
        "mpuff" => Respiration::mpuff(),
        "puffmarker" => Respiration::puffmarker(),
        _ => {
            let problem = format!("kind is '{kind}', expected one of mpuff, puffmarker");
            return Err(PyValueError::new_err(problem));
        }
    };
    if let Some(subjects) = subjects {
        options = options.with_subjects(subjects);
    }
    if let Some(sessions) = sessions {
        options = options.with_sessions(sessions);
    }
    to_json(&options)
}

/// A raw recording.
#[derive(IntoPyObject)]
pub(crate) struct NewChestBand<'py> {
    #[pyo3(item)]
    name: String,
    #[pyo3(item)]
    subject: String,
    #[pyo3(item)]
    times: Bound<'py, PyArray1<f64>>,
    #[pyo3(item)]
    values: Bound<'py, PyArray1<f64>>,
    #[pyo3(item)]
    puffs: Bound<'py, PyArray1<f64>>,
}

/// Raw recordings of a study.
#[pyfunction]
pub(crate) fn chest_bands<'py>(
    py: Python<'py>,
    options: &str,
    seed: u64,
) -> PyResult<Vec<NewChestBand<'py>>> {
    let options: Respiration = from_json("options", options)?;
    let bands = watched(py, None, |control| options.simulate(seed, control))?;
    let bands = bands.map_err(to_python)?;
    let new = |ChestBand { name, subject, signal, puffs }: ChestBand| NewChestBand {
        name,
        subject,
        times: signal.times().to_vec().into_pyarray(py),
        values: signal.values().to_vec().into_pyarray(py),
        puffs: puffs.into_pyarray(py),
    };
    Ok(bands.into_iter().map(new).collect())
}

/// Recordings of a study cut into breaths, with their labels and without stamps.
#[pyfunction]
pub(crate) fn respiration<'py>(
    py: Python<'py>,
    options: &str,
    cycles: &str,
    seed: u64,
) -> PyResult<Vec<NewSession<'py>>> {
    let options: Respiration = from_json("options", options)?;
    let cycles = from_json("cycles", cycles)?;
    let simulate = |control: Control<'_>| {
        let cut = |band: ChestBand| {
            control.stop_if_requested()?;
            Ok(band.session(&cycles)?.recording())
        };
        options.simulate(seed, control)?.into_iter().map(cut).collect()
    };
    let recordings: unjitter::Result<Vec<_>> = watched(py, None, simulate)?;
    let recordings = recordings.map_err(to_python)?;
    Ok(recordings.iter().map(|recording| NewSession::new(py, recording)).collect())
}

/// Windows of movement (settings in JSON) with their labels and without stamps, and the names of their features.
#[pyfunction]
pub(crate) fn wearable<'py>(
    py: Python<'py>,
    options: &str,
    seed: u64,
) -> PyResult<(Vec<NewSession<'py>>, [&'static str; 6])> {
    let options: Wearable = from_json("options", options)?;
    let recordings = watched(py, None, |control| options.simulate(seed, control))?;
    let recordings = recordings.map_err(to_python)?;
    let sessions = recordings.iter().map(|recording| NewSession::new(py, recording)).collect();
    Ok((sessions, WEARABLE_FEATURES))
}

/// The people (JSON) of this sloppiness (JSON) for these sessions, each with a name: an annotator with habits
/// drawn from the seed. Times are in units of the median spacing, unless another is given.
#[pyfunction]
pub(crate) fn people(
    sloppiness: &str,
    sessions: Vec<PySession<'_>>,
    unit: Option<f64>,
    seed: u64,
) -> PyResult<String> {
    let sloppiness: Sloppiness = from_json("sloppiness", sloppiness)?;
    let recordings = recordings(&sessions)?;
    let unit = unit.unwrap_or_else(|| usual_unit(&recordings));
    to_json(&sloppiness.people(&recordings, unit, seed).map_err(to_python)?)
}

type Times<'py> = Bound<'py, PyArray1<f64>>;

/// The presses for a session: when, when again if ends are pressed too, by whom if there are several people, and who
/// pressed at all.
type NewPresses<'py> = (Times<'py>, Option<Times<'py>>, Option<Vec<String>>, Vec<String>);

/// Presses of an annotator (JSON) for each session.
#[pyfunction]
pub(crate) fn annotate<'py>(
    py: Python<'py>,
    annotator: &str,
    sessions: Vec<PySession<'py>>,
    seed: u64,
) -> PyResult<Vec<NewPresses<'py>>> {
    let annotator: Annotator = from_json("annotator", annotator)?;
    let recordings = recordings(&sessions)?;
    let annotated = py.detach(|| annotator.annotate_all(&recordings, seed)).map_err(to_python)?;
    Ok(annotated.iter().map(|one| presses_of(py, one)).collect())
}

/// Presses of the people of a sloppiness (JSON) for each session; see [`people`].
#[pyfunction]
pub(crate) fn annotate_sloppily<'py>(
    py: Python<'py>,
    sloppiness: &str,
    sessions: Vec<PySession<'py>>,
    unit: Option<f64>,
    seed: u64,
) -> PyResult<Vec<NewPresses<'py>>> {
    let sloppiness: Sloppiness = from_json("sloppiness", sloppiness)?;
    let recordings = recordings(&sessions)?;
    let unit = unit.unwrap_or_else(|| usual_unit(&recordings));
    let annotate = || sloppiness.annotate(&recordings, unit, seed);
    let annotated = py.detach(annotate).map_err(to_python)?;
    Ok(annotated.iter().map(|one| presses_of(py, one)).collect())
}

fn usual_unit(recordings: &[Recording<'_>]) -> f64 {
    let sessions: Vec<_> = recordings.iter().map(|one| one.session.clone()).collect();
    median_spacing(&sessions)
}

fn presses_of<'py>(py: Python<'py>, recording: &Recording<'_>) -> NewPresses<'py> {
    let session = &recording.session;
    let stamps = session.stamps().to_vec().into_pyarray(py);
    (stamps, ends_of(py, session), annotators_of(session), session.annotators().to_vec())
}

/// Stamps, the instance of each (−1 for none), and offset and drift of the session's clock.
#[pyfunction]
#[expect(clippy::type_complexity, reason = "two arrays and two numbers")]
pub(crate) fn press<'py>(
    py: Python<'py>,
    annotator: &str,
    times: PyReadonlyArray1<'py, f64>,
    labels: PyReadonlyArray1<'py, bool>,
    seed: u64,
) -> PyResult<(Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<i64>>, f64, f64)> {
    let annotator: Annotator = from_json("annotator", annotator)?;
    let (times, labels) = (times.as_array().to_vec(), labels.as_array().to_vec());
    let presses = py.detach(|| annotator.press(&times, &labels, seed)).map_err(to_python)?;
    let Presses { stamps, sources, offset, drift } = presses;
    let sources: Vec<i64> = sources.iter().map(|source| source.map_or(-1, |i| i as i64)).collect();
    Ok((stamps.into_pyarray(py), sources.into_pyarray(py), offset, drift))
}
