//! Checks of sessions before anything is learned from them.

use pyo3::prelude::*;
use unjitter::inspection::{self, Finding, Severity};
use unjitter::io::{Clock, TimeUnit};

use crate::session::{PySession, lend};

/// Messages of all findings that make sessions unfit, and of all suspicious ones. Times are in seconds if
/// they are `dated`, otherwise in an unknown unit. Clocks that are off are fine if they are going to be
/// looked for.
#[pyfunction]
pub(crate) fn inspect(
    py: Python<'_>,
    sessions: Vec<PySession<'_>>,
    features: Vec<String>,
    dated: bool,
    looks_for_clocks: bool,
) -> PyResult<(Vec<String>, Vec<String>)> {
    let sessions = lend(&sessions, false)?;
    let clock = dated.then(|| Clock::starting_at("1970-01-01T00:00:00Z", TimeUnit::S));
    let clocks = match clock {
        Some(Ok(clock)) => vec![clock; sessions.len()],
        _ => Vec::new(),
    };
    let mut findings = py.detach(|| inspection::check(&sessions, &clocks, &features));
    findings.retain(|one| !(looks_for_clocks && is_clock(one)));
    let words = |severity: Severity| -> Vec<String> {
        let chosen = findings.iter().filter(|finding| finding.severity() == severity);
        chosen.map(|one| if dated { one.to_string() } else { one.in_unit_of_times() }).collect()
    };
    Ok((words(Severity::Problem), words(Severity::Suspicious)))
}

/// Whether a clock that is off explains a finding.
fn is_clock(finding: &Finding) -> bool {
    matches!(
        finding,
        Finding::ShiftedClock { .. }
            | Finding::ShiftedInside { .. }
            | Finding::OutsideSession { .. }
    )
}
