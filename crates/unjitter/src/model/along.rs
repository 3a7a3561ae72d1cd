//! Stamps about labels that depend on each other, or that are of several classes.
//!
//! The streams of one annotator are one *voice*: they are about the same events, and each is recorded as one class. How
//! often events of a class are stamped is what the stream of that class has in its groups.

use std::borrow::Cow;
use std::sync::Arc;

use super::bound_session::{BoundSession, SessionPosterior, all_log_odds, pull_back_all};
use super::classes::Classes;
use super::exchange::Exchange;
use super::in_time::InTime;
use super::stamp_model::{Found, Heard, Rows, Sums};
use super::stamp_parts::StampParts;
use crate::inference::{Impossible, Marginals, Order, Timeline};
use crate::labels::{
    Chain, Rates, Scene, Source, Spare, Stream, Summed, SummedStream, Variable, Wanted, owners,
};
use crate::scratch::Scratch;

/// How labels depend on each other, at the parameters, what each voice is about, and what classes are recorded as.
#[derive(Debug)]
pub(super) struct Along {
    /// None if labels are independent.
    rates: Option<Rates>,
    variables: Vec<Variable>,
    classes: Classes,
    /// Probabilities of records, by class of the event.
    confusion: Vec<Vec<f64>>,
    /// The voice of each stream, its number there, and the class that it is recorded as.
    places: Vec<Place>,
    spare: Arc<Scratch<Spare>>,
}

#[derive(Debug, Clone, Copy)]
struct Place {
    voice: usize,
    source: usize,
    class: Option<usize>,
}

impl Along {
    /// None if every label is a yes or no of its own.
    pub(super) fn new(parts: &StampParts, params: &[f64], session: &InTime) -> Option<Self> {
        if parts.are_labels_plain() {
            return None;
        }
        let rates = parts.rates(params, session.unit);
        // An event of independent labels is one instance.
        let usual = if rates.is_some() { parts.labelling.stamps } else { Variable::Presence };
        let (mut variables, mut places): (Vec<Variable>, Vec<Place>) = (Vec::new(), Vec::new());
        let mut last = None;
        for stream in &session.streams {
            let own = Some((stream.voice, stream.about));
            let source = match (places.last(), last == own) {
                (Some(Place { source, .. }), true) => source + 1,
                _ => {
                    variables.push(stream.about.unwrap_or(usual));
                    0
                }
            };
            last = own;
            let class = if parts.classes.are_several() { stream.class } else { Some(0) };
            places.push(Place { voice: variables.len() - 1, source, class });
        }
        let (classes, confusion) = (parts.classes.clone(), parts.recorded(params));
        let spare = parts.spare.clone();
        Some(Self { rates, variables, classes, confusion, places, spare })
    }

    /// Classes of events.
    pub(super) fn classes(&self) -> usize {
        self.classes.count()
    }

    /// Adds the log evidence of all stamps, and its derivatives in the detector's parameters; returns those in the
    /// parameters of the labels, and of each stream in its own.
    pub(super) fn add(
        &self,
        bound: &BoundSession<'_>,
        rows: &dyn Rows,
        own: &mut Sums,
    ) -> Result<(Vec<f64>, Vec<Sums>), Impossible> {
        self.spare.with(|spare| self.add_in(bound, rows, own, spare))
    }

