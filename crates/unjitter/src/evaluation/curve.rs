//! Precision and recall at every threshold.
//!
//! One sort, O(n log n). The points are those of scikit-learn's `precision_recall_curve`, with three
//! differences: the highest threshold comes first, so that recall rises; the closing point (recall 0,
//! precision 1), which has no threshold, is left out; and recall is 0, not 1, if no label is positive.

use serde::Serialize;

use super::instances::check;
use super::ranking::{Step, area, steps};
use super::scores::Scores;
use crate::Result;

/// A point of the curve.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct CurvePoint {
    /// Instances at or above it are called positive.
    pub threshold: f64,
    /// Precision, recall and F1 there.
    #[serde(flatten)]
    pub scores: Scores,
}

/// One point for each distinct probability, highest threshold first.
pub fn precision_recall_curve(probabilities: &[f64], labels: &[bool]) -> Result<Vec<CurvePoint>> {
    let (steps, positives) = ranked(probabilities, labels)?;
    let point = |step: &Step| CurvePoint {
        threshold: step.threshold,
        scores: Scores::from_counts(step.hits, step.false_alarms, positives - step.hits),
    };
    Ok(steps.iter().map(point).collect())
}

/// Area under the steps of the precision–recall curve, without interpolation:
///
/// ```text
/// Σ_n (R_n − R_{n−1}) · P_n    over falling thresholds, R_0 = 0
/// ```
///
/// This is scikit-learn's `average_precision_score`; 0 if no label is positive.
pub fn average_precision(probabilities: &[f64], labels: &[bool]) -> Result<f64> {
    let (steps, positives) = ranked(probabilities, labels)?;
    Ok(area(&steps, positives))
}

/// The point of highest F1; of equals the one with the highest threshold.
///
/// A threshold chosen on the data that evaluates it is too optimistic: choose it on the training sessions.
pub fn best_f1(probabilities: &[f64], labels: &[bool]) -> Result<CurvePoint> {
    let curve = precision_recall_curve(probabilities, labels)?;
    let better = |best: CurvePoint, next: CurvePoint| {
        if next.scores.f1 > best.scores.f1 { next } else { best }
    };
    Ok(curve.into_iter().reduce(better).expect("there is at least one instance"))
}

/// The steps, and how many labels are positive.
fn ranked(probabilities: &[f64], labels: &[bool]) -> Result<(Vec<Step>, usize)> {
    check(probabilities, labels)?;
    let scored = probabilities.iter().copied().zip(labels.iter().copied()).collect();
    Ok((steps(scored), labels.iter().filter(|&&label| label).count()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_scores_make_one_point_whatever_their_order() {
        let first = precision_recall_curve(&[0.7, 0.7, 0.2], &[true, false, true]).unwrap();
        let second = precision_recall_curve(&[0.7, 0.7, 0.2], &[false, true, true]).unwrap();
        assert_eq!(first, second);
        assert_eq!(first.iter().map(|point| point.threshold).collect::<Vec<_>>(), [0.7, 0.2]);
        // ½ · ½ + ½ · ⅔; three roundings of numbers below one.
        let area = average_precision(&[0.7, 0.7, 0.2], &[true, false, true]).unwrap();
        assert!((area - 7.0 / 12.0).abs() < 1e-15);
    }

    #[test]
    fn both_zeros_are_one_score() {
        assert_eq!(precision_recall_curve(&[0.0, -0.0], &[true, false]).unwrap().len(), 1);
    }

    #[test]
    fn best_f1_takes_the_higher_threshold_of_equals() {
        // Two thirds at 0.9 and again at 0.2.
        let best = best_f1(&[0.9, 0.5, 0.4, 0.2], &[true, false, false, true]).unwrap();
        assert_eq!((best.threshold, best.scores.f1), (0.9, 2.0 / 3.0));
        let best = best_f1(&[0.9, 0.5, 0.2], &[true, false, true]).unwrap();
        assert_eq!((best.threshold, best.scores.f1), (0.2, 0.8));
    }
}
