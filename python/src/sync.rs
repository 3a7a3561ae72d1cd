//! Clocks that are off.

use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use unjitter::model::Factor;
use unjitter::sync::{self, SyncOptions, SyncedClock, Verdict};

use crate::convert::{from_json, to_json, to_python};
use crate::fitted::Fitted;
use crate::pool::alone;
use crate::session::{PySession, lend};
use crate::watch::watched;

/// The clock of every group of stamps, as JSON; `by` is what shares a clock (JSON). `show` sees the
/// progress, as in [`watched`].
#[pyfunction]
#[pyo3(signature = (fitted, sessions, by, range, drift, threads, show=None))]
#[expect(clippy::too_many_arguments, reason = "what, how and on what, and who watches")]
pub(crate) fn find_clocks(
    py: Python<'_>,
    fitted: &Fitted,
    sessions: Vec<PySession<'_>>,
    by: &str,
    range: Option<f64>,
    drift: f64,
    threads: usize,
    show: Option<Py<PyAny>>,
) -> PyResult<String> {
    let by: Factor = from_json("by", by)?;
    let options = SyncOptions { by, range, drift, ..SyncOptions::default() };
    let sessions = lend(&sessions, false)?;
    let found = watched(py, show, |control| {
        alone(threads, || sync::sync(&fitted.0, &sessions, &options, control))
    })??;
    to_json(&found.map_err(to_python)?)
}

/// Where each stamp of a session would be by the clock of its recording, given name, offset and drift of
/// clocks; all others are taken to be right.
#[pyfunction]
pub(crate) fn moved_back<'py>(
    py: Python<'py>,
    session: PySession<'_>,
    by: &str,
    clocks: Vec<(String, f64, f64)>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let clock = |(name, offset, drift)| SyncedClock {
        name,
        stamps: 0,
        verdict: Verdict::Found,
        offset,
        low: offset,
        high: offset,
        drift,
        probability: 1.0,
        others: Vec::new(),
        profile: Vec::new(),
    };
    let clocks: Vec<SyncedClock> = clocks.into_iter().map(clock).collect();
    let session = session.lend(0, false)?;
    Ok(sync::moved_back(&session, from_json("by", by)?, &clocks).into_pyarray(py))
}
