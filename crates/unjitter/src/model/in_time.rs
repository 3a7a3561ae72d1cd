//! A session for inference: in units of time, labels as log-odds.

use crate::Session;
use crate::inference::{Stamp, Timeline};

/// The observed instances of a session and its stamps, in units since its first instance.
#[derive(Debug)]
pub(crate) struct InTime {
    /// Times of the instances.
    pub(crate) times: Vec<f64>,
    /// The stamps.
    pub(crate) stamps: Vec<Stamp>,
    /// Known labels of the instances; empty if there are none.
    pub(crate) labels: Vec<Option<bool>>,
    /// How long somebody was annotating.
    duration: f64,
}

impl InTime {
    /// The observed instances of a session, by position, and its stamps.
    pub(crate) fn new(session: &Session<'_>, observed: &[usize], time_unit: f64) -> Self {
        // Differences first, so that epoch seconds keep their digits.
        let origin = session.times()[0];
        let in_units = |t: &f64| (t - origin) / time_unit;
        let known = |i: &usize| session.label(*i);
        let labels: Vec<Option<bool>> = observed.iter().map(known).collect();
        let any_label = labels.iter().any(Option::is_some);
        let times: Vec<f64> = observed.iter().map(|&i| in_units(&session.times()[i])).collect();
        let stamps: Vec<Stamp> =
            session.stamps().iter().map(|z| Stamp { time: in_units(z) }).collect();
        let duration = match session.observed() {
            Some(intervals) => intervals.iter().map(|(from, to)| (to - from) / time_unit).sum(),
            None => Timeline::new(&times, &stamps, 1.0).duration,
        };
        let labels = if any_label { labels } else { Vec::new() };
        Self { times, stamps, labels, duration }
    }

    /// The same with other stamps, in units.
    pub(crate) fn with_stamps(&self, stamps: &[f64]) -> Self {
        let stamps = stamps.iter().map(|&time| Stamp { time }).collect();
        Self { times: self.times.clone(), labels: self.labels.clone(), stamps, ..*self }
    }

    /// Instances and stamps in time.
    pub(crate) fn timeline(&self) -> Timeline<'_> {
        Timeline { duration: self.duration, ..Timeline::new(&self.times, &self.stamps, 1.0) }
    }

    /// Sets the log-odds of known labels to ±∞.
    pub(crate) fn pin_labels(&self, first: usize, log_odds: &mut [f64]) {
        if self.labels.is_empty() {
            return;
        }
        for (f, label) in log_odds.iter_mut().zip(&self.labels[first..]) {
            match label {
                Some(true) => *f = f64::INFINITY,
                Some(false) => *f = f64::NEG_INFINITY,
                None => {}
            }
        }
    }
}
