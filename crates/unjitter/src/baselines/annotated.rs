//! A model of the annotator for every learner, including those without one.
//!
//! For a bare detector, counts, delays and a rescaling of its log-odds are fitted to the stamps of its
//! training data, while the detector is kept, with its chain if labels form one. This takes a fit, so it is done once, on
//! the first request.

use std::cell::OnceCell;

use ndarray::Array2;

use super::TrainedModel;
use crate::labels::Labels;
use crate::learning::FitOptions;
use crate::model::{Fitted, Model, Runs};
use crate::{Control, Error, Recording, Result, Session};

/// A trained learner with a model of the annotator, its own or a fitted one.
#[derive(Debug)]
pub(crate) struct Annotated<'a> {
    pub(crate) trained: &'a TrainedModel,
    /// What it was trained on.
    pub(crate) training: &'a [&'a Recording<'a>],
    seed: u64,
    control: Control<'a>,
    around: OnceCell<Fitted>,
}

impl<'a> Annotated<'a> {
    pub(crate) fn new(
        trained: &'a TrainedModel,
        training: &'a [&'a Recording<'a>],
        seed: u64,
        control: Control<'a>,
    ) -> Self {
        Self { trained, training, seed, control, around: OnceCell::new() }
    }

    /// Whether the learner has its own model of the annotator.
    pub(crate) fn is_own(&self) -> bool {
        matches!(self.trained, TrainedModel::Fitted(_))
    }

    /// log p(stamps) of a recording; −∞ where the model makes them impossible.
    pub(crate) fn log_evidence(&self, recording: &Recording) -> Result<f64> {
        match self.ask(recording, Fitted::held_out_log_evidence) {
            Err(Error::Infeasible { .. } | Error::TooManyStamps { .. }) => Ok(f64::NEG_INFINITY),
            other => other,
        }
    }

    /// p(positive | stamps) of every instance of a recording.
    pub(crate) fn posterior(&self, recording: &Recording) -> Result<Vec<f64>> {
        let aligned = self.ask(recording, Fitted::align)?;
        Ok(aligned.instances.iter().map(|instance| instance.p_positive).collect())
    }

    fn ask<T>(
        &self,
        recording: &Recording,
        question: impl Fn(&Fitted, &Session) -> Result<T>,
    ) -> Result<T> {
        match self.trained {
            TrainedModel::Fitted(fitted) => question(fitted, &recording.session),
            TrainedModel::Detector(_) => {
                question(self.around()?, &by_log_odds(self.trained, &recording.session)?)
            }
        }
    }

    fn model(&self) -> Model {
        let model = Model::default();
        match self.trained {
            TrainedModel::Detector(detector) => match detector.runs() {
                Some(Runs { onset_rate, offset_rate, stamps }) => {
                    Model { labels: Labels::Chain, stamps, ..model }
                        .freeze("labels.onset_rate", onset_rate)
                        .freeze("labels.offset_rate", offset_rate)
                }
                None => model,
            },
            TrainedModel::Fitted(_) => model,
        }
    }

    fn around(&self) -> Result<&Fitted> {
        if let Some(fitted) = self.around.get() {
            return Ok(fitted);
        }
        let lean = |recording: &&Recording| by_log_odds(self.trained, &recording.session);
        let sessions: Vec<Session> = self.training.iter().map(lean).collect::<Result<_>>()?;
        let options =
            FitOptions { seed: self.seed, standard_errors: false, ..FitOptions::default() };
        let fitted = self.model().fit(&sessions, &options, self.control)?;
        self.control.stop_if_requested()?;
        Ok(self.around.get_or_init(|| fitted))
    }
}

/// The session with the detector's log-odds as its only feature.
fn by_log_odds(trained: &TrainedModel, session: &Session<'_>) -> Result<Session<'static>> {
    let log_odds = trained.log_odds(session.features())?;
    let features = Array2::from_shape_vec((session.len(), 1), log_odds).expect("one per instance");
    let (times, stamps) = (session.times().to_vec(), session.stamps().to_vec());
    let lean = Session::new(session.name(), features, times, stamps)?;
    match session.observed() {
        Some(intervals) => lean.with_observed(intervals.to_vec()),
        None => Ok(lean),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;
    use crate::baselines::{Learner, Naive};

    #[test]
    fn a_model_around_a_detector_is_fitted_once() {
        let features = Array2::from_shape_fn((60, 1), |(i, _)| f64::from(u8::from(i % 10 == 5)));
        let times = (0..60).map(f64::from).collect();
        let stamps = (0..6).map(|k| f64::from(10 * k + 5) + 0.3).collect();
        let session = Session::new("walk", features, times, stamps).unwrap();
        let recording = Recording { session, truth: None };
        let training = [&recording];
        let trained = Naive::default().fit(&training, 0, Control::default()).unwrap();
        let stop = AtomicBool::new(false);
        let annotated =
            Annotated::new(&trained, &training, 0, Control { stop: Some(&stop), watch: None });
        let log_evidence = annotated.log_evidence(&recording).unwrap();
        // Another fit would be cancelled.
        stop.store(true, Ordering::Relaxed);
        assert_eq!(annotated.log_evidence(&recording).unwrap(), log_evidence);
        assert_eq!(annotated.posterior(&recording).unwrap().len(), 60);
    }
}
