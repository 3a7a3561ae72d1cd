//! The search for optima.
//!
//! Every start is followed until it is near an optimum, on a part of the sessions if there are many stamps.
//! Starts that came to the same annotator are one; the best of each kind is finished on all sessions.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use super::fit::FitOptions;
use super::lbfgs::{LbfgsOptions, Minimum, Step, minimise};
use super::map::MapObjective;
use super::problem::{Problem, impossible_session};
use super::start::{NEAR, Start};
use super::watcher::{Run, watcher};
use crate::model::Learned;
use crate::outcome::StopReason;
use crate::{Error, Result};

/// Stamps that are enough to see where a start leads: they tell a delay to a twentieth of the spread.
const ENOUGH: usize = 400;
/// A start that tells what a known optimum tells, at a log posterior this much below it, leads there.
const CLOSE: f64 = 0.3;
/// An optimum as it was found.
#[derive(Debug, Clone)]
pub(super) struct Optimum {
    pub(super) minimum: Minimum,
    /// Which start led to it.
    pub(super) start: usize,
    pub(super) learned: Learned,
}

impl Optimum {
    /// Whether it tells the same of the annotator as another.
    fn tells(&self, other: &Learned) -> bool {
        let spread = self.learned.spread.min(other.spread);
        (self.learned.delay - other.delay).abs() <= 0.2 * spread
            && (self.learned.spread / other.spread).ln().abs() <= 0.1
            && (self.learned.miss_rate - other.miss_rate).abs() <= 0.1
    }
}

/// Adds an optimum, or lets it replace one that tells the same and is worse. Returns its place.
fn add(optima: &mut Vec<Optimum>, new: Optimum) -> usize {
    match optima.iter().position(|old| old.tells(&new.learned)) {
        Some(at) => {
            if new.minimum.value < optima[at].minimum.value {
                optima[at] = new;
            }
            at
        }
        None => {
            optima.push(new);
            optima.len() - 1
        }
    }
}

/// What all starts led to.
pub(super) struct Found {
    pub(super) optima: Vec<Optimum>,
    /// The value of the optimum that each start led to.
    pub(super) values: Vec<Option<f64>>,
    /// Stamps of an event, at most, as the superpositions have them.
    pub(super) most: f64,
    /// Sessions, by position, whose sums did not converge, so that a start was lost or an optimum not left.
    pub(super) not_settled: BTreeSet<usize>,
}

/// Stamps of an event, at most, where some of the starts are near an optimum on a part of the sessions.
pub(super) fn most_near(
    problem: &Problem<'_>,
    objective: &MapObjective<'_>,
    options: &FitOptions,
    numbers: BTreeSet<usize>,
) -> Result<f64> {
    let starts = problem.starts(options.restarts, options.seed)?;
    let search = Search { problem, objective, options, starts: &starts };
    let superposed = problem.superposed_objective(objective)?;
    let is_out = objective.beyond(ENOUGH);
    let [part, superposed] = [objective, &superposed].map(|all| all.without(|k| is_out[k]));
    let mut most: f64 = 0.0;
    for k in numbers {
        let Some(&start) = starts.get(k) else { continue };
        let from = problem.begin(start, &part, &superposed);
        if let Some(near) = search.follow(k, from, &part, &[]) {
            most = most.max(-near.learned.miss_rate.ln());
        }
    }
    Ok(most)
}

/// Runs all starts.
pub(super) fn search(
    problem: &Problem<'_>,
    objective: &MapObjective<'_>,
    options: &FitOptions,
) -> Result<Found> {
    let starts = problem.starts(options.restarts, options.seed)?;
    let search = Search { problem, objective, options, starts: &starts };
    let all = vec![false; objective.data().len()];
    let is_out = if starts.len() > 1 { objective.beyond(ENOUGH) } else { all.clone() };
    let mut found = search.all(&is_out)?;
    if found.optima.is_empty() && is_out != all {
        // What a part of the sessions says may be impossible in another.
        found = search.all(&all)?;
    }
    if !found.optima.is_empty() {
        return Ok(found);
    }
    Err(if objective.control().is_stop_requested() {
        Error::Cancelled
    } else {
        impossible_session(problem, objective, options)
    })
}

struct Search<'a> {
    problem: &'a Problem<'a>,
    objective: &'a MapObjective<'a>,
    options: &'a FitOptions,
    starts: &'a [Start],
}

