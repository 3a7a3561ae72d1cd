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
//! everything. Time O(Σ_edges S²·2ᵏ·(1 + k)) and memory O(Σ_edges S·2ᵏ) for S labels and k open stamps: edges without
//! stamps cost as much as those of a bare chain. Numbers of states that are usual are known to the compiler, which keeps these in registers.

mod back;
mod pieces;

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;

pub(super) use pieces::Voices;
use pieces::{Events, Opened, Part, Piece, Situation, Step};

use super::chain::{Base, weigh};
use super::count::{Any, Count, Two};
use super::open::{self, Few, Many, Sets, give};
use super::path::normalise;
use super::stretch::MOST_ROWS;

/// Totals beyond this range are divided out, so that no product of weights leaves that of numbers.
const ORDINARY: Range<f64> = 1e-100..1e100;
/// Stamps that may be open at a time; the number of states is limited before.
const MOST_OPEN: usize = 16;

/// An exact sum along a stretch.
pub(super) struct Exact<'a> {
    voices: &'a Voices<'a>,
    densities: &'a [f64],
    edges: Range<usize>,
    /// How many stamps are open before the first edge, and behind the last.
    before: usize,
    behind: usize,
    situations: Vec<Situation>,
    /// Those by the streams that are open.
    known: HashMap<Vec<usize>, usize>,
    /// Streams that are open, in order.
    heard: Vec<usize>,
    steps: Vec<Step>,
    opened: Vec<Opened>,
    /// Weights of an event with a stamp, without its density: by piece, event and open stamp.
    factors: Vec<f64>,
    /// What of the windows of riders is here, by stamp, and the cells of all these.
    pub(super) parts: Vec<Part>,
    pub(super) cells: usize,
    /// States before all edges.
    states: usize,
}

/// Weights from each state before a stretch to each behind it: labels, and sets of stamps that are open there.
#[derive(Debug, Clone)]
pub(super) struct Transfer {
    /// By the state before, of which there are so many, then by that behind.
    pub(super) weights: Vec<f64>,
    pub(super) before: usize,
    pub(super) log_scale: f64,
}

/// Edges after which is looked whether the past is forgotten.
pub(super) const LOOK: usize = 128;
/// States from different pasts that agree to this share of themselves are the same from there on: the rest is rounding, which
/// a chain that hardly forgets adds up.
const FORGOTTEN: f64 = 1e-13;

/// Buffers of one thread.
#[derive(Debug, Default)]
pub(super) struct Room {
    here: Vec<f64>,
    stored: Vec<f64>,
    many: Vec<f64>,
    raw: Vec<f64>,
}

/// States of which a thread keeps the room: two megabytes.
const MOST_KEPT: usize = 1 << 18;

thread_local! {
    static ROOM: RefCell<Room> = RefCell::default();
}

impl Room {
    /// Lends the room of this thread to work that hands nothing to other threads.
    pub(super) fn with<R>(work: impl FnOnce(&mut Self) -> R) -> R {
        ROOM.with_borrow_mut(|room| {
            let result = work(room);
            if room.stored.len() > MOST_KEPT {
                room.stored = Vec::new();
            }
            result
        })
    }
}

