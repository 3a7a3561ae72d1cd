//! Bare inference, for callers with their own log-odds.

use std::sync::Arc;

use super::counts::BoundCounts;
use super::noise::BoundNoise;
use super::one_annotator::OneAnnotator;
use super::stamp_model::{Bound, Clock, Draws, StampModel};
use crate::error::require;
use crate::inference::{
    Alignment, CountMarginals, Impossible, Marginals, Order, Responsibilities, Stamp, Timeline,
};
use crate::memory::memory_limit;
use crate::session::check_order;
use crate::{Control, Error, Result};

/// Name of the session in errors.
const NAME: &str = "posterior";

/// The posterior over the alignments of one session.
#[derive(Debug)]
pub struct Posterior {
    times: Vec<f64>,
    stamps: Vec<Stamp>,
    log_odds: Vec<f64>,
    model: OneAnnotator,
    params: Vec<f64>,
    marginals: Marginals,
}

/// Where stamps may come from. By default in order and from instances only, as in the paper: the posterior
/// is then exact.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct PosteriorOptions {
    /// Whether stamps keep the order of their instances.
    pub alignment: Order,
    /// Stamps per unit of time that come from no instance, between the first and the last instance or
    /// stamp.
    pub background_rate: f64,
}

/// The posterior over which instance gave which stamp, and which instances are positive.
///
/// `times` (one per instance) and `stamps` do not decrease; `log_odds` (one per instance) are those of
/// the positive label, ±∞ if it is known. In order the posterior is exact. In any order
/// ([`Order::Free`]) it is exact if no two stamps could share an instance, and otherwise approximated by
/// belief propagation.
///
/// ```
/// use unjitter::inference::Order;
/// use unjitter::model::{counts::Bernoulli, noise::Gaussian};
/// use unjitter::{PosteriorOptions, posterior};
///
/// let counts = Bernoulli::at(0.01, 0.9)?;
/// let noise = Gaussian::at(0.5, 1.0)?;
/// let (times, log_odds) = ([0.0, 1.0, 2.0, 3.0], [-3.0, 2.0, -3.0, -3.0]);
/// let in_order = PosteriorOptions::default();
/// let found = posterior(&times, &[2.4], &log_odds, &counts, &noise, &in_order)?;
/// assert_eq!(found.best_alignment().instances, [Some(1)]);
/// assert!(found.positive()[1] > 0.95);
///
/// let options = PosteriorOptions { alignment: Order::Free, background_rate: 0.01 };
/// let found = posterior(&times, &[2.4, 40.0], &log_odds, &counts, &noise, &options)?;
/// assert_eq!(found.best_alignment().instances, [Some(1), None]);
/// # Ok::<(), unjitter::Error>(())
/// ```
pub fn posterior(
    times: &[f64],
    stamps: &[f64],
    log_odds: &[f64],
    counts: &BoundCounts,
    noise: &BoundNoise,
    options: &PosteriorOptions,
) -> Result<Posterior> {
    let PosteriorOptions { alignment, background_rate: rate } = *options;
    require("background_rate", rate, rate >= 0.0, "a number of at least 0")?;
    let model = OneAnnotator::new(Arc::clone(&counts.model), Arc::clone(&noise.model))
        .with_order(alignment)
        .with_background();
    let params = [&counts.params[..], &noise.params, &[rate.ln()]].concat();
    check(NAME, times, stamps, log_odds, model.max_count(&params))?;
    let placed = Stamp::at(stamps);
    let timeline = Timeline::new(times, &placed, 1.0);
    let clock = Clock::default();
    let found = model.bind(&params, clock, stamps.len()).posterior(timeline, log_odds, None);
    let marginals = found.map_err(|impossible| infeasible(NAME, times, stamps, impossible))?;
    let (times, log_odds) = (times.to_vec(), log_odds.to_vec());
    Ok(Posterior { times, stamps: placed, log_odds, model, params, marginals })
}

impl Posterior {
    /// log p(stamps | log-odds, times).
    pub fn log_evidence(&self) -> f64 {
        self.marginals.log_evidence
    }

    /// p(y_i = 1 | stamps), one per instance.
    pub fn positive(&self) -> Vec<f64> {
        (0..self.times.len()).map(|i| self.marginals.counts.positive(i)).collect()
    }

    /// p(o_i = c, y_i = y | stamps).
    pub fn counts(&self) -> &CountMarginals {
        &self.marginals.counts
    }

