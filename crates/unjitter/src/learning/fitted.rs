//! A model that has learned: its parts, its parameters and how learning went.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::data::SessionData;
use super::fit::Outcome;
use super::warning::{Warning, far_stamps};
use crate::align::Aligned;
use crate::inference::{Impossible, Lattice};
use crate::math::{log_sigmoid, sigmoid};
use crate::model::classifier::ClassifierState;
use crate::model::{Detector, Model, Parts, check_capacity, infeasible, linear, log_odds};
use crate::params::Part;
use crate::session::check_columns;
use crate::{Features, Result, Session, Stop};

/// A fitted model.
#[derive(Debug)]
pub struct Fitted {
    pub(crate) model: Model,
    pub(crate) parts: Parts,
    pub(crate) params: Vec<f64>,
    pub(crate) time_unit: f64,
    pub(crate) outcome: Outcome,
    pub(crate) warnings: Vec<Warning>,
    pub(crate) metadata: BTreeMap<String, serde_json::Value>,
}

/// What was learned about the annotator, in the unit of the data.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Learned {
    /// Mean of stamp − instance time; positive is late.
    pub delay: f64,
    /// Standard deviation of the delay, or its scale where that is infinite.
    pub spread: f64,
    /// P(no stamp | positive instance).
    pub miss_rate: f64,
    /// P(at least one stamp | negative instance).
    pub false_rate: f64,
}

impl Fitted {
    /// What was learned about the annotator.
    pub fn learned(&self) -> Learned {
        let noise = &self.params[self.parts.layout.part(Part::Noise)];
        let counts = &self.params[self.parts.layout.part(Part::Counts)];
        Learned {
            delay: self.parts.noise.delay(noise) * self.time_unit,
            spread: self.parts.noise.spread(noise) * self.time_unit,
            miss_rate: sigmoid(-counts[1]),
            false_rate: sigmoid(counts[0]),
        }
    }

    /// Natural values of a parameter block, such as "noise.spread", in the unit of the data.
    pub fn parameter(&self, name: &str) -> Result<Vec<f64>> {
        Ok(self.parts.layout.block(name)?.natural(&self.params, self.time_unit))
    }

    /// Names of all parameter blocks.
    pub fn parameter_names(&self) -> impl Iterator<Item = &str> {
        self.parts.layout.blocks().iter().map(|block| block.name.as_str())
    }

    /// Number of features that an instance must have.
    pub fn features(&self) -> usize {
        self.parts.classifier.features()
    }

    /// The coefficients and the intercept of a logistic classifier for features as they are given,
    /// not standardised: f(x) = intercept + coefficients · x. Large features with a small spread
    /// lose digits in that sum; [`log_odds`](Self::log_odds) does not.
    pub fn linear(&self) -> Option<(Vec<f64>, f64)> {
        let theta = &self.params[self.parts.layout.part(Part::Classifier)];
        linear(self.parts.classifier.as_ref(), theta)
    }

    /// What a kernel classifier multiplies its landmarks by: f(x) = intercept + Σ_l α_l k(z_l, x),
    /// with landmarks z_l as in a model file. The kernel matrix is factorised anew for it.
    pub fn landmark_weights(&self) -> Result<Option<Vec<f64>>> {
        let theta = &self.params[self.parts.layout.part(Part::Classifier)];
        match self.parts.classifier.state() {
            ClassifierState::Kernel(state) => Ok(Some(state.check()?.landmark_weights(theta))),
            _ => Ok(None),
        }
    }

    /// The model that was fitted.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The unit in which priors measured time.
    pub fn time_unit(&self) -> f64 {
        self.time_unit
    }

    /// How learning ended.
    pub fn outcome(&self) -> &Outcome {
        &self.outcome
    }

