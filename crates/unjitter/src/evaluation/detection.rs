//! Detected against true events, over sessions.
//!
//! Each session is matched separately, so that an event never meets a detection of another recording with
//! the same clock; then counts, timing errors and observed time are pooled. So a long session weighs more
//! than a short one.

use serde::{Deserialize, Serialize};

use super::events::Detection;
use super::matching::match_events;
use super::scores::Scores;
use super::tolerance::Tolerance;
use crate::math::quantile;
use crate::{Error, Result};

/// Detections, true events and observed time of one session.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SessionEvents<'a> {
    /// Detections, in any order.
    pub detections: &'a [Detection],
    /// Times of the true events, in any order.
    pub truths: &'a [f64],
    /// Observed duration, at least 0, in the unit of time.
    pub observed: f64,
}

/// How well events were found.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct EventMetrics {
    /// Events that a detection is credited with.
    pub hits: usize,
    /// Events that no detection is credited with.
    pub misses: usize,
    /// Detections that are credited with no event.
    pub false_alarms: usize,
    /// Precision, recall and F1 of these counts.
    #[serde(flatten)]
    pub scores: Scores,
    /// False alarms per hour of observed time; none if no time was observed.
    pub false_alarms_per_hour: Option<f64>,
    /// Timing of the hits; none without hits.
    pub timing: Option<TimingErrors>,
}

/// Detection minus event over the hits, in the unit of time: positive is late.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TimingErrors {
    /// Mean.
    pub mean: f64,
    /// Median; of an even number the midpoint of the two in the middle.
    pub median: f64,
    /// Standard deviation about the mean, of these hits themselves (divided by their number).
    pub standard_deviation: f64,
    /// Mean absolute error.
    pub mean_absolute: f64,
}

impl TimingErrors {
    fn new(mut errors: Vec<f64>) -> Option<Self> {
        if errors.is_empty() {
            return None;
        }
        // Sums run over sorted values, so the order of the sessions leaves no trace.
        errors.sort_by(f64::total_cmp);
        let average = |term: &dyn Fn(f64) -> f64| {
            errors.iter().map(|&error| term(error)).sum::<f64>() / errors.len() as f64
        };
        let mean = average(&|error| error);
        Some(Self {
            mean,
            median: quantile(&errors, 0.5),
            standard_deviation: average(&|error| (error - mean).powi(2)).sqrt(),
            mean_absolute: average(&f64::abs),
        })
    }
}