    fn add_in(
        &self,
        bound: &BoundSession<'_>,
        rows: &dyn Rows,
        own: &mut Sums,
        spare: &mut Spare,
    ) -> Result<(Vec<f64>, Vec<Sums>), Impossible> {
        let mut scores = spare.zeros(bound.session.times.len() * rows.outputs());
        all_log_odds(rows, &mut scores);
        let (wanted, in_parallel) = (Wanted::Slopes, rows.in_parallel());
        let found = self.sum(bound, &scores, wanted, rows.exchange(), in_parallel, spare);
        spare.keep(scores);
        let mut found = found?;
        own.value += found.log_evidence;
        pull_back_all(rows, &mut found.presence, own);
        let given: Vec<Vec<f64>> =
            found.streams.iter().map(|own| self.given(&found, own)).collect();
        let pull_back = |(k, place): (usize, &Place)| {
            let mut sums = Sums::zeros(0, bound.annotator);
            let voice = &found.streams[place.voice];
            let stamps = voice.stamps[place.source].as_slice();
            let found = match place.class {
                Some(class) => Found {
                    stamps,
                    all: &found,
                    in_parallel,
                    given: given[place.voice][class],
                    events: voice.counts[class][0],
                    missed: voice.counts[class][1],
                },
                None => {
                    Found { stamps, all: &found, in_parallel, given: 0.0, events: 0.0, missed: 0.0 }
                }
            };
            bound.streams[k].pull_back_found(bound.timeline(k), &found, &mut sums);
            sums
        };
        let streams = self.places.iter().enumerate().map(pull_back).collect();
        let mut d_labels = if self.rates.is_some() { found.d_rates.to_vec() } else { Vec::new() };
        if self.classes.are_several() {
            d_labels.extend(self.classes.pull_back(&self.confusion, &self.records(&found)));
        }
        found.leave(spare);
        Ok((d_labels, streams))
    }

    /// Expected stamps that the events of each class gave.
    fn given(&self, found: &Summed, voice: &SummedStream) -> Vec<f64> {
        let stamps = || voice.stamps.iter().flatten();
        match self.classes() {
            1 => vec![stamps().map(|own| found.shares(own).iter().sum::<f64>()).sum()],
            count => (0..count).map(|k| stamps().map(|own| found.classes(own)[k]).sum()).collect(),
        }
    }

    /// Expected stamps by class of their event and of their record.
    fn records(&self, found: &Summed) -> Vec<Vec<f64>> {
        let mut records = vec![vec![0.0; self.classes()]; self.classes()];
        for Place { voice, source, class } in &self.places {
            let Some(class) = *class else { continue };
            for stamp in &found.streams[*voice].stamps[*source] {
                let own = records.iter_mut().zip(found.classes(stamp));
                own.for_each(|(row, p)| row[class] += p);
            }
        }
        records
    }

    /// Sums over all labels and all ways in which stamps were given.
    fn sum(
        &self,
        bound: &BoundSession<'_>,
        scores: &[f64],
        wanted: Wanted,
        kept: Option<&Exchange>,
        in_parallel: bool,
        spare: &mut Spare,
    ) -> Result<Summed, Impossible> {
        self.show(bound, scores, in_parallel, |scene, no_more| {
            let mut found = scene.sum(wanted, kept.map(Exchange::riders), spare)?;
            found.log_evidence += no_more;
            Ok(found)
        })?
    }

