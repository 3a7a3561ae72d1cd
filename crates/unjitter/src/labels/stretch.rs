//! A session, cut into stretches that hear of each other only by the label where they meet.
//!
//! Stamps whose windows overlap are in one stretch. Where few windows are open at a time, everything in it is summed at once
//! ([`exact`](super::exact)); elsewhere, and for stamps in order that ride together, riders agree ([`agreed`](super::agreed)).
//! Each stretch is a matrix of weights, by the label before it and the one that it leads to, so that stretches are worked on
//! at the same time. The data alone decide where is cut.

use std::ops::Range;

use super::chain::Chain;
use super::riders::{Rider, Riders};

/// Edges from which a stretch ends as soon as no window is open: so few that its numbers stay in the cache next to the
/// processor.
const LONG: usize = 512;

/// Edges that follow each other, and the riders whose windows are there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stretch {
    pub(super) edges: Range<usize>,
    pub(super) riders: Range<usize>,
    /// States before all edges if they can be summed over at once; otherwise riders have to agree.
    pub(super) states: Option<usize>,
}

/// Cuts a session. Exact sums have so many states at most before an edge.
pub(super) fn stretches(riders: &Riders, chain: &Chain<'_>, most_states: usize) -> Vec<Stretch> {
    let (labels, edges) = (chain.classes() + 1, chain.instances() + 1);
    let mut all: Vec<Stretch> = Vec::new();
    let quiet = |edge, rider| Stretch { edges: edge..edge, riders: rider..rider, states: Some(0) };
    let mut open = quiet(0, 0);
    for Stretch { edges, riders, states } in clusters(riders, labels, most_states) {
        // The gap before these stamps goes on behind them unless it is cut where they begin.
        open.grow(edges.start, labels);
        if states.is_none() || open.edges.len() >= LONG {
            all.push(std::mem::replace(&mut open, quiet(edges.start, riders.start)));
        }
        (open.edges.end, open.riders.end) = (edges.end, riders.end);
        open.states = open.states.zip(states).map(|(own, more)| own + more);
        if open.states.is_none() {
            all.push(std::mem::replace(&mut open, quiet(edges.end, riders.end)));
        }
    }
    open.grow(edges, labels);
    all.push(open);
    all.into_iter().flat_map(Stretch::cut).collect()
}

impl Stretch {
    /// Takes in the edges until then, where no window is open.
    fn grow(&mut self, end: usize, labels: usize) {
        self.states = self.states.map(|states| states + (end - self.edges.end) * labels);
        self.edges.end = end;
    }

    /// Pieces of a stretch without stamps; others stay whole.
    fn cut(self) -> Vec<Self> {
        if self.edges.is_empty() {
            return Vec::new();
        }
        if !self.riders.is_empty() {
            return vec![self];
        }
        let Self { edges, riders, states } = self;
        let by_edge = states.map_or(0, |states| states / edges.len());
        let starts = edges.clone().step_by(LONG);
        let piece = |start| start..edges.end.min(start + LONG);
        starts
            .map(piece)
            .map(|edges| Self {
                states: Some(by_edge * edges.len()),
                edges,
                riders: riders.clone(),
            })
            .collect()
    }
}

/// Riders whose windows overlap, together.
fn clusters(riders: &Riders, labels: usize, most_states: usize) -> Vec<Stretch> {
    let mut all: Vec<Stretch> = Vec::new();
    for (k, rider) in riders.riders.iter().enumerate() {
        match all.last_mut() {
            Some(last) if rider.edges.start < last.edges.end => {
                last.edges.end = last.edges.end.max(rider.edges.end);
                last.riders.end = k + 1;
            }
            _ => {
                let (edges, riders) = (rider.edges.clone(), k..k + 1);
                all.push(Stretch { edges, riders, states: None });
            }
        }
    }
    for own in &mut all {
        own.states = states(&riders.riders[own.riders.clone()], labels, most_states);
    }
    all
}

/// The states before all edges of stamps that ride alone, by how many windows are open; none if stamps ride together, or
/// states are too many.
fn states(riders: &[Rider], labels: usize, most: usize) -> Option<usize> {
    if riders.iter().any(|rider| rider.presses.len() > 1) {
        return None;
    }
    let mut changes: Vec<(usize, bool)> =
        riders.iter().flat_map(|own| [(own.edges.start, true), (own.edges.end, false)]).collect();
    changes.sort_unstable();
    let (mut all, mut open, mut at) = (0_usize, 0_u32, 0);
    for (edge, opens) in changes {
        let here = 1_usize.checked_shl(open)?.checked_mul(labels)?;
        if here > most {
            return None;
        }
        all += (edge - at) * here;
        at = edge;
        open = if opens { open + 1 } else { open - 1 };
    }
    // Before the first window there is none.
    Some(all - riders[0].edges.start * labels)
}
