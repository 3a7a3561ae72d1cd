//! Buffers that outlive a call and are shared between threads.

use std::sync::{Mutex, PoisonError};

/// Buffers that outlive a call: as many as ever were in use at the same time.
#[derive(Debug, Default)]
pub struct Scratch<T>(Mutex<Vec<T>>);

impl<T: Default> Scratch<T> {
    /// Lends `work` a free buffer.
    pub fn with<R>(&self, work: impl FnOnce(&mut T) -> R) -> R {
        // A panic in `work` puts no buffer back, so all buffers here are good.
        let free = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // The lock must be released before the work begins, hence a statement of its own.
        let waiting = free().pop();
        let mut own = waiting.unwrap_or_default();
        let result = work(&mut own);
        free().push(own);
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_is_used_again_and_never_twice_at_once() {
        let scratch = Scratch::<Vec<u8>>::default();
        scratch.with(|outer| {
            outer.push(1);
            scratch.with(|inner| assert!(inner.is_empty()));
        });
        scratch.with(|again| scratch.with(|other| assert_eq!(again.len() + other.len(), 1)));
        assert_eq!(scratch.0.lock().unwrap().len(), 2);
    }
}
