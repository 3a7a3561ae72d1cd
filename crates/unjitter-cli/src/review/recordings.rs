//! The data under review: sessions, signals, and the part of them that a view shows.

use std::sync::OnceLock;

use serde::Serialize;
use unjitter::io::{Dataset, RawSignal};

use super::item::Item;
use super::posteriors::Places;
use super::pyramid::{Envelope, Pyramid};

/// Features that are drawn where there is no signal.
const DRAWN: usize = 8;
/// Marks of instances for each pixel, at most.
const PER_PIXEL: usize = 2;
/// Most pixels of a view.
const MOST_PIXELS: usize = 20_000;

/// A dataset with its signals.
#[derive(Debug)]
pub(crate) struct Recordings {
    pub(crate) data: Dataset,
    /// By session.
    signals: Vec<Option<RawSignal>>,
    channels: Vec<String>,
    /// By session, when first looked at: one for each channel, with its samples if they are features.
    pyramids: Vec<OnceLock<Vec<Channel>>>,
}

#[derive(Debug)]
struct Channel {
    name: String,
    pyramid: Pyramid,
    /// Values of a feature; those of a signal are kept with it.
    feature: Option<Vec<f64>>,
}

/// A view of a session.
#[derive(Debug, Serialize)]
pub(crate) struct View {
    channels: Vec<Envelope>,
    instances: Vec<InstanceMark>,
    stamps: Vec<StampMark>,
}

impl View {
    /// The signal.
    pub(crate) fn channels(&self) -> &[Envelope] {
        &self.channels
    }
}

#[derive(Debug, Clone, Copy, Serialize)]
struct InstanceMark {
    index: usize,
    time: f64,
    p_detector: f64,
    p_positive: f64,
}

#[derive(Debug, Serialize)]
struct StampMark {
    id: Item,
    time: f64,
    low: Option<f64>,
    high: Option<f64>,
    annotator: Option<String>,
}

impl Recordings {
    /// A dataset, the names of its signals' channels and the signals of its sessions.
    pub(crate) fn new(data: Dataset, channels: Vec<String>, signals: Vec<RawSignal>) -> Self {
        let mut by_session: Vec<Option<RawSignal>> =
            (0..data.recordings.len()).map(|_| None).collect();
        for signal in signals {
            if let Some(k) = data.position(&signal.session) {
                by_session[k] = Some(signal);
            }
        }
        let pyramids = (0..data.recordings.len()).map(|_| OnceLock::new()).collect();
        Self { data, signals: by_session, channels, pyramids }
    }

    /// A session.
    pub(crate) fn session(&self, k: usize) -> &unjitter::Session<'static> {
        &self.data.recordings[k].session
    }

    /// Who gave a stamp, if that is known.
    pub(crate) fn annotator(&self, k: usize, stamp: usize) -> Option<&str> {
        let session = self.session(k);
        session.annotator_of(stamp).map(|who| session.annotators()[who].as_str())
    }

    /// The median time from one instance of a session to the next.
    pub(crate) fn spacing(&self, k: usize) -> f64 {
        let times = self.session(k).times();
        let mut steps: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let middle = steps.len() / 2;
        match steps.is_empty() {
            true => 1.0,
            false => *steps.select_nth_unstable_by(middle, f64::total_cmp).1,
        }
    }

    /// A part of a session, for so many pixels.
    pub(crate) fn view(&self, k: usize, range: (f64, f64), pixels: usize, places: &Places) -> View {
        let pixels = pixels.clamp(1, MOST_PIXELS);
        View {
            channels: self.envelopes(k, range, pixels),
            instances: self.instances(k, range, pixels, places),
            stamps: self.stamps(k, range, places),
        }
    }

    fn envelopes(&self, k: usize, range: (f64, f64), pixels: usize) -> Vec<Envelope> {
        let channels = self.pyramids[k].get_or_init(|| self.built(k));
        let signal = self.signals[k].as_ref();
        let draw = |(c, channel): (usize, &Channel)| {
            let samples = match (&channel.feature, signal) {
                (Some(values), _) => (self.session(k).times(), values.as_slice()),
                (None, Some(signal)) => (signal.channels[c].times(), signal.channels[c].values()),
                (None, None) => unreachable!("a channel is a feature or of a signal"),
            };
            let name = channel.name.clone();
            Envelope { name, ..channel.pyramid.envelope(samples, range, pixels) }
        };
        channels.iter().enumerate().map(draw).collect()
    }

    fn built(&self, k: usize) -> Vec<Channel> {
        if let Some(signal) = &self.signals[k] {
            let build = |(c, own): (usize, &unjitter::signal::Signal)| Channel {
                name: self.channels.get(c).cloned().unwrap_or_else(|| format!("channel {}", c + 1)),
                pyramid: Pyramid::new(own.times(), own.values()),
                feature: None,
            };
            return signal.channels.iter().enumerate().map(build).collect();
        }
        let session = self.session(k);
        let names = self.data.features.iter().take(DRAWN);
        let mut columns = vec![Vec::with_capacity(session.len()); names.len()];
        session.features().visit_rows(|row| {
            columns.iter_mut().zip(row).for_each(|(column, value)| column.push(*value));
        });
        let build = |(name, values): (&String, Vec<f64>)| Channel {
            name: name.clone(),
            pyramid: Pyramid::new(session.times(), &values),
            feature: Some(values),
        };
        names.zip(columns).map(build).collect()
    }

    /// Instances in view; where there are too many to see, the likeliest of each pixel.
    fn instances(
        &self,
        k: usize,
        (from, to): (f64, f64),
        pixels: usize,
        places: &Places,
    ) -> Vec<InstanceMark> {
        let times = self.session(k).times();
        let (first, end) =
            (times.partition_point(|t| *t < from), times.partition_point(|t| *t <= to));
        let mark = |index: usize| {
            let own = places.instances[index];
            let (p_detector, p_positive) = (own.p_detector, own.p_positive);
            InstanceMark { index, time: times[index], p_detector, p_positive }
        };
        if end.saturating_sub(first) <= PER_PIXEL * pixels {
            return (first..end).map(mark).collect();
        }
        let pixel = |index: usize| ((times[index] - from) / (to - from) * pixels as f64) as usize;
        let mut marks: Vec<InstanceMark> = Vec::new();
        let mut start = first;
        while start < end {
            let here = pixel(start);
            let stop = (start..end).find(|&i| pixel(i) != here).unwrap_or(end);
            let likeliest = |of: fn(&super::posteriors::InstancePlace) -> f64| {
                let p = |i: &usize| of(&places.instances[*i]);
                (start..stop).max_by(|a, b| p(a).total_cmp(&p(b))).expect("a pixel has an instance")
            };
            let (one, other) = (likeliest(|own| own.p_detector), likeliest(|own| own.p_positive));
            marks.push(mark(one.min(other)));
            if one != other {
                marks.push(mark(one.max(other)));
            }
            start = stop;
        }
        marks
    }

    fn stamps(&self, k: usize, (from, to): (f64, f64), places: &Places) -> Vec<StampMark> {
        let stamps = self.session(k).stamps();
        let (first, end) =
            (stamps.partition_point(|t| *t < from), stamps.partition_point(|t| *t <= to));
        let finite = |time: f64| time.is_finite().then_some(time);
        let mark = |l: usize| StampMark {
            id: Item::Stamp(k, l),
            time: stamps[l],
            low: finite(places.stamps[l].low),
            high: finite(places.stamps[l].high),
            annotator: self.annotator(k, l).map(str::to_owned),
        };
        (first..end.max(first)).map(mark).collect()
    }
}
