//! The allowed distance of a detection from its event.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::rounding::slack;
use crate::{Error, Result};

/// The window around a true event e in which a detection d counts: −before ≤ d − e ≤ after, both
/// edges included.
///
/// A difference that misses an edge by rounding alone counts as on it: the edges are wider by 4ε of the
/// largest time (or limit) in the session, 1.5 microseconds for epoch seconds. So a detection at 0.1 +
/// 0.2 is within 0.2 of an event at 0.1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tolerance {
    /// How early a detection may be, at least 0, in the unit of time.
    pub before: f64,
    /// How late a detection may be, at least 0, in the unit of time.
    pub after: f64,
}

impl Tolerance {
    /// The same limit before and after, in the unit of time.
    pub fn symmetric(width: f64) -> Self {
        Self { before: width, after: width }
    }

    /// Both limits are finite and at least 0.
    pub(super) fn check(&self) -> Result<()> {
        for (name, value) in [("before", self.before), ("after", self.after)] {
            if !(value.is_finite() && value >= 0.0) {
                let name = format!("tolerance {name}");
                let expected = "a finite number, at least 0";
                return Err(Error::OutOfRange { name, value, expected });
            }
        }
        Ok(())
    }

    /// For each detection the truths that it may match; both lists are sorted.
    ///
    /// The slack is the same for the whole call and a difference rounds monotonically, so ranges are
    /// contiguous and their ends never move back. The proofs of the matching rely on this.
    pub(super) fn windows(&self, detections: &[f64], truths: &[f64]) -> Vec<Range<usize>> {
        let times = detections.iter().chain(truths).copied();
        let slack = slack(times.chain([self.before, self.after]));
        let (earliest, latest) = (-self.before - slack, self.after + slack);
        let (mut start, mut end) = (0, 0);
        let window = |&detection: &f64| {
            while start < truths.len() && detection - truths[start] > latest {
                start += 1;
            }
            while end < truths.len() && detection - truths[end] >= earliest {
                end += 1;
            }
            start..end
        };
        detections.iter().map(window).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_within(detection: f64, truth: f64, before: f64, after: f64) -> bool {
        !Tolerance { before, after }.windows(&[detection], &[truth])[0].is_empty()
    }

    #[test]
    fn edges_count_even_when_the_difference_rounds() {
        // 0.1 + 0.2 − 0.1 is 0.20000000000000004: a plain comparison would say no.
        assert!(is_within(0.1 + 0.2, 0.1, 0.0, 0.2));
        assert!(is_within(0.1, 0.1 + 0.2, 0.2, 0.0));
        assert!(is_within(1.7e9 + 0.3, 1.7e9 + 0.1, 0.0, 0.2));
        assert!(is_within(86_399.9, 86_399.6, 0.0, 0.3));
        assert!(is_within(-0.1, -0.3, 0.0, 0.2));
        assert!(is_within(0.1 + 0.2, 0.3, 0.0, 0.0));
    }

    #[test]
    fn beyond_the_edge_is_out() {
        assert!(!is_within(0.3 + 1e-14, 0.1, 0.0, 0.2));
        assert!(!is_within(1.7e9 + 0.300_01, 1.7e9 + 0.1, 0.0, 0.2));
        assert!(!is_within(0.1, 0.3 + 1e-14, 0.2, 5.0));
        assert!(!is_within(1.0, 1.0 + 1e-14, 0.0, 5.0));
    }

    #[test]
    fn early_and_late_are_not_mixed_up() {
        assert!(is_within(9.0, 10.0, 1.0, 0.0) && !is_within(11.0, 10.0, 1.0, 0.0));
        assert!(is_within(11.0, 10.0, 0.0, 1.0) && !is_within(9.0, 10.0, 0.0, 1.0));
    }

    #[test]
    fn limits_must_be_finite_and_not_negative() {
        for bad in [-1.0, f64::NAN, f64::INFINITY] {
            assert!(Tolerance { before: bad, after: 0.0 }.check().is_err());
            assert!(Tolerance { before: 0.0, after: bad }.check().is_err());
        }
        let message = Tolerance::symmetric(-1.0).check().unwrap_err().to_string();
        assert_eq!(message, "tolerance before is -1, expected a finite number, at least 0");
    }
}
