//! A fitted model: its parts, its parameters and how learning went.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::detector::log_odds;
use super::in_time::{InTime, Outside};
use super::labelling::presence;
use super::posterior::infeasible;
use super::{
    BoundSession, Detector, Estimate, Groups, Learned, LearnedEstimates, Mode, Model, Parts,
    Quantity, Runs, Scale, Uncertainty,
};
use crate::error::require;
use crate::inference::Impossible;
use crate::labels::{Chain, Rates, Variable};
use crate::math::{log_sigmoid, sigmoid};
use crate::params::Transform;
use crate::session::check_columns;
use crate::{Error, Features, Outcome, Result, Session, Warning};

/// The threshold of a model without one of its own.
pub(crate) const THRESHOLD: f64 = 0.5;

/// A fitted model.
#[derive(Debug, Clone)]
pub struct Fitted {
    pub(crate) model: Model,
    pub(crate) parts: Parts,
    pub(crate) params: Vec<f64>,
    pub(crate) time_unit: f64,
    /// Stamps per unit of the data's time that were learned from; none in files of earlier versions, whose
    /// background did not go with the stamps of a session.
    pub(crate) stamp_rate: Option<f64>,
    pub(crate) threshold: f64,
    pub(crate) outcome: Outcome,
    pub(crate) warnings: Vec<Warning>,
    pub(crate) modes: Vec<Mode>,
    pub(crate) uncertainty: Option<Uncertainty>,
    pub(crate) metadata: BTreeMap<String, serde_json::Value>,
}

/// Runs of instances that features show.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ExpectedRuns {
    /// Their expected number.
    pub count: f64,
    /// Their mean length, from the first instance to the last.
    pub length: f64,
    /// The mean time from one to the next.
    pub gap: f64,
}

impl Fitted {
    /// The learned annotator.
    pub fn learned(&self) -> Learned {
        self.learned_at(&self.params)
    }

    /// The annotator at other parameters.
    pub(crate) fn learned_at(&self, params: &[f64]) -> Learned {
        let learned = self.parts.stamps.model.learned(&params[self.parts.annotator()]);
        learned.in_units_of(1.0 / self.time_unit)
    }

    /// What was learned of how the same annotator tells the ends of bouts; none if stamps do not tell these.
    pub fn learned_ends(&self) -> Option<Learned> {
        self.learned_ends_at(&self.params)
    }

    /// The same at other parameters.
    fn learned_ends_at(&self, params: &[f64]) -> Option<Learned> {
        let own = &params[self.parts.ends()];
        let learned = || self.parts.stamps.model.learned(own).in_units_of(1.0 / self.time_unit);
        (!own.is_empty()).then(learned)
    }

    /// Natural values of a parameter, such as "noise.spread", in the unit of the data.
    pub fn parameter(&self, name: &str) -> Result<Vec<f64>> {
        Ok(self.parts.layout.parameter(name)?.natural(&self.params, self.time_unit))
    }

    /// All parameters as the optimiser sees them, without constraints: what a
    /// [`Partition`](crate::learning::Partition) is asked about.
    pub fn unconstrained(&self) -> &[f64] {
        &self.params
    }

    /// Names of all parameters.
    pub fn parameter_names(&self) -> impl Iterator<Item = &str> {
        self.parts.layout.parameters().iter().map(|parameter| parameter.name.as_str())
    }

    /// How many numbers were learned: those of all parameters that were not held.
    pub(crate) fn learned_parameters(&self) -> Result<usize> {
        let frozen = self.model.frozen_params(&self.parts.layout, self.time_unit)?;
        Ok(frozen.iter().filter(|value| value.is_none()).count())
    }

    /// How sure the fit is of its parameters; none if it has too many or did not converge, if the data
    /// cannot tell some of them, or in files of earlier versions.
    pub fn uncertainty(&self) -> Option<&Uncertainty> {
        self.uncertainty.as_ref()
    }

    /// Natural values of a parameter with standard errors and intervals at a level, in the unit of the
    /// data. Empty if the fit does not know how sure it is, none where a value was held.
    pub fn estimates(&self, name: &str, level: f64) -> Result<Vec<Option<Estimate>>> {
        let parameter = self.parts.layout.parameter(name)?;
        check_level(level)?;
        let Some(uncertainty) = &self.uncertainty else { return Ok(Vec::new()) };
        let scale = match parameter.spec.transform {
            Transform::Free => Scale::Plain,
            Transform::Positive | Transform::Rate | Transform::AboveOne => Scale::Log,
            Transform::Probability | Transform::Simplex => Scale::Logit,
        };
        let groups = uncertainty.groups_by_place();
        let estimate = |k: usize| {
            let value_of = |params: &[f64]| parameter.natural_entry(params, self.time_unit, k);
            let group = groups.get(&(parameter.range.start + k)).copied();
            uncertainty.estimate_in(group, &self.params, level, scale, value_of)
        };
        Ok((0..parameter.spec.len).map(estimate).collect())
    }