impl Exact<'_> {
    /// The weights from state to state. Each state before the stretch is a row, until rows differ by factors alone: from
    /// there on one is enough.
    pub(super) fn transfer(&self, base: &Base<f64>, room: &mut Room) -> Transfer {
        let before = self.voices.labels << self.before;
        match before {
            0..=2 => self.rows_of::<2>(before, base, room),
            3 | 4 => self.rows_of::<4>(before, base, room),
            _ => self.rows_of::<MOST_ROWS>(before, base, room),
        }
    }

    fn rows_of<const ROWS: usize>(
        &self,
        before: usize,
        base: &Base<f64>,
        room: &mut Room,
    ) -> Transfer {
        let (sets, mut log_scale, mut open) = (1 << self.before, 0.0, self.before);
        room.here.clear();
        room.here.resize(before * ROWS, 0.0);
        for row in 0..before {
            let (label, set) = (row / sets, row % sets);
            room.here[(label * ROWS + row) * sets + set] = 1.0;
        }
        let (mut factors, mut passed): (Option<Vec<f64>>, usize) = (None, 0);
        for step in &self.steps {
            log_scale += match factors {
                None => self.step::<ROWS>(step, &mut open, base, room, &mut []),
                Some(_) => self.step::<1>(step, &mut open, base, room, &mut []),
            };
            let Step::Along(piece) = step else { continue };
            passed += piece.edges.len();
            if factors.is_none() && passed >= LOOK {
                passed = 0;
                factors = forget::<ROWS>(before, 1 << open, &mut room.here);
            }
        }
        let sets = 1 << open;
        let weight = |row: usize, label: usize, set: usize| match &factors {
            Some(factors) => factors[row] * room.here[label * sets + set],
            None => room.here[(label * ROWS + row) * sets + set],
        };
        let behind =
            (0..self.voices.labels).flat_map(|label| (0..sets).map(move |set| (label, set)));
        let rows = (0..before).flat_map(|row| behind.clone().map(move |state| (row, state)));
        let weights = rows.map(|(row, (label, set))| weight(row, label, set)).collect();
        Transfer { weights, before, log_scale }
    }

    /// Takes a step from the states in `room.here`, and leaves those behind it there; stores those before each edge if there
    /// is room for them. Returns the logarithm that they were divided by.
    fn step<const ROWS: usize>(
        &self,
        step: &Step,
        open: &mut usize,
        base: &Base<f64>,
        room: &mut Room,
        stored: &mut [f64],
    ) -> f64 {
        match step {
            Step::Open => {
                open::open(*open, &mut room.here);
                *open += 1;
                0.0
            }
            Step::Close { bit, nowhere } => {
                open::close(*open, *bit, *nowhere, &mut room.here);
                *open -= 1;
                // Where nothing leads on there is nothing to divide.
                match normalise(&mut room.here) {
                    0.0 => 0.0,
                    total => total.ln(),
                }
            }
            Step::Along(piece) => {
                self.piece_forward::<ROWS>(base, piece, &mut room.here, &mut room.many, stored)
            }
        }
    }

    /// Goes along all edges from the states in `room.here`, and leaves those behind there; stores those before each edge.
    /// Returns the logarithm that they were divided by.
    fn forward(&self, base: &Base<f64>, room: &mut Room) -> f64 {
        let mut stored = std::mem::take(&mut room.stored);
        if stored.len() < self.states {
            stored = vec![0.0; self.states];
        }
        let (mut log_scale, mut open, mut rest) = (0.0, self.before, stored.as_mut_slice());
        for step in &self.steps {
            let states = match step {
                Step::Along(piece) => piece.edges.len() * (self.voices.labels << open),
                _ => 0,
            };
            let own = rest.split_off_mut(..states).unwrap_or_default();
            log_scale += self.step::<1>(step, &mut open, base, room, own);
        }
        room.stored = stored;
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
            ($bits:literal, $rows:literal) => {{
                const LEN: usize = $rows << $bits;
                let mut room = [[0.0; 2 * LEN]; 4];
                room[0].copy_from_slice(here);
                let buffers = room.each_mut().map(|room| room.as_mut_slice());
                let sets = Few::<$bits, LEN>;
                let log_scale = self.go_forward(Two, sets, base, piece, buffers, stored);
                here.copy_from_slice(&room[0]);
                log_scale
            }};
        }
        let (labels, bits) = (self.voices.labels, piece.open.len());
        match (labels, bits, ROWS) {
            (2, 0, 1) => few!(0, 1),
            (2, 1, 1) => few!(1, 1),
            (2, 2, 1) => few!(2, 1),
            (2, 3, 1) => few!(3, 1),
            (2, 0, 2) => few!(0, 2),
            (2, 1, 4) => few!(1, 4),
            (2, 2, 4) => few!(2, 4),
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
            // Where nothing leads on there is nothing to divide.
            if !ORDINARY.contains(&total) && total > 0.0 {
                log_scale += total.ln();
                here[..labels * len].iter_mut().for_each(|own| *own /= total);
            }
        }
        log_scale
    }
}

/// If rows differ by factors alone, keeps one of them and returns what all are of it. Blocks of weights follow each other by
/// label and row.
fn forget<const ROWS: usize>(rows: usize, block: usize, here: &mut Vec<f64>) -> Option<Vec<f64>> {
    let of_row = |here: &[f64], row: usize| -> Vec<f64> {
        let labels = here.chunks_exact(ROWS * block);
        labels.flat_map(|own| own[row * block..(row + 1) * block].to_vec()).collect()
    };
    let all: Vec<Vec<f64>> = (0..rows).map(|row| of_row(here, row)).collect();
    let totals: Vec<f64> = all.iter().map(|own| own.iter().sum()).collect();
    let largest = (0..rows).max_by(|a, b| totals[*a].total_cmp(&totals[*b]))?;
    let (one, total) = (&all[largest], totals[largest]);
    if total <= 0.0 {
        return None;
    }
    let is_same = |(own, factor): (&Vec<f64>, f64)| {
        let both = own.iter().zip(one);
        both.into_iter().all(|(own, one)| (own - factor * one).abs() <= FORGOTTEN * factor * one)
    };
    let factors: Vec<f64> = totals.iter().map(|own| own / total).collect();
    if !all.iter().zip(factors.iter().copied()).all(is_same) {
        return None;
    }
    here.clone_from(one);
    Some(factors)
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