impl Search<'_> {
    /// Follows all starts without some sessions, and finishes one of each kind with them.
    fn all(&self, is_out: &[bool]) -> Result<Found> {
        let superposed = self.problem.superposed_objective(self.objective)?;
        let [part, superposed] =
            [self.objective, &superposed].map(|all| all.without(|session| is_out[session]));
        let is_whole = !is_out.contains(&true);
        let mut most: f64 = 0.0;
        let (mut kinds, mut led, mut not_settled) = (Vec::new(), Vec::new(), BTreeSet::new());
        self.objective.take_not_settled();
        for (k, &start) in self.starts.iter().enumerate() {
            let from = self.problem.begin(start, &part, &superposed);
            if matches!(start, Start::Superposed { .. }) {
                most = most.max(-self.learned(&from).miss_rate.ln());
            }
            // What a start is made of; on the way from there a step may be given up.
            not_settled.extend(self.objective.take_not_settled());
            let near = self.follow(k, from, &part, &kinds);
            let lost = self.objective.take_not_settled();
            if near.is_none() {
                not_settled.extend(lost);
            }
            led.push(near.map(|near| add(&mut kinds, near)));
            if self.objective.control().is_stop_requested() {
                break;
            }
        }
        let mut optima = Vec::new();
        let finish = |(k, near): (usize, &Optimum)| {
            let finished = self.finish(near, k);
            let lost = self.objective.take_not_settled();
            let stop = finished.as_ref().map(|own| own.minimum.stop);
            if stop.is_none_or(|stop| stop == StopReason::LineSearchFailed) {
                not_settled.extend(lost);
            }
            // A start that was stopped in time has values of all sessions.
            let stopped = || (is_whole && near.minimum.value.is_finite()).then(|| near.clone());
            finished.or_else(stopped).map(|optimum| add(&mut optima, optimum))
        };
        let ends: Vec<Option<usize>> = kinds.iter().enumerate().map(finish).collect();
        if self.objective.control().is_stop_requested() {
            // Whichever start is best, the fit as a whole was cut short.
            optima.iter_mut().for_each(|own| own.minimum.stop = StopReason::Cancelled);
        }
        let end = |kind: Option<usize>| ends[kind?].map(|at| optima[at].minimum.value);
        let values = led.into_iter().map(end).collect();
        Ok(Found { optima, values, most, not_settled })
    }

    fn learned(&self, free: &[f64]) -> Learned {
        self.problem.learned(self.objective, free)
    }

    /// Options until near, which are not stricter than what was asked for.
    fn near(&self) -> LbfgsOptions {
        let asked = &self.options.optimiser;
        LbfgsOptions {
            max_iterations: NEAR.max_iterations.min(asked.max_iterations),
            gradient_tolerance: NEAR.gradient_tolerance.max(asked.gradient_tolerance),
            value_tolerance: NEAR.value_tolerance.max(asked.value_tolerance),
            ..NEAR
        }
    }

    /// Iterations of one search, at most: all starts until near, and all finished.
    fn most(&self) -> usize {
        let each = self.near().max_iterations.saturating_add(self.options.optimiser.max_iterations);
        self.starts.len().saturating_mul(each)
    }

    /// A run of the optimiser after so many other iterations of this search.
    fn run(&self, start: usize, before: usize) -> Run {
        let (round, rounds) = self.problem.round();
        let before = round.saturating_mul(self.most()).saturating_add(before);
        let total = rounds.saturating_mul(self.most());
        Run { start, starts: self.starts.len(), made: 0, before, total }
    }

    /// From a start until near an optimum, or at one of those already known. A single start is finished at
    /// once.
    fn follow(
        &self,
        start: usize,
        from: Vec<f64>,
        part: &MapObjective<'_>,
        known: &[Optimum],
    ) -> Option<Optimum> {
        let near = self.near();
        let minimum = if self.starts.len() > 1 {
            let run = self.run(start, start * near.max_iterations);
            let mut watch = watcher(part.control(), run);
            let mut watch = |step: &Step<'_>| {
                let is_known = known.iter().any(|own| self.is_close(own, step));
                if is_known { ControlFlow::Break(()) } else { watch(step) }
            };
            minimise(part, &from, &near, &mut watch)?
        } else {
            let (value, gradient_norm, stop) =
                (f64::INFINITY, f64::INFINITY, StopReason::Cancelled);
            Minimum { params: from, value, gradient_norm, iterations: 0, evaluations: 0, stop }
        };
        let learned = self.learned(&minimum.params);
        Some(Optimum { minimum, start, learned })
    }

    /// Whether a step has come to an optimum.
    fn is_close(&self, optimum: &Optimum, step: &Step<'_>) -> bool {
        let beyond = step.value - optimum.minimum.value;
        beyond < CLOSE && optimum.tells(&self.learned(step.params))
    }

    /// To the end, on all sessions, after `k` others.
    fn finish(&self, near: &Optimum, k: usize) -> Option<Optimum> {
        let (iterations, evaluations) = (near.minimum.iterations, near.minimum.evaluations);
        let most = self.options.optimiser.max_iterations;
        let before =
            (self.starts.len() * self.near().max_iterations).saturating_add(k.saturating_mul(most));
        let run = Run { made: iterations, ..self.run(near.start, before) };
        let whole = self.objective.settled_after(iterations);
        let options = &self.options.optimiser;
        let mut watch = watcher(self.objective.control(), run);
        let mut minimum = minimise(&whole, &near.minimum.params, options, &mut watch)?;
        minimum.iterations += iterations;
        minimum.evaluations += evaluations;
        let learned = self.learned(&minimum.params);
        Some(Optimum { minimum, start: near.start, learned })
    }
}
