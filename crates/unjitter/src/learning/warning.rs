//! What a fit should make its user wary of, as data.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::data::median;
use super::lbfgs::StopReason;
use crate::Session;
use crate::math::sigmoid;
use crate::model::Parts;
use crate::params::{Part, Role};
use crate::session::nearest;

/// A sign that the result may not be what it seems.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Warning {
    /// The optimiser stopped before it was done.
    NotConverged {
        /// Why it stopped.
        stop: StopReason,
        /// Largest entry of the gradient there.
        gradient_norm: f64,
    },
    /// The learned spread nears the gap between stamps, where imposing their order makes it too
    /// small.
    SpreadNearGap {
        /// Learned spread.
        spread: f64,
        /// Median gap between neighbouring stamps.
        median_gap: f64,
    },
    /// Positive instances are hardly more likely to be stamped than negative ones.
    RatesNearlyEqual {
        /// P(stamp | negative).
        false_rate: f64,
        /// P(stamp | positive).
        hit_rate: f64,
    },
    /// A spread has shrunk to almost nothing.
    SpreadCollapsed {
        /// Name of the parameter block.
        parameter: String,
        /// The spread.
        spread: f64,
        /// The unit of time, of which it is less than a hundredth.
        time_unit: f64,
    },
    /// A component of the mixture has almost no weight.
    ComponentCollapsed {
        /// Which one.
        component: usize,
        /// Its weight.
        weight: f64,
    },
    /// Stamps that lie far from every instance.
    FarStamps {
        /// Name of the session.
        session: String,
        /// How many.
        count: usize,
        /// The one furthest off.
        index: usize,
        /// Its time.
        time: f64,
        /// How far its delay to the nearest instance is from the mean delay, in spreads.
        spreads: f64,
    },
}

/// Share of the gap between stamps from which the learned spread is visibly too small.
const SPREAD_TO_GAP: f64 = 0.3;
/// Difference of the rates below which stamps say little about labels.
const RATE_DIFFERENCE: f64 = 0.1;
/// Spread, in units of time, below which it has collapsed.
const LEAST_SPREAD: f64 = 0.01;
/// Weight below which a component has collapsed.
const LEAST_WEIGHT: f64 = 0.01;
/// Spreads beyond which a stamp is far.
const FAR: f64 = 6.0;

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Warning::NotConverged { stop, gradient_norm } => write!(
                f,
                "learning stopped early ({}, gradient {gradient_norm:.2e}): the result may still \
                 move",
                in_words(*stop)
            ),
            Warning::SpreadNearGap { spread, median_gap } => write!(
                f,
                "the learned spread {spread:.3} is large beside the median gap {median_gap:.3} \
                 between stamps: the true spread is probably larger"
            ),
            Warning::RatesNearlyEqual { false_rate, hit_rate } => write!(
                f,
                "positive instances are stamped with probability {hit_rate:.3}, negative ones \
                 with {false_rate:.3}: the stamps hardly tell them apart"
            ),
            Warning::SpreadCollapsed { parameter, spread, time_unit } => write!(
                f,
                "{parameter} has shrunk to {spread:.2e}, with instances {time_unit:.3} apart"
            ),
            Warning::ComponentCollapsed { component, weight } => {
                write!(f, "component {component} of the noise has weight {weight:.2e} only")
            }
            Warning::FarStamps { session, count, index, time, spreads } => write!(
                f,
                "session {session}: {count} stamps lie far from every instance; stamp {index} at \
                 {time} is {spreads:.0} spreads off"
            ),
        }
    }
}

fn in_words(stop: StopReason) -> &'static str {
    match stop {
        StopReason::GradientTolerance => "the gradient is small",
        StopReason::ValueTolerance => "the value hardly falls",
        StopReason::IterationLimit => "the iterations are used up",
        StopReason::LineSearchFailed => "no lower value was found",
        StopReason::Cancelled => "it was interrupted",
    }
}

/// Everything there is to warn of, apart from convergence.
pub(super) fn warnings(
    sessions: &[Session],
    parts: &Parts,
    params: &[f64],
    time_unit: f64,
) -> Vec<Warning> {
    let noise = &params[parts.layout.part(Part::Noise)];
    let (delay, spread) = (parts.noise.delay(noise), parts.noise.spread(noise));
    let mut found = Vec::new();
    found.extend(spread_near_gap(sessions, spread * time_unit));
    found.extend(rates_nearly_equal(&params[parts.layout.part(Part::Counts)]));
    found.extend(collapsed(parts, params, time_unit));
    let (delay, spread) = (delay * time_unit, spread * time_unit);
    found.extend(sessions.iter().filter_map(|session| far_stamps(session, delay, spread)));
    found
}

fn spread_near_gap(sessions: &[Session], spread: f64) -> Option<Warning> {
    let gaps = sessions.iter().flat_map(|s| s.stamps().windows(2).map(|pair| pair[1] - pair[0]));
    let median_gap = median(gaps.collect())?;
    (spread > SPREAD_TO_GAP * median_gap).then_some(Warning::SpreadNearGap { spread, median_gap })
}

fn rates_nearly_equal(counts: &[f64]) -> Option<Warning> {
    let (false_rate, hit_rate) = (sigmoid(counts[0]), sigmoid(counts[1]));
    (hit_rate - false_rate < RATE_DIFFERENCE)
        .then_some(Warning::RatesNearlyEqual { false_rate, hit_rate })
}

fn collapsed(parts: &Parts, params: &[f64], time_unit: f64) -> Vec<Warning> {
    let mut found = Vec::new();
    for block in parts.layout.blocks() {
        let natural = block.natural(params, time_unit);
        match block.spec.role {
            Role::Spread => {
                for &spread in natural.iter().filter(|&&s| s < LEAST_SPREAD * time_unit) {
                    let parameter = block.name.clone();
                    found.push(Warning::SpreadCollapsed { parameter, spread, time_unit });
                }
            }
            Role::MixtureWeight => {
                for (component, &weight) in natural.iter().enumerate() {
                    if weight < LEAST_WEIGHT {
                        found.push(Warning::ComponentCollapsed { component, weight });
                    }
                }
            }
            _ => {}
        }
    }
    found
}

/// Stamps further from every observed instance than the delay explains.
pub(super) fn far_stamps(session: &Session, delay: f64, spread: f64) -> Option<Warning> {
    let observed = session.observed_instances();
    let times: Vec<f64> = observed.into_iter().map(|i| session.times()[i]).collect();
    if times.is_empty() {
        return None;
    }
    let distance = |z: &f64| {
        let expected = z - delay;
        (expected - times[nearest(&times, expected)]).abs() / spread
    };
    let distances: Vec<f64> = session.stamps().iter().map(distance).collect();
    let count = distances.iter().filter(|&&d| d > FAR).count();
    let (index, &spreads) = distances.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1))?;
    (count > 0).then(|| Warning::FarStamps {
        session: session.name().to_owned(),
        count,
        index,
        time: session.stamps()[index],
        spreads,
    })
}
