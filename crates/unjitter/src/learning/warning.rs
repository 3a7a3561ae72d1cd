//! Warnings of a fit.
//!
//! A warning is kept only if it separates bad fits from good ones: `docs/model.md` has the figures. Each
//! names a cure.

use super::data::{SessionData, gaps, grid_spacing};
use crate::inference::Order;
use crate::math::lower_median;
use crate::model::{Learned, Mode, Parts};
use crate::params::{Layout, Parameter};
use crate::session::nearest;
use crate::{Fitted, Session, Warning};

/// Most fits with a lower confidence have gone wrong.
const LEAST_CONFIDENCE: f64 = 0.65;
/// Share of the gap between stamps beyond which the learned spread is visibly too small.
const SPREAD_TO_GAP: f64 = 0.4;
/// Spreads beyond which a stamp is far.
const FAR: f64 = 6.0;

/// All warnings except those of convergence.
pub(super) fn warnings(
    sessions: &[Session],
    data: &[SessionData<'_>],
    parts: &Parts,
    mode: &Mode,
    order: Order,
) -> Vec<Warning> {
    let Learned { delay, spread, background_rate, .. } = mode.learned;
    let mut found = Vec::new();
    found.extend(unsure_detector(data, parts, &mode.params));
    if order == Order::Ordered {
        found.extend(spread_near_gap(sessions, spread));
    }
    if background_rate == 0.0 {
        // Otherwise they come from nowhere, and spoil nothing.
        found.extend(sessions.iter().filter_map(|session| far_stamps(session, delay, spread)));
    }
    let coarse = grid_spacing(sessions).filter(|spacing| spread < spacing / 2.0);
    found.extend(coarse.map(|spacing| Warning::TinySpread { spread, spacing }));
    found
}

/// Warns of parameters that the data cannot tell apart, given their places.
pub(super) fn trade_places(layout: &Layout, places: &[usize]) -> Option<Warning> {
    let is_one = |parameter: &&Parameter| places.iter().any(|at| parameter.range.contains(at));
    let named = layout.parameters().iter().filter(is_one);
    let parameters: Vec<String> = named.map(|parameter| parameter.name.clone()).collect();
    (parameters.len() > 1).then_some(Warning::TradePlaces { parameters })
}

fn unsure_detector(data: &[SessionData<'_>], parts: &Parts, params: &[f64]) -> Option<Warning> {
    let theta = &params[parts.detector()];
    let (mut expected, mut squares) = (0.0, 0.0);
    let mut log_odds = Vec::new();
    for session in data {
        let times = &session.in_time.times;
        log_odds.resize(times.len() * parts.classes(), 0.0);
        parts.classifier.log_odds(theta, session.features.view(), &mut log_odds);
        for p in parts.stamps.presence(&params[parts.detector().end..], times, &log_odds) {
            expected += p;
            squares += p * p;
        }
    }
    let confidence = squares / expected;
    (confidence < LEAST_CONFIDENCE).then_some(Warning::UnsureDetector { confidence })
}

fn spread_near_gap(sessions: &[Session], spread: f64) -> Option<Warning> {
    let median_gap = lower_median(sessions.iter().flat_map(gaps).collect())?;
    (spread > SPREAD_TO_GAP * median_gap).then_some(Warning::SpreadNearGap { spread, median_gap })
}

/// Stamps further from every observed instance than the delay explains.
fn far_stamps(session: &Session, delay: f64, spread: f64) -> Option<Warning> {
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

impl Fitted {
    /// Warns of stamps of a session, learned from or not, that lie far from every instance and cannot
    /// come from nowhere; they are still aligned, to the nearest.
    pub fn far_stamps(&self, session: &Session) -> Option<Warning> {
        let Learned { delay, spread, background_rate, .. } = self.learned();
        if background_rate > 0.0 { None } else { far_stamps(session, delay, spread) }
    }
}
