//! The annotator as a function for an external optimiser.
//!
//! A network provides the log-odds; the annotator's rates and delays are learned with it. [`Annotator`]
//! has the layout of the parameters, their start values and their priors. One pass over the alignments
//! gives all derivatives of the log evidence:
//!
//! ```text
//! ∂ log Z / ∂f_i    = p(y_i = 1 | z) − sigmoid(f_i)
//! ∂ log Z / ∂counts = Σ_y Σ_c E[instances with count c and label y | z] · ∂ log p(c | y)
//! ∂ log Z / ∂noise  = Σ_{i,l} p(w(i,l) | z) · ∂ log p(z_l − t_i)
//! ∂ log Z / ∂log ρ  = E[stamps from nowhere | z] − ρ·T
//! ```
//!
//! (sections 8 and 19 of `docs/model.md`). The type holds no values: parameters are a flat slice of
//! unconstrained numbers, counts before noise before background, in the order of [`Annotator::layout`].

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use super::counts::Counts;
use super::noise::Noise;
use super::one_annotator::OneAnnotator;
use super::posterior::{check, infeasible};
use super::stamp_model::{Clock, Learned, ROWS, Rows, StampModel, Sums};
use crate::error::require;
use crate::inference::{Order, Stamp, Timeline};
use crate::params::Layout;
use crate::prior::Priors;
use crate::{Error, Result};

/// A first guess: annotators are mostly silent, and mostly right. Times are in units.
pub(crate) const GUESS: Learned =
    Learned { delay: 0.0, spread: 1.0, miss_rate: 0.1, false_rate: 0.01, background_rate: 1e-3 };

/// A stamp model with the layout of its parameters.
///
/// Delays are measured in multiples of `time_unit`, so that parameters and priors are of order one in any
/// unit of the data. Natural values (a spread, a stamp, the evidence) are in the unit of the data.
#[derive(Debug)]
pub struct Annotator {
    model: Box<dyn StampModel>,
    time_unit: f64,
    layout: Layout,
}

/// The log evidence of one session and its derivatives.
#[derive(Debug, Clone, PartialEq)]
pub struct Gradient {
    /// log p(stamps | log-odds, times).
    pub log_evidence: f64,
    /// Its derivative in each log-odds; zero if those are infinite (a known label).
    pub d_log_odds: Vec<f64>,
    /// Its derivative in each unconstrained parameter.
    pub d_params: Vec<f64>,
}

impl Annotator {
    /// Builds counts and noise from their settings, with stamps in this order and a background.
    pub fn new(counts: &Counts, noise: &Noise, order: Order, time_unit: f64) -> Result<Self> {
        require("time_unit", time_unit, time_unit > 0.0, "a time above 0")?;
        let (counts, noise) = (Arc::from(counts.build()?), Arc::from(noise.build(time_unit)?));
        let model = Box::new(OneAnnotator::new(counts, noise).with_order(order).with_background());
        Ok(Self { layout: Layout::new(model.parts()), model, time_unit })
    }

    /// The parameters: those of the counts, of the noise, and the rate of the background.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Start parameters: natural `values` by full name (`noise.spread`), and a first guess for the others.
    pub fn start(&self, values: &[(&str, &[f64])]) -> Result<Vec<f64>> {
        let mut params = self.model.start(&GUESS);
        for (name, natural) in values {
            let (range, numbers) = self.layout.resolve(name, natural, self.time_unit)?;
            params[range].copy_from_slice(&numbers);
        }
        Ok(params)
    }

    /// Natural values of every parameter, by full name.
    pub fn natural(&self, params: &[f64]) -> Result<Vec<(&str, Vec<f64>)>> {
        self.check_params(params)?;
        let natural =
            |parameter| crate::params::Parameter::natural(parameter, params, self.time_unit);
        Ok(self.layout.parameters().iter().map(|b| (b.name.as_str(), natural(b))).collect())
    }

    /// Mean and standard deviation of the delay (its scale if that is infinite).
    pub fn delay_and_spread(&self, params: &[f64]) -> Result<(f64, f64)> {
        self.check_params(params)?;
        let Learned { delay, spread, .. } = self.model.learned(params);
        Ok((delay * self.time_unit, spread * self.time_unit))
    }

