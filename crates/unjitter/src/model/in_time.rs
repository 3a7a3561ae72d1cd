//! A session for inference: in units of time, labels as log-odds, the stamps of each annotator by themselves, and
//! those of each class if there are several.

use super::classes::Classes;
use super::groups::{Groups, Members};
use super::posterior::check_capacity;
use crate::inference::{Stamp, Timeline};
use crate::labels::Variable;
use crate::session::{Label, check_widths};
use crate::{Error, Result, Session};

/// The observed instances of a session and its stamps.
#[derive(Debug)]
pub(crate) struct InTime {
    /// Times of the instances: in units since the first one, or as they were given for a loss.
    pub(crate) times: Vec<f64>,
    /// The unit of the parameters, in the unit of these times: 1, but for a loss.
    pub(super) unit: f64,
    /// Known labels of the instances; empty if there are none.
    pub(crate) labels: Vec<Option<bool>>,
    /// The same with classes: 0 for no event and k for class k.
    pub(crate) known: Vec<Option<usize>>,
    /// Halfway between the first and the last instance, observed or not.
    pub(crate) middle: f64,
    /// One for each annotator and class, or one if neither is known; then those about the ends of what they stamped.
    pub(crate) streams: Vec<Stream>,
}

/// The stamps of one annotator that are recorded as one class.
#[derive(Debug)]
pub(crate) struct Stream {
    /// In order.
    pub(crate) stamps: Vec<Stamp>,
    /// What of the labels they are about, if they say so themselves.
    pub(crate) about: Option<Variable>,
    /// Their positions among all stamps of the session.
    pub(crate) positions: Vec<usize>,
    /// The groups that these stamps are of.
    pub(crate) members: Members,
    /// Whose stamps they are, counted from 0: streams of the same voice are about the same events.
    pub(crate) voice: usize,
    /// The class that they are recorded as; none if it is not told, or there is only one.
    pub(crate) class: Option<usize>,
    /// How long somebody was annotating.
    duration: f64,
}

impl Stream {
    /// Stamps of somebody who annotated as long as there are instances or stamps.
    fn new(times: &[f64], stamps: Vec<Stamp>, positions: Vec<usize>, members: Members) -> Self {
        let duration = Timeline::new(times, &stamps, 1.0).duration;
        Self { stamps, about: None, positions, members, voice: 0, class: None, duration }
    }
}

/// The stamps of a session as they are given for a loss.
#[derive(Debug, Clone, Copy)]
pub struct SessionStamps<'a> {
    /// The stamps of all annotators, in order.
    pub stamps: &'a [f64],
    /// Widths of the intervals, around their times, in which they were pressed; empty if all times are known.
    pub widths: &'a [f64],
    /// Which annotator gave each, by number; empty if there is only one.
    pub annotators: &'a [usize],
    /// For each annotator the groups that their stamps are of, one for each effect, by number among all groups.
    pub members: &'a [Members],
}

impl SessionStamps<'_> {
    /// Fails unless all are of one length, widths can be those of intervals, and annotators and groups are known.
    pub(super) fn check(&self, session: &str, groups: &Groups) -> Result<()> {
        let Self { stamps, widths, annotators, members } = *self;
        let expected = stamps.len();
        let is_whole = |found: usize, may_miss: bool| found == expected || found == 0 && may_miss;
        let mismatch = |what, found| {
            let session = session.to_owned();
            Err(Error::StampMismatch { session, what, found, expected })
        };
        if !is_whole(widths.len(), true) {
            return mismatch("widths of stamps", widths.len());
        }
        // Where nobody annotated, nothing is known of the labels.
        if members.is_empty() || !is_whole(annotators.len(), members.len() == 1) {
            return mismatch("annotators", annotators.len());
        }
        check_widths(session, widths)?;
        if let Some(index) = annotators.iter().position(|&k| k >= members.len()) {
            let (what, value) = ("annotator of stamp", annotators[index] as f64);
            let expected = "the number of an annotator";
            return Err(Error::BadInput { what, index, value, expected });
        }
        members.iter().try_for_each(|own| groups.check_members(own))
    }
}

