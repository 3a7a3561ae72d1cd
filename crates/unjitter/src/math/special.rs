//! Special functions, from the `special` crate; this file is the only one that names it.

use special::Gamma;

/// log Γ(x) for x > 0.
pub fn ln_gamma(x: f64) -> f64 {
    Gamma::ln_gamma(x).0
}

/// ψ(x) = d log Γ(x) / dx for x > 0.
pub fn digamma(x: f64) -> f64 {
    Gamma::digamma(x)
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
}
