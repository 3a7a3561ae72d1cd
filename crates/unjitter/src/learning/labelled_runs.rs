//! Supervised learning where labels form runs: the detector and the transitions of the chain, from labels per instance.
//!
//! The model reduces to this when every label is known and stamps are ignored, as supervised learning does without a
//! chain, and with the same priors: there are as many runs as labels show, in the place of stamps. Instances of weight
//! zero are left out of the chain, as unobserved ones are, and the time between their neighbours remains.

use std::convert::Infallible;
use std::ops::Range;

use super::lbfgs::{Minimum, minimise};
use super::objective::{Curvature, Objective};
use super::preconditioner::{Preconditioner, ROWS, Square};
use super::supervised::{Supervised, Target, check_targets, starts_nowhere};
use super::watcher::{Run, watcher};
use crate::labels::{Chain, Labels};
use crate::math::lower_median;
use crate::model::classifier::Classifier;
use crate::model::{Detector, LABELS, Labelling, Runs};
use crate::parallel::{gather, in_order, rows_in_cache};
use crate::params::{CLASSIFIER, Layout};
use crate::prior::{Gamma, Priors};
use crate::{Control, Error, FeatureView, Features, Result, Session};

/// The labelled instances of a session.
struct LabelledRuns<'a> {
    /// Prepared features.
    features: Features<'a>,
    /// Times in units.
    times: Vec<f64>,
    /// Probabilities of the positive label.
    positive: Vec<f64>,
}

/// Minus the expected log likelihood of labels and the log prior, over the classifier's parameters and the rates.
struct RunsObjective<'a> {
    classifier: &'a dyn Classifier,
    layout: Layout,
    priors: Priors,
    is_free: Vec<bool>,
    data: Vec<LabelledRuns<'a>>,
    tasks: Vec<Range<usize>>,
    /// Runs, about.
    runs: f64,
    control: Control<'a>,
}

/// The chain whose rates are learned.
const CHAIN: Labelling =
    Labelling { labels: Labels::Chain, stamps: crate::labels::Variable::Onset, ends: false };

impl Supervised {
    /// Learns a detector from sessions with a target for each instance. If labels form a chain, weights of targets are 0 or
    /// 1.
    pub fn fit_sessions(
        &self,
        data: &[(&Session<'_>, &[Target])],
        seed: u64,
        control: Control<'_>,
    ) -> Result<(Detector, Minimum)> {
        let rows: Vec<_> = data.iter().map(|(one, targets)| (one.features(), *targets)).collect();
        if self.labels == Labels::Independent {
            return self.fit(&rows, seed, control);
        }
        self.check()?;
        check_targets(&rows)?;
        data.iter().try_for_each(|(session, targets)| check_runs(session, targets))?;
        let features: Vec<FeatureView<'_>> = rows.iter().map(|(rows, _)| *rows).collect();
        let classifier = self.classifier.fit(&features, seed, control)?;
        let unit = spacing(data);
        let objective = RunsObjective::new(classifier.as_ref(), &self.priors, data, unit, control);
        let rates = [objective.priors.onset_rate, objective.priors.offset_rate].map(at_mode);
        let start = [classifier.start(seed), rates.to_vec()].concat();
        let total = self.optimiser.max_iterations;
        let run = Run { start: 0, starts: 1, made: 0, before: 0, total };
        let minimum = minimise(&objective, &start, &self.optimiser, &mut watcher(control, run));
        control.stop_if_requested()?;
        let minimum = minimum.ok_or_else(|| starts_nowhere(&objective, &start))?;
        let layout = &objective.layout;
        let theta = minimum.params[layout.part(CLASSIFIER)].to_vec();
        let runs = CHAIN.rates(&minimum.params[layout.part(LABELS)], unit).map(|rates| Runs {
            onset_rate: rates.onset,
            offset_rate: rates.offset,
            stamps: self.stamps,
        });
        drop(objective);
        Ok((Detector::new(classifier.into(), theta).with_runs(runs), minimum))
    }
}

/// The logarithm of the value of highest density; of one if the density falls throughout.
fn at_mode(prior: Option<Gamma>) -> f64 {
    prior.map_or(1.0, |prior| prior.mode().max(1e-12)).ln()
}

/// Refuses weights between 0 and 1, and labels that no chain allows.
fn check_runs(session: &Session<'_>, targets: &[Target]) -> Result<()> {
    let name = session.name();
    if let Some(instance) = targets.iter().position(|own| own.weight != 0.0 && own.weight != 1.0) {
        return Err(Error::OutOfRange {
            name: format!("weight of instance {instance} of session {name}"),
            value: targets[instance].weight,
            expected: "0 or 1, since labels form a chain",
        });
    }
    let kept: Vec<usize> = (0..targets.len()).filter(|&i| targets[i].weight > 0.0).collect();
    let (times, of) = (session.times(), |i: usize| targets[i].positive);
    let clash =
        kept.windows(2).find(|pair| times[pair[0]] == times[pair[1]] && of(pair[0]) != of(pair[1]));
    match clash {
        None => Ok(()),
        Some(pair) => Err(Error::SameTime {
            session: name.to_owned(),
            first: pair[0],
            second: pair[1],
            time: times[pair[0]],
        }),
    }
}

/// The median time between neighbouring labels; 1 if there is none.
fn spacing(data: &[(&Session<'_>, &[Target])]) -> f64 {
    let gaps =
        data.iter().flat_map(|(one, _)| one.times().windows(2).map(|pair| pair[1] - pair[0]));
    lower_median(gaps.filter(|&gap| gap > 0.0).collect()).unwrap_or(1.0)
}

impl<'a> RunsObjective<'a> {
    fn new(
        classifier: &'a dyn Classifier,
        priors: &Priors,
        data: &'a [(&Session<'_>, &[Target])],
        unit: f64,
        control: Control<'a>,
    ) -> Self {
        let parts = vec![(CLASSIFIER, classifier.parameters()), (LABELS, CHAIN.parameters())];
        let layout = Layout::new(parts);
        let prepared = |(session, targets): &(&'a Session<'_>, &[Target])| {
            let kept: Vec<usize> =
                (0..targets.len()).filter(|&i| targets[i].weight > 0.0).collect();
            let rows: Features<'a> = match kept.len() == targets.len() {
                true => session.features().into(),
                false => session.features().select(&kept),
            };
            let origin = session.times()[0];
            LabelledRuns {
                features: classifier.prepare(rows, control),
                times: kept.iter().map(|&i| (session.times()[i] - origin) / unit).collect(),
                positive: kept.iter().map(|&i| targets[i].positive).collect(),
            }
        };
        let mut data: Vec<LabelledRuns<'a>> = data.iter().map(prepared).collect();
        data.retain(|own| !own.times.is_empty());
        let begun = |own: &LabelledRuns<'_>| {
            let rises = own.positive.windows(2).map(|pair| (pair[1] - pair[0]).max(0.0));
            own.positive[0] + rises.sum::<f64>()
        };
        let lasts = |own: &LabelledRuns<'_>| own.times[own.times.len() - 1] - own.times[0];
        let runs = data.iter().map(begun).sum::<f64>().max(1.0);
        let time = data.iter().map(lasts).sum::<f64>().max(1.0);
        let own = Priors {
            onset_rate: Some(priors.onset_rate.unwrap_or(Priors::onset_rate(runs / time))),
            offset_rate: Some(priors.offset_rate.unwrap_or(Priors::offset_rate(1.0, time / runs))),
            ..*priors
        };
        Self {
            classifier,
            is_free: vec![true; layout.dim()],
            layout,
            priors: own,
            tasks: gather(data.iter().map(|own| own.times.len())),
            data,
            runs,
            control,
        }
    }

