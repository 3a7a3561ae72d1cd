//! Significance of the difference between two learners, fold by fold.
//!
//! Folds share most of their training sessions, so their scores are not independent and the test is
//! somewhat too confident. It is here because the field reports it; for a statement about new sessions
//! prefer an interval from [`bootstrap_interval`](super::bootstrap_interval).

use serde::Serialize;

use super::rounding::slack;
use crate::math::student_t_cdf;
use crate::{Error, Result};

/// Result of a two-sided paired t-test.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PairedTest {
    /// Mean of first − second.
    pub mean_difference: f64,
    /// The mean difference in units of its standard error.
    pub t: f64,
    /// Number of pairs − 1.
    pub degrees_of_freedom: usize,
    /// Probability of a t at least as far from zero if the means are equal.
    pub p_value: f64,
}

/// Compares two learners by their scores on the same folds, at least two.
///
/// If all differences are equal there is no spread to compare with: if they are zero, t = 0 and p = 1; if
/// not, t = ±∞ and p = 0. Differences count as equal if they agree to 4ε of the largest score, since 0.3
/// − 0.2 and 0.2 − 0.1 differ by rounding.
pub fn paired_t_test(first: &[f64], second: &[f64]) -> Result<PairedTest> {
    check_scores(first, second)?;
    let differences: Vec<f64> = first.iter().zip(second).map(|(a, b)| a - b).collect();
    let number = differences.len() as f64;
    let mean = differences.iter().sum::<f64>() / number;
    let rounding = slack(first.iter().chain(second).copied());
    let t = if differences.iter().all(|d| (d - mean).abs() <= rounding) {
        if mean.abs() <= rounding { 0.0 } else { f64::INFINITY.copysign(mean) }
    } else {
        let squares: f64 = differences.iter().map(|d| (d - mean).powi(2)).sum();
        mean / (squares / (number - 1.0) / number).sqrt()
    };
    let degrees_of_freedom = differences.len() - 1;
    // Twice the lower tail, which keeps its digits however small it is.
    let p_value = 2.0 * student_t_cdf(-t.abs(), degrees_of_freedom as f64);
    Ok(PairedTest { mean_difference: mean, t, degrees_of_freedom, p_value })
}

/// The p-value to report for the best of `comparisons` tests (at least one): min(1, p ·
/// comparisons).
pub fn bonferroni(p_value: f64, comparisons: usize) -> Result<f64> {
    if !(0.0..=1.0).contains(&p_value) {
        let (name, expected) = ("p_value".to_owned(), "a number from 0 to 1");
        return Err(Error::OutOfRange { name, value: p_value, expected });
    }
    if comparisons == 0 {
        return Err(Error::TooFew { what: "comparisons", found: 0, least: 1 });
    }
    Ok((p_value * comparisons as f64).min(1.0))
}

fn check_scores(first: &[f64], second: &[f64]) -> Result<()> {
    let (found, expected) = (second.len(), first.len());
    if found != expected {
        let (what, against) = ("scores of the second learner", "of the first");
        return Err(Error::Unpaired { what, found, against, expected });
    }
    if found < 2 {
        return Err(Error::TooFew { what: "paired scores", found, least: 2 });
    }
    for scores in [first, second] {
        if let Some(index) = scores.iter().position(|score| !score.is_finite()) {
            let (what, expected) = ("score", "a finite number");
            return Err(Error::BadInput { what, index, value: scores[index], expected });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_scores_are_no_evidence() {
        let test = paired_t_test(&[0.1, 0.2, 0.3], &[0.1, 0.2, 0.3]).unwrap();
        assert_eq!((test.t, test.p_value, test.degrees_of_freedom), (0.0, 1.0, 2));
        // 0.1 + 0.2 is not 0.3, but rounding is no evidence either.
        let test = paired_t_test(&[0.1 + 0.2, 0.5], &[0.3, 0.5]).unwrap();
        assert_eq!((test.t, test.p_value), (0.0, 1.0));
    }

    #[test]
    fn a_constant_lead_is_certain() {
        let test = paired_t_test(&[0.2, 0.3, 0.4], &[0.1, 0.2, 0.3]).unwrap();
        assert_eq!((test.t, test.p_value), (f64::INFINITY, 0.0));
        let test = paired_t_test(&[0.1, 0.2, 0.3], &[0.2, 0.3, 0.4]).unwrap();
        assert_eq!((test.t, test.p_value), (f64::NEG_INFINITY, 0.0));
    }

    #[test]
    fn two_pairs_have_the_cauchy_tail() {
        // Differences 1 and 3: t = 2 with one degree of freedom, p = 1 − 2 atan(2) / π.
        let test = paired_t_test(&[1.0, 3.0], &[0.0, 0.0]).unwrap();
        let want = 1.0 - 2.0 * 2.0_f64.atan() / std::f64::consts::PI;
        assert_eq!(test.t, 2.0);
        assert!((test.p_value - want).abs() < 1e-14); // a few roundings and the series' own error
    }

    #[test]
    fn corrections_stop_at_one() {
        assert_eq!(bonferroni(0.01, 3).unwrap(), 0.03);
        assert_eq!(bonferroni(0.5, 3).unwrap(), 1.0);
        assert!(bonferroni(0.5, 0).is_err() && bonferroni(1.5, 1).is_err());
        assert!(bonferroni(f64::NAN, 1).is_err());
    }

    #[test]
    fn bad_input_is_named() {
        let message = |a: &[f64], b: &[f64]| paired_t_test(a, b).unwrap_err().to_string();
        assert_eq!(message(&[0.5], &[0.4]), "1 paired scores, expected at least 2");
        assert_eq!(message(&[], &[]), "0 paired scores, expected at least 2");
        assert_eq!(message(&[0.5], &[]), "0 scores of the second learner for 1 of the first");
        let nan = message(&[0.5, 0.5], &[0.5, f64::NAN]);
        assert_eq!(nan, "score 1 is NaN, expected a finite number");
    }
}
