//! The F1 that can be expected of a detector that was learned from so many sessions.
//!
//! Such a detector differs from the truth by chance, about normally. So the one that is expected finds
//! events, and detectors drawn around it, as far away as so many sessions leave the truth, say which of
//! these are true.

use rayon::prelude::*;

use super::PlanOptions;
use crate::evaluation::expected_f1;
use crate::math::{Random, sigmoid};
use crate::model::Uncertainty;
use crate::{Control, Error, Features, Fitted, Result, Session};

/// Instances that tell the expected F1 well enough, about: beyond, every so many are left out.
const ENOUGH: usize = 20_000;

/// Instances to find events among.
pub(super) struct Judge<'f> {
    fitted: &'f Fitted,
    /// Prepared features, by session.
    features: Vec<Features<'static>>,
}

impl<'f> Judge<'f> {
    pub(super) fn new(
        fitted: &'f Fitted,
        sessions: &[Session],
        control: Control<'_>,
    ) -> Result<Self> {
        let all: usize = sessions.iter().map(Session::len).sum();
        let stride = all.div_ceil(ENOUGH).max(1);
        let sample = |session: &Session| {
            let chosen: Vec<usize> = (0..session.len()).step_by(stride).collect();
            fitted.parts.classifier.prepare(session.features().select(&chosen), control)
        };
        let features = sessions.iter().map(sample).collect();
        control.stop_if_requested()?;
        Ok(Self { fitted, features })
    }

    /// Probabilities of all instances by the detector of these parameters.
    fn probabilities(&self, params: &[f64]) -> Vec<f64> {
        let parts = &self.fitted.parts;
        let of = |features: &Features<'_>| {
            let mut log_odds = vec![0.0; features.view().nrows()];
            parts.classifier.log_odds(&params[parts.detector()], features.view(), &mut log_odds);
            log_odds.into_iter().map(sigmoid)
        };
        self.features.iter().flat_map(of).collect()
    }

    /// Expected F1 of a detector if the truth is as near to it as `sure` says. The same seed moves it in the
    /// same directions, so that differences between numbers of sessions are not those of draws.
    pub(super) fn expected_f1(
        &self,
        detector: &[f64],
        sure: &Uncertainty,
        options: &PlanOptions,
    ) -> Result<f64> {
        let draws = sure.draws(&[]).ok_or(Error::NotInformative)?;
        let mut random = Random::new(options.seed);
        let pairs = options.draws.div_ceil(2);
        let drawn: Vec<Vec<f64>> =
            (0..pairs).flat_map(|_| draws.draw(detector, &mut random)).collect();
        let found = self.probabilities(detector);
        let score = |truth: &Vec<f64>| {
            let scored = found.iter().copied().zip(self.probabilities(truth));
            expected_f1(scored, self.fitted.threshold())
        };
        let scores: Vec<f64> = drawn.par_iter().map(score).collect();
        Ok(scores.iter().sum::<f64>() / scores.len() as f64)
    }
}
