//! Summary statistics of the samples in one window.

use crate::math::quantile;

/// Names of the statistics of one channel in one window, in order; in units of the signal unless
/// they are moments or counts.
///
/// `skewness` and `kurtosis` (in excess of the normal) are moments divided by powers of the population
/// standard deviation, zero for a constant window. `mean_crossings` counts changes of side about the mean
/// per second. `mean_absolute_difference` is between successive samples.
pub const SUMMARIES: &[&str] = &[
    "mean",
    "sd",
    "skewness",
    "kurtosis",
    "min",
    "quantile_10",
    "quantile_25",
    "median",
    "quantile_75",
    "quantile_90",
    "max",
    "mean_crossings",
    "mean_absolute_difference",
];

/// The statistics of `values`, at least one, over a window of `length` seconds.
pub(super) fn summarise(values: &[f64], length: f64) -> Vec<f64> {
    let count = values.len() as f64;
    // Relative to the first value, so that a large offset costs no digits.
    let mean = values[0] + values.iter().map(|value| value - values[0]).sum::<f64>() / count;
    let moment = |power| values.iter().map(|value| (value - mean).powi(power)).sum::<f64>() / count;
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let is_constant = sorted[0] == sorted[sorted.len() - 1];
    let sd = if is_constant { 0.0 } else { moment(2).sqrt() };
    let standardised =
        |power: i32, normal| if sd > 0.0 { moment(power) / sd.powi(power) - normal } else { 0.0 };
    let differences: f64 = values.windows(2).map(|pair| (pair[1] - pair[0]).abs()).sum();
    let at = |p| quantile(&sorted, p);
    vec![
        mean,
        sd,
        standardised(3, 0.0),
        standardised(4, 3.0),
        at(0.0),
        at(0.1),
        at(0.25),
        at(0.5),
        at(0.75),
        at(0.9),
        at(1.0),
        if is_constant { 0.0 } else { crossings(values, mean) as f64 / length },
        differences / (count - 1.0).max(1.0),
    ]
}

/// How often `values` pass from one side of `level` to the other; values at the level do not count.
fn crossings(values: &[f64], level: f64) -> usize {
    let sides = values.iter().filter(|&&value| value != level).map(|&value| value > level);
    let mut last = None;
    sides.filter(|&side| last.replace(side).is_some_and(|before| before != side)).count()
}