    /// Value and derivatives of one session, without the prior.
    fn session(&self, own: &LabelledRuns<'_>, params: &[f64], d_params: &mut [f64]) -> f64 {
        let (theta, rates) = params.split_at(self.layout.part(LABELS).start);
        let rows = rows_in_cache(own.features.view().ncols());
        let mut log_odds = vec![0.0; own.times.len()];
        let chunks = || own.features.view().chunks(rows);
        for (features, out) in chunks().zip(log_odds.chunks_mut(rows)) {
            self.classifier.log_odds(theta, features, out);
        }
        let chain = Chain::new(&own.times, 1, CHAIN.rates(rates, 1.0), &log_odds).in_parallel(true);
        let found = chain.labelled(&own.positive);
        let (d_theta, d_rates) = d_params.split_at_mut(theta.len());
        let beyond: Vec<f64> =
            found.presence.iter().zip(&own.positive).map(|(p, q)| p - q).collect();
        for (features, d) in chunks().zip(beyond.chunks(rows)) {
            self.classifier.pull_back(theta, features, d, d_theta);
        }
        d_rates.iter_mut().zip(found.d_rates).for_each(|(sum, d)| *sum -= d);
        -found.log_likelihood
    }
}

impl Objective for RunsObjective<'_> {
    fn dim(&self) -> usize {
        self.layout.dim()
    }

    fn evaluate(&self, params: &[f64], gradient: &mut [f64]) -> f64 {
        gradient.fill(0.0);
        let mut total = -self.priors.log_density(&self.layout, params, &self.is_free, gradient);
        gradient.iter_mut().for_each(|g| *g = -*g);
        let task = |task: usize| {
            let (mut value, mut d_params) = (0.0, vec![0.0; params.len()]);
            for own in &self.data[self.tasks[task].clone()] {
                if self.control.is_stop_requested() {
                    return Ok::<_, Infallible>((f64::NAN, d_params));
                }
                value += self.session(own, params, &mut d_params);
            }
            Ok((value, d_params))
        };
        let Ok(()) = in_order(self.tasks.len(), params.len(), task, |(value, d_params)| {
            total += value;
            gradient.iter_mut().zip(d_params).for_each(|(g, d)| *g += d);
        });
        if total.is_nan() { f64::INFINITY } else { total }
    }

    fn curvature(&self, params: &[f64], _: &[f64], _: usize) -> Option<Box<dyn Curvature>> {
        let theta = &params[self.layout.part(CLASSIFIER)];
        let features = self.data.iter().map(|own| own.features.view());
        let square = Square::of_cross_entropy(self.classifier, theta, features, ROWS)?;
        let precisions = self.priors.precisions(&self.layout)[..theta.len()].to_vec();
        // Each run tells of both rates, as a draw from a Gamma density does.
        let rates = vec![self.runs; params.len() - theta.len()];
        let guess = Preconditioner::new(square.with_precisions(&precisions), rates)?;
        Some(Box::new(guess))
    }
}
