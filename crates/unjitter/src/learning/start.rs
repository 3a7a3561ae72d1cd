//! Starts of learning.
//!
//! The first start assigns every stamp to its nearest instance. The others assume a delay and a spread: wide
//! about zero, at the peaks of the scan, at random. The second start fits the detector to what the stamps
//! alone say under these; the others first fit the stamps as a superposition, whose likelihood is smooth.

use super::apart::Apart;
use super::data::SessionData;
use super::lbfgs::{LbfgsOptions, minimise};
use super::map::MapObjective;
use super::supervised::{SupervisedObjective, Target};
use super::watcher::quiet;
use crate::Features;
use crate::inference::Impossible;
use crate::labels::Variable;
use crate::math::{Random, logit, lower_median};
use crate::model::classifier::Classifier;
use crate::model::{GUESS, InTime, Learned, Parts};
use crate::params::Role;
use crate::prior::{FALSE_SHARE, Gamma, Priors};
use crate::session::nearest;

/// Iterations that fit the detector to the nearest instances; the real fit continues from there.
const ITERATIONS: usize = 30;
/// Iterations that fit the superposition.
const SUPERPOSED_ITERATIONS: usize = 40;

/// When a run that only prepares another ends: ten iterations lower the value by less than a ten thousandth.
pub(super) const NEAR: LbfgsOptions = LbfgsOptions {
    memory: 10,
    max_iterations: 60,
    gradient_tolerance: 1e-3,
    value_tolerance: 1e-4,
};

/// A start, in units of time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Start {
    /// Stamps belong to their nearest instances; the number is a seed.
    Naive { seed: u64 },
    /// Instances are positive as likely as stamps alone say, under this delay and spread, and with runs of this
    /// mean length if labels form a chain; the number is a seed.
    Posterior { delay: f64, spread: f64, run: Option<f64>, seed: u64 },
    /// Detectors of all classes as each has its own by itself, and the annotator as this class has it.
    Apart { like: usize },
    /// A superposition, from this delay and spread on; the number is a seed.
    Superposed { delay: f64, spread: f64, seed: u64 },
}

/// The first so many starts besides the naive one: wide, wider, at the peaks of the scan (lag and scatter),
/// and if there is room for more than these, at random. `gap` is usual between stamps, and `mean_gap` their
/// mean, which is much longer where stamps come in bouts.
pub(super) fn starts(
    restarts: usize,
    seed: u64,
    [gap, mean_gap]: [f64; 2],
    peaks: &[(f64, f64)],
) -> Vec<Start> {
    let mut starts = vec![Start::Naive { seed }];
    let wide = (gap / 3.0).max(3.0);
    starts.push(Start::Posterior { delay: 0.0, spread: wide, run: None, seed });
    let places = [(0.0, wide), (0.0, (mean_gap / 2.0).max(2.0 * wide))];
    let places = places.into_iter().chain(peaks.iter().copied());
    starts.extend(places.map(|(delay, spread)| Start::Superposed { delay, spread, seed }));
    starts.truncate(BUILT_IN.min(restarts.saturating_add(1)));
    for k in BUILT_IN..=restarts {
        let seed = seed.wrapping_add(k as u64);
        let mut random = Random::new(seed);
        // Up to a gap about zero, and spreads from an instance to the gap, on a log scale.
        let delay = 0.5 * gap * random.normal();
        let spread = gap.max(2.0).powf(random.uniform());
        starts.push(Start::Superposed { delay, spread, seed });
    }
    starts
}

/// The first so many starts if it is known about how late stamps are, and how far they scatter: there, and some
/// instances earlier or later, since features that see their neighbourhood let a detector fire beside its
/// events.
pub(super) fn around(
    restarts: usize,
    seed: u64,
    (delay, spread): (f64, f64),
    spacing: f64,
) -> Vec<Start> {
    let beside =
        [0.0, 1.0, -1.0, 2.0, -2.0, 3.0, -3.0].into_iter().take(restarts.saturating_add(1));
    let start = |instances: f64| {
        let delay = delay + instances * spacing;
        Start::Posterior { delay, spread, run: None, seed }
    };
    beside.map(start).collect()
}

