//! The search for one clock.

use std::collections::BTreeMap;

use super::intensity::Intensity;
use super::{Place, SyncedClock, Verdict};
use crate::model::{Factor, Fitted};
use crate::{Control, Result, Session};

/// Places whose evidence over all alignments is computed.
const COMPARED: usize = 5;
/// Spreads within which two places are the same.
const SAME: f64 = 2.0;
/// Probability from which on a clock is found, and from which on another place is told.
const SURE: f64 = 0.95;
const POSSIBLE: f64 = 0.05;
/// Share of clocks whose stamps have nothing to do with their recordings, such as those of another study.
const STRANGE: f64 = 0.01;
/// The most steps of a grid of shifts, or of drifts.
const MOST_STEPS: f64 = 200_000.0;

/// Stamps that share a clock.
pub(super) struct Clocked<'a> {
    name: String,
    /// Each with the stamps of one annotator.
    sessions: Vec<Session<'a>>,
}

impl<'a> Clocked<'a> {
    /// All clocks of some sessions, in order of their names.
    pub(super) fn all(sessions: &'a [Session<'_>], by: Factor) -> Result<Vec<Self>> {
        let mut clocks: BTreeMap<String, Vec<_>> = BTreeMap::new();
        for session in sessions {
            let annotators = session.annotators();
            for k in 0..annotators.len().max(1) {
                let annotator = annotators.get(k).map(String::as_str);
                let Some(name) = by.group(session, annotator, None) else { continue };
                clocks.entry(name.to_owned()).or_default().push(session.stream(k)?);
            }
        }
        Ok(clocks.into_iter().map(|(name, sessions)| Self { name, sessions }).collect())
    }

    fn stamps(&self) -> usize {
        self.sessions.iter().map(|session| session.stamps().len()).sum()
    }

    /// The clock, looked for this far and for drifts up to this, in units of the model.
    pub(super) fn find(
        &self,
        fitted: &Fitted,
        range: f64,
        drift: f64,
        scatter: Option<(f64, f64)>,
        control: Control<'_>,
    ) -> Result<SyncedClock> {
        let unknown = SyncedClock {
            name: self.name.clone(),
            stamps: self.stamps(),
            verdict: Verdict::NoStamps,
            offset: 0.0,
            low: -range * fitted.time_unit,
            high: range * fitted.time_unit,
            drift: 0.0,
            probability: 0.0,
            others: Vec::new(),
            profile: Vec::new(),
        };
        if unknown.stamps == 0 {
            return Ok(unknown);
        }
        let mut look = Look::new(self, fitted)?;
        let grid = look.grid(range, drift);
        look.log_drifts = (grid.drifts.len() as f64).ln();
        look.scatter = scatter.map(|(offset, drift)| (offset / fitted.time_unit, drift));
        // A long range takes a while for each clock.
        let best_drift = |&by: &f64| {
            control.stop_if_requested()?;
            Ok(look.best_drift(by, &grid.drifts))
        };
        let profile: Vec<Place> = grid.offsets.iter().map(best_drift).collect::<Result<_>>()?;
        let mut places = look.peaks(&profile, &grid);
        for place in &mut places {
            place.exact = look.evidence(place.place);
        }
        places.sort_by(|a, b| b.exact.total_cmp(&a.exact));
        Ok(look.judge(unknown, &places, &profile, fitted.time_unit))
    }
}

/// A place with its evidence as a superposition and over all alignments.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    place: Place,
    exact: f64,
}

/// Shifts and drifts that are looked at.
struct Grid {
    offsets: Vec<f64>,
    drifts: Vec<f64>,
}

struct Look<'a> {
    fitted: &'a Fitted,
    streams: Vec<StreamLook<'a>>,
    /// Of the delay, in units.
    spread: f64,
    stamps: f64,
    /// Logarithm of the number of drifts that are looked at.
    log_drifts: f64,
    /// How wide offsets and drifts scatter, in units, if that is known.
    scatter: Option<(f64, f64)>,
}

struct StreamLook<'a> {
    session: &'a Session<'a>,
    /// In units since the first instance.
    stamps: Vec<f64>,
    middle: f64,
    intensity: Intensity,
}

impl StreamLook<'_> {
    /// Where a stamp would be by the clock of the recording.
    fn moved(&self, stamp: f64, place: Place) -> f64 {
        self.middle + (stamp - place.offset - self.middle) / (1.0 + place.drift)
    }
}

