//! What the data tell about the parameters: the observed information at an optimum, and the sandwich.
//!
//! The information is the change of the gradient along each parameter. The annotator's columns are measured on
//! all sessions. The detector's, of which there can be many, are measured on a part of them if there are many
//! stamps; what they would be with all labels known has a closed form, and the difference between part and whole
//! there corrects for a part that is not like the whole.

use std::collections::BTreeMap;

use super::deviations::group_information;
use super::map::MapObjective;
use super::objective::Objective;
use super::problem::Problem;
use super::profile::{ROUGHLY, profiles};
use crate::error::require;
use crate::math::{eigen, factorise, inverse};
use crate::model::{Fitted, GroupPosterior, Profile, Sandwich, Uncertainty};
use crate::params::Transform;
use crate::{Control, Error, Result, Session};

/// Parameters, at most: beyond, the matrix costs more than the fit.
const MOST: usize = 200;
/// Stamps that tell the detector's columns well enough: to some five per cent.
const ENOUGH: usize = 400;
/// Rows, about, that tell what labels would.
const MOST_ROWS: usize = 1 << 16;
/// Clusters from which on their differences tell more than the model does.
const MANY_CLUSTERS: usize = 40;
/// Step of differences, in unconstrained numbers: the messages of belief propagation have seven digits.
pub(super) const STEP: f64 = 1e-3;
/// Smallest eigenvalue of the information, scaled to ones on its diagonal, below which two parameters
/// trade places: a correlation of 0.98.
const FLAT: f64 = 0.02;
/// Standard error of an unconstrained number of the annotator above which its profile is followed: a rate is
/// then uncertain by a factor of three either way, and the curvature is that of one place only.
const NEAR_BOUNDARY: f64 = 0.55;
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
    /// Deviations of groups, which are profiled out of the rest.
    pub(crate) groups: Vec<GroupPosterior>,
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
        let count = objective.common();
        require(
            "number of learned parameters",
            count as f64,
            (1..=MOST).contains(&count),
            learned,
        )?;
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
        let (places, groups) = (self.places.clone(), self.groups.clone());
        let found = Uncertainty { places, posterior, sandwich, profiles: Vec::new(), groups };
        Some(found).filter(|found| found.fits(usize::MAX))
    }

    /// As of so many times as many sessions.
    fn times(mut self, times: f64) -> Self {
        self.evidence.iter_mut().for_each(|own| *own *= times);
        if let Some((clusters, squares)) = &mut self.squares {
            *clusters = (*clusters as f64 * times).round() as usize;
            squares.iter_mut().for_each(|own| *own *= times);
        }
        self
    }

    /// Minus the second derivatives of the log posterior.
    fn total(&self) -> Vec<f64> {
        self.evidence.iter().zip(&self.prior).map(|(own, prior)| own + prior).collect()
    }
}

