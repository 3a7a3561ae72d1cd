//! How sure a fit is of its parameters.
//!
//! Near its maximum the posterior of the parameters is about normal on the unconstrained scale. Its
//! covariance, the inverse of the observed information, serves to draw parameters. If there are many
//! sessions or subjects, standard errors come from how much these differ (the sandwich), which holds also
//! if the model does not; otherwise from the information.

use serde::{Deserialize, Serialize};

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
    fn on(self, value: f64) -> f64 {
        match self {
            Scale::Plain => value,
            Scale::Log => value.ln(),
            Scale::Logit => crate::math::logit(value),
        }
    }

    fn back(self, value: f64) -> f64 {
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
        let mut params = params.to_vec();
        let slopes: Vec<f64> = self
            .places
            .iter()
            .map(|&at| {
                let here = params[at];
                let mut beside = |step: f64| {
                    params[at] = here + step;
                    scale.on(value_of(&params))
                };
                let slope = (beside(STEP) - beside(-STEP)) / (2.0 * STEP);
                params[at] = here;
                slope
            })
            .collect();
        if slopes.iter().all(|&slope| slope == 0.0) {
            return None;
        }
        let size = self.places.len();
        let rows = self.covariance().chunks_exact(size).zip(&slopes);
        let along = |row: &[f64]| row.iter().zip(&slopes).map(|(c, s)| c * s).sum::<f64>();
        let error = rows.map(|(row, slope)| slope * along(row)).sum::<f64>().max(0.0).sqrt();
        let value = value_of(&params);
        let reach = error * self.quantile(0.5 + level / 2.0);
        let middle = scale.on(value);
        Some(Estimate {
            value,
            standard_error: error * scale.slope(value).abs(),
            low: scale.back(middle - reach),
            high: scale.back(middle + reach),
        })
    }

    /// How many standard errors an interval reaches.
    fn quantile(&self, p: f64) -> f64 {
        match self.clusters() {
            Some(clusters) => student_t_quantile(p, clusters as f64 - 1.0),
            None => normal_quantile(p),
        }
    }

    /// A way to draw parameters from the posterior.
    pub(crate) fn draws(&self) -> Option<PosteriorDraws<'_>> {
        let mut factor = self.posterior.clone();
        let size = self.places.len();
        factorise(&mut factor, size).then_some(PosteriorDraws { places: &self.places, factor })
    }
}

/// Draws of parameters.
pub(crate) struct PosteriorDraws<'a> {
    places: &'a [usize],
    factor: Vec<f64>,
}

impl PosteriorDraws<'_> {
    /// Moves the learned parameters by one draw, or by its opposite.
    pub(crate) fn draw(&self, params: &[f64], random: &mut Random) -> [Vec<f64>; 2] {
        let size = self.places.len();
        let normal: Vec<f64> = (0..size).map(|_| random.normal()).collect();
        let mut both = [params.to_vec(), params.to_vec()];
        for (i, &at) in self.places.iter().enumerate() {
            let row = &self.factor[i * size..][..=i];
            let step: f64 = row.iter().zip(&normal).map(|(l, z)| l * z).sum();
            both[0][at] += step;
            both[1][at] -= step;
        }
        both
    }
}
