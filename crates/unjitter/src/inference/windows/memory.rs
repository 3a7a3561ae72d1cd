//! Memory that the sums over alignments take, computed from the windows before any is allocated.
//!
//! It is counted in numbers of eight bytes, buffer by buffer, as the solvers lay them out; blocks reuse
//! the buffers of earlier ones. Log space is included, since any block may have to be redone there.
//! Integration tests compare the count with the allocations. O(stamps).

use std::ops::Range;

use super::band::{Band, PANEL_CELLS};
use crate::inference::count_tables::CountTables;
use crate::inference::vocabulary::{Block, Order, Span, Window, deepest};
use crate::math::LANES;
use crate::memory::{Held, hold, is_little};

/// Numbers per stamp: both windows, offsets of cells and columns, scales, and spare room.
const PER_STAMP: usize = 20;
/// Numbers per instance of a span: log-odds, derivatives, weights, its posterior, and spare room.
const PER_INSTANCE: usize = 16;
/// Most instances of a span besides those of the blocks that it may not cut.
const SPAN_INSTANCES: usize = 4096;

/// Sizes of some neighbouring windows.
#[derive(Default)]
struct Size {
    cells: usize,
    /// Cells of the columns that the next stamp reads.
    columns: usize,
    widest: usize,
}

impl Size {
    fn of(windows: &[Window]) -> Self {
        let mut size = Self { columns: windows[0].len() + LANES, ..Self::default() };
        for (l, window) in windows.iter().enumerate() {
            let padded = window.len().next_multiple_of(LANES);
            let next = windows.get(l + 1).unwrap_or(window);
            size.cells += padded;
            size.columns += next.end - window.first + LANES;
            size.widest = size.widest.max(padded);
        }
        size
    }
}

impl Band {
    /// Most bytes that inference takes for some stamps (whole blocks), in spans of about `rows` instances;
    /// `together` means that it keeps the cells of all of them at a time, with their marginals.
    fn bytes(
        &self,
        stamps: Range<usize>,
        rows: usize,
        counts: &CountTables,
        together: bool,
    ) -> u64 {
        let at_once = counts.log_odds_range().is_none();
        let (mut cells, mut load, mut solver, mut longest, mut recorded) = (0, 0, 0.0_f64, 0, 0.0);
        let mut stamp = stamps.start;
        while stamp < stamps.end {
            let block = self.block_at(stamp);
            stamp = block.stamps.end;
            let windows = &self.windows()[block.stamps.clone()];
            let size = Size::of(windows);
            cells += size.cells;
            longest = longest.max(block.instances.len());
            if counts.gives_one_stamp() && !at_once && !together && self.is_long(&block.stamps) {
                let (loaded, kept) = self.panels(&block);
                load = load.max(loaded);
                solver = solver.max((kept + 2 * size.widest) as f64);
                continue;
            }
            load = load.max(size.cells);
            let (mut numbers, most) = match self.order() {
                Order::Free => propagate(counts, &block, &size, windows),
                Order::Ordered => solve(counts, &block, &size, windows),
            };
            if most > 1.0 && self.log_drop().floor.is_some() {
                // With a background, the instances that are open, by count.
                numbers += most * size.columns as f64;
            }
            solver = solver.max(numbers + log_space(&block, &size, windows, most));
            // Pairs, in vectors that have room for four at least and double.
            recorded += (4.0 * most * block.instances.len() as f64).min(4.0 * size.cells as f64)
                + (8 * block.instances.len()) as f64;
        }
        let rows = (rows + longest).min(self.instances());
        let load = if at_once { cells } else { load.max(cells.min(PANEL_CELLS)) };
        // Densities, delays, shares; and one of these buffers twice while it grows.
        let mut numbers = 5.0 * load as f64 + solver;
        if together {
            // Shares, and those of positives, in vectors that double; and counts by instance.
            numbers += 5.0 * cells as f64 + recorded + (8 * self.instances()) as f64;
        }
        let fixed = PER_STAMP * stamps.len() + PER_INSTANCE * rows + 12 * counts.max_count();
        // Saturates.
        (8.0 * (numbers + fixed as f64)) as u64
    }

    /// An upper bound for the whole session, in one short pass.
    fn bytes_at_most(&self, counts: &CountTables) -> u64 {
        let stamps = self.windows().len();
        let cells = self.windows().iter().map(Window::len).sum::<usize>() + LANES * stamps;
        let most =
            if counts.ratios().is_some() { 1 } else { counts.max_count().min(stamps) } as f64;
        let by_instance = (48.0 + 4.0 * most) * (self.instances() + LANES) as f64;
        let by_stamp = (48 * stamps + 12 * counts.max_count()) as f64 + most * stamps as f64;
        let background = if self.log_drop().floor.is_some() { 2.0 * most } else { 0.0 };
        let sides = if self.order() == Order::Free { 2.0 * most } else { 0.0 };
        (8.0 * ((34.0 + background + sides) * cells as f64 + by_instance + by_stamp)) as u64
    }

