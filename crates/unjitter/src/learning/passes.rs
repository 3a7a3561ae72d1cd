//! A fit of more sessions than a search needs, wherever they are.
//!
//! A part of the sessions decides all that takes many evaluations (`sample`), and tells the curvature. From its
//! optimum a few passes over all sessions lead to theirs. How sure the result is, the part tells too: all sessions
//! tell so many times as much.

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use super::fit::{FitOptions, in_pool};
use super::lbfgs::minimise;
use super::map::MapObjective;
use super::objective::{Curvature, Objective};
use super::partition::{Evidence, Partition};
use super::problem::{Problem, check};
use super::sample::{Size, sampled};
use super::search::Optimum;
use super::searched::is_converged;
use super::unbiased::unbiased;
use super::watcher::{Run, watcher};
use crate::math::Exact;
use crate::model::{Fitted, Model};
use crate::outcome::Warning;
use crate::{Control, Error, Result, Session};

/// All sessions, wherever they are.
pub trait Workers: Sync {
    /// Number of sessions.
    fn sessions(&self) -> usize;

    /// Number of their stamps.
    fn stamps(&self) -> usize;

    /// How many of these also tell when what was stamped ended.
    fn ends(&self) -> usize {
        0
    }

    /// What all sessions, prepared for a model, tell of each of these vectors of parameters: the sum over every
    /// [`Partition`].
    fn evaluate(&self, fitted: &Fitted, params: &[Vec<f64>]) -> Result<Vec<Evidence>>;
}

