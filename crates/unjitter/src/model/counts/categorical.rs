//! Any distribution over 0..C stamps per instance.
//!
//! ```text
//! p(0 | y) = 1 − π_y,   p(c | y) = π_y · s_y(c)  for c = 1..C,   Σ_c s_y(c) = 1
//! ```
//!
//! The split s_y has its own simplex parameter for each label. With C = 1 there is nothing to split, and
//! this is the Bernoulli model.

use std::f64::consts::LN_2;
use std::ops::Range;

use super::{BoundCounts, CountModel, Counts, rates};
use crate::Result;
use crate::math::log_sigmoid;
use crate::params::{ParameterSpec, Role, Transform, log_softmax};

/// A table of probabilities for counts up to a limit.
#[derive(Debug, Clone, Copy)]
pub struct Categorical {
    max_count: usize,
}

impl Categorical {
    /// Counts from 0 to `max_count ≥ 1`.
    pub(crate) fn new(max_count: usize) -> Self {
        debug_assert!(max_count >= 1);
        Self { max_count }
    }

    /// Range of a label's split logits: after the two rates, label 0 first.
    fn split(&self, label: usize) -> Range<usize> {
        let len = self.max_count - 1;
        let first = 2 + label * len;
        first..first + len
    }
}

impl Categorical {
    /// The model with these probabilities of a stamp for a negative and a positive instance, and of one
    /// stamp, two and so on, given at least one.
    pub fn at(rates: [f64; 2], splits: [&[f64]; 2]) -> Result<BoundCounts> {
        let values: [(&str, &[f64]); 4] = [
            ("false_rate", &rates[..1]),
            ("hit_rate", &rates[1..]),
            ("false_split", splits[0]),
            ("hit_split", splits[1]),
        ];
        Counts::Categorical { max_count: splits[0].len() }.with(&values)
    }
}

impl CountModel for Categorical {
    fn parameters(&self) -> Vec<ParameterSpec> {
        let split =
            |name| ParameterSpec::new(name, self.max_count, Transform::Simplex, Role::CountSplit);
        let mut parameters = rates::parameters();
        parameters.extend([split("false_split"), split("hit_split")]);
        parameters
    }

    /// Each further stamp is half as likely as the one before it.
    fn start(&self, false_rate: f64, hit_rate: f64) -> Vec<f64> {
        let halving = || (1..self.max_count).map(|c| (self.max_count - c) as f64 * LN_2);
        let mut params = rates::start(false_rate, hit_rate);
        params.extend(halving().chain(halving()));
        params
    }

    fn max_count(&self) -> Option<usize> {
        Some(self.max_count)
    }

    fn log_probabilities(&self, params: &[f64], label: usize, out: &mut [f64]) {
        let logit = params[label];
        let log_any = log_sigmoid(logit);
        let log_split = log_softmax(&params[self.split(label)]);
        for (c, out) in out.iter_mut().enumerate() {
            *out = match c {
                0 => log_sigmoid(-logit),
                _ => log_split.get(c - 1).map_or(f64::NEG_INFINITY, |share| log_any + share),
            };
        }
    }

    fn log_ratio(&self, _params: &[f64], _label: usize) -> Option<f64> {
        None
    }

    fn pull_back(&self, params: &[f64], label: usize, expected: &[f64], d_params: &mut [f64]) {
        let Some((&none, rest)) = expected.split_first() else { return };
        let rest = &rest[..rest.len().min(self.max_count)];
        let some: f64 = rest.iter().sum();
        d_params[label] += rates::d_logit(params[label], none, some);
        let split = self.split(label);
        let log_split = log_softmax(&params[split.clone()]);
        for (k, d_param) in d_params[split].iter_mut().enumerate() {
            *d_param += rest.get(k).copied().unwrap_or(0.0) - some * log_split[k].exp();
        }
    }
}
