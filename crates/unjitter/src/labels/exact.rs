//! The sum over all labels and all ways in which stamps were given, along a stretch where few windows are open at a time.
//!
//! A state is the label behind an edge and the set of open stamps that were given. Where a window ends, its stamp came from
//! nowhere if it was not given. With A for what ways up to an edge weigh, B for what weighs behind it and F for the edge,
//!
//! ```text
//! A'(y) = Σ_z G_zy (F_zy·A(z))        B(z) = Σ_y F_zy·G_zyᵀ B'(y)        p(z, y) ∝ F_zy·A(z)·G_zyᵀ B'(y)
//! ```
//!
//! where G gives open stamps to the event at an edge, if there is one ([`open`](super::open)). This is exact, and smooth in
//! everything. Time and memory O(Σ_edges S·2ᵏ) for S labels and k open stamps: edges without stamps cost as much as those of
//! a bare chain. Numbers of states that are usual are known to the compiler, which keeps these in registers.

use std::ops::Range;

use super::chain::{Base, weigh};
use super::count::{Any, Count, Two};
use super::expected::{Expected, Rated};
use super::open::{self, Event, Few, Many, Sets, give, given_there, take};
use super::rates::Transition;
use super::riders::{Press, Rider, Riders};
use super::scene::{Habit, Occurrence, Scene};
use super::stretch::Stretch;

/// Totals beyond this range are divided out, so that no product of weights leaves that of numbers.
const ORDINARY: Range<f64> = 1e-100..1e100;
/// Stamps that may be open at a time; the number of states is limited before.
const MOST_OPEN: usize = 16;

/// What streams are about, whatever is open.
pub(super) struct Voices<'a> {
    labels: usize,
    /// By stream: the edges at which it has events.
    occurrences: Vec<Vec<Occurrence>>,
    habits: Vec<&'a [Habit]>,
    shares: Vec<bool>,
    /// Weights of records by stream, source and class.
    recorded: Vec<Vec<&'a [f64]>>,
}

