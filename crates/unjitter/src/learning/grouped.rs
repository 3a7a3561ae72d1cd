//! Learning what differs between groups of stamps.
//!
//! First all groups are taken as one. If delays or clocks may differ, each group's shift is then looked for under
//! the detector found so (`sync`), its stamps are moved back, and everything is learned afresh, until shifts stay
//! where they are: a detector that learned from stamps at the wrong places does not recover by small steps.
//! Last, deviations are learned together with all else. How wide they scatter is estimated from what the stamps
//! of each group say by themselves (restricted maximum likelihood of a random effect), in a few rounds.

use std::collections::BTreeMap;

use super::deviations::{Told, numbers, told};
use super::fit::FitOptions;
use super::lbfgs::minimise;
use super::map::MapObjective;
use super::objective::Objective;
use super::problem::Problem;
use super::search::Optimum;
use super::start::NEAR;
use super::watcher::quiet;
use crate::model::{Factor, Fitted, Groups, Model, Variation, Varying};
use crate::sync::{self, SyncOptions, SyncedClock, Verdict, sync};
use crate::{Control, Result, Session};

/// Times that clocks are looked for, at most.
const SEARCHES: usize = 4;
/// Spreads by which a shift may move from one search to the next once it is found, for one group in ten.
const SETTLED: f64 = 0.3;
/// Rounds of deviations and of how wide they scatter.
const ROUNDS: usize = 6;
/// Logarithm by which the latter may still change.
const STEADY: f64 = 0.05;
/// The least that deviations scatter, over the first guess: groups are then the same.
const LEAST: f64 = 1e-3;

/// Shifts of groups, by what shares them: offset and drift of each, in the unit of the data.
pub(super) type Shifts = BTreeMap<String, (f64, f64)>;

impl Model {
    /// The factor by which stamps may be moved as a whole, and whether clocks may drift.
    pub(super) fn shifted_by(&self) -> Option<(Factor, bool)> {
        // Classes share a recording's clock: their delays differ by little, and are learned without a search.
        let moves = |own: &&Variation| own.by != Factor::Class;
        let by = |what: Varying| self.varies.iter().filter(moves).find(|own| own.what == what);
        // Clocks can be off by more than people are late; their delays are learned from there.
        let by = by(Varying::Offset).or(by(Varying::Delay))?.by;
        let drifts = |own: &Variation| own.what == Varying::Drift && own.by == by;
        Some((by, self.varies.iter().any(drifts)))
    }
}

/// About where stamps belong that were moved back by the shifts of their groups, in the unit of the data.
#[derive(Debug, Clone, Copy)]
pub(super) struct KnownShift {
    /// Of all together.
    pub(super) delay: f64,
    /// Of single stamps.
    pub(super) spread: f64,
    /// How far the mean of all shifts may be from zero by chance.
    pub(super) doubt: f64,
}

impl KnownShift {
    /// The same in another unit, given in the present one.
    pub(super) fn in_units_of(self, unit: f64) -> Self {
        let Self { delay, spread, doubt } = self;
        Self { delay: delay / unit, spread: spread / unit, doubt: doubt / unit }
    }
}

