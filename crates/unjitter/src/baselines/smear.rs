//! The common habit: a soft label, a Gaussian of hand-set width around each stamp.

use serde::{Deserialize, Serialize};

use super::naive::observed_targets;
use super::{Learner, TrainedModel, abbreviation, described, fit_targets};
use crate::error::require;
use crate::learning::{Supervised, Target};
use crate::{Control, Recording, Result};

/// Supervised learning on soft labels max_l exp(−½((t − z_l)/width)²).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Smear {
    /// Classifier and priors.
    pub supervised: Supervised,
    /// Standard deviation of the Gaussian, in the unit of the data.
    pub width: f64,
}

impl Default for Smear {
    fn default() -> Self {
        Self { supervised: Supervised::default(), width: 1.0 }
    }
}

impl Learner for Smear {
    fn name(&self) -> String {
        format!("{}-S", abbreviation(&self.supervised.classifier))
    }

    fn weight_precision(&self) -> f64 {
        self.supervised.priors.weight_precision
    }

    fn options(&self) -> serde_json::Value {
        described("smear", self)
    }

    fn fit(
        &self,
        recordings: &[&Recording],
        seed: u64,
        control: Control<'_>,
    ) -> Result<TrainedModel> {
        require("width", self.width, self.width > 0.0, "a finite time above 0")?;
        let targets: Vec<Vec<Target>> =
            recordings.iter().map(|recording| self.targets(recording)).collect();
        fit_targets(&self.supervised, recordings, &targets, seed, control)
    }
}

impl Smear {
    fn targets(&self, recording: &Recording) -> Vec<Target> {
        let session = &recording.session;
        let mut targets = observed_targets(session, &vec![false; session.len()]);
        // Beyond nine widths the Gaussian is below 1e-17: no target would change.
        let reach = 9.0 * self.width;
        for stamp in session.stamps() {
            let first = session.times().partition_point(|t| stamp - t > reach);
            let end = session.times().partition_point(|t| t - stamp <= reach);
            for (target, t) in targets[first..end].iter_mut().zip(&session.times()[first..end]) {
                let distance = (t - stamp) / self.width;
                target.positive = target.positive.max((-0.5 * distance * distance).exp());
            }
        }
        targets
    }
}
