//! Number of stamps per instance, by label.
//!
//! The first parameters of every count model are the two rates that users ask for, π_y = P(at least one
//! stamp | label y): `false_rate` for negatives, `hit_rate` for positives. Inference uses the weight
//! c!·p(c | y): the density of c independent draws, observed sorted, has the factor c!. [`Counts`] names
//! a model; [`Counts::build`] makes it.
//!
//! A rate frozen at 0 or 1 has the logit ∓∞; no method turns that into NaN.

mod bernoulli;
mod bound;
mod categorical;
mod geometric;
mod poisson;
mod rates;
#[cfg(test)]
mod tests;

use std::fmt::Debug;

use serde::{Deserialize, Serialize};

use crate::math::sigmoid;
use crate::params::ParameterSpec;
use crate::settings::no_settings;
use crate::{Error, Result};

pub use bernoulli::Bernoulli;
pub use bound::BoundCounts;
pub use categorical::Categorical;
pub use geometric::Geometric;
pub use poisson::Poisson;

/// A distribution of the count for each label.
pub trait CountModel: Debug + Send + Sync {
    /// The parameters; the first two are `false_rate` and `hit_rate`.
    fn parameters(&self) -> Vec<ParameterSpec>;

    /// Unconstrained parameters with these rates.
    fn start(&self, false_rate: f64, hit_rate: f64) -> Vec<f64>;

    /// Largest possible count, if there is one.
    fn max_count(&self) -> Option<usize>;

    /// Overwrites `out` with log p(c | label) for c = 0..out.len(); −∞ beyond the largest count.
    fn log_probabilities(&self, params: &[f64], label: usize, out: &mut [f64]);

    /// log λ if c!·p(c | label) = p(0 | label)·λᶜ for every c: inference then needs no loop over counts.
    fn log_ratio(&self, params: &[f64], label: usize) -> Option<f64>;

    /// P(at least one stamp | negative) and P(no stamp | positive).
    fn rates(&self, params: &[f64]) -> (f64, f64) {
        (sigmoid(params[0]), sigmoid(-params[1]))
    }

    /// Adds `Σ_c expected[c] · ∂ log p(c | label) / ∂params` to `d_params`.
    fn pull_back(&self, params: &[f64], label: usize, expected: &[f64], d_params: &mut [f64]);
}

/// Which count model, with its fixed settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Counts {
    /// One stamp at most, or several if the evidence says so.
    #[serde(deserialize_with = "no_settings")]
    Auto,
    /// One stamp at most: [`Bernoulli`].
    #[serde(deserialize_with = "no_settings")]
    Bernoulli,
    /// A table up to a limit: [`Categorical`].
    Categorical {
        /// Largest count, 1 to 1000.
        max_count: usize,
    },
    /// Independent arrivals: [`Poisson`].
    #[serde(deserialize_with = "no_settings")]
    Poisson,
    /// A further stamp as likely as the first: [`Geometric`].
    #[serde(deserialize_with = "no_settings")]
    Geometric,
}

/// A larger table would rarely have data for its entries.
const MAX_TABLE: usize = 1000;

impl Counts {
    /// Builds the model.
    pub fn build(&self) -> Result<Box<dyn CountModel>> {
        Ok(match *self {
            Counts::Auto | Counts::Bernoulli => Box::new(Bernoulli),
            Counts::Categorical { max_count } => {
                if !(1..=MAX_TABLE).contains(&max_count) {
                    return Err(Error::OutOfRange {
                        name: "counts.max_count".to_owned(),
                        value: max_count as f64,
                        expected: "a largest count from 1 to 1000",
                    });
                }
                Box::new(Categorical::new(max_count))
            }
            Counts::Poisson => Box::new(Poisson),
            Counts::Geometric => Box::new(Geometric),
        })
    }

    /// The name of the kind, as in a model file.
    pub fn name(&self) -> &'static str {
        match self {
            Counts::Auto => "auto",
            Counts::Bernoulli => "bernoulli",
            Counts::Categorical { .. } => "categorical",
            Counts::Poisson => "poisson",
            Counts::Geometric => "geometric",
        }
    }
}
