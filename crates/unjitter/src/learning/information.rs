//! What the data tell about the parameters: the observed information at an optimum, and the sandwich.
//!
//! The information is the change of the gradient along each parameter. The annotator's columns are measured on
//! all sessions; the detector's, of which there can be many, on a part of them if there are many stamps.

use std::collections::BTreeMap;

use super::map::MapObjective;
use super::objective::Objective;
use crate::Session;
use crate::math::{eigen, factorise, inverse};
use crate::model::{Sandwich, Uncertainty};

/// Parameters, at most: beyond, the matrix costs more than the fit.
const MOST: usize = 200;
/// Stamps that tell the detector's columns well enough: to a few per cent.
const ENOUGH: usize = 600;
/// Clusters from which on their differences tell more than the model does.
const MANY_CLUSTERS: usize = 40;
/// Step of differences, in unconstrained numbers: the messages of belief propagation have seven digits.
const STEP: f64 = 1e-3;
/// Smallest eigenvalue of the information, scaled to ones on its diagonal, below which two parameters
/// trade places: a correlation of 0.98.
const FLAT: f64 = 0.02;
/// Share of a direction from which on a parameter takes part in it.
const TAKES_PART: f64 = 0.3;

/// How sure an optimum is, and the places of parameters that trade places there.
pub(super) fn uncertainty(
    objective: &MapObjective<'_>,
    sessions: &[Session<'_>],
    free: &[f64],
) -> (Option<Uncertainty>, Vec<usize>) {
    let size = free.len();
    if size == 0 || size > MOST || objective.control().is_stop_requested() {
        return (None, Vec::new());
    }
    let information = information(objective, free);
    let mut factor = information.clone();
    if !factorise(&mut factor, size) {
        return (None, flat(objective, information, size));
    }
    let posterior = inverse(&factor, size);
    let detector = objective.detector_dim();
    let trade = annotator_information(&posterior, size, detector)
        .map_or(Vec::new(), |own| flat(objective, own, size - detector));
    let sandwich = sandwich(objective, sessions, free, &posterior);
    let places = objective.places().to_vec();
    let found = Uncertainty { places, posterior, sandwich };
    (Some(found).filter(|found| found.fits(usize::MAX)), trade)
}

/// Minus the second derivatives of the log posterior.
fn information(objective: &MapObjective<'_>, free: &[f64]) -> Vec<f64> {
    let size = free.len();
    let is_out = objective.beyond(ENOUGH);
    let part = objective.without(|session| is_out[session]);
    let share = objective.stamps().max(1) as f64 / part.stamps().max(1) as f64;
    let gradient = |objective: &MapObjective<'_>, at: usize, step: f64| {
        let (mut near, mut gradient) = (free.to_vec(), vec![0.0; size]);
        near[at] += step;
        objective.evaluate(&near, &mut gradient);
        (gradient, objective.prior_gradient(&near))
    };
    let mut matrix = vec![0.0; size * size];
    let [here, here_in_part] = [objective, &part].map(|all| gradient(all, 0, 0.0));
    for at in 0..size {
        let is_detector = at < objective.detector_dim();
        let (sessions, here, share) =
            if is_detector { (&part, &here_in_part, share) } else { (objective, &here, 1.0) };
        let there = gradient(sessions, at, STEP);
        for k in 0..size {
            let prior = there.1[k] - here.1[k];
            let own = (share * (there.0[k] - here.0[k] - prior) + prior) / STEP;
            if is_detector && k < objective.detector_dim() {
                matrix[at * size + k] += 0.5 * own;
                matrix[k * size + at] += 0.5 * own;
            } else if !is_detector {
                // Of the entries within the annotator the later column is kept.
                matrix[at * size + k] = own;
                matrix[k * size + at] = own;
            }
        }
    }
    matrix
}

/// The information of the annotator's parameters after the detector's are accounted for.
fn annotator_information(posterior: &[f64], size: usize, detector: usize) -> Option<Vec<f64>> {
    let few = size - detector;
    let mut block: Vec<f64> = (0..few * few)
        .map(|at| posterior[(detector + at / few) * size + detector + at % few])
        .collect();
    (few > 0 && factorise(&mut block, few)).then(|| inverse(&block, few))
}

/// Places of the annotator's parameters that take part in a direction along which the information of the
/// last `size` parameters hardly grows.
fn flat(objective: &MapObjective<'_>, mut information: Vec<f64>, size: usize) -> Vec<usize> {
    let scales: Vec<f64> = (0..size)
        .map(|k| information[k * (size + 1)].abs().max(f64::MIN_POSITIVE).sqrt())
        .collect();
    for (at, entry) in information.iter_mut().enumerate() {
        *entry /= scales[at / size] * scales[at % size];
    }
    if information.iter().any(|entry| !entry.is_finite()) {
        return Vec::new();
    }
    let (values, vectors) = eigen(information, size);
    let least = values.iter().zip(&vectors).min_by(|a, b| a.0.total_cmp(b.0));
    let Some((_, direction)) = least.filter(|(value, _)| **value < FLAT) else {
        return Vec::new();
    };
    // Weights of a network trade places by its nature, and nobody reads them.
    let few = size.min(objective.places().len() - objective.detector_dim());
    let places = &objective.places()[objective.places().len() - few..];
    let takes_part = |(_, share): &(&usize, &f64)| share.abs() > TAKES_PART;
    let shares = &direction[size - few..];
    places.iter().zip(shares).filter(takes_part).map(|(&at, _)| at).collect()
}

/// H⁻¹·J·H⁻¹, with J the squares of the scores of clusters.
fn sandwich(
    objective: &MapObjective<'_>,
    sessions: &[Session<'_>],
    free: &[f64],
    posterior: &[f64],
) -> Option<Sandwich> {
    let size = free.len();
    let key = |session: &Session<'_>| match session.subject() {
        Some(subject) => (true, subject.to_owned()),
        None => (false, session.name().to_owned()),
    };
    let mut clusters: BTreeMap<(bool, String), Vec<f64>> =
        sessions.iter().map(|session| (key(session), vec![0.0; size])).collect();
    let count = clusters.len();
    if count < MANY_CLUSTERS {
        return None;
    }
    for (session, score) in sessions.iter().zip(objective.scores(free)?) {
        let sum = clusters.entry(key(session)).or_default();
        sum.iter_mut().zip(score).for_each(|(sum, own)| *sum += own);
    }
    let mean: Vec<f64> = (0..size)
        .map(|k| clusters.values().map(|own| own[k]).sum::<f64>() / count as f64)
        .collect();
    let mut covariance = vec![0.0; size * size];
    for score in clusters.values() {
        // The step that this cluster takes the estimate by.
        let apart: Vec<f64> = score.iter().zip(&mean).map(|(own, mean)| own - mean).collect();
        let step = |row: &[f64]| row.iter().zip(&apart).map(|(a, b)| a * b).sum::<f64>();
        let steps: Vec<f64> = posterior.chunks_exact(size).map(step).collect();
        for (row, a) in covariance.chunks_exact_mut(size).zip(&steps) {
            row.iter_mut().zip(&steps).for_each(|(entry, b)| *entry += a * b);
        }
    }
    let correction = count as f64 / (count as f64 - 1.0);
    covariance.iter_mut().for_each(|entry| *entry *= correction);
    Some(Sandwich { clusters: count, covariance })
}