    /// What was learned of the annotator, with standard errors and intervals at a level, in the unit of the
    /// data; none where a value was held, or if the fit does not know how sure it is.
    pub fn learned_estimates(&self, level: f64) -> Result<LearnedEstimates> {
        check_level(level)?;
        let estimate = |quantity| self.estimate_by(self.uncertainty.as_ref()?, quantity, level);
        Ok(LearnedEstimates::of(estimate))
    }

    /// The same of how that annotator tells the ends of bouts; none if stamps do not tell these.
    pub fn ends_estimates(&self, level: f64) -> Result<Option<LearnedEstimates>> {
        check_level(level)?;
        let estimate = |quantity: Quantity| {
            let value_of = |params: &[f64]| {
                self.learned_ends_at(params).map_or(f64::NAN, |learned| quantity.of(&learned))
            };
            let sure = self.uncertainty.as_ref()?;
            sure.estimate(&self.params, level, quantity.scale(), value_of)
        };
        Ok(self.learned_ends().map(|_| LearnedEstimates::of(estimate)))
    }

    /// One of these numbers, if this is how sure its parameters are.
    pub(crate) fn estimate_by(
        &self,
        sure: &Uncertainty,
        quantity: Quantity,
        level: f64,
    ) -> Option<Estimate> {
        let value_of = |params: &[f64]| quantity.of(&self.learned_at(params));
        sure.estimate(&self.params, level, quantity.scale(), value_of)
    }

    /// The deviations of all groups that the stamps of a session are of, by place among the parameters.
    pub(crate) fn deviations_of(&self, data: &InTime) -> Vec<usize> {
        let first = self.parts.deviations().start;
        let members = data.streams.iter().flat_map(|stream| &stream.members);
        members.flatten().map(|at| first + at).collect()
    }

    /// What differs between groups of stamps.
    pub fn groups(&self) -> &Groups {
        &self.parts.stamps.groups
    }

    /// The model for stamps of whose groups nothing is known.
    pub(crate) fn population(&self) -> Self {
        let mut own = self.clone();
        own.parts = self.parts.with_groups(Groups::default());
        own.params.truncate(own.parts.layout.dim());
        own.model.varies.clear();
        (own.modes, own.uncertainty) = (Vec::new(), None);
        own
    }

    /// Number of features that an instance must have.
    pub fn features(&self) -> usize {
        self.parts.classifier.features()
    }

    /// Coefficients and intercept of a logistic classifier for raw, not standardised, features: f(x) =
    /// intercept + coefficients · x. Large features with a small spread lose digits in that sum;
    /// [`log_odds`](Self::log_odds) does not.
    pub fn linear(&self) -> Option<(Vec<f64>, f64)> {
        self.parts.classifier.linear(&self.params[self.parts.detector()])
    }

    /// Weights of a kernel classifier's landmarks: f(x) = intercept + Σ_l α_l k(z_l, x), with landmarks
    /// z_l as in a model file.
    pub fn landmark_weights(&self) -> Option<Vec<f64>> {
        self.parts.classifier.landmark_weights(&self.params[self.parts.detector()])
    }

    /// The model that was fitted.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The unit in which priors measured time.
    pub fn time_unit(&self) -> f64 {
        self.time_unit
    }

    /// Probability from which an instance counts as an event: 0.5 unless another was set. The library's own
    /// results are probabilities and do not depend on it.
    pub fn threshold(&self) -> f64 {
        self.threshold
    }

    /// Sets the threshold, such as that of
    /// [`expected_f1_threshold`](crate::evaluation::expected_f1_threshold).
    pub fn set_threshold(&mut self, threshold: f64) -> Result<()> {
        check_threshold(threshold)?;
        self.threshold = threshold;
        Ok(())
    }

    /// How learning ended.
    pub fn outcome(&self) -> &Outcome {
        &self.outcome
    }

    /// The distinct optima of the fit, the one in use first.
    pub fn modes(&self) -> &[Mode] {
        &self.modes
    }