impl<'a> Look<'a> {
    fn new(clock: &'a Clocked<'_>, fitted: &'a Fitted) -> Result<Self> {
        let unit = fitted.time_unit;
        let mut streams = Vec::new();
        for session in &clock.sessions {
            let (first, last) = (session.times()[0], session.times()[session.len() - 1]);
            streams.push(StreamLook {
                session,
                stamps: session.stamps().iter().map(|z| (z - first) / unit).collect(),
                middle: 0.5 * (last - first) / unit,
                intensity: Intensity::new(fitted, session)?,
            });
        }
        let (spread, stamps) = (fitted.learned().spread / unit, clock.stamps() as f64);
        Ok(Self { fitted, streams, spread, stamps, log_drifts: 0.0, scatter: None })
    }

    /// Steps of half a spread; a drift moves the ends of the longest session by as much, and by the range at
    /// most.
    fn grid(&self, range: f64, drift: f64) -> Grid {
        let around = |most: f64, step: f64| {
            let steps = (most / step).ceil().clamp(0.0, MOST_STEPS);
            let step = if steps > 0.0 { most / steps } else { 0.0 };
            (-(steps as i64)..=steps as i64).map(|k| step * k as f64).collect::<Vec<f64>>()
        };
        let half = self.streams.iter().map(|own| own.middle).fold(0.0, f64::max).max(1e-9);
        let furthest = drift.min(range / half);
        Grid {
            offsets: around(range, 0.5 * self.spread),
            drifts: around(furthest, 0.5 * self.spread / half),
        }
    }

