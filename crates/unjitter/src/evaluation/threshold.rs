//! The threshold of a detector's probabilities.

use serde::{Deserialize, Serialize};

use super::expected_f1::best_threshold;
use crate::baselines::{Annotated, TrainedModel};
use crate::error::require;
use crate::{Control, Recording, Result};

/// How to choose the threshold of a trained detector, on its training recordings.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Threshold {
    /// A fixed probability, such as 0.5.
    Fixed(f64),
    /// The best F1 on hand-aligned labels.
    BestF1,
    /// The best expected F1 given the stamps, as in
    /// [`expected_f1_threshold`](super::expected_f1_threshold); it needs no clean label.
    ExpectedF1,
}

impl Default for Threshold {
    fn default() -> Self {
        Self::Fixed(0.5)
    }
}

impl Threshold {
    /// The threshold for a trained learner; instances at or above it are positive.
    pub fn choose(
        &self,
        trained: &TrainedModel,
        training: &[&Recording],
        seed: u64,
        control: Control<'_>,
    ) -> Result<f64> {
        self.choose_annotated(&Annotated::new(trained, training, seed, control))
    }

    /// The same, with a model of the annotator.
    pub(super) fn choose_annotated(&self, annotated: &Annotated<'_>) -> Result<f64> {
        let Annotated { trained, training, .. } = annotated;
        match *self {
            Threshold::Fixed(value) => {
                let inside = (0.0..=1.0).contains(&value);
                require("threshold", value, inside, "a probability from 0 to 1")?;
                Ok(value)
            }
            Threshold::BestF1 => best(trained, training, |recording| {
                let labels = recording.hand_labels()?.iter();
                Ok(labels.map(|&label| f64::from(u8::from(label))).collect())
            }),
            Threshold::ExpectedF1 => {
                best(trained, training, |recording| annotated.posterior(recording))
            }
        }
    }
}

/// The threshold with the largest F1 against soft labels.
fn best(
    trained: &TrainedModel,
    training: &[&Recording],
    soft: impl Fn(&Recording) -> Result<Vec<f64>>,
) -> Result<f64> {
    let mut scored: Vec<(f64, f64)> = Vec::new();
    for recording in training {
        let scores = trained.predict_session(&recording.session)?;
        scored.extend(scores.into_iter().zip(soft(recording)?));
    }
    Ok(best_threshold(scored))
}