    /// The same fit with another of its optima in use; `k` counts [`modes`](Self::modes).
    pub fn use_mode(mut self, k: usize) -> Result<Self> {
        if k >= self.modes.len() {
            return Err(Error::OutOfRange {
                name: "mode".to_owned(),
                value: k as f64,
                expected: "the number of a mode, counted from 0",
            });
        }
        if k > 0 {
            // Measured at the other one.
            self.uncertainty = None;
        }
        self.modes[..=k].rotate_right(1);
        let Mode { params, log_posterior, log_evidence, .. } = &self.modes[0];
        self.params.clone_from(params);
        (self.outcome.value, self.outcome.log_evidence) = (-log_posterior, *log_evidence);
        Ok(self)
    }

    /// Warnings of the fit.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// Probability that an instance is positive, p(x), one per row of `features`: an event of any class. Refused if labels
    /// form a chain, where rows by themselves tell too little: see [`predict_session`](Self::predict_session).
    pub fn predict<'a>(&self, features: impl Into<Features<'a>>) -> Result<Vec<f64>> {
        if !self.parts.stamps.labelling.is_independent() {
            return Err(Error::RowsOfChain);
        }
        Ok(self.log_odds(features)?.into_iter().map(sigmoid).collect())
    }

    /// Probability that an instance of a session is positive, given all features of the session but no stamps: the
    /// same if labels are independent, and smoothed along the chain otherwise.
    pub fn predict_session(&self, session: &Session) -> Result<Vec<f64>> {
        Ok(self.smoothed(session.times(), &self.class_log_odds(session.features())?))
    }

    /// p(an event | features) of instances at these times, in order, with these log-odds, by instance and class.
    pub fn smoothed(&self, times: &[f64], log_odds: &[f64]) -> Vec<f64> {
        presence(self.rates(), self.parts.classes(), times, log_odds)
    }

    /// How labels form runs, per unit of the data's time; none if they are independent.
    pub fn runs(&self) -> Option<Runs> {
        let stamps = self.parts.stamps.labelling.stamps;
        let runs =
            |Rates { onset, offset }| Runs { onset_rate: onset, offset_rate: offset, stamps };
        self.rates().map(runs)
    }

    /// How many runs the features of sessions show, how long these last on average, from their first instance to their last,
    /// and how long it is from one to the next; none if labels are independent. Rates alone tell this less well.
    pub fn expected_runs(&self, sessions: &[Session]) -> Result<Option<ExpectedRuns>> {
        let Some(rates) = self.rates() else { return Ok(None) };
        let (mut count, mut inside, mut all) = (0.0, 0.0, 0.0);
        for session in sessions {
            let (times, log_odds) = (session.times(), self.log_odds(session.features())?);
            let chain = Chain::new(times, 1, Some(rates), &log_odds);
            let (presence, onsets) = (chain.presence(), chain.events(Variable::Onset));
            count += onsets.iter().sum::<f64>();
            all += times[times.len() - 1] - times[0];
            // An instance that is positive and no onset goes on with the run of the one before.
            for (i, gap) in times.windows(2).map(|pair| pair[1] - pair[0]).enumerate() {
                inside += gap * (presence[i + 1] - onsets[i + 1]);
            }
        }
        let (length, gap) = (inside / count, (all - inside) / count);
        Ok(Some(ExpectedRuns { count, length, gap }))
    }

    /// Transitions of the chain, per unit of the data's time; none if labels are independent.
    fn rates(&self) -> Option<Rates> {
        let params = &self.params[self.parts.labels()];
        self.parts.stamps.labelling.rates(params, self.time_unit)
    }

    /// Probability that the annotator stamps an instance, q(x) = π₀ + (π₁ − π₀)·p(x): the only quantity
    /// that stamps determine. Refused if labels form a chain, as [`predict`](Self::predict) is.
    pub fn predict_stamped<'a>(&self, features: impl Into<Features<'a>>) -> Result<Vec<f64>> {
        Ok(self.stamped(self.predict(features)?))
    }

    /// The same for the instances of a session. If labels form a chain, p is the probability that what stamps are about
    /// happens at an instance, such as the onset of a run.
    pub fn predict_stamped_session(&self, session: &Session) -> Result<Vec<f64>> {
        let features = session.features();
        let happens = match self.rates() {
            None => self.log_odds(features)?.into_iter().map(sigmoid).collect(),
            Some(rates) => {
                let (classes, scores) = (self.parts.classes(), self.class_log_odds(features)?);
                Chain::new(session.times(), classes, Some(rates), &scores)
                    .events(self.parts.stamps.labelling.stamps)
            }
        };
        Ok(self.stamped(happens))
    }

    fn stamped(&self, happens: Vec<f64>) -> Vec<f64> {
        let Learned { miss_rate, false_rate, .. } = self.learned();
        let stamped = |p: f64| (1.0 - p) * false_rate + p * (1.0 - miss_rate);
        happens.into_iter().map(stamped).collect()
    }

    /// Log-odds that an instance is positive, one per row of `features`.
    pub fn log_odds<'a>(&self, features: impl Into<Features<'a>>) -> Result<Vec<f64>> {
        let theta = &self.params[self.parts.detector()];
        log_odds(self.parts.classifier.as_ref(), theta, features.into().view())
    }

    /// The learned density of the delay, stamp − instance time, at each of `delays`, per unit of the
    /// data's time.
    pub fn delay_density(&self, delays: &[f64]) -> Vec<f64> {
        self.delay_density_at(&self.params[self.parts.annotator()], delays)
    }

    /// The same of ends of bouts; none if stamps do not tell these.
    pub fn ends_delay_density(&self, delays: &[f64]) -> Option<Vec<f64>> {
        let own = &self.params[self.parts.ends()];
        (!own.is_empty()).then(|| self.delay_density_at(own, delays))
    }

    /// The density at parameters of an annotator, or of how ends are told.
    fn delay_density_at(&self, annotator: &[f64], delays: &[f64]) -> Vec<f64> {
        let in_units: Vec<f64> = delays.iter().map(|delay| delay / self.time_unit).collect();
        let mut density = vec![0.0; delays.len()];
        self.parts.stamps.model.log_delay_density(annotator, &in_units, &mut density);
        density.iter_mut().for_each(|value| *value = value.exp() / self.time_unit);
        density
    }

    /// The detector alone.
    pub fn detector(&self) -> Detector {
        let theta = self.params[self.parts.detector()].to_vec();
        Detector::new(Arc::clone(&self.parts.classifier), theta)
            .with_runs(self.runs())
            .of_classes(self.parts.stamps.classes.clone())
    }

    /// log p(stamps, known labels | features, times) of a session, held out or not.
    pub fn log_evidence(&self, session: &Session) -> Result<f64> {
        self.with_log_odds(session, |_, log_odds, pinned, bound| {
            Ok(bound.log_evidence(pinned)? + self.offset(session, log_odds))
        })
    }

    /// Calls the stamp model with a session in units, the log-odds of all instances, by class, and those of the
    /// observed ones, ±∞ if labels are plain and this one is known.
    pub(crate) fn with_log_odds<T>(
        &self,
        session: &Session,
        ask: impl FnOnce(
            &InTime,
            &[f64],
            &[f64],
            &BoundSession<'_>,
        ) -> std::result::Result<T, Impossible>,
    ) -> Result<T> {
        let name = session.name();
        check_columns(name, session.features().ncols(), self.features())?;
        self.model.check_classes(session)?;
        let log_odds = self.class_log_odds(session.features())?;
        let observed = session.observed_instances();
        let data = self.parts.stamps.in_time(session, &observed, self.time_unit);
        self.parts.stamps.groups.check_seen(session)?;
        let max_count = self.parts.stamps.model.max_count(&self.params[self.parts.annotator()]);
        data.check_capacity(name, max_count)?;
        let mut pinned = rows_of(&log_odds, &observed, self.parts.classes());
        if self.parts.stamps.are_labels_plain() {
            data.pin_labels(0, &mut pinned);
        }
        let bound = self.parts.bind(&self.params, &data);
        ask(&data, &log_odds, &pinned, &bound)
            .map_err(|why| infeasible(name, &data.times, session.stamps(), why))
    }

    /// Contribution of densities per unit of the data to the log evidence, and of known labels that are plain or lie outside
    /// of the annotated intervals.
    pub(crate) fn offset(&self, session: &Session, log_odds: &[f64]) -> f64 {
        let labels = match self.parts.stamps.are_labels_plain() {
            true => log_labels(session, log_odds),
            false => self.log_labels_outside(session, log_odds),
        };
        let ends = if self.parts.stamps.labelling.ends { session.ends() } else { 0 };
        labels - (session.stamps().len() + ends) as f64 * self.time_unit.ln()
    }

    /// log p(known labels outside of the annotated intervals | features), where labels are not plain.
    fn log_labels_outside(&self, session: &Session, log_odds: &[f64]) -> f64 {
        let stamps = &self.parts.stamps;
        let observed = session.observed_instances();
        let Some(own) = Outside::of(session, &observed, self.time_unit, &stamps.classes) else {
            return 0.0;
        };
        let rows = rows_of(log_odds, &own.instances, self.parts.classes());
        let params = &self.params[self.parts.detector().end..];
        let found = stamps.labelled(params, &own.times, &own.labels, &rows);
        // A chain may not allow labels that differ at one time.
        found.map_or(f64::NEG_INFINITY, |found| found.log_evidence)
    }
}

