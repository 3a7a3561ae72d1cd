//! Training on hand-aligned labels: an upper limit for learning from sloppy stamps.

use serde::{Deserialize, Serialize};

use super::{Learner, TrainedModel, abbreviation, described, fit_targets};
use crate::learning::{Supervised, Target};
use crate::{Control, Recording, Result};

/// Ordinary supervised learning on hand-aligned labels: LR-H, KLR-H, NN-H.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HandAligned {
    /// Classifier and priors.
    pub supervised: Supervised,
}

impl Learner for HandAligned {
    fn name(&self) -> String {
        format!("{}-H", abbreviation(&self.supervised.classifier))
    }

    fn weight_precision(&self) -> f64 {
        self.supervised.priors.weight_precision
    }

    fn options(&self) -> serde_json::Value {
        described("hand_aligned", self)
    }

    fn fit(
        &self,
        recordings: &[&Recording],
        seed: u64,
        control: Control<'_>,
    ) -> Result<TrainedModel> {
        let targets = |recording: &&Recording| {
            Ok(recording.hand_labels()?.iter().map(|&label| Target::from(label)).collect())
        };
        let targets: Vec<Vec<Target>> = recordings.iter().map(targets).collect::<Result<_>>()?;
        fit_targets(&self.supervised, recordings, &targets, seed, control)
    }
}
