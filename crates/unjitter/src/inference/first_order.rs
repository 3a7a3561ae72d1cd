//! Blocks where c!·p(c | y) = p(0 | y)·λ_yᶜ, as for Poisson counts.
//!
//! The sum over the counts of one instance is then itself a recursion over stamps, one per label.
//! With s_y(j) = p(y | j silent) and the notation of `one_stamp`:
//!
//! ```text
//! H_y(l,j) = p(z_l | t_j) · ( λ_y·s_y(j)·A_{l−1}(j−1) + λ_y·X_y(l−1,j) )    stamp l is j's latest
//! X_y(l,j) = H_y(l,j) + ρ_l·X_y(l−1,j)                                      j is the latest owner
//! A_l(i)   = ρ_l·A_{l−1}(i) + Σ_{j ≤ i} Σ_y H_y(l,j)
//! K_y(l,j) = B_l(j+1) + λ_y·N_y(l+1,j)                                      what can follow
//! N_y(l,j) = p(z_l | t_j) · K_y(l,j) + ρ_l·N_y(l+1,j)                       l or a later one is j's next
//! B_{l−1}(i) = ρ_l·B_l(i) + Σ_{j ≥ i} p(z_l | t_j) · Σ_y λ_y·s_y(j)·K_y(l,j)
//! p(w(j,l), y) = H_y(l,j)·K_y(l,j) ÷ Z      p(l is j's last, y) = H_y(l,j)·B_l(j+1) ÷ Z
//! ```
//!
//! X passes stamps from nowhere between two stamps of j, N likewise. Both open j only: after its last stamp
//! ρ_l·A_{l−1} and ρ_l·B_l take over, so that nothing is counted twice.
//!
//! O(1) work per cell, in groups of [`LANES`] as in `one_stamp`.

use std::ops::Range;

use multiversion::multiversion;