/// The log-odds of some instances, by class.
pub(super) fn rows_of(log_odds: &[f64], instances: &[usize], classes: usize) -> Vec<f64> {
    match classes {
        1 => instances.iter().map(|&i| log_odds[i]).collect(),
        _ => instances
            .iter()
            .flat_map(|&i| &log_odds[i * classes..(i + 1) * classes])
            .copied()
            .collect(),
    }
}

/// Refuses a level that an interval cannot have.
pub(crate) fn check_level(level: f64) -> Result<()> {
    require("level", level, level > 0.0 && level < 1.0, "a number between 0 and 1, such as 0.95")
}

/// Refuses a threshold that is no probability.
pub(crate) fn check_threshold(threshold: f64) -> Result<()> {
    let inside = (0.0..=1.0).contains(&threshold);
    require("threshold", threshold, inside, "a number from 0 to 1")
}

/// log p(y | x) of the known labels.
fn log_labels(session: &Session, log_odds: &[f64]) -> f64 {
    let of = |(i, f): (usize, &f64)| Some(log_sigmoid(if session.label(i)? { *f } else { -f }));
    log_odds.iter().enumerate().filter_map(of).sum()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use ndarray::Array2;

    use super::*;
    use crate::model::classifier::{Classifier, ClassifierState, Logistic};
    use crate::outcome::StopReason;
    use crate::params::ParameterSpec;
    use crate::{Control, FeatureView};

    /// Counts the rows that it maps.
    #[derive(Debug)]
    struct Counting(Logistic, Arc<AtomicUsize>);

    impl Classifier for Counting {
        fn parameters(&self) -> Vec<ParameterSpec> {
            self.0.parameters()
        }

        fn features(&self) -> usize {
            self.0.features()
        }

        fn start(&self, seed: u64) -> Vec<f64> {
            self.0.start(seed)
        }

        fn prepare<'a>(&self, features: Features<'a>, control: Control<'_>) -> Features<'a> {
            self.1.fetch_add(features.view().nrows(), Ordering::Relaxed);
            self.0.prepare(features, control)
        }

        fn log_odds(&self, params: &[f64], prepared: FeatureView<'_>, out: &mut [f64]) {
            self.0.log_odds(params, prepared, out);
        }

        fn pull_back(&self, _: &[f64], _: FeatureView<'_>, _: &[f64], _: &mut [f64]) {
            unreachable!("nothing is learned here")
        }

        fn state(&self) -> ClassifierState {
            self.0.state()
        }
    }

    #[test]
    fn features_are_mapped_once_to_align() {
        let features = Array2::from_shape_fn((8, 1), |(i, _)| i as f64);
        let times = (0..8).map(f64::from).collect();
        let session = Session::new("walk", features, times, vec![2.0, 5.0]).unwrap();
        let mapped = Arc::new(AtomicUsize::new(0));
        let classifier = Counting(Logistic::fit(&[session.features()]), Arc::clone(&mapped));
        let model = Model::default();
        let parts = Parts::new(
            Box::new(classifier),
            model.labelling(),
            crate::model::Classes::default(),
            model.stamp_model(1.0, None).unwrap(),
        );
        let outcome = Outcome {
            converged: true,
            stop: StopReason::GradientTolerance,
            iterations: 0,
            evaluations: 0,
            value: 0.0,
            gradient_norm: 0.0,
            log_evidence: 0.0,
            best_start: 0,
            values: Vec::new(),
        };
        let params = vec![0.0; parts.layout.dim()];
        let (warnings, modes, metadata) = (Vec::new(), Vec::new(), BTreeMap::new());
        let (time_unit, threshold) = (1.0, THRESHOLD);
        let fitted = Fitted {
            model,
            parts,
            params,
            time_unit,
            stamp_rate: None,
            threshold,
            outcome,
            warnings,
            modes,
            uncertainty: None,
            metadata,
        };
        fitted.align(&session).unwrap();
        assert_eq!(mapped.load(Ordering::Relaxed), 8);
    }
}
