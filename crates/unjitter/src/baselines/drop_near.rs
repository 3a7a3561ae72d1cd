//! The cautious habit: the instance nearest to each stamp is positive, but other instances near a stamp,
//! which may be the true ones, are left out of training.

use serde::{Deserialize, Serialize};

use super::naive::{naive_labels, observed_targets};
use super::{Learner, TrainedModel, abbreviation, described, fit_targets};
use crate::error::require;
use crate::learning::{Supervised, Target};
use crate::{Control, Recording, Result};

/// Naive learning without the instances within `radius` of a stamp, except its nearest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DropNear {
    /// Classifier and priors.
    pub supervised: Supervised,
    /// Largest distance in time, in the unit of the data, at which an instance is left out.
    pub radius: f64,
}

impl Default for DropNear {
    fn default() -> Self {
        Self { supervised: Supervised::default(), radius: 1.0 }
    }
}

impl Learner for DropNear {
    fn name(&self) -> String {
        format!("{}-D", abbreviation(&self.supervised.classifier))
    }

    fn weight_precision(&self) -> f64 {
        self.supervised.priors.weight_precision
    }

    fn options(&self) -> serde_json::Value {
        described("drop_near", self)
    }

    fn fit(
        &self,
        recordings: &[&Recording],
        seed: u64,
        control: Control<'_>,
    ) -> Result<TrainedModel> {
        require("radius", self.radius, self.radius >= 0.0, "a finite time of at least 0")?;
        let targets: Vec<Vec<Target>> =
            recordings.iter().map(|recording| self.targets(recording)).collect();
        fit_targets(&self.supervised, recordings, &targets, seed, control)
    }
}

impl DropNear {
    fn targets(&self, recording: &Recording) -> Vec<Target> {
        let session = &recording.session;
        let labels = naive_labels(session);
        let mut targets = observed_targets(session, &labels);
        for stamp in session.stamps() {
            let first = session.times().partition_point(|t| stamp - t > self.radius);
            let end = session.times().partition_point(|t| t - stamp <= self.radius);
            for i in first..end {
                if !labels[i] {
                    targets[i].weight = 0.0;
                }
            }
        }
        targets
    }
}
