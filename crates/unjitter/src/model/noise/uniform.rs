//! Uniform noise on a fixed interval: a hard limit on the delay, and nothing to learn.
//!
//! The only model with bounded support on both sides, so alignments can be impossible under it.
//! The interval is closed: a delay equal to an end has the full density.

use super::NoiseModel;
use crate::math::Random;
use crate::params::BlockSpec;

/// A constant density from `earliest` to `latest`, in multiples of the unit of time.
#[derive(Debug, Clone, Copy)]
pub struct Uniform {
    earliest: f64,
    latest: f64,
}

impl Uniform {
    /// Finite ends with `earliest < latest`.
    pub(crate) fn new(earliest: f64, latest: f64) -> Self {
        debug_assert!(earliest < latest && (latest - earliest).is_finite());
        Self { earliest, latest }
    }

    fn width(&self) -> f64 {
        self.latest - self.earliest
    }
}

impl NoiseModel for Uniform {
    fn blocks(&self) -> Vec<BlockSpec> {
        Vec::new()
    }

    /// Empty: the interval is fixed, whatever delay and spread are asked for.
    fn start(&self, _delay: f64, _spread: f64) -> Vec<f64> {
        Vec::new()
    }

    fn log_density(&self, params: &[f64], delays: &[f64], out: &mut [f64]) {
        let log_peak = self.log_peak(params);
        for (out, delay) in out.iter_mut().zip(delays) {
            let inside = (self.earliest..=self.latest).contains(delay);
            *out = if inside { log_peak } else { f64::NEG_INFINITY };
        }
    }

    fn log_peak(&self, _params: &[f64]) -> f64 {
        -self.width().ln()
    }

    fn reach(&self, _params: &[f64], _log_drop: f64) -> (f64, f64) {
        (self.earliest, self.latest)
    }

    fn pull_back(&self, _: &[f64], _: &[f64], _: &[f64], _: &mut [f64]) {}

    fn sample(&self, _params: &[f64], random: &mut Random) -> f64 {
        self.earliest + self.width() * random.uniform()
    }

    fn delay(&self, _params: &[f64]) -> f64 {
        self.earliest + 0.5 * self.width()
    }

    fn spread(&self, _params: &[f64]) -> f64 {
        self.width() / 12f64.sqrt()
    }
}
