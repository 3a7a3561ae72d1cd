//! Scores of detected events in held-out sessions, beside those of single instances.

use serde::{Deserialize, Serialize};

use super::detection::{EventMetrics, SessionEvents, event_metrics};
use super::events::{Detection, EventOptions, detect_events};
use super::tolerance::Tolerance;
use crate::math::median;
use crate::{Recording, Result, Session};

/// When an event counts as detected.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EventScoring {
    /// Largest distance of a detection from its event, at least 0, in the unit of time; by default
    /// [`usual_tolerance`].
    pub tolerance: Option<f64>,
    /// Smallest distance between two detected events, at least 0, in the unit of time.
    pub min_separation: f64,
    /// The unit of time in seconds, above 0: 0.001 for milliseconds.
    pub seconds_per_unit: f64,
}

impl Default for EventScoring {
    fn default() -> Self {
        Self { tolerance: None, min_separation: 0.0, seconds_per_unit: 1.0 }
    }
}

/// True and detected events of all held-out sessions.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct EventSummary {
    /// Largest distance of a detection from its event, in the unit of time.
    pub tolerance: f64,
    /// Smallest distance between two detected events, in the unit of time.
    pub min_separation: f64,
    /// Hits, misses, false alarms and the scores from them.
    #[serde(flatten)]
    pub metrics: EventMetrics,
}

/// Two median spacings of instances, but at most half the median distance between true events of a
/// session: a detection may be at a neighbouring instance, but not at another event.
pub fn usual_tolerance(recordings: &[Recording]) -> f64 {
    let near = median_distance(recordings.iter().map(|one| one.session.times().to_vec()));
    let apart = median_distance(recordings.iter().map(true_events));
    let near = 2.0 * near.unwrap_or(0.0);
    apart.map_or(near, |distance| near.min(distance / 2.0))
}

/// Median of the positive differences between neighbouring times, over all sessions.
fn median_distance(sessions: impl Iterator<Item = Vec<f64>>) -> Option<f64> {
    let distances = |times: Vec<f64>| -> Vec<f64> {
        times.windows(2).map(|pair| pair[1] - pair[0]).filter(|distance| *distance > 0.0).collect()
    };
    median(sessions.flat_map(distances).collect())
}

impl EventScoring {
    /// Scores the probabilities of every recording, each at its own threshold.
    ///
    /// Events and time count inside the annotated intervals; without intervals, from a session's first
    /// instance to its last.
    pub(super) fn summary(
        &self,
        recordings: &[Recording],
        probabilities: &[&[f64]],
        thresholds: &[f64],
    ) -> Result<EventSummary> {
        let tolerance = self.tolerance.unwrap_or_else(|| usual_tolerance(recordings));
        let min_separation = self.min_separation;
        let mut found: Vec<Vec<Detection>> = Vec::with_capacity(recordings.len());
        for ((recording, &own), &threshold) in recordings.iter().zip(probabilities).zip(thresholds)
        {
            let session = &recording.session;
            let of = |i: usize| (session.times()[i], own[i]);
            let (times, own): (Vec<f64>, Vec<f64>) =
                session.observed_instances().into_iter().map(of).unzip();
            found.push(detect_events(&times, &own, &EventOptions { threshold, min_separation })?);
        }
        let truths: Vec<Vec<f64>> = recordings.iter().map(true_events).collect();
        let sessions: Vec<SessionEvents<'_>> = (0..recordings.len())
            .map(|k| SessionEvents {
                detections: &found[k],
                truths: &truths[k],
                observed: observed_time(&recordings[k].session),
            })
            .collect();
        let window = Tolerance::symmetric(tolerance);
        let metrics = event_metrics(&sessions, &window, self.seconds_per_unit)?;
        Ok(EventSummary { tolerance, min_separation, metrics })
    }

    /// Refuses settings that [`Comparison::summary`](super::Comparison::summary) would only refuse after
    /// all the work.
    pub fn check(&self) -> Result<()> {
        let nothing = SessionEvents { detections: &[], truths: &[], observed: 0.0 };
        let window = Tolerance::symmetric(self.tolerance.unwrap_or(0.0));
        event_metrics(&[nothing], &window, self.seconds_per_unit)?;
        let options =
            EventOptions { min_separation: self.min_separation, ..EventOptions::default() };
        detect_events(&[], &[], &options).map(|_| ())
    }
}

/// Times of the positive instances in annotated intervals; none without labels.
fn true_events(recording: &Recording) -> Vec<f64> {
    let Some(truth) = &recording.truth else { return Vec::new() };
    let observed = recording.session.observed_instances().into_iter();
    observed.filter(|&i| truth[i]).map(|i| recording.session.times()[i]).collect()
}

/// Annotated time of a recording.
fn observed_time(session: &Session) -> f64 {
    let (first, last) = (session.times()[0], session.times()[session.len() - 1]);
    let Some(intervals) = session.observed() else { return last - first };
    let inside = |&(start, end): &(f64, f64)| (end.min(last) - start.max(first)).max(0.0);
    intervals.iter().map(inside).sum()
}
