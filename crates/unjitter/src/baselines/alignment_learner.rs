//! Our learner: detector and annotator learned together from all alignments.

use serde::{Deserialize, Serialize};

use super::{Learner, TrainedModel, abbreviation, described};
use crate::learning::FitOptions;
use crate::model::Model;
use crate::{Control, Recording, Result, Session};

/// A model fitted to stamps: LR-M, KLR-M, NN-M.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AlignmentLearner {
    /// Classifier, counts, noise and priors.
    pub model: Model,
    /// Restarts and tolerances; the seed comes from the caller.
    pub fit: FitOptions,
}

impl Learner for AlignmentLearner {
    fn name(&self) -> String {
        format!("{}-M", abbreviation(&self.model.classifier))
    }

    fn weight_precision(&self) -> f64 {
        self.model.priors.weight_precision
    }

    fn options(&self) -> serde_json::Value {
        described("imprecise", self)
    }

    fn knowing(&self, all: &[&Recording]) -> Result<Option<Box<dyn Learner>>> {
        let sessions = sessions(all);
        let model = self.model.for_ends_of(&sessions)?.with_classes_of(&sessions)?;
        Ok(Some(Box::new(Self { model, fit: self.fit.clone() })))
    }

    fn fit(
        &self,
        recordings: &[&Recording],
        seed: u64,
        control: Control<'_>,
    ) -> Result<TrainedModel> {
        let sessions = sessions(recordings);
        let options =
            FitOptions { seed, threads: None, standard_errors: false, ..self.fit.clone() };
        let fitted = self.model.fit(&sessions, &options, control)?;
        control.stop_if_requested()?;
        Ok(TrainedModel::Fitted(Box::new(fitted)))
    }
}

fn sessions<'a>(recordings: &[&Recording<'a>]) -> Vec<Session<'a>> {
    recordings.iter().map(|recording| recording.session.clone()).collect()
}
