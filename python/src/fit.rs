//! Learning.

use std::collections::BTreeMap;

use pyo3::prelude::*;
use unjitter::{FitOptions, Model};

use crate::convert::{from_json, to_python};
use crate::fitted::Fitted;
use crate::session::{PySession, lend};
use crate::watch::watched;

/// Fits a model (JSON) to sessions, with notes (JSON) for its file. `show` sees the progress, as in [`watched`].
#[pyfunction]
#[pyo3(signature = (model, options, sessions, use_labels=false, notes="{}", show=None))]
pub(crate) fn fit(
    py: Python<'_>,
    model: &str,
    options: &str,
    sessions: Vec<PySession<'_>>,
    use_labels: bool,
    notes: &str,
    show: Option<Py<PyAny>>,
) -> PyResult<Fitted> {
    let model: Model = from_json("model", model)?;
    let options: FitOptions = from_json("options", options)?;
    let notes: BTreeMap<String, serde_json::Value> = from_json("notes", notes)?;
    let sessions = lend(&sessions, use_labels)?;
    let fitted = watched(py, show, |control| model.fit(&sessions, &options, control))?;
    let mut fitted = fitted.map_err(to_python)?;
    for (name, note) in notes {
        fitted.set_metadata(name, note).map_err(to_python)?;
    }
    Ok(Fitted(fitted))
}
