//! A session, cut into stretches that hear of each other only by the label where they meet.
//!
//! Stamps whose windows overlap are in one stretch. Where few windows are open at a time, everything in it is summed at once
//! ([`exact`](super::exact)); elsewhere, and for stamps in order that ride together, riders agree ([`agreed`](super::agreed)).
//! Each stretch is a matrix of weights, by the label before it and the one that it leads to, so that stretches are worked on
//! at the same time. The data alone decide where is cut.

use std::ops::Range;

use super::riders::{Rider, Riders};

/// Edges from which a stretch ends as soon as no window is open.
const LONG: usize = 2048;
/// Most states of an exact sum before an edge: labels times sets of open stamps.
const MOST_STATES: usize = 512;

/// Edges that follow each other, and the riders whose windows are there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stretch {
    pub(super) edges: Range<usize>,
    pub(super) riders: Range<usize>,
    /// Whether riders have to agree, since there are too many ways to sum over.
    pub(super) is_crowded: bool,
}

/// Cuts a session of so many edges and labels.
pub(super) fn stretches(riders: &Riders, labels: usize, edges: usize) -> Vec<Stretch> {
    let mut all: Vec<Stretch> = Vec::new();
    let quiet = |edges, riders| Stretch { edges, riders, is_crowded: false };
    let mut open = quiet(0..0, 0..0);
    for Stretch { edges, riders, is_crowded } in clusters(riders, labels) {
        // The gap before these stamps is cut where they begin, or goes on behind them.
        if is_crowded || edges.start - open.edges.start >= LONG {
            open.edges.end = edges.start;
            all.push(open);
            open = quiet(edges.start..edges.start, riders.start..riders.start);
        }
        open = Stretch {
            edges: open.edges.start..edges.end,
            riders: open.riders.start..riders.end,
            is_crowded,
        };
        if is_crowded {
            all.push(open);
            open = quiet(edges.end..edges.end, riders.end..riders.end);
        }
    }
    open.edges.end = edges;
    all.push(open);
    all.into_iter().flat_map(Stretch::cut).collect()
}

impl Stretch {
    /// Pieces of a stretch without stamps; others stay whole.
    fn cut(self) -> Vec<Self> {
        if self.edges.is_empty() {
            return Vec::new();
        }
        if !self.riders.is_empty() {
            return vec![self];
        }
        let Self { edges, riders, is_crowded } = self;
        let starts = edges.clone().step_by(LONG);
        let piece = |start| start..edges.end.min(start + LONG);
        starts
            .map(|start| Self { edges: piece(start), riders: riders.clone(), is_crowded })
            .collect()
    }
}

/// Riders whose windows overlap, together.
fn clusters(riders: &Riders, labels: usize) -> Vec<Stretch> {
    let mut all: Vec<Stretch> = Vec::new();
    for (k, rider) in riders.riders.iter().enumerate() {
        match all.last_mut() {
            Some(last) if rider.edges.start < last.edges.end => {
                last.edges.end = last.edges.end.max(rider.edges.end);
                last.riders.end = k + 1;
            }
            _ => {
                let (edges, riders) = (rider.edges.clone(), k..k + 1);
                all.push(Stretch { edges, riders, is_crowded: false });
            }
        }
    }
    for own in &mut all {
        own.is_crowded = is_crowded(&riders.riders[own.riders.clone()], labels);
    }
    all
}

/// Whether stamps ride together, or so many windows are open at a time that states are too many.
fn is_crowded(riders: &[Rider], labels: usize) -> bool {
    if riders.iter().any(|rider| rider.presses.len() > 1) {
        return true;
    }
    let mut ends: Vec<usize> = riders.iter().map(|rider| rider.edges.end).collect();
    ends.sort_unstable();
    let mut closed = 0;
    riders.iter().enumerate().any(|(k, rider)| {
        while ends[closed] <= rider.edges.start {
            closed += 1;
        }
        let states =
            1_usize.checked_shl((k + 1 - closed) as u32).and_then(|sets| sets.checked_mul(labels));
        states.is_none_or(|states| states > MOST_STATES)
    })
}
