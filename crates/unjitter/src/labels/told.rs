//! What all riders say of the edges, together.
//!
//! A rider says of each edge of its window how likely it is if the rider gives no stamp there, N, and how likely an event
//! there is if it does, J, both beyond what features and other riders say. With the probability u(0) of no stamp and the
//! weight u(1) of one, an edge at which an event happens weighs
//!
//! ```text
//! base · Π_k N_k · (u(0) + u(1)·Σ_k J_k / N_k)
//! ```
//!
//! since one stamp at most is given; and others base · Π_k N_k. Where riders may share an event, its weight is
//! u(0)·Π_k (1 + u(1)/u(0)·J_k / N_k) instead.

use std::ops::Range;

use super::chain::Base;
use super::count::{Count, counted};
use super::path::Edges;
use super::riders::{Rider, Riders};
use super::scene::{Habit, Occurrence, Scene, Stream};

/// How messages and tallies are laid out: first come numbers for each edge, then for each event of a stream.
#[derive(Debug)]
pub(super) struct Form {
    pub(super) labels: usize,
    pub(super) streams: Vec<StreamForm>,
    /// Numbers of a tally.
    pub(super) tally: usize,
    /// Numbers of a message for an edge, at most.
    pub(super) message: usize,
}

/// The same of one stream.
#[derive(Debug)]
pub(super) struct StreamForm {
    /// The edges at which there are events.
    pub(super) occurrences: Vec<Occurrence>,
    /// How many stamps these have.
    pub(super) habits: Vec<Habit>,
    /// Whether riders may share an event.
    shares: bool,
    /// Where the events begin in a tally.
    at: usize,
}

impl StreamForm {
    /// The weight of an event with what riders say of it, and that without a stamp.
    #[inline(always)]
    pub(super) fn weigh(&self, event: usize, tally: &[f64]) -> (f64, f64) {
        let (Habit { silent, given, .. }, told) = (self.habits[event], tally[self.at + event]);
        (if self.shares { silent * told } else { silent + given * told }, silent)
    }

    /// The weight of an event with one stamp of another rider, which others may share.
    pub(super) fn giving(&self, event: usize, tally: &[f64]) -> f64 {
        self.habits[event].given * if self.shares { tally[self.at + event] } else { 1.0 }
    }
}

impl Form {
    pub(super) fn new(scene: &Scene<'_>) -> Self {
        let classes = scene.chain.classes();
        let labels = classes + 1;
        let mut at = labels * labels;
        let stream = |stream: &Stream<'_>| {
            let occurrences = stream.variable.occurrences(classes);
            let habits = occurrences.iter().map(|own| stream.habits[own.class]).collect();
            at += occurrences.len();
            let at = at - occurrences.len();
            StreamForm { occurrences, habits, shares: stream.shares_events(), at }
        };
        let streams: Vec<StreamForm> = scene.streams.iter().map(stream).collect();
        let most = streams.iter().map(|own| own.occurrences.len()).max().unwrap_or(0);
        Self { labels, streams, tally: at, message: labels * labels + most }
    }

    /// Where an occurrence is in the weights of an edge.
    pub(super) fn edge(&self, occurrence: &Occurrence) -> usize {
        occurrence.from * self.labels + occurrence.to
    }

    /// Adds what a rider of a stream says of an edge.
    #[inline(always)]
    pub(super) fn add(&self, n: impl Count, stream: usize, message: &[f64], tally: &mut [f64]) {
        let squared = n.get() * n.get();
        (0..squared).for_each(|k| tally[k] *= message[k]);
        let StreamForm { occurrences, habits, shares, at } = &self.streams[stream];
        for (k, (occurrence, habit)) in occurrences.iter().zip(habits).enumerate() {
            let edge = occurrence.from * n.get() + occurrence.to;
            let told = message[squared + k] / message[edge];
            let own = &mut tally[at + k];
            match shares {
                true => *own *= 1.0 + habit.given / habit.silent * told,
                false => *own += told,
            }
        }
    }

    /// Takes it away again.
    #[inline(always)]
    pub(super) fn take(&self, n: impl Count, stream: usize, message: &[f64], tally: &mut [f64]) {
        let squared = n.get() * n.get();
        (0..squared).for_each(|k| tally[k] /= message[k]);
        let StreamForm { occurrences, habits, shares, at } = &self.streams[stream];
        for (k, (occurrence, habit)) in occurrences.iter().zip(habits).enumerate() {
            let edge = occurrence.from * n.get() + occurrence.to;
            let told = message[squared + k] / message[edge];
            let own = &mut tally[at + k];
            match shares {
                true => *own /= 1.0 + habit.given / habit.silent * told,
                // A sum of nothing else is zero, whatever rounding says.
                false => *own = (*own - told).max(0.0),
            }
        }
    }

    /// Empties tallies.
    pub(super) fn clear(&self, tallies: &mut [f64]) {
        for tally in tallies.chunks_exact_mut(self.tally) {
            tally[..self.labels * self.labels].fill(1.0);
            for StreamForm { occurrences, shares, at, .. } in &self.streams {
                tally[*at..at + occurrences.len()].fill(if *shares { 1.0 } else { 0.0 });
            }
        }
    }

    /// What a rider says that was not asked yet: nothing.
    pub(super) fn say_nothing(&self, messages: &mut [f64]) {
        for message in messages.chunks_exact_mut(self.message) {
            message.fill(0.0);
            message[..self.labels * self.labels].fill(1.0);
        }
    }
}