use super::buffers::make_room;
use super::column::{
    Columns, certify, complete, complete_back, divisor, groups, groups_mut, look_back,
};
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
    /// If there is a background: X_y on the same scale, per instance of the block, with l the latest stamp
    /// so far; zero where there was no window yet. On the way back, ρ_l·N_y(l+1,j).
    open: [Vec<f64>; 2],
    has_background: bool,
    /// The totals of A_l on the scale of A_{l−1}.
    totals: Vec<f64>,
    /// B_l(j+1) divided by its [`divisor`], over the window of l.
    after: Vec<f64>,
    /// The sums B_{l−1}(j) over the window of l, and a zero.
    suffix: Vec<f64>,
    /// N_y(l,j) per instance of the block, with l the earliest stamp so far; zero where there was no
    /// window yet.
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
        self.has_background = block.stamps.clone().any(|stamp| band.background(stamp) > 0.0);
        for y in [0, 1] {
            self.first[y].clear();
            self.first[y].resize(room, 0.0);
            weights.odds(block, y, ratios[y] * weights.tables.weight(y, 0), &mut self.first[y]);
            self.onward[y].clear();
            self.onward[y].resize(room, 0.0);
            if self.has_background {
                self.open[y].clear();
                self.open[y].resize(room, 0.0);
            }
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

    /// Keeps ρ_l·N_y(l+1,j) of these instances while column l overwrites N_y.
    #[inline(always)]
    fn put_by(&mut self, instances: Range<usize>, pass: f64) {
        for (open, onward) in self.open.iter_mut().zip(&self.onward) {
            let cells = open[instances.clone()].iter_mut().zip(&onward[instances.clone()]);
            cells.for_each(|(open, onward)| *open = onward * pass);
        }
    }

    /// Adds what was put by.
    #[inline(always)]
    fn take_up(&mut self, instances: Range<usize>) {
        for (open, onward) in self.open.iter().zip(&mut self.onward) {
            let cells = onward[instances.clone()].iter_mut().zip(&open[instances.clone()]);
            cells.for_each(|(onward, open)| *onward += open);
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
    let FirstOrder { first, columns, forward, latest, open, has_background, totals, .. } = buffers;
    let [negative, positive] = latest;
    totals.clear();
    let (mut log_evidence, mut inverse_total) = (0.0, 1.0);
    for (l, stamp) in (1..).zip(block.stamps.clone()) {
        let window = band.windows()[stamp];
        let density = groups(&band.densities()[band.padded_cells_of(stamp)]);
        let len = density.len();
        let from = window.first - block.instances.start;
        let first = first.each_ref().map(|first| &groups(&first[from..])[..len]);
        let (place, at) = (columns.place(l), columns.at(l - 1, window.first));
        let (before, column) = forward[..place.end].split_at_mut(place.start);
        let before = &before[at..];
        let arrived = &groups(before)[..len];
        let (sums, beyond) = column.split_at_mut(1 + len * LANES);
        let latest = [(&mut *negative, &open[0]), (&mut *positive, &open[1])];
        let [(latest0, previous0), (latest1, previous1)] = latest.map(|(latest, open)| {
            let (previous, own) = latest[..place.end].split_at_mut(place.start);
            let (own, beyond) = own.split_at_mut(len * LANES);
            beyond.fill(0.0);
            let previous = if *has_background { &open[from..] } else { &previous[at..] };
            (groups_mut(own), &groups(previous)[..len])
        });
        let again = ratios.map(|ratio| ratio * inverse_total);
        let mut total = 0.0;
        for (k, sums) in groups_mut(&mut sums[1..]).iter_mut().enumerate() {
            let (density, before) = (Lanes(density[k]), Lanes(arrived[k]));
            let both = [
                density * (Lanes(first[0][k]) * before + Lanes(previous0[k]) * again[0]),
                density * (Lanes(first[1][k]) * before + Lanes(previous1[k]) * again[1]),
            ];
            (latest0[k], latest1[k]) = (both[0].0, both[1].0);
            *sums = (both[0] + both[1]).running_sums(&mut total).0;
        }
        let background = band.background(stamp);
        if *has_background {
            for (open, latest) in open.iter_mut().zip([latest0, latest1]) {
                let open = groups_mut(&mut open[from..]).iter_mut().zip(&latest[..len]);
                let pass = background * inverse_total;
                open.for_each(|(open, own)| *open = (Lanes(*own) + Lanes(*open) * pass).0);
            }
        }
        // A_{l−1} is 1 past its window.
        total += background;
        if !total.is_normal() {
            return Err(Trouble::Underflow);
        }
        inverse_total = 1.0 / total;
        complete(sums, Some(before), background, total);
        beyond.fill(1.0);
        totals.push(total);
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
    // B_l before its window, and the evidence on the scale of A_l and B_l.
    let (mut inverse_total, mut whole, mut in_order) = (1.0, 1.0, 1.0);
    for l in (1..=block.stamps.len()).rev() {
        let stamp = block.stamps.start + l - 1;
        let window = band.windows()[stamp];
        let background = band.background(stamp);
        let shares = &mut outputs.responsibilities[band.padded_cells_of(stamp)];
        let from = window.first - block.instances.start;
        let passed = from..from + shares.len();
        if background > 0.0 {
            buffers.put_by(passed.clone(), background * inverse_total);
        }
        let again = ratios.map(|ratio| ratio * inverse_total);
        let mut sums = join_directions(buffers, band, block, l, again, shares);
        if background > 0.0 {
            buffers.take_up(passed);
        }
        let arrived = buffers.totals[l - 1];
        let evidence = match background > 0.0 {
            true => arrived * in_order,
            false => sums.stamps[0] + sums.stamps[1],
        };
        // The total bounds X.
        certify(evidence, if background > 0.0 { sums.largest.max(arrived) } else { sums.largest })?;
        let inverse = 1.0 / evidence;
        let emitted = emitted.each_mut().map(|emitted| &mut emitted[from..]);
        buffers.by_label.share(inverse, band.padded_cells_of(stamp), emitted, outputs);
        for y in [0, 1] {
            // The two-entry table with the same total and the same mean count.
            outputs.expected.0[y][0] += (sums.lasts[y] - sums.stamps[y]) * inverse;
            outputs.expected.0[y][1] += sums.stamps[y] * inverse;
        }
        sums.total += background * whole;
        let divisor = divisor(sums.total, sums.largest);
        (inverse_total, whole, in_order) =
            (1.0 / divisor, sums.total / divisor, evidence / divisor);
        if l > 1 {
            let FirstOrder { suffix, after, .. } = buffers;
            complete_back(suffix, after, background);
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
    /// B_{l−1} before all instances, on the scale of B_l, if stamp l has an owner.
    total: f64,
    /// The largest number that enters the evidence.
    largest: f64,
}

/// Multiplies the weights of arriving at and of continuing from the cells of column l. `again` is λ_y on
/// the scale of B_l. Of N_y(l,j) it leaves the part in which l is the next stamp of j.
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