    /// The log prior of the free parameters, and its gradient. Priors measure delays in the unit of time.
    pub fn log_prior(
        &self,
        priors: &Priors,
        params: &[f64],
        is_free: &[bool],
    ) -> Result<(f64, Vec<f64>)> {
        priors.check()?;
        self.check_params(params)?;
        let mut gradient = vec![0.0; params.len()];
        let value = priors.log_density(&self.layout, params, is_free, &mut gradient);
        Ok((value, gradient))
    }

    /// Fails if there are too few or too many parameters, or one is NaN.
    fn check_params(&self, params: &[f64]) -> Result<()> {
        let expected = self.layout.dim();
        if params.len() != expected {
            let name = "counts, noise and background".to_owned();
            return Err(Error::ParameterLength { name, found: params.len(), expected });
        }
        for parameter in self.layout.parameters() {
            if let Some(&value) = params[parameter.range.clone()].iter().find(|v| v.is_nan()) {
                let expected = "a number; has learning diverged?";
                return Err(Error::OutOfRange { name: parameter.name.clone(), value, expected });
            }
        }
        Ok(())
    }

    /// Log evidence and derivatives at the unconstrained parameters `params`. `session` is its name
    /// in errors; the slices are as in [`posterior`](crate::posterior).
    ///
    /// ```
    /// use unjitter::inference::Order;
    /// use unjitter::model::Annotator;
    /// use unjitter::{Counts, Noise};
    ///
    /// let annotator = Annotator::new(&Counts::Bernoulli, &Noise::Gaussian, Order::Free, 1.0)?;
    /// let params = annotator.start(&[("noise.delay", &[0.5]), ("noise.spread", &[0.3])])?;
    /// let (times, stamps, log_odds) = ([0.0, 1.0, 2.0], [1.6], [-2.0; 3]);
    /// let gradient = annotator.gradient("walk", &params, &times, &stamps, &log_odds)?;
    /// // The press at 1.6 speaks for the instance at 1.
    /// assert!(gradient.d_log_odds[1] > 0.0 && gradient.d_log_odds[0] < 0.0);
    /// # Ok::<(), unjitter::Error>(())
    /// ```
    pub fn gradient(
        &self,
        session: &str,
        params: &[f64],
        times: &[f64],
        stamps: &[f64],
        log_odds: &[f64],
    ) -> Result<Gradient> {
        self.check_params(params)?;
        check(session, times, stamps, log_odds, self.model.max_count(params))?;
        let placed = Stamp::at(stamps);
        let timeline = Timeline::new(times, &placed, self.time_unit);
        let rows = Given { log_odds, d_log_odds: Mutex::new(vec![0.0; log_odds.len()]) };
        let mut sums = Sums::zeros(0, params.len());
        let bound = self.model.bind(params, Clock::default(), stamps.len());
        bound
            .add(timeline, &rows, &mut sums)
            .map_err(|why| infeasible(session, times, stamps, why))?;
        Ok(Gradient {
            // A density per unit of time becomes one per unit of the data.
            log_evidence: sums.value - stamps.len() as f64 * self.time_unit.ln(),
            d_log_odds: rows.d_log_odds.into_inner().unwrap_or_else(PoisonError::into_inner),
            d_params: sums.d_annotator,
        })
    }
}

/// Log-odds as they were given, and their derivatives.
struct Given<'a> {
    log_odds: &'a [f64],
    d_log_odds: Mutex<Vec<f64>>,
}

impl Rows for Given<'_> {
    fn at_a_time(&self) -> usize {
        ROWS
    }

    fn log_odds<'a>(&'a self, instances: Range<usize>, _: &'a mut [f64]) -> &'a [f64] {
        &self.log_odds[instances]
    }

    fn pull_back(&self, instances: Range<usize>, d_log_odds: &mut [f64], _: &mut Sums) {
        let mut all = self.d_log_odds.lock().unwrap_or_else(PoisonError::into_inner);
        all[instances].copy_from_slice(d_log_odds);
    }

    /// The caller may be outside any pool, and a pool started for it would stay.
    fn in_parallel(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests;
