//! Visits to stamps in order of time, there or back.
//!
//! Each cell keeps what the stamps on one side claim from the last visit, so an instance's offer is the join
//! of two sides and nothing is ever subtracted.

use std::ops::Range;

use super::row::{Row, Side};
use super::tally::{Tally, visit_in_steps};
use crate::inference::vocabulary::Block;
use crate::inference::windows::Band;

/// Buffers that outlive a block.
#[derive(Debug, Default)]
pub(in crate::inference) struct Free {
    /// What the earlier stamps claim, as of the last visit of each stamp, by cell.
    pub(super) before: Vec<f64>,
    /// The same of the later ones.
    pub(super) after: Vec<f64>,
    /// What the stamps on the side of the last visits claim, by instance.
    pub(super) running: Vec<f64>,
    /// What instances offer the stamp that is visited.
    pub(super) offers: Vec<f64>,
    /// What stamps claim, by cell.
    pub(super) claims: Vec<f64>,
    /// By stamp: how far its responsibilities moved between the last two visits.
    pub(super) moved: Vec<f64>,
    /// What instances believe to have given, by cell.
    pub(super) beliefs: Vec<f64>,
    /// The last claims by cell, for damping.
    pub(super) damped: Vec<f64>,
}

/// A block in a loaded band.
#[derive(Clone, Copy)]
pub(super) struct Scene<'a> {
    pub(super) band: &'a Band,
    pub(super) block: &'a Block,
    pub(super) tally: &'a dyn Tally,
}

impl Scene<'_> {
    /// Cells of a stamp, within those of the block.
    pub(super) fn cells(&self, stamp: usize) -> Range<usize> {
        let start = self.band.padded_cells_of(self.block.stamps.start).start;
        let cells = self.band.padded_cells_of(stamp);
        cells.start - start..cells.end - start
    }

    /// First instance of a stamp's window, within the block.
    pub(super) fn first(&self, stamp: usize) -> usize {
        self.band.windows()[stamp].first - self.block.instances.start
    }
}

#[cfg(test)]
thread_local! {
    /// Visits to stamps on this thread.
    pub(in crate::inference) static VISITS: std::cell::Cell<usize> =
        const { std::cell::Cell::new(0) };
}

impl Free {
    /// Visits a stretch of stamps in order, with the stamps of `side` behind.
    pub(super) fn sweep(
        &mut self,
        scene: Scene<'_>,
        side: Side,
        stretch: Range<usize>,
        responsibilities: &mut [f64],
    ) {
        let entry = if side == Side::Before { stretch.start } else { stretch.end - 1 };
        self.enter(scene, side, entry);
        for step in 0..stretch.len() {
            let stamp = if side == Side::Before { entry + step } else { entry - step };
            self.visit(scene, side, stamp, responsibilities);
        }
    }

    /// Begins with what the stamps behind `entry` claim. Those outside the stretch no longer move: it is in
    /// the cells of the entry.
    pub(super) fn enter(&mut self, scene: Scene<'_>, side: Side, entry: usize) {
        let width = scene.tally.width();
        scene.tally.begin(side, &mut self.running);
        let (edge, stored) = match side {
            Side::Before => (scene.block.stamps.start, &self.before),
            Side::After => (scene.block.stamps.end - 1, &self.after),
        };
        if entry != edge {
            let (cells, first) = (scene.cells(entry), scene.first(entry));
            let len = cells.len() * width;
            self.running[first * width..][..len]
                .copy_from_slice(&stored[cells.start * width..][..len]);
        }
    }

    /// Updates the claims of a stamp; returns log D.
    pub(super) fn visit(
        &mut self,
        scene: Scene<'_>,
        side: Side,
        stamp: usize,
        responsibilities: &mut [f64],
    ) -> f64 {
        #[cfg(test)]
        VISITS.set(VISITS.get() + 1);
        let Scene { band, block, tally } = scene;
        let (cells, first, width) = (scene.cells(stamp), scene.first(stamp), tally.width());
        let states = cells.start * width..cells.end * width;
        let (stored, beyond) = match side {
            Side::Before => (&mut self.before, &self.after),
            Side::After => (&mut self.after, &self.before),
        };
        let padded = band.padded_cells_of(stamp);
        let mut row = Row {
            side,
            first,
            density: &band.densities()[padded.clone()],
            background: band.background(stamp),
            running: &mut self.running[first * width..][..states.len()],
            stored: &mut stored[states.clone()],
            beyond: &beyond[states],
            offers: &mut self.offers[..cells.len()],
            claims: &mut self.claims[cells.clone()],
            responsibilities: &mut responsibilities[padded],
        };
        let (total, moved) = if self.damped.is_empty() {
            tally.visit(&mut row)
        } else {
            visit_in_steps(tally, &mut row, Some(&mut self.damped[cells]))
        };
        self.moved[stamp - block.stamps.start] = moved;
        total.ln()
    }
}
