//! What stamps say of each group's deviations.
//!
//! Groups of one effect share no stamp, so one step along all of its deviations tells the curvature of each: an
//! evaluation for every effect, however many groups there are.

use std::collections::BTreeMap;

use super::information::STEP as COMMON_STEP;
use super::map::MapObjective;
use super::objective::Objective;
use crate::math::{factorise, inverse};
use crate::model::{Factor, GroupPosterior, Varying};

/// The step of differences, in standard deviations of what varies: some digits suffice.
const STEP: f64 = 0.01;

/// Deviations that are few enough to measure each by itself.
const FEW: usize = 24;

/// What stamps say of one free deviation.
#[derive(Debug, Clone, Copy)]
pub(super) struct Told {
    /// Its place among the free parameters.
    pub(super) number: usize,
    /// Second derivative of minus the log evidence, without what scatters the deviations.
    pub(super) information: f64,
    /// Where the stamps of the group alone would have it, if they tell anything.
    pub(super) alone: Option<f64>,
}

/// What the stamps say of the deviations of each effect, given the gradient of the objective there.
pub(super) fn told(objective: &MapObjective<'_>, free: &[f64], gradient: &[f64]) -> Vec<Vec<Told>> {
    let (here, columns) =
        (of_evidence(objective, free, gradient), columns(objective, free, gradient));
    let effect = |(effect, column): (usize, &Vec<f64>)| {
        let told = |number: usize| {
            // What is negative is said of another place.
            let information = column[number].max(0.0);
            let alone = free[number] - here[number] / information;
            let alone = Some(alone).filter(|alone| alone.is_finite());
            Told { number, information, alone }
        };
        numbers(objective, effect).into_iter().map(told).collect()
    };
    columns.iter().enumerate().map(effect).collect()
}

/// The change of the evidence's gradient along all deviations of each effect at once, per unit; zeros where the
/// stamps are impossible nearby.
pub(super) fn columns(
    objective: &MapObjective<'_>,
    free: &[f64],
    gradient: &[f64],
) -> Vec<Vec<f64>> {
    let all: Vec<Vec<usize>> =
        (0..objective.scales().len()).map(|effect| numbers(objective, effect)).collect();
    columns_along(objective, free, gradient, &all, &steps(objective, free))
}

/// The same along some numbers at once, by these steps.
fn columns_along(
    objective: &MapObjective<'_>,
    free: &[f64],
    gradient: &[f64],
    numbers: &[Vec<usize>],
    steps: &[f64],
) -> Vec<Vec<f64>> {
    let here = of_evidence(objective, free, gradient);
    let column = |(numbers, &step): (&Vec<usize>, &f64)| {
        let (mut near, mut there) = (free.to_vec(), vec![0.0; free.len()]);
        numbers.iter().for_each(|&k| near[k] += step);
        if !objective.evaluate(&near, &mut there).is_finite() {
            return vec![0.0; free.len()];
        }
        let there = of_evidence(objective, &near, &there);
        there.iter().zip(&here).map(|(there, here)| (there - here) / step).collect()
    };
    numbers.iter().zip(steps).map(column).collect()
}

/// The gradient of minus the log evidence, from that of the objective.
fn of_evidence(objective: &MapObjective<'_>, free: &[f64], gradient: &[f64]) -> Vec<f64> {
    gradient.iter().zip(objective.prior_gradient(free)).map(|(own, prior)| own - prior).collect()
}

/// The curvature of the objective in each free deviation, in order.
pub(super) fn deviation_curvatures(
    objective: &MapObjective<'_>,
    free: &[f64],
    gradient: &[f64],
) -> Vec<f64> {
    if objective.scales().is_empty() {
        return Vec::new();
    }
    let effects = told(objective, free, gradient).into_iter().zip(objective.scales());
    let own = |(told, scale): (Vec<Told>, &f64)| {
        let precision = 1.0 / (scale * scale);
        told.into_iter().map(move |own| own.information + precision)
    };
    effects.flat_map(own).collect()
}

