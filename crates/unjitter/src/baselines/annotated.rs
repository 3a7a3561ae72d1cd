//! A model of the annotator for every learner, including those without one.
//!
//! For a bare detector, counts, delays and a rescaling of its log-odds are fitted to the stamps of its
//! training data, while the detector is kept, with its chain if labels form one. This takes a fit, so it is done once, on
//! the first request.
//!
//! All that stamps tell is explained, so that evidence can be compared with that of a model that learns the detector too.
//! Classes are the exception: a bare detector knows one, and its model takes all events as of that one.

use std::cell::OnceCell;

use ndarray::Array2;

use super::TrainedModel;
use crate::labels::Labels;
use crate::learning::FitOptions;
use crate::model::{Fitted, Model, Runs};
use crate::{Control, Error, Recording, Result, Session};

/// The class of all events that a bare detector knows.
const EVENT: &str = "event";

/// A trained learner with a model of the annotator, its own or a fitted one.
#[derive(Debug)]
pub(crate) struct Annotated<'a> {
    pub(crate) trained: &'a TrainedModel,
    /// What it was trained on.
    pub(crate) training: &'a [&'a Recording<'a>],
    seed: u64,
    control: Control<'a>,
    /// Whether stamps of some recording, not necessarily one of these, tell ends.
    tells_ends: bool,
    around: OnceCell<Fitted>,
}

impl<'a> Annotated<'a> {
    pub(crate) fn new(
        trained: &'a TrainedModel,
        training: &'a [&'a Recording<'a>],
        seed: u64,
        control: Control<'a>,
    ) -> Self {
        let tells_ends = false;
        Self { trained, training, seed, control, tells_ends, around: OnceCell::new() }
    }

    /// The same where stamps may tell ends, though none of those trained on may.
    pub(crate) fn told_ends(self, tells_ends: bool) -> Self {
        Self { tells_ends, ..self }
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
        let model = match self.tells_ends {
            true => Model { labels: Labels::Chain, ends: true, ..Model::default() },
            false => Model::default(),
        };
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

/// The session with the detector's log-odds as its only feature, and events of one class.
fn by_log_odds(trained: &TrainedModel, session: &Session<'_>) -> Result<Session<'static>> {
    let log_odds = trained.log_odds(session.features())?;
    let features = Array2::from_shape_vec((session.len(), 1), log_odds).expect("one per instance");
    let lean = session.clone().with_features(features)?;
    if lean.classes().is_empty() {
        return Ok(lean);
    }
    let labels = (0..lean.len()).map(|i| lean.label(i)).collect();
    let of_stamps = vec![EVENT.to_owned(); lean.stamps().len()];
    lean.with_labels(labels)?.with_classes(&of_stamps)
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

    /// An event every ten instances, told by two people with its end; one feature shows where it is.
    fn told_with_ends() -> Session<'static> {
        let features = Array2::from_shape_fn((120, 1), |(i, _)| {
            f64::from(u8::from(i % 10 < 3)) + 0.3 * (i as f64).sin()
        });
        // In a unit that shows how many densities there are.
        let times = (0..120).map(|i| 1000.0 * f64::from(i)).collect();
        let stamps: Vec<f64> =
            (0..24).map(|l| f64::from(10_000 * (l / 2) + 300 * (l % 2))).collect();
        let ends = stamps.iter().map(|start| Some(start + 2200.0)).collect();
        let people: Vec<String> = (0..24).map(|l| ["ann", "bob"][l % 2].to_owned()).collect();
        let widths = vec![400.0; 24];
        Session::new("walk", features, times, stamps)
            .and_then(|own| own.with_annotators(&people, &[])?.with_widths(widths)?.with_ends(ends))
            .unwrap()
    }

    #[test]
    fn a_model_around_a_detector_explains_all_that_stamps_tell() {
        let recording = Recording { session: told_with_ends(), truth: None };
        let session = std::slice::from_ref(&recording.session);
        let options = FitOptions { restarts: 1, standard_errors: false, ..FitOptions::default() };
        let whole = Model::default().fit(session, &options, Control::default()).unwrap();
        let bare = TrainedModel::Detector(whole.detector());
        let training = [&recording];
        let log_evidence = |trained: &TrainedModel| {
            let annotated = Annotated::new(trained, &training, 0, Control::default());
            annotated.log_evidence(&recording).unwrap()
        };
        let (around, own) =
            (log_evidence(&bare), log_evidence(&TrainedModel::Fitted(Box::new(whole))));
        // The same detector, so the same but for a scale. A density in this unit is some seven in the logarithm.
        assert!((around - own).abs() < 6.0, "{around} {own}");
    }

    #[test]
    fn a_lean_session_has_one_class_and_all_else() {
        let session = told_with_ends();
        let classes: Vec<String> = (0..24).map(|l| format!("class {}", l % 3)).collect();
        let session = session.with_classes(&classes).unwrap().with_subject("ann");
        let recording = Recording { session, truth: None };
        let trained = Naive::default().fit(&[&recording], 0, Control::default()).unwrap();
        let lean = by_log_odds(&trained, &recording.session).unwrap();
        assert_eq!(lean.classes(), ["event"]);
        assert_eq!(lean.annotators(), ["ann", "bob"]);
        assert_eq!((lean.width_of(3), lean.end_of(3)), (400.0, Some(12_500.0)));
        assert_eq!((lean.features().ncols(), lean.subject()), (1, Some("ann")));
    }
}
