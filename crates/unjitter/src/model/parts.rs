//! The three parts together, and parts with their parameters bound.

use crate::inference::{CountTables, DelayDensity};
use crate::math::Random;
use crate::model::classifier::Classifier;
use crate::model::counts::{CountModel, Counts};
use crate::model::noise::{Noise, NoiseModel};
use crate::params::{Layout, Part};
use crate::{Error, Result};

/// Classifier, counts and noise, with the layout of their parameters.
#[derive(Debug)]
pub struct Parts {
    /// Features to log-odds.
    pub classifier: Box<dyn Classifier>,
    /// How many stamps.
    pub counts: Box<dyn CountModel>,
    /// Where they land.
    pub noise: Box<dyn NoiseModel>,
    /// Where their parameters lie.
    pub layout: Layout,
}

impl Parts {
    /// Puts parts together.
    pub fn new(
        classifier: Box<dyn Classifier>,
        counts: Box<dyn CountModel>,
        noise: Box<dyn NoiseModel>,
    ) -> Self {
        let layout = Layout::new(classifier.blocks(), counts.blocks(), noise.blocks());
        Self { classifier, counts, noise, layout }
    }

    /// Count tables for sessions of at most `stamps` stamps, from all parameters.
    pub fn tables(&self, params: &[f64], stamps: usize) -> CountTables {
        tables(self.counts.as_ref(), &params[self.layout.part(Part::Counts)], stamps)
    }

    /// The density of delays with the noise parameters `params` bound.
    pub fn density<'a>(&'a self, params: &'a [f64]) -> impl DelayDensity + 'a {
        Density { noise: self.noise.as_ref(), params }
    }
}

/// Count tables for sessions of at most `stamps` stamps.
pub(super) fn tables(counts: &dyn CountModel, params: &[f64], stamps: usize) -> CountTables {
    // One entry beyond silence at least, so that every table has a first-count weight.
    let most = counts.max_count().unwrap_or(usize::MAX).min(stamps.max(1));
    let table = |label: usize| {
        let mut table = vec![0.0; most + 1];
        counts.log_probabilities(params, label, &mut table);
        table
    };
    let ratios = counts.log_ratio(params, 0).zip(counts.log_ratio(params, 1));
    CountTables::new([table(0), table(1)], ratios.map(|(a, b)| [a, b]))
}

/// A noise model with its parameters.
pub(super) struct Density<'a> {
    pub(super) noise: &'a dyn NoiseModel,
    pub(super) params: &'a [f64],
}

impl DelayDensity for Density<'_> {
    fn log_density(&self, delays: &[f64], out: &mut [f64]) {
        self.noise.log_density(self.params, delays, out);
    }

    fn log_peak(&self) -> f64 {
        self.noise.log_peak(self.params)
    }

    fn reach(&self, log_drop: f64) -> (f64, f64) {
        self.noise.reach(self.params, log_drop)
    }
}

/// A count model at given natural values, such as a hit rate of 0.9.
#[derive(Debug)]
pub struct BoundCounts {
    model: Box<dyn CountModel>,
    params: Vec<f64>,
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
#[derive(Debug)]
pub struct BoundNoise {
    model: Box<dyn NoiseModel>,
    params: Vec<f64>,
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
        let model = self.build()?;
        let layout = Layout::new(vec![], model.blocks(), vec![]);
        Ok(BoundCounts { params: bind(&layout, Part::Counts, values)?, model })
    }
}

impl Noise {
    /// The model at natural values, one entry per parameter block:
    /// `Noise::Gaussian.with(&[("delay", &[0.0]), ("spread", &[1.0])])`.
    pub fn with(&self, values: &[(&str, &[f64])]) -> Result<BoundNoise> {
        let model = self.build(1.0)?;
        let layout = Layout::new(vec![], vec![], model.blocks());
        Ok(BoundNoise { params: bind(&layout, Part::Noise, values)?, model })
    }
}

/// All parameters of a layout from natural values, each block given once.
fn bind(layout: &Layout, part: Part, values: &[(&str, &[f64])]) -> Result<Vec<f64>> {
    let mut params = vec![f64::NAN; layout.dim()];
    for (name, natural) in values {
        let (range, numbers) = layout.resolve(&format!("{}.{name}", part.name()), natural, 1.0)?;
        params[range].copy_from_slice(&numbers);
    }
    for block in layout.blocks() {
        let missing = |name: &str| block.name == format!("{}.{name}", part.name());
        if !values.iter().any(|(name, _)| missing(name)) {
            let (name, expected) = (block.name.clone(), block.spec.len);
            return Err(Error::ParameterLength { name, found: 0, expected });
        }
    }
    Ok(params)
}
