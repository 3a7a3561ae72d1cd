//! How sure a fit is of its parameters.
//!
//! Near its maximum the posterior of the parameters is about normal on the unconstrained scale. Its
//! covariance, the inverse of the observed information, serves to draw parameters. If there are many
//! sessions or subjects, standard errors come from how much these differ (the sandwich), which holds also
//! if the model does not; otherwise from the information.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::profile::Profile;
use super::quantity::Quantity;
use crate::math::{Random, factorise, normal_quantile, student_t_quantile};

/// Covariances of the learned parameters, on the unconstrained scale.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Uncertainty {
    /// Which numbers of the flat vector were learned.
    pub(crate) places: Vec<usize>,
    /// Inverse of the observed information, row by row.
    pub(crate) posterior: Vec<f64>,
    /// What the differences between clusters say, if there are enough of them.
    pub(crate) sandwich: Option<Sandwich>,
    /// Profiles of parameters for which a normal posterior is not good enough.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) profiles: Vec<Profile>,
    /// Deviations of groups, which are not among `places`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) groups: Vec<GroupPosterior>,
}

/// The deviations of one group of stamps: how sure they are if all else is known, and how they follow it.
/// Those of different groups are independent then.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GroupPosterior {
    /// Which numbers of the flat vector they are.
    pub(crate) places: Vec<usize>,
    /// Their covariance, row by row.
    pub(crate) covariance: Vec<f64>,
    /// By how much each moves if one of the last learned parameters does, row by row.
    pub(crate) follows: Vec<f64>,
}

impl GroupPosterior {
    fn fits(&self, dim: usize, learned: usize) -> bool {
        let size = self.places.len();
        let are_finite = |numbers: &[f64]| numbers.iter().all(|number| number.is_finite());
        size > 0
            && self.places.iter().all(|&place| place < dim)
            && self.covariance.len() == size * size
            && self.follows.len().is_multiple_of(size)
            && self.follows.len() / size <= learned
            && are_finite(&self.covariance)
            && are_finite(&self.follows)
    }

    fn places(&self) -> impl Iterator<Item = usize> {
        self.places.iter().copied()
    }

    /// Row by row, how the deviations follow the last learned parameters.
    fn follows(&self) -> impl Iterator<Item = &[f64]> {
        let size = self.places.len();
        let row = self.follows.len() / size;
        (0..size).map(move |k| &self.follows[k * row..][..row])
    }
}

/// A covariance from sums of scores over clusters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sandwich {
    /// Sessions, or subjects where they are known.
    pub(crate) clusters: usize,
    /// Row by row.
    pub(crate) covariance: Vec<f64>,
}

/// A number that was learned, and how sure it is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Estimate {
    /// As learned.
    pub value: f64,
    /// Its standard error.
    pub standard_error: f64,
    /// Ends of the interval.
    pub low: f64,
    /// The upper one.
    pub high: f64,
}

/// What was learned of the annotator.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LearnedEstimates {
    /// Mean delay.
    pub delay: Option<Estimate>,
    /// Standard deviation of the delay.
    pub spread: Option<Estimate>,
    /// Share of events without a stamp.
    pub miss_rate: Option<Estimate>,
    /// Share of negatives with one.
    pub false_rate: Option<Estimate>,
    /// Stamps per unit of time from nowhere.
    pub background_rate: Option<Estimate>,
}

impl LearnedEstimates {
    /// Of each number.
    pub(super) fn of(estimate: impl Fn(Quantity) -> Option<Estimate>) -> Self {
        Self {
            delay: estimate(Quantity::Delay),
            spread: estimate(Quantity::Spread),
            miss_rate: estimate(Quantity::MissRate),
            false_rate: estimate(Quantity::FalseRate),
            background_rate: estimate(Quantity::BackgroundRate),
        }
    }
}

/// The scale on which a number is about normal.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Scale {
    /// Any number.
    Plain,
    /// A positive one.
    Log,
    /// One between 0 and 1.
    Logit,
}

impl Scale {
    pub(crate) fn on(self, value: f64) -> f64 {
        match self {
            Scale::Plain => value,
            Scale::Log => value.ln(),
            Scale::Logit => crate::math::logit(value),
        }
    }

    pub(crate) fn back(self, value: f64) -> f64 {
        match self {
            Scale::Plain => value,
            Scale::Log => value.exp(),
            Scale::Logit => crate::math::sigmoid(value),
        }
    }

