//! What a search came to: the best of its optima as a fitted model, judged and measured.

use std::collections::{BTreeMap, BTreeSet};

use super::fit::FitOptions;
use super::grouped::{Shifts, deviations_at, learn_deviations};
use super::information::uncertainty;
use super::lbfgs::Minimum;
use super::map::MapObjective;
use super::modes::{self, choose};
use super::problem::{Problem, grouped_parts};
use super::search::{Found, Optimum, most_near, search};
use super::unbiased::unbiased;
use super::warning::{trade_places, warnings};
use crate::memory::memory_limit;
use crate::model::counts::Counts;
use crate::model::{Fitted, Mode, Model, Parts, THRESHOLD};
use crate::outcome::{HeldOut, Outcome, StopReason, Warning};
use crate::{Control, Result, Session};

/// What a search came to.
pub(super) struct Searched {
    pub(super) fitted: Fitted,
    pub(super) best: Optimum,
    /// Stamps of an event, at most, as the superpositions have them.
    pub(super) most: f64,
}

impl<'a> Problem<'a> {
    /// Runs all starts and chooses among the optima.
    pub(super) fn search(&self, options: &FitOptions) -> Result<Searched> {
        let objective = self.objective()?;
        let Found { mut optima, values, most, not_settled } = search(self, &objective, options)?;
        let modes = choose(self, &objective, &mut optima);
        let (outcome, mut warnings) = judge(self, &objective, &optima[0], values, &modes[0]);
        warnings.extend(modes::warning(&modes));
        warnings.extend(self.not_settled(&not_settled));
        let counts = if self.model.counts == Counts::Auto {
            Counts::Bernoulli
        } else {
            self.model.counts.clone()
        };
        let model = Model { counts, ..self.model.clone() };
        let params = modes[0].params.clone();
        let (parts, time_unit, metadata) = (self.parts.clone(), self.time_unit, BTreeMap::new());
        let fitted = Fitted {
            model,
            parts,
            params,
            time_unit,
            stamp_rate: self.stamp_rate,
            outcome,
            warnings,
            modes,
            uncertainty: None,
            metadata,
            threshold: THRESHOLD,
        };
        Ok(Searched { fitted, best: optima.swap_remove(0), most })
    }

    /// Stamps of a run, at most, by the start that was best with one at most and by the first two. There is no
    /// superposition of runs to say it, and all starts would take as long as the search that was made.
    pub(super) fn most_of_runs(&self, one: &Searched, options: &FitOptions) -> Result<f64> {
        let numbers = BTreeSet::from([one.best.start, 0, 1]);
        most_near(self, &self.objective()?, options, numbers)
    }

    /// Whether a result has more evidence of sessions that were left out of learning than another's.
    pub(super) fn is_better(
        &self,
        own: &Searched,
        other: &Self,
        others: &Searched,
    ) -> Result<bool> {
        let own = modes::left_out(&self.objective()?, &own.best.minimum.params);
        let others = modes::left_out(&other.objective()?, &others.best.minimum.params);
        let gain = own.zip(others).map(|(own, others)| HeldOut::difference(&own, &others).mean);
        Ok(gain.is_some_and(|gain| gain > 0.0))
    }

