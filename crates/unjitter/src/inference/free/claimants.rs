//! From cells by stamp, as propagation has them, to claims by instance.

use super::settle::Settled;
use crate::inference::vocabulary::Block;
use crate::inference::windows::Band;

/// The stamps that claim each instance of a block.
#[derive(Clone, Copy)]
pub(in crate::inference) struct Claimants<'a> {
    pub(in crate::inference) band: &'a Band,
    pub(in crate::inference) block: &'a Block,
}

impl Claimants<'_> {
    /// Calls `each` with every instance, counted from the block's first, that somebody claims, the first
    /// stamp that claims it, and its claims.
    pub(super) fn for_instances(
        &self,
        settled: &Settled<'_>,
        mut each: impl FnMut(usize, usize, &[f64]),
    ) {
        let Self { band, block } = *self;
        let (windows, stamps) = (band.windows(), block.stamps.clone());
        let origin = band.padded_cells_of(stamps.start).start;
        let (mut from, mut to) = (stamps.start, stamps.start);
        let mut claims = Vec::new();
        for instance in block.instances.clone() {
            while from < stamps.end && windows[from].end <= instance {
                from += 1;
            }
            while to < stamps.end && windows[to].first <= instance {
                to += 1;
            }
            claims.clear();
            claims.extend(
                (from..to).map(|stamp| settled.claims[self.cell(stamp, instance) - origin]),
            );
            if claims.iter().any(|&claim| claim > 0.0) {
                each(instance - block.instances.start, from, &claims);
            }
        }
    }

    /// The cell of a stamp and an instance.
    pub(super) fn cell(&self, stamp: usize, instance: usize) -> usize {
        self.band.cells_of(stamp).start + instance - self.band.windows()[stamp].first
    }
}
