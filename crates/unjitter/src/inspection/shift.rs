//! Stamps that are all a long constant time off, though still inside the recording.
//!
//! Without labels the features show it: they stand out from their surroundings that long before the
//! stamps, and nowhere else. All other lags, rather than a formula, determine how high a peak must be,
//! since features are correlated and stamps come in bouts. Stretches of the stamps must also agree, each
//! on its own. Human delays are never reported.

use super::finding::{Finding, SessionShift, Shift};
use super::lag_profile::{LagProfile, PARTS};
use super::view::{Stamped, View};
use crate::scan::{Binned, Covariances, Scaling, Whitening, bins};

/// Width of a time bin, in usual spacings of instances.
const BIN: f64 = 2.0;
/// Half widths of the middle, in bins: for stamps with little scatter and with much.
const HALVES: [usize; 2] = [1, 4];
/// Bins around a peak that belong to it, including the gap to its surroundings.
const AROUND: usize = 24;
/// A delay up to this many usual spacings may be human.
const NEAR: f64 = 50.0;
/// The same in seconds, the likeliest unit of numbers without a known one.
const NEAR_SECONDS: f64 = 120.0;
/// The same in usual spacings if the unit is unknown: there may be a hundred instances a second.
const NEAR_UNKNOWN: f64 = 200.0;
/// Fewer stamps, or fewer separate stretches of them, show nothing.
const LEAST_STAMPS: usize = 20;
const LEAST_EPISODES: usize = 12;
/// Stamps within this many usual spacings belong to one stretch.
const EPISODE: f64 = 16.0;
/// Least number of lags, without shared instances, for a peak to be the highest of.
const LEAST_LAGS: usize = 50;
/// A peak so many times as high as any other is suspicious, and certain.
const SUSPICIOUS: f64 = 2.0;
const DOUBTLESS: f64 = 3.0;
/// Parts of the stamps with their peak at the same lag, for it to be suspicious, and certain.
const AGREEING: usize = 2;
const DOUBTLESS_AGREEING: usize = 3;
/// Most additions; beyond, stamps are sampled evenly.
const MOST_WORK: f64 = 3e8;
/// Most rows from which correlations are learned.
const SAMPLE: usize = 20_000;
const HOUR: f64 = 3600.0;

/// A lag at which features stand out.
struct Peak {
    /// In the unit of times.
    lag: f64,
    /// Uncertainty of the lag, either way.
    give: f64,
    /// Its height over that of the next peak.
    ratio: f64,
    /// Parts of the stamps that share it.
    agreeing: usize,
    /// Its place, and half the width of its middle.
    place: usize,
    half: usize,
}

pub(super) fn check(view: &View<'_>) -> Option<Finding> {
    let bin = BIN * view.spacing;
    let longest = view.sessions.iter().filter_map(|session| bins(session.times, bin)).max()?;
    let is_short = 2 * longest < LEAST_LAGS * (2 * HALVES[0] + 1);
    if bin <= 0.0 || is_short || !are_enough(&view.sessions, view.spacing) {
        return None;
    }
    let columns = view.features.len();
    let scaling = Scaling::of(view.sessions.iter().map(|session| session.features), columns)?;
    let whitening = whitening(view, &scaling);
    let profile = |sessions: &[Stamped<'_>], whitening: &Whitening| {
        profile(sessions, &scaling, whitening, bin)
    };
    let all = profile(&view.sessions, &whitening);
    let common = highest_peak(&all, bin)?;
    let shift = |peak: &Peak| shift(peak, view.in_seconds());
    if common.is_far(view) {
        let doubtless = common.is_doubtless();
        let (common, sessions) = (Some(shift(&common)), Vec::new());
        return Some(Finding::ShiftedInside { common, sessions, doubtless });
    }
    // The features at events of most sessions are more informative than all features equally.
    let whitening = match common.ratio >= SUSPICIOUS {
        true => whitening.along(&all.difference(common.place, common.half)),
        false => whitening,
    };
    let own = |session: &Stamped<'_>| {
        let only = std::slice::from_ref(session);
        if view.sessions.len() == 1 || !are_enough(only, view.spacing) {
            return None;
        }
        let peak = highest_peak(&profile(only, &whitening), bin)?;
        // Among many sessions, a merely suspicious peak may be chance.
        let is_off = peak.is_far(view) && peak.is_doubtless();
        let (name, stamps) = (session.name.to_owned(), session.stamps.len());
        is_off.then(|| SessionShift { session: name, stamps, shift: shift(&peak) })
    };
    let sessions: Vec<SessionShift> = view.sessions.iter().filter_map(own).collect();
    let any = !sessions.is_empty();
    any.then_some(Finding::ShiftedInside { common: None, sessions, doubtless: true })
}