    /// Lets groups differ, beginning at a fit of stamps that were moved back by these shifts.
    pub(super) fn grouped(
        model: &Model,
        mut fitted: Fitted,
        shifts: &Shifts,
        sessions: &'a [Session<'a>],
        options: &FitOptions,
        control: Control<'a>,
    ) -> Result<Fitted> {
        let scales = (fitted.time_unit, fitted.stamp_rate);
        let parts = grouped_parts(&fitted.parts, model, sessions, fitted.time_unit)?;
        let deviations = deviations_at(&parts.stamps.groups, model, shifts, fitted.time_unit);
        let model = Model { counts: fitted.model.counts.clone(), ..model.clone() };
        let mut problem = Problem::with_parts(&model, sessions, parts, scales, control)?;
        fitted.modes.iter_mut().for_each(|mode| mode.params.extend(&deviations));
        fitted.params.extend(&deviations);
        fitted.model = model;
        let objective = problem.objective()?;
        let from = objective.free(&fitted.params);
        let start = fitted.outcome.best_start;
        let learned = match fitted.outcome.converged {
            true => learn_deviations(&problem, &objective, &from, start, options),
            false => None,
        };
        let Some((best, scales)) = learned else {
            fitted.parts = problem.parts;
            return Ok(fitted);
        };
        let stamps = objective.stamps();
        problem.replace(&objective.with_scales(scales.clone()), &best, stamps, &mut fitted);
        let groups = problem.parts.stamps.groups.clone().with_scales(&scales);
        problem.parts = problem.parts.with_groups(groups);
        fitted.parts = problem.parts.clone();
        problem.measured(Searched { fitted, best, most: 0.0 }, options)
    }

    /// An optimum of sessions that a fit has learned from before, or from sessions much like them, in its place.
    pub(super) fn learned_again(
        &self,
        best: Optimum,
        mut fitted: Fitted,
        options: &FitOptions,
    ) -> Result<Fitted> {
        let objective = self.objective()?;
        let stop = best.minimum.stop;
        (fitted.outcome.stop, fitted.outcome.converged) = (stop, is_converged(stop, &self.parts));
        self.replace(&objective, &best, objective.stamps(), &mut fitted);
        self.measured(Searched { fitted, best, most: 0.0 }, options)
    }

    /// The result, with a spread that is not short, and with how sure it is.
    pub(super) fn measured(&self, searched: Searched, options: &FitOptions) -> Result<Fitted> {
        let Searched { mut fitted, mut best, .. } = searched;
        // Where the fit was cut short, draws and curvature are those of another place.
        if !fitted.outcome.converged {
            return Ok(fitted);
        }
        let objective = self.objective()?;
        if let Some(stretched) = unbiased(self, &objective, &best, options, None) {
            best = stretched;
            self.replace(&objective, &best, objective.stamps(), &mut fitted);
        }
        self.say_how_sure(&objective, &best, 1.0, options, &mut fitted);
        Ok(fitted)
    }

    /// Measures how sure an optimum is, of so many times as many stamps as these sessions have.
    pub(super) fn say_how_sure(
        &self,
        objective: &MapObjective<'_>,
        best: &Optimum,
        times: f64,
        options: &FitOptions,
        fitted: &mut Fitted,
    ) {
        if options.standard_errors {
            let free = &best.minimum.params;
            let (found, trading) = uncertainty(objective, self.sessions, free, times);
            fitted.uncertainty = found;
            fitted.warnings.extend(trade_places(&self.parts.layout, &trading));
        }
    }

    /// Puts another optimum, of so many stamps, in the place of the chosen one.
    pub(super) fn replace(
        &self,
        objective: &MapObjective<'_>,
        best: &Optimum,
        stamps: usize,
        fitted: &mut Fitted,
    ) {
        let params = objective.full(&best.minimum.params);
        let log_evidence = self.log_evidence(objective, best.minimum.value, &params, stamps);
        let outcome = &mut fitted.outcome;
        outcome.value = best.minimum.value;
        outcome.gradient_norm = best.minimum.gradient_norm;
        outcome.iterations = best.minimum.iterations;
        outcome.evaluations = best.minimum.evaluations;
        outcome.log_evidence = log_evidence;
        let mode = &mut fitted.modes[0];
        mode.learned = self.in_data_units(&best.learned);
        mode.log_posterior = -best.minimum.value;
        mode.log_evidence = log_evidence;
        mode.params.clone_from(&params);
        fitted.params = params;
    }

    /// Warns of sessions whose sums did not converge, by position.
    fn not_settled(&self, sessions: &BTreeSet<usize>) -> Option<Warning> {
        let session = self.sessions[*sessions.first()?].name().to_owned();
        Some(Warning::NotSettled { session, sessions: sessions.len() })
    }
}

/// Whether a run that ended like this is at an optimum.
pub(super) fn is_converged(stop: StopReason, parts: &Parts) -> bool {
    match stop {
        StopReason::GradientTolerance | StopReason::ValueTolerance => true,
        StopReason::LineSearchFailed => parts.stamps.model.has_kinks(),
        StopReason::IterationLimit | StopReason::Cancelled => false,
    }
}

fn judge(
    problem: &Problem<'_>,
    objective: &MapObjective<'_>,
    best: &Optimum,
    values: Vec<Option<f64>>,
    mode: &Mode,
) -> (Outcome, Vec<Warning>) {
    let Problem { sessions, parts, .. } = problem;
    let Minimum { value, gradient_norm, iterations, evaluations, stop, .. } = best.minimum;
    let converged = is_converged(stop, parts);
    let order = problem.model.alignment;
    let mut found = warnings(sessions, objective.data(), parts, mode, order);
    if let Some((session, bytes)) = objective.too_large() {
        let session = sessions[session].name().to_owned();
        found.insert(0, Warning::MemoryLimit { session, bytes, limit: memory_limit() });
    }
    if !converged {
        found.insert(0, Warning::NotConverged { stop, gradient_norm });
    }
    let outcome = Outcome {
        converged,
        stop,
        iterations,
        evaluations,
        value,
        gradient_norm,
        log_evidence: mode.log_evidence,
        best_start: best.start,
        values,
    };
    (outcome, found)
}
