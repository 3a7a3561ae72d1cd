//! At most one stamp per instance: the paper's choice, and the default.
//!
//! ```text
//! p(0 | y) = 1 − π_y,   p(1 | y) = π_y
//! ```

use super::{BoundCounts, CountModel, Counts, rates};
use crate::Result;
use crate::math::log_sigmoid;
use crate::params::ParameterSpec;

/// One stamp or none.
#[derive(Debug, Clone, Copy, Default)]
pub struct Bernoulli;

impl Bernoulli {
    /// The model with these probabilities of a stamp for a negative and a positive instance.
    pub fn at(false_rate: f64, hit_rate: f64) -> Result<BoundCounts> {
        Counts::Bernoulli.with(&[("false_rate", &[false_rate]), ("hit_rate", &[hit_rate])])
    }
}

impl CountModel for Bernoulli {
    fn parameters(&self) -> Vec<ParameterSpec> {
        rates::parameters()
    }

    fn start(&self, false_rate: f64, hit_rate: f64) -> Vec<f64> {
        rates::start(false_rate, hit_rate)
    }

    fn max_count(&self) -> Option<usize> {
        Some(1)
    }

    fn log_probabilities(&self, params: &[f64], label: usize, out: &mut [f64]) {
        let logit = params[label];
        let table = [log_sigmoid(-logit), log_sigmoid(logit)];
        for (c, out) in out.iter_mut().enumerate() {
            *out = table.get(c).copied().unwrap_or(f64::NEG_INFINITY);
        }
    }

    fn log_ratio(&self, _params: &[f64], _label: usize) -> Option<f64> {
        None
    }

    fn pull_back(&self, params: &[f64], label: usize, expected: &[f64], d_params: &mut [f64]) {
        let at = |c: usize| expected.get(c).copied().unwrap_or(0.0);
        d_params[label] += rates::d_logit(params[label], at(0), at(1));
    }
}
