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
//! (sections 8 and 19 of `docs/model.md`). Several annotators, whose numbers may differ, and labels that form a
//! chain are those of a fitted detector. The type holds no values: parameters are a flat slice of
//! unconstrained numbers, those of the labels before counts, noise and background, and deviations of groups
//! last, in the order of [`Annotator::layout`].

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use super::classes::Classes;
use super::counts::Counts;
use super::groups::{Effect, Factor, Groups, Members};
use super::in_time::{InTime, SessionStamps};
use super::labelling::Labelling;
use super::noise::Noise;
use super::one_annotator::OneAnnotator;
use super::posterior::{check, infeasible};
use super::stamp_model::{Learned, ROWS, Rows, Sums};
use super::stamp_parts::StampParts;
use crate::error::require;
use crate::inference::Order;
use crate::labels::Chain;
use crate::math::sigmoid;
use crate::params::{Layout, Parameter};
use crate::prior::Priors;
use crate::{Error, Result};

/// A first guess: annotators are mostly silent, and mostly right. Times are in units.
pub(crate) const GUESS: Learned =
    Learned { delay: 0.0, spread: 1.0, miss_rate: 0.1, false_rate: 0.01, background_rate: 1e-3 };

/// A first guess of the rates of a chain of labels: runs of two units, ten units apart.
const RATES: [f64; 2] = [0.1, 0.5];

/// Everything between log-odds and stamps, with the layout of its parameters.
///
/// Delays are measured in multiples of `time_unit`, so that parameters and priors are of order one in any
/// unit of the data. Natural values (a spread, a stamp, the evidence) are in the unit of the data.
#[derive(Debug)]
pub struct Annotator {
    parts: StampParts,
    time_unit: f64,
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
    /// Builds counts and noise from their settings, with stamps in this order and a background of the same rate
    /// in all sessions: a loss sees some of them at a time. Labels are independent.
    pub fn new(counts: &Counts, noise: &Noise, order: Order, time_unit: f64) -> Result<Self> {
        require("time_unit", time_unit, time_unit > 0.0, "a time above 0")?;
        let (counts, noise) = (Arc::from(counts.build()?), Arc::from(noise.build(time_unit)?));
        let model = Arc::new(OneAnnotator::new(counts, noise).with_order(order).with_background());
        Ok(Self {
            parts: StampParts::new(
                Labelling::default(),
                Classes::default(),
                model,
                Groups::default(),
            ),
            time_unit,
        })
    }

    /// The same with labels that depend on each other, and stamps about something else than events.
    pub fn with_labels(self, labelling: Labelling) -> Self {
        let StampParts { classes, model, groups, .. } = self.parts;
        Self { parts: StampParts::new(labelling, classes, model, groups), ..self }
    }

    /// The same with what differs between known groups of stamps. How wide they scatter is given in the unit of
    /// the data where it is a time, and is not learned: together with deviations, the most probable is none.
    pub fn with_groups(self, effects: Vec<Effect>) -> Result<Self> {
        let StampParts { labelling, classes, model, .. } = self.parts;
        let known = |(k, effect): (usize, &Effect)| {
            checked(effect, &effects[..k]).map(|own| in_units(own, self.time_unit))
        };
        let effects = effects.iter().enumerate().map(known).collect::<Result<_>>()?;
        let groups = Groups::new(effects, model.as_ref())?;
        Ok(Self { parts: StampParts::new(labelling, classes, model, groups), ..self })
    }