    /// d natural / d scaled at a natural value.
    fn slope(self, value: f64) -> f64 {
        match self {
            Scale::Plain => 1.0,
            Scale::Log => value,
            Scale::Logit => value * (1.0 - value),
        }
    }
}

/// Step of differences in unconstrained numbers, about the cube root of their rounding.
const STEP: f64 = 1e-5;

impl Uncertainty {
    /// Whether it belongs to a vector of so many parameters.
    pub(crate) fn fits(&self, dim: usize) -> bool {
        let entries = self.places.len() * self.places.len();
        let is_whole = |matrix: &[f64]| {
            matrix.len() == entries && matrix.iter().all(|entry| entry.is_finite())
        };
        let increase = self.places.windows(2).all(|pair| pair[0] < pair[1]);
        increase
            && self.places.last().is_none_or(|&last| last < dim)
            && is_whole(&self.posterior)
            && self.profiles.iter().all(|own| own.is_sound() && self.places.contains(&own.place))
            && self.groups.iter().all(|own| own.fits(dim, self.places.len()))
            && self
                .sandwich
                .as_ref()
                .is_none_or(|own| own.clusters > 1 && is_whole(&own.covariance))
    }

    /// Sessions or subjects whose differences gave the standard errors; none if the information did.
    pub fn clusters(&self) -> Option<usize> {
        self.sandwich.as_ref().map(|sandwich| sandwich.clusters)
    }

    /// Standard errors of the unconstrained numbers at `places`.
    pub(crate) fn standard_errors(&self) -> Vec<f64> {
        let size = self.places.len();
        (0..size).map(|k| self.covariance()[k * (size + 1)].sqrt()).collect()
    }

    fn covariance(&self) -> &[f64] {
        self.sandwich.as_ref().map_or(&self.posterior, |sandwich| &sandwich.covariance)
    }

    /// A function of all parameters with its interval at a level; none if it depends on none that was
    /// learned.
    pub(crate) fn estimate(
        &self,
        params: &[f64],
        level: f64,
        scale: Scale,
        value_of: impl Fn(&[f64]) -> f64,
    ) -> Option<Estimate> {
        self.estimate_in(None, params, level, scale, value_of)
    }

    /// The same for a function that may depend on the deviations of this group, too.
    pub(crate) fn estimate_in(
        &self,
        group: Option<&GroupPosterior>,
        params: &[f64],
        level: f64,
        scale: Scale,
        value_of: impl Fn(&[f64]) -> f64,
    ) -> Option<Estimate> {
        let on_scale = |params: &[f64]| scale.on(value_of(params));
        let mut slopes = slopes(&self.places, params, on_scale);
        let mut variance = 0.0;
        if let Some(group) = group {
            let own = self::slopes(&group.places, params, on_scale);
            variance += quadratic(&group.covariance, &own);
            for (follows, slope) in group.follows().zip(&own) {
                let last = slopes.len() - follows.len();
                let moved = slopes[last..].iter_mut().zip(follows);
                moved.for_each(|(sum, follows)| *sum += slope * follows);
            }
        }
        variance += quadratic(self.covariance(), &slopes);
        if slopes.iter().all(|&slope| slope == 0.0) && variance == 0.0 {
            return None;
        }
        let error = variance.max(0.0).sqrt();
        let value = value_of(params);
        let errors = self.quantile(0.5 + level / 2.0);
        let [a, b] = match self.profile_of(&slopes) {
            Some(profile) => {
                let wider = errors * self.widening(profile.place);
                [-wider, wider].map(|root| value_of(&profile.moved(params, root)))
            }
            None => [-errors, errors].map(|errors| scale.back(scale.on(value) + errors * error)),
        };
        let standard_error = error * scale.slope(value).abs();
        // A value may fall as its parameter rises: a missed share is one less a hit rate.
        Some(Estimate { value, standard_error, low: a.min(b), high: a.max(b) })
    }

    /// Derivatives of a function of all parameters in those that were learned.
    pub(crate) fn slopes(&self, params: &[f64], value_of: impl Fn(&[f64]) -> f64) -> Vec<f64> {
        slopes(&self.places, params, value_of)
    }

    /// The group of every deviation.
    pub(crate) fn groups_by_place(&self) -> HashMap<usize, &GroupPosterior> {
        let places = |own| GroupPosterior::places(own).map(move |place| (place, own));
        self.groups.iter().flat_map(places).collect()
    }

