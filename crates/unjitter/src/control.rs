//! How whoever starts long work stays in touch with it: a request to stop, and word of how far it is.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::{Error, Result};

/// What long work looks at, and whom it tells how far it is; by default nothing and nobody.
///
/// Whatever may take long takes one, as its last argument, and tells of its own pieces of work, not
/// of those that they consist of.
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
    /// Once it is set, by any thread, the work ends as soon as it can, in the middle of a piece too:
    /// with [`Error::Cancelled`] unless it says otherwise.
    pub stop: Option<&'a AtomicBool>,
    /// Told of every piece of work, by whichever thread did it.
    pub watch: Option<&'a (dyn Fn(Progress) + Sync)>,
}

/// How far the work is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// Pieces done: iterations of a fit, cells of a cross-validation, sessions of a simulation.
    pub done: usize,
    /// All pieces; iterations may well be fewer.
    pub total: usize,
    /// Of a fit, the iteration.
    pub iteration: Option<Iteration>,
}

/// Where a fit stands.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Iteration {
    /// Which start is under way, from 0.
    pub start: usize,
    /// How many there are.
    pub starts: usize,
    /// Iterations of this start.
    pub number: usize,
    /// Minus the log posterior, which falls.
    pub value: f64,
    /// Largest entry of its gradient.
    pub gradient_norm: f64,
}

impl Control<'_> {
    /// Whether it is time to end.
    pub fn is_stop_requested(self) -> bool {
        self.stop.is_some_and(|flag| flag.load(Ordering::Relaxed))
    }

    /// Fails once it is time to end.
    pub fn stop_if_requested(self) -> Result<()> {
        if self.is_stop_requested() { Err(Error::Cancelled) } else { Ok(()) }
    }

    /// Tells that `done` pieces of `total` are done.
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
