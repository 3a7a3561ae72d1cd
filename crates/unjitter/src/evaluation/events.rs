//! From a probability for each instance to a list of events.
//!
//! One true event raises the probability of several neighbouring instances, so a threshold alone counts
//! it several times. Non-maximum suppression keeps the highest of each cluster: candidates are taken from
//! the most probable down, and each one kept excludes its neighbours.
//!
//! Where labels form runs, an event covers instances, and probabilities are smoothed along the chain. Events are then the
//! peaks of the probability that reach the threshold, each as far as it stays at half of its height (`runs`). The single
//! best path of labels would have no threshold, and drops every event that is a little less likely than none, however many
//! there are. An event begins at the time of its first instance and ends at that of its last, as stamps about onsets and
//! ends have it: if instances are windows, it is as long as one of them more. It is as probable as its surest instance,
//! which bounds the probability that anything is there from below.
//!
//! Cost: O(n log n) for the sort. The suppression is O(n): kept events are at least the separation apart,
//! so at most one kept event on either side excludes a candidate.

use serde::{Deserialize, Serialize};

use super::class_events::detect_class_events;
use crate::labels::Labels;
use crate::{Error, Fitted, Result, Session};

/// When an instance becomes an event.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EventOptions {
    /// Instances of this probability or more are candidates; 0 to 1.
    pub threshold: f64,
    /// Smallest distance between two events, at least 0, in the unit of time. Events exactly this far apart
    /// are both kept (up to rounding, as in [`Tolerance`](super::Tolerance)); 0 keeps every candidate. Of
    /// instances closer than this the most probable is kept, and runs closer than this are one.
    pub min_separation: f64,
    /// Whether an event is one instance or a run of them.
    #[serde(default)]
    pub labels: Labels,
}

impl Default for EventOptions {
    fn default() -> Self {
        Self { threshold: 0.5, min_separation: 0.0, labels: Labels::Independent }
    }
}

impl EventOptions {
    pub(super) fn check(&self) -> Result<()> {
        let Self { threshold, min_separation, .. } = *self;
        let (name, value, expected) = if !(0.0..=1.0).contains(&threshold) {
            ("threshold", threshold, "a number from 0 to 1")
        } else if !(min_separation.is_finite() && min_separation >= 0.0) {
            ("min_separation", min_separation, "a finite number, at least 0")
        } else {
            return Ok(());
        };
        Err(Error::OutOfRange { name: name.to_owned(), value, expected })
    }
}

/// A detected event.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Detection {
    /// Its time, or when it begins, in the unit of time.
    pub time: f64,
    /// When it ends: the time of its last instance, which is its only one if events are instances.
    pub end: f64,
    /// Its certainty: any finite number, larger is surer. [`detect_events`] uses the probability.
    pub score: f64,
}

impl Detection {
    /// An event of one instant.
    pub fn at(time: f64, score: f64) -> Self {
        Self { time, end: time, score }
    }
}

/// The events of one session, in order of time.
///
/// Of independent labels, candidates are taken from the most probable down, of equals the earlier first; one that is
/// closer than `min_separation` to an event already taken is dropped. Of a chain, an event is a peak that reaches the
/// threshold, as far as probabilities stay at half of its height, and events that are closer than `min_separation` are one.
/// Instances may come in any order.
pub fn detect_events(
    times: &[f64],
    probabilities: &[f64],
    options: &EventOptions,
) -> Result<Vec<Detection>> {
    let found = detect_class_events(times, probabilities, 1, options)?;
    Ok(found.into_iter().map(|one| one.event).collect())
}

/// The events that a fitted model finds in a session, without its stamps, at the model's own threshold; candidates closer
/// than `min_separation` are one event.
pub fn events_in(
    fitted: &Fitted,
    session: &Session<'_>,
    min_separation: f64,
) -> Result<Vec<Detection>> {
    let (threshold, labels) = (fitted.threshold(), fitted.model().labels);
    let options = EventOptions { threshold, min_separation, labels };
    detect_events(session.times(), &fitted.predict_session(session)?, &options)
}

/// One event of its parts, in order of time.
pub(super) fn whole(parts: &[Detection]) -> Detection {
    let (first, last) = (parts[0], parts[parts.len() - 1]);
    let score = parts.iter().map(|part| part.score).fold(f64::NEG_INFINITY, f64::max);
    Detection { time: first.time, end: last.end, score }
}

/// Keeps the candidates, sorted by time, that are at least `limit` from every better one kept.
pub(super) fn suppress(candidates: &[Detection], limit: f64) -> Vec<Detection> {
    let kept = is_kept(candidates, limit);
    candidates.iter().zip(kept).filter(|entry| entry.1).map(|entry| *entry.0).collect()
}

/// The same for each candidate.
pub(super) fn is_kept(candidates: &[Detection], limit: f64) -> Vec<bool> {
    let mut best_first: Vec<usize> = (0..candidates.len()).collect();
    // The sort is stable: of equals the earlier comes first.
    best_first.sort_by(|&a, &b| candidates[b].score.total_cmp(&candidates[a].score));
    let mut kept = vec![true; candidates.len()];
    for k in best_first {
        if !kept[k] {
            continue;
        }
        let time = candidates[k].time;
        let later = (k + 1..candidates.len()).take_while(|&j| candidates[j].time - time < limit);
        let earlier = (0..k).rev().take_while(|&j| time - candidates[j].time < limit);
        for near in later.chain(earlier) {
            kept[near] = false;
        }
    }
    kept
}

