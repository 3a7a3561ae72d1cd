//! Quantiles and medians, defined once, so that the same word always means the same number.
//!
//! They are linear between neighbours, NumPy's default. [`lower_median`] is one of the values itself,
//! found without sorting.

/// The value at `fraction` (0 to 1) of the way from `sorted[below]` to its successor.
pub(crate) fn between(sorted: &[f64], below: usize, fraction: f64) -> f64 {
    let low = sorted[below];
    match sorted.get(below + 1) {
        Some(high) => low + (high - low) * fraction,
        None => low,
    }
}

/// The value below which a `share` (0 to 1) of the values lies; `sorted` is not empty.
pub fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share * (sorted.len() - 1) as f64;
    between(sorted, place as usize, place.fract())
}

/// Median of values in any order, half way between two middles; `None` if there are no values.
pub fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    (!values.is_empty()).then(|| quantile(&values, 0.5))
}

/// Median of values in any order, the lower of two middles; `None` if there are no values.
pub fn lower_median(mut values: Vec<f64>) -> Option<f64> {
    if values.is_empty() {
        return None;
    }
    let middle = (values.len() - 1) / 2;
    let (_, median, _) = values.select_nth_unstable_by(middle, f64::total_cmp);
    Some(*median)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_joined_by_lines() {
        let sorted = [1.0, 2.0, 4.0, 8.0, 16.0];
        assert_eq!(quantile(&sorted, 0.0), 1.0);
        assert_eq!(quantile(&sorted, 0.5), 4.0);
        assert_eq!(quantile(&sorted, 0.625), 6.0);
        assert_eq!(quantile(&sorted, 1.0), 16.0);
        assert_eq!(quantile(&[3.0], 0.3), 3.0);
        assert_eq!(quantile(&[1.0, 2.0], 0.5), 1.5);
    }

    #[test]
    fn medians_differ_between_two_middles_only() {
        for (values, middle, lower) in [
            (vec![], None, None),
            (vec![5.0], Some(5.0), Some(5.0)),
            (vec![9.0, 1.0, 4.0], Some(4.0), Some(4.0)),
            (vec![9.0, 1.0, 4.0, 2.0], Some(3.0), Some(2.0)),
        ] {
            assert_eq!((median(values.clone()), lower_median(values)), (middle, lower));
        }
    }
}
