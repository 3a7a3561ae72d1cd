//! Long work that Python can watch and interrupt.
//!
//! The work runs on a thread of its own without the interpreter. The calling thread waits beside
//! it, and every few milliseconds shows progress and lets Python handle signals, which it does on
//! its main thread only. After a signal the work is asked to stop, and waited for.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use pyo3::prelude::*;

/// How long a signal may wait.
const TICK: Duration = Duration::from_millis(50);

/// What the work and the thread that watches it share.
#[derive(Debug)]
pub(crate) struct Watch<P> {
    latest: Mutex<Option<P>>,
    stop: AtomicBool,
}

impl<P> Watch<P> {
    /// Tells how far the work is.
    pub(crate) fn tell(&self, progress: P) {
        *self.latest.lock().expect("nobody panics with it") = Some(progress);
    }

    /// Set once the work is to stop.
    pub(crate) fn stop(&self) -> &AtomicBool {
        &self.stop
    }
}

/// Runs `work`; `show` sees its progress now and then. An exception of `show` or of a signal
/// handler stops the work and is raised once it has stopped.
pub(crate) fn watched<T: Send, P: Send>(
    py: Python<'_>,
    show: impl Fn(Python<'_>, P) -> PyResult<()> + Sync,
    work: impl FnOnce(&Watch<P>) -> T + Send,
) -> PyResult<T> {
    let watch = Watch { latest: Mutex::new(None), stop: AtomicBool::new(false) };
    let look = |py: Python<'_>| {
        py.check_signals()?;
        let latest = watch.latest.lock().expect("nobody panics with it").take();
        latest.map_or(Ok(()), |progress| show(py, progress))
    };
    let (value, failure) = py.detach(|| {
        std::thread::scope(|scope| {
            let (done, finished) = channel();
            let watch = &watch;
            let worker = scope.spawn(move || done.send(work(watch)));
            let mut failure = None;
            loop {
                match finished.recv_timeout(TICK) {
                    Ok(value) => return (Some(value), failure),
                    // The work panicked.
                    Err(RecvTimeoutError::Disconnected) => {
                        let panic = worker.join().expect_err("it ended without a value");
                        std::panic::resume_unwind(panic);
                    }
                    Err(RecvTimeoutError::Timeout) if failure.is_none() => {
                        failure = Python::attach(look).err();
                        watch.stop.store(failure.is_some(), Ordering::Relaxed);
                    }
                    Err(RecvTimeoutError::Timeout) => {}
                }
            }
        })
    });
    if let Some(failure) = failure {
        return Err(failure);
    }
    // What the last look came too early for.
    look(py)?;
    Ok(value.expect("it ended with a value"))
}
