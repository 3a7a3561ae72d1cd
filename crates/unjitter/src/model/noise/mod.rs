//! Where a stamp lands: a density of the delay z − t between a stamp and its instance.
//!
//! Delays arrive divided by the model's unit of time, and parameters are unconstrained numbers;
//! the [`BlockSpec`]s say what they stand for. [`Noise`] names a model; [`Noise::build`] makes it.
//!
//! Logs of spreads, shapes and degrees of freedom are meant to stay within ±300, so that their
//! exponentials and squares are ordinary numbers; beyond that a density may come out as NaN. (A
//! weight frozen at 0 or a shape frozen at 1, both −∞, are fine.) Reach holds up to rounding: just
//! outside it the log density may exceed the level by a few last digits.

mod gaussian;
mod groups;
mod laplace;
mod mixture;
mod shifted_gamma;
mod student_t;
#[cfg(test)]
mod tests;
mod uniform;

use std::fmt::Debug;

use serde::{Deserialize, Serialize};

use crate::math::Random;
use crate::params::BlockSpec;
use crate::settings::no_settings;
use crate::{Error, Result};

pub use gaussian::Gaussian;
pub use laplace::Laplace;
pub use mixture::GaussianMixture;
pub use shifted_gamma::ShiftedGamma;
pub use student_t::StudentT;
pub use uniform::Uniform;

/// A density of the delay, with what learning and inference need of it.
pub trait NoiseModel: Debug + Send + Sync {
    /// The parameters, in the order of `params` in the other methods.
    fn blocks(&self) -> Vec<BlockSpec>;

    /// Unconstrained parameters with about this mean delay and this standard deviation.
    fn start(&self, delay: f64, spread: f64) -> Vec<f64>;

    /// Overwrites `out` with log p(delay); −∞ outside the support.
    fn log_density(&self, params: &[f64], delays: &[f64], out: &mut [f64]);

    /// The level that [`reach`](Self::reach) measures from: no lower than log(2K) below the
    /// supremum of the log density (K components) and no higher than that supremum.
    fn log_peak(&self, params: &[f64]) -> f64;

    /// An interval of delays outside which the log density is below `log_peak − log_drop`.
    /// Widens with `log_drop ≥ 0`, up to the support.
    fn reach(&self, params: &[f64], log_drop: f64) -> (f64, f64);

    /// Adds `Σ_k responsibilities[k] · ∂ log p(delays[k]) / ∂params` to `d_params`. A delay
    /// outside the support has no responsibility and adds nothing.
    fn pull_back(
        &self,
        params: &[f64],
        delays: &[f64],
        responsibilities: &[f64],
        d_params: &mut [f64],
    );

    /// One draw.
    fn sample(&self, params: &[f64], random: &mut Random) -> f64;

    /// Mean delay.
    fn delay(&self, params: &[f64]) -> f64;

    /// Standard deviation of the delay; where that is infinite, the scale.
    fn spread(&self, params: &[f64]) -> f64;

    /// Whether the log density has kinks. The best parameters may then lie on one, where no step
    /// leads down although the gradient does not vanish.
    fn has_kinks(&self) -> bool {
        false
    }
}

/// Which noise model, with its fixed settings (times in the user's unit).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Noise {
    /// Normal, with a bias: [`Gaussian`].
    #[serde(deserialize_with = "no_settings")]
    Gaussian,
    /// Several normals: [`GaussianMixture`].
    GaussianMixture {
        /// Number of components, 1 to 64.
        components: usize,
    },
    /// Double exponential: [`Laplace`].
    #[serde(deserialize_with = "no_settings")]
    Laplace,
    /// Heavy tails: [`StudentT`].
    #[serde(deserialize_with = "no_settings")]
    StudentT,
    /// Only late, by at least a shift: [`ShiftedGamma`].
    #[serde(deserialize_with = "no_settings")]
    ShiftedGamma,
    /// A fixed interval: [`Uniform`].
    Uniform {
        /// Smallest possible delay.
        earliest: f64,
        /// Largest possible delay.
        latest: f64,
    },
}

/// More components than this have no use for one-dimensional delays.
const MAX_COMPONENTS: usize = 64;

impl Noise {
    /// Builds the model for delays measured in multiples of `time_unit > 0`.
    pub fn build(&self, time_unit: f64) -> Result<Box<dyn NoiseModel>> {
        Ok(match *self {
            Noise::Gaussian => Box::new(Gaussian),
            Noise::GaussianMixture { components } => {
                if !(1..=MAX_COMPONENTS).contains(&components) {
                    return Err(Error::OutOfRange {
                        name: "noise.components".to_owned(),
                        value: components as f64,
                        expected: "a number of components from 1 to 64",
                    });
                }
                Box::new(GaussianMixture::new(components))
            }
            Noise::Laplace => Box::new(Laplace),
            Noise::StudentT => Box::new(StudentT),
            Noise::ShiftedGamma => Box::new(ShiftedGamma),
            Noise::Uniform { earliest, latest } => {
                check_interval(earliest, latest)?;
                let (earliest, latest) = (earliest / time_unit, latest / time_unit);
                // An extreme unit can push an end to infinity or both ends together.
                check_interval(earliest, latest)?;
                Box::new(Uniform::new(earliest, latest))
            }
        })
    }

    /// The name of the kind, as in a model file.
    pub fn name(&self) -> &'static str {
        match self {
            Noise::Gaussian => "gaussian",
            Noise::GaussianMixture { .. } => "gaussian_mixture",
            Noise::Laplace => "laplace",
            Noise::StudentT => "student_t",
            Noise::ShiftedGamma => "shifted_gamma",
            Noise::Uniform { .. } => "uniform",
        }
    }
}

fn check_interval(earliest: f64, latest: f64) -> Result<()> {
    let error = |name: &str, value, expected| {
        Err(Error::OutOfRange { name: name.to_owned(), value, expected })
    };
    if !earliest.is_finite() {
        return error("noise.earliest", earliest, "a finite time");
    }
    // The width must be finite too, or the density would be zero.
    if !(latest > earliest && (latest - earliest).is_finite()) {
        return error("noise.latest", latest, "a finite time after noise.earliest");
    }
    Ok(())
}