/// The whitening of evenly spaced rows, which is accurate enough here.
fn whitening(view: &View<'_>, scaling: &Scaling) -> Whitening {
    let every = view.instances().div_ceil(SAMPLE).max(1);
    let mut covariances = Covariances::new(scaling.width());
    let mut seen: usize = 0;
    for session in &view.sessions {
        let first = seen.next_multiple_of(every) - seen;
        for row in (first..session.times.len()).step_by(every) {
            let mut scaled = vec![0.0; scaling.width()];
            scaling.add(&session.features.row(row), &mut scaled);
            covariances.add(&scaled);
        }
        seen += session.times.len();
    }
    covariances.whitening(0.0)
}

/// Features by lag, of these sessions together.
fn profile(
    sessions: &[Stamped<'_>],
    scaling: &Scaling,
    whitening: &Whitening,
    bin: f64,
) -> LagProfile {
    let longest = sessions.iter().filter_map(|session| bins(session.times, bin)).max();
    let mut profile = LagProfile::new(longest.unwrap_or(0), whitening.width());
    let every = every(sessions, bin, whitening.width());
    for (turn, session) in sessions.iter().enumerate().filter(|(_, s)| !s.stamps.is_empty()) {
        if let Some(binned) = Binned::of(session.times, session.features, bin, scaling) {
            profile.add(&binned.whitened(whitening), &session.stamps, every, turn);
        }
    }
    profile
}

impl Peak {
    fn is_doubtless(&self) -> bool {
        self.ratio >= DOUBTLESS && self.agreeing >= DOUBTLESS_AGREEING
    }

    /// Whether it is suspicious, and not a human delay.
    fn is_far(&self, view: &View<'_>) -> bool {
        let near = if view.in_seconds() { NEAR } else { NEAR_UNKNOWN };
        let is_far = self.lag.abs() > (near * view.spacing).max(NEAR_SECONDS);
        is_far && self.ratio >= SUSPICIOUS && self.agreeing >= AGREEING
    }
}

/// The shift that would move stamps to where features stand out.
fn shift(peak: &Peak, in_seconds: bool) -> Shift {
    let hours = (-peak.lag / HOUR).round();
    let is_zone = in_seconds && hours != 0.0 && (hours * HOUR + peak.lag).abs() <= peak.give;
    match is_zone {
        true => Shift { seconds: hours * HOUR, give: peak.give, hours: Some(hours as i32) },
        false => Shift { seconds: -peak.lag, give: peak.give, hours: None },
    }
}

/// Whether there are enough stamps, and enough separate stretches of them.
fn are_enough(sessions: &[Stamped<'_>], spacing: f64) -> bool {
    let (mut stamps, mut episodes) = (0, 0);
    for session in sessions {
        let mut begun = f64::NEG_INFINITY;
        for &stamp in &session.stamps {
            if stamp - begun > EPISODE * spacing {
                (begun, episodes) = (stamp, episodes + 1);
            }
        }
        stamps += session.stamps.len();
    }
    stamps >= LEAST_STAMPS && episodes >= LEAST_EPISODES
}

/// Uses one of this many stamps.
fn every(sessions: &[Stamped<'_>], bin: f64, width: usize) -> usize {
    let work = |session: &Stamped<'_>| {
        let bins = bins(session.times, bin).unwrap_or(0) as f64;
        session.stamps.len() as f64 * bins * width as f64
    };
    let work: f64 = sessions.iter().map(work).sum();
    (work / MOST_WORK).ceil().max(1.0) as usize
}

/// The lag at which features stand out most.
fn highest_peak(profile: &LagProfile, bin: f64) -> Option<Peak> {
    let peaks = HALVES.iter().filter_map(|&half| peak(profile, half, bin));
    peaks.max_by(|a, b| a.ratio.total_cmp(&b.ratio))
}

fn peak(profile: &LagProfile, half: usize, bin: f64) -> Option<Peak> {
    let contrast = profile.contrast(None, half);
    let told = contrast.iter().filter(|&&height| height > 0.0).count();
    if told < LEAST_LAGS * (2 * half + 1) {
        return None;
    }
    let place = highest(&contrast)?;
    let is_apart = |m: &usize| m.abs_diff(place) > AROUND;
    let others = (0..contrast.len()).filter(is_apart).map(|m| contrast[m]);
    let next = others.fold(0.0, f64::max);
    let same = |part: &usize| {
        highest(&profile.contrast(Some(*part), half))
            .is_some_and(|own| own.abs_diff(place) <= 2 * half)
    };
    let ratio = contrast[place] / next;
    let agreeing = if ratio >= SUSPICIOUS { (0..PARTS).filter(same).count() } else { 0 };
    // A stamp may lie anywhere in the bin of its lag, and an instance anywhere in the middle.
    let give = (half as f64 + 1.0) * bin;
    let lag = profile.lag(place) * bin;
    Some(Peak { lag, give, ratio, agreeing, place, half })
}

fn highest(contrast: &[f64]) -> Option<usize> {
    (0..contrast.len()).max_by(|&a, &b| contrast[a].total_cmp(&contrast[b]))
}