    /// Log likelihood as a superposition, without what no shift changes.
    fn superposed(&self, place: Place) -> f64 {
        let own = |own: &StreamLook<'_>| -> f64 {
            own.stamps.iter().map(|&z| own.intensity.at(own.moved(z, place))).sum()
        };
        self.streams.iter().map(own).sum::<f64>() + self.log_weight(place)
    }

    /// What is added to the log evidence of stamps that were moved: their density by their own clock, and a prior:
    /// that of other clocks, or one by which a clock that drifts is as likely as one that does not, whatever the
    /// number of drifts.
    fn log_weight(&self, place: Place) -> f64 {
        self.log_prior(place) - self.stamps * place.drift.ln_1p()
    }

    fn log_prior(&self, place: Place) -> f64 {
        let squared = |x: f64| x * x;
        match self.scatter {
            Some((offset, drift)) => {
                -0.5 * (squared(place.offset / offset) + squared(place.drift / drift))
            }
            None if place.drift == 0.0 => 0.0,
            None => -self.log_drifts,
        }
    }

    /// Log likelihood of stamps that come at any time, as often as they do.
    fn unrelated(&self) -> f64 {
        let own = |own: &StreamLook<'_>| {
            let (times, stamps) = (own.session.times(), own.stamps.len() as f64);
            let lasts = (times[times.len() - 1] - times[0]).max(f64::MIN_POSITIVE);
            if stamps > 0.0 { stamps * (stamps / lasts).ln() - stamps } else { 0.0 }
        };
        self.streams.iter().map(own).sum()
    }

    fn best_drift(&self, offset: f64, drifts: &[f64]) -> Place {
        let at = |drift: f64| {
            let place = Place { offset, drift, log_evidence: 0.0 };
            Place { log_evidence: self.superposed(place), ..place }
        };
        let all = drifts.iter().map(|&drift| at(drift));
        all.max_by(|a, b| a.log_evidence.total_cmp(&b.log_evidence)).unwrap_or(at(0.0))
    }

    /// The highest tops of the profile, followed between the steps of the grid.
    fn peaks(&self, profile: &[Place], grid: &Grid) -> Vec<Candidate> {
        let height = |k: usize| profile.get(k).map_or(f64::NEG_INFINITY, |own| own.log_evidence);
        let is_top =
            |&k: &usize| height(k) >= height(k.wrapping_sub(1)) && height(k) >= height(k + 1);
        let mut tops: Vec<usize> = (0..profile.len()).filter(is_top).collect();
        tops.sort_by(|&a, &b| height(b).total_cmp(&height(a)));
        let mut kept: Vec<Candidate> = Vec::new();
        for k in tops {
            let place = self.climb(profile[k], grid);
            let is_same = |own: &Candidate| self.is_same(own.place, place);
            if kept.len() < COMPARED && !kept.iter().any(is_same) {
                kept.push(Candidate { place, exact: 0.0 });
            }
        }
        kept
    }

    fn is_same(&self, a: Place, b: Place) -> bool {
        (a.offset - b.offset).abs() < SAME * self.spread
    }

    /// The best place nearby: steps in both directions, halved until they are a hundredth of a spread.
    fn climb(&self, mut place: Place, grid: &Grid) -> Place {
        let step = |values: &[f64]| values.get(1).zip(values.first()).map_or(0.0, |(b, a)| b - a);
        let (mut offset, mut drift) = (step(&grid.offsets), step(&grid.drifts));
        while offset > 0.01 * self.spread {
            let near =
                [(offset, 0.0), (-offset, 0.0), (0.0, drift), (0.0, -drift)].map(|(a, b)| {
                    let near = Place { offset: place.offset + a, drift: place.drift + b, ..place };
                    Place { log_evidence: self.superposed(near), ..near }
                });
            let best = near.into_iter().max_by(|a, b| a.log_evidence.total_cmp(&b.log_evidence));
            match best.filter(|best| best.log_evidence > place.log_evidence) {
                Some(best) => place = best,
                None => (offset, drift) = (0.5 * offset, 0.5 * drift),
            }
        }
        place
    }

    /// Log evidence over all alignments with the stamps at a place; −∞ if they are impossible there.
    fn evidence(&self, place: Place) -> f64 {
        let own = |own: &StreamLook<'_>| -> Option<f64> {
            let (first, unit) = (own.session.times()[0], self.fitted.time_unit);
            let moved = |&z: &f64| first + unit * own.moved(z, place);
            let stamps: Vec<f64> = own.stamps.iter().map(moved).collect();
            let session = own.session.clone().with_moved_stamps(&stamps).ok()?;
            self.fitted.log_evidence(&session).ok()
        };
        let all: Option<f64> = self.streams.iter().map(own).sum();
        all.map_or(f64::NEG_INFINITY, |all| all + self.log_weight(place))
    }

    /// What is told of a clock, given its best places, best first, and its profile.
    fn judge(
        &self,
        unknown: SyncedClock,
        places: &[Candidate],
        profile: &[Place],
        unit: f64,
    ) -> SyncedClock {
        let Some(best) = places.first().filter(|best| best.exact.is_finite()) else {
            return unknown;
        };
        // The superposition is less sharp; at the places that were compared it is corrected.
        let corrected = |own: &Place| {
            let near = places.iter().find(|one| self.is_same(one.place, *own));
            let one = near.unwrap_or(best);
            own.log_evidence - one.place.log_evidence + one.exact - best.exact
        };
        let heights: Vec<f64> = profile.iter().map(corrected).collect();
        let total: f64 = heights.iter().map(|height| height.exp()).sum();
        let share = |place: Place| -> f64 {
            let near = profile.iter().zip(&heights).filter(|(own, _)| self.is_same(**own, place));
            near.map(|(_, height)| height.exp()).sum::<f64>() / total
        };
        let probability = share(best.place);
        let others: Vec<Place> = places[1..]
            .iter()
            .filter(|own| share(own.place) >= POSSIBLE)
            .map(|own| Place {
                offset: own.place.offset * unit,
                drift: own.place.drift,
                log_evidence: own.exact - best.exact,
            })
            .collect();
        let told = probability + places[1..].iter().map(|own| share(own.place)).sum::<f64>();
        let prior: f64 = profile.iter().map(|own| self.log_prior(*own).exp()).sum();
        let belongs = (1.0 - STRANGE) / STRANGE * (best.exact - self.unrelated()).exp() * total;
        let verdict = match () {
            // Of many places one explains stamps better than all others, even if none does.
            () if belongs / (belongs + prior) < SURE => Verdict::Flat,
            () if probability >= SURE => Verdict::Found,
            () if !others.is_empty() && told >= SURE => Verdict::Several,
            () => Verdict::Flat,
        };
        let (offset, error) = self.vertex(best.place);
        let (low, high) = match verdict {
            Verdict::Found => (offset - 1.96 * error, offset + 1.96 * error),
            _ => quantiles(profile, &heights, total),
        };
        SyncedClock {
            verdict,
            offset: offset * unit,
            low: low * unit,
            high: high * unit,
            drift: best.place.drift,
            probability,
            others,
            profile: profile.iter().zip(heights).map(|(own, h)| (own.offset * unit, h)).collect(),
            ..unknown
        }
    }

    /// The top of a parabola through the evidence at a place and beside it, and its standard error.
    fn vertex(&self, place: Place) -> (f64, f64) {
        let step = self.spread / self.stamps.sqrt();
        let at = |by: f64| self.evidence(Place { offset: place.offset + by, ..place });
        let (below, here, above) = (at(-step), at(0.0), at(step));
        let curvature = (2.0 * here - below - above) / (step * step);
        if !(curvature.is_finite() && curvature > 0.0) {
            return (place.offset, step);
        }
        let to_top = 0.5 * (above - below) / step / curvature;
        (place.offset + to_top.clamp(-2.0 * step, 2.0 * step), 1.0 / curvature.sqrt())
    }
}

/// Where the inner 95 % of the profile lie.
fn quantiles(profile: &[Place], heights: &[f64], total: f64) -> (f64, f64) {
    let at = |share: f64| {
        let mut below = 0.0;
        let reached = |height: &f64| {
            below += height.exp();
            below >= share * total
        };
        profile[heights.iter().position(reached).unwrap_or(profile.len() - 1)].offset
    };
    (at(0.025), at(0.975))
}