    /// The profile of the only parameter that a value with these derivatives depends on; none if it depends
    /// on several, or was not followed.
    pub(crate) fn profile_of(&self, slopes: &[f64]) -> Option<&Profile> {
        let mut on = self.places.iter().zip(slopes).filter(|(_, slope)| **slope != 0.0);
        let (&place, _) = on.next()?;
        let is_only = on.next().is_none();
        self.profiles.iter().find(|own| own.place == place && is_only)
    }

    /// Standard error of a parameter by the clusters over that by the information.
    fn widening(&self, place: usize) -> f64 {
        let at = self.places.binary_search(&place).unwrap_or(0) * (self.places.len() + 1);
        (self.covariance()[at] / self.posterior[at]).sqrt()
    }

    /// How many standard errors an interval reaches.
    fn quantile(&self, p: f64) -> f64 {
        match self.clusters() {
            Some(clusters) => student_t_quantile(p, clusters as f64 - 1.0),
            None => normal_quantile(p),
        }
    }

    /// A way to draw parameters from the posterior, with these deviations of groups.
    pub(crate) fn draws(&self, deviations: &[usize]) -> Option<PosteriorDraws<'_>> {
        let factor = |matrix: &[f64], size: usize| {
            let mut factor = matrix.to_vec();
            factorise(&mut factor, size).then_some(factor)
        };
        let is_drawn = |own: &&GroupPosterior| own.places.iter().any(|at| deviations.contains(at));
        let group = |own: &'_ GroupPosterior| factor(&own.covariance, own.places.len());
        let groups = self.groups.iter().filter(is_drawn);
        let groups = groups.map(|own| Some((own, group(own)?))).collect::<Option<_>>()?;
        let factor = factor(&self.posterior, self.places.len())?;
        Some(PosteriorDraws { places: &self.places, factor, groups })
    }
}

/// Derivatives of a function of all parameters in those at some places.
fn slopes(places: &[usize], params: &[f64], value_of: impl Fn(&[f64]) -> f64) -> Vec<f64> {
    let mut params = params.to_vec();
    let slope = |&at: &usize| {
        let here = params[at];
        let mut beside = |step: f64| {
            params[at] = here + step;
            value_of(&params)
        };
        let slope = (beside(STEP) - beside(-STEP)) / (2.0 * STEP);
        params[at] = here;
        slope
    };
    places.iter().map(slope).collect()
}

/// sᵀ·C·s.
fn quadratic(covariance: &[f64], slopes: &[f64]) -> f64 {
    let rows = covariance.chunks_exact(slopes.len().max(1)).zip(slopes);
    let along = |row: &[f64]| row.iter().zip(slopes).map(|(c, s)| c * s).sum::<f64>();
    rows.map(|(row, slope)| slope * along(row)).sum()
}

/// Draws of parameters.
pub(crate) struct PosteriorDraws<'a> {
    places: &'a [usize],
    factor: Vec<f64>,
    /// Deviations of groups, with the factors of their covariances.
    groups: Vec<(&'a GroupPosterior, Vec<f64>)>,
}

impl PosteriorDraws<'_> {
    /// Moves the learned parameters by one draw, or by its opposite.
    pub(crate) fn draw(&self, params: &[f64], random: &mut Random) -> [Vec<f64>; 2] {
        let mut both = [params.to_vec(), params.to_vec()];
        let mut add = |at: usize, step: f64| {
            both[0][at] += step;
            both[1][at] -= step;
        };
        let steps = normal(&self.factor, self.places.len(), random);
        self.places.iter().zip(&steps).for_each(|(&at, &step)| add(at, step));
        for (group, factor) in &self.groups {
            let own = normal(factor, group.places.len(), random);
            for ((&at, own), follows) in group.places.iter().zip(own).zip(group.follows()) {
                let last = &steps[steps.len() - follows.len()..];
                add(at, own + follows.iter().zip(last).map(|(f, step)| f * step).sum::<f64>());
            }
        }
        both
    }
}

/// A normal vector with the covariance of this factor.
fn normal(factor: &[f64], size: usize, random: &mut Random) -> Vec<f64> {
    let independent: Vec<f64> = (0..size).map(|_| random.normal()).collect();
    let entry = |i: usize| factor[i * size..][..=i].iter().zip(&independent).map(|(l, z)| l * z);
    (0..size).map(|i| entry(i).sum()).collect()
}
