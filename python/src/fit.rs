//! Learning.

use std::collections::BTreeMap;

use pyo3::prelude::*;
use unjitter::evaluation::expected_f1_threshold;
use unjitter::{Control, FitOptions, Model, Session};

use crate::convert::{from_json, to_python};
use crate::fitted::Fitted;
use crate::pool::alone;
use crate::session::{PySession, lend};
use crate::watch::watched;

/// Fits a model (JSON) to sessions, with notes (JSON) for its file. Without a threshold, the one with the
/// best expected F1 is found. `show` sees the progress, as in [`watched`].
#[pyfunction]
#[pyo3(signature = (model, options, sessions, use_labels=false, notes="{}", threshold=None, show=None))]
#[expect(clippy::too_many_arguments, reason = "what, how and on what, and who watches")]
pub(crate) fn fit(
    py: Python<'_>,
    model: &str,
    options: &str,
    sessions: Vec<PySession<'_>>,
    use_labels: bool,
    notes: &str,
    threshold: Option<f64>,
    show: Option<Py<PyAny>>,
) -> PyResult<Fitted> {
    let model: Model = from_json("model", model)?;
    let options: FitOptions = from_json("options", options)?;
    let sessions = lend(&sessions, use_labels)?;
    let fitted = watched(py, show, |control| -> PyResult<_> {
        let fitted = model.fit(&sessions, &options, control).map_err(to_python)?;
        with_threshold(fitted, &sessions, threshold, &options, control)
    })?;
    noted(fitted?, notes)
}

/// The model with this threshold, or with the one that has the best expected F1.
pub(crate) fn with_threshold(
    mut fitted: unjitter::Fitted,
    sessions: &[Session<'_>],
    threshold: Option<f64>,
    options: &FitOptions,
    control: Control<'_>,
) -> PyResult<unjitter::Fitted> {
    let quiet = Control { watch: None, ..control };
    let found = || expected_f1_threshold(&fitted, sessions, quiet);
    let threshold = match threshold {
        Some(threshold) => Ok(threshold),
        None => alone(options.threads.unwrap_or(1), found)?,
    };
    threshold.and_then(|threshold| fitted.set_threshold(threshold)).map_err(to_python)?;
    Ok(fitted)
}

/// The model with notes (JSON) for its file.
pub(crate) fn noted(mut fitted: unjitter::Fitted, notes: &str) -> PyResult<Fitted> {
    let notes: BTreeMap<String, serde_json::Value> = from_json("notes", notes)?;
    for (name, note) in notes {
        fitted.set_metadata(name, note).map_err(to_python)?;
    }
    Ok(Fitted(fitted))
}
