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
//! base · u(0)·Π_k (N_k + u(1)/u(0)·J_k) instead, with N_k of other streams. It is kept as this product of numbers up to
//! two, for Π_k (1 + u(1)/u(0)·J_k / N_k) of some hundred stamps is beyond all numbers where nothing else explains them.
//!
//! A rider is asked what it knows beyond all others, so what it said is taken away first. From a sum it is subtracted. If
//! it is nearly all of it, as that of a stamp which the background hardly explains, the rest loses its digits; but what is
//! lost is a rounding of J_k beside J_k itself, in whose sum it is used.

use std::ops::Range;

use rayon::prelude::*;

use super::chain::Base;
use super::count::{Count, counted};
use super::path::Edges;
use super::rates::Transition;
use super::riders::{Rider, Riders};
use super::scene::{Habit, Occurrence, Scene, Stream};

/// Edges that a thread works on at a time.
const PIECE: usize = 4096;

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
    /// Where the events begin in a tally. Shared ones have two numbers, the second of which come behind the first of all:
    /// what riders say of an event, and the share of it without a stamp.
    at: usize,
    /// Whether an edge is told of by such numbers alone.
    is_shared: Vec<bool>,
}

impl StreamForm {
    /// The weight of an event with what riders say of it, and that without a stamp.
    #[inline(always)]
    pub(super) fn weigh(&self, event: usize, tally: &[f64]) -> (f64, f64) {
        let (Habit { silent, given, .. }, told) = (self.habits[event], tally[self.at + event]);
        match self.shares {
            true => (silent * told, silent * told * tally[self.at + self.habits.len() + event]),
            false => (silent + given * told, silent),
        }
    }

    /// The weight of an event with one stamp of another rider, which others may share.
    pub(super) fn giving(&self, event: usize, tally: &[f64]) -> f64 {
        self.habits[event].given * if self.shares { tally[self.at + event] } else { 1.0 }
    }

    /// By how much one stamp weighs more than none, where riders may share an event.
    pub(super) fn ratio(&self, event: usize) -> Option<f64> {
        let Habit { silent, given, .. } = self.habits[event];
        self.shares.then(|| given / silent)
    }

    /// What a rider says of an event that riders may share: if it gives no stamp there, and in all.
    #[inline(always)]
    fn without_and_with(&self, n: impl Count, event: usize, message: &[f64]) -> (f64, f64) {
        let (Occurrence { from, to, .. }, Habit { silent, given, .. }) =
            (self.occurrences[event], self.habits[event]);
        let none = message[from * n.get() + to];
        (none, none + given / silent * message[n.get() * n.get() + event])
    }

    /// What a rider says of an event if it gives its stamp there, relative to what it says if it does not.
    #[inline(always)]
    fn odds(&self, n: impl Count, event: usize, message: &[f64]) -> f64 {
        let Occurrence { from, to, .. } = self.occurrences[event];
        message[n.get() * n.get() + event] / message[from * n.get() + to]
    }

    /// How many numbers of a tally are about its events.
    fn numbers(&self) -> usize {
        self.occurrences.len() * if self.shares { 2 } else { 1 }
    }
}

