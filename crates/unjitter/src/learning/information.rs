//! What the data tell about the parameters: the observed information at an optimum, and the sandwich.
//!
//! The information is the change of the gradient along each parameter. The annotator's columns are measured on
//! all sessions; the detector's, of which there can be many, on a part of them if there are many stamps.

use std::collections::BTreeMap;

use super::fit::Problem;
use super::map::MapObjective;
use super::objective::Objective;
use crate::error::require;
use crate::math::{eigen, factorise, inverse};
use crate::model::{Fitted, Sandwich, Uncertainty};
use crate::{Control, Error, Result, Session};

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

/// Second derivatives at an optimum, in the free parameters, row by row.
#[derive(Debug, Clone)]
pub(crate) struct Information {
    /// Places of the parameters among all.
    pub(crate) places: Vec<usize>,
    /// How many of them are the detector's, which come first.
    pub(crate) detector: usize,
    /// Of minus the log evidence.
    pub(crate) evidence: Vec<f64>,
    /// Of minus the log prior.
    pub(crate) prior: Vec<f64>,
    /// The gradient of minus the log prior: at an optimum, that of the log evidence.
    pub(crate) pull: Vec<f64>,
    /// Squares of the scores of clusters, if these are many, and how many there are.
    pub(crate) squares: Option<(usize, Vec<f64>)>,
}

impl Information {
    /// What sessions tell of the parameters of a fitted model, usually learned from them.
    pub(crate) fn of(
        fitted: &Fitted,
        sessions: &[Session<'_>],
        control: Control<'_>,
    ) -> Result<Self> {
        let problem = Problem::of_fitted(fitted, &fitted.model.noise, sessions, control)?;
        let objective = problem.objective()?;
        let free = objective.free(&fitted.params);
        let learned = "a number from 1 to 200, for which the information is measured";
        let few = (1..=MOST).contains(&free.len());
        require("number of learned parameters", free.len() as f64, few, learned)?;
        let found = information(&objective, sessions, &free);
        control.stop_if_requested()?;
        found.ok_or(Error::NotInformative)
    }

    /// How sure parameters are of which data tell this much; none if they cannot all be told.
    pub(crate) fn uncertainty(&self) -> Option<Uncertainty> {
        let size = self.places.len();
        let mut factor = self.total();
        if !factorise(&mut factor, size) {
            return None;
        }
        let posterior = inverse(&factor, size);
        let sandwich = self.squares.as_ref().map(|(clusters, squares)| {
            let covariance = product(&product(&posterior, squares, size), &posterior, size);
            Sandwich { clusters: *clusters, covariance }
        });
        let found = Uncertainty { places: self.places.clone(), posterior, sandwich };
        Some(found).filter(|found| found.fits(usize::MAX))
    }

    /// Minus the second derivatives of the log posterior.
    fn total(&self) -> Vec<f64> {
        self.evidence.iter().zip(&self.prior).map(|(own, prior)| own + prior).collect()
    }
}

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
    let Some(information) = information(objective, sessions, free) else {
        return (None, Vec::new());
    };
    let Some(found) = information.uncertainty() else {
        return (None, flat(objective, information.total(), size));
    };
    let detector = information.detector;
    let trade = annotator_information(&found.posterior, size, detector)
        .map_or(Vec::new(), |own| flat(objective, own, size - detector));
    (Some(found), trade)
}

/// Second derivatives at the free parameters; none where the stamps are impossible.
fn information(
    objective: &MapObjective<'_>,
    sessions: &[Session<'_>],
    free: &[f64],
) -> Option<Information> {
    let (size, detector) = (free.len(), objective.detector_dim());
    let is_out = objective.beyond(ENOUGH);
    let part = objective.without(|session| is_out[session]);
    let share = objective.stamps().max(1) as f64 / part.stamps().max(1) as f64;
    let gradient = |objective: &MapObjective<'_>, at: usize, step: f64| {
        let (mut near, mut gradient) = (free.to_vec(), vec![0.0; size]);
        near[at] += step;
        let value = objective.evaluate(&near, &mut gradient);
        value.is_finite().then(|| (gradient, objective.prior_gradient(&near)))
    };
    let [mut evidence, mut prior] = [(); 2].map(|()| vec![0.0; size * size]);
    let (here, here_in_part) = (gradient(objective, 0, 0.0)?, gradient(&part, 0, 0.0)?);
    for at in 0..size {
        let is_detector = at < detector;
        let (some, here, share) =
            if is_detector { (&part, &here_in_part, share) } else { (objective, &here, 1.0) };
        let there = gradient(some, at, STEP)?;
        for k in 0..size {
            let of_prior = there.1[k] - here.1[k];
            let own = share * (there.0[k] - here.0[k] - of_prior);
            for (matrix, change) in [(&mut evidence, own), (&mut prior, of_prior)] {
                if is_detector && k < detector {
                    matrix[at * size + k] += 0.5 * change / STEP;
                    matrix[k * size + at] += 0.5 * change / STEP;
                } else if !is_detector {
                    // Of the entries within the annotator the later column is kept.
                    matrix[at * size + k] = change / STEP;
                    matrix[k * size + at] = change / STEP;
                }
            }
        }
    }
    Some(Information {
        places: objective.places().to_vec(),
        detector,
        evidence,
        prior,
        pull: here.1,
        squares: squares(objective, sessions, free),
    })
}

/// A·B, row by row.
fn product(a: &[f64], b: &[f64], size: usize) -> Vec<f64> {
    let mut product = vec![0.0; size * size];
    for (row, out) in a.chunks_exact(size).zip(product.chunks_exact_mut(size)) {
        for (factor, other) in row.iter().zip(b.chunks_exact(size)) {
            out.iter_mut().zip(other).for_each(|(sum, entry)| *sum += factor * entry);
        }
    }
    product
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

/// J of the sandwich: squares of the scores of clusters, and how many there are; none if there are few.
fn squares(
    objective: &MapObjective<'_>,
    sessions: &[Session<'_>],
    free: &[f64],
) -> Option<(usize, Vec<f64>)> {
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
    let mut squares = vec![0.0; size * size];
    let correction = count as f64 / (count as f64 - 1.0);
    for score in clusters.values() {
        let apart: Vec<f64> = score.iter().zip(&mean).map(|(own, mean)| own - mean).collect();
        for (row, a) in squares.chunks_exact_mut(size).zip(&apart) {
            row.iter_mut().zip(&apart).for_each(|(entry, b)| *entry += correction * a * b);
        }
    }
    Some((count, squares))
}
