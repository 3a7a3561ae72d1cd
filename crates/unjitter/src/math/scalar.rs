//! Logistic and log-domain functions of one number.
//!
//! Each is written in a form that keeps full relative accuracy at both ends of its range: the optimiser
//! visits saturated corners, and `1 - sigmoid(x)` is useless there.

/// 1 / (1 + e⁻ˣ), accurate for both signs; `sigmoid(-x)` is its exact complement.
pub fn sigmoid(x: f64) -> f64 {
    let e = (-x.abs()).exp();
    if x >= 0.0 { 1.0 / (1.0 + e) } else { e / (1.0 + e) }
}

/// log(1 + eˣ).
pub fn softplus(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

/// log sigmoid(x) = −softplus(−x).
pub fn log_sigmoid(x: f64) -> f64 {
    -softplus(-x)
}

/// log softplus(x), which tends to x on the far left where softplus itself underflows.
pub fn log_softplus(x: f64) -> f64 {
    if x < -30.0 {
        // log(log1p(e)) = x − e/2 + 5e²/24 − …: the next term is below 2e-27 here.
        x - 0.5 * x.exp()
    } else {
        softplus(x).ln()
    }
}

/// log(p / (1 − p)), the inverse of [`sigmoid`]; ±∞ at 1 and 0.
pub fn logit(p: f64) -> f64 {
    p.ln() - (-p).ln_1p()
}

/// log(eᵃ + eᵇ); −∞ is zero probability and is passed through.
pub fn log_add(a: f64, b: f64) -> f64 {
    let (high, low) = if a >= b { (a, b) } else { (b, a) };
    if low == f64::NEG_INFINITY { high } else { high + (low - high).exp().ln_1p() }
}

/// log Σ exp(values); −∞ for an empty slice.
pub fn log_sum(values: &[f64]) -> f64 {
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if high.is_infinite() {
        return high;
    }
    high + values.iter().map(|v| (v - high).exp()).sum::<f64>().ln()
}

/// Pearson's correlation of pairs; 0 if one side does not vary.
pub fn correlation(pairs: impl Iterator<Item = (f64, f64)> + Clone) -> f64 {
    let (mut count, mut sums) = (0.0, [0.0; 2]);
    for (a, b) in pairs.clone() {
        count += 1.0;
        sums = [sums[0] + a, sums[1] + b];
    }
    let means = sums.map(|sum| sum / count);
    let (mut product, mut squares) = (0.0, [0.0; 2]);
    for (a, b) in pairs {
        let (a, b) = (a - means[0], b - means[1]);
        product += a * b;
        squares = [squares[0] + a * a, squares[1] + b * b];
    }
    let scale = (squares[0] * squares[1]).sqrt();
    if scale > 0.0 { product / scale } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_close(got: f64, want: f64, relative: f64) {
        assert!((got - want).abs() <= relative * want.abs(), "{got:e} is not {want:e}");
    }

    #[test]
    fn both_tails_keep_their_digits() {
        // Leading term of the series; the next is smaller by e⁻⁵⁰.
        let tail = (-50.0_f64).exp();
        assert_close(sigmoid(-50.0), tail, 1e-15);
        assert_close(log_sigmoid(50.0), -tail, 1e-15);
        assert_close(softplus(-50.0), tail, 1e-15);
        assert_eq!(log_sigmoid(-800.0), -800.0);
        assert_eq!(sigmoid(800.0), 1.0);
    }

    #[test]
    fn log_softplus_is_smooth_across_its_switch() {
        // At the switch both branches must agree to rounding of a number near 30.
        assert_close(log_softplus(-30.0 - 1e-12), log_softplus(-30.0 + 1e-12), 1e-13);
        assert_eq!(log_softplus(-800.0), -800.0);
        assert_close(log_softplus(3.0), (1.0 + 3.0_f64.exp()).ln().ln(), 1e-14);
    }

    #[test]
    fn logit_inverts_sigmoid() {
        for x in [-30.0, -2.0, -1e-3, 0.0, 0.5, 20.0] {
            // ulp(p)/(1−p) at x = 20 is 1e-8·1e-8; elsewhere rounding.
            assert!((logit(sigmoid(x)) - x).abs() < 1e-7, "{x}");
        }
        assert_eq!(logit(0.0), f64::NEG_INFINITY);
        assert_eq!(logit(1.0), f64::INFINITY);
    }

    #[test]
    fn log_sums_pass_zero_through() {
        let none = f64::NEG_INFINITY;
        assert_eq!(log_add(none, none), none);
        assert_eq!(log_add(none, -3.0), -3.0);
        assert_eq!(log_sum(&[]), none);
        assert_eq!(log_sum(&[none, none]), none);
        assert_close(log_sum(&[-1000.0, -1000.0]), -1000.0 + 2f64.ln(), 1e-15);
        assert_close(log_add(-1000.0, -1000.0), -1000.0 + 2f64.ln(), 1e-15);
    }
}