impl<'a> Voices<'a> {
    pub(super) fn new(scene: &'a Scene<'_>) -> Self {
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
    pub(super) fn none(classes: usize) -> Self {
        let (occurrences, habits) = (Vec::new(), Vec::new());
        let (shares, recorded) = (Vec::new(), Vec::new());
        Self { labels: classes + 1, occurrences, habits, shares, recorded }
    }
}

/// An event of a stream.
#[derive(Debug, Clone, Copy)]
struct Voiced {
    /// The edge, by both labels.
    pair: usize,
    stream: usize,
    class: usize,
    silent: f64,
    shares: bool,
}

/// Which streams have open stamps, and what follows from that.
#[derive(Debug)]
struct Situation {
    open: Vec<bool>,
    /// By both labels of an edge: the weight of its events of all other streams, which have no stamp there.
    quiet: Vec<f64>,
    /// Events of open streams, by both labels, and of all others.
    voiced: Vec<Voiced>,
    unheard: Vec<Voiced>,
    /// Where those of a pair of labels begin.
    firsts: Vec<usize>,
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
enum Step {
    /// A window begins.
    Open,
    /// That of an open stamp ends.
    Close { bit: usize, nowhere: f64 },
    /// Edges between these.
    Along(Piece),
}

/// Edges with the same open stamps.
#[derive(Debug)]
struct Piece {
    edges: Range<usize>,
    situation: usize,
    /// Its place among the stamps that are open there.
    open: Range<usize>,
    /// Its place among weights of events by open stamp.
    factors: usize,
}

/// A stamp in its window.
#[derive(Debug, Clone, Copy)]
struct Opened {
    /// What leads from an edge to its cell.
    cell: usize,
    /// Its number among all stamps.
    stamp: usize,
}

/// An exact sum along a stretch.
pub(super) struct Exact<'a> {
    voices: &'a Voices<'a>,
    densities: &'a [f64],
    edges: Range<usize>,
    situations: Vec<Situation>,
    steps: Vec<Step>,
    opened: Vec<Opened>,
    /// Weights of an event with a stamp, without its density: by piece, event and open stamp.
    factors: Vec<f64>,
    /// States before all edges.
    states: usize,
}

/// Weights from each label before a stretch to each behind it.
#[derive(Debug, Clone)]
pub(super) struct Transfer {
    pub(super) weights: Vec<f64>,
    pub(super) log_scale: f64,
}

/// Buffers of one thread.
#[derive(Debug, Default)]
pub(super) struct Room {
    here: Vec<f64>,
    stored: Vec<f64>,
    many: Vec<f64>,
    raw: Vec<f64>,
}

impl<'a> Exact<'a> {
    pub(super) fn new(voices: &'a Voices<'a>, riders: &'a Riders, stretch: &Stretch) -> Self {
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
    pub(super) fn bare(voices: &'a Voices<'a>, edges: Range<usize>) -> Self {
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

    /// The weights from label to label.
    pub(super) fn transfer(&self, base: &Base<f64>, room: &mut Room) -> Transfer {
        let labels = self.voices.labels;
        let mut all =
            Transfer { weights: vec![0.0; labels * labels], log_scale: f64::NEG_INFINITY };
        let mut pairs = Vec::new();
        for first in (0..labels).step_by(2) {
            room.here.clear();
            room.here.resize(2 * labels, 0.0);
            (first..labels.min(first + 2)).for_each(|z| room.here[2 * z + z - first] = 1.0);
            let log_scale = self.forward::<2>(base, room, false);
            all.log_scale = all.log_scale.max(log_scale);
            pairs.push((first, log_scale, room.here.clone()));
        }
        for (first, log_scale, weights) in pairs {
            let scale = (log_scale - all.log_scale).exp();
            for z in first..labels.min(first + 2) {
                for y in 0..labels {
                    all.weights[z * labels + y] = scale * weights[2 * y + z - first];
                }
            }
        }
        all
    }

    /// Goes along all edges from the states in `room.here`, and leaves those behind there; stores those before each edge if
    /// asked to. Returns the logarithm that they were divided by.
    fn forward<const ROWS: usize>(&self, base: &Base<f64>, room: &mut Room, stores: bool) -> f64 {
        let (mut log_scale, mut open, mut stored) = (0.0, 0, 0);
        if stores && room.stored.len() < self.states {
            room.stored = vec![0.0; self.states];
        }
        for step in &self.steps {
            match step {
                Step::Open => {
                    open::open(open, &mut room.here);
                    open += 1;
                }
                Step::Close { bit, nowhere } => {
                    open::close(open, *bit, *nowhere, &mut room.here);
                    open -= 1;
                }
                Step::Along(piece) => {
                    let states = piece.edges.len() * (self.voices.labels << open);
                    let own = if stores { stored..stored + states } else { 0..0 };
                    stored = own.end;
                    let (own, here, many) = (&mut room.stored[own], &mut room.here, &mut room.many);
                    log_scale += self.piece_forward::<ROWS>(base, piece, here, many, own);
                }
            }
        }
        log_scale
    }

    /// With as many states as are known to the compiler, if they are few.
    fn piece_forward<const ROWS: usize>(
        &self,
        base: &Base<f64>,
        piece: &Piece,
        here: &mut [f64],
        many: &mut Vec<f64>,
        stored: &mut [f64],
    ) -> f64 {
        macro_rules! few {
            ($bits:literal) => {{
                const LEN: usize = 1 << $bits;
                let mut room = [[0.0; 4 << $bits]; 4];
                let [own, next, from, to] = room.each_mut().map(|room| room.as_mut_slice());
                let len = 2 * LEN * ROWS;
                own[..len].copy_from_slice(here);
                let buffers = [&mut own[..len], &mut next[..len], from, to];
                let log_scale = match ROWS {
                    1 => self.go_forward(Two, Few::<$bits, LEN>, base, piece, buffers, stored),
                    _ => {
                        let sets = Few::<$bits, { 2 * LEN }>;
                        self.go_forward(Two, sets, base, piece, buffers, stored)
                    }
                };
                here.copy_from_slice(&room[0][..len]);
                log_scale
            }};
        }
        let (labels, bits) = (self.voices.labels, piece.open.len());
        match (labels, bits) {
            (2, 0) => few!(0),
            (2, 1) => few!(1),
            (2, 2) => few!(2),
            (2, 3) => few!(3),
            _ => {
                let len = ROWS << bits;
                many.resize((labels + 2) * len, 0.0);
                let (next, rest) = many.split_at_mut(labels * len);
                let (from, to) = rest.split_at_mut(len);
                let buffers = [here, next, from, to];
                match labels {
                    2 => self.go_forward(Two, Many { bits, len }, base, piece, buffers, stored),
                    _ => self.go_forward(
                        Any(labels),
                        Many { bits, len },
                        base,
                        piece,
                        buffers,
                        stored,
                    ),
                }
            }
        }
    }

    /// Goes along the edges of a piece. Buffers are states before an edge, which are overwritten by those behind it, states
    /// behind it, and weights of a label before an event and behind it.
    #[inline(always)]
    fn go_forward<N: Count, S: Sets>(
        &self,
        n: N,
        sets: S,
        base: &Base<f64>,
        piece: &Piece,
        [here, next, from, to]: [&mut [f64]; 4],
        stored: &mut [f64],
    ) -> f64 {
        let (labels, len) = (n.get(), sets.len());
        let situation = &self.situations[piece.situation];
        let opened = &self.opened[piece.open.clone()];
        let (mut log_scale, mut given) = (0.0, [0.0; MOST_OPEN]);
        let (mut few, mut more) = ([[0.0; 4]; 2], [Vec::new(), Vec::new()]);
        let [weights, quiet] = pairs(n, &mut few, &mut more);
        quiet.copy_from_slice(&situation.quiet);
        let (nodes, transitions) = base.slices(self.local(&piece.edges));
        let edges = piece.edges.clone().zip(nodes.chunks_exact(labels)).zip(transitions);
        let mut stored = stored.chunks_exact_mut(labels * len);
        for ((edge, nodes), transition) in edges {
            if let Some(own) = stored.next() {
                own.copy_from_slice(&here[..labels * len]);
            }
            weigh(n, nodes, transition, weights);
            for z in 0..labels {
                for y in 0..labels {
                    let pair = z * labels + y;
                    let weight = weights[pair] * quiet[pair];
                    let (here, next) =
                        (&here[z * len..(z + 1) * len], &mut next[y * len..(y + 1) * len]);
                    let events = situation.firsts[pair]..situation.firsts[pair + 1];
                    // The first label needs no sum, which would be the longest wait of all.
                    if sets.bits() == 0 || events.is_empty() {
                        for t in 0..len {
                            let ways = weight * here[t];
                            next[t] = if z == 0 { ways } else { next[t] + ways };
                        }
                        continue;
                    }
                    for t in 0..len {
                        from[t] = weight * here[t];
                    }
                    let events = Events { piece, situation, opened, edge, weight, numbers: events };
                    for k in events.numbers.clone() {
                        let event = events.of(self, sets, k, &mut given);
                        give(sets, &event, &from[..len], &mut to[..len]);
                        from[..len].copy_from_slice(&to[..len]);
                    }
                    for t in 0..len {
                        next[t] = if z == 0 { from[t] } else { next[t] + from[t] };
                    }
                }
            }
            let mut total = 0.0;
            for t in 0..labels * len {
                here[t] = next[t];
                total += next[t];
            }
            if !ORDINARY.contains(&total) {
                log_scale += total.ln();
                here[..labels * len].iter_mut().for_each(|own| *own /= total);
            }
        }
        log_scale
    }

    /// Fills in what is expected, from the weights of labels before the stretch and of what lies behind it by the label that
    /// leads there. Returns the logarithm of what all ways weigh, and derivatives of it in log rates.
    pub(super) fn finish(
        &self,
        mut rates: Rated<'_>,
        base: &Base<f64>,
        (before, behind): (&[f64], &[f64]),
        room: &mut Room,
        out: &mut Expected<'_>,
    ) -> (f64, [f64; 2]) {
        let labels = self.voices.labels;
        room.here.clear();
        room.here.extend_from_slice(&before[..labels]);
        let log_scale = self.forward::<1>(base, room, true);
        let ways: f64 = room.here.iter().zip(behind).map(|(a, b)| a * b).sum();
        room.here.clear();
        room.here.extend_from_slice(&behind[..labels]);
        let (mut open, mut stored) = (0, self.states);
        for step in self.steps.iter().rev() {
            match step {
                Step::Open => {
                    open -= 1;
                    open::unopen(open, &mut room.here);
                }
                Step::Close { bit, nowhere } => {
                    open::unclose(open, *bit, *nowhere, &mut room.here);
                    open += 1;
                }
                Step::Along(piece) => {
                    let states = piece.edges.len() * (labels << open);
                    let own = stored - states..stored;
                    stored = own.start;
                    let Room { here, stored, many, raw } = room;
                    self.piece_back(base, piece, here, many, raw, &stored[own], &mut rates, out);
                }
            }
        }
        (log_scale + ways.ln(), rates.d_rates())
    }

    #[expect(clippy::too_many_arguments)]
    fn piece_back(
        &self,
        base: &Base<f64>,
        piece: &Piece,
        behind: &mut [f64],
        many: &mut Vec<f64>,
        raw: &mut Vec<f64>,
        stored: &[f64],
        rates: &mut Rated<'_>,
        out: &mut Expected<'_>,
    ) {
        let (labels, bits) = (self.voices.labels, piece.open.len());
        let len = 1 << bits;
        let events = self.situations[piece.situation].voiced.len();
        raw.resize(events * (bits + 1), 0.0);
        macro_rules! few {
            ($bits:literal) => {{
                let mut room = [[0.0; 2 << $bits]; 2];
                let mut taken = [[0.0; 1 << $bits]; FEW_EVENTS + 3];
                room[0].copy_from_slice(behind);
                let [own, prev] = room.each_mut().map(|room| room.as_mut_slice());
                let buffers = [own, prev, taken.as_flattened_mut()];
                let sets = Few::<$bits, { 1 << $bits }>;
                self.go_back(Two, sets, base, piece, buffers, raw, stored, rates, out);
                behind.copy_from_slice(&room[0]);
            }};
        }
        match (labels, bits) {
            (2, 0) if events <= FEW_EVENTS => few!(0),
            (2, 1) if events <= FEW_EVENTS => few!(1),
            (2, 2) if events <= FEW_EVENTS => few!(2),
            (2, 3) if events <= FEW_EVENTS => few!(3),
            _ => {
                many.resize((labels + events + 3) * len, 0.0);
                let (prev, taken) = many.split_at_mut(labels * len);
                let (sets, buffers) = (Many { bits, len }, [behind, prev, taken]);
                match labels {
                    2 => self.go_back(Two, sets, base, piece, buffers, raw, stored, rates, out),
                    _ => {
                        let n = Any(labels);
                        self.go_back(n, sets, base, piece, buffers, raw, stored, rates, out);
                    }
                }
            }
        }
    }

    /// Goes back along the edges of a piece. Buffers are what weighs behind an edge, which is overwritten by what weighs
    /// before it, room for that, and what weighs behind and before events of one edge.
    #[inline(always)]
    #[expect(clippy::too_many_arguments)]
    fn go_back<N: Count, S: Sets>(
        &self,
        n: N,
        sets: S,
        base: &Base<f64>,
        piece: &Piece,
        [behind, prev, taken]: [&mut [f64]; 3],
        raw: &mut [f64],
        stored: &[f64],
        rates: &mut Rated<'_>,
        out: &mut Expected<'_>,
    ) {
        let (labels, len, bits) = (n.get(), sets.len(), sets.bits());
        let situation = &self.situations[piece.situation];
        let opened = &self.opened[piece.open.clone()];
        let (mut few, mut more) = ([[0.0; 4]; 2], [Vec::new(), Vec::new()]);
        let [weights, quiet] = pairs(n, &mut few, &mut more);
        quiet.copy_from_slice(&situation.quiet);
        let (mut few, mut more) = ([[0.0; 4]; 2], [Vec::new(), Vec::new()]);
        let [p, evenly] = pairs(n, &mut few, &mut more);
        let (nodes, transitions) = base.slices(self.local(&piece.edges));
        let edges = piece.edges.clone().zip(nodes.chunks_exact(labels)).zip(transitions);
        // Neighbours that are as far apart are told of at once.
        let (mut last, mut gap) = (&transitions[0], None);
        for (((edge, nodes), transition), before) in
            edges.zip(stored.chunks_exact(labels * len)).rev()
        {
            weigh(n, nodes, transition, weights);
            let own_gap = rates.gap(edge);
            if own_gap != gap {
                self.tell(n, situation, gap, last, evenly, rates, out);
                (last, gap) = (transition, own_gap);
            }
            let mut total = 0.0;
            for z in 0..labels {
                for y in 0..labels {
                    let pair = z * labels + y;
                    let weight = weights[pair] * quiet[pair];
                    let (before, behind) =
                        (&before[z * len..(z + 1) * len], &behind[y * len..(y + 1) * len]);
                    let prev = &mut prev[z * len..(z + 1) * len];
                    let events = situation.firsts[pair]..situation.firsts[pair + 1];
                    let mut ways = 0.0;
                    let from = match bits == 0 || events.is_empty() {
                        true => behind,
                        false => {
                            let events =
                                Events { piece, situation, opened, edge, weight, numbers: events };
                            self.go_back_events(sets, &events, before, behind, taken, raw)
                        }
                    };
                    for t in 0..len {
                        ways += before[t] * from[t];
                        let own = weight * from[t];
                        prev[t] = if y == 0 { own } else { prev[t] + own };
                    }
                    p[pair] = weight * ways;
                    total += p[pair];
                }
            }
            let inverse = 1.0 / total;
            for pair in 0..labels * labels {
                p[pair] *= inverse;
                evenly[pair] += p[pair];
            }
            out.add_labels(n, edge - self.edges.start, p);
            if !out.events.is_empty() {
                for own in &situation.unheard {
                    let (of, p) = ((own.stream, own.class), p[own.pair]);
                    out.place(n, of, edge - self.edges.start, [p, p]);
                }
            }
            if bits > 0 {
                self.share(n, situation, edge, opened, p, raw, inverse, out);
            }
            let mut total = 0.0;
            for t in 0..labels * len {
                behind[t] = prev[t];
                total += prev[t];
            }
            if !ORDINARY.contains(&total) {
                behind[..labels * len].iter_mut().for_each(|own| *own /= total);
            }
        }
        self.tell(n, situation, gap, last, evenly, rates, out);
    }

    /// Overwrites what open stamps weigh at events of an edge, and events without one; returns what weighs before all these
    /// events. `room` is for as many weights as there are events, and one more.
    #[inline(always)]
    fn go_back_events<'b, S: Sets>(
        &self,
        sets: S,
        events: &Events<'_>,
        before: &[f64],
        behind: &[f64],
        room: &'b mut [f64],
        raw: &mut [f64],
    ) -> &'b [f64] {
        let (len, bits, Range { start, end }) = (sets.len(), sets.bits(), events.numbers.clone());
        let mut given = [0.0; MOST_OPEN];
        let mut tell =
            |k: usize, event: &Event<'_>, before: &[f64], behind: &[f64], taken: &[f64]| {
                let raw = &mut raw[k * (bits + 1)..(k + 1) * (bits + 1)];
                for bit in 0..bits {
                    raw[bit] = events.weight * given_there(sets, event, bit, before, behind, taken);
                }
                let mut silent = 0.0;
                for t in 0..len {
                    silent += before[t] * behind[t];
                }
                raw[bits] = events.weight * event.silent * silent;
            };
        if end - start == 1 {
            let event = events.of(self, sets, start, &mut given);
            take(sets, &event, behind, &mut room[..len]);
            tell(start, &event, before, behind, &room[..len]);
            return &room[..len];
        }
        // What weighs behind the last event, before it, …, before the first; then before an event and behind it.
        let count = end - start;
        room[..len].copy_from_slice(behind);
        for (j, k) in events.numbers.clone().rev().enumerate() {
            let (from, to) = room.split_at_mut((j + 1) * len);
            take(sets, &events.of(self, sets, k, &mut given), &from[j * len..], &mut to[..len]);
        }
        let (taken, rest) = room.split_at_mut((count + 1) * len);
        let (here, next) = rest.split_at_mut(len);
        here.copy_from_slice(before);
        for (j, k) in events.numbers.clone().enumerate() {
            let event = events.of(self, sets, k, &mut given);
            let behind = &taken[(count - j - 1) * len..(count - j) * len];
            let before = &taken[(count - j) * len..(count - j + 1) * len];
            tell(k, &event, here, behind, before);
            give(sets, &event, here, &mut next[..len]);
            here.copy_from_slice(&next[..len]);
        }
        &taken[count * len..]
    }