pub(super) fn check_times(what: &'static str, times: &[f64]) -> Result<()> {
    match times.iter().position(|time| !time.is_finite()) {
        None => Ok(()),
        Some(index) => {
            Err(Error::BadInput { what, index, value: times[index], expected: "a finite time" })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detect(times: &[f64], probabilities: &[f64], min_separation: f64) -> Vec<f64> {
        let options = EventOptions { min_separation, ..EventOptions::default() };
        let found = detect_events(times, probabilities, &options).unwrap();
        found.iter().map(|detection| detection.time).collect()
    }

    #[test]
    fn the_threshold_itself_is_a_candidate() {
        assert_eq!(detect(&[1.0, 2.0, 3.0], &[0.5, 0.5_f64.next_down(), 0.9], 0.0), [1.0, 3.0]);
    }

    #[test]
    fn the_separation_itself_is_far_enough() {
        assert_eq!(detect(&[1.0, 3.0], &[0.6, 0.9], 2.0), [1.0, 3.0]);
        assert_eq!(detect(&[1.0, 3.0], &[0.6, 0.9], 2.000_001), [3.0]);
        // 0.3 − 0.1 rounds below 0.2, and so do most tenths of a second in epoch seconds.
        assert_eq!(detect(&[0.1, 0.3], &[0.6, 0.9], 0.2).len(), 2);
        assert_eq!(detect(&[1.7e9 + 0.1, 1.7e9 + 0.4], &[0.6, 0.9], 0.3).len(), 2);
    }

    #[test]
    fn a_dropped_candidate_drops_nobody() {
        // 2 falls to 1, so 3 has no better neighbour left.
        assert_eq!(detect(&[1.0, 2.0, 3.0], &[0.9, 0.8, 0.7], 1.5), [1.0, 3.0]);
        assert_eq!(detect(&[1.0, 2.0, 3.0], &[0.7, 0.9, 0.8], 1.5), [2.0]);
    }

    #[test]
    fn of_equals_the_earlier_stays() {
        assert_eq!(detect(&[1.0, 2.0], &[0.8, 0.8], 1.5), [1.0]);
        assert_eq!(detect(&[2.0, 1.0], &[0.8, 0.8], 1.5), [1.0]);
        assert_eq!(detect(&[1.0, 1.0], &[0.8, 0.8], 0.0), [1.0, 1.0]);
        assert_eq!(detect(&[1.0, 1.0], &[0.8, 0.8], 0.1), [1.0]);
    }

    /// Begin, end and certainty of runs.
    fn runs(times: &[f64], probabilities: &[f64], min_separation: f64) -> Vec<[f64; 3]> {
        let options =
            EventOptions { min_separation, labels: Labels::Chain, ..EventOptions::default() };
        let found = detect_events(times, probabilities, &options).unwrap();
        found.iter().map(|run| [run.time, run.end, run.score]).collect()
    }

    #[test]
    fn neighbours_are_one_event_as_sure_as_the_surest() {
        let (times, p) = ([0.0, 1.0, 2.0, 3.0, 4.0, 6.0], [0.6, 0.9, 0.1, 0.5, 0.2, 0.7]);
        let want = [[0.0, 1.0, 0.9], [3.0, 3.0, 0.5], [6.0, 6.0, 0.7]];
        assert_eq!(runs(&times, &p, 0.0), want);
        // Two apart is far enough, three is not; then the gap to what was joined counts.
        assert_eq!(runs(&times, &p, 2.0), want);
        assert_eq!(runs(&times, &p, 2.5), [[0.0, 3.0, 0.9], [6.0, 6.0, 0.7]]);
        assert_eq!(runs(&times, &p, 3.5), [[0.0, 6.0, 0.9]]);
        let (times, p) = ([2.0, 0.0, 1.0], [0.8, 0.7, 0.3]);
        assert_eq!(runs(&times, &p, 0.0), [[0.0, 0.0, 0.7], [2.0, 2.0, 0.8]]);
        assert!(runs(&[0.0, 1.0], &[0.1, 0.2], 5.0).is_empty());
    }

    #[test]
    fn events_do_not_overlap_and_a_lower_threshold_only_adds_some() {
        let mut random = crate::math::Random::new(5);
        let times: Vec<f64> = (0..500).map(f64::from).collect();
        let p: Vec<f64> = (0..500).map(|_| random.uniform()).collect();
        let at = |threshold: f64| {
            let options = EventOptions { threshold, min_separation: 0.0, labels: Labels::Chain };
            detect_events(&times, &p, &options).unwrap()
        };
        let (few, many) = (at(0.9), at(0.3));
        assert!(few.len() < many.len());
        assert!(many.windows(2).all(|pair| pair[0].end < pair[1].time));
        let sure: Vec<Detection> = many.into_iter().filter(|own| own.score >= 0.9).collect();
        assert_eq!(few, sure);
    }

    #[test]
    fn bad_input_is_named() {
        let message = |times: &[f64], options| {
            detect_events(times, &[0.5], &options).unwrap_err().to_string()
        };
        let fine = EventOptions::default();
        assert_eq!(message(&[], fine), "0 times for 1 probabilities");
        assert_eq!(message(&[f64::NAN], fine), "time 0 is NaN, expected a finite time");
        let options = EventOptions { min_separation: -1.0, ..fine };
        assert!(message(&[0.0], options).starts_with("min_separation is -1"));
        let options = EventOptions { threshold: 1.5, ..fine };
        assert!(message(&[0.0], options).starts_with("threshold is 1.5"));
        assert_eq!(detect_events(&[], &[], &fine).unwrap(), []);
    }
}
