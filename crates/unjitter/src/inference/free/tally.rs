//! What instances make of the claims on them, which depends on how many stamps they may give.

use super::claim::{claim, dampen};
use super::row::{Row, Side};

/// What the claims of some stamps mean to the instances of a block, for one kind of counts.
pub(in crate::inference) trait Tally {
    /// Numbers per instance.
    fn width(&self) -> usize;

    /// No claims yet, for all instances of the block.
    fn begin(&self, side: Side, running: &mut [f64]);

    /// Fills in what the instances of the row offer, given the claims of the stamps on either side.
    fn offer(&self, row: &mut Row<'_>);

    /// Adds the stamp's claims to those of the stamps visited so far.
    fn take(&self, row: &mut Row<'_>);

    /// Updates offers, claims and responsibilities; returns D and how far the responsibilities moved.
    fn visit(&self, row: &mut Row<'_>) -> (f64, f64) {
        visit_in_steps(self, row, None)
    }
}

/// A visit, with claims damped by the last ones if these are given.
pub(super) fn visit_in_steps<T: Tally + ?Sized>(
    tally: &T,
    row: &mut Row<'_>,
    last: Option<&mut [f64]>,
) -> (f64, f64) {
    tally.offer(row);
    let moved = claim(row);
    if let Some(last) = last {
        dampen(row.claims, last);
    }
    row.stored.copy_from_slice(row.running);
    tally.take(row);
    moved
}