/// The first so many starts if labels form runs: these may last from some instances to most of the gap between
/// stamps, and at the peaks of the scan as long as features stand out there, unless stamps tell how long they last.
pub(super) fn starts_of_runs(
    restarts: usize,
    seed: u64,
    (spacing, gap): (f64, f64),
    peaks: &[(f64, f64)],
    (about, lasting): (Variable, Option<f64>),
) -> Vec<Start> {
    let start = |delay: f64, spread: f64, run: f64| {
        let run = lasting.unwrap_or(run);
        let (spread, run) = (spread.max(spacing), Some(run.max(2.0 * spacing)));
        Start::Posterior { delay, spread, run, seed }
    };
    // Stamps tell an end of the run, and features its middle.
    let beside = match about {
        Variable::Onset => 0.5,
        Variable::End => -0.5,
        Variable::Presence => 0.0,
    };
    let lengths = [0.3, 0.1, 0.03].map(|share| start(0.0, share * gap / 2.0, share * gap));
    let seen = peaks.iter().flat_map(|&(lag, scatter)| {
        let width = 3.0 * scatter;
        let middle = |run: f64| lag + beside * lasting.unwrap_or(run);
        [start(middle(width), scatter, width), start(middle(scatter), width, scatter)]
    });
    let mut starts: Vec<Start> = lengths.into_iter().chain(seen).collect();
    starts.truncate(restarts.saturating_add(1));
    for k in starts.len()..=restarts {
        let mut random = Random::new(seed.wrapping_add(k as u64));
        let mut length = || spacing * (gap / spacing).max(2.0).powf(random.uniform());
        let (spread, run) = (0.5 * length(), length());
        starts.push(start(0.5 * spread * random.normal(), spread, run));
    }
    starts
}

/// The first so many starts if there are several classes, given those of one class: what each class has by itself comes
/// second, and there are no superpositions.
pub(super) fn starts_of_classes(of_one: Vec<Start>, classes: &[usize]) -> Vec<Start> {
    let most = of_one.len();
    let alone = |start| match start {
        Start::Superposed { delay, spread, seed } => {
            Start::Posterior { delay, spread, run: None, seed }
        }
        other => other,
    };
    let mut starts: Vec<Start> = of_one.into_iter().map(alone).collect();
    starts.splice(1..1, classes.iter().map(|&like| Start::Apart { like }));
    starts.truncate(most);
    starts
}

/// Starts beyond this number are random, whatever the scan found.
pub(super) const BUILT_IN: usize = 8;

