//! Special functions, from the `special` crate; this file is the only one that names it.

use special::{Beta, Error, Gamma};

/// log Γ(x) for x > 0.
pub fn ln_gamma(x: f64) -> f64 {
    Gamma::ln_gamma(x).0
}

/// ψ(x) = d log Γ(x) / dx for x > 0.
pub fn digamma(x: f64) -> f64 {
    Gamma::digamma(x)
}

/// P(T ≤ t) of Student's t, for a t that is not NaN and degrees of freedom ν > 0.
///
/// ```text
/// P(T > |t|) = ½ I(ν / (ν + t²); ν/2, ½),    P(|T| < |t|) = I(t² / (ν + t²); ½, ν/2)
/// ```
///
/// with I the regularised incomplete beta function: the first beyond |t| = 1, so that a small tail
/// keeps its digits, the second within. Relative error of the lower tail below 1e-12 up to ν = 200.
pub fn student_t_cdf(t: f64, degrees_of_freedom: f64) -> f64 {
    let half = 0.5 * degrees_of_freedom;
    let ln_beta = half.ln_beta(0.5);
    let square = t * t;
    let upper_tail = if square > 1.0 {
        0.5 * (degrees_of_freedom / (degrees_of_freedom + square)).inc_beta(half, 0.5, ln_beta)
    } else {
        let inside = (square / (degrees_of_freedom + square)).inc_beta(0.5, half, ln_beta);
        0.5 - 0.5 * inside
    };
    if t < 0.0 { upper_tail } else { 1.0 - upper_tail }
}

/// The number below which a standard normal lies with probability `p`, strictly between 0 and 1.
pub fn normal_quantile(p: f64) -> f64 {
    std::f64::consts::SQRT_2 * (2.0 * p - 1.0).inv_error()
}

/// The t below which Student's t lies with probability `p`, strictly between 0 and 1, by bisection until
/// no number lies inside the interval.
pub fn student_t_quantile(p: f64, degrees_of_freedom: f64) -> f64 {
    if p < 0.5 {
        return -student_t_quantile(1.0 - p, degrees_of_freedom);
    }
    let (mut low, mut high) = (0.0, 1.0);
    while student_t_cdf(high, degrees_of_freedom) < p {
        (low, high) = (high, 2.0 * high);
    }
    loop {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            return middle;
        }
        let is_below = student_t_cdf(middle, degrees_of_freedom) < p;
        *(if is_below { &mut low } else { &mut high }) = middle;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values() {
        // Γ(5) = 24, Γ(1/2) = √π, ψ(1) = −γ, ψ(1/2) = −γ − 2 log 2: closed forms.
        let euler = 0.577_215_664_901_532_9;
        assert!((ln_gamma(5.0) - 24f64.ln()).abs() < 1e-14);
        assert!((ln_gamma(0.5) - 0.5 * std::f64::consts::PI.ln()).abs() < 1e-14);
        assert!((digamma(1.0) + euler).abs() < 1e-13);
        assert!((digamma(0.5) + euler + 2.0 * 2f64.ln()).abs() < 1e-13);
    }

    #[test]
    fn normal_quantiles_are_those_of_tables() {
        // scipy.stats.norm.ppf.
        for (p, z) in [(0.975, 1.959963984540054), (0.5, 0.0), (0.01, -2.3263478740408408)] {
            assert!((normal_quantile(p) - z).abs() < 1e-14, "{p}"); // roundings of numbers about one
        }
    }

    #[test]
    fn student_t_has_its_closed_forms() {
        for t in [-40.0, -3.0, -1.0, -0.5, -1e-3, -1e-6, 0.0, 0.2, 1.0, 2.5, 30.0_f64] {
            // ν = 1 is Cauchy; ν = 2 is ½ + t / (2√(2 + t²)). Rounding of numbers below one.
            let cauchy = 0.5 + t.atan() / std::f64::consts::PI;
            assert!((student_t_cdf(t, 1.0) - cauchy).abs() < 1e-14, "{t}");
            let two = 0.5 + 0.5 * t / (2.0 + t * t).sqrt();
            assert!((student_t_cdf(t, 2.0) - two).abs() < 1e-14, "{t}");
        }
        assert_eq!(student_t_cdf(f64::NEG_INFINITY, 3.0), 0.0);
        assert_eq!(student_t_cdf(f64::INFINITY, 3.0), 1.0);
    }

    #[test]
    fn quantiles_are_those_of_the_tables() {
        // The columns of every printed table, to its digits.
        let table = [(0.975, 1.0, 12.706), (0.975, 9.0, 2.262), (0.95, 19.0, 1.729)];
        for (p, degrees, want) in table {
            assert!((student_t_quantile(p, degrees) - want).abs() < 5e-4, "{p} {degrees}");
            assert!((student_t_quantile(1.0 - p, degrees) + want).abs() < 5e-4, "{p} {degrees}");
        }
        assert_eq!(student_t_quantile(0.5, 3.0), 0.0);
    }

    #[test]
    fn student_t_keeps_the_digits_of_its_tail() {
        // P(T < −x) → 1/(πx) for ν = 1; the next term is smaller by x⁻²/3.
        let far = student_t_cdf(-1e8, 1.0);
        assert!((far * 1e8 * std::f64::consts::PI - 1.0).abs() < 1e-13);
    }
}