/// Looks for the shifts of all groups, and learns afresh from stamps that were moved back. Returns the last fit
/// and the shifts of the stamps that it saw.
pub(super) fn search_shifts(
    model: &Model,
    sessions: &[Session<'_>],
    control: Control<'_>,
    learn: impl Fn(&[Session<'_>], Option<KnownShift>) -> Result<Fitted>,
) -> Result<(Fitted, Shifts)> {
    let (first, mut shifts) = (learn(sessions, None)?, Shifts::new());
    let Some((by, drifts)) = model.shifted_by() else { return Ok((first, shifts)) };
    let drift = if drifts { SyncOptions::default().drift } else { 0.0 };
    let options = SyncOptions { by, drift, range: model.clock_range, scatter: None };
    let mut fitted = first;
    for _ in 0..SEARCHES {
        let quiet = Control { watch: None, ..control };
        let learned = fitted.learned();
        let clocks = sync(&fitted, sessions, &options, quiet)?;
        let (found, mean, doubt) = centred(&clocks);
        let is_settled = are_close(&shifts, &found, SETTLED * learned.spread);
        shifts = found;
        let moved = moved_back(sessions, by, &shifts)?;
        let known = KnownShift { delay: learned.delay + mean, spread: learned.spread, doubt };
        fitted = learn(&moved, Some(known))?;
        fitted.warnings.extend(sync::warning(&clocks));
        if is_settled || fitted.outcome.stop == crate::outcome::StopReason::Cancelled {
            break;
        }
    }
    Ok((fitted, shifts))
}

/// Shifts of the clocks that were found.
pub(super) fn found_shifts(clocks: &[SyncedClock]) -> Shifts {
    let found = clocks.iter().filter(|own| own.verdict == Verdict::Found);
    found.map(|own| (own.name.clone(), (own.offset, own.drift))).collect()
}

/// Shifts about their mean, which the delay of all takes; none of a clock that was not found. Also the mean, and
/// twice its standard error.
fn centred(clocks: &[SyncedClock]) -> (Shifts, f64, f64) {
    let found = || clocks.iter().filter(|own| own.verdict == Verdict::Found);
    let stamps: usize = found().map(|own| own.stamps).sum();
    let weighted: f64 = found().map(|own| own.stamps as f64 * own.offset).sum();
    let mean = weighted / stamps.max(1) as f64;
    let shift = |own: &SyncedClock| match own.verdict {
        Verdict::Found => (own.name.clone(), (own.offset - mean, own.drift)),
        _ => (own.name.clone(), (0.0, 0.0)),
    };
    let shifts: Shifts = clocks.iter().map(shift).collect();
    let squares: f64 = shifts.values().map(|own| own.0 * own.0).sum();
    let doubt = 2.0 * squares.sqrt() / (shifts.len().max(1) as f64);
    (shifts, mean, doubt)
}

/// Whether nine in ten shifts are the same.
fn are_close(before: &Shifts, now: &Shifts, tolerance: f64) -> bool {
    let moved = |(name, shift): (&String, &(f64, f64))| {
        before.get(name).is_none_or(|old| (old.0 - shift.0).abs() > tolerance)
    };
    now.iter().filter(|own| moved(*own)).count() * 10 <= now.len()
}

/// Sessions with their stamps where they would be by the clock of the recording.
fn moved_back<'a>(
    sessions: &'a [Session<'_>],
    by: Factor,
    shifts: &Shifts,
) -> Result<Vec<Session<'a>>> {
    let moved = |session: &'a Session<'_>| {
        let stamps = sync::moved_by(session, by, |group| shifts.get(group).copied());
        session.clone().with_features(session.features())?.with_moved_stamps(&stamps)
    };
    sessions.iter().map(moved).collect()
}

/// Deviations of groups at these shifts, in units of the model.
pub(super) fn deviations_at(
    groups: &Groups,
    model: &Model,
    shifts: &Shifts,
    time_unit: f64,
) -> Vec<f64> {
    let mut deviations = vec![0.0; groups.dim()];
    let Some((by, _)) = model.shifted_by() else { return deviations };
    for (k, effect) in groups.effects().iter().enumerate().filter(|(_, own)| own.variation.by == by)
    {
        for (at, name) in groups.range(k).zip(&effect.names) {
            let (offset, drift) = shifts.get(name).copied().unwrap_or_default();
            deviations[at] = match effect.variation.what {
                Varying::Drift => drift,
                what if what.is_shift() => offset / time_unit,
                _ => 0.0,
            };
        }
    }
    deviations
}

/// Learns deviations with all else, from a place on, and how wide they scatter.
pub(super) fn learn_deviations<'a>(
    problem: &Problem<'_>,
    objective: &MapObjective<'a>,
    from: &[f64],
    start: usize,
    options: &FitOptions,
) -> Option<(Optimum, Vec<f64>)> {
    let first = objective.scales().to_vec();
    let mut scales = wide_enough(objective, from, &first);
    let (mut place, mut iterations, mut evaluations) = (from.to_vec(), 0, 0);
    let mut round = 0;
    loop {
        let own = objective.with_scales(scales.clone()).settled_after(usize::MAX);
        // Until it is known how wide deviations scatter, they need not be known well.
        let is_last = round >= ROUNDS || objective.control().is_stop_requested();
        let how = if is_last { &options.optimiser } else { &NEAR };
        let mut minimum = minimise(&own, &place, how, &mut quiet(own.control()))?;
        iterations += minimum.iterations;
        evaluations += minimum.evaluations;
        if is_last {
            (minimum.iterations, minimum.evaluations) = (iterations, evaluations);
            let learned = problem.learned(objective, &minimum.params);
            return Some((Optimum { minimum, start, learned }, scales));
        }
        place = minimum.params;
        let next = scatter(&own, &mut place, &first);
        let change = |(old, new): (&f64, &f64)| (new / old).ln().abs();
        let is_steady = scales.iter().zip(&next).map(change).fold(0.0, f64::max) < STEADY;
        scales = next;
        round = if is_steady { ROUNDS } else { round + 1 };
    }
}

