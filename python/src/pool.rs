//! Threads for one call.
//!
//! The library distributes work with rayon, whose global pool is started at the first use and kept. A
//! process forked later, as by multiprocessing, has that pool without its threads and waits for them for
//! ever. So every call that may distribute work brings its own pool, which ends with it: some tens of
//! microseconds for each thread, and up to a millisecond where processes run in a sandbox. Work that takes
//! no longer than that, thousands of times, has a pool that is kept and belongs to its process.

use std::num::NonZero;
use std::sync::{Arc, Mutex};

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

/// The pool that is kept, and the process whose threads it has.
struct Kept {
    process: u32,
    threads: usize,
    pool: Arc<rayon::ThreadPool>,
}

static KEPT: Mutex<Option<Kept>> = Mutex::new(None);

/// Runs `work` in the pool that is kept, of so many threads.
pub(crate) fn kept<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    // Another thread may have been starting it when this process was forked, and never ends.
    let Ok(mut kept) = KEPT.try_lock() else { return alone(threads, work) };
    let process = std::process::id();
    let pool = match &*kept {
        Some(own) if own.process == process && own.threads == threads => Arc::clone(&own.pool),
        _ => {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.max(1)).build();
            let pool = pool.map_err(|error| PyValueError::new_err(format!("threads: {error}")))?;
            let pool = Arc::new(pool);
            let last = kept.replace(Kept { process, threads, pool: Arc::clone(&pool) });
            // The parent's threads are not here to be told that they may end.
            if let Some(last) = last.filter(|last| last.process != process) {
                std::mem::forget(last.pool);
            }
            pool
        }
    };
    drop(kept);
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
