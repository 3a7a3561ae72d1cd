//! Ordinary supervised learning: the detector alone, from labels per instance.
//!
//! The model reduces to this when every label is known and stamps are ignored. It serves the hand-aligned
//! and naive learners, and starts the real fit. Targets may be soft and weighted.

use std::convert::Infallible;
use std::ops::Range;

use multiversion::multiversion;
use serde::{Deserialize, Serialize};

use super::lbfgs::{LbfgsOptions, Minimum, minimise};
use super::objective::{Curvature, Objective};
use super::preconditioner::{Preconditioner, ROWS, Square};
use super::problem::FINITE_START;
use super::watcher::{Run, watcher};
use crate::labels::{Labels, Variable};
use crate::math::{exp, ln};
use crate::model::Detector;
use crate::model::classifier::{Classifier, ClassifierSpec};
use crate::parallel::{gather, in_order, rows_in_cache};
use crate::params::{CLASSIFIER, Layout};
use crate::prior::Priors;
use crate::{Control, Error, FeatureView, Features, Result};

/// The target of one instance, and its weight.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Target {
    /// Probability of the positive label, 0 to 1.
    pub positive: f64,
    /// Weight, at least 0; an instance of weight 0 is left out.
    pub weight: f64,
}

impl From<bool> for Target {
    fn from(positive: bool) -> Self {
        Self { positive: f64::from(u8::from(positive)), weight: 1.0 }
    }
}

/// Overwrites `log_odds` with the derivatives of the weighted cross-entropy, and returns its value.
pub(super) fn cross_entropy(
    log_odds: &mut [f64],
    mut targets: impl Iterator<Item = Target>,
) -> f64 {
    let mut value = 0.0;
    let (mut sigmoids, mut softplus) = ([0.0; BLOCK], [0.0; BLOCK]);
    for block in log_odds.chunks_mut(BLOCK) {
        logistic(block, &mut sigmoids, &mut softplus);
        // The block first, so that no target is lost at its end.
        let rows = block.iter_mut().zip(sigmoids).zip(softplus).zip(&mut targets);
        for (((f, sigmoid), softplus), Target { positive, weight }) in rows {
            if weight > 0.0 {
                // log(1 + eᶠ) and log(1 + e⁻ᶠ) differ in the term added to log(1 + e^−|f|).
                let (above, below) = (f.max(0.0), (-*f).max(0.0));
                value += weight * (softplus + (positive * below + (1.0 - positive) * above));
                *f = weight * (sigmoid - positive);
            } else {
                *f = 0.0;
            }
        }
    }
    value
}

/// Rows whose exponentials and logarithms are taken together.
const BLOCK: usize = 64;

/// 1/(1 + e⁻ᶠ) and log(1 + e^−|f|) of each log-odds f, from one exponential.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2+fma"))]
fn logistic(log_odds: &[f64], sigmoids: &mut [f64; BLOCK], softplus: &mut [f64; BLOCK]) {
    for ((&f, sigmoid), softplus) in log_odds.iter().zip(sigmoids).zip(softplus) {
        let e = exp(-f.abs());
        let sum = 1.0 + e;
        *sigmoid = if f >= 0.0 { 1.0 } else { e } / sum;
        // Restores what rounding took from the sum, so that the tail keeps its digits.
        *softplus = ln(sum) + (e - (sum - 1.0)) / sum;
    }
}

/// Weighted cross-entropy plus prior, to be minimised over the classifier's parameters.
pub(crate) struct SupervisedObjective<'a> {
    classifier: &'a dyn Classifier,
    layout: Layout,
    priors: &'a Priors,
    is_free: Vec<bool>,
    data: Vec<(Features<'a>, &'a [Target])>,
    /// Index of the data, and a range of its rows.
    chunks: Vec<(usize, Range<usize>)>,
    /// Chunks that form a task.
    tasks: Vec<Range<usize>>,
    control: Control<'a>,
}