    /// Tells of neighbouring edges that are as far apart, whose pairs of labels are expected this often: of rates, and of
    /// streams without open stamps. Empties these numbers.
    #[inline(always)]
    #[expect(clippy::too_many_arguments)]
    fn tell<N: Count>(
        &self,
        n: N,
        situation: &Situation,
        gap: Option<f64>,
        transition: &Transition,
        p: &mut [f64],
        rates: &mut Rated<'_>,
        out: &mut Expected<'_>,
    ) {
        rates.add(n, gap, transition, p);
        for own in &situation.unheard {
            out.count(n, own.stream, own.class, [p[own.pair]; 2]);
        }
        p.fill(0.0);
    }

    /// Numbers of edges here.
    fn local(&self, edges: &Range<usize>) -> Range<usize> {
        edges.start - self.edges.start..edges.end - self.edges.start
    }

    /// Tells where open stamps were given, and of events without one.
    #[inline(always)]
    #[expect(clippy::too_many_arguments)]
    fn share<N: Count>(
        &self,
        n: N,
        situation: &Situation,
        edge: usize,
        opened: &[Opened],
        p: &[f64],
        raw: &[f64],
        inverse: f64,
        out: &mut Expected<'_>,
    ) {
        let (classes, bits) = (n.get() - 1, opened.len());
        for own in opened {
            out.shares[own.cell.wrapping_add(edge) - out.first_cell] = 0.0;
        }
        for (event, raw) in situation.voiced.iter().zip(raw.chunks_exact(bits + 1)) {
            let expected = [p[event.pair], raw[bits] * inverse];
            out.count(n, event.stream, event.class, expected);
            out.place(n, (event.stream, event.class), edge - self.edges.start, expected);
            for (own, ways) in opened.iter().zip(raw) {
                let share = ways * inverse;
                out.shares[own.cell.wrapping_add(edge) - out.first_cell] += share;
                out.classes[(own.stamp - out.first_stamp) * classes + event.class] += share;
            }
        }
    }
}

/// Events of one edge for which there is room where the number of states is known.
const FEW_EVENTS: usize = 4;

/// Events of streams with open stamps, all along one edge between two labels.
struct Events<'a> {
    piece: &'a Piece,
    situation: &'a Situation,
    opened: &'a [Opened],
    edge: usize,
    /// What the edge weighs by itself.
    weight: f64,
    /// Their numbers in the situation.
    numbers: Range<usize>,
}

impl Events<'_> {
    /// One of them, with what open stamps weigh there.
    #[inline(always)]
    fn of<'b>(
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

/// Room for two numbers for each pair of labels.
#[inline(always)]
fn pairs<'a>(
    n: impl Count,
    few: &'a mut [[f64; 4]; 2],
    more: &'a mut [Vec<f64>; 2],
) -> [&'a mut [f64]; 2] {
    match n.get() {
        2 => few.each_mut().map(|own| own.as_mut_slice()),
        labels => more.each_mut().map(|own| {
            own.resize(labels * labels, 0.0);
            own.as_mut_slice()
        }),
    }
}