/// All parameters at a start.
pub(super) fn begin(
    start: Start,
    objective: &MapObjective<'_>,
    superposed: &MapObjective<'_>,
    parts: &Parts,
    priors: &Priors,
    apart: Option<&Apart>,
) -> Vec<f64> {
    // As many presses for nothing as the prior expects.
    let background_rate =
        priors.background.map_or(GUESS.background_rate, |prior| prior.mode().max(1e-12));
    let mut params = vec![0.0; parts.layout.dim()];
    if let Start::Posterior { run, .. } = start {
        let rates = rates(parts, priors, run);
        let first = parts.labels().start;
        params[first..first + rates.len()].copy_from_slice(&rates);
    }
    params[parts.confusion()].copy_from_slice(&parts.stamps.classes.start(&priors.confusion));
    // However many instances there are, few presses are false.
    let false_rate = GUESS.false_rate.min(FALSE_SHARE * rarity(objective));
    // Ends are told as beginnings are.
    let set_annotator = |params: &mut [f64], delay: f64, spread: f64| {
        let guess = Learned { delay, spread, false_rate, background_rate, ..GUESS };
        let own = parts.stamps.model.start(&guess);
        params[parts.annotator()].copy_from_slice(&own);
        params[parts.ends()].iter_mut().zip(&own).for_each(|(end, own)| *end = *own);
    };
    match start {
        Start::Naive { seed } => {
            let delay = lower_median(naive_delays(objective)).unwrap_or(0.0);
            set_annotator(&mut params, delay, 1.0);
            let targets = |session| naive_targets(session, parts.classes());
            let targets: Vec<Vec<Target>> = objective.kept().map(targets).collect();
            let theta = fit_to(objective, parts, priors, &targets, seed);
            params[parts.detector()].copy_from_slice(&theta);
            objective.full(&objective.free(&params))
        }
        Start::Posterior { delay, spread, seed, .. } => {
            set_annotator(&mut params, delay, spread);
            let mut params = objective.full(&objective.free(&params));
            let targets = |session| {
                supposed_targets(session, parts, &params).unwrap_or_else(|impossible| {
                    objective.note_given_up(Some((session.index, impossible)));
                    naive_targets(session, parts.classes())
                })
            };
            let targets: Vec<Vec<Target>> = objective.kept().map(targets).collect();
            let theta = fit_to(objective, parts, priors, &targets, seed);
            params[parts.detector()].copy_from_slice(&theta);
            objective.full(&objective.free(&params))
        }
        Start::Apart { like } => {
            // Half an event of a class that nobody stamped.
            let unstamped = -(2.0 * instances(objective)).ln();
            let found = apart.and_then(|own| own.start(like, parts, priors, unstamped));
            let params = found.unwrap_or(params);
            objective.full(&objective.free(&params))
        }
        Start::Superposed { delay, spread, seed } => {
            set_annotator(&mut params, delay, spread);
            params[parts.detector()].copy_from_slice(&parts.classifier.start(seed));
            set_rarity(objective, parts, &mut params);
            let params = superposed.full(&superposed.free(&params));
            // While the detector knows nothing, any delay and spread are as good as any other.
            let noise = parts.layout.part("noise");
            let held = superposed.holding(|k| noise.contains(&k), &params);
            fit_superposed(&held, &params)
        }
    }
}

/// Parameters of the labels, with runs of this length or of the one that the prior expects.
fn rates(parts: &Parts, priors: &Priors, run: Option<f64>) -> Vec<f64> {
    let mode = |prior: Option<Gamma>| prior.map_or(1.0, |prior| prior.mode().max(1e-12)).ln();
    let rate = |at: usize| match parts.layout.at(at).map(|own| own.spec.role) {
        Some(Role::OffsetRate) => run.map_or(mode(priors.offset_rate), |run| -run.ln()),
        _ => mode(priors.onset_rate),
    };
    let rates = parts.labels().start..parts.labels().end - parts.confusion().len();
    rates.map(rate).collect()
}

/// All parameters after a short fit of the superposition.
fn fit_superposed(superposed: &MapObjective<'_>, params: &[f64]) -> Vec<f64> {
    let options = LbfgsOptions { max_iterations: SUPERPOSED_ITERATIONS, ..NEAR };
    let from = superposed.free(params);
    let fitted = minimise(superposed, &from, &options, &mut quiet(superposed.control()));
    superposed.full(&fitted.map_or(from, |minimum| minimum.params))
}

/// Stamps per instance, at most one half: its log-odds stay below zero.
fn rarity(objective: &MapObjective<'_>) -> f64 {
    let stamps: f64 = objective.kept().map(|session| session.in_time.stamps_of_one()).sum();
    (stamps.max(1.0) / instances(objective)).min(0.5)
}

/// Observed instances, at least one.
fn instances(objective: &MapObjective<'_>) -> f64 {
    let all: usize = objective.kept().map(|session| session.in_time.times.len()).sum();
    all.max(1) as f64
}

/// Sets the detector's constant term so that it only knows how rare stamps are.
fn set_rarity(objective: &MapObjective<'_>, parts: &Parts, params: &mut [f64]) {
    let is_intercept = |p: &&crate::params::Parameter| p.spec.role == Role::Intercept;
    let log_odds = logit(rarity(objective));
    for parameter in parts.layout.parameters().iter().filter(is_intercept) {
        params[parameter.range.clone()].fill(log_odds);
    }
}

