//! Blocks where an instance gives one stamp at most.
//!
//! With the silent weights Π u_i(0) factored out, r_i = u_i(1)/u_i(0) and g_l(j) = r_j·p(z_l | t_j), the
//! recursion over states becomes a running sum per stamp. With ρ_l the background of stamp l:
//!
//! ```text
//! A_l(i) = ρ_l · A_{l−1}(i) + Σ_{j ≤ i} g_l(j) · A_{l−1}(j−1)              A_0 = 1
//! B_l(i) = ρ_{l+1} · B_{l+1}(i) + Σ_{j ≥ i} g_{l+1}(j) · B_{l+1}(j+1)      B_M = 1
//! p(w(j,l)) = A_{l−1}(j−1) · g_l(j) · B_l(j+1) ÷ Z
//! ```
//!
//! The last of some stamps comes from nowhere, or from j and the others from before j: nothing is counted
//! twice. The products of a column sum to Z if ρ_l = 0. Otherwise Z on the scale of a column, E_l, follows
//! from the totals a_l and b_l by which the columns of A and B are divided: E_l = a_l·Π_{k>l} a_k/b_k.
//!
//! O(1) work per cell; each column is divided by its total. Cells are processed in groups of [`LANES`],
//! vectorised if the machine can. A running sum over a group is a tree of additions, so only one addition
//! per group depends on the group before.

use std::ops::Range;

use multiversion::multiversion;

use super::buffers::make_room;
use super::column::{
    Columns, certify, complete, complete_back, groups, groups_mut, look_back, scale,
};
use super::outputs::Shares;
use super::vocabulary::{Block, Stamped, Trouble};
use super::windows::{Band, check_edges};
use crate::math::{LANES, Lanes};

/// r_j of the instances of a span.
#[derive(Debug, Clone, Copy)]
pub(super) struct Odds<'a> {
    /// First instance of the span.
    pub(super) start: usize,
    /// One per instance, plus zeros for padded windows.
    pub(super) values: &'a [f64],
    pub(super) largest: f64,
}

/// Buffers that outlive a block.
#[derive(Debug, Default)]
pub(super) struct OneStamp {
    /// A_l(j−1) divided by its total, one column per stamp. A column begins at the first instance of its
    /// window, with zero unless there is a background, and extends past its end as far as the next stamp
    /// reads.
    forward: Vec<f64>,
    columns: Columns,
    /// a_l: the totals of the columns, each on the scale of the one before.
    totals: Vec<f64>,
    /// Π_{k>l} a_k/b_k, with l the earliest stamp so far.
    in_order: f64,
    /// B_l(j+1) divided by its total, over the window of l.
    after: Vec<f64>,
    /// The sums B_{l−1}(j) over the window of l, and a zero.
    suffix: Vec<f64>,
    /// For a long block, the last column of each panel except the last panel.
    checkpoints: Vec<Vec<f64>>,
}

impl OneStamp {
    /// Fills the block's responsibilities, adds p(some stamp | z) to `emitted`, one per instance of
    /// the block, and returns the log evidence relative to Π u_i(0).
    pub(super) fn solve(
        &mut self,
        band: &Band,
        block: &Block,
        odds: &Odds<'_>,
        responsibilities: &mut [f64],
        emitted: &mut [f64],
    ) -> Result<f64, Trouble> {
        let stamps = block.stamps.clone();
        let log_evidence = if stamps.len() == 1 {
            alone(odds, band, block, responsibilities)?
        } else {
            let log_evidence = forward(self, odds, band, block, stamps.clone())?;
            backward(self, odds, band, block, stamps.clone(), responsibilities)?;
            log_evidence
        };
        gather(band, block, stamps, responsibilities, emitted);
        Ok(log_evidence)
    }