impl Model {
    /// Learns from sessions that may be elsewhere, given those that [`sampled`] chooses. The result has the same bits
    /// as that of [`Model::fit`] with all of them, in the same order.
    pub fn fit_over(
        &self,
        sample: &[Session<'_>],
        workers: &dyn Workers,
        options: &FitOptions,
        control: Control<'_>,
    ) -> Result<Fitted> {
        let fit = || self.for_ends_of(sample)?.fit_here_over(sample, workers, options, control);
        in_pool(options.threads, fit)
    }

    /// The same in memory.
    pub(super) fn fit_together(
        &self,
        sessions: &[Session<'_>],
        options: &FitOptions,
        control: Control<'_>,
    ) -> Result<Fitted> {
        let size = |session: &Session<'_>| (session.stamps().len(), session.len());
        let sizes: Vec<Size<'_>> = sessions
            .iter()
            .map(|own| Size { name: own.name(), stamps: size(own).0, instances: size(own).1 })
            .collect();
        let is_in = sampled(&sizes, options.sample);
        if is_in.iter().all(|&is_in| is_in) {
            return self.fit_alike(sessions, None, options, control);
        }
        check(self, sessions)?;
        let kept = sessions.iter().zip(is_in).filter(|(_, is_in)| *is_in);
        let sample: Vec<Session<'_>> = kept.map(|(session, _)| session.clone()).collect();
        let stamps = sizes.iter().map(|size| size.stamps).sum();
        let ends = sessions.iter().map(Session::ends).sum();
        let here = InMemory { sessions, stamps, ends, control, partition: OnceLock::new() };
        self.fit_here_over(&sample, &here, options, control)
    }

    fn fit_here_over(
        &self,
        sample: &[Session<'_>],
        workers: &dyn Workers,
        options: &FitOptions,
        control: Control<'_>,
    ) -> Result<Fitted> {
        if !self.varies.is_empty() {
            return Err(Error::GroupsInParts);
        }
        if sample.len() == workers.sessions() {
            return self.fit_alike(sample, None, options, control);
        }
        let searching = FitOptions { simulations: 0, standard_errors: false, ..options.clone() };
        let mut fitted = self.fit_alike(sample, None, &searching, control)?;
        if !fitted.outcome.converged {
            return Ok(fitted);
        }
        let reference = fitted.clone();
        let problem = Problem::of_fitted(&reference, &reference.model.noise, sample, control)?;
        let local = problem.objective()?.settled_after(usize::MAX);
        let passes = Passes::new(&reference, workers, &local);
        passes.judge_modes(&problem, &local, &mut fitted)?;
        let best = passes.best(&problem, &local, options);
        let stretch = |best| unbiased(&problem, &local, best, options, Some(&passes));
        let stretched = best.as_ref().and_then(stretch);
        passes.succeeded()?;
        let Some(best) = stretched.or(best) else {
            control.stop_if_requested()?;
            return Err(Error::Worker(passes.impossible()));
        };
        problem.replace(&local, &best, passes.stamps, &mut fitted);
        fitted.outcome.stop = best.minimum.stop;
        fitted.outcome.converged = is_converged(best.minimum.stop, problem.parts());
        if fitted.outcome.converged {
            problem.say_how_sure(&local, &best, passes.times, options, &mut fitted);
        } else {
            let (stop, gradient_norm) = (best.minimum.stop, best.minimum.gradient_norm);
            fitted.warnings.insert(0, Warning::NotConverged { stop, gradient_norm });
        }
        Ok(fitted)
    }
}

/// Passes over all sessions.
pub(super) struct Passes<'a> {
    /// The model that sessions are prepared for.
    reference: &'a Fitted,
    workers: &'a dyn Workers,
    /// Stamps of all sessions; an end that the model knows of counts as one.
    stamps: usize,
    /// How many times as many all sessions have.
    times: f64,
    /// Why a pass failed.
    failed: Mutex<Option<Error>>,
    /// The session whose stamps were impossible in the last pass in which any were.
    impossible: Mutex<Option<String>>,
}

impl<'a> Passes<'a> {
    fn new(reference: &'a Fitted, workers: &'a dyn Workers, local: &MapObjective<'_>) -> Self {
        let ends = if reference.model.ends { workers.ends() } else { 0 };
        let stamps = workers.stamps() + ends;
        let times = stamps as f64 / local.stamps().max(1) as f64;
        let (failed, impossible) = (Mutex::default(), Mutex::default());
        Self { reference, workers, stamps, times, failed, impossible }
    }

    fn failure(&self) -> MutexGuard<'_, Option<Error>> {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Why no pass had a finite value.
    fn impossible(&self) -> String {
        let found = self.impossible.lock().unwrap_or_else(PoisonError::into_inner).take();
        match found {
            Some(name) => format!(
                "session {name}: its stamps are impossible, or cannot be summed, under the model that a part of the \
                 sessions tells"
            ),
            None => "the evidence of all sessions is not finite".to_owned(),
        }
    }

    /// Passes on what a worker said.
    fn succeeded(&self) -> Result<()> {
        self.failure().take().map_or(Ok(()), Err)
    }

    /// Gives all explanations that the part has the evidence of all sessions, in one pass.
    fn judge_modes(
        &self,
        problem: &Problem<'_>,
        local: &MapObjective<'_>,
        fitted: &mut Fitted,
    ) -> Result<()> {
        let params: Vec<Vec<f64>> = fitted.modes.iter().map(|mode| mode.params.clone()).collect();
        let evidence = self.workers.evaluate(self.reference, &params)?;
        for (mode, evidence) in fitted.modes.iter_mut().zip(evidence) {
            mode.log_posterior = evidence.value.value() + local.log_prior(&mode.params);
            let value = -mode.log_posterior;
            mode.log_evidence = problem.log_evidence(local, value, &mode.params, self.stamps);
        }
        Ok(())
    }

    /// The optimum of all sessions that is reached from that of the part.
    fn best(
        &self,
        problem: &Problem<'_>,
        local: &MapObjective<'_>,
        options: &FitOptions,
    ) -> Option<Optimum> {
        let outcome = &self.reference.outcome;
        let (start, made) = (outcome.best_start, outcome.iterations);
        let total = made.saturating_add(options.optimiser.max_iterations);
        let run = Run { start, starts: outcome.values.len(), made, before: made, total };
        let mut watch = watcher(local.control(), run);
        let from = local.free(&self.reference.params);
        let all = AllSessions { local, passes: Some(self) };
        let mut minimum = minimise(&all, &from, &options.optimiser, &mut watch)?;
        minimum.iterations += made;
        minimum.evaluations += outcome.evaluations;
        let learned = problem.learned(local, &minimum.params);
        Some(Optimum { minimum, start, learned })
    }
}

/// Minus the log posterior given all sessions: those that are here, or a part of them that has the prior and the
/// curvature, with passes over all.
pub(super) struct AllSessions<'a> {
    pub(super) local: &'a MapObjective<'a>,
    pub(super) passes: Option<&'a Passes<'a>>,
}

impl Objective for AllSessions<'_> {
    fn dim(&self) -> usize {
        self.local.dim()
    }