    /// Bytes of the whole session; notes whether they are so many that they must be held.
    pub(in crate::inference) fn count_bytes(
        &mut self,
        counts: &CountTables,
        together: bool,
    ) -> u64 {
        let at_most = self.bytes_at_most(counts);
        if is_little(at_most) {
            self.needed = 0;
            return at_most;
        }
        let is_whole = counts.log_odds_range().is_none();
        let rows = if is_whole { self.instances() } else { SPAN_INSTANCES };
        let bytes = self.bytes(0..self.windows().len(), rows, counts, together);
        debug_assert!(bytes <= at_most, "{bytes} of {at_most}");
        self.needed = if is_little(bytes) { 0 } else { bytes };
        bytes
    }

    /// Waits for the memory of the whole session if that is much; its spans then hold none.
    pub(in crate::inference) fn hold_session(&mut self) -> Option<Held> {
        let needed = std::mem::take(&mut self.needed);
        (needed > 0).then(|| hold(needed))
    }

    /// Waits for the memory of one span if that is much.
    pub(in crate::inference) fn hold_span(
        &self,
        span: &Span,
        counts: &CountTables,
    ) -> Option<Held> {
        if self.needed == 0 {
            return None;
        }
        let bytes = self.bytes(span.stamps.clone(), span.instances.len(), counts, false);
        (!is_little(bytes)).then(|| hold(bytes))
    }

    /// Cells of the largest panel of a long block, and numbers of the columns that are kept.
    fn panels(&self, block: &Block) -> (usize, usize) {
        let (mut loaded, mut largest, mut kept) = (0, 0, 0);
        let mut stamp = block.stamps.start;
        while stamp < block.stamps.end {
            let panel = self.panel(stamp..block.stamps.end);
            stamp = panel.end;
            // With the last stamp of the panel before and the first of the next.
            let from = panel.start.saturating_sub(1).max(block.stamps.start);
            let until = (stamp + 1).min(block.stamps.end);
            let size = Size::of(&self.windows()[from..until]);
            loaded = loaded.max(size.cells);
            largest = largest.max(size.columns);
            let (last, next) = (self.windows()[stamp - 1], self.windows()[until - 1]);
            kept += next.end - last.first + LANES;
        }
        (loaded, largest + kept)
    }
}

/// Numbers that the recursion keeps for a block, and the most stamps of one instance.
fn solve(counts: &CountTables, block: &Block, size: &Size, windows: &[Window]) -> (f64, f64) {
    let room = block.instances.len() + LANES;
    if counts.gives_one_stamp() {
        ((size.columns + 2 * size.widest) as f64, 1.0)
    } else if counts.ratios().is_some() {
        ((3 * size.columns + 6 * room + 5 * size.widest) as f64, 1.0)
    } else {
        let most = deepest(windows).min(counts.max_count()) as f64;
        let columns = (2 * size.columns + 7 * size.widest) as f64;
        (columns + (4.0 * most + 2.0) * room as f64, most)
    }
}

/// Numbers that belief propagation keeps for a block, and the most stamps of one instance.
fn propagate(counts: &CountTables, block: &Block, size: &Size, windows: &[Window]) -> (f64, f64) {
    let room = (block.instances.len() + LANES) as f64;
    let (stamps, deepest) = (block.stamps.len() as f64, deepest(windows));
    let most = if counts.ratios().is_some() { 1 } else { deepest.min(counts.max_count()) } as f64;
    let (width, weights) = match (counts.gives_one_stamp(), counts.ratios()) {
        (true, _) => (1.0, 0.0),
        (false, Some(_)) => (1.0, 2.0),
        (false, None) => (most + 1.0, 2.0 * most + 3.0),
    };
    // What either side claims; claims, beliefs and damped claims; the matrix of neighbouring stamps.
    let by_cell = (2.0 * width + 3.0) * size.cells as f64;
    let by_stamp = (4.0 + deepest as f64) * stamps;
    (by_cell + (width + weights + 1.0) * room + by_stamp + 2.0 * size.widest as f64, most)
}

/// Numbers that log space needs for a block: sums over states, and those of one instance by count.
fn log_space(block: &Block, size: &Size, windows: &[Window], most: f64) -> f64 {
    let sums = 3 * size.cells + 9 * block.instances.len() + 12 * block.stamps.len();
    sums as f64 + (most + 8.0) * (deepest(windows) + 1) as f64
}
