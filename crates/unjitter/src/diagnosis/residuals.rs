//! Are there as many stamps as expected, where they are expected?
//!
//! In the time that counts expected stamps, given those before ([`crate::inference::Compensator`]), gaps
//! between stamps are exponential with mean one if the model is right. Sessions are laid end to end, so that
//! what is left of one after its last stamp is not lost.

use super::distance::Distance;
use crate::inference::{Compensator, Timeline};
use crate::model::Fitted;
use crate::{Result, Session};

/// The expected numbers of stamps between the stamps of a session, by annotator. Each is told what the others
/// know of the labels.
pub(super) fn compensators(fitted: &Fitted, session: &Session<'_>) -> Result<Vec<Compensator>> {
    fitted.with_log_odds(session, |data, _, log_odds, bound| {
        let told = match data.streams.len() {
            1 => vec![log_odds.to_vec()],
            _ => bound.posterior(log_odds)?.log_odds,
        };
        let compensator = |(k, log_odds): (usize, &Vec<f64>)| {
            let timeline = bound.timeline(k);
            let intervals = annotated(session, timeline, fitted.time_unit);
            let watched = |until: f64| -> f64 {
                intervals.iter().map(|(from, to)| until.clamp(*from, *to) - from).sum()
            };
            bound.stream(k).compensator(timeline, log_odds, &watched)
        };
        Ok(told.iter().enumerate().map(compensator).collect())
    })
}

/// When somebody was annotating, in units since the first instance.
fn annotated(session: &Session<'_>, timeline: Timeline<'_>, unit: f64) -> Vec<(f64, f64)> {
    let origin = session.times()[0];
    match session.observed() {
        Some(all) => {
            all.iter().map(|(from, to)| ((from - origin) / unit, (to - origin) / unit)).collect()
        }
        None => {
            let first = timeline.stamps.first().map_or(0.0, |stamp| stamp.time.min(0.0));
            vec![(first, first + timeline.duration)]
        }
    }
}

/// Stamps beyond those that were expected given the ones before, in standard errors: their difference is a
/// martingale, whose variance is the number expected. Gaps alone hardly show a long pause.
pub(super) fn surplus<'a>(sessions: impl Iterator<Item = &'a Compensator>) -> f64 {
    let (mut stamps, mut expected) = (0, 0.0);
    for Compensator { gaps, rest, .. } in sessions {
        stamps += gaps.len();
        expected += gaps.iter().sum::<f64>() + rest;
    }
    if expected > 0.0 { (stamps as f64 - expected) / expected.sqrt() } else { 0.0 }
}

/// The probabilities of gaps no longer than those of sessions laid end to end: uniform if the model is right.
pub(super) fn uniform_gaps<'a>(sessions: impl Iterator<Item = &'a Compensator>) -> Vec<f64> {
    let (mut shares, mut left) = (Vec::new(), 0.0);
    for Compensator { gaps, rest, .. } in sessions {
        for gap in gaps {
            shares.push(-(-(left + gap)).exp_m1());
            left = 0.0;
        }
        left += rest;
    }
    shares
}

/// How far they are from that.
pub(super) fn distance(shares: &[f64]) -> Distance {
    let count = shares.len() as f64;
    Distance::of_uniform(shares.iter().map(|&share| (share, 1.0)).collect(), count)
}
