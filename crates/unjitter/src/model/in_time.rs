//! A session for inference: in units of time, labels as log-odds, the stamps of each annotator by themselves.

use super::groups::{Groups, Members};
use super::posterior::check_capacity;
use crate::inference::{Stamp, Timeline};
use crate::{Result, Session};

/// The observed instances of a session and its stamps, in units since its first instance.
#[derive(Debug)]
pub(crate) struct InTime {
    /// Times of the instances.
    pub(crate) times: Vec<f64>,
    /// Known labels of the instances; empty if there are none.
    pub(crate) labels: Vec<Option<bool>>,
    /// Halfway between the first and the last instance, observed or not.
    pub(crate) middle: f64,
    /// One for each annotator, or one if they are not known.
    pub(crate) streams: Vec<Stream>,
}

/// The stamps of one annotator.
#[derive(Debug)]
pub(crate) struct Stream {
    /// In order.
    pub(crate) stamps: Vec<Stamp>,
    /// Their positions among all stamps of the session.
    pub(crate) positions: Vec<usize>,
    /// The groups that these stamps are of.
    pub(crate) members: Members,
    /// How long somebody was annotating.
    duration: f64,
}

impl InTime {
    /// The observed instances of a session, by position, and its stamps.
    pub(crate) fn new(
        session: &Session<'_>,
        observed: &[usize],
        time_unit: f64,
        groups: &Groups,
    ) -> Self {
        // Differences first, so that epoch seconds keep their digits.
        let origin = session.times()[0];
        let in_units = |t: &f64| (t - origin) / time_unit;
        let known = |i: &usize| session.label(*i);
        let labels: Vec<Option<bool>> = observed.iter().map(known).collect();
        let any_label = labels.iter().any(Option::is_some);
        let times: Vec<f64> = observed.iter().map(|&i| in_units(&session.times()[i])).collect();
        let intervals = session.observed().map(|intervals| {
            intervals.iter().map(|(from, to)| (to - from) / time_unit).sum::<f64>()
        });
        let stream = |annotator: Option<usize>| {
            let all = 0..session.stamps().len();
            let positions: Vec<usize> =
                all.filter(|&l| session.annotator_of(l) == annotator).collect();
            let stamp = |&l: &usize| Stamp {
                time: in_units(&session.stamps()[l]),
                width: session.width_of(l) / time_unit,
            };
            let stamps: Vec<Stamp> = positions.iter().map(stamp).collect();
            let duration =
                intervals.unwrap_or_else(|| Timeline::new(&times, &stamps, 1.0).duration);
            let name = annotator.map(|k| session.annotators()[k].as_str());
            Stream { stamps, positions, members: groups.members(session, name), duration }
        };
        let streams = match session.annotators().len() {
            0 => vec![stream(None)],
            count => (0..count).map(|k| stream(Some(k))).collect(),
        };
        let labels = if any_label { labels } else { Vec::new() };
        let middle = 0.5 * in_units(&session.times()[session.len() - 1]);
        Self { times, labels, middle, streams }
    }

    /// The same with other stamps, in units: those of each stream.
    pub(crate) fn with_stamps(&self, stamps: Vec<Vec<f64>>) -> Self {
        let mut position = 0..;
        let stream = |(own, stamps): (&Stream, Vec<f64>)| Stream {
            positions: position.by_ref().take(stamps.len()).collect(),
            stamps: Stamp::at(&stamps),
            members: own.members.clone(),
            duration: own.duration,
        };
        let streams = self.streams.iter().zip(stamps).map(stream).collect();
        let (times, labels) = (self.times.clone(), self.labels.clone());
        Self { times, labels, middle: self.middle, streams }
    }

    /// Fails if there are more stamps of a stream than the instances can give.
    pub(crate) fn check_capacity(&self, session: &str, max_count: Option<usize>) -> Result<()> {
        let each = |stream: &Stream| {
            check_capacity(session, stream.stamps.len(), self.times.len(), max_count)
        };
        self.streams.iter().try_for_each(each)
    }

    /// Stamps of all streams.
    pub(crate) fn stamps(&self) -> usize {
        self.streams.iter().map(|stream| stream.stamps.len()).sum()
    }

    /// Stamps of one annotator, on average: as many as there are events, about.
    pub(crate) fn stamps_of_one(&self) -> f64 {
        self.stamps() as f64 / self.streams.len() as f64
    }

    /// Instances and the stamps of a stream in time.
    pub(crate) fn timeline<'a>(&'a self, stream: &'a Stream) -> Timeline<'a> {
        let Stream { stamps, duration, .. } = stream;
        Timeline { duration: *duration, ..Timeline::new(&self.times, stamps, 1.0) }
    }

    /// How long somebody was annotating, over all streams.
    pub(crate) fn duration(&self) -> f64 {
        self.streams.iter().map(|stream| stream.duration).sum()
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