/// The edges of a session with all that riders say.
pub(super) struct Told<'a> {
    pub(super) scene: &'a Scene<'a>,
    /// Sum of the logarithms that the weights of labels were divided by.
    pub(super) scales: f64,
    pub(super) form: Form,
    /// Weights of every edge without stamps, with known labels.
    base: Vec<f64>,
    /// A tally for every edge.
    pub(super) tallies: Vec<f64>,
}

impl<'a> Told<'a> {
    pub(super) fn nothing(scene: &'a Scene<'a>) -> Self {
        let (labels, form) = (Base::new(scene.chain, scene.known), Form::new(scene));
        let mut tallies = vec![0.0; labels.edges() * form.tally];
        form.clear(&mut tallies);
        let squared = form.labels * form.labels;
        let mut base = vec![0.0; labels.edges() * squared];
        counted!(form.labels, n => {
            let edges = base.chunks_exact_mut(squared).enumerate();
            edges.for_each(|(edge, own)| labels.weigh(n, edge, own));
        });
        Self { scene, scales: labels.scales, form, base, tallies }
    }

    /// The weights of an edge without stamps, by the label before it and the one that it leads to.
    pub(super) fn base(&self, edge: usize) -> &[f64] {
        let squared = self.form.labels * self.form.labels;
        &self.base[edge * squared..(edge + 1) * squared]
    }

    /// Adds up again what riders say of these edges, ranges of them in order.
    pub(super) fn tell(&mut self, riders: &Riders, messages: &[f64], changed: &[Range<usize>]) {
        let Form { tally, message, labels, .. } = self.form;
        for range in changed {
            self.form.clear(&mut self.tallies[range.start * tally..range.end * tally]);
        }
        for Rider { stream, edges, messages: own, .. } in &riders.riders {
            let first = changed.partition_point(|range| range.end <= edges.start);
            for range in changed[first..].iter().take_while(|range| range.start < edges.end) {
                let both = edges.start.max(range.start)..edges.end.min(range.end);
                let from = own.start + both.start - edges.start;
                let own = messages[from * message..].chunks_exact(message);
                let tallies = &mut self.tallies[both.start * tally..both.end * tally];
                counted!(labels, n => for (tally, own) in tallies.chunks_exact_mut(tally).zip(own) {
                    self.form.add(n, *stream, own, tally);
                });
            }
        }
    }

    /// The tally of an edge.
    pub(super) fn tally(&self, edge: usize) -> &[f64] {
        &self.tallies[edge * self.form.tally..(edge + 1) * self.form.tally]
    }

    /// Overwrites the weights of an edge, given the tally there, but for the events of a stream.
    #[inline]
    pub(super) fn weigh_but(
        &self,
        but: Option<usize>,
        edge: usize,
        tally: &[f64],
        out: &mut [f64],
    ) {
        let weights = out.iter_mut().zip(self.base(edge)).zip(tally);
        weights.for_each(|((out, base), told)| *out = base * told);
        for stream in (0..self.form.streams.len()).filter(|&stream| Some(stream) != but) {
            self.weigh_events(stream, tally, out);
        }
    }

    /// Multiplies the weights of an edge by those of the events of a stream.
    #[inline(always)]
    pub(super) fn weigh_events(&self, stream: usize, tally: &[f64], out: &mut [f64]) {
        let own = &self.form.streams[stream];
        for (k, occurrence) in own.occurrences.iter().enumerate() {
            out[self.form.edge(occurrence)] *= own.weigh(k, tally).0;
        }
    }
}

impl Edges<f64> for Told<'_> {
    fn labels(&self) -> usize {
        self.form.labels
    }

    fn edges(&self) -> usize {
        self.scene.chain.instances() + 1
    }

    #[inline(always)]
    fn weigh(&self, count: impl Count, edge: usize, out: &mut [f64]) {
        let (base, tally) = (self.base(edge), self.tally(edge));
        for k in 0..count.get() * count.get() {
            out[k] = base[k] * tally[k];
        }
        (0..self.form.streams.len()).for_each(|stream| self.weigh_events(stream, tally, out));
    }
}
