//! Checks of sessions before anything is learned from them.

use pyo3::prelude::*;
use unjitter::inspection::{self, Severity};
use unjitter::io::{Clock, TimeUnit};

use crate::session::{PySession, lend};

/// Messages of all findings that make sessions unfit, and of all suspicious ones. Times are in seconds if
/// they are `dated`, otherwise in an unknown unit.
#[pyfunction]
pub(crate) fn inspect(
    py: Python<'_>,
    sessions: Vec<PySession<'_>>,
    features: Vec<String>,
    dated: bool,
) -> PyResult<(Vec<String>, Vec<String>)> {
    let sessions = lend(&sessions, false)?;
    let clock = dated.then(|| Clock::starting_at("1970-01-01T00:00:00Z", TimeUnit::S));
    let clocks = match clock {
        Some(Ok(clock)) => vec![clock; sessions.len()],
        _ => Vec::new(),
    };
    let findings = py.detach(|| inspection::check(&sessions, &clocks, &features));
    let words = |severity: Severity| -> Vec<String> {
        let chosen = findings.iter().filter(|finding| finding.severity() == severity);
        chosen.map(|one| if dated { one.to_string() } else { one.in_unit_of_times() }).collect()
    };
    Ok((words(Severity::Problem), words(Severity::Suspicious)))
}
