//! Count models and noise models at given natural values.

use std::sync::Arc;

use super::counts::{CountModel, Counts};
use super::noise::{Noise, NoiseModel};
use super::ordered::{COUNTS, NOISE, tables};
use crate::inference::{CountTables, DelayDensity};
use crate::math::Random;
use crate::params::{BlockSpec, Layout};
use crate::{Error, Result};

/// A count model at given natural values, such as a hit rate of 0.9.
#[derive(Debug, Clone)]
pub struct BoundCounts {
    pub(super) model: Arc<dyn CountModel>,
    pub(super) params: Vec<f64>,
}

impl BoundCounts {
    /// Count tables for a session of `stamps` stamps.
    pub fn tables(&self, stamps: usize) -> CountTables {
        tables(self.model.as_ref(), &self.params, stamps)
    }

    /// Largest number of stamps that one instance can give, if there is one.
    pub fn max_count(&self) -> Option<usize> {
        self.model.max_count()
    }

    /// A count drawn for an instance with this label.
    pub fn sample(&self, label: usize, random: &mut Random) -> usize {
        let mut left = random.uniform();
        let mut table = vec![0.0; self.model.max_count().unwrap_or(15) + 1];
        loop {
            self.model.log_probabilities(&self.params, label, &mut table);
            for (count, log_probability) in table.iter().enumerate() {
                left -= log_probability.exp();
                if left < 0.0 {
                    return count;
                }
            }
            // Rounding may leave a sliver past a bounded table; an unbounded one is continued.
            if self.model.max_count().is_some() || table.len() > 1 << 20 {
                return table.len() - 1;
            }
            left += table.iter().map(|v| v.exp()).sum::<f64>();
            table.resize(4 * table.len(), 0.0);
        }
    }
}

/// A noise model at given natural values, such as a spread of 1.2 seconds.
#[derive(Debug, Clone)]
pub struct BoundNoise {
    pub(super) model: Arc<dyn NoiseModel>,
    pub(super) params: Vec<f64>,
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

    /// Standard deviation of the delay, or its scale where that is infinite.
    pub fn spread(&self) -> f64 {
        self.model.spread(&self.params)
    }
}

impl DelayDensity for BoundNoise {
    fn log_density(&self, delays: &[f64], out: &mut [f64]) {
        self.model.log_density(&self.params, delays, out);
    }

    fn log_peak(&self) -> f64 {
        self.model.log_peak(&self.params)
    }

    fn reach(&self, log_drop: f64) -> (f64, f64) {
        self.model.reach(&self.params, log_drop)
    }
}

impl Counts {
    /// The model at natural values, one entry per parameter block:
    /// `Counts::Bernoulli.with(&[("false_rate", &[0.01]), ("hit_rate", &[0.9])])`.
    pub fn with(&self, values: &[(&str, &[f64])]) -> Result<BoundCounts> {
        let model: Arc<dyn CountModel> = Arc::from(self.build()?);
        Ok(BoundCounts { params: bind(COUNTS, model.blocks(), values)?, model })
    }
}

impl Noise {
    /// The model at natural values, one entry per parameter block:
    /// `Noise::Gaussian.with(&[("delay", &[0.0]), ("spread", &[1.0])])`.
    pub fn with(&self, values: &[(&str, &[f64])]) -> Result<BoundNoise> {
        let model: Arc<dyn NoiseModel> = Arc::from(self.build(1.0)?);
        Ok(BoundNoise { params: bind(NOISE, model.blocks(), values)?, model })
    }
}

/// The parameters of a part from natural values, each block given once.
fn bind(part: &'static str, blocks: Vec<BlockSpec>, values: &[(&str, &[f64])]) -> Result<Vec<f64>> {
    let layout = Layout::new(vec![(part, blocks)]);
    let mut params = vec![f64::NAN; layout.dim()];
    for (name, natural) in values {
        let (range, numbers) = layout.resolve(&format!("{part}.{name}"), natural, 1.0)?;
        params[range].copy_from_slice(&numbers);
    }
    for block in layout.blocks() {
        if !values.iter().any(|(name, _)| *name == block.spec.name) {
            let (name, expected) = (block.name.clone(), block.spec.len);
            return Err(Error::ParameterLength { name, found: 0, expected });
        }
    }
    Ok(params)
}
