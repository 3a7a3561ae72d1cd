//! The threshold of a detector's probabilities.

use serde::{Deserialize, Serialize};

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
    /// The best expected F1, 2·Σ_{found} p / (found + Σ p), where p is the posterior probability of each
    /// instance given the stamps; it needs no clean label.
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

/// The score with the largest F1 against soft labels; 0.5 if no score finds anything.
fn best(
    trained: &TrainedModel,
    training: &[&Recording],
    soft: impl Fn(&Recording) -> Result<Vec<f64>>,
) -> Result<f64> {
    let mut scored: Vec<(f64, f64)> = Vec::new();
    for recording in training {
        let scores = trained.predict(recording.session.features())?;
        scored.extend(scores.into_iter().zip(soft(recording)?));
    }
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    let positives: f64 = scored.iter().map(|(_, label)| label).sum();
    let (mut best_f1, mut threshold, mut hits) = (0.0, 0.5, 0.0);
    for (k, &(score, label)) in scored.iter().enumerate() {
        hits += label;
        // Equal scores fall on the same side.
        if scored.get(k + 1).is_some_and(|next| next.0 == score) {
            continue;
        }
        let f1 = 2.0 * hits / ((k + 1) as f64 + positives);
        if f1 > best_f1 {
            // Half way to the next score, so that rounding has no effect.
            let next = scored.get(k + 1).map_or(0.0, |next| next.0);
            (best_f1, threshold) = (f1, 0.5 * (score + next));
        }
    }
    Ok(threshold)
}
