//! Any number of stamps per instance, each arriving independently.
//!
//! ```text
//! p(c | y) = e^(−λ_y) · λ_yᶜ / c!,   λ_y = −log(1 − π_y) = softplus(logit π_y)
//! ```
//!
//! The weight c!·p(c | y) = p(0 | y)·λᶜ is geometric in c, so inference needs no loop over counts.
//! A rate frozen at exactly 1 would need λ = ∞: every count then has probability zero.

use super::{BoundCounts, CountModel, Counts, rates};
use crate::Result;
use crate::math::{ln_gamma, log_sigmoid, log_softplus, sigmoid, softplus};
use crate::params::ParameterSpec;

/// Independent arrivals.
#[derive(Debug, Clone, Copy, Default)]
pub struct Poisson;

/// d log λ / d logit = sigmoid(x) / softplus(x), which tends to 1 on the far left, where both vanish.
fn d_log_mean(logit: f64) -> f64 {
    if logit < -30.0 {
        // 1 − e/2 + O(e²), e = exp(logit): the next term is below 1e-26 here.
        1.0 - 0.5 * logit.exp()
    } else {
        sigmoid(logit) / softplus(logit)
    }
}

impl Poisson {
    /// The model with these probabilities of a stamp for a negative and a positive instance.
    pub fn at(false_rate: f64, hit_rate: f64) -> Result<BoundCounts> {
        Counts::Poisson.with(&[("false_rate", &[false_rate]), ("hit_rate", &[hit_rate])])
    }
}

impl CountModel for Poisson {
    fn parameters(&self) -> Vec<ParameterSpec> {
        rates::parameters()
    }

    fn start(&self, false_rate: f64, hit_rate: f64) -> Vec<f64> {
        rates::start(false_rate, hit_rate)
    }

    fn max_count(&self) -> Option<usize> {
        None
    }

    /// All −∞ for a rate of exactly 1.
    fn log_probabilities(&self, params: &[f64], label: usize, out: &mut [f64]) {
        let logit = params[label];
        let (log_none, log_mean) = (log_sigmoid(-logit), log_softplus(logit));
        for (c, out) in out.iter_mut().enumerate() {
            *out = if c == 0 || log_none == f64::NEG_INFINITY {
                // Without a count, log λ = −∞ must not enter as 0·(−∞); nor may −∞ + ∞ arise.
                log_none
            } else {
                log_none + c as f64 * log_mean - ln_gamma(c as f64 + 1.0)
            };
        }
    }

    /// log λ. For a rate of exactly 1, where p(0) is zero and any ratio is right, −∞ rather than
    /// ∞, so that no −∞ + ∞ arises.
    fn log_ratio(&self, params: &[f64], label: usize) -> Option<f64> {
        let logit = params[label];
        Some(if logit == f64::INFINITY { f64::NEG_INFINITY } else { log_softplus(logit) })
    }

    /// Depends on `expected` only through `Σ_c expected[c]` and `Σ_c c·expected[c]`, so a table of two
    /// entries with the same two sums gives the same result.
    fn pull_back(&self, params: &[f64], label: usize, expected: &[f64], d_params: &mut [f64]) {
        let logit = params[label];
        let (instances, stamps) = rates::totals(expected);
        d_params[label] += stamps * d_log_mean(logit) - instances * sigmoid(logit);
    }
}
