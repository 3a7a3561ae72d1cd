//! A noise model at given natural values.

use std::sync::Arc;

use super::{Noise, NoiseModel};
use crate::Result;
use crate::math::Random;
use crate::params::from_natural;

/// A noise model at given natural values, such as a spread of 1.2 seconds.
#[derive(Debug, Clone)]
pub struct BoundNoise {
    pub(crate) model: Arc<dyn NoiseModel>,
    pub(crate) params: Vec<f64>,
}

impl BoundNoise {
    /// A delay drawn from the density.
    pub fn sample(&self, random: &mut Random) -> f64 {
        self.model.sample(&self.params, random)
    }

    /// Mean delay.
    pub fn delay(&self) -> f64 {
        self.model.delay(&self.params)
    }

    /// Standard deviation of the delay, or its scale if that is infinite.
    pub fn spread(&self) -> f64 {
        self.model.spread(&self.params)
    }
}

impl Noise {
    /// The model at natural values by name, one entry per parameter, for names that are known at run
    /// time only; [`Gaussian::at`](super::Gaussian::at) and the like take numbers.
    pub fn with(&self, values: &[(&str, &[f64])]) -> Result<BoundNoise> {
        let model: Arc<dyn NoiseModel> = Arc::from(self.build(1.0)?);
        Ok(BoundNoise { params: from_natural("noise", model.parameters(), values)?, model })
    }
}
