//! A session, cut into stretches that hear of each other only by what is known where they meet.
//!
//! Where few windows are open at a time, everything is summed at once ([`exact`](super::exact)); elsewhere, and for stamps
//! in order that ride together, riders agree ([`agreed`](super::agreed)), in a stretch that holds their windows whole. An
//! exact stretch may be cut where stamps are open: it then begins with as many states as labels times sets of these. Each
//! stretch is a matrix of weights, by the state before it and the one behind, so that all are worked on at the same time.
//! Threads have no say in where is cut.

use std::ops::Range;

use super::chain::Chain;
use super::exact::LOOK;
use super::riders::{Rider, Riders};
use super::sums::Effort;

/// States of an exact sum in all from which stamps are a crowd, however few are open at a time: they would be half a
/// gigabyte.
const MOST_IN_ALL: usize = 1 << 26;
/// Most states where stretches meet.
pub(super) const MOST_ROWS: usize = 8;

/// Edges that follow each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stretch {
    pub(super) edges: Range<usize>,
    /// Riders from the first to the last whose windows reach into it.
    pub(super) riders: Range<usize>,
    /// States before all edges if they can be summed over at once; otherwise riders have to agree.
    pub(super) states: Option<usize>,
    /// Open stamps of all pieces between windows that begin or end.
    pub(super) opened: usize,
}

/// Cuts a session.
pub(super) fn stretches(riders: &Riders, chain: &Chain<'_>, effort: Effort) -> Vec<Stretch> {
    let (labels, edges) = (chain.classes() + 1, chain.instances() + 1);
    let mut all = Vec::new();
    let mut first = (0, 0);
    for own in clusters(riders, labels, effort.most_states) {
        if let (edges, riders_there, true) = own {
            let own = first.1..riders_there.start;
            cut(riders, labels, effort.long, first.0..edges.start, own, &mut all);
            first = (edges.end, riders_there.end);
            all.push(Stretch { edges, riders: riders_there, states: None, opened: 0 });
        }
    }
    cut(riders, labels, effort.long, first.0..edges, first.1..riders.riders.len(), &mut all);
    all
}

/// Appends stretches of some edges along which everything is summed at once, each so long at least.
fn cut(
    riders: &Riders,
    labels: usize,
    long: usize,
    edges: Range<usize>,
    own: Range<usize>,
    all: &mut Vec<Stretch>,
) {
    let mut changes = changes(&riders.riders[own]);
    changes.push((edges.end, false));
    let (mut at, mut from, mut open) = (edges.start, edges.start, 0);
    let (mut states, mut opened) = (0, 0);
    let mut end = |edges: Range<usize>, states: usize, opened: usize| {
        let riders = riders.around(&edges);
        all.push(Stretch { edges, riders, states: Some(states), opened });
    };
    for (edge, opens) in changes {
        let here = labels << open;
        // Rather where less is open; and behind the edge where it opened, before which fewer are.
        let room = long + long * open / 4;
        // A rest that is short is not worth a cut.
        let is_worth = |from: usize| edges.end > from + room + long / 2;
        while here <= MOST_ROWS && edge > from + room && edge > at + 1 && is_worth(from) {
            let next = (at + 1).max(from + room);
            end(from..next, states + (next - at) * here, opened + open * (1 + (next - at) / LOOK));
            (at, from, states, opened) = (next, next, 0, 0);
        }
        states += (edge - at) * here;
        opened += open * (1 + (edge - at) / LOOK);
        at = edge;
        open = if opens { open + 1 } else { open.saturating_sub(1) };
    }
    if from < edges.end {
        end(from..edges.end, states, opened);
    }
}

/// Where windows begin and end, in order; of those at one edge the ends come first.
fn changes(riders: &[Rider]) -> Vec<(usize, bool)> {
    let mut changes: Vec<(usize, bool)> =
        riders.iter().flat_map(|own| [(own.edges.start, true), (own.edges.end, false)]).collect();
    changes.sort_unstable();
    changes
}

/// Riders whose windows overlap, together, and whether they are too many to be summed over at once.
fn clusters(
    riders: &Riders,
    labels: usize,
    most_states: usize,
) -> Vec<(Range<usize>, Range<usize>, bool)> {
    let mut all: Vec<(Range<usize>, Range<usize>, bool)> = Vec::new();
    for (k, rider) in riders.riders.iter().enumerate() {
        match all.last_mut() {
            Some((edges, riders, _)) if rider.edges.start < edges.end => {
                edges.end = edges.end.max(rider.edges.end);
                riders.end = k + 1;
            }
            _ => all.push((rider.edges.clone(), k..k + 1, false)),
        }
    }
    for (_, own, is_crowded) in &mut all {
        let own = &riders.riders[own.clone()];
        *is_crowded = own.iter().any(|rider| rider.presses.len() > 1)
            || states(own, labels, most_states).is_none_or(|states| states > MOST_IN_ALL);
    }
    all
}

/// The states before all edges where windows are open; none if some have more than this.
fn states(riders: &[Rider], labels: usize, most: usize) -> Option<usize> {
    let (mut all, mut open, mut at) = (0_usize, 0_u32, riders[0].edges.start);
    for (edge, opens) in changes(riders) {
        let here = 1_usize.checked_shl(open)?.checked_mul(labels)?;
        if open > 0 && here > most {
            return None;
        }
        all = all.saturating_add((edge - at).saturating_mul(here));
        (at, open) = (edge, if opens { open + 1 } else { open - 1 });
    }
    Some(all)
}
