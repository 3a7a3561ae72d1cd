//! What happens along a stretch: windows begin and end, and between these the same stamps are open.

use std::ops::Range;

use super::super::open::{Event, Sets};
use super::super::riders::{Press, Rider, Riders};
use super::super::scene::{Habit, Occurrence, Scene};
use super::super::stretch::Stretch;
use super::{Exact, MOST_OPEN};

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
    pub(super) open: Vec<bool>,
    /// By both labels of an edge: the weight of its events of all other streams, which have no stamp there.
    pub(super) quiet: Vec<f64>,
    /// Events of open streams, by both labels, and of all others.
    pub(super) voiced: Vec<Voiced>,
    pub(super) unheard: Vec<Voiced>,
    /// Where those of a pair of labels begin.
    pub(super) firsts: Vec<usize>,
}

impl Situation {
    fn new(voices: &Voices<'_>, open: &[bool]) -> Self {
        let labels = voices.labels;
        let (mut quiet, mut voiced) = (vec![1.0; labels * labels], Vec::new());
        let mut unheard = Vec::new();
        for (stream, occurrences) in voices.occurrences.iter().enumerate() {
            for own in occurrences {
                let (pair, silent) =
                    (own.from * labels + own.to, voices.habits[stream][own.class].silent);
                let (class, shares) = (own.class, voices.shares[stream]);
                let own = Voiced { pair, stream, class, silent, shares };
                if open[stream] {
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
        Self { open: open.to_vec(), quiet, voiced, unheard, firsts }
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
    /// What leads from an edge to its cell.
    pub(super) cell: usize,
    /// Its number among all stamps.
    pub(super) stamp: usize,
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
            situations: Vec::new(),
            steps: Vec::new(),
            opened: Vec::new(),
            factors: Vec::new(),
            states: stretch.states.unwrap_or_default(),
        };
        own.place(riders, &riders.riders[stretch.riders.clone()]);
        own
    }

    /// Without stamps.
    pub(in crate::labels) fn bare(voices: &'a Voices<'a>, edges: Range<usize>) -> Self {
        static NONE: Riders = Riders::NONE;
        let states = Some(edges.len() * voices.labels);
        Self::new(voices, &NONE, &Stretch { edges, riders: 0..0, states })
    }

    fn place(&mut self, riders: &Riders, own: &[Rider]) {
        let mut open: Vec<(Opened, &Press, usize)> = Vec::new();
        let (mut at, mut next) = (self.edges.start, 0);
        loop {
            for bit in (0..open.len()).rev() {
                if open[bit].1.edges.end == at {
                    self.steps.push(Step::Close { bit, nowhere: open[bit].1.nowhere });
                    open.remove(bit);
                }
            }
            while let Some(rider) = own.get(next).filter(|rider| rider.edges.start == at) {
                let (own, stamp) = (&riders.presses[rider.presses.start], rider.stamps.start);
                // Cells of edges follow each other, so that one number leads from both to the others.
                let cell = own.cells.start.wrapping_sub(own.edges.start);
                open.push((Opened { cell, stamp }, own, rider.stream));
                self.steps.push(Step::Open);
                next += 1;
            }
            if at == self.edges.end {
                return;
            }
            let ends = open.iter().map(|own| own.1.edges.end).min().unwrap_or(self.edges.end);
            let end = own.get(next).map_or(ends, |rider| rider.edges.start.min(ends));
            self.along(at..end, &open);
            at = end;
        }
    }

    fn along(&mut self, edges: Range<usize>, open: &[(Opened, &Press, usize)]) {
        let voices = self.voices;
        let mut heard = vec![false; voices.occurrences.len()];
        open.iter().for_each(|(_, _, stream)| heard[*stream] = true);
        let known = self.situations.iter().position(|own| own.open == heard);
        let situation = known.unwrap_or_else(|| {
            self.situations.push(Situation::new(voices, &heard));
            self.situations.len() - 1
        });
        let (factors, first) = (self.factors.len(), self.opened.len());
        for event in &self.situations[situation].voiced {
            self.factors.extend(open.iter().map(|(_, press, stream)| {
                match *stream == event.stream {
                    true => {
                        let given = voices.habits[*stream][event.class].given;
                        given * voices.recorded[*stream][press.source][event.class]
                    }
                    false => 0.0,
                }
            }));
        }
        self.opened.extend(open.iter().map(|own| own.0));
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
            let cell = self.opened[bit].cell.wrapping_add(self.edge);
            given[bit] = factors[bit] * exact.densities[cell];
        }
        let Voiced { silent, shares, .. } = self.situation.voiced[k];
        Event { silent, given: &given[..sets.bits()], shares }
    }
}
