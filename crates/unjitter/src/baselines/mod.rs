//! Learners to compare: every row of the paper's tables, and common practice.
//!
//! | name | trains on |
//! |---|---|
//! | LR-H, KLR-H, NN-H | labels aligned by hand: the ceiling ([`HandAligned`]) |
//! | LR-N, KLR-N, NN-N | each stamp as a label of the nearest instance ([`Naive`]) |
//! | LR-D, … | the same, without instances near a stamp ([`DropNear`]) |
//! | LR-S, … | soft labels, a Gaussian around each stamp ([`Smear`]) |
//! | MI | bags of instances with a witness each ([`MultipleInstance`]) |
//! | LR-M, KLR-M, NN-M | all alignments: ours ([`AlignmentLearner`]) |
//!
//! Where labels form runs, all but MI learn the same chain from their labels, so that they differ in nothing else.

mod alignment_learner;
mod annotated;
mod drop_near;
mod hand_aligned;
mod multiple_instance;
mod naive;
mod smear;

use std::fmt::Debug;

pub use alignment_learner::AlignmentLearner;
pub(crate) use annotated::Annotated;
pub use drop_near::DropNear;
pub use hand_aligned::HandAligned;
pub use multiple_instance::{MultipleInstance, Witnesses};
pub use naive::{Naive, kept_by_naive};
pub use smear::Smear;

use crate::learning::{Supervised, Target};
use crate::model::classifier::ClassifierSpec;
use crate::model::{Detector, Fitted};
use crate::{Control, Features, Recording, Result, Session};

/// The result of a learner.
#[derive(Debug)]
pub enum TrainedModel {
    /// A detector alone.
    Detector(Detector),
    /// A detector with a model of the annotator.
    Fitted(Box<Fitted>),
}

impl TrainedModel {
    /// How many numbers were learned.
    pub(crate) fn parameters(&self) -> Result<usize> {
        match self {
            TrainedModel::Detector(detector) => Ok(detector.params().len()),
            TrainedModel::Fitted(fitted) => fitted.learned_parameters(),
        }
    }

    /// Probability of the positive label, one per row of `features`; refused if labels form a chain.
    pub fn predict<'a>(&self, features: impl Into<Features<'a>>) -> Result<Vec<f64>> {
        match self {
            TrainedModel::Detector(detector) => detector.predict(features),
            TrainedModel::Fitted(fitted) => fitted.predict(features),
        }
    }

    /// Probability of the positive label, one per instance of a session, whose stamps are not used.
    pub fn predict_session(&self, session: &Session) -> Result<Vec<f64>> {
        match self {
            TrainedModel::Detector(detector) => detector.predict_session(session),
            TrainedModel::Fitted(fitted) => fitted.predict_session(session),
        }
    }

    /// Log-odds of the positive label, one per row of `features`.
    pub fn log_odds<'a>(&self, features: impl Into<Features<'a>>) -> Result<Vec<f64>> {
        match self {
            TrainedModel::Detector(detector) => detector.log_odds(features),
            TrainedModel::Fitted(fitted) => fitted.log_odds(features),
        }
    }
}

/// A method that learns a detector from recordings.
pub trait Learner: Debug + Send + Sync {
    /// Short name, such as "LR-M".
    fn name(&self) -> String;

    /// Precision of the prior on its weights; of learners as good as each other, the simpler has the larger. 0
    /// for none.
    fn weight_precision(&self) -> f64 {
        0.0
    }

    /// All its options: two learners are the same if and only if these are.
    fn options(&self) -> serde_json::Value;

    /// The same learner, told of which classes the events of all recordings are and whether stamps tell ends, which those
    /// that it learns from may not show. None if that changes nothing.
    fn knowing(&self, _all: &[&Recording]) -> Result<Option<Box<dyn Learner>>> {
        Ok(None)
    }

    /// Learns from recordings, all with the same number of features. Once a stop is
    /// requested, learning ends as soon as it can, with [`Error::Cancelled`](crate::Error::Cancelled).
    fn fit(
        &self,
        recordings: &[&Recording],
        seed: u64,
        control: Control<'_>,
    ) -> Result<TrainedModel>;
}

/// The paper's abbreviation of a classifier.
fn abbreviation(classifier: &ClassifierSpec) -> &'static str {
    match classifier {
        ClassifierSpec::Logistic => "LR",
        ClassifierSpec::Kernel { .. } => "KLR",
        ClassifierSpec::Mlp { .. } => "NN",
    }
}

/// A learner's options with its kind, for [`Learner::options`].
fn described(kind: &str, options: &impl serde::Serialize) -> serde_json::Value {
    // Options are plain structs of numbers and names: they always have a JSON form.
    let options = serde_json::to_value(options).expect("options are plain data");
    serde_json::json!({ "kind": kind, "options": options })
}

/// Fits a supervised learner to targets per recording.
fn fit_targets(
    supervised: &Supervised,
    recordings: &[&Recording],
    targets: &[Vec<Target>],
    seed: u64,
    control: Control<'_>,
) -> Result<TrainedModel> {
    let with = recordings.iter().zip(targets);
    let data: Vec<_> = with.map(|(one, targets)| (&one.session, targets.as_slice())).collect();
    Ok(TrainedModel::Detector(supervised.fit_sessions(&data, seed, control)?.0))
}
