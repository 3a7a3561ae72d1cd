//! Clocks that are off: where would the stamps of a session have to be moved?
//!
//! Under a detector that is known, the evidence of a session's stamps is profiled over shifts of minutes and
//! over clocks that run fast or slow. A first look scores stamps as a superposition: Σ_l log(ρ + Σ_i m_i p(z_l −
//! t_i)), with m_i the stamps that instance i is expected to give. The sum over instances is tabulated once, so a
//! shift costs a look-up for each stamp. The best places are then compared by the evidence over all alignments.

mod intensity;
mod search;

use rayon::prelude::*;
use serde::Serialize;

use crate::error::require;
use crate::model::{Factor, Fitted};
use crate::{Control, Error, Result, Session, Warning};
use search::Clocked;

/// How far to look.
#[derive(Debug, Clone, PartialEq)]
pub struct SyncOptions {
    /// What shares a clock.
    pub by: Factor,
    /// The furthest that a clock may be ahead or behind, in the unit of the data; by default twice the mean
    /// time between stamps.
    pub range: Option<f64>,
    /// The most that it may gain or lose per unit of time; 0 for clocks that run at the right speed.
    pub drift: f64,
    /// How wide offsets and drifts of other clocks scatter, if that is known; offsets in the unit of the data.
    pub scatter: Option<(f64, f64)>,
}

impl Default for SyncOptions {
    fn default() -> Self {
        Self { by: Factor::Clock, range: None, drift: 0.05, scatter: None }
    }
}

/// Whether a clock was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// One place explains the stamps far better than all others.
    Found,
    /// Several do about equally well.
    Several,
    /// The stamps hardly tell where they belong.
    Flat,
    /// There are no stamps.
    NoStamps,
}

/// The clock of a group of stamps, beside that of the recordings.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SyncedClock {
    /// The group: a session, unless clocks are shared.
    pub name: String,
    /// Its stamps.
    pub stamps: usize,
    /// Whether it was found.
    pub verdict: Verdict,
    /// How far its stamps are late, beyond the learned delay, in the middle of a session; in the unit of the
    /// data.
    pub offset: f64,
    /// An interval of 95 % of that.
    pub low: f64,
    /// Its later end.
    pub high: f64,
    /// What the clock gains per unit of time.
    pub drift: f64,
    /// Probability of the best place, by the evidence.
    pub probability: f64,
    /// Other places that explain the stamps nearly as well, best first.
    pub others: Vec<Place>,
    /// Shifts, and the log evidence there less that of the best, for the best drift of each: the profile.
    pub profile: Vec<(f64, f64)>,
}

/// A place where stamps may belong.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Place {
    /// How far stamps are late.
    pub offset: f64,
    /// What the clock gains per unit of time.
    pub drift: f64,
    /// Log evidence less that of the best place.
    pub log_evidence: f64,
}

/// Warns of clocks with stamps that were not found.
pub fn warning(clocks: &[SyncedClock]) -> Option<Warning> {
    let names = |verdict: Verdict| -> Vec<String> {
        let own = clocks.iter().filter(|clock| clock.verdict == verdict);
        own.map(|clock| clock.name.clone()).collect()
    };
    let (several, flat) = (names(Verdict::Several), names(Verdict::Flat));
    let is_any = !several.is_empty() || !flat.is_empty();
    is_any.then_some(Warning::ClocksNotFound { several, flat })
}

/// Where each stamp of a session would be by the clock of its recording. Stamps of clocks that were not found stay
/// where they are.
pub fn moved_back(session: &Session<'_>, by: Factor, clocks: &[SyncedClock]) -> Vec<f64> {
    moved_by(session, by, |name| {
        let found = clocks.iter().find(|own| own.name == name && own.verdict == Verdict::Found);
        found.map(|own| (own.offset, own.drift))
    })
}

/// Where each stamp would be without the offset and the drift of its clock, as far as these are known.
pub(crate) fn moved_by(
    session: &Session<'_>,
    by: Factor,
    shift: impl Fn(&str) -> Option<(f64, f64)>,
) -> Vec<f64> {
    let middle = 0.5 * (session.times()[0] + session.times()[session.len() - 1]);
    let move_back = |(l, stamp): (usize, &f64)| {
        let annotator = session.annotator_of(l).map(|k| session.annotators()[k].as_str());
        match by.group(session, annotator, session.class_of(l)).and_then(&shift) {
            Some((offset, drift)) => middle + (stamp - offset - middle) / (1.0 + drift),
            None => *stamp,
        }
    };
    session.stamps().iter().enumerate().map(move_back).collect()
}

/// Looks for the clock of every group of stamps under a fitted model. Where groups of its own differ, it takes all
/// stamps as those of a group of which nothing is known.
pub fn sync(
    fitted: &Fitted,
    sessions: &[Session<'_>],
    options: &SyncOptions,
    control: Control<'_>,
) -> Result<Vec<SyncedClock>> {
    let SyncOptions { range, drift, .. } = *options;
    if let Some(range) = range {
        require("range", range, range > 0.0, "a time above 0")?;
    }
    require("drift", drift, (0.0..1.0).contains(&drift), "a number from 0 to below 1")?;
    if options.by == Factor::Class {
        return Err(Error::ClockOfClass { variation: "clocks by class".to_owned() });
    }
    let fitted = &fitted.population();
    let range = range.unwrap_or_else(|| usual_range(fitted, sessions)) / fitted.time_unit;
    let clocks = Clocked::all(sessions, options.by)?;
    let done = std::sync::atomic::AtomicUsize::new(0);
    let find = |clock: &Clocked<'_>| {
        control.stop_if_requested()?;
        let found = clock.find(fitted, range, drift, options.scatter, control)?;
        let done = 1 + done.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        control.tell(done, clocks.len(), None);
        Ok(found)
    };
    clocks.par_iter().map(find).collect()
}

/// Twice the mean time between the stamps of one annotator, but some spreads at least.
fn usual_range(fitted: &Fitted, sessions: &[Session<'_>]) -> f64 {
    let duration = |session: &Session<'_>| session.times()[session.len() - 1] - session.times()[0];
    let watched =
        |session: &Session<'_>| duration(session) * session.annotators().len().max(1) as f64;
    let stamps: usize = sessions.iter().map(|session| session.stamps().len()).sum();
    let gap = sessions.iter().map(watched).sum::<f64>() / stamps.max(1) as f64;
    (2.0 * gap).max(10.0 * fitted.learned().spread)
}
