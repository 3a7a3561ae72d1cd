//! Which simple change would make a session fit?
//!
//! The evidence of the session is profiled over a constant shift of its stamps and over another spread, by
//! moving the annotator's parameters of these roles, and for stamps in another unit, with the rest as
//! learned. The best change counts if it gains more than chance would in any of the sessions. A session that
//! looks well is only asked for a small change of either kind.

use serde::Serialize;

use crate::model::Fitted;
use crate::params::Role;
use crate::{Result, Session};

/// Shifts that are tried, in halves of the spread, to either side.
const SHIFTS: i32 = 40;
/// Spreads that are tried, in quarters of a doubling, to either side.
const SPREADS: i32 = 12;
/// Factors between units of time.
const UNITS: [f64; 6] = [1e-6, 1e-3, 1.0 / 60.0, 60.0, 1e3, 1e6];
/// Log evidence that a change must gain, and as much more as there are sessions (their logarithm): with one
/// free number, chance gains 4 in one session of 200.
const GAIN: f64 = 4.0;
/// Log evidence that a small change must gain for others to be tried.
const PROMISING: f64 = 1.0;

/// A change that would make a session fit, and the log evidence that it gains.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Remedy {
    /// Its stamps moved by a constant.
    Shift {
        /// What to add to them, in the unit of the data.
        by: f64,
        /// What that gains.
        gain: f64,
    },
    /// Its own spread, as of another person.
    Spread {
        /// Its own over the learned one.
        factor: f64,
        /// What that gains.
        gain: f64,
    },
    /// Its stamps in another unit.
    Unit {
        /// What to multiply them by.
        factor: f64,
        /// What that gains.
        gain: f64,
    },
}

impl Remedy {
    /// What it gains.
    pub fn gain(&self) -> f64 {
        let (Self::Shift { gain, .. } | Self::Spread { gain, .. } | Self::Unit { gain, .. }) = self;
        *gain
    }
}

/// The best change, if one would make the session fit; it is one of so many.
pub(super) fn remedy(
    fitted: &Fitted,
    session: &Session<'_>,
    sessions: usize,
    is_suspect: bool,
) -> Result<Option<Remedy>> {
    let mut all = moved(fitted, session, is_suspect)?;
    if is_suspect {
        all.extend(other_units(fitted, session)?);
    }
    let best = all.into_iter().max_by(|a, b| a.gain().total_cmp(&b.gain()));
    Ok(best.filter(|best| best.gain() > GAIN + (sessions as f64).ln()))
}

/// The best shift and the best spread; neither if the session looks well and small ones gain nothing.
fn moved(fitted: &Fitted, session: &Session<'_>, is_suspect: bool) -> Result<Vec<Remedy>> {
    fitted.with_log_odds(session, |data, _, log_odds, bound| {
        let here = bound.log_evidence(log_odds)?;
        let gain = |role: Role, by: f64| {
            let mut params = fitted.params.clone();
            if !add(fitted, role, by, &mut params) {
                return f64::NEG_INFINITY;
            }
            let there = fitted.parts.bind(&params, data).log_evidence(log_odds);
            there.map_or(f64::NEG_INFINITY, |there| there - here)
        };
        let half = 0.5 * fitted.learned().spread / fitted.time_unit;
        let quarter = 0.25 * std::f64::consts::LN_2;
        let small = [(Role::Delay, half), (Role::Spread, 2.0 * quarter)];
        let promises =
            |(role, by): &(Role, f64)| gain(*role, *by).max(gain(*role, -by)) > PROMISING;
        if !is_suspect && !small.iter().any(promises) {
            return Ok(Vec::new());
        }
        let (by, shifted) = best(SHIFTS, half, |by| gain(Role::Delay, by));
        let (log_factor, widened) = best(SPREADS, quarter, |by| gain(Role::Spread, by));
        // Stamps that are later by as much as the delay would have to grow.
        let shift = Remedy::Shift { by: -by * fitted.time_unit, gain: shifted };
        Ok(vec![shift, Remedy::Spread { factor: log_factor.exp(), gain: widened }])
    })
}

/// Adds to all parameters of a role; false if there is none.
fn add(fitted: &Fitted, role: Role, by: f64, params: &mut [f64]) -> bool {
    let all = fitted.parts.layout.parameters().iter();
    let mut any = false;
    for parameter in all.filter(|parameter| parameter.spec.role == role) {
        params[parameter.range.clone()].iter_mut().for_each(|own| *own += by);
        any = true;
    }
    any
}

/// The change with the largest gain among multiples of a step, then among quarters of it around that.
fn best(most: i32, step: f64, gain: impl Fn(f64) -> f64) -> (f64, f64) {
    let largest = |(around, step, most): (f64, f64, i32)| {
        let tried = (-most..=most).map(|k| around + step * f64::from(k));
        let gains = tried.map(|by| (by, gain(by)));
        gains.max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((around, f64::NEG_INFINITY))
    };
    let (around, _) = largest((0.0, step, most));
    largest((around, 0.25 * step, 3))
}

/// What stamps in other units would gain.
fn other_units(fitted: &Fitted, session: &Session<'_>) -> Result<Vec<Remedy>> {
    // Annotated intervals would have to be in the other unit too.
    if session.observed().is_some() || session.stamps().is_empty() {
        return Ok(Vec::new());
    }
    let here = fitted.log_evidence(session)?;
    let with = |factor: f64| {
        let stamps: Vec<f64> = session.stamps().iter().map(|stamp| stamp * factor).collect();
        // The same presses on another scale: densities change with it.
        let densities = stamps.len() as f64 * factor.ln();
        let there = fitted.log_evidence(&session.clone().with_stamps(stamps).ok()?).ok()?;
        Some(Remedy::Unit { factor, gain: there + densities - here })
    };
    Ok(UNITS.into_iter().filter_map(with).collect())
}