impl Form {
    pub(super) fn new(scene: &Scene<'_>) -> Self {
        let classes = scene.chain.classes();
        let labels = classes + 1;
        let mut next = labels * labels;
        let stream = |stream: &Stream<'_>| {
            let occurrences = stream.variable.occurrences(classes);
            let habits = occurrences.iter().map(|own| stream.habits[own.class]).collect();
            let (at, shares) = (next, stream.shares_events());
            let mut is_shared = vec![false; labels * labels];
            occurrences.iter().for_each(|own| is_shared[own.from * labels + own.to] = shares);
            let form = StreamForm { occurrences, habits, shares, at, is_shared };
            next += form.numbers();
            form
        };
        let streams: Vec<StreamForm> = scene.streams.iter().map(stream).collect();
        let most = streams.iter().map(|own| own.occurrences.len()).max().unwrap_or(0);
        Self { labels, streams, tally: next, message: labels * labels + most }
    }

    /// Where an occurrence is in the weights of an edge.
    pub(super) fn edge(&self, occurrence: &Occurrence) -> usize {
        occurrence.from * self.labels + occurrence.to
    }

    /// Adds what a rider of a stream says of an edge.
    #[inline(always)]
    pub(super) fn add(&self, n: impl Count, stream: usize, message: &[f64], tally: &mut [f64]) {
        let squared = n.get() * n.get();
        let own = &self.streams[stream];
        if !own.shares {
            (0..squared).for_each(|k| tally[k] *= message[k]);
            (0..own.occurrences.len()).for_each(|k| tally[own.at + k] += own.odds(n, k, message));
            return;
        }
        for k in (0..squared).filter(|&k| !own.is_shared[k]) {
            tally[k] *= message[k];
        }
        let count = own.occurrences.len();
        for k in 0..count {
            let (none, all) = own.without_and_with(n, k, message);
            tally[own.at + k] *= all;
            tally[own.at + count + k] *= none / all;
        }
    }

    /// Takes it away again, but for the share of an event without a stamp, which nobody asks for then.
    #[inline(always)]
    pub(super) fn take(&self, n: impl Count, stream: usize, message: &[f64], tally: &mut [f64]) {
        let squared = n.get() * n.get();
        let own = &self.streams[stream];
        for k in (0..squared).filter(|&k| !own.is_shared[k]) {
            tally[k] /= message[k];
        }
        for k in 0..own.occurrences.len() {
            let rest = &mut tally[own.at + k];
            match own.shares {
                true => *rest /= own.without_and_with(n, k, message).1,
                // A sum of nothing else is zero, whatever rounding says.
                false => *rest = (*rest - own.odds(n, k, message)).max(0.0),
            }
        }
    }

    /// Empties tallies.
    pub(super) fn clear(&self, tallies: &mut [f64]) {
        for tally in tallies.chunks_exact_mut(self.tally) {
            tally[..self.labels * self.labels].fill(1.0);
            for own in &self.streams {
                let events = own.at..own.at + own.numbers();
                tally[events].fill(if own.shares { 1.0 } else { 0.0 });
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
    /// Whether threads work on it.
    pub(super) in_parallel: bool,
    pub(super) form: Form,
    /// Edges without stamps, with known labels.
    base: Base<f64>,
    /// A tally for every edge.
    pub(super) tallies: Vec<f64>,
}

impl<'a> Told<'a> {
    /// Edges of a session before any rider has said anything.
    pub(super) fn nothing(
        scene: &'a Scene<'a>,
        form: Form,
        edges: Range<usize>,
        in_parallel: bool,
    ) -> Self {
        let mut tallies = vec![0.0; edges.len() * form.tally];
        form.clear(&mut tallies);
        let base = Base::of(scene.chain, scene.known, edges);
        Self { scene, in_parallel, form, base, tallies }
    }

    /// Transitions along an edge that leads to an instance.
    pub(super) fn transitions(&self, edge: usize) -> &Transition {
        &self.base.transitions[edge]
    }

    /// Overwrites the weights of an edge without stamps, by the label before it and the one that it leads to.
    #[inline(always)]
    pub(super) fn base(&self, n: impl Count, edge: usize, out: &mut [f64]) {
        self.base.weigh(n, edge, out);
    }

    /// Adds up again what riders say of these edges, ranges of them in order.
    pub(super) fn tell(&mut self, riders: &Riders, messages: &[f64], changed: &[Range<usize>]) {
        let Self { form, tallies, .. } = self;
        let (mut pieces, mut rest, mut done) = (Vec::new(), tallies.as_mut_slice(), 0);
        for range in changed {
            for start in range.clone().step_by(PIECE) {
                let edges = start..range.end.min(start + PIECE);
                let _unchanged = rest.split_off_mut(..(start - done) * form.tally);
                let own = rest.split_off_mut(..edges.len() * form.tally).unwrap_or_default();
                done = edges.end;
                pieces.push((edges, own));
            }
        }
        let tell = |(edges, own)| tell_piece(form, riders, messages, edges, own);
        match self.in_parallel {
            true => pieces.into_par_iter().for_each(tell),
            false => pieces.into_iter().for_each(tell),
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
        counted!(self.form.labels, n => self.base(n, edge, out));
        out.iter_mut().zip(tally).for_each(|(out, told)| *out *= told);
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

/// Overwrites the tallies of some edges with what riders say of them.
fn tell_piece(
    form: &Form,
    riders: &Riders,
    messages: &[f64],
    edges: Range<usize>,
    tallies: &mut [f64],
) {
    form.clear(tallies);
    for Rider { stream, edges: window, messages: own, .. } in &riders.riders[riders.around(&edges)]
    {
        let both = window.start.max(edges.start)..window.end.min(edges.end);
        if both.is_empty() {
            continue;
        }
        let from = own.start + both.start - window.start;
        let own = messages[from * form.message..].chunks_exact(form.message);
        let tallies = &mut tallies[(both.start - edges.start) * form.tally..];
        let tallies = tallies.chunks_exact_mut(form.tally).take(both.len());
        counted!(form.labels, n => for (tally, own) in tallies.zip(own) {
            form.add(n, *stream, own, tally);
        });
    }
}

impl Edges<f64> for Told<'_> {
    fn labels(&self) -> usize {
        self.form.labels
    }

    fn edges(&self) -> usize {
        self.base.edges()
    }

    #[inline(always)]
    fn weigh(&self, count: impl Count, edge: usize, out: &mut [f64]) {
        self.base(count, edge, out);
        let tally = self.tally(edge);
        for k in 0..count.get() * count.get() {
            out[k] *= tally[k];
        }
        (0..self.form.streams.len()).for_each(|stream| self.weigh_events(stream, tally, out));
    }
}
