//! A request to stop, which may come at any time from any thread.

use std::sync::atomic::{AtomicBool, Ordering};

/// Where a request to stop would show; by default nowhere. Long work looks at it now and then, and
/// ends early: an objective with a value that is not defined, so that an optimiser gets no further;
/// anything that can fail with [`Error::Cancelled`](crate::Error::Cancelled).
#[derive(Debug, Clone, Copy, Default)]
pub struct Stop<'a>([Option<&'a AtomicBool>; 2]);

impl<'a> Stop<'a> {
    /// Stops once `flag` is set.
    pub fn at(flag: &'a AtomicBool) -> Self {
        Self([Some(flag), None])
    }

    /// Stops once either flag is set.
    pub fn at_either(first: &'a AtomicBool, second: &'a AtomicBool) -> Self {
        Self([Some(first), Some(second)])
    }

    /// Whether it is time to end.
    pub fn is_requested(self) -> bool {
        self.0.into_iter().flatten().any(|flag| flag.load(Ordering::Relaxed))
    }
}
