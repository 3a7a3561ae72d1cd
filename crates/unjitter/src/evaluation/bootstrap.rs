//! The uncertainty of a score over other sessions of the same kind.
//!
//! Whole sessions are drawn, with replacement: instances of one session resemble each other, so drawing
//! instances would give too narrow an interval.

use serde::{Deserialize, Serialize};

use crate::error::require;
use crate::math::{Random, quantile};
use crate::{Control, Error, Result};

/// Most resamples: their scores take 80 MB.
const MAX_RESAMPLES: usize = 10_000_000;

/// How to resample.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BootstrapOptions {
    /// Share of the resampled scores inside the interval, between 0 and 1.
    pub level: f64,
    /// Number of resamples, from 1 to ten million.
    pub resamples: usize,
    /// Seed of the draws: same seed, same interval.
    pub seed: u64,
}

impl Default for BootstrapOptions {
    fn default() -> Self {
        Self { level: 0.95, resamples: 2000, seed: 0 }
    }
}

/// From low to high.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// Percentile interval of a statistic under resampling of `sessions` sessions.
///
/// `statistic` gets the positions of the drawn sessions, as many as there are, some more than once; it
/// must return a finite number. The ends are the quantiles (1 ∓ level) / 2 of its values.
pub fn bootstrap_interval(
    sessions: usize,
    options: &BootstrapOptions,
    mut statistic: impl FnMut(&[usize]) -> f64,
    control: Control<'_>,
) -> Result<Interval> {
    let BootstrapOptions { level, resamples, seed } = *options;
    if sessions == 0 {
        return Err(Error::NoSessions);
    }
    if resamples == 0 {
        return Err(Error::TooFew { what: "resamples", found: 0, least: 1 });
    }
    let few = resamples <= MAX_RESAMPLES;
    require("resamples", resamples as f64, few, "a number from 1 to 10000000")?;
    if !(level > 0.0 && level < 1.0) {
        let (name, expected) = ("level".to_owned(), "a number between 0 and 1");
        return Err(Error::OutOfRange { name, value: level, expected });
    }
    let mut random = Random::new(seed);
    let mut values = Vec::with_capacity(resamples);
    for index in 0..resamples {
        control.stop_if_requested()?;
        let drawn: Vec<usize> = (0..sessions).map(|_| random.below(sessions)).collect();
        let value = statistic(&drawn);
        if !value.is_finite() {
            let (what, expected) = ("statistic of resample", "a finite number");
            return Err(Error::BadInput { what, index, value, expected });
        }
        values.push(value);
        control.tell(values.len(), resamples, None);
    }
    values.sort_by(f64::total_cmp);
    let tail = 0.5 * (1.0 - level);
    Ok(Interval { low: quantile(&values, tail), high: quantile(&values, 1.0 - tail) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mean_of(values: &[f64]) -> impl Fn(&[usize]) -> f64 {
        |drawn| drawn.iter().map(|&k| values[k]).sum::<f64>() / drawn.len() as f64
    }

    #[test]
    fn the_interval_of_a_mean_has_the_normal_width() {
        let mut random = Random::new(1);
        let values: Vec<f64> = (0..400).map(|_| random.normal()).collect();
        let all: Vec<usize> = (0..400).collect();
        let mean = mean_of(&values)(&all);
        let spread =
            (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / 400.0 / 400.0).sqrt();
        let options = BootstrapOptions { resamples: 10_000, ..Default::default() };
        let got = bootstrap_interval(400, &options, mean_of(&values), Control::default()).unwrap();
        // Quantiles of 10 000 draws at 2.5 % are off by some 0.03 standard errors; four times that.
        assert!((got.low - (mean - 1.96 * spread)).abs() < 0.12 * spread, "{got:?}");
        assert!((got.high - (mean + 1.96 * spread)).abs() < 0.12 * spread, "{got:?}");
    }

    #[test]
    fn a_seed_fixes_the_interval_and_a_level_its_width() {
        let values = [0.3, 0.9, 0.4, 0.7, 0.1];
        let run = |level, seed| {
            let options = BootstrapOptions { level, seed, resamples: 300 };
            bootstrap_interval(5, &options, mean_of(&values), Control::default()).unwrap()
        };
        assert_eq!(run(0.9, 4), run(0.9, 4));
        assert_ne!(run(0.9, 4), run(0.9, 5));
        let (narrow, wide) = (run(0.5, 4), run(0.99, 4));
        assert!(wide.low < narrow.low && narrow.high < wide.high);
    }

    #[test]
    fn as_many_sessions_are_drawn_as_there_are() {
        let mut seen = [0usize; 3];
        let options = BootstrapOptions { resamples: 1000, ..Default::default() };
        let count = |drawn: &[usize]| {
            assert_eq!(drawn.len(), 3);
            drawn.iter().for_each(|&k| seen[k] += 1);
            0.0
        };
        bootstrap_interval(3, &options, count, Control::default()).unwrap();
        // Binomial(3000, 1/3): standard deviation 26, five of them.
        assert!(seen.iter().all(|&count| count.abs_diff(1000) < 130), "{seen:?}");
    }

    #[test]
    fn bad_options_are_named() {
        let run = |sessions, level, resamples, value| {
            let options = BootstrapOptions { level, resamples, seed: 0 };
            let found = bootstrap_interval(sessions, &options, |_| value, Control::default());
            found.unwrap_err().to_string()
        };
        assert_eq!(run(0, 0.9, 1, 0.0), "no sessions were given");
        assert_eq!(run(1, 0.9, 0, 0.0), "0 resamples, expected at least 1");
        assert_eq!(run(1, 1.0, 1, 0.0), "level is 1, expected a number between 0 and 1");
        let many = "resamples is 10000001, expected a number from 1 to 10000000";
        assert_eq!(run(1, 0.9, 10_000_001, 0.0), many);
        let nan = "statistic of resample 0 is NaN, expected a finite number";
        assert_eq!(run(1, 0.9, 1, f64::NAN), nan);
    }
}
