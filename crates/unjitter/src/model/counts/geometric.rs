//! Any number of stamps per instance, each further one as likely as the first.
//!
//! ```text
//! p(c | y) = (1 − π_y) · π_yᶜ
//! ```
//!
//! Its tail is heavier than the Poisson's: a nervous finger. The weight c!·p(c | y) is not geometric in
//! c, so there is no ratio. A rate frozen at exactly 1 gives every count probability zero.

use super::{BoundCounts, CountModel, Counts, rates};
use crate::Result;
use crate::math::log_sigmoid;
use crate::params::ParameterSpec;

/// Stamps until the first failure.
#[derive(Debug, Clone, Copy, Default)]
pub struct Geometric;

impl Geometric {
    /// The model with these probabilities of a stamp for a negative and a positive instance.
    pub fn at(false_rate: f64, hit_rate: f64) -> Result<BoundCounts> {
        Counts::Geometric.with(&[("false_rate", &[false_rate]), ("hit_rate", &[hit_rate])])
    }
}

impl CountModel for Geometric {
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
        let (log_none, log_more) = (log_sigmoid(-logit), log_sigmoid(logit));
        for (c, out) in out.iter_mut().enumerate() {
            // Without a count, log π = −∞ must not enter as 0·(−∞).
            *out = if c == 0 { log_none } else { log_none + c as f64 * log_more };
        }
    }

    fn log_ratio(&self, _params: &[f64], _label: usize) -> Option<f64> {
        None
    }

    fn pull_back(&self, params: &[f64], label: usize, expected: &[f64], d_params: &mut [f64]) {
        let (instances, stamps) = rates::totals(expected);
        d_params[label] += rates::d_logit(params[label], instances, stamps);
    }
}
