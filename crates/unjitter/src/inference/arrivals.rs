//! How the columns of `any_counts` read those before them: the ways to arrive in a cell with a given count.

use super::column::{Columns, groups, groups_mut};
use super::vocabulary::Window;
use crate::math::{LANES, Lanes};

/// What the arrivals of count c in a column are made of, over the instances that it can have.
pub(super) struct Reach<'a> {
    pub(super) density: &'a [[f64; LANES]],
    /// What the densities multiply: A_{l−c}(j−1), or X_{l−1}(j,c−1) if there is a background.
    before: &'a [[f64; LANES]],
    /// Brings the density to the scale of A_{l−1}.
    inverse_total: f64,
    /// Whether the densities of smaller counts are factors too.
    is_product: bool,
}

impl Reach<'_> {
    /// Returns G_l(j,c), after `product` came to the count before.
    #[inline(always)]
    pub(super) fn arrive(&self, k: usize, product: &mut [f64; LANES]) -> Lanes {
        let next = Lanes(*product) * (Lanes(self.density[k]) * self.inverse_total);
        if self.is_product {
            *product = next.0;
        }
        next * Lanes(self.before[k])
    }
}

/// The columns so far.
pub(super) struct Done<'a> {
    pub(super) columns: &'a Columns,
    pub(super) windows: &'a [Window],
    pub(super) forward: &'a [f64],
    pub(super) densities: &'a [f64],
    pub(super) inverse_totals: &'a [f64],
    pub(super) max_count: usize,
    /// Empty without a background.
    pub(super) open: &'a [f64],
}

impl<'a> Done<'a> {
    /// The arrivals of count c in column l; none if the windows share no instance.
    #[inline(always)]
    pub(super) fn reach(&self, l: usize, c: usize) -> Option<Reach<'a>> {
        let (first, end) = (self.windows[l - 1].first, self.windows[l - c].end);
        let len = end.saturating_sub(first).div_ceil(LANES);
        if len == 0 {
            return None;
        }
        let is_product = self.open.is_empty();
        let earlier = if is_product { c } else { 1 };
        let before = match is_product || c == 1 {
            true => &self.forward[self.columns.at(l - earlier, first)..],
            false => self.open(l - 1, c - 1, first),
        };
        Some(Reach {
            density: &groups(&self.densities[self.columns.at(l - earlier + 1, first)..])[..len],
            before: &groups(before)[..len],
            inverse_total: if c == 1 { 1.0 } else { self.inverse_totals[l - earlier.max(2)] },
            is_product,
        })
    }

    /// X_l(j,c) from an instance on.
    #[inline(always)]
    fn open(&self, l: usize, c: usize, instance: usize) -> &'a [f64] {
        let (place, at) = (self.columns.place(l), self.columns.at(l, instance));
        let own =
            &self.open[self.max_count * place.start..][(c - 1) * place.len()..][..place.len()];
        &own[at - place.start..]
    }

    /// Fills in X_l(j,c) of the counts that column l has; zero elsewhere.
    #[inline(always)]
    pub(super) fn pass_on(&self, l: usize, background: f64, own: &mut [f64]) {
        own.fill(0.0);
        let first = self.windows[l - 1].first;
        // No instance is open before the first stamp.
        let pass = if l > 1 { background * self.inverse_totals[l - 2] } else { 0.0 };
        for (c, own) in (1..=l).zip(own.chunks_exact_mut(self.columns.place(l).len())) {
            let Some(reach) = self.reach(l, c) else { break };
            let before = groups(self.open(l - 1, c, first));
            for (k, own) in groups_mut(own)[..reach.density.len()].iter_mut().enumerate() {
                let arrival = reach.arrive(k, &mut [1.0; LANES]);
                *own = (arrival + Lanes(before[k]) * pass).0;
            }
        }
    }
}
