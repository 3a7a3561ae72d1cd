//! Noise models: densities of the delay z − t between a stamp and its instance.
//!
//! Delays are divided by the model's unit of time, and parameters are unconstrained numbers; the
//! [`ParameterSpec`]s give their meaning. [`Noise`] names a model; [`Noise::build`] makes it.
//!
//! Logs of spreads, shapes and degrees of freedom should stay within ±300, so that their exponentials and
//! squares are ordinary numbers; beyond that a density may be NaN. (A weight frozen at 0 or a shape
//! frozen at 1, both −∞, are fine.) Reach holds up to rounding: just outside it the log density may
//! exceed the level by a few last digits.

mod bound;
mod gaussian;
mod groups;
mod kind;
mod laplace;
mod mixture;
mod shifted_gamma;
mod student_t;
mod table;
#[cfg(test)]
mod tests;
mod uniform;

use std::fmt::Debug;

use serde::{Deserialize, Deserializer, Serialize};

use crate::Result;
use crate::math::Random;
use crate::params::ParameterSpec;

pub use bound::BoundNoise;
pub use kind::{Kind, Parameter, Setting, Value};

table::noises! {
    gaussian::Gaussian,
    mixture::GaussianMixture { components: usize },
    laplace::Laplace,
    student_t::StudentT,
    shifted_gamma::ShiftedGamma,
    uniform::Uniform { earliest: f64, latest: f64 },
}

/// A density of the delay, for learning and inference.
pub trait NoiseModel: Debug + Send + Sync {
    /// The parameters, in the order of `params` in the other methods.
    fn parameters(&self) -> Vec<ParameterSpec>;

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

    /// Adds `Σ_k responsibilities[k] · ∂ log p(delays[k]) / ∂params` to `d_params`. A delay outside the
    /// support has no responsibility and adds nothing. Responsibilities may have been multiplied by anything,
    /// and be negative.
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

    /// Standard deviation of the delay; the scale if that is infinite.
    fn spread(&self, params: &[f64]) -> f64;

    /// Whether the log density has kinks. The best parameters may then lie on one, where no step
    /// leads down although the gradient does not vanish.
    fn has_kinks(&self) -> bool {
        false
    }
}

impl Noise {
    /// Builds the model for delays measured in multiples of `time_unit > 0`.
    pub fn build(&self, time_unit: f64) -> Result<Box<dyn NoiseModel>> {
        let (kind, settings) = (self.kind(), self.settings());
        for (setting, &value) in kind.settings.iter().zip(&settings) {
            setting.check(value)?;
        }
        (kind.build)(&settings, time_unit)
    }

    /// The name of the kind, as in a model file.
    pub fn name(&self) -> &'static str {
        self.kind().name
    }
}
