//! Predicted instances against their labels.

use serde::{Deserialize, Serialize};

use super::scores::Scores;
use crate::{Error, Result};

/// Counts of the four cases.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Confusion {
    /// Called positive, and positive.
    pub true_positives: usize,
    /// Called positive, but negative.
    pub false_positives: usize,
    /// Called negative, but positive.
    pub false_negatives: usize,
    /// Called negative, and negative.
    pub true_negatives: usize,
}

impl Confusion {
    /// Precision, recall and F1 of the positive class.
    pub fn scores(&self) -> Scores {
        Scores::from_counts(self.true_positives, self.false_positives, self.false_negatives)
    }
}

impl std::ops::Add for Confusion {
    type Output = Self;

    /// Both together.
    fn add(self, other: Self) -> Self {
        Self {
            true_positives: self.true_positives + other.true_positives,
            false_positives: self.false_positives + other.false_positives,
            false_negatives: self.false_negatives + other.false_negatives,
            true_negatives: self.true_negatives + other.true_negatives,
        }
    }
}

/// Counts the four cases; an instance is predicted positive if its probability is at or above `threshold`.
pub fn confusion(probabilities: &[f64], labels: &[bool], threshold: f64) -> Result<Confusion> {
    check(probabilities, labels)?;
    if threshold.is_nan() {
        let name = "threshold".to_owned();
        return Err(Error::OutOfRange { name, value: threshold, expected: "a number" });
    }
    let mut counts = Confusion::default();
    for (&probability, &label) in probabilities.iter().zip(labels) {
        let case = match (probability >= threshold, label) {
            (true, true) => &mut counts.true_positives,
            (true, false) => &mut counts.false_positives,
            (false, true) => &mut counts.false_negatives,
            (false, false) => &mut counts.true_negatives,
        };
        *case += 1;
    }
    Ok(counts)
}

/// At least one instance, a label for each, and probabilities from 0 to 1.
pub(super) fn check(probabilities: &[f64], labels: &[bool]) -> Result<()> {
    if labels.len() != probabilities.len() {
        return Err(Error::Unpaired {
            what: "labels",
            found: labels.len(),
            against: "probabilities",
            expected: probabilities.len(),
        });
    }
    if probabilities.is_empty() {
        return Err(Error::TooFew { what: "instances", found: 0, least: 1 });
    }
    check_probabilities(probabilities)
}

pub(super) fn check_probabilities(probabilities: &[f64]) -> Result<()> {
    match probabilities.iter().position(|p| !(0.0..=1.0).contains(p)) {
        None => Ok(()),
        Some(index) => Err(Error::BadInput {
            what: "probability",
            index,
            value: probabilities[index],
            expected: "a number from 0 to 1",
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_threshold_itself_is_positive() {
        let counts = confusion(&[0.5, 0.5, 0.4, 0.6, 0.1], &[true, false, true, true, false], 0.5);
        let want = Confusion {
            true_positives: 2,
            false_positives: 1,
            false_negatives: 1,
            true_negatives: 1,
        };
        assert_eq!(counts.unwrap(), want);
    }

    #[test]
    fn bad_input_is_named() {
        let message = |p: &[f64], y: &[bool], at| confusion(p, y, at).unwrap_err().to_string();
        assert_eq!(message(&[0.5], &[], 0.5), "0 labels for 1 probabilities");
        assert_eq!(message(&[], &[], 0.5), "0 instances, expected at least 1");
        let nan = message(&[0.5, f64::NAN], &[true; 2], 0.5);
        assert_eq!(nan, "probability 1 is NaN, expected a number from 0 to 1");
        assert!(message(&[1.5], &[true], 0.5).contains("probability 0 is 1.5"));
        assert_eq!(message(&[0.5], &[true], f64::NAN), "threshold is NaN, expected a number");
    }
}