    /// What to be wary of.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// Probability that an instance is positive, p(x), one per row of `features`.
    pub fn predict<'a>(&self, features: impl Into<Features<'a>>) -> Result<Vec<f64>> {
        Ok(self.log_odds(features)?.into_iter().map(sigmoid).collect())
    }

    /// Probability that the annotator stamps an instance, q(x) = π₀ + (π₁ − π₀)·p(x): all that
    /// the stamps themselves can tell.
    pub fn predict_stamped<'a>(&self, features: impl Into<Features<'a>>) -> Result<Vec<f64>> {
        let Learned { miss_rate, false_rate, .. } = self.learned();
        let stamped = |p: f64| (1.0 - p) * false_rate + p * (1.0 - miss_rate);
        Ok(self.predict(features)?.into_iter().map(stamped).collect())
    }

    /// Log-odds that an instance is positive, one per row of `features`.
    pub fn log_odds<'a>(&self, features: impl Into<Features<'a>>) -> Result<Vec<f64>> {
        let theta = &self.params[self.parts.layout.part(Part::Classifier)];
        log_odds(self.parts.classifier.as_ref(), theta, features.into().view())
    }

    /// The learned density of the delay, stamp − instance time, at each of `delays`, per unit of the
    /// data's time.
    pub fn delay_density(&self, delays: &[f64]) -> Vec<f64> {
        let noise = &self.params[self.parts.layout.part(Part::Noise)];
        let in_units: Vec<f64> = delays.iter().map(|delay| delay / self.time_unit).collect();
        let mut density = vec![0.0; delays.len()];
        self.parts.noise.log_density(noise, &in_units, &mut density);
        density.iter_mut().for_each(|value| *value = value.exp() / self.time_unit);
        density
    }

    /// The detector alone.
    pub fn into_detector(self) -> Detector {
        let theta = self.params[self.parts.layout.part(Part::Classifier)].to_vec();
        Detector::new(self.parts.classifier, theta)
    }

    /// What to be wary of in the stamps of a session, learned from or not: those that lie far from
    /// every instance are aligned all the same, to the nearest.
    pub fn far_stamps(&self, session: &Session) -> Option<Warning> {
        let Learned { delay, spread, .. } = self.learned();
        far_stamps(session, delay, spread)
    }

    /// log p(stamps, known labels | features, times) of a session, held out or not.
    pub fn log_evidence(&self, session: &Session) -> Result<f64> {
        let laid = self.lay_out(session)?;
        let in_units = laid.lattice(self, |lattice| lattice.log_evidence())?;
        Ok(in_units - laid.log_unit + log_labels(session, &laid.log_odds))
    }

    /// Gives every stamp of a session back where it belongs.
    pub fn align(&self, session: &Session) -> Result<Aligned> {
        let laid = self.lay_out(session)?;
        let (marginals, best) =
            laid.lattice(self, |lattice| Ok((lattice.marginals()?, lattice.best_alignment()?)))?;
        let offset = log_labels(session, &laid.log_odds) - laid.log_unit;
        Ok(Aligned::new(session, &laid.observed, &laid.log_odds, &marginals, &best, offset))
    }

    fn lay_out<'a>(&self, session: &'a Session<'a>) -> Result<Laid<'a>> {
        let name = session.name();
        check_columns(name, session.features().ncols(), self.parts.classifier.features())?;
        let data = SessionData::new(
            0,
            session,
            self.parts.classifier.as_ref(),
            self.time_unit,
            Stop::default(),
        );
        let (stamps, instances) = (data.stamps.len(), data.times.len());
        check_capacity(name, stamps, instances, self.parts.counts.max_count())?;
        let log_odds = self.log_odds(session.features())?;
        let observed = session.observed_instances();
        let mut pinned: Vec<f64> = observed.iter().map(|&i| log_odds[i]).collect();
        data.pin_labels(0, &mut pinned);
        // Densities are per unit of the model; the user's are per unit of the data.
        let log_unit = stamps as f64 * self.time_unit.ln();
        Ok(Laid { session, data, observed, log_odds, pinned, log_unit })
    }
}

/// A session laid out for inference under a fitted model.
struct Laid<'a> {
    session: &'a Session<'a>,
    data: SessionData<'a>,
    /// Positions of the observed instances in the session.
    observed: Vec<usize>,
    /// Log-odds of all instances.
    log_odds: Vec<f64>,
    /// Log-odds of the observed ones; ±∞ where the label is known.
    pinned: Vec<f64>,
    log_unit: f64,
}

impl Laid<'_> {
    fn lattice<T>(
        &self,
        fitted: &Fitted,
        ask: impl FnOnce(&Lattice<'_>) -> std::result::Result<T, Impossible>,
    ) -> Result<T> {
        let parts = &fitted.parts;
        let tables = parts.tables(&fitted.params, self.data.stamps.len());
        let density = parts.density(&fitted.params[parts.layout.part(Part::Noise)]);
        let lattice = Lattice {
            times: &self.data.times,
            stamps: &self.data.stamps,
            log_odds: &self.pinned,
            counts: &tables,
            density: &density,
        };
        let (name, stamps) = (self.session.name(), self.session.stamps());
        ask(&lattice).map_err(|impossible| infeasible(name, &self.data.times, stamps, impossible))
    }
}

/// log p(y | x) of the known labels.
fn log_labels(session: &Session, log_odds: &[f64]) -> f64 {
    let of = |(i, f): (usize, &f64)| Some(log_sigmoid(if session.label(i)? { *f } else { -f }));
    log_odds.iter().enumerate().filter_map(of).sum()
}
