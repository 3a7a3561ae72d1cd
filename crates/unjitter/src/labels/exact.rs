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

mod back;
mod pieces;

use std::ops::Range;

pub(super) use pieces::Voices;
use pieces::{Events, Opened, Piece, Situation, Step};

use super::chain::{Base, weigh};
use super::count::{Any, Count, Two};
use super::open::{self, Few, Many, Sets, give};

/// Totals beyond this range are divided out, so that no product of weights leaves that of numbers.
const ORDINARY: Range<f64> = 1e-100..1e100;
/// Stamps that may be open at a time; the number of states is limited before.
const MOST_OPEN: usize = 16;

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

impl Exact<'_> {
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