impl InTime {
    /// The observed instances of a session, by position, and its stamps.
    pub(crate) fn new(
        session: &Session<'_>,
        observed: &[usize],
        time_unit: f64,
        groups: &Groups,
        classes: &Classes,
    ) -> Self {
        // Differences first, so that epoch seconds keep their digits.
        let origin = session.times()[0];
        let in_units = |t: &f64| (t - origin) / time_unit;
        let known = |i: &usize| session.label(*i);
        let labels: Vec<Option<bool>> = observed.iter().map(known).collect();
        let any_label = labels.iter().any(Option::is_some);
        let known = observed.iter().filter(|_| any_label);
        let known = known.map(|&i| known_label(session, i, classes)).collect();
        let times: Vec<f64> = observed.iter().map(|&i| in_units(&session.times()[i])).collect();
        let intervals = session.observed().map(|intervals| {
            intervals.iter().map(|(from, to)| (to - from) / time_unit).sum::<f64>()
        });
        let stream = |annotator: Option<usize>, class: Option<usize>| {
            let is_own = |l: &usize| {
                let own = session.class_of(*l).and_then(|name| classes.number(name));
                session.annotator_of(*l) == annotator && (own == class || !classes.are_several())
            };
            let positions: Vec<usize> = (0..session.stamps().len()).filter(is_own).collect();
            let stamp = |&l: &usize| Stamp {
                time: in_units(&session.stamps()[l]),
                width: session.width_of(l) / time_unit,
            };
            let stamps = positions.iter().map(stamp).collect();
            let name = annotator.map(|k| session.annotators()[k].as_str());
            let recorded = class.map(|k| classes.names()[k].as_str());
            let members = groups.members(session, name, recorded);
            let stream = Stream::new(&times, stamps, positions, members);
            let (voice, duration) = (annotator.unwrap_or(0), intervals.unwrap_or(stream.duration));
            Stream { voice, class, duration, ..stream }
        };
        let voices = match session.annotators().len() {
            0 => vec![None],
            count => (0..count).map(Some).collect(),
        };
        let streams = match classes.are_several() {
            false => voices.into_iter().map(|own| stream(own, None)).collect(),
            true => {
                let of_voice = |own: Option<usize>| {
                    let untold = Some(stream(own, None)).filter(|own| !own.stamps.is_empty());
                    let told = (0..classes.count()).map(move |k| (own, Some(k)));
                    told.map(|(own, class)| stream(own, class)).chain(untold).collect::<Vec<_>>()
                };
                voices.into_iter().flat_map(of_voice).collect()
            }
        };
        let labels = if any_label { labels } else { Vec::new() };
        let middle = 0.5 * in_units(&session.times()[session.len() - 1]);
        Self { times, unit: 1.0, labels, known, middle, streams }
    }

    /// The same with the ends of stamps, at known times or as uncertain as their beginnings. Somebody whose stamps tell no
    /// end did not look for any; one who stamped nothing saw no end either.
    pub(crate) fn with_ends(mut self, session: &Session<'_>, time_unit: f64) -> Self {
        let origin = session.times()[0];
        let tells_ends = |own: &Stream| own.positions.iter().any(|&l| session.end_of(l).is_some());
        let voice_tells_ends =
            |voice: usize| self.streams.iter().any(|own| own.voice == voice && tells_ends(own));
        let ends = |own: &Stream| {
            let end = |&l: &usize| {
                let (time, width) = (session.end_of(l)? - origin, session.width_of(l));
                Some((Stamp { time: time / time_unit, width: width / time_unit }, l))
            };
            let mut ends: Vec<(Stamp, usize)> = own.positions.iter().filter_map(end).collect();
            let stamped = |other: &Stream| other.voice == own.voice && !other.stamps.is_empty();
            if !voice_tells_ends(own.voice) && self.streams.iter().any(stamped) {
                return None;
            }
            ends.sort_by(|(a, _), (b, _)| a.time.total_cmp(&b.time));
            let (stamps, positions) = ends.into_iter().unzip();
            let stream = Stream::new(&self.times, stamps, positions, own.members.clone());
            let duration =
                if session.observed().is_some() { own.duration } else { stream.duration };
            let (voice, class) = (own.voice, own.class);
            Some(Stream { about: Some(Variable::End), voice, class, duration, ..stream })
        };
        let ends: Vec<Stream> = self.streams.iter().filter_map(ends).collect();
        self.streams.extend(ends);
        self
    }