    /// Shows the session as labels and stamps, and the log probability that no other stamp came from nowhere.
    fn show<T>(
        &self,
        bound: &BoundSession<'_>,
        scores: &[f64],
        in_parallel: bool,
        look: impl FnOnce(&Scene<'_>, f64) -> T,
    ) -> Result<T, Impossible> {
        let clocks: Vec<Cow<'_, [f64]>> =
            (0..bound.streams.len()).map(|k| bound.times_of(k)).collect();
        let voice = |&variable: &Variable| {
            let (habits, sources) = (Vec::new(), Vec::new());
            Stream { variable, habits, order: Order::default(), sources }
        };
        let (mut voices, mut no_more) = (self.variables.iter().map(voice).collect::<Vec<_>>(), 0.0);
        for ((k, own), place) in bound.streams.iter().enumerate().zip(&self.places) {
            let heard = own.hear(Timeline { times: &clocks[k], ..bound.timeline(k) })?;
            let Heard { stamped, habit, .. } = heard;
            no_more += heard.no_more;
            let voice = &mut voices[place.voice];
            let recorded = match place.class {
                Some(class) => self.confusion.iter().map(|row| row[class]).collect(),
                // Whatever the class.
                None => vec![1.0; self.classes()],
            };
            voice.order = stamped.order;
            voice.sources.push(Source { stamped, recorded });
            voice.habits.extend(place.class.map(|_| habit));
        }
        let InTime { times, known, .. } = bound.session;
        let chain = Chain::new(times, self.classes(), self.rates, scores).in_parallel(in_parallel);
        Ok(look(&Scene { chain: &chain, known, streams: voices }, no_more))
    }

    /// The posterior of all streams.
    pub(super) fn posterior(
        &self,
        bound: &BoundSession<'_>,
        scores: &[f64],
        kept: &Exchange,
    ) -> Result<SessionPosterior, Impossible> {
        let sum =
            |spare: &mut Spare| self.sum(bound, scores, Wanted::Posterior, Some(kept), true, spare);
        let found = self.spare.with(sum)?;
        let (instances, count) = (bound.session.times.len(), self.classes());
        let marginals = |place: &Place| {
            let voice = &found.streams[place.voice];
            let rows = (0..instances).map(|i| {
                let at = place.class.map(|class| i * count + class);
                let [event, silent] = at.map_or([0.0; 2], |at| voice.events[at]);
                [[(1.0 - event).max(0.0), silent], [0.0, (event - silent).max(0.0)]]
            });
            let stamps = voice.stamps[place.source].iter();
            let stamps = stamps.map(|own| (own.first, found.shares(own)));
            Marginals::of_events(found.log_evidence, rows, stamps)
        };
        let streams = self.places.iter().map(marginals).collect();
        let classes = |place: &Place| {
            let stamps = &found.streams[place.voice].stamps[place.source];
            stamps.iter().map(|own| found.classes(own).to_vec()).collect()
        };
        let several = self.places.iter().filter(|_| self.classes.are_several());
        let classes = several.map(classes).collect();
        let class_of = self.places.iter().map(|place| place.class).collect();
        let log_odds = Vec::new();
        let Summed { log_evidence, presence, .. } = found;
        let firsts = bound.firsts();
        Ok(SessionPosterior {
            log_evidence,
            streams,
            firsts,
            log_odds,
            presence,
            class_of,
            classes,
        })
    }

    /// The owners of stamps, by stream, and the logarithm of what such an alignment weighs.
    pub(super) fn best_alignment(
        &self,
        bound: &BoundSession<'_>,
        scores: &[f64],
        found: &SessionPosterior,
    ) -> (Vec<Vec<Option<usize>>>, f64) {
        let best = self.show(bound, scores, true, |scene, no_more| {
            let each = |(voice, stream): (usize, &Stream<'_>)| self.owners(voice, stream, found);
            let by_source: Vec<_> = scene.streams.iter().enumerate().map(each).collect();
            let log_weight = scene.log_weight(&by_source) + no_more;
            (by_source.into_iter().flatten().collect(), log_weight)
        });
        // What was summed can be shown.
        best.unwrap_or_else(|_| (vec![Vec::new(); bound.streams.len()], f64::NEG_INFINITY))
    }

    /// The owners of the stamps of a voice, by source: all its stamps compete, in the order of their times.
    fn owners(
        &self,
        voice: usize,
        stream: &Stream<'_>,
        found: &SessionPosterior,
    ) -> Vec<Vec<Option<usize>>> {
        let own = found.streams.iter().zip(&self.places).filter(|(_, place)| place.voice == voice);
        let mut stamps = Vec::new();
        for (marginals, place) in own {
            let (own, source) = (&marginals.responsibilities, &stream.sources[place.source]);
            for (l, stamp) in source.stamped.stamps.iter().enumerate() {
                stamps.push((
                    stamp.time,
                    place.source,
                    l,
                    (own.instances(l).start, own.of_stamp(l)),
                ));
            }
        }
        stamps.sort_by(|a, b| a.0.total_cmp(&b.0));
        let places: Vec<(usize, &[f64])> = stamps.iter().map(|own| own.3).collect();
        let may_share = stream.habits.iter().any(|habit| habit.further > 0.0);
        let stamped = |source: &Source<'_>| vec![None; source.stamped.stamps.len()];
        let mut by_source: Vec<_> = stream.sources.iter().map(stamped).collect();
        for (owner, (_, source, l, _)) in
            owners(&places, stream.order, may_share).into_iter().zip(&stamps)
        {
            by_source[*source][*l] = owner;
        }
        by_source
    }
}
