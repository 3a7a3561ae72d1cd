//! Blocks where c!·p(c | y) = p(0 | y)·λ_yᶜ, as for Poisson counts.
//!
//! The sum over the counts of one instance is then itself a recursion over stamps, one per label.
//! With s_y(j) = p(y | j silent) and the notation of `one_stamp`:
//!
//! ```text
//! H_y(l,j) = p(z_l | t_j) · ( λ_y·s_y(j)·A_{l−1}(j−1) + λ_y·H_y(l−1,j) )    stamp l is j's latest
//! A_l(i)   = Σ_{j ≤ i} Σ_y H_y(l,j)
//! K_y(l,j) = B_l(j+1) + λ_y·p(z_{l+1} | t_j) · K_y(l+1,j)                   what can follow
//! B_{l−1}(i) = Σ_{j ≥ i} p(z_l | t_j) · Σ_y λ_y·s_y(j)·K_y(l,j)
//! p(w(j,l), y) ∝ H_y(l,j)·K_y(l,j)      p(l is j's last, y) ∝ H_y(l,j)·B_l(j+1)
//! ```
//!
//! O(1) work per cell, in groups of [`LANES`] as in `one_stamp`.

use multiversion::multiversion;

use super::buffers::make_room;
use super::column::{Columns, certify, divisor, groups, groups_mut, look_back, scale};
use super::label_column::LabelColumn;
use super::outputs::Outputs;
use super::vocabulary::{Block, Trouble};
use super::weights::InstanceWeights;
use super::windows::Band;
use crate::math::{LANES, Lanes};

/// Buffers that outlive a block.
#[derive(Debug, Default)]
pub(super) struct FirstOrder {
    /// λ_y·s_y per instance of the block, plus zeros for padded windows.
    first: [Vec<f64>; 2],
    columns: Columns,
    /// A_l(j−1) divided by its total, in columns, from l = 0 on.
    forward: Vec<f64>,
    /// H_y on the scale of A_{l−1}, in the same columns.
    latest: [Vec<f64>; 2],
    /// B_l(j+1) divided by its [`divisor`], over the window of l.
    after: Vec<f64>,
    /// The sums B_{l−1}(j) over the window of l, and a zero.
    suffix: Vec<f64>,
    /// p(z_l | t_j)·K_y(l,j) per instance of the block, with l the earliest stamp so far; zero where
    /// there was no window yet.
    onward: [Vec<f64>; 2],
    by_label: LabelColumn,
}

impl FirstOrder {
    /// As `OneStamp::solve`, with p(some stamp, y | z) by label; padded windows may extend past the block's end.
    pub(super) fn solve(
        &mut self,
        band: &Band,
        block: &Block,
        weights: &InstanceWeights<'_>,
        ratios: [f64; 2],
        emitted: &mut [&mut [f64]; 2],
        outputs: &mut Outputs<'_>,
    ) -> Result<f64, Trouble> {
        let room = block.instances.len() + LANES;
        for y in [0, 1] {
            self.first[y].clear();
            self.first[y].resize(room, 0.0);
            weights.odds(block, y, ratios[y] * weights.tables.weight(y, 0), &mut self.first[y]);
            self.onward[y].clear();
            self.onward[y].resize(room, 0.0);
        }
        let log_evidence = forward(self, band, block, ratios)?;
        backward(self, band, block, ratios, emitted, outputs)?;
        Ok(log_evidence)
    }

    /// Lays out the columns and fills in that of A_0 = 1, which has no stamp.
    fn lay_out(&mut self, band: &Band, block: &Block) {
        self.columns.lay_out(&band.windows()[block.stamps.clone()]);
        let begin = self.columns.place(0);
        make_room(&mut self.forward, self.columns.end());
        self.forward[begin.clone()].fill(1.0);
        for latest in &mut self.latest {
            make_room(latest, self.columns.end());
            latest[begin.clone()].fill(0.0);
        }
    }
}

/// Fills in the columns.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2+fma"))]
fn forward(
    buffers: &mut FirstOrder,
    band: &Band,
    block: &Block,
    ratios: [f64; 2],
) -> Result<f64, Trouble> {
    buffers.lay_out(band, block);
    let FirstOrder { first, columns, forward, latest, .. } = buffers;
    let [negative, positive] = latest;
    let (mut log_evidence, mut inverse_total) = (0.0, 1.0);
    for (l, stamp) in (1..).zip(block.stamps.clone()) {
        let window = band.windows()[stamp];
        let density = groups(&band.densities()[band.padded_cells_of(stamp)]);
        let len = density.len();
        let from = window.first - block.instances.start;
        let first = first.each_ref().map(|first| &groups(&first[from..])[..len]);
        let (place, at) = (columns.place(l), columns.at(l - 1, window.first));
        let (before, column) = forward[..place.end].split_at_mut(place.start);
        let before = &groups(&before[at..])[..len];
        column[0] = 0.0;
        let (sums, beyond) = column[1..].split_at_mut(len * LANES);
        let [(latest0, previous0), (latest1, previous1)] =
            [&mut *negative, &mut *positive].map(|latest| {
                let (previous, own) = latest[..place.end].split_at_mut(place.start);
                let (own, beyond) = own.split_at_mut(len * LANES);
                beyond.fill(0.0);
                (groups_mut(own), &groups(&previous[at..])[..len])
            });
        let again = ratios.map(|ratio| ratio * inverse_total);
        let mut total = 0.0;
        for (k, sums) in groups_mut(sums).iter_mut().enumerate() {
            let (density, before) = (Lanes(density[k]), Lanes(before[k]));
            let both = [
                density * (Lanes(first[0][k]) * before + Lanes(previous0[k]) * again[0]),
                density * (Lanes(first[1][k]) * before + Lanes(previous1[k]) * again[1]),
            ];
            (latest0[k], latest1[k]) = (both[0].0, both[1].0);
            *sums = (both[0] + both[1]).running_sums(&mut total).0;
        }
        if !total.is_normal() {
            return Err(Trouble::Underflow);
        }
        inverse_total = 1.0 / total;
        scale(sums, inverse_total);
        beyond.fill(1.0);
        log_evidence += total.ln() + band.log_scale(stamp);
    }
    Ok(log_evidence)
}

