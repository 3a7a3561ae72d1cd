//! What a fit should make its user wary of, as data.
//!
//! A warning is kept only if it tells bad fits from good ones: `docs/model.md` has the figures. Each says
//! what to do.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::data::SessionData;
use super::lbfgs::StopReason;
use crate::Session;
use crate::error::gibibytes;
use crate::math::{lower_median, sigmoid};
use crate::model::{Learned, Parts};
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
    /// What the detector takes for events it is not sure of itself.
    UnsureDetector {
        /// Σ p² ÷ Σ p over the instances: how probable an event is, where one is.
        confidence: f64,
    },
    /// The learned spread nears the gap between stamps, where imposing their order makes it too
    /// small.
    SpreadNearGap {
        /// Learned spread.
        spread: f64,
        /// Median gap between neighbouring stamps.
        median_gap: f64,
    },
    /// A start or a step was given up because its sums would have taken more memory than is allowed.
    MemoryLimit {
        /// Name of the first session that this happened to.
        session: String,
        /// What its sums would have taken, about.
        bytes: u64,
        /// The limit.
        limit: u64,
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

/// Confidence below which most fits have gone wrong.
const LEAST_CONFIDENCE: f64 = 0.65;
/// Share of the gap between stamps from which the learned spread is visibly too small.
const SPREAD_TO_GAP: f64 = 0.4;
/// Spreads beyond which a stamp is far.
const FAR: f64 = 6.0;

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Warning::NotConverged { stop, gradient_norm } => write!(
                f,
                "learning stopped early ({}, gradient {gradient_norm:.2e}): the result may still \
                 move; {}",
                in_words(*stop),
                cure(*stop)
            ),
            Warning::UnsureDetector { confidence } => write!(
                f,
                "the detector is not sure of its events: it gives them a probability of \
                 {confidence:.2} on average. Either the features hardly tell events apart, or the fit \
                 has gone wrong, and delay and spread with it; check unit and clock of the stamps, try \
                 more restarts, more stamps or other features"
            ),
            Warning::SpreadNearGap { spread, median_gap } => write!(
                f,
                "the learned spread {spread:.3} is large beside the median gap {median_gap:.3} \
                 between stamps: the true spread is probably larger, by half in most cases; hold it \
                 at its value if you know that"
            ),
            Warning::MemoryLimit { session, bytes, limit } => write!(
                f,
                "session {session}: a start or a step of learning would have taken {}, with a limit of {}, \
                 and was given up; what was learned may be worse for it. Allow more memory, or check unit \
                 and clock of the stamps",
                gibibytes(*bytes),
                gibibytes(*limit)
            ),
            Warning::FarStamps { session, count, index, time, spreads } => write!(
                f,
                "session {session}: {count} stamps lie far from every instance and widen the learned \
                 spread; stamp {index} at {time} is {spreads:.0} spreads off; leave them out, or say \
                 when somebody was annotating"
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

fn cure(stop: StopReason) -> &'static str {
    match stop {
        StopReason::IterationLimit => "allow more iterations",
        StopReason::Cancelled => "let it run to its end",
        _ => "try more restarts",
    }
}

/// Everything there is to warn of, apart from convergence.
pub(super) fn warnings(
    sessions: &[Session],
    data: &[SessionData<'_>],
    parts: &Parts,
    params: &[f64],
    time_unit: f64,
) -> Vec<Warning> {
    let Learned { delay, spread, .. } = parts.stamp_model.learned(&params[parts.annotator()]);
    let (delay, spread) = (delay * time_unit, spread * time_unit);
    let mut found = Vec::new();
    found.extend(unsure_detector(data, parts, params));
    found.extend(spread_near_gap(sessions, spread));
    found.extend(sessions.iter().filter_map(|session| far_stamps(session, delay, spread)));
    found
}

fn unsure_detector(data: &[SessionData<'_>], parts: &Parts, params: &[f64]) -> Option<Warning> {
    let theta = &params[parts.detector()];
    let (mut expected, mut squares) = (0.0, 0.0);
    let mut log_odds = Vec::new();
    for session in data {
        log_odds.resize(session.in_time.times.len(), 0.0);
        parts.classifier.log_odds(theta, session.features.view(), &mut log_odds);
        for p in log_odds.iter().map(|&f| sigmoid(f)) {
            expected += p;
            squares += p * p;
        }
    }
    let confidence = squares / expected;
    (confidence < LEAST_CONFIDENCE).then_some(Warning::UnsureDetector { confidence })
}

fn spread_near_gap(sessions: &[Session], spread: f64) -> Option<Warning> {
    let gaps = sessions.iter().flat_map(|s| s.stamps().windows(2).map(|pair| pair[1] - pair[0]));
    let median_gap = lower_median(gaps.collect())?;
    (spread > SPREAD_TO_GAP * median_gap).then_some(Warning::SpreadNearGap { spread, median_gap })
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