    /// The same for a block that is loaded panel by panel: only the last column of a panel is kept, and
    /// the others are recomputed on the way back.
    #[expect(
        clippy::too_many_arguments,
        reason = "what `solve` takes, and what loads and takes over a panel"
    )]
    pub(super) fn solve_long(
        &mut self,
        band: &mut Band,
        stamped: &Stamped<'_>,
        block: &Block,
        odds: &Odds<'_>,
        responsibilities: &mut Vec<f64>,
        emitted: &mut [f64],
        visit: &mut dyn FnMut(Shares<'_>),
    ) -> Result<f64, Trouble> {
        let mut log_evidence = 0.0;
        let mut panels = Vec::new();
        let mut stamp = block.stamps.start;
        while stamp < block.stamps.end {
            let panel = band.panel(stamp..block.stamps.end);
            stamp = panel.end;
            band.load(panel.clone(), stamped)?;
            log_evidence += forward(self, odds, band, block, panel.clone())?;
            if panel.end < block.stamps.end {
                self.keep_last_column(panels.len());
                self.begin_with_column(panels.len() + 1);
            }
            panels.push(panel);
        }
        for (k, panel) in panels.iter().cloned().enumerate().rev() {
            if panel.end < block.stamps.end {
                self.begin_with_column(k);
                band.load(panel.clone(), stamped)?;
                forward(self, odds, band, block, panel.clone())?;
            }
            make_room(responsibilities, band.cells());
            let responsibilities = &mut responsibilities[..band.cells()];
            backward(self, odds, band, block, panel.clone(), responsibilities)?;
            gather(band, block, panel.clone(), responsibilities, emitted);
            check_edges(band, panel, responsibilities)?;
            visit(Shares { band, delays: band.delays(), responsibilities, positive: &[] });
        }
        Ok(log_evidence)
    }

    /// Keeps the last column of panel k, the start of the next panel.
    fn keep_last_column(&mut self, k: usize) {
        if self.checkpoints.len() == k {
            self.checkpoints.push(Vec::new());
        }
        self.checkpoints[k].clear();
        self.checkpoints[k].extend_from_slice(&self.forward[self.columns.last()]);
    }

    /// Restores the column before panel k to its place in `forward`.
    fn begin_with_column(&mut self, k: usize) {
        if let Some(column) = k.checked_sub(1).map(|before| &self.checkpoints[before]) {
            make_room(&mut self.forward, column.len());
            self.forward[..column.len()].copy_from_slice(column);
        }
    }
}

/// A stamp whose window overlaps no other: one column, no neighbours.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2+fma"))]
fn alone(
    odds: &Odds<'_>,
    band: &Band,
    block: &Block,
    responsibilities: &mut [f64],
) -> Result<f64, Trouble> {
    let stamp = block.stamps.start;
    let cells = band.padded_cells_of(stamp);
    let (density, shares) =
        (groups(&band.densities()[cells.clone()]), &mut responsibilities[cells]);
    let own = groups(&odds.values[block.instances.start - odds.start..]);
    let mut totals = Lanes::all(0.0);
    for (share, (density, odds)) in groups_mut(shares).iter_mut().zip(density.iter().zip(own)) {
        let shares = Lanes(*density) * Lanes(*odds);
        *share = shares.0;
        totals += shares;
    }
    let total = totals.sum() + band.background(stamp);
    certify(total, odds.largest)?;
    scale(shares, 1.0 / total);
    Ok(total.ln() + band.log_scale(stamp))
}

/// Fills in the columns of a panel. Unless the panel is the block's first, the column before it must be
/// in place.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2+fma"))]
fn forward(
    buffers: &mut OneStamp,
    odds: &Odds<'_>,
    band: &Band,
    block: &Block,
    panel: Range<usize>,
) -> Result<f64, Trouble> {
    let OneStamp { forward, columns, totals, .. } = buffers;
    let from = first_column(block, &panel);
    totals.clear();
    columns.clear();
    columns.add(&band.windows()[from..block.stamps.end], panel.end - from);
    make_room(forward, columns.end());
    let mut log_evidence = 0.0;
    for stamp in panel {
        let window = band.windows()[stamp];
        let density = groups(&band.densities()[band.padded_cells_of(stamp)]);
        let own = groups(&odds.values[window.first - odds.start..]);
        let place = columns.place(stamp - from);
        let (before, column) = forward[..place.end].split_at_mut(place.start);
        let (sums, beyond) = column.split_at_mut(1 + density.len() * LANES);
        let cells = groups_mut(&mut sums[1..]).iter_mut().zip(density.iter().zip(own));
        let before = (stamp > block.stamps.start)
            .then(|| &before[columns.at(stamp - 1 - from, window.first)..]);
        let mut total = 0.0;
        if let Some(before) = before {
            for ((sums, (density, odds)), before) in cells.zip(groups(before)) {
                let arrivals = Lanes(*density) * Lanes(*odds) * Lanes(*before);
                *sums = arrivals.running_sums(&mut total).0;
            }
        } else {
            for (sums, (density, odds)) in cells {
                *sums = (Lanes(*density) * Lanes(*odds)).running_sums(&mut total).0;
            }
        }
        // A_{l−1} is 1 past its window.
        let background = band.background(stamp);
        total += background;
        if !total.is_normal() {
            return Err(Trouble::Underflow);
        }
        complete(sums, before, background, total);
        beyond.fill(1.0);
        totals.push(total);
        log_evidence += total.ln() + band.log_scale(stamp);
    }
    Ok(log_evidence)
}

