//! Calibration: whether "seventy per cent" happens seven times out of ten.
//!
//! Bins are those of scikit-learn's `calibration_curve`: a bin contains its upper edge but not its lower
//! one (the first contains both), and empty bins are left out. The rank of an edge is exact, so a value
//! equal to an edge is always in the bin below it.

use serde::{Deserialize, Serialize};

use super::instances::check;
use super::scores::share;
use crate::error::require;
use crate::math::between;
use crate::{Error, Result};

/// Most bins: finer than any data can resolve.
const MAX_BINS: usize = 1_000_000;

/// How probabilities are grouped; the number of bins is from one to a million.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bins {
    /// So many bins of equal width on [0, 1].
    EqualWidth(usize),
    /// So many bins of about equal count: the edges are quantiles of the probabilities. Equal
    /// probabilities share a bin, so there may be fewer.
    Quantile(usize),
}

/// One group of instances of similar probability.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ReliabilityBin {
    /// Mean of their probabilities.
    pub mean_predicted: f64,
    /// Share of them that are positive.
    pub observed_share: f64,
    /// Their number, at least one.
    pub count: usize,
}

/// Predicted against observed shares, one entry for each bin that is not empty, by rising probability.
pub fn reliability_curve(
    probabilities: &[f64],
    labels: &[bool],
    bins: Bins,
) -> Result<Vec<ReliabilityBin>> {
    check(probabilities, labels)?;
    let edges = inner_edges(probabilities, bins)?;
    let mut sums = vec![(0.0, 0, 0); edges.len() + 1];
    for (&probability, &label) in probabilities.iter().zip(labels) {
        let (total, positives, count) =
            &mut sums[edges.partition_point(|&edge| edge < probability)];
        *total += probability;
        *positives += usize::from(label);
        *count += 1;
    }
    let bin = |(total, positives, count)| ReliabilityBin {
        mean_predicted: total / count as f64,
        observed_share: share(positives, count),
        count,
    };
    Ok(sums.into_iter().filter(|sum| sum.2 > 0).map(bin).collect())
}

/// The edges between bins, without 0 and 1.
fn inner_edges(probabilities: &[f64], bins: Bins) -> Result<Vec<f64>> {
    let (Bins::EqualWidth(number) | Bins::Quantile(number)) = bins;
    if number == 0 {
        return Err(Error::TooFew { what: "bins", found: 0, least: 1 });
    }
    let few = number <= MAX_BINS;
    require("number of bins", number as f64, few, "a number from 1 to 1000000")?;
    Ok(match bins {
        Bins::EqualWidth(_) => (1..number).map(|k| share(k, number)).collect(),
        Bins::Quantile(_) => {
            let mut sorted = probabilities.to_vec();
            sorted.sort_by(f64::total_cmp);
            let last = sorted.len() - 1;
            // The rank k·last/number, its whole part and its rest in integers.
            let edge = |k| between(&sorted, k * last / number, share(k * last % number, number));
            (1..number).map(edge).collect()
        }
    })
}

/// Mean gap between prediction and observation, weighted by the size of the bins:
///
/// ```text
/// Σ_bins count/n · |mean predicted − observed share|
/// ```
///
/// It depends on the bins; report them with the number.
pub fn expected_calibration_error(
    probabilities: &[f64],
    labels: &[bool],
    bins: Bins,
) -> Result<f64> {
    let gap = |bin: &ReliabilityBin| {
        share(bin.count, labels.len()) * (bin.mean_predicted - bin.observed_share).abs()
    };
    Ok(reliability_curve(probabilities, labels, bins)?.iter().map(gap).sum())
}

/// Mean squared difference between probability and label, 0 to 1; smaller is better.
pub fn brier_score(probabilities: &[f64], labels: &[bool]) -> Result<f64> {
    mean(probabilities, labels, |p, label| {
        let miss = if label { 1.0 - p } else { p };
        miss * miss
    })
}

/// Mean of −log(probability given to the label that came true); smaller is better.
///
/// Nothing is clipped: one certain mistake (probability 0 for the true label) makes it infinite, where
/// scikit-learn's `log_loss` gives 36.
pub fn log_loss(probabilities: &[f64], labels: &[bool]) -> Result<f64> {
    // The logarithm of a probability is not positive; `abs` leaves no sign on a zero.
    mean(probabilities, labels, |p, label| if label { p.ln().abs() } else { (-p).ln_1p().abs() })
}

fn mean(probabilities: &[f64], labels: &[bool], loss: impl Fn(f64, bool) -> f64) -> Result<f64> {
    check(probabilities, labels)?;
    let total: f64 = probabilities.iter().zip(labels).map(|(&p, &label)| loss(p, label)).sum();
    Ok(total / labels.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_beyond_all_memory_are_refused() {
        for bins in [Bins::EqualWidth(10_000_000_000), Bins::Quantile(1_000_001)] {
            let error = reliability_curve(&[0.5], &[true], bins).unwrap_err().to_string();
            assert!(error.starts_with("number of bins is 100000"), "{error}");
            assert!(error.ends_with(", expected a number from 1 to 1000000"), "{error}");
        }
    }

    #[test]
    fn an_edge_belongs_to_the_bin_below() {
        let labels = [false, true, true, false, true];
        let curve =
            reliability_curve(&[0.0, 0.25, 0.5, 0.75, 1.0], &labels, Bins::EqualWidth(2)).unwrap();
        let counts: Vec<usize> = curve.iter().map(|bin| bin.count).collect();
        assert_eq!(counts, [3, 2]);
        assert_eq!(curve[0].mean_predicted, 0.25);
        assert_eq!(curve[1].observed_share, 0.5);
    }

    #[test]
    fn a_quantile_that_is_a_value_is_exact() {
        // Rank k·30/10 is a whole number: in floating point 0.7·30 would fall short of 21.
        let probabilities: Vec<f64> = (0..31).map(|k| f64::from(k) / 64.0).collect();
        let curve = reliability_curve(&probabilities, &[false; 31], Bins::Quantile(10)).unwrap();
        let counts: Vec<usize> = curve.iter().map(|bin| bin.count).collect();
        assert_eq!(counts, [4, 3, 3, 3, 3, 3, 3, 3, 3, 3]);
    }

    #[test]
    fn perfect_promises_cost_nothing_and_certain_mistakes_everything() {
        let (sure, labels) = ([1.0, 0.0, 1.0], [true, false, true]);
        assert_eq!(brier_score(&sure, &labels).unwrap(), 0.0);
        assert_eq!(log_loss(&sure, &labels).unwrap(), 0.0);
        let error = expected_calibration_error(&sure, &labels, Bins::EqualWidth(10)).unwrap();
        assert_eq!(error, 0.0);
        assert_eq!(log_loss(&[0.0], &[true]).unwrap(), f64::INFINITY);
        assert_eq!(log_loss(&[1.0], &[false]).unwrap(), f64::INFINITY);
    }

    #[test]
    fn no_bins_is_an_error() {
        let message = reliability_curve(&[0.5], &[true], Bins::Quantile(0)).unwrap_err();
        assert_eq!(message.to_string(), "0 bins, expected at least 1");
    }
}
