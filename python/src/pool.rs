//! Threads for one call.
//!
//! The library distributes work with rayon, whose global pool is started at the first use and kept. A
//! process forked later, as by multiprocessing, has that pool without its threads and waits for them for
//! ever. So every call that may distribute work brings its own pool, which ends with it: some tens of
//! microseconds for each thread.

use std::num::NonZero;

use numpy::{IntoPyArray, PyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use unjitter::FeatureView;

use crate::convert::to_python;
use crate::session::PyFeatures;

/// Least number of rows per thread: fewer are predicted sooner than a thread is started.
const ROWS_PER_THREAD: usize = 256;

/// Runs `work` in its own pool of so many threads. A pool of one takes a thread too: rayon can make the
/// caller the only thread of a pool, but never frees such a pool.
pub(crate) fn alone<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.max(1)).build();
    let pool = pool.map_err(|error| PyValueError::new_err(format!("n_jobs: {error}")))?;
    Ok(pool.install(work))
}

/// Number of threads for predicting so many rows: all cores if there is enough to do.
pub(crate) fn threads_for(rows: usize) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    cores.min(rows / ROWS_PER_THREAD).max(1)
}

/// One number for each row of features, without the interpreter; in a pool if the work may be distributed.
pub(crate) fn each_row<'py>(
    py: Python<'py>,
    features: &PyFeatures<'py>,
    is_shared: bool,
    ask: impl FnOnce(FeatureView<'_>) -> unjitter::Result<Vec<f64>> + Send,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let features = features.lend();
    let features = features.view();
    let threads = threads_for(features.nrows());
    let values = py.detach(|| match is_shared {
        true => alone(threads, || ask(features)),
        false => Ok(ask(features)),
    })?;
    Ok(values.map_err(to_python)?.into_pyarray(py))
}
