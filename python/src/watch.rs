//! Long work that Python can watch and interrupt.
//!
//! The work runs on its own thread without the interpreter. The calling thread waits for it, and every
//! few milliseconds shows progress and lets Python handle signals, which happens on the main thread only.
//! After a signal the work is asked to stop, and the thread waits for that.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use pyo3::prelude::*;
use unjitter::{Control, Iteration, Progress};

/// Longest wait for a signal.
const TICK: Duration = Duration::from_millis(50);

/// Runs `work`; `show(done, total, iteration)` sees its progress now and then, where `iteration` is
/// `None` or, for a fit, (start, starts, number, value, gradient_norm). An exception of `show` or of a
/// signal handler stops the work and is raised after that.
pub(crate) fn watched<T: Send>(
    py: Python<'_>,
    show: Option<Py<PyAny>>,
    work: impl FnOnce(Control<'_>) -> T + Send,
) -> PyResult<T> {
    let (latest, stop) = (Mutex::new(None), AtomicBool::new(false));
    let tell = |progress: Progress| {
        *latest.lock().expect("nobody panics with it") = Some(progress);
    };
    let look = |py: Python<'_>| {
        py.check_signals()?;
        let latest = latest.lock().expect("nobody panics with it").take();
        let (Some(show), Some(Progress { done, total, iteration })) = (&show, latest) else {
            return Ok(());
        };
        let iteration =
            iteration.map(|Iteration { start, starts, number, value, gradient_norm }| {
                (start, starts, number, value, gradient_norm)
            });
        show.call1(py, (done, total, iteration)).map(|_| ())
    };
    let (value, failure) = py.detach(|| {
        std::thread::scope(|scope| {
            let (done, finished) = channel();
            let control = Control { stop: Some(&stop), watch: Some(&tell) };
            let worker = scope.spawn(move || done.send(work(control)));
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
                        stop.store(failure.is_some(), Ordering::Relaxed);
                    }
                    Err(RecvTimeoutError::Timeout) => {}
                }
            }
        })
    });
    if let Some(failure) = failure {
        return Err(failure);
    }
    // Progress since the last look.
    look(py)?;
    Ok(value.expect("it ended with a value"))
}
