//! Sliding averages and quantiles over a centred window, which shrinks at the ends.
//!
//! Averages add and subtract one value a step. Quantiles keep the window sorted; a step moves part
//! of one window, so the time is linear in the signal for a window of given width.

use crate::math::quantile;

/// Mean over `half` values on each side of each value.
pub(super) fn moving_mean(values: &[f64], half: usize) -> Vec<f64> {
    let half = half.min(values.len());
    // Sums of differences from the first value: a large offset costs no digits.
    let origin = values.first().copied().unwrap_or(0.0);
    let mut sums = Vec::with_capacity(values.len() + 1);
    sums.push(0.0);
    for value in values {
        sums.push(sums[sums.len() - 1] + (value - origin));
    }
    (0..values.len())
        .map(|i| {
            let (from, to) = (i.saturating_sub(half), (i + half + 1).min(values.len()));
            origin + (sums[to] - sums[from]) / (to - from) as f64
        })
        .collect()
}

/// `read(sorted window)` for the window of `half` values on each side of each value.
pub(super) fn moving_sorted(values: &[f64], half: usize, read: impl Fn(&[f64]) -> f64) -> Vec<f64> {
    let half = half.min(values.len());
    let mut sorted: Vec<f64> = values[..half].to_vec();
    sorted.sort_by(f64::total_cmp);
    (0..values.len())
        .map(|i| {
            if let Some(&enters) = values.get(i + half) {
                sorted.insert(place(&sorted, enters), enters);
            }
            if i > half {
                sorted.remove(place(&sorted, values[i - half - 1]));
            }
            read(&sorted)
        })
        .collect()
}

/// Position of the first entry that is not below `value`.
fn place(sorted: &[f64], value: f64) -> usize {
    sorted.partition_point(|other| other.total_cmp(&value).is_lt())
}

/// Median over `half` values on each side of each value.
pub(super) fn moving_median(values: &[f64], half: usize) -> Vec<f64> {
    moving_sorted(values, half, |window| quantile(window, 0.5))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{Random, median};

    fn windows(values: &[f64], half: usize) -> Vec<Vec<f64>> {
        (0..values.len())
            .map(|i| {
                values[i.saturating_sub(half)
                    ..i.saturating_add(half).saturating_add(1).min(values.len())]
                    .to_vec()
            })
            .collect()
    }

    #[test]
    fn sliding_equals_each_window_on_its_own() {
        let mut random = Random::new(1);
        // Few distinct values, so that windows hold ties.
        let values: Vec<f64> = (0..60).map(|_| random.below(9) as f64 - 4.0).collect();
        for half in [0, 1, 3, 40, 80, usize::MAX] {
            let means = moving_mean(&values, half);
            let medians = moving_median(&values, half);
            for (i, window) in windows(&values, half).into_iter().enumerate() {
                let mean = window.iter().sum::<f64>() / window.len() as f64;
                // Sums of small whole numbers are exact; one rounded division.
                assert!((means[i] - mean).abs() < 1e-14, "half {half}, place {i}");
                assert_eq!(medians[i], median(window).unwrap(), "half {half}, place {i}");
            }
        }
    }

    #[test]
    fn a_large_offset_costs_no_digits() {
        // 0.25 beside 1e9 is exact; the sums are of differences of 0.25.
        let values: Vec<f64> = (0..1000).map(|i| 1e9 + 0.25 * f64::from(i % 2)).collect();
        assert_eq!(moving_mean(&values, 0), values);
    }
}
