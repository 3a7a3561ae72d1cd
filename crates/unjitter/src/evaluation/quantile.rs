//! Quantiles of sorted values, linear between neighbours (NumPy's default).

/// The value at `fraction` (0 to 1) of the way from `sorted[below]` to its successor.
pub(super) fn between(sorted: &[f64], below: usize, fraction: f64) -> f64 {
    let low = sorted[below];
    match sorted.get(below + 1) {
        Some(high) => low + (high - low) * fraction,
        None => low,
    }
}

/// The value below which a `share` (0 to 1) of the values lies; `sorted` is not empty.
pub(crate) fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share * (sorted.len() - 1) as f64;
    between(sorted, place as usize, place.fract())
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
}
