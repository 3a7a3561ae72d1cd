//! Count models and noise models at given natural values, for inference.

use super::counts::BoundCounts;
use super::noise::BoundNoise;
use super::ordered::tables;
use crate::inference::{CountTables, DelayDensity};

impl BoundCounts {
    /// Count tables for a session of `stamps` stamps.
    pub fn tables(&self, stamps: usize) -> CountTables {
        tables(self.model.as_ref(), &self.params, stamps)
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
