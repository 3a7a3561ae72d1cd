//! A request to stop, which may come at any time from any thread.

use std::sync::atomic::{AtomicBool, Ordering};

/// Where a request to stop would show. An objective that finds one ends its evaluation early, with
/// a value that is not defined, so that an optimiser gets no further.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Stop<'a>(Option<&'a AtomicBool>);

impl<'a> Stop<'a> {
    /// Stops once `flag` is set.
    pub(crate) fn at(flag: &'a AtomicBool) -> Self {
        Self(Some(flag))
    }

    pub(crate) fn is_requested(self) -> bool {
        self.0.is_some_and(|flag| flag.load(Ordering::Relaxed))
    }
}