/// Fills in responsibilities and the posterior of counts and labels.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2+fma"))]
fn backward(
    buffers: &mut FirstOrder,
    band: &Band,
    block: &Block,
    ratios: [f64; 2],
    emitted: &mut [&mut [f64]; 2],
    outputs: &mut Outputs<'_>,
) -> Result<(), Trouble> {
    buffers.after.clear();
    buffers.after.resize(band.padded_cells_of(block.stamps.end - 1).len(), 1.0);
    let mut inverse_total = 1.0;
    for l in (1..=block.stamps.len()).rev() {
        let stamp = block.stamps.start + l - 1;
        let window = band.windows()[stamp];
        let shares = &mut outputs.responsibilities[band.padded_cells_of(stamp)];
        let again = ratios.map(|ratio| ratio * inverse_total);
        let sums = join_directions(buffers, band, block, l, again, shares);
        let evidence = sums.stamps[0] + sums.stamps[1];
        certify(evidence, sums.largest)?;
        let inverse = 1.0 / evidence;
        let from = window.first - block.instances.start;
        let emitted = emitted.each_mut().map(|emitted| &mut emitted[from..]);
        buffers.by_label.share(inverse, band.padded_cells_of(stamp), emitted, outputs);
        for y in [0, 1] {
            // The two-entry table with the same total and the same mean count.
            outputs.expected.0[y][0] += (sums.lasts[y] - sums.stamps[y]) * inverse;
            outputs.expected.0[y][1] += sums.stamps[y] * inverse;
        }
        let divisor = divisor(sums.total, sums.largest);
        inverse_total = 1.0 / divisor;
        if l > 1 {
            let FirstOrder { suffix, after, .. } = buffers;
            look_back(band.windows()[stamp - 1], window, sums.total, divisor, suffix, after);
        }
    }
    Ok(())
}

/// The sums over one column.
struct Sums {
    /// Σ_j p(w(j,l), y) and Σ_j p(l is j's last, y), times the column's evidence.
    stamps: [f64; 2],
    lasts: [f64; 2],
    /// B_{l−1} before all instances, on the scale of B_l.
    total: f64,
    /// The largest number that enters the evidence.
    largest: f64,
}

/// Multiplies the weights of arriving at and of continuing from the cells of column l. `again` is λ_y on
/// the scale of B_l.
#[inline(always)]
fn join_directions(
    buffers: &mut FirstOrder,
    band: &Band,
    block: &Block,
    l: usize,
    again: [f64; 2],
    shares: &mut [f64],
) -> Sums {
    let FirstOrder { first, columns, latest, after, suffix, .. } = buffers;
    let FirstOrder { onward: [onward0, onward1], by_label, .. } = buffers;
    let stamp = block.stamps.start + l - 1;
    let from = band.windows()[stamp].first - block.instances.start;
    let density = groups(&band.densities()[band.padded_cells_of(stamp)]);
    let len = density.len();
    let first = first.each_ref().map(|first| &groups(&first[from..])[..len]);
    let place = columns.place(l);
    let latest = latest.each_ref().map(|latest| &groups(&latest[place.clone()])[..len]);
    let ahead = &groups(after)[..len];
    let onward0 = &mut groups_mut(&mut onward0[from..])[..len];
    let onward1 = &mut groups_mut(&mut onward1[from..])[..len];
    by_label.clear(len * LANES);
    let LabelColumn { positive: ones, last: [last0, last1] } = by_label;
    let [ones, last0, last1] = [ones, last0, last1].map(|column| &mut groups_mut(column)[..len]);
    let shares = &mut groups_mut(shares)[..len];
    suffix.resize(len * LANES + 1, 0.0);
    suffix[len * LANES] = 0.0;
    let sums = &mut groups_mut(suffix)[..len];
    let mut total = 0.0;
    let [mut stamps, mut lasts] = [[Lanes::all(0.0); 2]; 2];
    let mut largest = Lanes::all(0.0);
    for k in (0..len).rev() {
        let (density, after) = (Lanes(density[k]), Lanes(ahead[k]));
        let latest = [Lanes(latest[0][k]), Lanes(latest[1][k])];
        let follow = [after + Lanes(onward0[k]) * again[0], after + Lanes(onward1[k]) * again[1]];
        (onward0[k], onward1[k]) = ((density * follow[0]).0, (density * follow[1]).0);
        largest = largest.max(latest[0]).max(latest[1]).max(follow[0]).max(follow[1]);
        let ends = [latest[0] * after, latest[1] * after];
        (last0[k], last1[k]) = (ends[0].0, ends[1].0);
        lasts = [lasts[0] + ends[0], lasts[1] + ends[1]];
        let paths = [latest[0] * follow[0], latest[1] * follow[1]];
        stamps = [stamps[0] + paths[0], stamps[1] + paths[1]];
        ones[k] = paths[1].0;
        shares[k] = (paths[0] + paths[1]).0;
        let onwards = Lanes(first[0][k]) * follow[0] + Lanes(first[1][k]) * follow[1];
        sums[k] = (density * onwards).running_sums_back(&mut total).0;
    }
    let largest = largest.0.into_iter().fold(0.0, f64::max);
    Sums { stamps: stamps.map(Lanes::sum), lasts: lasts.map(Lanes::sum), total, largest }
}
