//! What happens along a stretch: windows begin and end, and between these the same stamps are open.

use std::collections::HashMap;
use std::ops::Range;

use super::super::open::{Event, Sets};
use super::super::riders::{Press, Riders};
use super::super::scene::{Habit, Occurrence, Scene};
use super::super::stretch::Stretch;
use super::{Exact, LOOK, MOST_OPEN};

/// What streams are about, whatever is open.
pub(in crate::labels) struct Voices<'a> {
    pub(super) labels: usize,
    /// By stream: the edges at which it has events.
    occurrences: Vec<Vec<Occurrence>>,
    habits: Vec<&'a [Habit]>,
    pub(super) shares: Vec<bool>,
    /// Weights of records by stream, source and class.
    recorded: Vec<Vec<&'a [f64]>>,
}

impl<'a> Voices<'a> {
    pub(in crate::labels) fn new(scene: &'a Scene<'_>) -> Self {
        let classes = scene.chain.classes();
        let streams = || scene.streams.iter();
        Self {
            labels: classes + 1,
            occurrences: streams().map(|own| own.variable.occurrences(classes)).collect(),
            habits: streams().map(|own| own.habits.as_slice()).collect(),
            shares: streams().map(|own| own.shares_events()).collect(),
            recorded: streams()
                .map(|own| own.sources.iter().map(|source| source.recorded.as_slice()).collect())
                .collect(),
        }
    }

    /// Without any stream.
    pub(in crate::labels) fn none(classes: usize) -> Self {
        let (occurrences, habits) = (Vec::new(), Vec::new());
        let (shares, recorded) = (Vec::new(), Vec::new());
        Self { labels: classes + 1, occurrences, habits, shares, recorded }
    }
}

/// An event of a stream.
#[derive(Debug, Clone, Copy)]
pub(super) struct Voiced {
    /// The edge, by both labels.
    pub(super) pair: usize,
    pub(super) stream: usize,
    pub(super) class: usize,
    pub(super) silent: f64,
    pub(super) shares: bool,
}

/// Which streams have open stamps, and what follows from that.
#[derive(Debug)]
pub(super) struct Situation {
    /// By both labels of an edge: the weight of its events of all other streams, which have no stamp there.
    pub(super) quiet: Vec<f64>,
    /// Events of open streams, by both labels, and of all others.
    pub(super) voiced: Vec<Voiced>,
    pub(super) unheard: Vec<Voiced>,
    /// Where those of a pair of labels begin.
    pub(super) firsts: Vec<usize>,
}

impl Situation {
    fn new(voices: &Voices<'_>, open: &[usize]) -> Self {
        let labels = voices.labels;
        let (mut quiet, mut voiced) = (vec![1.0; labels * labels], Vec::new());
        let mut unheard = Vec::new();
        for (stream, occurrences) in voices.occurrences.iter().enumerate() {
            for own in occurrences {
                let (pair, silent) =
                    (own.from * labels + own.to, voices.habits[stream][own.class].silent);
                let (class, shares) = (own.class, voices.shares[stream]);
                let own = Voiced { pair, stream, class, silent, shares };
                if open.contains(&stream) {
                    voiced.push(own);
                } else {
                    unheard.push(own);
                    quiet[pair] *= silent;
                }
            }
        }
        voiced.sort_by_key(|own| own.pair);
        let firsts =
            (0..=labels * labels).map(|pair| voiced.partition_point(|own| own.pair < pair));
        let firsts = firsts.collect();
        Self { quiet, voiced, unheard, firsts }
    }
}

/// What happens along a stretch.
#[derive(Debug)]
pub(super) enum Step {
    /// A window begins.
    Open,
    /// That of an open stamp ends.
    Close { bit: usize, nowhere: f64 },
    /// Edges between these.
    Along(Piece),
}

/// Edges with the same open stamps.
#[derive(Debug)]
pub(super) struct Piece {
    pub(super) edges: Range<usize>,
    pub(super) situation: usize,
    /// Its place among the stamps that are open there.
    pub(super) open: Range<usize>,
    /// Its place among weights of events by open stamp.
    pub(super) factors: usize,
}

/// A stamp in its window.
#[derive(Debug, Clone, Copy)]
pub(super) struct Opened {
    /// What leads from an edge to its density.
    density: usize,
    /// What leads from an edge to its cell here.
    pub(super) cell: usize,
    /// Its number here.
    pub(super) stamp: usize,
}

/// The part of a rider's window that is in a stretch.
#[derive(Debug)]
pub(in crate::labels) struct Part {
    pub(in crate::labels) rider: usize,
    pub(in crate::labels) edges: Range<usize>,
}

/// A stamp that is open, with its rider's stream.
#[derive(Clone, Copy)]
struct Open<'a> {
    opened: Opened,
    press: &'a Press,
    stream: usize,
}

