//! Precision, recall and F1 from three counts: one definition for instances and for events.
//!
//! A share of nothing is 0, as in scikit-learn with `zero_division=0`: a detector that never fires has
//! precision 0, and recall is 0 if there is nothing to find. So an average over sessions punishes silence
//! and never becomes NaN.

use serde::{Deserialize, Serialize};

/// Precision, recall and F1, each from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Scores {
    /// Share of true ones among those found; 0 if nothing was found.
    pub precision: f64,
    /// Share of those found among the true ones; 0 if there are none.
    pub recall: f64,
    /// Harmonic mean of the two, 2·hits / (2·hits + false alarms + misses); 0 without hits.
    pub f1: f64,
}

impl Scores {
    /// The scores of so many hits, false alarms and misses.
    pub fn from_counts(hits: usize, false_alarms: usize, misses: usize) -> Self {
        Self {
            precision: share(hits, hits + false_alarms),
            recall: share(hits, hits + misses),
            f1: share(2 * hits, 2 * hits + false_alarms + misses),
        }
    }
}

/// part / whole, and 0 / 0 = 0.
pub(super) fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_to_be_precise_about_scores_zero() {
        let zero = Scores { precision: 0.0, recall: 0.0, f1: 0.0 };
        assert_eq!(Scores::from_counts(0, 0, 0), zero);
        assert_eq!(Scores::from_counts(0, 3, 0), zero);
        assert_eq!(Scores::from_counts(0, 0, 3), zero);
    }

    #[test]
    fn f1_is_the_harmonic_mean() {
        let Scores { precision, recall, f1 } = Scores::from_counts(6, 2, 4);
        assert_eq!((precision, recall), (0.75, 0.6));
        // Three roundings of numbers below one.
        assert!((f1 - 2.0 * precision * recall / (precision + recall)).abs() < 1e-15);
    }
}
