//! Goodness of fit.

use pyo3::prelude::*;
use serde::Serialize;
use unjitter::diagnosis::{self, Diagnosis, DiagnosisOptions};

use crate::convert::{to_json, to_python};
use crate::fitted::Fitted;
use crate::pool::alone;
use crate::session::{PySession, lend};
use crate::watch::watched;

/// A diagnosis with what stands out.
#[derive(Serialize)]
struct Told<'a> {
    remarks: Vec<String>,
    #[serde(flatten)]
    found: &'a Diagnosis,
}

/// How a fitted model describes sessions, as JSON. `hours` are those of the day at time zero of each
/// session, if they are known; `questions` are whether to ask of priors, noise models and profiles, and the
/// draws of a bootstrap; `unit` stands behind times in remarks.
#[pyfunction]
#[pyo3(signature = (fitted, sessions, use_labels, hours, questions, unit, threads, show=None))]
#[expect(clippy::too_many_arguments, reason = "what, of what and how, and who watches")]
pub(crate) fn diagnose(
    py: Python<'_>,
    fitted: &Fitted,
    sessions: Vec<PySession<'_>>,
    use_labels: bool,
    hours: Vec<Option<f64>>,
    questions: (bool, bool, bool, usize),
    unit: &str,
    threads: usize,
    show: Option<Py<PyAny>>,
) -> PyResult<String> {
    let sessions = lend(&sessions, use_labels)?;
    let (priors, families, profiles, bootstrap) = questions;
    let options = DiagnosisOptions { priors, families, profiles, bootstrap, hours };
    let found = watched(py, show, |control| {
        alone(threads, || diagnosis::diagnose(&fitted.0, &sessions, &options, control))
    })??;
    let found = found.map_err(to_python)?;
    to_json(&Told { remarks: found.remarks(unit), found: &found })
}
