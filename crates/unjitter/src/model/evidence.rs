//! The log evidence of stamps as a function to be climbed by somebody else's optimiser.
//!
//! A network brings the log-odds; the rates and the delays of the annotator are learned beside it.
//! [`Evidence`] knows what the annotator's parameters are, where to start them and what is believed
//! of them; its gradient is in `gradient`. Nothing here holds a value: parameters are a flat slice of
//! unconstrained numbers, counts before noise, as [`Evidence::layout`] says.

use crate::desks::Desks;
use crate::error::require;
use crate::inference::{Band, SpanSolver};
use crate::model::counts::{CountModel, Counts};
use crate::model::noise::{Noise, NoiseModel};
use crate::params::{Layout, Part};
use crate::prior::Priors;
use crate::{Error, Result};

/// Rates of a first guess: annotators are mostly silent, and mostly right.
const FALSE_RATE: f64 = 0.01;
const HIT_RATE: f64 = 0.9;

/// A count model and a noise model, with the layout of their parameters.
///
/// Delays are measured in multiples of `time_unit`, so that parameters and priors are of order one
/// whatever the unit of the data. Everything that is natural (a spread, a stamp, the evidence) is in
/// the unit of the data.
#[derive(Debug)]
pub struct Evidence {
    pub(super) counts: Box<dyn CountModel>,
    pub(super) noise: Box<dyn NoiseModel>,
    pub(super) time_unit: f64,
    layout: Layout,
    pub(super) desks: Desks<Desk>,
}

/// Buffers of one call.
#[derive(Debug, Default)]
pub(super) struct Desk {
    pub(super) band: Band,
    pub(super) solver: SpanSolver,
}

impl Evidence {
    /// The models by their settings.
    pub fn new(counts: &Counts, noise: &Noise, time_unit: f64) -> Result<Self> {
        require("time_unit", time_unit, time_unit > 0.0, "a time above 0")?;
        let (counts, noise) = (counts.build()?, noise.build(time_unit)?);
        let layout = Layout::new(vec![], counts.blocks(), noise.blocks());
        Ok(Self { counts, noise, time_unit, layout, desks: Desks::default() })
    }

    /// The parameters: those of the counts, then those of the noise.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Parameters to begin with: natural `values` of blocks by full name (`noise.spread`), and for
    /// the others a first guess.
    pub fn start(&self, values: &[(&str, &[f64])]) -> Result<Vec<f64>> {
        let mut params = self.counts.start(FALSE_RATE, HIT_RATE);
        params.extend(self.noise.start(0.0, 1.0));
        for (name, natural) in values {
            let (range, numbers) = self.layout.resolve(name, natural, self.time_unit)?;
            params[range].copy_from_slice(&numbers);
        }
        Ok(params)
    }

    /// Natural values of every block, by full name.
    pub fn natural(&self, params: &[f64]) -> Result<Vec<(&str, Vec<f64>)>> {
        self.check_params(params)?;
        let natural = |block| crate::params::Block::natural(block, params, self.time_unit);
        Ok(self.layout.blocks().iter().map(|b| (b.name.as_str(), natural(b))).collect())
    }

    /// Mean and standard deviation of the delay (its scale where that is infinite).
    pub fn delay_and_spread(&self, params: &[f64]) -> Result<(f64, f64)> {
        self.check_params(params)?;
        let noise = &params[self.layout.part(Part::Noise)];
        let [delay, spread] = [self.noise.delay(noise), self.noise.spread(noise)];
        Ok((delay * self.time_unit, spread * self.time_unit))
    }

    /// The log prior of the parameters that are free, and its gradient. Priors measure delays in
    /// the unit of time.
    pub fn log_prior(
        &self,
        priors: &Priors,
        params: &[f64],
        is_free: &[bool],
    ) -> Result<(f64, Vec<f64>)> {
        priors.check()?;
        self.check_params(params)?;
        let mut gradient = vec![0.0; params.len()];
        let value = priors.log_density(&self.layout, params, is_free, &mut gradient);
        Ok((value, gradient))
    }

    /// Fails if there are too few or too many parameters, or one is NaN.
    pub(super) fn check_params(&self, params: &[f64]) -> Result<()> {
        let expected = self.layout.dim();
        if params.len() != expected {
            let name = "counts and noise".to_owned();
            return Err(Error::ParameterLength { name, found: params.len(), expected });
        }
        for block in self.layout.blocks() {
            if let Some(&value) = params[block.range.clone()].iter().find(|v| v.is_nan()) {
                let expected = "a number; has learning diverged?";
                return Err(Error::OutOfRange { name: block.name.clone(), value, expected });
            }
        }
        Ok(())
    }
}
