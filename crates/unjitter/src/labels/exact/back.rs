//! The way back along a stretch, which tells what is expected.

use std::ops::Range;

use super::super::chain::{Base, weigh};
use super::super::count::{Any, Count, Two};
use super::super::expected::{Expected, Rated};
use super::super::open::{self, Event, Few, Many, Sets, give, given_there, take};
use super::super::path::normalise;
use super::super::rates::Transition;
use super::pieces::{Events, Opened, Piece, Situation, Step};
use super::{Exact, MOST_OPEN, ORDINARY, Room, pairs};

/// Events of one edge for which there is room where the number of states is known.
const FEW_EVENTS: usize = 4;

impl Exact<'_> {
    /// The logarithm of what all ways weigh, from the weights of states before the stretch and of what lies behind it by the
    /// state that leads there.
    pub(in crate::labels) fn log_total(
        &self,
        base: &Base<f64>,
        (before, behind): (&[f64], &[f64]),
        room: &mut Room,
    ) -> f64 {
        room.here.clear();
        room.here.extend_from_slice(before);
        let log_scale = self.forward(base, room);
        log_scale + room.here.iter().zip(behind).map(|(a, b)| a * b).sum::<f64>().ln()
    }

    /// Fills in what is expected, from the weights of states before the stretch and of what lies behind it by the state that
    /// leads there. Returns the logarithm of what all ways weigh, and derivatives of it in log rates.
    pub(in crate::labels) fn finish(
        &self,
        mut rates: Rated<'_>,
        base: &Base<f64>,
        (before, behind): (&[f64], &[f64]),
        room: &mut Room,
        out: &mut Expected<'_>,
    ) -> (f64, [f64; 2]) {
        let labels = self.voices.labels;
        let log_total = self.log_total(base, (before, behind), room);
        room.here.clear();
        room.here.extend_from_slice(behind);
        let (mut open, mut stored) = (self.behind, self.states);
        for step in self.steps.iter().rev() {
            match step {
                Step::Open => {
                    open -= 1;
                    open::unopen(open, &mut room.here);
                }
                Step::Close { bit, nowhere } => {
                    open::unclose(open, *bit, *nowhere, &mut room.here);
                    normalise(&mut room.here);
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
        (log_total, rates.d_rates())
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
            // Where both ways leave the range of numbers nothing can be told.
            let inverse = if total > 0.0 { 1.0 / total } else { 0.0 };
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
            if !ORDINARY.contains(&total) && total > 0.0 {
                behind[..labels * len].iter_mut().for_each(|own| *own /= total);
            }
        }
        self.tell(n, situation, gap, last, evenly, rates, out);
    }

    /// Overwrites what open stamps weigh at events of an edge, and events without one; returns what weighs before all these
    /// events. `room` is for as many weights as there are events, and three more.
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
        if end - start == 1 {
            let event = events.of(self, sets, start, &mut given);
            take(sets, &event, behind, &mut room[..len]);
            let raw = &mut raw[start * (bits + 1)..(start + 1) * (bits + 1)];
            tell_event(sets, &event, events.weight, [before, behind, &room[..len]], raw);
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
            let raw = &mut raw[k * (bits + 1)..(k + 1) * (bits + 1)];
            tell_event(sets, &event, events.weight, [here, behind, before], raw);
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
    pub(super) fn local(&self, edges: &Range<usize>) -> Range<usize> {
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
            out.shares[own.cell.wrapping_add(edge)] = 0.0;
        }
        for (event, raw) in situation.voiced.iter().zip(raw.chunks_exact(bits + 1)) {
            let expected = [p[event.pair], raw[bits] * inverse];
            out.count(n, event.stream, event.class, expected);
            out.place(n, (event.stream, event.class), edge - self.edges.start, expected);
            for (own, ways) in opened.iter().zip(raw) {
                let share = ways * inverse;
                out.shares[own.cell.wrapping_add(edge)] += share;
                out.classes[own.stamp * classes + event.class] += share;
            }
        }
    }
}

/// Overwrites what each open stamp weighs at an event, and then the event without one: from weights before it, those behind
/// it, and these as [`take`] makes them.
#[inline(always)]
fn tell_event(
    sets: impl Sets,
    event: &Event<'_>,
    weight: f64,
    [before, behind, taken]: [&[f64]; 3],
    raw: &mut [f64],
) {
    let (given, without) = raw.split_at_mut(sets.bits());
    for (bit, ways) in given.iter_mut().enumerate() {
        *ways = weight * given_there(sets, event, bit, before, behind, taken);
    }
    let mut silent = 0.0;
    for t in 0..sets.len() {
        silent += before[t] * behind[t];
    }
    without[0] = weight * event.silent * silent;
}
