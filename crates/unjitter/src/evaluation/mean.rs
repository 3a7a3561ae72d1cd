//! The mean of scores, and its uncertainty.

use serde::{Deserialize, Serialize};

use crate::math::student_t_quantile;
use crate::{Error, Result};

/// A mean with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeanInterval {
    /// The mean.
    pub mean: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// Mean of at least two scores and its t-interval of the given level, between 0 and 1.
///
/// ```text
/// mean ± t(n − 1) · s / √n
/// ```
///
/// Scores of folds share most of their training sessions, so the interval is somewhat too narrow for a
/// statement about new sessions; [`bootstrap_interval`](super::bootstrap_interval) is not.
pub fn mean_interval(scores: &[f64], level: f64) -> Result<MeanInterval> {
    if !(level > 0.0 && level < 1.0) {
        let (name, expected) = ("level".to_owned(), "a number between 0 and 1");
        return Err(Error::OutOfRange { name, value: level, expected });
    }
    if scores.len() < 2 {
        return Err(Error::TooFew { what: "scores", found: scores.len(), least: 2 });
    }
    if let Some(index) = scores.iter().position(|score| !score.is_finite()) {
        let (what, value, expected) = ("score", scores[index], "a finite number");
        return Err(Error::BadInput { what, index, value, expected });
    }
    let number = scores.len() as f64;
    let mean = scores.iter().sum::<f64>() / number;
    let squares: f64 = scores.iter().map(|score| (score - mean).powi(2)).sum();
    let standard_error = (squares / (number - 1.0) / number).sqrt();
    let reach = student_t_quantile(0.5 * (1.0 + level), number - 1.0) * standard_error;
    Ok(MeanInterval { mean, low: mean - reach, high: mean + reach })
}

/// The mean of several lists of scores, position by position, such as scores of the same folds or
/// sessions with other stamps. Lists are as long as the first.
///
/// Scores of one fold under two seeds are not independent; their mean counts as one score.
pub fn mean_of_each(lists: &[&[f64]]) -> Result<Vec<f64>> {
    let Some(first) = lists.first() else {
        return Err(Error::TooFew { what: "lists of scores", found: 0, least: 1 });
    };
    if let Some(other) = lists.iter().find(|list| list.len() != first.len()) {
        let (found, expected) = (other.len(), first.len());
        return Err(Error::Unpaired { what: "scores", found, against: "scores", expected });
    }
    let mean = |k: usize| lists.iter().map(|list| list[k]).sum::<f64>() / lists.len() as f64;
    Ok((0..first.len()).map(mean).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_scores_have_the_cauchy_interval() {
        // Mean 2, standard error 1, and the 97.5 % quantile of Cauchy is tan(0.475 π).
        let got = mean_interval(&[1.0, 3.0], 0.95).unwrap();
        let reach = (0.475 * std::f64::consts::PI).tan();
        assert_eq!(got.mean, 2.0);
        // The distribution function is good to 1e-14, and its slope there is 0.002.
        assert!((got.high - 2.0 - reach).abs() < 1e-10, "{got:?}");
        assert!((2.0 - got.low - reach).abs() < 1e-10, "{got:?}");
    }

    #[test]
    fn equal_scores_leave_no_doubt() {
        let got = mean_interval(&[0.5; 4], 0.9).unwrap();
        assert_eq!(got, MeanInterval { mean: 0.5, low: 0.5, high: 0.5 });
    }

    #[test]
    fn bad_input_is_named() {
        let message = |scores: &[f64], level| mean_interval(scores, level).unwrap_err().to_string();
        assert_eq!(message(&[1.0], 0.95), "1 scores, expected at least 2");
        assert_eq!(message(&[1.0, 2.0], 1.0), "level is 1, expected a number between 0 and 1");
        let nan = "score 1 is NaN, expected a finite number";
        assert_eq!(message(&[1.0, f64::NAN], 0.95), nan);
    }

    #[test]
    fn lists_are_averaged_position_by_position() {
        let mean = mean_of_each(&[&[0.0, 1.0, 0.5], &[1.0, 1.0, 0.25]]).unwrap();
        assert_eq!(mean, [0.5, 1.0, 0.375]);
        assert!(mean_of_each(&[]).is_err());
        assert!(mean_of_each(&[&[1.0], &[1.0, 2.0]]).is_err());
    }
}
