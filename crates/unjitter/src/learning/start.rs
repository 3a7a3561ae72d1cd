//! Starts of learning.
//!
//! The first start assigns every stamp to its nearest instance. The others assume a delay and a spread,
//! compute the posterior of every instance from the stamps alone (inference with a constant detector),
//! and fit the detector to it. The assumed values are seeded: wide first, then random.

use std::ops::ControlFlow;

use super::data::SessionData;
use super::lbfgs::{LbfgsOptions, minimise};
use super::map::MapObjective;
use super::supervised::{SupervisedObjective, Target};
use crate::Features;
use crate::inference::Impossible;
use crate::math::{Random, logit, lower_median};
use crate::model::{GUESS, Learned, Parts};
use crate::prior::Priors;
use crate::session::nearest;

/// Iterations that fit the detector to the assumed labels; the real fit continues from there.
const ITERATIONS: usize = 30;

/// All parameters of start number `start`.
pub(super) fn start(
    objective: &MapObjective<'_>,
    parts: &Parts,
    priors: &Priors,
    start: usize,
    seed: u64,
) -> Vec<f64> {
    let mut random = Random::new(seed.wrapping_add(start as u64));
    let (delay, spread) = match start {
        0 => (lower_median(naive_delays(objective.data())).unwrap_or(0.0), 1.0),
        1 => (0.0, 3.0),
        // Two units about zero, spreads from half a unit to eight, on a log scale.
        _ => (2.0 * random.normal(), 0.5 * 16f64.powf(random.uniform())),
    };
    let mut params = vec![0.0; parts.layout.dim()];
    // As many presses for nothing as the prior expects.
    let background_rate =
        priors.background.map_or(GUESS.background_rate, |prior| (prior.shape - 1.0) / prior.rate);
    let supposed = Learned { delay, spread, background_rate, ..GUESS };
    params[parts.annotator()].copy_from_slice(&parts.stamp_model.start(&supposed));
    let params = objective.full(&objective.free(&params));
    let targets: Vec<Vec<Target>> = objective
        .data()
        .iter()
        .map(|session| match start {
            _ if objective.control().is_stop_requested() => naive_targets(session),
            0 => naive_targets(session),
            _ => supposed_targets(session, parts, &params).unwrap_or_else(|impossible| {
                objective.note_too_large(Some((session.index, impossible)));
                naive_targets(session)
            }),
        })
        .collect();
    let mut params = params;
    let from = parts.classifier.start(seed.wrapping_add(start as u64));
    params[parts.detector()].copy_from_slice(&fit_to(objective, parts, priors, &targets, from));
    objective.full(&objective.free(&params))
}

/// Delays of stamps from their nearest instances.
fn naive_delays(data: &[SessionData<'_>]) -> Vec<f64> {
    let delays = |session: &SessionData<'_>| -> Vec<f64> {
        session
            .in_time
            .stamps
            .iter()
            .map(|z| z.time - session.in_time.times[nearest(&session.in_time.times, z.time)])
            .collect()
    };
    data.iter().flat_map(delays).collect()
}

/// Assigns each stamp to its nearest instance, all else negative; known labels stay.
fn naive_targets(session: &SessionData<'_>) -> Vec<Target> {
    let mut targets = vec![Target::from(false); session.in_time.times.len()];
    for z in &session.in_time.stamps {
        targets[nearest(&session.in_time.times, z.time)] = Target::from(true);
    }
    for (target, label) in targets.iter_mut().zip(&session.in_time.labels) {
        if let Some(label) = label {
            *target = Target::from(*label);
        }
    }
    targets
}

/// p(y | stamps) under the given counts and noise and a detector that only knows how rare stamps are;
/// fails if the stamps are impossible under these.
fn supposed_targets(
    session: &SessionData<'_>,
    parts: &Parts,
    params: &[f64],
) -> Result<Vec<Target>, Impossible> {
    let (instances, stamps) =
        (session.in_time.times.len() as f64, session.in_time.stamps.len() as f64);
    // At least half a stamp, at most half the instances: the log-odds stay finite.
    let rarity = (stamps.max(0.5) / instances).min(0.5);
    let mut log_odds = vec![logit(rarity); session.in_time.times.len()];
    session.in_time.pin_labels(0, &mut log_odds);
    let bound = parts.bind(params, session.in_time.stamps.len());
    let marginals = bound.posterior(session.in_time.timeline(), &log_odds)?;
    let target = |i| Target { positive: marginals.counts.positive(i).min(1.0), weight: 1.0 };
    Ok((0..session.in_time.times.len()).map(target).collect())
}

/// The classifier's parameters after a short fit to targets.
fn fit_to(
    objective: &MapObjective<'_>,
    parts: &Parts,
    priors: &Priors,
    targets: &[Vec<Target>],
    from: Vec<f64>,
) -> Vec<f64> {
    let rows = |(session, targets)| {
        let (session, targets): (&SessionData<'_>, &Vec<Target>) = (session, targets);
        (Features::from(session.features.view()), targets.as_slice())
    };
    let data = objective.data().iter().zip(targets).map(rows).collect();
    let supervised =
        SupervisedObjective::new(parts.classifier.as_ref(), priors, data, objective.control());
    let options = LbfgsOptions { max_iterations: ITERATIONS, ..LbfgsOptions::default() };
    let minimum = minimise(&supervised, &from, &options, &mut |_| ControlFlow::Continue(()));
    minimum.map_or(from, |minimum| minimum.params)
}
