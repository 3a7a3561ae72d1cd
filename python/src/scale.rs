//! Sessions in many places: what a worker holds, and the fit that asks all workers.

use std::sync::{Mutex, PoisonError};

use numpy::{PyArray2, PyReadonlyArray2};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use unjitter::learning::{self, Evidence, LeftOut, Size, Workers};
use unjitter::{Control, Error, FitOptions, Model, Session};

use crate::convert::{from_json, to_python};
use crate::fit::{noted, with_threshold};
use crate::fitted::Fitted;
use crate::pool::alone;
use crate::session::{PySession, lend};
use crate::watch::watched;

/// Seconds for which Python waits for a pass before it is asked whether to go on.
const TICK: f64 = 0.05;

/// Sessions prepared for a model (JSON), kept by a worker.
#[pyclass(frozen, module = "unjitter._core")]
#[derive(Debug)]
pub(crate) struct Partition(learning::Partition<'static>);

#[pymethods]
impl Partition {
    #[new]
    fn new(
        py: Python<'_>,
        model: &str,
        sessions: Vec<PySession<'_>>,
        use_labels: bool,
        threads: usize,
    ) -> PyResult<Self> {
        let fitted = unjitter::Fitted::from_json(model.as_bytes()).map_err(to_python)?;
        let lent = lend(&sessions, use_labels)?;
        let owned: Vec<Session<'static>> =
            lent.into_iter().map(owned).collect::<Result<_, _>>().map_err(to_python)?;
        drop(sessions);
        let prepare = || learning::Partition::new(&fitted, &owned, Control::default());
        let found = py.detach(|| alone(threads, prepare))?;
        Ok(Self(found.map_err(to_python)?))
    }

    /// What the sessions tell of each row of parameters, as JSON; `left_out` is a part of them and how many
    /// there are.
    fn evaluate<'py>(
        &self,
        py: Python<'py>,
        params: PyReadonlyArray2<'py, f64>,
        left_out: Option<(u64, u64)>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let rows: Vec<Vec<f64>> =
            params.as_array().rows().into_iter().map(|p| p.to_vec()).collect();
        let left_out = left_out.map(|(part, of)| LeftOut { part, of });
        let ask = || self.0.evaluate(&rows, left_out, Control::default());
        let found = py.detach(|| alone(threads, ask))?.map_err(to_python)?;
        let text = serde_json::to_vec(&found);
        Ok(PyBytes::new(py, &text.map_err(|error| PyRuntimeError::new_err(error.to_string()))?))
    }
}

/// The session with features of its own, in the precision that they have.
fn owned(session: Session<'_>) -> unjitter::Result<Session<'static>> {
    let all: Vec<usize> = (0..session.len()).collect();
    let features = session.features().select(&all);
    session.with_features(features)
}

/// Which sessions to search on: given names, and numbers of stamps and of instances.
#[pyfunction]
pub(crate) fn sampled(sessions: Vec<(String, usize, usize)>, enough: usize) -> Vec<bool> {
    let size =
        |(name, stamps, instances): &(String, usize, usize)| (name.clone(), *stamps, *instances);
    let known: Vec<_> = sessions.iter().map(size).collect();
    let sizes: Vec<Size<'_>> = known
        .iter()
        .map(|(name, stamps, instances)| Size { name, stamps: *stamps, instances: *instances })
        .collect();
    learning::sampled(&sizes, enough)
}

/// The part of a cross-validation, of so many, that sessions of a name are in.
#[pyfunction]
pub(crate) fn fold_of(name: &str, parts: u64) -> u64 {
    learning::fold_of(name, parts)
}

/// Workers that Python asks. `submit(model, params)` begins a pass; what it returns has `poll(seconds)`, which gives
/// the answers of partitions, or None if it has to be asked again, and `cancel()`.
struct Asked<'a> {
    submit: Py<PyAny>,
    sessions: usize,
    stamps: usize,
    ends: usize,
    control: Control<'a>,
    /// What Python raised.
    raised: Mutex<Option<PyErr>>,
}

impl Asked<'_> {
    fn answers(
        &self,
        fitted: &unjitter::Fitted,
        params: &[Vec<f64>],
    ) -> PyResult<Vec<PyBackedBytes>> {
        let pass = Python::attach(|py| {
            let params = PyArray2::from_vec2(py, params)
                .map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
            self.submit.call1(py, (fitted.to_json(), params))
        })?;
        loop {
            let found = Python::attach(|py| -> PyResult<Option<Vec<PyBackedBytes>>> {
                if self.control.is_stop_requested() {
                    pass.call_method0(py, "cancel")?;
                    return Ok(Some(Vec::new()));
                }
                let answers = pass.call_method1(py, "poll", (TICK,))?;
                answers.extract(py)
            })?;
            if let Some(found) = found {
                return Ok(found);
            }
        }
    }
}

impl Workers for Asked<'_> {
    fn sessions(&self) -> usize {
        self.sessions
    }

    fn stamps(&self) -> usize {
        self.stamps
    }

    fn ends(&self) -> usize {
        self.ends
    }

    fn evaluate(
        &self,
        fitted: &unjitter::Fitted,
        params: &[Vec<f64>],
    ) -> unjitter::Result<Vec<Evidence>> {
        let answers = self.answers(fitted, params).map_err(|error| {
            let words = error.to_string();
            *self.raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            Error::Worker(words)
        })?;
        self.control.stop_if_requested()?;
        let mut total = vec![Evidence::default(); params.len()];
        for answer in answers {
            let found: Vec<Evidence> = serde_json::from_slice(&answer)
                .map_err(|error| Error::Worker(format!("the answer of a worker: {error}")))?;
            if found.len() != total.len() {
                let (found, expected) = (found.len(), total.len());
                let words = format!("a worker answered {found} of {expected} questions");
                return Err(Error::Worker(words));
            }
            total.iter_mut().zip(&found).for_each(|(total, own)| *total += own);
        }
        Ok(total)
    }
}

/// Fits a model (JSON) to sessions that workers hold, given the sample of them and how many sessions, stamps
/// and ends there are; see [`Asked`] for `submit`, and `fit` for the rest.
#[pyfunction]
#[pyo3(signature = (model, options, sample, size, submit, use_labels=false, notes="{}", threshold=None, show=None))]
#[expect(clippy::too_many_arguments, reason = "what, how and on what, and who watches")]
pub(crate) fn fit_over(
    py: Python<'_>,
    model: &str,
    options: &str,
    sample: Vec<PySession<'_>>,
    size: (usize, usize, usize),
    submit: Py<PyAny>,
    use_labels: bool,
    notes: &str,
    threshold: Option<f64>,
    show: Option<Py<PyAny>>,
) -> PyResult<Fitted> {
    let model: Model = from_json("model", model)?;
    let options: FitOptions = from_json("options", options)?;
    let sample = lend(&sample, use_labels)?;
    let fitted = watched(py, show, |control| -> PyResult<_> {
        let (sessions, stamps, ends) = size;
        let workers = Asked { submit, sessions, stamps, ends, control, raised: Mutex::default() };
        let fitted = model.fit_over(&sample, &workers, &options, control);
        if let Some(raised) = workers.raised.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(raised);
        }
        with_threshold(fitted.map_err(to_python)?, &sample, threshold, &options, control)
    })?;
    noted(fitted?, notes)
}
