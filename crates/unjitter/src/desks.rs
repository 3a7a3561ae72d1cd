//! Buffers that outlive a call, shared by whoever works at the same time.

use std::sync::{Mutex, PoisonError};

/// Buffers that outlive a piece of work: as many as ever worked at the same time.
#[derive(Debug, Default)]
pub(crate) struct Desks<T>(Mutex<Vec<T>>);

impl<T: Default> Desks<T> {
    /// Lets `work` use buffers that nobody else is using.
    pub(crate) fn with<R>(&self, work: impl FnOnce(&mut T) -> R) -> R {
        // Work that panicked has put nothing back, so that what is there is good.
        let free = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Bound first: the lock must be gone before the work begins.
        let waiting = free().pop();
        let mut desk = waiting.unwrap_or_default();
        let result = work(&mut desk);
        free().push(desk);
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_desk_is_used_again_and_never_twice_at_once() {
        let desks = Desks::<Vec<u8>>::default();
        desks.with(|outer| {
            outer.push(1);
            desks.with(|inner| assert!(inner.is_empty()));
        });
        desks.with(|again| desks.with(|other| assert_eq!(again.len() + other.len(), 1)));
        assert_eq!(desks.0.lock().unwrap().len(), 2);
    }
}