/// Delays of stamps from their nearest instances.
fn naive_delays(objective: &MapObjective<'_>) -> Vec<f64> {
    let delays = |session: &SessionData<'_>| -> Vec<f64> {
        let streams = session.in_time.streams.iter();
        streams
            .flat_map(|stream| &stream.stamps)
            .map(|z| z.time - session.in_time.times[nearest(&session.in_time.times, z.time)])
            .collect()
    };
    objective.kept().flat_map(delays).collect()
}

/// Assigns each stamp to its nearest instance, all else negative; known labels stay. By instance and class: a stamp
/// without a class says nothing where there are several.
fn naive_targets(session: &SessionData<'_>, classes: usize) -> Vec<Target> {
    let InTime { times, streams, known, .. } = &session.in_time;
    let mut targets = vec![Target::from(false); times.len() * classes];
    for stream in streams {
        for z in &stream.stamps {
            let first = nearest(times, z.time) * classes;
            match stream.class {
                Some(class) => targets[first + class] = Target::from(true),
                None if classes == 1 => targets[first] = Target::from(true),
                None => targets[first..first + classes].iter_mut().for_each(|own| own.weight = 0.0),
            }
        }
    }
    for (own, label) in targets.chunks_exact_mut(classes).zip(known) {
        let Some(label) = *label else { continue };
        let known = own.iter_mut().enumerate();
        known.for_each(|(k, target)| *target = Target::from(label == k + 1));
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
    let (instances, stamps) = (session.in_time.times.len() as f64, session.in_time.stamps_of_one());
    // At least half a stamp, at most half the instances: the log-odds stay finite.
    let rarity = (stamps.max(0.5) / instances).min(0.5);
    let (times, classes) = (&session.in_time.times, parts.classes());
    // Of every class as many.
    let mut log_odds = vec![logit(rarity) - (classes as f64).ln(); times.len() * classes];
    if parts.stamps.are_labels_plain() {
        session.in_time.pin_labels(0, &mut log_odds);
    } else if !parts.stamps.labelling.is_independent() {
        // An instance of a chain says nothing at the log-odds of its rates.
        let rates = &params[parts.labels()];
        log_odds.fill(rates[0] - rates[1] - (classes as f64).ln());
    }
    let found = parts.bind(params, &session.in_time).posterior(&log_odds)?;
    let target = |positive: f64| Target { positive: positive.min(1.0), weight: 1.0 };
    let positive = |i: usize| match classes {
        1 => vec![target(found.positive(i))],
        _ => found.present(i).iter().copied().map(target).collect(),
    };
    Ok((0..times.len()).flat_map(positive).collect())
}

/// The classifier's parameters after a short fit to targets, by instance and class: each class against all else.
fn fit_to(
    objective: &MapObjective<'_>,
    parts: &Parts,
    priors: &Priors,
    targets: &[Vec<Target>],
    seed: u64,
) -> Vec<f64> {
    let Some(one) = parts.classifier.of_one_class() else {
        return fit_one(objective, parts.classifier.as_ref(), priors, targets, seed);
    };
    let classes = parts.classes();
    let of_class = |class: usize| {
        let own = |all: &Vec<Target>| all.iter().skip(class).step_by(classes).copied().collect();
        let targets: Vec<Vec<Target>> = targets.iter().map(own).collect();
        fit_one(objective, one, priors, &targets, seed.wrapping_add(class as u64))
    };
    (0..classes).flat_map(of_class).collect()
}

/// The same of one class.
fn fit_one(
    objective: &MapObjective<'_>,
    classifier: &dyn Classifier,
    priors: &Priors,
    targets: &[Vec<Target>],
    seed: u64,
) -> Vec<f64> {
    let rows = |(session, targets)| {
        let (session, targets): (&SessionData<'_>, &Vec<Target>) = (session, targets);
        (Features::from(session.features.view()), targets.as_slice())
    };
    let data = objective.kept().zip(targets).map(rows).collect();
    let control = objective.control();
    let supervised = SupervisedObjective::new(classifier, priors, data, control);
    let from = classifier.start(seed);
    let options = LbfgsOptions { max_iterations: ITERATIONS, ..LbfgsOptions::default() };
    match minimise(&supervised, &from, &options, &mut quiet(control)) {
        Some(minimum) => minimum.params,
        None => from,
    }
}
