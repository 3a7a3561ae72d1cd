//! A fitted model meets groups of stamps that it has not seen: another clock, another person.
//!
//! What differs for them is learned from their stamps, with detector and annotator as they are. Shifts are first
//! looked for (`sync`). The learned scatter of the groups is the prior, so that a few stamps are not believed
//! too much, and each group is known as well as its stamps tell.

use super::deviations::group_information;
use super::grouped::{deviations_at, found_shifts};
use super::lbfgs::{LbfgsOptions, minimise};
use super::map::MapObjective;
use super::objective::Objective;
use super::problem::Problem;
use super::watcher::quiet;
use crate::math::factorise;
use crate::model::{Fitted, GroupPosterior, Groups, Uncertainty};
use crate::sync::{SyncOptions, SyncedClock, sync};
use crate::{Control, Error, Result, Session};

/// Step of differences in the annotator's unconstrained numbers.
const STEP: f64 = 1e-3;

/// A model that knows the groups of some sessions.
#[derive(Debug)]
pub struct Adapted {
    /// The same detector and annotator, with the deviations of the new groups.
    pub fitted: Fitted,
    /// The clocks that were looked for.
    pub clocks: Vec<SyncedClock>,
    /// What is to be added to the log evidence of all sessions together, if the new deviations are to be
    /// integrated out (Laplace's approximation).
    pub log_integral: f64,
}