/// The free deviations of an effect, by place among the free parameters.
pub(super) fn numbers(objective: &MapObjective<'_>, effect: usize) -> Vec<usize> {
    let parts = objective.parts();
    let (first, range) = (parts.deviations().start, parts.stamps.groups.range(effect));
    let (places, own) = (objective.places(), first + range.start..first + range.end);
    (0..places.len()).filter(|&k| own.contains(&places[k])).collect()
}

/// The steps of each effect: a small part of the spread for shifts, as much at the ends of a session for a
/// drift, and a small number on a logarithmic scale.
fn steps(objective: &MapObjective<'_>, free: &[f64]) -> Vec<f64> {
    let parts = objective.parts();
    let spread = parts.stamps.model.learned(&objective.full(free)[parts.annotator()]).spread;
    let half = |times: &[f64]| 0.5 * (times[times.len() - 1] - times[0]);
    let halves = objective.kept().map(|session| half(&session.in_time.times));
    let longest = halves.fold(f64::MIN_POSITIVE, f64::max);
    let step = |what: Varying| match what {
        Varying::Drift => STEP * spread / longest,
        what if what.is_shift() => STEP * spread,
        _ => STEP,
    };
    parts.stamps.groups.effects().iter().map(|own| step(own.variation.what)).collect()
}

/// The steps by which the parameters are measured that groups deviate from. With many stamps these and the
/// deviations cancel but for a thousandth, which differences of other steps would not leave.
fn common_steps(objective: &MapObjective<'_>, free: &[f64]) -> Vec<f64> {
    let effects = objective.parts().stamps.groups.effects().iter();
    let step = |(own, step): (Varying, f64)| if own == Varying::Drift { step } else { COMMON_STEP };
    effects.map(|own| own.variation.what).zip(steps(objective, free)).map(step).collect()
}

/// What is known of one group's deviations.
pub(super) struct GroupInformation {
    pub(super) posterior: GroupPosterior,
    /// Second derivatives in each deviation and each other parameter, row by row.
    cross: Vec<f64>,
    /// How each deviation follows each other parameter, row by row.
    follows: Vec<f64>,
}

impl GroupInformation {
    /// From the factor of the deviations' information; the last `annotator` of all other parameters are the
    /// annotator's.
    fn new(places: Vec<usize>, factor: &[f64], cross: Vec<f64>, annotator: usize) -> Self {
        let deviations = places.len();
        let (covariance, size) = (inverse(factor, deviations), cross.len() / deviations);
        let follow = |at: usize| {
            let own = &covariance[at / size * deviations..][..deviations];
            -own.iter().enumerate().map(|(i, c)| c * cross[i * size + at % size]).sum::<f64>()
        };
        let follows: Vec<f64> = (0..cross.len()).map(follow).collect();
        let last = |row: &[f64]| row[size - annotator..].to_vec();
        let of_annotator = follows.chunks(size.max(1)).flat_map(last).collect();
        let posterior = GroupPosterior { places, covariance, follows: of_annotator };
        Self { posterior, cross, follows }
    }

    /// Takes off the information of all other parameters what the deviations can explain too.
    pub(super) fn profile_out(&self, evidence: &mut [f64], size: usize) {
        for (cross, follows) in self.cross.chunks(size).zip(self.follows.chunks(size)) {
            for (row, cross) in evidence.chunks_mut(size).zip(cross) {
                row.iter_mut().zip(follows).for_each(|(entry, follows)| *entry += cross * follows);
            }
        }
    }
}