/// The stamp of the first column that a panel needs.
#[inline(always)]
fn first_column(block: &Block, panel: &Range<usize>) -> usize {
    panel.start.saturating_sub(1).max(block.stamps.start)
}

/// Fills in the responsibilities of a panel, after those of the next panel.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2+fma"))]
fn backward(
    buffers: &mut OneStamp,
    odds: &Odds<'_>,
    band: &Band,
    block: &Block,
    panel: Range<usize>,
    responsibilities: &mut [f64],
) -> Result<(), Trouble> {
    let OneStamp { forward, columns, totals, in_order, after, suffix, .. } = buffers;
    let from = first_column(block, &panel);
    if panel.end == block.stamps.end {
        after.clear();
        after.resize(band.padded_cells_of(panel.end - 1).len(), 1.0);
        *in_order = 1.0;
    }
    for (stamp, arrived) in panel.zip(&*totals).rev() {
        let window = band.windows()[stamp];
        let cells = band.padded_cells_of(stamp);
        let density = groups(&band.densities()[cells.clone()]);
        let shares = &mut responsibilities[cells.clone()];
        let own = groups(&odds.values[window.first - odds.start..]);
        suffix.resize(cells.len() + 1, 0.0);
        suffix[cells.len()] = 0.0;
        let sums = groups_mut(&mut suffix[..cells.len()]);
        let inputs = density.iter().zip(&own[..density.len()]).zip(groups(after));
        let outputs = sums.iter_mut().zip(groups_mut(shares));
        let (mut total, mut evidences) = (0.0, Lanes::all(0.0));
        if stamp == block.stamps.start {
            for (((density, odds), after), (sums, share)) in inputs.zip(outputs).rev() {
                let onwards = Lanes(*density) * Lanes(*odds) * Lanes(*after);
                *share = onwards.0;
                evidences += onwards;
                *sums = onwards.running_sums_back(&mut total).0;
            }
        } else {
            let before = groups(&forward[columns.at(stamp - 1 - from, window.first)..]);
            let inputs = inputs.zip(&before[..density.len()]);
            for ((((density, odds), after), before), (sums, share)) in inputs.zip(outputs).rev() {
                let onwards = Lanes(*density) * Lanes(*odds) * Lanes(*after);
                let paths = onwards * Lanes(*before);
                *share = paths.0;
                evidences += paths;
                *sums = onwards.running_sums_back(&mut total).0;
            }
        }
        let background = band.background(stamp);
        let evidence = if background > 0.0 { arrived * *in_order } else { evidences.sum() };
        certify(evidence, odds.largest)?;
        scale(shares, 1.0 / evidence);
        if stamp > block.stamps.start {
            // B_l is 1 before its window.
            total += background;
            *in_order = evidence / total;
            complete_back(suffix, after, background);
            look_back(band.windows()[stamp - 1], window, total, total, suffix, after);
        }
    }
    Ok(())
}

/// Adds up the responsibilities of each instance of a block.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2+fma"))]
fn gather(
    band: &Band,
    block: &Block,
    stamps: Range<usize>,
    responsibilities: &[f64],
    sums: &mut [f64],
) {
    for stamp in stamps {
        let shares = &responsibilities[band.cells_of(stamp)];
        let sums = &mut sums[band.windows()[stamp].first - block.instances.start..];
        sums.iter_mut().zip(shares).for_each(|(sum, share)| *sum += share);
    }
}
