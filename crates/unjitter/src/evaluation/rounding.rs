//! Comparison of a distance in time with a limit, up to rounding.
//!
//! Users write 0.3 and 0.1 + 0.2, or epoch seconds such as 1700000000.1 whose spacing is 2.4e-7. A time
//! is rounded once when it is read (half a unit in the last place) and often once more when it is
//! computed; so is the limit, and so is the difference. Each error is at most ε/2 of the largest number,
//! and six of them make 3ε. We allow 4ε: 1.5 microseconds on epoch seconds, 8e-11 s within a day. A
//! distance nearer to the limit than that counts as equal to it.

/// The largest difference that rounding explains among `values` and their sums and differences.
pub(super) fn slack(values: impl IntoIterator<Item = f64>) -> f64 {
    4.0 * f64::EPSILON * values.into_iter().map(f64::abs).fold(0.0, f64::max)
}
