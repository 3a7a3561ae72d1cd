//! What differs between groups of stamps: people, clocks, devices.

use pyo3::prelude::*;
use unjitter::diagnosis;

use crate::convert::{to_json, to_python};
use crate::fitted::{Fitted, describe};
use crate::pool::alone;
use crate::session::{PySession, lend};
use crate::watch::watched;

/// The model with what differs for groups of sessions, also those that it has not seen, and a warning of
/// their clocks that were not found.
#[pyfunction]
pub(crate) fn adapted(
    py: Python<'_>,
    fitted: &Fitted,
    sessions: Vec<PySession<'_>>,
    use_labels: bool,
    threads: usize,
) -> PyResult<(Fitted, Option<(String, String)>)> {
    let sessions = lend(&sessions, use_labels)?;
    let found =
        watched(py, None, |control| alone(threads, || fitted.0.adapted(&sessions, control)))??;
    let found = found.map_err(to_python)?;
    let warning = unjitter::sync::warning(&found.clocks);
    Ok((Fitted(found.fitted), warning.as_ref().map(describe).transpose()?))
}

/// What was learned of each group, with intervals at a level, as JSON.
#[pyfunction]
pub(crate) fn group_estimates(fitted: &Fitted, level: f64) -> PyResult<String> {
    to_json(&fitted.0.group_estimates(level).map_err(to_python)?)
}

/// How far annotators of the same sessions agree, as JSON.
#[pyfunction]
pub(crate) fn agreement(
    py: Python<'_>,
    fitted: &Fitted,
    sessions: Vec<PySession<'_>>,
    use_labels: bool,
    threads: usize,
) -> PyResult<String> {
    let sessions = lend(&sessions, use_labels)?;
    let found = py.detach(|| alone(threads, || diagnosis::agreement(&fitted.0, &sessions)))?;
    to_json(&found.map_err(to_python)?)
}