/// How sure a fit is: as it says, or measured anew on these sessions; none if it cannot be told.
pub(super) fn known_or_measured(
    fitted: &Fitted,
    objective: &MapObjective<'_>,
    sessions: &[Session<'_>],
    free: &[f64],
) -> Option<Uncertainty> {
    let known = fitted.uncertainty.clone().filter(|own| own.places == objective.places());
    known.or_else(|| uncertainty(objective, sessions, free, 1.0).0)
}

/// How sure an optimum is, and the places of parameters that trade places there. If it is one of so many times as
/// many stamps, these tell so many times as much.
pub(super) fn uncertainty(
    objective: &MapObjective<'_>,
    sessions: &[Session<'_>],
    free: &[f64],
    times: f64,
) -> (Option<Uncertainty>, Vec<usize>) {
    let size = objective.common();
    if size == 0 || size > MOST || objective.control().is_stop_requested() {
        return (None, Vec::new());
    }
    let Some(information) = information(objective, sessions, free) else {
        return (None, Vec::new());
    };
    let information = information.times(times);
    let Some(found) = information.uncertainty() else {
        return (None, flat(objective, information.total(), size));
    };
    let detector = information.detector;
    let trade = annotator_information(&found.posterior, size, detector)
        .map_or(Vec::new(), |own| flat(objective, own, size - detector));
    // Where groups differ they would have to follow; what is near a boundary is then told by its curvature.
    // Those of a part would be too wide.
    let profiles = match information.groups.is_empty() && times == 1.0 {
        true => near_boundaries(objective, &found, free),
        false => Vec::new(),
    };
    (Some(Uncertainty { profiles, ..found }), trade)
}

/// Profiles of the parameters that are near the end of their range.
fn near_boundaries(
    objective: &MapObjective<'_>,
    found: &Uncertainty,
    free: &[f64],
) -> Vec<Profile> {
    let size = free.len();
    let is_near = |at: &usize| {
        let parameter = objective.parameter(*at);
        let has_end = parameter.is_some_and(|own| own.spec.transform != Transform::Free);
        has_end && found.posterior[at * (size + 1)].sqrt() > NEAR_BOUNDARY
    };
    let numbers: Vec<usize> = (objective.detector_dim()..size).filter(is_near).collect();
    profiles(objective, &found.posterior, free, &numbers, &ROUGHLY)
}

/// Second derivatives at the free parameters; none where the stamps are impossible.
fn information(
    objective: &MapObjective<'_>,
    sessions: &[Session<'_>],
    free: &[f64],
) -> Option<Information> {
    let (size, detector) = (objective.common(), objective.detector_dim());
    let is_out = objective.beyond(ENOUGH);
    let part = objective.without(|session| is_out[session]);
    let share = objective.stamps().max(1) as f64 / part.stamps().max(1) as f64;
    let gradient = |objective: &MapObjective<'_>, at: usize, step: f64| {
        let (mut near, mut gradient) = (free.to_vec(), vec![0.0; free.len()]);
        near[at] += step;
        let value = objective.evaluate(&near, &mut gradient);
        value.is_finite().then(|| (gradient, objective.prior_gradient(&near)))
    };
    let [mut evidence, mut prior] = [(); 2].map(|()| vec![0.0; size * size]);
    let (here, here_in_part) = (gradient(objective, 0, 0.0)?, gradient(&part, 0, 0.0)?);
    // How the gradient of each deviation changes with each of the annotator's parameters.
    let mut changes = Vec::new();
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
        if !is_detector {
            let change = |k: usize| (there.0[k] - here.0[k]) / STEP;
            changes.push((size..free.len()).map(change).collect::<Vec<f64>>());
        }
    }
    if part.stamps() < objective.stamps() {
        correct(&mut evidence, objective, &part, share, free);
    }
    let groups = group_information(objective, free, &here.0, &changes);
    groups.iter().for_each(|own| own.profile_out(&mut evidence, size));
    Some(Information {
        places: objective.places()[..size].to_vec(),
        detector,
        evidence,
        prior,
        pull: here.1[..size].to_vec(),
        squares: groups.is_empty().then(|| squares(objective, sessions, free)).flatten(),
        groups: groups.into_iter().map(|own| own.posterior).collect(),
    })
}

/// Adds to the detector's block, of a part of the sessions, by how much it would differ on all if labels were
/// known.
fn correct(
    evidence: &mut [f64],
    objective: &MapObjective<'_>,
    part: &MapObjective<'_>,
    share: f64,
    free: &[f64],
) {
    let known = |objective: &MapObjective<'_>| objective.label_curvature(free, MOST_ROWS);
    let Some((all, some)) = known(objective).zip(known(part)) else { return };
    let places = &objective.places()[..objective.detector_dim()];
    for (row, &i) in evidence.chunks_exact_mut(objective.common()).zip(places) {
        for (entry, &j) in row.iter_mut().zip(places) {
            *entry += all.at(i, j) - share * some.at(i, j);
        }
    }
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
    let few = size.min(objective.common() - objective.detector_dim());
    let places = &objective.places()[objective.common() - few..objective.common()];
    let takes_part = |(_, share): &(&usize, &f64)| share.abs() > TAKES_PART;
    let shares = &direction[size - few..];
    places.iter().zip(shares).filter(takes_part).map(|(&at, _)| at).collect()
}

/// The cluster of each session, counted from 0: its subject where that is known, else the session itself.
pub(super) fn clusters(sessions: &[Session<'_>]) -> Vec<usize> {
    let mut known = BTreeMap::new();
    let key = |session: &Session<'_>| match session.subject() {
        Some(subject) => (true, subject.to_owned()),
        None => (false, session.name().to_owned()),
    };
    let number = |session| {
        let next = known.len();
        *known.entry(key(session)).or_insert(next)
    };
    sessions.iter().map(number).collect()
}

/// J of the sandwich: squares of the scores of clusters, and how many there are; none if there are few.
fn squares(
    objective: &MapObjective<'_>,
    sessions: &[Session<'_>],
    free: &[f64],
) -> Option<(usize, Vec<f64>)> {
    let size = free.len();
    let of_session = clusters(sessions);
    let count = of_session.iter().max().map_or(0, |last| last + 1);
    if count < MANY_CLUSTERS {
        return None;
    }
    let mut clusters = vec![vec![0.0; size]; count];
    for (cluster, score) in of_session.into_iter().zip(objective.scores(free)?) {
        clusters[cluster].iter_mut().zip(score).for_each(|(sum, own)| *sum += own);
    }
    let mean: Vec<f64> =
        (0..size).map(|k| clusters.iter().map(|own| own[k]).sum::<f64>() / count as f64).collect();
    let mut squares = vec![0.0; size * size];
    let correction = count as f64 / (count as f64 - 1.0);
    for score in &clusters {
        let apart: Vec<f64> = score.iter().zip(&mean).map(|(own, mean)| own - mean).collect();
        for (row, a) in squares.chunks_exact_mut(size).zip(&apart) {
            row.iter_mut().zip(&apart).for_each(|(entry, b)| *entry += correction * a * b);
        }
    }
    Some((count, squares))
}
