//! Messages of a session, kept from one evaluation to the next.
//!
//! Learning moves parameters little by little, and the messages with them. Propagation that begins from the
//! last ones ends after a few rounds.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// What the later stamps claim, by stamp.
#[derive(Debug, Default)]
pub struct Messages(Mutex<Vec<Kept>>);

impl Clone for Messages {
    fn clone(&self) -> Self {
        Self(Mutex::new(self.kept().clone()))
    }
}

/// The messages to one stamp, from instance `first` on.
#[derive(Debug, Clone, Default)]
struct Kept {
    first: usize,
    after: Vec<f64>,
}

impl Messages {
    fn kept(&self) -> MutexGuard<'_, Vec<Kept>> {
        // A panic elsewhere leaves messages that are as good as any to begin with.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Overwrites those instances of `after`, the messages to a stamp from instance `first` on, that were
    /// kept; `width` numbers each.
    pub(super) fn recall(&self, stamp: usize, first: usize, width: usize, after: &mut [f64]) {
        let kept = self.kept();
        let Some(kept) = kept.get(stamp).filter(|kept| !kept.after.is_empty()) else { return };
        let (skip, offset) = (kept.first.saturating_sub(first), first.saturating_sub(kept.first));
        let (Some(to), Some(from)) =
            (after.get_mut(skip * width..), kept.after.get(offset * width..))
        else {
            return;
        };
        to.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
    }

    /// Keeps the messages to a stamp.
    pub(super) fn keep(&self, stamp: usize, first: usize, after: &[f64]) {
        let mut kept = self.kept();
        if kept.len() <= stamp {
            kept.resize_with(stamp + 1, Kept::default);
        }
        let own = &mut kept[stamp];
        own.first = first;
        own.after.clear();
        own.after.reserve_exact(after.len());
        own.after.extend_from_slice(after);
    }
}