    /// p(w(i,l) | stamps).
    pub fn responsibilities(&self) -> &Responsibilities {
        &self.marginals.responsibilities
    }

    /// The single likeliest alignment. In any order it is certain to be that only if an instance gives one
    /// stamp at most; otherwise it is better than all its neighbours.
    pub fn best_alignment(&self) -> Alignment {
        self.bound().best_alignment(self.timeline(), &self.log_odds, &self.marginals)
    }

    /// `draws` alignments from the posterior, each an instance per stamp, or none for one from nowhere.
    /// Refused for stamps in any order, whose posterior is not known jointly.
    pub fn sample(
        &self,
        draws: usize,
        seed: u64,
        control: Control<'_>,
    ) -> Result<Vec<Vec<Option<usize>>>> {
        let draws = Draws { count: draws, seed, control };
        let drawn = self.bound().sample(self.timeline(), &self.log_odds, &self.marginals, draws)?;
        control.stop_if_requested()?;
        Ok(drawn)
    }

    fn timeline(&self) -> Timeline<'_> {
        Timeline::new(&self.times, &self.stamps, 1.0)
    }

    fn bound(&self) -> Bound<'_> {
        self.model.bind(&self.params, Clock::default(), self.stamps.len())
    }
}

/// Fails if the input is not usable for inference.
pub(super) fn check(
    session: &str,
    times: &[f64],
    stamps: &[f64],
    log_odds: &[f64],
    max_count: Option<usize>,
) -> Result<()> {
    check_order("time", times)?;
    check_order("stamp", stamps)?;
    check_log_odds(session, log_odds, times.len())?;
    check_capacity(session, stamps.len(), times.len(), max_count)
}

fn check_log_odds(session: &str, log_odds: &[f64], instances: usize) -> Result<()> {
    let what = "log-odds";
    if log_odds.len() != instances {
        let session = session.to_owned();
        let found = log_odds.len();
        return Err(Error::LengthMismatch { session, what, found, expected: instances });
    }
    // Without an early exit, so that it vectorises.
    if !log_odds.iter().fold(false, |bad, f| bad | f.is_nan()) {
        return Ok(());
    }
    match log_odds.iter().position(|f| f.is_nan()) {
        None => Ok(()),
        Some(index) => {
            Err(Error::BadInput {
                what, index, value: f64::NAN, expected: "a number or ±infinity"
            })
        }
    }
}

/// Fails if there are more stamps than the instances can give.
pub(super) fn check_capacity(
    session: &str,
    stamps: usize,
    instances: usize,
    max_count: Option<usize>,
) -> Result<()> {
    if instances == 0 && stamps > 0 {
        let reason = "no instance lies in an observed interval".to_owned();
        return Err(Error::Infeasible { session: session.to_owned(), stamps, instances, reason });
    }
    // Without a limit per instance, one instance explains everything.
    let max_count = max_count.unwrap_or(usize::MAX);
    let capacity = instances.saturating_mul(max_count);
    if stamps <= capacity {
        return Ok(());
    }
    Err(Error::TooManyStamps {
        session: session.to_owned(),
        stamps,
        instances,
        max_count,
        capacity,
    })
}

/// The error for a session whose stamps no alignment explains.
pub(crate) fn infeasible(
    session: &str,
    times: &[f64],
    stamps: &[f64],
    impossible: Impossible,
) -> Error {
    let session = session.to_owned();
    let reason = match impossible {
        Impossible::TooLarge(bytes) => {
            let limit = memory_limit();
            let (stamps, instances) = (stamps.len(), times.len());
            return Error::TooLarge { session, stamps, instances, bytes, limit };
        }
        Impossible::Stamp(l) => format!(
            "no instance can have given stamp {l} at {}: every delay lies outside the support of \
             the noise model",
            stamps[l]
        ),
        Impossible::Unsettled => {
            "the sum over all owners of stamps did not converge; stamps in order, or fewer stamps of one \
             instance, can be summed exactly"
                .to_owned()
        }
        Impossible::OfChain(needed) => {
            format!("labels that form a chain, or are of several classes, need {needed}")
        },
        Impossible::Together => {
            "the stamps are packed too closely for the counts and delays that are possible, \
                 or an instance must give a stamp that is not there"
                .to_owned()
        }
    };
    Error::Infeasible { session, stamps: stamps.len(), instances: times.len(), reason }
}
