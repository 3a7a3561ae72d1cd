//! The distinct optima of a fit, and the choice among them.
//!
//! With features that see their neighbourhood, a detector that fires k instances early and a delay that is k
//! longer explain stamps equally well, and the evidence of the training data may prefer the wrong one. So
//! every optimum is kept. The rule: among the optima whose delay is near the stamps' own word (zero, within
//! an instance or half the spread; or inside the stated range), take the one with the best posterior, or
//! the best of all if none is near. Leave it only for one whose evidence of sessions that were left out is
//! better by two standard errors, or whose posterior is better by half a unit for every stamp.

use super::lbfgs::{LbfgsOptions, minimise};
use super::map::MapObjective;
use super::problem::Problem;
use super::search::Optimum;
use super::watcher::quiet;
use crate::math::{correlation, log_sum};
use crate::model::{Mode, Parts};
use crate::outcome::{HeldOut, Warning};

/// Most folds over sessions.
const FOLDS: usize = 5;
/// Iterations in a fold: it begins at the optimum of all sessions.
const FOLD_ITERATIONS: usize = 40;
/// Optima that are worse by more than this, per stamp and in all, are no rivals.
const RIVAL: (f64, f64) = (0.1, 10.0);
/// Log posterior per stamp by which a rival must be better without that.
const MUCH: f64 = 0.5;
/// Standard errors by which a rival must be better on sessions that were left out.
const CLEARLY: f64 = 2.0;
/// Instances that detectors are compared over, and by how many they may be shifted, at most.
const COMPARED: usize = 20_000;
const FURTHEST: usize = 60;

/// Puts the chosen optimum first. Returns what is told of each, in the same order.
pub(super) fn choose(
    problem: &Problem<'_>,
    objective: &MapObjective<'_>,
    optima: &mut [Optimum],
) -> Vec<Mode> {
    optima.sort_by(|a, b| a.minimum.value.total_cmp(&b.minimum.value));
    let is_near = |optimum: &Optimum| problem.is_near(&optimum.learned);
    let first = optima.iter().position(is_near).unwrap_or(0);
    optima[..=first].rotate_right(1);
    let worst = optima[0].minimum.value + RIVAL.0 * objective.stamps() as f64 + RIVAL.1;
    let rivals = optima.iter().filter(|optimum| optimum.minimum.value < worst).count();
    let evidence: Vec<Option<Vec<f64>>> = if rivals > 1 {
        let is_rival = |optimum: &&Optimum| optimum.minimum.value < worst;
        optima
            .iter()
            .map(|optimum| {
                Some(optimum).filter(is_rival).and_then(|o| left_out(objective, &o.minimum.params))
            })
            .collect()
    } else {
        vec![None; optima.len()]
    };
    let is_better = |k: usize| -> bool {
        let gain = optima[0].minimum.value - optima[k].minimum.value;
        let held_out = evidence[k].as_ref().zip(evidence[0].as_ref());
        let held_out = held_out.map(|(own, first)| HeldOut::difference(own, first));
        gain > MUCH * objective.stamps() as f64
            || held_out.is_some_and(|d| d.mean > CLEARLY * d.standard_error)
    };
    // The others are ordered by their posterior.
    let best = (1..optima.len()).find(|&k| is_better(k)).unwrap_or(0);
    let mut modes: Vec<Mode> = optima
        .iter()
        .zip(&evidence)
        .enumerate()
        .map(|(k, (optimum, own))| {
            let params = objective.full(&optimum.minimum.params);
            let held_out = own.as_ref().zip(evidence[best].as_ref());
            Mode {
                learned: problem.in_data_units(&optimum.learned),
                log_posterior: -optimum.minimum.value,
                log_evidence: problem.log_evidence(
                    objective,
                    optimum.minimum.value,
                    &params,
                    objective.stamps(),
                ),
                held_out: held_out.map(|(own, best)| HeldOut::difference(own, best)),
                shift: if k == best {
                    0
                } else {
                    shift(objective, problem.parts(), &params, &optima[best].minimum.params)
                },
                params,
            }
        })
        .collect();
    optima[..=best].rotate_right(1);
    modes[..=best].rotate_right(1);
    modes
}

/// Log evidence of each session when it was left out of learning, which begins at the optimum of all; nothing
/// if there is one session.
pub(super) fn left_out(objective: &MapObjective<'_>, optimum: &[f64]) -> Option<Vec<f64>> {
    let groups = objective.data().len().min(FOLDS);
    if groups < 2 {
        return None;
    }
    let mut evidence = vec![0.0; objective.data().len()];
    for fold in 0..groups {
        let is_out = |session: usize| session % groups == fold;
        let rest = objective.without(is_out);
        let options = LbfgsOptions { max_iterations: FOLD_ITERATIONS, ..LbfgsOptions::default() };
        let mut watch = quiet(objective.control());
        let found = minimise(&rest, optimum, &options, &mut watch)?;
        let params = objective.full(&found.params);
        for session in (0..evidence.len()).filter(|&session| is_out(session)) {
            evidence[session] = objective.session_evidence(session, &params)?;
        }
    }
    Some(evidence)
}

/// By how many instances the first detector fires later than the second, on the first sessions.
fn shift(objective: &MapObjective<'_>, parts: &Parts, a: &[f64], b: &[f64]) -> i64 {
    let b = objective.full(b);
    let mut best = (f64::NEG_INFINITY, 0);
    let rows: Vec<[Vec<f64>; 2]> = objective
        .data()
        .iter()
        .scan(0, |seen, session| {
            *seen += session.in_time.times.len();
            (*seen < COMPARED + session.in_time.times.len()).then_some(session)
        })
        .map(|session| {
            [a, &b].map(|params| {
                let mut log_odds = vec![0.0; session.in_time.times.len() * parts.classes()];
                let theta = &params[parts.detector()];
                parts.classifier.log_odds(theta, session.features.view(), &mut log_odds);
                match parts.classes() {
                    1 => log_odds,
                    classes => log_odds.chunks_exact(classes).map(log_sum).collect(),
                }
            })
        })
        .collect();
    let furthest =
        FURTHEST.min(rows.iter().map(|[own, _]| own.len()).max().unwrap_or(0) / 4) as i64;
    for lag in (0..=furthest).flat_map(|lag| [lag, -lag]) {
        let pairs = rows.iter().flat_map(|[own, other]| {
            let (skip, ahead) = (lag.max(0) as usize, (-lag).max(0) as usize);
            own.iter().skip(skip).copied().zip(other.iter().skip(ahead).copied())
        });
        let agreement = correlation(pairs);
        if agreement > best.0 + 1e-9 {
            best = (agreement, lag);
        }
    }
    best.1
}

/// Warns if another optimum explains the stamps nearly as well.
pub(super) fn warning(modes: &[Mode]) -> Option<Warning> {
    let chosen = modes.first()?;
    let close = |mode: &&Mode| match mode.held_out {
        Some(HeldOut { mean, standard_error }) => mean > -CLEARLY * standard_error,
        None => mode.log_posterior > chosen.log_posterior - 3.0,
    };
    let rival = modes[1..].iter().find(close)?;
    Some(Warning::Modes {
        delay: chosen.learned.delay,
        other_delay: rival.learned.delay,
        spread: chosen.learned.spread,
        other_spread: rival.learned.spread,
    })
}