    /// The groups that somebody's stamps are of, for [`SessionStamps`]. Unknown ones have the values of all
    /// others together.
    pub fn members<'a>(&self, group: impl Fn(Factor) -> Option<&'a str>) -> Members {
        self.parts.groups.members_of(group)
    }

    /// The parameters: those of the labels, of the counts, of the noise, the rate of the background, and deviations
    /// of groups.
    pub fn layout(&self) -> &Layout {
        &self.parts.layout
    }

    /// Start parameters: natural `values` by full name (`noise.spread`), and a first guess for the others.
    pub fn start(&self, values: &[(&str, &[f64])]) -> Result<Vec<f64>> {
        let mut params = vec![0.0; self.layout().dim()];
        let guess = self.parts.model.start(&GUESS);
        params[self.parts.annotator()].copy_from_slice(&guess);
        params[self.parts.ends()].iter_mut().zip(&guess).for_each(|(end, own)| *end = *own);
        let rates = params[self.parts.labels()].iter_mut().zip(RATES);
        rates.for_each(|(own, rate)| *own = rate.ln());
        for (name, natural) in values {
            let (range, numbers) = self.layout().resolve(name, natural, self.time_unit)?;
            params[range].copy_from_slice(&numbers);
        }
        Ok(params)
    }

    /// Natural values of every parameter, by full name.
    pub fn natural(&self, params: &[f64]) -> Result<Vec<(&str, Vec<f64>)>> {
        self.check_params(params)?;
        let natural = |parameter: &Parameter| parameter.natural(params, self.time_unit);
        Ok(self.layout().parameters().iter().map(|b| (b.name.as_str(), natural(b))).collect())
    }

    /// Mean and standard deviation of the delay (its scale if that is infinite).
    pub fn delay_and_spread(&self, params: &[f64]) -> Result<(f64, f64)> {
        self.check_params(params)?;
        let annotator = &params[self.parts.annotator()];
        let Learned { delay, spread, .. } = self.parts.model.learned(annotator);
        Ok((delay * self.time_unit, spread * self.time_unit))
    }

    /// The log prior of the free parameters, and its gradient. Priors measure delays in the unit of time, and
    /// deviations are normal.
    pub fn log_prior(
        &self,
        priors: &Priors,
        params: &[f64],
        is_free: &[bool],
    ) -> Result<(f64, Vec<f64>)> {
        priors.check()?;
        self.check_params(params)?;
        let mut gradient = vec![0.0; params.len()];
        let value = priors.log_density(self.layout(), params, is_free, &mut gradient);
        let (groups, own) = (&self.parts.groups, self.parts.deviations());
        let (deviations, is_free) = (&params[own.clone()], &is_free[own.clone()]);
        let scales = groups.scales();
        let deviate = groups.log_density(&scales, deviations, is_free, &mut gradient[own]);
        Ok((value + deviate, gradient))
    }

    /// Fails if there are too few or too many parameters, or one is NaN.
    fn check_params(&self, params: &[f64]) -> Result<()> {
        let expected = self.layout().dim();
        if params.len() != expected {
            let name = "the annotator".to_owned();
            return Err(Error::ParameterLength { name, found: params.len(), expected });
        }
        for parameter in self.layout().parameters() {
            if let Some(&value) = params[parameter.range.clone()].iter().find(|v| v.is_nan()) {
                let expected = "a number; has learning diverged?";
                return Err(Error::OutOfRange { name: parameter.name.clone(), value, expected });
            }
        }
        Ok(())
    }

    /// p(y_i = 1) of every instance before any stamp is seen.
    pub fn probabilities(
        &self,
        session: &str,
        params: &[f64],
        times: &[f64],
        log_odds: &[f64],
    ) -> Result<Vec<f64>> {
        self.check_params(params)?;
        check(session, times, &[], log_odds, None)?;
        let rates = self.parts.labelling.rates(&params[self.parts.labels()], self.time_unit);
        Ok(match rates.filter(|_| !times.is_empty()) {
            Some(rates) => Chain::new(times, 1, Some(rates), log_odds).presence(),
            None => log_odds.iter().map(|&f| sigmoid(f)).collect(),
        })
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
        let members = vec![None; self.parts.groups.effects().len()];
        let stamps = SessionStamps { stamps, widths: &[], annotators: &[], members: &[members] };
        self.gradient_of(session, params, times, &stamps, log_odds)
    }

    /// The same with the stamps of several annotators, in intervals, or of known groups.
    pub fn gradient_of(
        &self,
        session: &str,
        params: &[f64],
        times: &[f64],
        given: &SessionStamps<'_>,
        log_odds: &[f64],
    ) -> Result<Gradient> {
        self.check_params(params)?;
        let stamps = given.stamps;
        check(session, times, stamps, log_odds, None)?;
        given.check(session, &self.parts.groups)?;
        let in_time = InTime::given(times, given, self.time_unit);
        let max_count = self.parts.model.max_count(&params[self.parts.annotator()]);
        in_time.check_capacity(session, max_count)?;
        let rows = Given { log_odds, d_log_odds: Mutex::new(vec![0.0; log_odds.len()]) };
        let mut sums = Sums::zeros(0, params.len());
        let bound = self.parts.bind(params, &in_time);
        bound.add(&rows, &mut sums).map_err(|why| infeasible(session, times, stamps, why))?;
        Ok(Gradient {
            // A density per unit of time becomes one per unit of the data.
            log_evidence: sums.value - stamps.len() as f64 * self.time_unit.ln(),
            d_log_odds: rows.d_log_odds.into_inner().unwrap_or_else(PoisonError::into_inner),
            d_params: sums.d_annotator,
        })
    }
}

/// An effect with its groups in order, each once; it may not be among the others.
fn checked(effect: &Effect, others: &[Effect]) -> Result<Effect> {
    let Effect { variation, ref names, scale } = *effect;
    let name = variation.to_string();
    if others.iter().any(|other| other.variation == variation) {
        return Err(Error::VariesTwice { variation: name });
    }
    if names.is_empty() {
        return Err(Error::NoGroups { variation: name });
    }
    let what = format!("how wide {name} scatters");
    require(&what, scale, scale > 0.0, "a number above 0")?;
    let mut names = names.clone();
    names.sort();
    names.dedup();
    Ok(Effect { variation, names, scale })
}

/// The same with times in this unit.
fn in_units(effect: Effect, unit: f64) -> Effect {
    let unit = if effect.variation.what.is_shift() { unit } else { 1.0 };
    Effect { scale: effect.scale / unit, ..effect }
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