    fn evaluate(&self, free: &[f64], gradient: &mut [f64]) -> f64 {
        let Some(passes) = self.passes else { return self.local.evaluate(free, gradient) };
        // A pass is dear: after one that failed there is no other.
        if self.local.control().is_stop_requested() || passes.failure().is_some() {
            return f64::INFINITY;
        }
        let params = [self.local.full(free)];
        let found = passes.workers.evaluate(passes.reference, &params);
        let evidence = match found.map(|found| found.into_iter().next()) {
            Ok(evidence) => evidence.unwrap_or_default(),
            Err(error) => {
                *passes.failure() = Some(error);
                return f64::INFINITY;
            }
        };
        if evidence.impossible.is_some() {
            let mut known = passes.impossible.lock().unwrap_or_else(PoisonError::into_inner);
            known.clone_from(&evidence.impossible);
            return f64::INFINITY;
        }
        let mut slopes: Vec<f64> = evidence.gradient.iter().map(Exact::value).collect();
        slopes.resize(params[0].len(), 0.0);
        let value = evidence.value.value() + self.local.add_prior(&params[0], &mut slopes);
        gradient.iter_mut().zip(self.local.places()).for_each(|(g, &at)| *g = -slopes[at]);
        if value.is_nan() { f64::INFINITY } else { -value }
    }

    fn curvature(
        &self,
        free: &[f64],
        gradient: &[f64],
        steps: usize,
    ) -> Option<Box<dyn Curvature>> {
        let Some(passes) = self.passes else { return self.local.curvature(free, gradient, steps) };
        let mut gradient = vec![0.0; free.len()];
        let is_there = self.local.evaluate(free, &mut gradient).is_finite();
        let of_part = is_there.then(|| self.local.curvature(free, &gradient, steps.max(1)));
        Some(Box::new(Larger { of_part: of_part.flatten()?, times: passes.times }))
    }
}

/// The curvature of so many times as many sessions.
#[derive(Debug)]
struct Larger {
    of_part: Box<dyn Curvature>,
    times: f64,
}

impl Curvature for Larger {
    fn solve(&self, gradient: &mut [f64]) {
        self.of_part.solve(gradient);
        gradient.iter_mut().for_each(|own| *own /= self.times);
    }
}

/// All sessions in the memory of this process.
struct InMemory<'a> {
    sessions: &'a [Session<'a>],
    stamps: usize,
    ends: usize,
    control: Control<'a>,
    /// Prepared when they are first needed.
    partition: OnceLock<Partition<'a>>,
}

impl Workers for InMemory<'_> {
    fn sessions(&self) -> usize {
        self.sessions.len()
    }

    fn stamps(&self) -> usize {
        self.stamps
    }

    fn ends(&self) -> usize {
        self.ends
    }

    fn evaluate(&self, fitted: &Fitted, params: &[Vec<f64>]) -> Result<Vec<Evidence>> {
        let partition = match self.partition.get() {
            Some(known) => known,
            None => {
                let new = Partition::new(fitted, self.sessions, self.control)?;
                self.partition.get_or_init(|| new)
            }
        };
        partition.evaluate(params, None, self.control)
    }
}
