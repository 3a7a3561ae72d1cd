//! How many stamps an instance gives, by its label.
//!
//! Every count model is parametrised first by the two rates that people ask about,
//! π_y = P(at least one stamp | label y): `false_rate` for negatives, `hit_rate` for positives.
//! What inference sees of it is the weight c!·p(c | y): the density of c independent draws, seen
//! sorted, has the factor c!.

use std::fmt::Debug;

use crate::params::BlockSpec;

/// A distribution of the count for each label.
pub trait CountModel: Debug + Send + Sync {
    /// The parameters; the first two blocks are `false_rate` and `hit_rate`.
    fn blocks(&self) -> Vec<BlockSpec>;

    /// Unconstrained parameters with these rates.
    fn start(&self, false_rate: f64, hit_rate: f64) -> Vec<f64>;

    /// Largest possible count, if there is one.
    fn max_count(&self) -> Option<usize>;

    /// Overwrites `out` with log p(c | label) for c = 0..out.len(); −∞ beyond the largest count.
    fn log_probabilities(&self, params: &[f64], label: usize, out: &mut [f64]);

    /// log λ where c!·p(c | label) = p(0 | label)·λᶜ for every c: then inference needs no loop over
    /// counts.
    fn log_ratio(&self, params: &[f64], label: usize) -> Option<f64>;

    /// Adds Σ_c expected[c] · ∂ log p(c | label) / ∂params to `d_params`.
    fn pull_back(&self, params: &[f64], label: usize, expected: &[f64], d_params: &mut [f64]);
}