impl<'a> Exact<'a> {
    pub(in crate::labels) fn new(
        voices: &'a Voices<'a>,
        riders: &'a Riders,
        stretch: &Stretch,
    ) -> Self {
        let mut own = Self {
            voices,
            densities: &riders.densities,
            edges: stretch.edges.clone(),
            before: 0,
            behind: 0,
            situations: Vec::new(),
            known: HashMap::new(),
            heard: Vec::new(),
            steps: Vec::new(),
            opened: Vec::new(),
            factors: Vec::new(),
            parts: Vec::new(),
            cells: 0,
            states: stretch.states.unwrap_or_default(),
        };
        own.place(riders, stretch.riders.clone());
        own
    }

    /// Without stamps.
    pub(in crate::labels) fn bare(voices: &'a Voices<'a>, edges: Range<usize>) -> Self {
        static NONE: Riders = Riders::NONE;
        let states = Some(edges.len() * voices.labels);
        Self::new(voices, &NONE, &Stretch { edges, riders: 0..0, states, opened: 0 })
    }

    fn place(&mut self, riders: &'a Riders, own: Range<usize>) {
        let mut open: Vec<Open<'a>> = Vec::new();
        let (mut at, mut next) = (self.edges.start, own.start);
        // Some are open already; of others in between the windows are over.
        while let Some(rider) =
            riders.riders[..own.end].get(next).filter(|own| own.edges.start < at)
        {
            if rider.edges.end > at {
                open.push(self.open(riders, next));
            }
            next += 1;
        }
        self.before = open.len();
        loop {
            for bit in (0..open.len()).rev() {
                if open[bit].press.edges.end == at {
                    self.steps.push(Step::Close { bit, nowhere: open[bit].press.nowhere });
                    open.remove(bit);
                }
            }
            if at == self.edges.end {
                self.behind = open.len();
                return;
            }
            while next < own.end && riders.riders[next].edges.start == at {
                open.push(self.open(riders, next));
                self.steps.push(Step::Open);
                next += 1;
            }
            let changes = open.iter().map(|own| own.press.edges.end);
            let changes = changes.chain((next < own.end).then(|| riders.riders[next].edges.start));
            let end = changes.chain([self.edges.end, at + LOOK]).fold(usize::MAX, usize::min);
            self.along(at..end, &open);
            at = end;
        }
    }

    /// A rider's stamp, with its cells here.
    fn open(&mut self, riders: &'a Riders, rider: usize) -> Open<'a> {
        let own = &riders.riders[rider];
        let press = &riders.presses[own.presses.start];
        let edges = own.edges.start.max(self.edges.start)..own.edges.end.min(self.edges.end);
        // Cells of edges follow each other, so that one number leads from both to the others.
        let density = press.cells.start.wrapping_sub(press.edges.start);
        let cell = self.cells.wrapping_sub(edges.start);
        let stamp = self.parts.len();
        self.cells += edges.len();
        self.parts.push(Part { rider, edges });
        Open { opened: Opened { density, cell, stamp }, press, stream: own.stream }
    }

    /// The situation while these are open.
    fn situation(&mut self, open: &[Open<'_>]) -> usize {
        self.heard.clear();
        self.heard.extend(open.iter().map(|own| own.stream));
        self.heard.sort_unstable();
        self.heard.dedup();
        if let Some(known) = self.known.get(&self.heard) {
            return *known;
        }
        self.situations.push(Situation::new(self.voices, &self.heard));
        self.known.insert(self.heard.clone(), self.situations.len() - 1);
        self.situations.len() - 1
    }

    fn along(&mut self, edges: Range<usize>, open: &[Open<'_>]) {
        let voices = self.voices;
        let situation = self.situation(open);
        let (factors, first) = (self.factors.len(), self.opened.len());
        for event in &self.situations[situation].voiced {
            let factor = |own: &Open<'_>| {
                let given = voices.habits[own.stream][event.class].given;
                given * voices.recorded[own.stream][own.press.source][event.class]
            };
            let of_event =
                |own: &Open<'_>| if own.stream == event.stream { factor(own) } else { 0.0 };
            self.factors.extend(open.iter().map(of_event));
        }
        self.opened.extend(open.iter().map(|own| own.opened));
        let open = first..self.opened.len();
        self.steps.push(Step::Along(Piece { edges, situation, open, factors }));
    }
}

/// Events of streams with open stamps, all along one edge between two labels.
pub(super) struct Events<'a> {
    pub(super) piece: &'a Piece,
    pub(super) situation: &'a Situation,
    pub(super) opened: &'a [Opened],
    pub(super) edge: usize,
    /// What the edge weighs by itself.
    pub(super) weight: f64,
    /// Their numbers in the situation.
    pub(super) numbers: Range<usize>,
}

impl Events<'_> {
    /// One of them, with what open stamps weigh there.
    #[inline(always)]
    pub(super) fn of<'b>(
        &self,
        exact: &Exact<'_>,
        sets: impl Sets,
        k: usize,
        given: &'b mut [f64; MOST_OPEN],
    ) -> Event<'b> {
        let factors = &exact.factors[self.piece.factors + k * sets.bits()..][..sets.bits()];
        for bit in 0..sets.bits() {
            let density = self.opened[bit].density.wrapping_add(self.edge);
            given[bit] = factors[bit] * exact.densities[density];
        }
        let Voiced { silent, shares, .. } = self.situation.voiced[k];
        Event { silent, given: &given[..sets.bits()], shares }
    }
}