/// Scales that do not pull deviations back from where a search has put them.
fn wide_enough(objective: &MapObjective<'_>, free: &[f64], first: &[f64]) -> Vec<f64> {
    let wide = |(effect, first): (usize, &f64)| {
        let numbers = numbers(objective, effect);
        let squares: f64 = numbers.iter().map(|&k| free[k] * free[k]).sum();
        first.max((squares / numbers.len().max(1) as f64).sqrt())
    };
    first.iter().enumerate().map(wide).collect()
}

/// How wide the deviations of each effect scatter, given the optimum with some scales; moves deviations to where
/// they are about then.
fn scatter(objective: &MapObjective<'_>, free: &mut [f64], first: &[f64]) -> Vec<f64> {
    let mut gradient = vec![0.0; free.len()];
    objective.evaluate(free, &mut gradient);
    let mut scales = Vec::new();
    for (told, first) in told(objective, free, &gradient).iter().zip(first) {
        let known = |own: &Told| own.alone.map(|alone| (alone, 1.0 / own.information));
        let known: Vec<(f64, f64)> = told.iter().filter_map(known).collect();
        let scale = random_effect(&known).clamp(LEAST * first, 1e3 * first);
        for own in told {
            let share = own.information / (own.information + 1.0 / (scale * scale));
            free[own.number] = own.alone.map_or(0.0, |alone| share * alone);
        }
        scales.push(scale);
    }
    scales
}

/// The standard deviation of a random effect, given estimates for groups with their variances: the maximum of the
/// restricted likelihood. One group does not differ from others, so that it is nothing.
fn random_effect(groups: &[(f64, f64)]) -> f64 {
    if groups.len() < 2 {
        return 0.0;
    }
    let typical = groups.iter().map(|own| own.1).sum::<f64>() / groups.len() as f64;
    let largest = groups.iter().map(|own| own.0 * own.0).fold(typical, f64::max).sqrt();
    let smallest = 1e-3 * typical.sqrt().min(largest);
    let steps = 200;
    let at = |k: usize| smallest * (4.0 * largest / smallest).powf(k as f64 / f64::from(steps));
    let likelihood = |scale: &f64| restricted_likelihood(groups, *scale);
    let best = (0..=steps as usize).map(at).max_by(|a, b| likelihood(a).total_cmp(&likelihood(b)));
    best.unwrap_or(0.0)
}

/// Log restricted likelihood of a random effect with this standard deviation, about a common mean.
fn restricted_likelihood(groups: &[(f64, f64)], scale: f64) -> f64 {
    let weights: Vec<f64> = groups.iter().map(|own| 1.0 / (scale * scale + own.1)).collect();
    let total: f64 = weights.iter().sum();
    let weighted = groups.iter().zip(&weights).map(|(own, weight)| own.0 * weight);
    let mean = weighted.sum::<f64>() / total;
    let each = groups
        .iter()
        .zip(&weights)
        .map(|(own, weight)| 0.5 * weight.ln() - 0.5 * weight * (own.0 - mean) * (own.0 - mean));
    each.sum::<f64>() - 0.5 * total.ln()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Random;

    #[test]
    fn a_random_effect_is_as_wide_as_it_was_drawn() {
        let mut random = Random::new(5);
        for truth in [0.0, 0.5, 3.0] {
            let group = |_| {
                let variance = 0.2 + random.uniform();
                (10.0 + truth * random.normal() + variance.sqrt() * random.normal(), variance)
            };
            let groups: Vec<(f64, f64)> = (0..400).map(group).collect();
            let found = random_effect(&groups);
            // 400 groups whose own errors have a variance of 0.7: a standard deviation is known to
            // (truth² + 0.7) / truth / √800, and none is distinguished from some 0.3.
            let allowed =
                if truth > 0.0 { 3.0 * (truth * truth + 0.7) / truth / 28.0 } else { 0.4 };
            assert!((found - truth).abs() < allowed, "{found} where {truth} was drawn");
        }
        // Two that are far apart: (τ² + v) is half their squared distance.
        let found = random_effect(&[(1.0, 0.01), (6.0, 0.01)]);
        assert!((found - 12.49_f64.sqrt()).abs() < 0.1, "{found}"); // steps of 3 %
        assert_eq!(random_effect(&[(1.0, 1.0)]), 0.0);
    }
}