impl<'a> SupervisedObjective<'a> {
    /// `data` are prepared features with a target per row.
    pub(crate) fn new(
        classifier: &'a dyn Classifier,
        priors: &'a Priors,
        data: Vec<(Features<'a>, &'a [Target])>,
        control: Control<'a>,
    ) -> Self {
        let layout = Layout::new(vec![(CLASSIFIER, classifier.parameters())]);
        let is_free = vec![true; layout.dim()];
        let chunks_of = |(k, (features, _)): (usize, &(Features<'_>, _))| {
            let (rows, columns) = features.view().dim();
            let chunk = rows_in_cache(columns);
            (0..rows).step_by(chunk).map(move |from| (k, from..rows.min(from + chunk)))
        };
        let chunks: Vec<_> = data.iter().enumerate().flat_map(chunks_of).collect();
        let tasks = gather(chunks.iter().map(|(_, rows)| rows.len()));
        Self { classifier, layout, priors, is_free, data, chunks, tasks, control }
    }

    /// Value and derivatives of one task, without the prior.
    fn task(&self, task: usize, params: &[f64]) -> (f64, Vec<f64>) {
        let (mut value, mut d_params) = (0.0, vec![0.0; params.len()]);
        let mut log_odds = Vec::new();
        for (k, rows) in &self.chunks[self.tasks[task].clone()] {
            if self.control.is_stop_requested() {
                return (f64::NAN, d_params);
            }
            let (features, targets) = &self.data[*k];
            let (features, targets) = (features.view().slice(rows.clone()), &targets[rows.clone()]);
            log_odds.resize(targets.len(), 0.0);
            self.classifier.log_odds(params, features, &mut log_odds);
            value += cross_entropy(&mut log_odds, targets.iter().copied());
            self.classifier.pull_back(params, features, &log_odds, &mut d_params);
        }
        (value, d_params)
    }
}

impl Objective for SupervisedObjective<'_> {
    fn dim(&self) -> usize {
        self.layout.dim()
    }

    fn evaluate(&self, params: &[f64], gradient: &mut [f64]) -> f64 {
        if self.control.is_stop_requested() {
            return f64::INFINITY;
        }
        gradient.fill(0.0);
        let mut total = -self.priors.log_density(&self.layout, params, &self.is_free, gradient);
        gradient.iter_mut().for_each(|g| *g = -*g);
        let task = |task| Ok::<_, Infallible>(self.task(task, params));
        let Ok(()) = in_order(self.tasks.len(), params.len(), task, |(value, d_params)| {
            total += value;
            gradient.iter_mut().zip(d_params).for_each(|(g, d)| *g += d);
        });
        if total.is_nan() { f64::INFINITY } else { total }
    }

    fn curvature(&self, params: &[f64], _: &[f64], _: usize) -> Option<Box<dyn Curvature>> {
        let features = self.data.iter().map(|(features, _)| features.view());
        let precisions = self.priors.precisions(&self.layout);
        let square = Square::of_cross_entropy(self.classifier, params, features, ROWS)?;
        let guess = Preconditioner::new(square.with_precisions(&precisions), Vec::new())?;
        Some(Box::new(guess))
    }
}

/// Settings of a supervised fit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Supervised {
    /// Features to log-odds.
    pub classifier: ClassifierSpec,
    /// How labels of neighbouring instances depend on each other.
    #[serde(skip_serializing_if = "is_default")]
    pub labels: Labels,
    /// What of a run stamps are about, for an annotator that is learned around the detector; labels say it of themselves.
    #[serde(skip_serializing_if = "is_default")]
    pub stamps: Variable,
    /// Only the precisions of weights and intercept matter, and the rates of a chain.
    pub priors: Priors,
    /// When to stop.
    pub optimiser: LbfgsOptions,
}