/// Matches each session as [`match_events`] does and pools the result; `seconds_per_unit` is the
/// unit of time in seconds (0.001 for milliseconds).
pub fn event_metrics(
    sessions: &[SessionEvents<'_>],
    tolerance: &Tolerance,
    seconds_per_unit: f64,
) -> Result<EventMetrics> {
    tolerance.check()?;
    check_sessions(sessions)?;
    if !(seconds_per_unit.is_finite() && seconds_per_unit > 0.0) {
        let name = "seconds_per_unit".to_owned();
        let expected = "a finite number above 0";
        return Err(Error::OutOfRange { name, value: seconds_per_unit, expected });
    }
    let (mut detected, mut present, mut observed) = (0, 0, 0.0);
    let mut errors = Vec::new();
    for session in sessions {
        let times: Vec<f64> = session.detections.iter().map(|detection| detection.time).collect();
        let pairs = match_events(&times, session.truths, tolerance)?;
        errors.extend(pairs.iter().map(|pair| times[pair.detection] - session.truths[pair.truth]));
        detected += times.len();
        present += session.truths.len();
        observed += session.observed;
    }
    let hits = errors.len();
    let (misses, false_alarms) = (present - hits, detected - hits);
    let hours = observed * seconds_per_unit / 3600.0;
    Ok(EventMetrics {
        hits,
        misses,
        false_alarms,
        scores: Scores::from_counts(hits, false_alarms, misses),
        false_alarms_per_hour: (hours > 0.0).then(|| false_alarms as f64 / hours),
        timing: TimingErrors::new(errors),
    })
}

/// At least one session, every number in it finite, no negative duration.
pub(super) fn check_sessions(sessions: &[SessionEvents<'_>]) -> Result<()> {
    if sessions.is_empty() {
        return Err(Error::NoSessions);
    }
    let finite = |name: &dyn Fn() -> String, value: f64| {
        if value.is_finite() {
            return Ok(());
        }
        Err(Error::OutOfRange { name: name(), value, expected: "a finite number" })
    };
    for (k, session) in sessions.iter().enumerate() {
        for (index, detection) in session.detections.iter().enumerate() {
            finite(&|| format!("session {k}: time of detection {index}"), detection.time)?;
            finite(&|| format!("session {k}: score of detection {index}"), detection.score)?;
        }
        for (index, &truth) in session.truths.iter().enumerate() {
            finite(&|| format!("session {k}: time of true event {index}"), truth)?;
        }
        let value = session.observed;
        if !(value.is_finite() && value >= 0.0) {
            let name = format!("session {k}: observed duration");
            return Err(Error::OutOfRange { name, value, expected: "a finite number, at least 0" });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(times: &[f64]) -> Vec<Detection> {
        times.iter().map(|&time| Detection::at(time, 0.5)).collect()
    }

    #[test]
    fn a_session_by_hand() {
        let (first, second) = (at(&[1.0, 5.5, 9.0]), at(&[2.0]));
        let sessions = [
            SessionEvents { detections: &first, truths: &[1.5, 5.0, 20.0], observed: 1500.0 },
            SessionEvents { detections: &second, truths: &[2.0], observed: 300.0 },
        ];
        let got = event_metrics(&sessions, &Tolerance::symmetric(0.5), 1.0).unwrap();
        assert_eq!((got.hits, got.misses, got.false_alarms), (3, 1, 1));
        assert_eq!((got.scores.precision, got.scores.recall), (0.75, 0.75));
        assert_eq!(got.false_alarms_per_hour, Some(2.0));
        let timing = got.timing.unwrap();
        assert_eq!((timing.mean, timing.median), (0.0, 0.0));
        // √(0.5 / 3) and 1 / 3: a division and a root.
        assert!((timing.standard_deviation - (0.5_f64 / 3.0).sqrt()).abs() < 1e-15);
        assert!((timing.mean_absolute - 1.0 / 3.0).abs() < 1e-15);
    }

    #[test]
    fn sessions_never_share_events() {
        let detections = at(&[1.0]);
        let sessions = [
            SessionEvents { detections: &detections, truths: &[], observed: 1.0 },
            SessionEvents { detections: &[], truths: &[1.0], observed: 1.0 },
        ];
        let got = event_metrics(&sessions, &Tolerance::symmetric(0.5), 1.0).unwrap();
        assert_eq!((got.hits, got.misses, got.false_alarms), (0, 1, 1));
        assert_eq!(got.timing, None);
    }

    #[test]
    fn late_is_positive() {
        let detections = at(&[3.0, 10.0, 20.0]);
        let sessions =
            [SessionEvents { detections: &detections, truths: &[2.0, 10.0, 20.0], observed: 0.0 }];
        let got = event_metrics(&sessions, &Tolerance::symmetric(1.0), 1.0).unwrap();
        let timing = got.timing.unwrap();
        assert_eq!((timing.mean, timing.median), (1.0 / 3.0, 0.0));
        assert_eq!(got.false_alarms_per_hour, None);
    }

    #[test]
    fn bad_input_is_named() {
        let tolerance = Tolerance::symmetric(1.0);
        assert!(matches!(event_metrics(&[], &tolerance, 1.0), Err(Error::NoSessions)));
        let nan = [Detection::at(1.0, f64::NAN)];
        let fine = SessionEvents { detections: &[], truths: &[], observed: 1.0 };
        let message = |session, unit| {
            event_metrics(&[fine, session], &tolerance, unit).unwrap_err().to_string()
        };
        let session = SessionEvents { detections: &nan, ..fine };
        let want = "session 1: score of detection 0 is NaN, expected a finite number";
        assert_eq!(message(session, 1.0), want);
        let session = SessionEvents { truths: &[0.0, f64::INFINITY], ..fine };
        assert!(message(session, 1.0).starts_with("session 1: time of true event 1 is inf"));
        let session = SessionEvents { observed: -1.0, ..fine };
        assert!(message(session, 1.0).starts_with("session 1: observed duration is -1"));
        assert!(message(fine, 0.0).starts_with("seconds_per_unit is 0"));
    }
}
