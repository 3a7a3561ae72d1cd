//! What hyper-parameters are chosen by.
//!
//! The paper chooses by F1 on hand-aligned labels, which people with sloppy stamps do not have. The
//! held-out log evidence of the stamps needs no clean label. A detector that comes without a model
//! of the annotator gets one: counts, delays and a rescaling of its log-odds are fitted to the
//! training stamps, the detector staying as it is.

use ndarray::Array2;
use serde::{Deserialize, Serialize};

use crate::baselines::Trained;
use crate::learning::FitOptions;
use crate::model::{Fitted, Model};
use crate::{Error, Recording, Result, Session, Stop};

/// What to make large on held-out recordings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Criterion {
    /// F1 on hand-aligned labels at the threshold, pooled over folds: the paper's.
    F1,
    /// Log evidence of the stamps, summed over folds.
    LogEvidence,
}

/// The annotator model that goes with a trained learner: its own, or one fitted around it.
#[derive(Debug)]
pub(super) enum Annotated<'a> {
    Own(&'a Fitted),
    Around { trained: &'a Trained, fitted: Box<Fitted> },
}

impl<'a> Annotated<'a> {
    /// Fits an annotator model around a bare detector, on the recordings it was trained on.
    pub(super) fn new(
        trained: &'a Trained,
        training: &[&Recording],
        seed: u64,
        stop: Stop<'_>,
    ) -> Result<Self> {
        match trained {
            Trained::Fitted(fitted) => Ok(Self::Own(fitted)),
            Trained::Detector(_) => {
                let sessions: Vec<Session> = training
                    .iter()
                    .map(|recording| by_log_odds(trained, &recording.session))
                    .collect::<Result<_>>()?;
                let options = FitOptions { seed, ..FitOptions::default() };
                let fitted = Box::new(Model::default().fit_stoppable(&sessions, &options, stop)?);
                Ok(Self::Around { trained, fitted })
            }
        }
    }

    /// log p(stamps) of a recording; −∞ where the model makes them impossible.
    pub(super) fn log_evidence(&self, recording: &Recording) -> Result<f64> {
        let found = match self {
            Self::Own(fitted) => fitted.log_evidence(&recording.session),
            Self::Around { trained, fitted } => {
                fitted.log_evidence(&by_log_odds(trained, &recording.session)?)
            }
        };
        match found {
            Err(Error::Infeasible { .. } | Error::TooManyStamps { .. }) => Ok(f64::NEG_INFINITY),
            other => other,
        }
    }

    /// p(positive | stamps) of every instance of a recording.
    pub(super) fn posterior(&self, recording: &Recording) -> Result<Vec<f64>> {
        let aligned = match self {
            Self::Own(fitted) => fitted.align(&recording.session)?,
            Self::Around { trained, fitted } => {
                fitted.align(&by_log_odds(trained, &recording.session)?)?
            }
        };
        Ok(aligned.instances.iter().map(|instance| instance.p_positive).collect())
    }
}

/// The session with the detector's log-odds as its only feature.
fn by_log_odds(trained: &Trained, session: &Session<'_>) -> Result<Session<'static>> {
    let log_odds = trained.log_odds(session.features())?;
    let features = Array2::from_shape_vec((session.len(), 1), log_odds).expect("one per instance");
    let (times, stamps) = (session.times().to_vec(), session.stamps().to_vec());
    let lean = Session::new(session.name(), features, times, stamps)?;
    match session.observed() {
        Some(intervals) => lean.with_observed(intervals.to_vec()),
        None => Ok(lean),
    }
}
