//! A spread that comes back.
//!
//! Where stamps crowd, the learned spread is too short, even if the model is right: belief propagation prefers
//! near owners, the background takes the furthest stamps, and a detector that is unsure lends its events to
//! near instances. How short is measured. Stamps are drawn from the fit, so that their delays are known, and
//! learned from as the real ones were; the spread is then stretched by what is missing there, and all other
//! parameters are learned anew with the spread held. It costs a short fit for each draw. The same is done where
//! each group of stamps has a shift of its own, which takes a part of their scatter.

use super::data::SessionData;
use super::fit::FitOptions;
use super::lbfgs::{Minimum, minimise};
use super::map::MapObjective;
use super::objective::Objective;
use super::passes::{AllSessions, Passes};
use super::problem::Problem;
use super::search::Optimum;
use super::start::NEAR;
use super::watcher::quiet;
use crate::math::{Random, lower_median, sigmoid};
use crate::model::{Clock, Stream};
use crate::outcome::StopReason;
use crate::params::Role;

/// Spreads that are shorter than this share of the usual gap between stamps come back as they are, to a few
/// per cent.
const CROWDED: f64 = 0.25;
/// Stamps that are drawn, about: priors, which also shorten a spread, weigh the more the fewer there are.
const ENOUGH: usize = 1000;
/// Delays that tell what the noise scatters on average, to a per cent.
const DELAYS: usize = 10_000;
/// Logarithm of the furthest that a spread is stretched or shrunk: beyond, draws and data have little in common.
const FURTHEST: f64 = 0.5;

/// The optimum with its spread stretched; none if it is right as it is, or cannot be told.
pub(super) fn unbiased(
    problem: &Problem<'_>,
    objective: &MapObjective<'_>,
    best: &Optimum,
    options: &FitOptions,
    passes: Option<&Passes<'_>>,
) -> Option<Optimum> {
    let layout = &problem.parts().layout;
    let is_spread = |at: usize| layout.at(at).is_some_and(|own| own.spec.role == Role::Spread);
    let is_learned = objective.places().iter().any(|&at| is_spread(at));
    let is_crowded = problem.is_free() && best.learned.spread >= CROWDED * problem.gap();
    // A shift of each group takes a part of the scatter of its stamps.
    let mut effects = problem.parts().stamps.groups.effects().iter();
    let is_shifted = effects.any(|own| own.variation.what.moves_stamps());
    let are_plain = problem.parts().stamps.are_labels_plain();
    if !is_learned || !are_plain || !(is_crowded || is_shifted) {
        return None;
    }
    let found: Vec<f64> = (0..options.simulations as u64)
        .filter_map(|k| missing(problem, objective, best, options.seed.wrapping_add(k)))
        .filter(|missing| missing.is_finite())
        .collect();
    let missing = found.iter().sum::<f64>() / found.len() as f64;
    let is_told = !found.is_empty() && missing.abs() < FURTHEST;
    if !is_told || objective.control().is_stop_requested() {
        return None;
    }
    let mut stretched = objective.full(&best.minimum.params);
    let spreads = objective.places().iter().filter(|&&at| is_spread(at));
    spreads.for_each(|&at| stretched[at] -= missing);
    let held = objective.holding(is_spread, &stretched).settled_after(best.minimum.iterations);
    let mut watch = quiet(objective.control());
    let all = AllSessions { local: &held, passes };
    let found = minimise(&all, &held.free(&stretched), &options.optimiser, &mut watch);
    let found = found.filter(|found| found.stop != StopReason::Cancelled)?;
    let params = objective.free(&held.full(&found.params));
    // The value of all parameters, to compare with other optima.
    let value =
        AllSessions { local: objective, passes }.evaluate(&params, &mut vec![0.0; params.len()]);
    let minimum = Minimum {
        params,
        value,
        iterations: best.minimum.iterations + found.iterations,
        evaluations: best.minimum.evaluations + found.evaluations,
        ..found
    };
    let learned = problem.learned(objective, &minimum.params);
    value.is_finite().then_some(Optimum { minimum, start: best.start, learned })
}

/// The logarithm of the spread that is learned from drawn stamps, over the one that they have; none if
/// another explanation was found.
fn missing(
    problem: &Problem<'_>,
    objective: &MapObjective<'_>,
    best: &Optimum,
    seed: u64,
) -> Option<f64> {
    let parts = problem.parts();
    let params = objective.full(&best.minimum.params);
    let (theta, annotator) = (&params[parts.detector()], &params[parts.annotator()]);
    let deviations = &params[parts.deviations()];
    let is_out = objective.beyond(ENOUGH);
    let mut random = Random::new(seed);
    let mut delays = Vec::new();
    let mut draw = |session: &SessionData<'_>| {
        let times = &session.in_time.times;
        let mut log_odds = vec![0.0; times.len()];
        parts.classifier.log_odds(theta, session.features.view(), &mut log_odds);
        session.in_time.pin_labels(0, &mut log_odds);
        let labels: Vec<bool> =
            log_odds.iter().map(|&log_odds| random.uniform() < sigmoid(log_odds)).collect();
        let stream = |stream: &Stream| {
            let (own, drift) = parts.stamps.groups.applied(annotator, deviations, &stream.members);
            let times = Clock { drift, middle: session.in_time.middle }.times_of(times);
            let drawn = parts.stamps.model.draw(&own, &times, &labels, &mut random);
            let shift = parts.stamps.model.learned(&own).delay - best.learned.delay;
            delays.extend(drawn.delays.iter().map(|delay| delay - shift));
            drawn.times
        };
        session.in_time.streams.iter().map(stream).collect()
    };
    let kept = objective.data().iter().zip(is_out).filter(|(_, is_out)| !is_out);
    let data = kept.map(|(session, _)| session.with_stamps(draw(session))).collect();
    // One instance and one stamp of it after another, so many times.
    let instants = vec![0.0; DELAYS];
    let many = parts.stamps.model.draw(annotator, &instants, &[true; DELAYS], &mut random).delays;
    // Scatter and not variance, which heavy tails do not have.
    let scatter_of_these = (scatter(delays)? / scatter(many)?).ln();
    // The optimum of other stamps is near: what is known of the curvature holds from the first step on.
    let again = objective.with_data(data).settled_after(usize::MAX);
    let mut watch = quiet(objective.control());
    let found = minimise(&again, &best.minimum.params, &NEAR, &mut watch)?;
    let learned = problem.learned(objective, &found.params);
    let is_same = (learned.delay - best.learned.delay).abs() < best.learned.spread;
    is_same.then(|| (learned.spread / best.learned.spread).ln() - scatter_of_these)
}

/// Mean distance from the median.
fn scatter(values: Vec<f64>) -> Option<f64> {
    let median = lower_median(values.clone())?;
    let scatter = values.iter().map(|v| (v - median).abs()).sum::<f64>() / values.len() as f64;
    (scatter > 0.0).then_some(scatter)
}
