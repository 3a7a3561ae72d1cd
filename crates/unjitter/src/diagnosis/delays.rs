//! Are the delays of the stamps distributed as was learned?
//!
//! Each stamp has a delay from each instance that may have given it, with the probability of that instance.
//! Over all stamps of a model that is right, these delays have the learned distribution on average; they
//! scatter less than known delays would, so the band is wide rather than narrow. Where the detector cannot
//! tell instances apart, they follow what was learned whatever is true: they then say nothing.

use serde::Serialize;

use super::distance::Distance;
use crate::inference::{DelayDistribution, Marginals};
use crate::model::{Fitted, Stream};
use crate::{Result, Session};

/// Most points of a comparison of quantiles.
const POINTS: usize = 100;

/// A stamp of a session.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct StampDelay {
    /// Where in its session it is: 0 at the first instance, 1 at the last.
    pub position: f64,
    /// Its hour of the day, from 0 to 24, where that is known.
    pub hour: Option<f64>,
    /// Posterior mean of its delay, in the unit of the data.
    pub delay: f64,
    /// Probability that an instance gave it.
    pub weight: f64,
}

/// A quantile of the delays beside the learned one, in the unit of the data.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct DelayQuantile {
    /// As learned.
    pub learned: f64,
    /// Of the stamps.
    pub found: f64,
    /// Between these ends in 95 of 100 cases, at all quantiles at once, if the model is right.
    pub low: f64,
    /// The later end.
    pub high: f64,
}

/// Delays of a session's stamps.
#[derive(Debug, Clone, Default)]
pub(super) struct Delays {
    /// From every instance that may have given a stamp, with its probability, in units.
    pub(super) pairs: Vec<(f64, f64)>,
    /// One per stamp.
    pub(super) stamps: Vec<StampDelay>,
}

/// The delays of each annotator's stamps in a session, and its log evidence; `hour` is that of the day at time
/// zero. Where groups differ, a delay is told as one that is as unusual among all, `learned`.
pub(super) fn delays(
    fitted: &Fitted,
    session: &Session<'_>,
    hour: Option<f64>,
    learned: &DelayDistribution,
) -> Result<(Vec<Delays>, f64)> {
    fitted.with_log_odds(session, |data, log_odds, pinned, bound| {
        let found = bound.posterior(pinned)?;
        let stream = |(k, stream): (usize, &Stream)| {
            let mut delays = Delays::default();
            let times = bound.times_of(k);
            for (l, (stamp, &position)) in stream.stamps.iter().zip(&stream.positions).enumerate() {
                let time = session.stamps()[position];
                let own = &found.streams[k];
                let told = stamp_delay(own, l, stamp.time, &times, &mut delays.pairs);
                delays.stamps.extend(told.map(|(delay, weight)| StampDelay {
                    position: place(session, time),
                    hour: hour.map(|hour| (hour + time / 3600.0).rem_euclid(24.0)),
                    delay: delay * fitted.time_unit,
                    weight,
                }));
            }
            if !fitted.parts.stamps.groups.is_empty() {
                let own = bound.stream(k).delays();
                let usual = |delay: f64| learned.quantile(own.share_below(delay));
                delays.pairs.iter_mut().for_each(|(delay, _)| *delay = usual(*delay));
            }
            delays
        };
        let delays = data.streams.iter().enumerate().map(stream).collect();
        Ok((delays, found.log_evidence + fitted.offset(session, log_odds)))
    })
}

/// Posterior mean of a stamp's delay, and the probability that an instance gave it, if there is any; adds
/// the delay from each instance to the pairs.
fn stamp_delay(
    found: &Marginals,
    l: usize,
    stamp: f64,
    times: &[f64],
    pairs: &mut Vec<(f64, f64)>,
) -> Option<(f64, f64)> {
    let (instances, shares) =
        (found.responsibilities.instances(l), found.responsibilities.of_stamp(l));
    let own = times[instances].iter().zip(shares).filter(|(_, share)| **share > 0.0);
    let own = own.map(|(t, &share)| (stamp - t, share));
    let weight: f64 = own.clone().map(|(_, share)| share).sum();
    let mean = own.clone().map(|(delay, share)| delay * share).sum::<f64>() / weight;
    pairs.extend(own);
    (weight > 0.0).then_some((mean, weight))
}

fn place(session: &Session<'_>, time: f64) -> f64 {
    let (first, last) = (session.times()[0], session.times()[session.len() - 1]);
    if last > first { ((time - first) / (last - first)).clamp(0.0, 1.0) } else { 0.5 }
}

/// How many certain stamps say as much (Kish's effective number).
fn effective<'a>(sessions: impl Iterator<Item = &'a Delays>) -> f64 {
    let (mut sum, mut squares) = (0.0, 0.0);
    for stamp in sessions.flat_map(|session| &session.stamps) {
        sum += stamp.weight;
        squares += stamp.weight * stamp.weight;
    }
    if squares > 0.0 { sum * sum / squares } else { 0.0 }
}

/// How far the delays of sessions are from what was learned.
pub(super) fn distance<'a>(
    sessions: impl Iterator<Item = &'a Delays> + Clone,
    learned: &DelayDistribution,
) -> Distance {
    let pairs = sessions.clone().flat_map(|session| &session.pairs);
    let shares = pairs.map(|&(delay, weight)| (learned.share_below(delay), weight)).collect();
    Distance::of_uniform(shares, effective(sessions))
}

/// Quantiles of all delays beside the learned ones.
pub(super) fn quantiles(
    sessions: &[&Delays],
    learned: &DelayDistribution,
    band: f64,
    unit: f64,
) -> Vec<DelayQuantile> {
    let mut pairs: Vec<(f64, f64)> =
        sessions.iter().flat_map(|session| session.pairs.iter().copied()).collect();
    pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
    let total: f64 = pairs.iter().map(|(_, weight)| weight).sum();
    let points = (total as usize).clamp(1, POINTS);
    let (mut found, mut below, mut k) = (Vec::new(), 0.0, 0);
    for &(delay, weight) in &pairs {
        below += weight;
        while k < points && below >= (k as f64 + 0.5) / points as f64 * total {
            let share = (k as f64 + 0.5) / points as f64;
            let at = |share: f64| unit * learned.quantile(share.clamp(0.0, 1.0));
            let (low, high) = (at(share - band), at(share + band));
            found.push(DelayQuantile { learned: at(share), found: unit * delay, low, high });
            k += 1;
        }
    }
    found
}
