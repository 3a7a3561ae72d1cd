//! What a fitted model says of several classes of events.

use super::detector::scores;
use super::fitted::Fitted;
use super::labelling::{presence_by_class, softmax};
use crate::{Error, Features, Result, Session};

impl Fitted {
    /// The classes of events by name, in order; none if events have no classes.
    pub fn classes(&self) -> &[String] {
        self.parts.stamps.classes.names()
    }

    /// Log-odds of each class against no event, by row of `features` and class.
    pub fn class_log_odds<'a>(&self, features: impl Into<Features<'a>>) -> Result<Vec<f64>> {
        let theta = &self.params[self.parts.detector()];
        scores(self.parts.classifier.as_ref(), theta, features.into().view())
    }

    /// Probability of each class of event, by row of `features` and class, from these alone.
    pub fn class_probabilities<'a>(&self, features: impl Into<Features<'a>>) -> Result<Vec<f64>> {
        let scores = self.class_log_odds(features)?;
        Ok(scores.chunks_exact(self.parts.classes()).flat_map(softmax).collect())
    }

    /// Probability that an event of each class is at an instance of a session, given all features of the session but no
    /// stamps, by instance and class. What is left to one is the probability of no event.
    pub fn predict_classes(&self, session: &Session) -> Result<Vec<f64>> {
        let scores = self.class_log_odds(session.features())?;
        Ok(self.smoothed_by_class(session.times(), &scores))
    }

    /// The same of instances at these times, in order, with these log-odds by instance and class.
    pub fn smoothed_by_class(&self, times: &[f64], scores: &[f64]) -> Vec<f64> {
        let rates = self.parts.rates(&self.params, self.time_unit);
        presence_by_class(rates, self.parts.classes(), times, scores)
    }

    /// Probabilities of records, by class of the event; none if nothing can be confused.
    pub fn confusion(&self) -> Option<Vec<Vec<f64>>> {
        let annotator = &self.params[self.parts.detector().end..];
        (self.parts.classes() > 1).then(|| self.parts.stamps.recorded(annotator))
    }

    /// Fails if there are several classes of events.
    pub fn check_one_class(&self, what: &'static str) -> Result<()> {
        match self.parts.classes() {
            1 => Ok(()),
            _ => Err(Error::SeveralClasses { what, classes: self.classes().join(", ") }),
        }
    }
}
