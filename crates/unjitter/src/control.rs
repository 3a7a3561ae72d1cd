//! Stop requests to long work, and progress reports from it.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::{Error, Result};

/// A stop flag and a progress watcher for long work; by default neither.
///
/// Every long operation takes one as its last argument. It reports its own pieces of work, not the steps
/// inside them.
///
/// ```
/// use std::sync::atomic::{AtomicBool, Ordering};
/// use unjitter::{Control, Error, simulation::Respiration};
///
/// let stop = AtomicBool::new(false);
/// let control = Control {
///     stop: Some(&stop),
///     watch: Some(&|progress| stop.store(progress.done == 3, Ordering::Relaxed)),
/// };
/// let stopped = Respiration::mpuff().simulate(0, control);
/// assert!(matches!(stopped, Err(Error::Cancelled)));
/// ```
#[derive(Clone, Copy, Default)]
pub struct Control<'a> {
    /// Once any thread sets this flag, the work ends as soon as it can, also in the middle of a piece,
    /// and returns [`Error::Cancelled`] unless its documentation says otherwise.
    pub stop: Option<&'a AtomicBool>,
    /// Called after every piece of work, on the thread that did it.
    pub watch: Option<&'a (dyn Fn(Progress) + Sync)>,
}

/// Progress of the work.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// Pieces done: iterations of a fit, cells of a cross-validation, sessions of a simulation.
    pub done: usize,
    /// All pieces; a fit may need fewer iterations.
    pub total: usize,
    /// The iteration, if the work is a fit.
    pub iteration: Option<Iteration>,
}

/// State of a fit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Iteration {
    /// Which start is under way, from 0.
    pub start: usize,
    /// Number of starts.
    pub starts: usize,
    /// Iterations of this start.
    pub number: usize,
    /// Minus the log posterior, which falls.
    pub value: f64,
    /// Largest entry of its gradient.
    pub gradient_norm: f64,
}

impl Control<'_> {
    /// Whether a stop was requested.
    pub fn is_stop_requested(self) -> bool {
        self.stop.is_some_and(|flag| flag.load(Ordering::Relaxed))
    }

    /// Fails if a stop was requested.
    pub fn stop_if_requested(self) -> Result<()> {
        if self.is_stop_requested() { Err(Error::Cancelled) } else { Ok(()) }
    }

    /// Reports that `done` pieces of `total` are done.
    pub fn tell(self, done: usize, total: usize, iteration: Option<Iteration>) {
        if let Some(watch) = self.watch {
            watch(Progress { done, total, iteration });
        }
    }
}

impl fmt::Debug for Control<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { stop, watch } = self;
        f.debug_struct("Control").field("stop", stop).field("watch", &watch.is_some()).finish()
    }
}
