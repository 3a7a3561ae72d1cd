//! Scores of detected events in held-out sessions, beside those of single instances.

use serde::{Deserialize, Serialize};

use super::bouts::{Bout, BoutMetrics, BoutOptions, SessionBouts, bout_metrics, lasting};
use super::detection::{EventMetrics, SessionEvents, event_metrics};
use super::events::{Detection, EventOptions, detect_events};
use super::tolerance::Tolerance;
use crate::labels::Labels;
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
    /// Whether an event is one instance or a run of them, which then counts as detected if it begins within the
    /// tolerance: the same for all contenders.
    #[serde(skip_serializing_if = "is_independent")]
    pub labels: Labels,
}

fn is_independent(labels: &Labels) -> bool {
    *labels == Labels::Independent
}

impl Default for EventScoring {
    fn default() -> Self {
        Self {
            tolerance: None,
            min_separation: 0.0,
            seconds_per_unit: 1.0,
            labels: Labels::Independent,
        }
    }
}

/// True and detected events of all held-out sessions.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct EventSummary {
    /// Largest distance of a detection from its event, in the unit of time.
    pub tolerance: f64,
    /// Smallest distance between two detected events, in the unit of time.
    pub min_separation: f64,
    /// Whether an event is one instance or a run of them.
    #[serde(default, skip_serializing_if = "is_independent")]
    pub labels: Labels,
    /// Hits, misses, false alarms and the scores from them.
    #[serde(flatten)]
    pub metrics: EventMetrics,
    /// What detected runs have in common with true ones, if events are runs; stretches last a second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bouts: Option<BoutMetrics>,
}

/// Two median spacings of instances, but at most half the median distance between true events of a
/// session: a detection may be at a neighbouring instance, but not at another event.
pub fn usual_tolerance(recordings: &[Recording], labels: Labels) -> f64 {
    let near = median_distance(recordings.iter().map(|one| one.session.times().to_vec()));
    let begin = |one: &Recording| true_events(one, labels).iter().map(|own| own.time).collect();
    let apart = median_distance(recordings.iter().map(begin));
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
        let Self { min_separation, labels, .. } = *self;
        let tolerance = self.tolerance.unwrap_or_else(|| usual_tolerance(recordings, labels));
        let mut found: Vec<Vec<Detection>> = Vec::with_capacity(recordings.len());
        for ((recording, &own), &threshold) in recordings.iter().zip(probabilities).zip(thresholds)
        {
            let options = EventOptions { threshold, min_separation, labels };
            found.push(observed_events(&recording.session, own, &options)?);
        }
        let runs: Vec<Vec<Detection>> =
            recordings.iter().map(|recording| true_events(recording, labels)).collect();
        let truths: Vec<Vec<f64>> =
            runs.iter().map(|own| own.iter().map(|event| event.time).collect()).collect();
        let sessions: Vec<SessionEvents<'_>> = (0..recordings.len())
            .map(|k| SessionEvents {
                detections: &found[k],
                truths: &truths[k],
                observed: observed_time(&recordings[k].session),
            })
            .collect();
        let window = Tolerance::symmetric(tolerance);
        let metrics = event_metrics(&sessions, &window, self.seconds_per_unit)?;
        let bouts = match labels {
            Labels::Independent => None,
            Labels::Chain => Some(self.bouts(recordings, &found, &runs)?),
        };
        Ok(EventSummary { tolerance, min_separation, labels, metrics, bouts })
    }

    /// What detected runs have in common with true ones. The last instance of a run lasts as long as instances usually
    /// are apart.
    fn bouts(
        &self,
        recordings: &[Recording],
        found: &[Vec<Detection>],
        truths: &[Vec<Detection>],
    ) -> Result<BoutMetrics> {
        let all = recordings.iter().map(|one| one.session.times().to_vec());
        let spacing = median_distance(all).unwrap_or(0.0);
        let bouts = |own: &[Vec<Detection>]| -> Vec<Vec<Bout>> {
            own.iter().map(|own| lasting(own, spacing)).collect()
        };
        let (found, truths) = (bouts(found), bouts(truths));
        let sessions: Vec<SessionBouts<'_>> = (0..recordings.len())
            .map(|k| SessionBouts {
                detections: &found[k],
                truths: &truths[k],
                begins: recordings[k].session.times()[0],
            })
            .collect();
        let stretch = 1.0 / self.seconds_per_unit;
        bout_metrics(&sessions, &BoutOptions { stretch, ..BoutOptions::default() })
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

/// Events in annotated intervals, none of which a run leaves.
fn observed_events(
    session: &Session,
    probabilities: &[f64],
    options: &EventOptions,
) -> Result<Vec<Detection>> {
    let observed = session.observed_instances();
    let detect = |own: &[usize]| {
        let of = |&i: &usize| (session.times()[i], probabilities[i]);
        let (times, own): (Vec<f64>, Vec<f64>) = own.iter().map(of).unzip();
        detect_events(&times, &own, options)
    };
    match options.labels {
        Labels::Independent => detect(&observed),
        Labels::Chain => {
            let stretches = observed.chunk_by(|i, next| i + 1 == *next).map(detect);
            Ok(stretches.collect::<Result<Vec<_>>>()?.concat())
        }
    }
}

/// Events of the labels in annotated intervals; none without labels.
fn true_events(recording: &Recording, labels: Labels) -> Vec<Detection> {
    let Some(truth) = &recording.truth else { return Vec::new() };
    let is_positive: Vec<f64> = truth.iter().map(|&label| f64::from(u8::from(label))).collect();
    let options = EventOptions { labels, ..EventOptions::default() };
    // Labels are probabilities, and times were checked with the session.
    observed_events(&recording.session, &is_positive, &options).unwrap_or_default()
}

/// Annotated time of a recording.
fn observed_time(session: &Session) -> f64 {
    let (first, last) = (session.times()[0], session.times()[session.len() - 1]);
    let Some(intervals) = session.observed() else { return last - first };
    let inside = |&(start, end): &(f64, f64)| (end.min(last) - start.max(first)).max(0.0);
    intervals.iter().map(inside).sum()
}
