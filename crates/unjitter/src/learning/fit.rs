//! Fitting: MAP from several starts, keeping the best.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

use super::data::{SessionData, median_spacing, stamp_rate};
use super::lbfgs::{LbfgsOptions, Minimum, Step, minimise};
use super::map::MapObjective;
use super::objective::Objective;
use super::start::start;
use super::warning::warnings;
use crate::error::require;
use crate::memory::memory_limit;
use crate::model::{Fitted, Model, Parts, THRESHOLD, check_capacity, infeasible};
use crate::outcome::{Outcome, StopReason, Warning};
use crate::prior::Priors;
use crate::session::check_together;
use crate::{Control, Error, FeatureView, Iteration, Result, Session};

/// Most restarts: far more than a user would wait for.
const MAX_RESTARTS: usize = 1_000_000;

/// How to fit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FitOptions {
    /// Starts besides the naive one, at most a million.
    pub restarts: usize,
    /// Seed of everything random: restarts, initial weights, landmarks.
    pub seed: u64,
    /// Number of threads; by default all cores. The result does not depend on it.
    pub threads: Option<usize>,
    /// Settings of the optimiser.
    pub optimiser: LbfgsOptions,
}

impl Default for FitOptions {
    fn default() -> Self {
        Self { restarts: 2, seed: 0, threads: None, optimiser: LbfgsOptions::default() }
    }
}

impl Model {
    /// Learns detector and annotator from sessions. If a stop is requested, returns the best result so
    /// far, marked as cancelled, or [`Error::Cancelled`] if there is none yet.
    pub fn fit(
        &self,
        sessions: &[Session],
        options: &FitOptions,
        control: Control<'_>,
    ) -> Result<Fitted> {
        match options.threads {
            // In the pool as a whole: moving every single evaluation there would cost more than a small one.
            None => rayon::scope(|_| self.fit_here(sessions, options, control)),
            Some(threads) => {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
                let pool = pool.map_err(|_| Error::OutOfRange {
                    name: "threads".to_owned(),
                    value: threads as f64,
                    expected: "a number of threads that the system can start",
                })?;
                pool.install(|| self.fit_here(sessions, options, control))
            }
        }
    }

    fn fit_here(
        &self,
        sessions: &[Session],
        options: &FitOptions,
        control: Control<'_>,
    ) -> Result<Fitted> {
        let few = options.restarts <= MAX_RESTARTS;
        require("restarts", options.restarts as f64, few, "a number from 0 to 1000000")?;
        let problem = Problem::new(self, sessions, options.seed, control)?;
        let objective = problem.objective()?;
        let best = run_starts(&problem, &objective, options)?;
        let params = objective.full(&best.minimum.params);
        let (outcome, warnings) = judge(&problem, &objective, best, &params);
        drop(objective);
        let Problem { parts, time_unit, priors, .. } = problem;
        let (model, metadata) = (Self { priors, ..self.clone() }, BTreeMap::new());
        let threshold = THRESHOLD;
        Ok(Fitted { model, parts, params, time_unit, threshold, outcome, warnings, metadata })
    }
}

/// A model and its sessions, checked and with its parts built: the input of a custom optimiser.
#[derive(Debug)]
pub struct Problem<'a> {
    model: &'a Model,
    sessions: &'a [Session<'a>],
    parts: Parts,
    time_unit: f64,
    priors: Priors,
    control: Control<'a>,
}

impl<'a> Problem<'a> {
    /// Checks sessions and model, and builds the parts; `seed` chooses kernel landmarks. This and every
    /// evaluation end early if a stop is requested.
    pub fn new(
        model: &'a Model,
        sessions: &'a [Session<'a>],
        seed: u64,
        control: Control<'a>,
    ) -> Result<Self> {
        model.check()?;
        check_together(sessions)?;
        if sessions.iter().all(|session| session.stamps().is_empty()) {
            return Err(Error::NoStamps { sessions: sessions.len() });
        }
        let time_unit = model.time_unit.unwrap_or_else(|| median_spacing(sessions));
        let features: Vec<FeatureView<'_>> = sessions.iter().map(Session::features).collect();
        let parts = Parts::new(
            model.classifier.fit(&features, seed, control)?,
            model.stamp_model(time_unit)?,
        );
        let rate = stamp_rate(sessions) * time_unit;
        let background = model.priors.background.unwrap_or(Priors::background(rate));
        let priors = Priors { background: Some(background), ..model.priors };
        Ok(Self { model, sessions, parts, time_unit, priors, control })
    }

    /// Minus the log posterior, as a function of the parameters that are not frozen.
    pub fn objective(&self) -> Result<MapObjective<'_>> {
        let frozen = self.model.frozen_params(&self.parts.layout, self.time_unit)?;
        let mut data = Vec::with_capacity(self.sessions.len());
        for (index, session) in self.sessions.iter().enumerate() {
            let classifier = self.parts.classifier.as_ref();
            let ready = SessionData::new(index, session, classifier, self.time_unit, self.control);
            let (stamps, instances) = (ready.in_time.stamps.len(), ready.in_time.times.len());
            check_capacity(session.name(), stamps, instances, self.parts.stamp_model.max_count())?;
            data.push(ready);
        }
        Ok(MapObjective::new(&self.parts, &self.priors, data, &frozen, self.control))
    }

    /// The free parameters of start number `number`; 0 is the naive one.
    pub fn start(&self, objective: &MapObjective<'_>, number: usize, seed: u64) -> Vec<f64> {
        objective.free(&start(objective, &self.parts, &self.priors, number, seed))
    }
}

