//! Count models and noise models at given natural values, for inference.

use super::counts::BoundCounts;
use super::noise::BoundNoise;
use super::one_annotator::{Density, tables};
use crate::inference::{CountTables, DelayDensity};

impl BoundCounts {
    /// Count tables for a session of `stamps` stamps.
    pub fn tables(&self, stamps: usize) -> CountTables {
        tables(self.model.as_ref(), &self.params, stamps)
    }
}

impl BoundNoise {
    /// The density of the delays.
    pub fn density(&self) -> impl DelayDensity {
        Density::new(self.model.as_ref(), self.params.clone())
    }
}