/// All groups with free deviations, given the gradient of the objective and how that of each deviation changes
/// with each of the annotator's parameters. A group's deviations in effects of the same factor belong together;
/// if there are few deviations, all do, since annotators of one session share its events.
pub(super) fn group_information(
    objective: &MapObjective<'_>,
    free: &[f64],
    gradient: &[f64],
    changes: &[Vec<f64>],
) -> Vec<GroupInformation> {
    let effects = 0..objective.scales().len();
    let all: Vec<(usize, usize)> = effects
        .flat_map(|k| numbers(objective, k).into_iter().map(move |number| (k, number)))
        .collect();
    if all.is_empty() {
        return Vec::new();
    }
    let (common, detector) = (objective.common(), objective.detector_dim());
    // The second derivatives of members in each other, and in the detector's parameters.
    let informed = |members: &[(usize, usize)],
                    second: &dyn Fn(usize, usize) -> f64,
                    with_detector: &dyn Fn(usize) -> Vec<f64>| {
        let factor = factor(objective, members, second);
        let row = |(k, &(_, number)): (usize, &(usize, usize))| {
            let annotator = changes.iter().map(move |own| own[number - common]);
            with_detector(k).into_iter().chain(annotator)
        };
        let cross = members.iter().enumerate().flat_map(row).collect();
        let places = members.iter().map(|&(_, number)| objective.places()[number]).collect();
        GroupInformation::new(places, &factor, cross, changes.len())
    };
    if all.len() <= FEW {
        let numbers: Vec<Vec<usize>> = all.iter().map(|&(_, number)| vec![number]).collect();
        let steps = common_steps(objective, free);
        let steps: Vec<f64> = all.iter().map(|&(effect, _)| steps[effect]).collect();
        let columns = columns_along(objective, free, gradient, &numbers, &steps);
        let with_detector = |k: usize| columns[k][..detector].to_vec();
        return vec![informed(&all, &|i, j| columns[i][all[j].1], &with_detector)];
    }
    let together: Vec<Vec<usize>> =
        (0..objective.scales().len()).map(|effect| numbers(objective, effect)).collect();
    let steps = common_steps(objective, free);
    let columns = columns_along(objective, free, gradient, &together, &steps);
    let total = |effect: usize| -> f64 {
        numbers(objective, effect).into_iter().map(|k| columns[effect][k].max(0.0)).sum()
    };
    let totals: Vec<f64> = (0..columns.len()).map(total).collect();
    let mut groups: BTreeMap<(Factor, &str), Vec<(usize, usize)>> = BTreeMap::new();
    let (parts, first) = (objective.parts(), objective.parts().deviations().start);
    for (k, number) in all {
        let effect = &parts.stamps.groups.effects()[k];
        let at = objective.places()[number] - first - parts.stamps.groups.range(k).start;
        let key = (effect.variation.by, effect.names[at].as_str());
        groups.entry(key).or_default().push((k, number));
    }
    let group = |own: &Vec<(usize, usize)>| {
        // Known of all groups together, of which each has a part that goes with its information.
        let with_detector = |k: usize| {
            let (effect, number) = own[k];
            let share = columns[effect][number].max(0.0) / totals[effect].max(f64::MIN_POSITIVE);
            columns[effect][..detector].iter().map(|entry| share * entry).collect()
        };
        informed(own, &|i, j| columns[own[i].0][own[j].1], &with_detector)
    };
    groups.values().map(group).collect()
}

/// The Cholesky factor of the information of some deviations, each with its effect, given second derivatives of
/// minus the log evidence.
fn factor(
    objective: &MapObjective<'_>,
    members: &[(usize, usize)],
    second: &dyn Fn(usize, usize) -> f64,
) -> Vec<f64> {
    let size = members.len();
    let precision = |k: usize| objective.scales()[members[k].0].powi(-2);
    let entry = |at: usize| match (at / size, at % size) {
        (i, j) if i == j => second(i, i).max(0.0) + precision(i),
        (i, j) => 0.5 * (second(i, j) + second(j, i)),
    };
    let mut factor: Vec<f64> = (0..size * size).map(entry).collect();
    if !factorise(&mut factor, size) {
        // What is measured of all together cannot be: each by itself.
        let alone = |at: usize| if at / size == at % size { entry(at).sqrt() } else { 0.0 };
        factor = (0..size * size).map(alone).collect();
    }
    factor
}