/// The best start so far.
struct Best {
    minimum: Minimum,
    start: usize,
    values: Vec<Option<f64>>,
}

fn run_starts(
    problem: &Problem<'_>,
    objective: &MapObjective<'_>,
    options: &FitOptions,
) -> Result<Best> {
    let control = objective.control();
    let starts = options.restarts + 1;
    let mut best: Option<(usize, Minimum)> = None;
    let mut values = Vec::new();
    for k in 0..starts {
        let from = problem.start(objective, k, options.seed);
        let mut watch = watcher(control, &options.optimiser, k, starts);
        let minimum = minimise(objective, &from, &options.optimiser, &mut watch);
        values.push(minimum.as_ref().map(|m| m.value));
        if let Some(minimum) = minimum
            && best.as_ref().is_none_or(|(_, best)| minimum.value < best.value)
        {
            best = Some((k, minimum));
        }
        if control.is_stop_requested() {
            // Whichever start is best, the fit as a whole was cut short.
            if let Some((_, best)) = &mut best {
                best.stop = StopReason::Cancelled;
            }
            break;
        }
    }
    match best {
        Some((start, minimum)) => Ok(Best { minimum, start, values }),
        None if control.is_stop_requested() => Err(Error::Cancelled),
        None => Err(impossible_session(problem, objective, options)),
    }
}

/// The optimiser's callback: it reports every iteration of a start, and breaks on request.
pub(super) fn watcher<'a>(
    control: Control<'a>,
    options: &LbfgsOptions,
    start: usize,
    starts: usize,
) -> impl FnMut(&Step<'_>) -> ControlFlow<()> + 'a {
    let most = options.max_iterations;
    move |&Step { iteration: number, value, gradient_norm, .. }| {
        let done = start.saturating_mul(most).saturating_add(number);
        let iteration = Iteration { start, starts, number, value, gradient_norm };
        control.tell(done, starts.saturating_mul(most), Some(iteration));
        if control.is_stop_requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// The condition for a fit to begin.
pub(super) const FINITE_START: &str =
    "a finite number with a finite gradient: features or frozen values may be extreme";

/// The error for sessions whose stamps are impossible at every start.
fn impossible_session(
    problem: &Problem<'_>,
    objective: &MapObjective<'_>,
    options: &FitOptions,
) -> Error {
    let from = problem.start(objective, 0, options.seed);
    match objective.first_impossible(&objective.full(&from)) {
        Some((index, impossible)) => {
            // Only observed instances can explain a stamp.
            let (session, times) =
                (&problem.sessions[index], &objective.data()[index].in_time.times);
            infeasible(session.name(), times, session.stamps(), impossible)
        }
        None => Error::OutOfRange {
            name: "the log posterior at the start".to_owned(),
            value: -objective.evaluate(&from, &mut vec![0.0; objective.dim()]),
            expected: FINITE_START,
        },
    }
}

fn judge(
    problem: &Problem<'_>,
    objective: &MapObjective<'_>,
    best: Best,
    params: &[f64],
) -> (Outcome, Vec<Warning>) {
    let Problem { sessions, parts, time_unit, .. } = problem;
    let Minimum { value, gradient_norm, iterations, evaluations, stop, .. } = best.minimum;
    let converged = match stop {
        StopReason::GradientTolerance | StopReason::ValueTolerance => true,
        StopReason::LineSearchFailed => parts.stamp_model.has_kinks(),
        StopReason::IterationLimit | StopReason::Cancelled => false,
    };
    let mut found = warnings(sessions, objective.data(), parts, params, *time_unit);
    if let Some((session, bytes)) = objective.too_large() {
        let session = sessions[session].name().to_owned();
        found.insert(0, Warning::MemoryLimit { session, bytes, limit: memory_limit() });
    }
    if !converged {
        found.insert(0, Warning::NotConverged { stop, gradient_norm });
    }
    let stamps: usize = sessions.iter().map(|session| session.stamps().len()).sum();
    let in_units = -value - objective.log_prior(params);
    let outcome = Outcome {
        converged,
        stop,
        iterations,
        evaluations,
        value,
        gradient_norm,
        log_evidence: in_units - stamps as f64 * time_unit.ln(),
        best_start: best.start,
        values: best.values,
    };
    (outcome, found)
}