    /// Instances at these times, and stamps, as they are given for a loss: times are not in units.
    pub(super) fn given(times: &[f64], given: &SessionStamps<'_>, unit: f64) -> Self {
        let SessionStamps { stamps, widths, annotators, members } = *given;
        let stream = |(k, members): (usize, &Members)| {
            let is_own = |l: &usize| annotators.is_empty() || annotators[*l] == k;
            let positions: Vec<usize> = (0..stamps.len()).filter(is_own).collect();
            let width = |l: usize| widths.get(l).copied().unwrap_or(0.0);
            let stamp = |&l: &usize| Stamp { time: stamps[l], width: width(l) };
            let stamps = positions.iter().map(stamp).collect();
            Stream { voice: k, ..Stream::new(times, stamps, positions, members.clone()) }
        };
        let streams = members.iter().enumerate().map(stream).collect();
        let ends = times.first().zip(times.last());
        let middle = ends.map_or(0.0, |(first, last)| first + 0.5 * (last - first));
        let (labels, known) = (Vec::new(), Vec::new());
        Self { times: times.to_vec(), unit, labels, known, middle, streams }
    }

    /// The same with other stamps, in units: those of each stream.
    pub(crate) fn with_stamps(&self, stamps: Vec<Vec<f64>>) -> Self {
        let mut position = 0..;
        let stream = |(own, stamps): (&Stream, Vec<f64>)| Stream {
            positions: position.by_ref().take(stamps.len()).collect(),
            stamps: Stamp::at(&stamps),
            members: own.members.clone(),
            ..*own
        };
        let streams = self.streams.iter().zip(stamps).map(stream).collect();
        let (times, labels, known) = (self.times.clone(), self.labels.clone(), self.known.clone());
        Self { times, labels, known, streams, ..*self }
    }

    /// Fails if there are more stamps of a stream than the instances can give.
    pub(crate) fn check_capacity(&self, session: &str, max_count: Option<usize>) -> Result<()> {
        let each = |stream: &Stream| {
            check_capacity(session, stream.stamps.len(), self.times.len(), max_count)
        };
        self.streams.iter().try_for_each(each)
    }

    /// Stamps of all streams; those that tell an end count twice, for what they tell is two times.
    pub(crate) fn stamps(&self) -> usize {
        self.streams.iter().map(|stream| stream.stamps.len()).sum()
    }

    /// Annotators and what each is about.
    fn voices(&self) -> usize {
        let same = |a: &Stream, b: &Stream| (a.voice, a.about) == (b.voice, b.about);
        self.streams.chunk_by(same).count()
    }

    /// Stamps of one annotator, on average: as many as there are events, about.
    pub(crate) fn stamps_of_one(&self) -> f64 {
        self.stamps() as f64 / self.voices() as f64
    }

    /// Instances and the stamps of a stream in time.
    pub(crate) fn timeline<'a>(&'a self, stream: &'a Stream) -> Timeline<'a> {
        let Stream { stamps, duration, .. } = stream;
        Timeline { duration: *duration, ..Timeline::new(&self.times, stamps, self.unit) }
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

/// Instances outside the annotated intervals whose labels are known.
#[derive(Debug, Clone)]
pub(crate) struct Outside {
    /// Their positions in the session.
    pub(crate) instances: Vec<usize>,
    /// Their times in units, since the first instance of the session.
    pub(crate) times: Vec<f64>,
    /// Their labels: 0 for no event and k for class k.
    pub(crate) labels: Vec<usize>,
}

impl Outside {
    /// Those of a session with these observed instances; none if there is none.
    pub(crate) fn of(
        session: &Session<'_>,
        observed: &[usize],
        time_unit: f64,
        classes: &Classes,
    ) -> Option<Self> {
        let mut is_observed = vec![false; session.len()];
        observed.iter().for_each(|&i| is_observed[i] = true);
        let known = |i: usize| Some((i, known_label(session, i, classes)?));
        let outside = (0..session.len()).filter(|&i| !is_observed[i]);
        let (instances, labels): (Vec<usize>, Vec<usize>) = outside.filter_map(known).unzip();
        let in_units = |&i: &usize| (session.times()[i] - session.times()[0]) / time_unit;
        let times = instances.iter().map(in_units).collect();
        (!instances.is_empty()).then_some(Self { instances, times, labels })
    }
}

/// The label of an instance with its class, if it is known: 0 for no event and k for class k.
fn known_label(session: &Session<'_>, instance: usize, classes: &Classes) -> Option<usize> {
    if !classes.are_several() {
        return session.label(instance).map(usize::from);
    }
    match session.class_label(instance) {
        Some(Label::Event(name)) => classes.number(name).map(|k| k + 1),
        _ => session.label(instance).filter(|is_event| !is_event).map(usize::from),
    }
}