impl Fitted {
    /// The same model with what differs for groups of these sessions that it has not seen. Without such groups
    /// it stays as it is.
    pub fn adapted(&self, sessions: &[Session<'_>], control: Control<'_>) -> Result<Adapted> {
        let names = self.parts.stamps.groups.unseen(sessions);
        if names.iter().all(Vec::is_empty) {
            let (fitted, clocks) = (self.clone(), Vec::new());
            return Ok(Adapted { fitted, clocks, log_integral: 0.0 });
        }
        let (mut fitted, is_new) = self.with_groups(&names)?;
        if sessions.iter().all(|session| session.stamps().is_empty()) {
            if let Some(sure) = &mut fitted.uncertainty {
                sure.groups.extend(fitted.parts.unstamped(&is_new));
            }
            return Ok(Adapted { fitted, clocks: Vec::new(), log_integral: 0.0 });
        }
        let clocks = self.clocks_of(sessions, &names, control)?;
        let shifts = found_shifts(&clocks);
        let found =
            deviations_at(&fitted.parts.stamps.groups, &self.model, &shifts, self.time_unit);
        let own = fitted.parts.deviations();
        for (k, deviation) in found.into_iter().enumerate().filter(|(k, _)| is_new[*k]) {
            fitted.params[own.start + k] = deviation;
        }
        let problem = Problem::of_fitted(&fitted, &self.model.noise, sessions, control)?;
        let hold = |(k, &value): (usize, &f64)| {
            let is_new = k >= own.start && is_new[k - own.start];
            (!is_new).then_some(value)
        };
        let held: Vec<Option<f64>> = fitted.params.iter().enumerate().map(hold).collect();
        let problem = problem.holding(held);
        let objective = problem.objective()?.settled_after(usize::MAX);
        let from = objective.free(&fitted.params);
        let found = minimise(&objective, &from, &LbfgsOptions::default(), &mut quiet(control));
        control.stop_if_requested()?;
        let found = found.ok_or(Error::NotInformative)?.params;
        let (posteriors, log_integral) = posteriors(&objective, &found, self.uncertainty());
        let params = objective.full(&found);
        for mode in &mut fitted.modes {
            (own.start..own.end)
                .filter(|k| is_new[k - own.start])
                .for_each(|k| mode.params[k] = params[k]);
        }
        fitted.params = params;
        if let Some(sure) = &mut fitted.uncertainty {
            sure.groups.extend(posteriors);
        }
        Ok(Adapted { fitted, clocks, log_integral })
    }

    /// Log evidence of a session that was not learned from: what differs for its groups, if the model has not seen
    /// them, is integrated out.
    pub fn held_out_log_evidence(&self, session: &Session<'_>) -> Result<f64> {
        if self.parts.stamps.groups.is_empty() {
            return self.log_evidence(session);
        }
        let sessions = std::slice::from_ref(session);
        let Adapted { fitted, log_integral, .. } = self.adapted(sessions, Control::default())?;
        Ok(fitted.log_evidence(session)? + log_integral)
    }

    /// The clocks of sessions with new groups, if delays or clocks differ.
    fn clocks_of(
        &self,
        sessions: &[Session<'_>],
        unseen: &[Vec<String>],
        control: Control<'_>,
    ) -> Result<Vec<SyncedClock>> {
        let Some((by, drifts)) = self.model.shifted_by() else { return Ok(Vec::new()) };
        let effects = self.parts.stamps.groups.effects();
        let is_unseen = |name: &str| {
            let own = effects.iter().zip(unseen).filter(|(effect, _)| effect.variation.by == by);
            own.into_iter().any(|(_, names)| names.iter().any(|own| own == name))
        };
        let drift = if drifts { SyncOptions::default().drift } else { 0.0 };
        let scatter = self.parts.stamps.groups.shift_scales(by, self.time_unit);
        let options =
            SyncOptions { by, drift, range: self.model.clock_range, scatter: Some(scatter) };
        let quiet = Control { watch: None, ..control };
        let mut clocks = sync(self, sessions, &options, quiet)?;
        clocks.retain(|clock| is_unseen(&clock.name));
        Ok(clocks)
    }

    /// The same with groups that deviate by nothing; and for each deviation, whether it is new.
    fn with_groups(&self, names: &[Vec<String>]) -> Result<(Fitted, Vec<bool>)> {
        let mut effects = self.parts.stamps.groups.effects().to_vec();
        for (effect, names) in effects.iter_mut().zip(names) {
            effect.names.extend(names.iter().cloned());
            effect.names.sort();
        }
        let groups = Groups::new(effects, self.parts.stamps.model.as_ref())?;
        // Where each new deviation was among the old ones.
        let mut old_places = Vec::with_capacity(groups.dim());
        for (k, effect) in groups.effects().iter().enumerate() {
            let (old, first) = (
                &self.parts.stamps.groups.effects()[k].names,
                self.parts.stamps.groups.range(k).start,
            );
            let place = |name: &String| old.binary_search(name).ok().map(|at| first + at);
            old_places.extend(effect.names.iter().map(place));
        }
        let old = self.parts.deviations();
        let moved = |params: &[f64]| -> Vec<f64> {
            let deviation = |place: &Option<usize>| place.map_or(0.0, |at| params[old.start + at]);
            let own = old_places.iter().map(deviation);
            params[..old.start].iter().copied().chain(own).collect()
        };
        let mut fitted = self.clone();
        fitted.parts = self.parts.with_groups(groups);
        fitted.params = moved(&self.params);
        fitted.modes.iter_mut().for_each(|mode| mode.params = moved(&mode.params));
        if let Some(sure) = &mut fitted.uncertainty {
            let mut new_places = vec![0; old.len()];
            for (k, place) in old_places.iter().enumerate() {
                place.iter().for_each(|&at| new_places[at] = k);
            }
            let places = sure.groups.iter_mut().flat_map(|group| &mut group.places);
            places.for_each(|place| *place = old.start + new_places[*place - old.start]);
        }
        Ok((fitted, old_places.iter().map(Option::is_none).collect()))
    }
}

/// How sure the free deviations are, and the logarithm of the integral over them beyond the evidence at their
/// estimates.
fn posteriors(
    objective: &MapObjective<'_>,
    free: &[f64],
    known: Option<&Uncertainty>,
) -> (Vec<GroupPosterior>, f64) {
    let (parts, params) = (objective.parts(), objective.full(free));
    let gradient_at = |params: &[f64]| {
        let mut gradient = vec![0.0; free.len()];
        objective.holding(|_| false, params).evaluate(free, &mut gradient);
        gradient
    };
    let here = gradient_at(&params);
    let annotator = known.map_or(&[][..], |known| &known.places);
    let annotator = annotator.iter().filter(|&&place| place >= parts.annotator().start);
    let change = |&place: &usize| -> Vec<f64> {
        let mut near = params.clone();
        near[place] += STEP;
        gradient_at(&near).iter().zip(&here).map(|(there, here)| (there - here) / STEP).collect()
    };
    let changes: Vec<Vec<f64>> = annotator.map(change).collect();
    let mut log_integral = objective.log_prior(&params);
    let mut found = Vec::new();
    for own in group_information(objective, free, &here, &changes) {
        let (mut factor, size) = (own.posterior.covariance.clone(), own.posterior.places.len());
        if factorise(&mut factor, size) {
            let log_scales = (0..size).map(|k| factor[k * (size + 1)].ln()).sum::<f64>();
            log_integral += log_scales + 0.5 * size as f64 * std::f64::consts::TAU.ln();
        }
        found.push(own.posterior);
    }
    (found, log_integral)
}