impl Default for Supervised {
    fn default() -> Self {
        Self {
            classifier: ClassifierSpec::Logistic,
            labels: Labels::default(),
            stamps: Variable::default(),
            priors: Priors::default(),
            optimiser: LbfgsOptions::default(),
        }
    }
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl Supervised {
    /// Refuses settings that mean nothing.
    pub(super) fn check(&self) -> Result<()> {
        if self.labels == Labels::Independent && self.stamps != Variable::default() {
            return Err(Error::NoRuns { stamps: self.stamps.name() });
        }
        self.priors.check()
    }

    /// Learns a detector from targets per instance: one slice of targets per feature matrix. Refused if labels form a
    /// chain, which needs times: see [`fit_sessions`](Self::fit_sessions).
    pub fn fit(
        &self,
        data: &[(FeatureView<'_>, &[Target])],
        seed: u64,
        control: Control<'_>,
    ) -> Result<(Detector, Minimum)> {
        self.check()?;
        if self.labels == Labels::Chain {
            return Err(Error::RowsOfChain);
        }
        check_targets(data)?;
        let features: Vec<FeatureView<'_>> = data.iter().map(|(rows, _)| *rows).collect();
        let classifier = self.classifier.fit(&features, seed, control)?;
        let start = classifier.start(seed);
        let minimum = self.fit_classifier(classifier.as_ref(), data, start, control)?;
        Ok((Detector::new(classifier.into(), minimum.params.clone()), minimum))
    }

    /// The parameters of a classifier with a given feature map, from a given start.
    pub(crate) fn fit_classifier(
        &self,
        classifier: &dyn Classifier,
        data: &[(FeatureView<'_>, &[Target])],
        start: Vec<f64>,
        control: Control<'_>,
    ) -> Result<Minimum> {
        let prepared = data
            .iter()
            .map(|(rows, targets)| (classifier.prepare((*rows).into(), control), *targets))
            .collect();
        let objective = SupervisedObjective::new(classifier, &self.priors, prepared, control);
        let total = self.optimiser.max_iterations;
        let run = Run { start: 0, starts: 1, made: 0, before: 0, total };
        let mut watch = watcher(control, run);
        let minimum = minimise(&objective, &start, &self.optimiser, &mut watch);
        control.stop_if_requested()?;
        minimum.ok_or_else(|| starts_nowhere(&objective, &start))
    }
}

/// The error for a start from which there is no way: features near the largest numbers overflow during standardisation.
pub(super) fn starts_nowhere(objective: &dyn Objective, start: &[f64]) -> Error {
    Error::OutOfRange {
        name: "the log posterior at the start".to_owned(),
        value: -objective.evaluate(start, &mut vec![0.0; start.len()]),
        expected: FINITE_START,
    }
}

pub(super) fn check_targets(data: &[(FeatureView<'_>, &[Target])]) -> Result<()> {
    let (mut positives, mut negatives) = (0.0, 0.0);
    let expected = data.first().ok_or(Error::NoSessions)?.0.ncols();
    for (index, (features, targets)) in data.iter().enumerate() {
        let session = format!("#{index}");
        if features.nrows() != targets.len() {
            return Err(Error::LengthMismatch {
                session,
                what: "targets",
                found: targets.len(),
                expected: features.nrows(),
            });
        }
        crate::session::check_columns(&session, features.ncols(), expected)?;
        crate::session::check_features(&session, *features)?;
        for (instance, target) in targets.iter().enumerate() {
            if !(0.0..=1.0).contains(&target.positive) {
                return Err(Error::BadLabel { session, instance, value: target.positive });
            }
            if !(target.weight >= 0.0 && target.weight.is_finite()) {
                return Err(Error::OutOfRange {
                    name: format!("weight of instance {instance} of session {session}"),
                    value: target.weight,
                    expected: "a finite number of at least 0",
                });
            }
            positives += target.weight * target.positive;
            negatives += target.weight * (1.0 - target.positive);
        }
    }
    if positives > 0.0 && negatives > 0.0 {
        Ok(())
    } else {
        Err(Error::OneClass { positives, negatives })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{Random, sigmoid, softplus};

    #[test]
    fn cross_entropy_equals_its_formula_in_the_middle_and_in_the_tails() {
        let mut random = Random::new(1);
        let mut log_odds = vec![-800.0, -50.0, 50.0, 800.0, 0.0, -0.0];
        log_odds.extend((0..200).map(|_| 10.0 * random.normal()));
        for f in log_odds {
            for (positive, weight) in [(0.0, 1.0), (1.0, 1.0), (0.3, 2.0), (0.5, 0.0)] {
                let mut d = [f];
                let got = cross_entropy(&mut d, std::iter::once(Target { positive, weight }));
                let want = weight * (positive * softplus(-f) + (1.0 - positive) * softplus(f));
                assert!((got - want).abs() <= 1e-15 * want, "{f}: {got:e} is not {want:e}"); // rounding
                let want = weight * (sigmoid(f) - positive);
                assert!((d[0] - want).abs() <= 1e-15 * weight, "{f}: {d:?} is not {want:e}"); // rounding
            }
        }
    }

    #[test]
    fn blocks_of_rows_meet_their_own_targets() {
        let target = |k: usize| Target { positive: (k % 3) as f64 / 2.0, weight: k as f64 };
        let rows = 2 * BLOCK + 5;
        let mut together: Vec<f64> = (0..rows).map(|k| k as f64 / 10.0 - 6.0).collect();
        let mut alone = together.clone();
        let value = cross_entropy(&mut together, (0..rows).map(target));
        let one = |(k, f): (usize, &mut f64)| {
            cross_entropy(std::slice::from_mut(f), std::iter::once(target(k)))
        };
        assert_eq!(value, alone.iter_mut().enumerate().map(one).sum::<f64>());
        assert_eq!(together, alone);
    }
}
