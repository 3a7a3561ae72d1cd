//! Blocks with any count table.
//!
//! With v_j(c,y) = p(y | j)·c!·p(c | y)/u_j(0) and the notation of `one_stamp`:
//!
//! ```text
//! G_l(j,c)   = p(z_l | t_j) · X_{l−1}(j,c−1)                              l is the c-th stamp of j
//! X_l(j,c)   = G_l(j,c) + ρ_l·X_{l−1}(j,c)      X_l(j,0) = A_l(j−1)       j is open after c stamps
//! A_l(i)     = ρ_l·A_{l−1}(i) + Σ_{j ≤ i} Σ_c Σ_y v_j(c,y) · G_l(j,c)
//! K_l(j,c,y) = v_j(c,y)·B_l(j+1) + N_{l+1}(j,c+1,y)                       what can follow
//! N_l(j,c,y) = p(z_l | t_j)·K_l(j,c,y) + ρ_l·N_{l+1}(j,c,y)               j gets its c-th stamp
//! B_{l−1}(i) = ρ_l·B_l(i) + Σ_{j ≥ i} p(z_l | t_j) · Σ_y K_l(j,1,y)
//! p(w(j,l), y) = Σ_c G_l(j,c)·K_l(j,c,y) ÷ Z
//! p(l is the last of c stamps of j, y) = G_l(j,c)·v_j(c,y)·B_l(j+1) ÷ Z
//! ```
//!
//! X and N pass stamps from nowhere between those of j, as in `first_order`. Without a background G_l(j,c) =
//! A_{l−c}(j−1)·Π_{k=l−c+1..l} p(z_k | t_j), and X need not be kept.
//!
//! O(C) work per cell, where C is at most the number of windows that contain the instance, and O(1)
//! memory, O(C) with a background. A column is computed count by count, each over the instances that the
//! window of stamp l − c + 1 contains too, in groups of [`LANES`] as in `one_stamp`.

use multiversion::multiversion;

use super::arrivals::Done;
use super::buffers::{make_room, refill};
use super::column::{
    Columns, certify, complete, complete_back, divisor, groups, groups_mut, look_back, scale,
};
use super::label_column::LabelColumn;
use super::outputs::Outputs;
use super::vocabulary::{Block, Trouble, deepest};
use super::weights::InstanceWeights;
use super::windows::Band;
use crate::math::{LANES, Lanes};

/// Buffers that outlive a block.
#[derive(Debug, Default)]
pub(super) struct AnyCounts {
    /// Largest count of the block.
    max_count: usize,
    /// Instances of the block, plus zeros for padded windows.
    room: usize,
    /// v_j(c,y)·κ⁻ᶜ, `room` of them for each count.
    odds: [Vec<f64>; 2],
    /// log κ. Densities are multiplied by κ and the weights of c stamps divided by κᶜ. This changes no
    /// product but keeps the weights of hundreds of stamps in range.
    log_ratio: f64,
    columns: Columns,
    /// A_l(j−1) divided by its total, in columns, from l = 0 on.
    forward: Vec<f64>,
    /// κ·p(z_l | t_j) and zeros, in the same columns.
    densities: Vec<f64>,
    /// If there is a background: X_l(j,c) on the scale of A_{l−1}, for each l a column for each count.
    open: Vec<f64>,
    has_background: bool,
    /// One over the totals of A_l on the scale of A_{l−1}.
    inverse_totals: Vec<f64>,
    /// Π κ·p(z_k | t_j) of one column, over the counts so far, on the scale of A_{l−1}.
    product: Vec<f64>,
    /// B_l(j+1) divided by its [`divisor`], over the window of l.
    after: Vec<f64>,
    /// The sums B_{l−1}(j) over the window of l, and a zero.
    suffix: Vec<f64>,
    /// N_l(j,c,y) times κ on the scale of B_l, laid out as `odds`, with l the earliest stamp so
    /// far (for c = 1 without the background); zero where there was no window yet and beyond the largest count.
    onward: [Vec<f64>; 2],
    by_label: LabelColumn,
    /// Σ_j p(l is the last of c stamps of j, y) of one column, times its evidence, by count.
    counts: Vec<[f64; 2]>,
}

impl AnyCounts {
    /// As `FirstOrder::solve`.
    pub(super) fn solve(
        &mut self,
        band: &Band,
        block: &Block,
        weights: &InstanceWeights<'_>,
        emitted: &mut [&mut [f64]; 2],
        outputs: &mut Outputs<'_>,
    ) -> Result<f64, Trouble> {
        self.weigh(band, block, weights);
        self.lay_out(band, block);
        let log_evidence = forward(self, band, block)?;
        backward(self, band, block, emitted, outputs)?;
        Ok(log_evidence)
    }

    fn weigh(&mut self, band: &Band, block: &Block, weights: &InstanceWeights<'_>) {
        self.max_count =
            deepest(&band.windows()[block.stamps.clone()]).min(weights.tables.max_count());
        self.room = block.instances.len() + LANES;
        self.has_background = block.stamps.clone().any(|stamp| band.background(stamp) > 0.0);
        self.log_ratio = weights.tables.log_growth(self.max_count);
        for y in [0, 1] {
            refill(&mut self.odds[y], self.max_count * self.room, 0.0);
            for (c, odds) in (1..).zip(self.odds[y].chunks_exact_mut(self.room)) {
                weights.odds(block, y, weights.tables.weight_beside(y, c, self.log_ratio), odds);
            }
            refill(&mut self.onward[y], (self.max_count + 1) * self.room, 0.0);
        }
    }

    /// Lays out the columns and fills in the densities and the column of A_0 = 1, which has no stamp.
    fn lay_out(&mut self, band: &Band, block: &Block) {
        self.columns.lay_out(&band.windows()[block.stamps.clone()]);
        make_room(&mut self.forward, self.columns.end());
        make_room(&mut self.densities, self.columns.end());
        self.forward[self.columns.place(0)].fill(1.0);
        if self.has_background {
            make_room(&mut self.open, self.max_count * self.columns.end());
            self.open[..self.max_count * self.columns.place(0).end].fill(0.0);
        }
        for (l, stamp) in (1..).zip(block.stamps.clone()) {
            let column = &mut self.densities[self.columns.place(l)];
            let (own, beyond) = column.split_at_mut(band.windows()[stamp].len());
            own.copy_from_slice(band.density(stamp));
            beyond[..LANES].fill(0.0);
            if self.log_ratio != 0.0 {
                scale(own, self.log_ratio.exp());
            }
        }
    }
}

/// Fills in the columns.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2+fma"))]
fn forward(buffers: &mut AnyCounts, band: &Band, block: &Block) -> Result<f64, Trouble> {
    let AnyCounts { max_count, room, odds, columns, forward, densities, open, .. } = buffers;
    let AnyCounts { has_background, inverse_totals, product, .. } = buffers;
    let windows = &band.windows()[block.stamps.clone()];
    inverse_totals.clear();
    let mut log_evidence = 0.0;
    for (l, stamp) in (1..).zip(block.stamps.clone()) {
        let window = windows[l - 1];
        let from = window.first - block.instances.start;
        let place = columns.place(l);
        let (forward, column) = forward[..place.end].split_at_mut(place.start);
        let kept = if *has_background { *max_count } else { 0 };
        let (open, own) = open[..kept * place.end].split_at_mut(kept * place.start);
        let max_count = *max_count;
        let done = Done { columns, windows, forward, densities, inverse_totals, max_count, open };
        let (sums, beyond) = column.split_at_mut(1 + window.len().next_multiple_of(LANES));
        sums.fill(0.0);
        product.clear();
        product.resize(sums.len(), 1.0);
        for c in 1..=l.min(max_count) {
            let Some(reach) = done.reach(l, c) else { break };
            let at = (c - 1) * *room + from;
            let odds = odds.each_ref().map(|odds| &groups(&odds[at..])[..reach.density.len()]);
            let cells = groups_mut(&mut sums[1..]).iter_mut().zip(groups_mut(product));
            for (k, (sum, product)) in cells.take(reach.density.len()).enumerate() {
                let mixed = Lanes(odds[0][k]) + Lanes(odds[1][k]);
                *sum = (Lanes(*sum) + mixed * reach.arrive(k, product)).0;
            }
        }
        let background = band.background(stamp);
        done.pass_on(l, background, own);
        let mut total = 0.0;
        let groups = groups_mut(&mut sums[1..]).iter_mut();
        groups.for_each(|sum| *sum = Lanes(*sum).running_sums(&mut total).0);
        // A_{l−1} is 1 past its window.
        total += background;
        if !total.is_normal() {
            return Err(Trouble::Underflow);
        }
        complete(sums, Some(&forward[columns.at(l - 1, window.first)..]), background, total);
        beyond.fill(1.0);
        inverse_totals.push(1.0 / total);
        log_evidence += total.ln() + band.log_scale(stamp);
    }
    Ok(log_evidence)
}

/// Fills in responsibilities and the posterior of counts and labels.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2+fma"))]
fn backward(
    buffers: &mut AnyCounts,
    band: &Band,
    block: &Block,
    emitted: &mut [&mut [f64]; 2],
    outputs: &mut Outputs<'_>,
) -> Result<(), Trouble> {
    buffers.after.clear();
    buffers.after.resize(band.padded_cells_of(block.stamps.end - 1).len(), 1.0);
    // B_l before its window, and the evidence on the scale of A_l and B_l.
    let (mut inverse_total, mut whole, mut in_order) = (1.0, 1.0, 1.0);
    for l in (1..=block.stamps.len()).rev() {
        let stamp = block.stamps.start + l - 1;
        let background = band.background(stamp);
        let shares = &mut outputs.responsibilities[band.padded_cells_of(stamp)];
        let (owned, largest) = join_directions(buffers, band, block, l, inverse_total, shares);
        let arrived = 1.0 / buffers.inverse_totals[l - 1];
        let evidence = if background > 0.0 { arrived * in_order } else { owned };
        certify(evidence, largest)?;
        let inverse = 1.0 / evidence;
        let from = band.windows()[stamp].first - block.instances.start;
        let emitted = emitted.each_mut().map(|emitted| &mut emitted[from..]);
        buffers.by_label.share(inverse, band.padded_cells_of(stamp), emitted, outputs);
        for y in [0, 1] {
            for (expected, count) in outputs.expected.0[y][1..].iter_mut().zip(&buffers.counts) {
                *expected += count[y] * inverse;
            }
        }
        if outputs.record.is_some() {
            record(buffers, band, block, l, inverse, outputs);
        }
        let total = sum_column(buffers, band, block, l) + background * whole;
        let divisor = divisor(total, largest);
        if !divisor.is_normal() {
            return Err(Trouble::Underflow);
        }
        (inverse_total, whole, in_order) = (1.0 / divisor, total / divisor, evidence / divisor);
        if l > 1 {
            let AnyCounts { suffix, after, .. } = buffers;
            complete_back(suffix, after, background);
            let (reader, window) = (band.windows()[stamp - 1], band.windows()[stamp]);
            look_back(reader, window, total, divisor, suffix, after);
        }
    }
    Ok(())
}

/// Multiplies the weights of arriving at and of continuing from the cells of column l. Returns the scaled
/// evidence of the paths in which stamp l has an owner, and the largest number that enters it.
/// `inverse_total` is one over the divisor of B_l on the scale of B_{l+1}.
#[inline(always)]
fn join_directions(
    buffers: &mut AnyCounts,
    band: &Band,
    block: &Block,
    l: usize,
    inverse_total: f64,
    shares: &mut [f64],
) -> (f64, f64) {
    let AnyCounts { max_count, room, odds, columns, forward, densities, .. } = buffers;
    let AnyCounts { open, has_background, inverse_totals, .. } = buffers;
    let AnyCounts { product, after, onward, by_label, counts, .. } = buffers;
    let windows = &band.windows()[block.stamps.clone()];
    let open = if *has_background { &open[..] } else { &[] };
    let max_count = *max_count;
    let done = Done { columns, windows, forward, densities, inverse_totals, max_count, open };
    let from = windows[l - 1].first - block.instances.start;
    product.clear();
    product.resize(shares.len(), 1.0);
    shares.fill(0.0);
    by_label.clear(shares.len());
    let LabelColumn { positive, last: [last0, last1] } = by_label;
    counts.clear();
    let (mut evidence, mut largest) = (Lanes::all(0.0), Lanes::all(0.0));
    let own = groups(&densities[columns.place(l)]);
    for c in 1..=l.min(max_count) {
        let Some(reach) = done.reach(l, c) else { break };
        let len = reach.density.len();
        // What follows a first stamp does not wait for it.
        let background = if c == 1 { 0.0 } else { band.background(block.stamps.start + l - 1) };
        let pass = background * inverse_total;
        let own = &own[..len];
        let after = &groups(after)[..len];
        let at = (c - 1) * *room + from;
        let odds = odds.each_ref().map(|odds| &groups(&odds[at..])[..len]);
        let [(here0, next0), (here1, next1)] = onward.each_mut().map(|onward| {
            let (here, next) = onward.split_at_mut(c * *room);
            (&mut groups_mut(&mut here[at..])[..len], &groups(&next[from..])[..len])
        });
        let product = &mut groups_mut(product)[..len];
        let shares = &mut groups_mut(shares)[..len];
        let ones = &mut groups_mut(positive)[..len];
        let last0 = &mut groups_mut(last0)[..len];
        let last1 = &mut groups_mut(last1)[..len];
        let mut ended = [Lanes::all(0.0); 2];
        for k in 0..len {
            let arrival = reach.arrive(k, &mut product[k]);
            let (density, after) = (Lanes(own[k]), Lanes(after[k]));
            let ends = [Lanes(odds[0][k]) * after, Lanes(odds[1][k]) * after];
            let follow = [
                ends[0] + Lanes(next0[k]) * inverse_total,
                ends[1] + Lanes(next1[k]) * inverse_total,
            ];
            here0[k] = (density * follow[0] + Lanes(here0[k]) * pass).0;
            here1[k] = (density * follow[1] + Lanes(here1[k]) * pass).0;
            largest = largest.max(arrival).max(follow[0] + follow[1]);
            let ends = [arrival * ends[0], arrival * ends[1]];
            (last0[k], last1[k]) = ((Lanes(last0[k]) + ends[0]).0, (Lanes(last1[k]) + ends[1]).0);
            ended = [ended[0] + ends[0], ended[1] + ends[1]];
            let positive = arrival * follow[1];
            let paths = arrival * follow[0] + positive;
            ones[k] = (Lanes(ones[k]) + positive).0;
            shares[k] = (Lanes(shares[k]) + paths).0;
            evidence += paths;
        }
        counts.push(ended.map(Lanes::sum));
    }
    let open = done.open.get(max_count * columns.place(l).start..max_count * columns.place(l).end);
    groups(open.unwrap_or_default()).iter().for_each(|open| largest = largest.max(Lanes(*open)));
    (evidence.sum(), largest.0.into_iter().fold(0.0, f64::max))
}

/// Records p(l is the last of c stamps of j, y) of one column.
fn record(
    buffers: &AnyCounts,
    band: &Band,
    block: &Block,
    l: usize,
    inverse: f64,
    outputs: &mut Outputs<'_>,
) {
    let AnyCounts { max_count, room, odds, columns, forward, densities, .. } = buffers;
    let AnyCounts { open, has_background, inverse_totals, .. } = buffers;
    let windows = &band.windows()[block.stamps.clone()];
    let open = if *has_background { &open[..] } else { &[] };
    let max_count = *max_count;
    let done = Done { columns, windows, forward, densities, inverse_totals, max_count, open };
    let window = windows[l - 1];
    let mut product = vec![1.0; window.len().next_multiple_of(LANES)];
    for c in 1..=buffers.counts.len() {
        let Some(reach) = done.reach(l, c) else { break };
        let product = groups_mut(&mut product)[..reach.density.len()].iter_mut();
        let arrivals = product.enumerate().flat_map(|(k, product)| reach.arrive(k, product).0);
        let cells = (window.first..window.end).zip(arrivals.zip(&buffers.after));
        for (instance, (arrival, after)) in cells.filter(|(_, (arrival, _))| *arrival > 0.0) {
            let at = (c - 1) * room + instance - block.instances.start;
            for y in [0, 1] {
                outputs.record(instance, c, y, arrival * (odds[y][at] * after) * inverse);
            }
        }
    }
}

/// Fills `suffix` with B_{l−1} over the window of l and returns its total.
#[inline(always)]
fn sum_column(buffers: &mut AnyCounts, band: &Band, block: &Block, l: usize) -> f64 {
    let AnyCounts { suffix, onward, .. } = buffers;
    let window = band.windows()[block.stamps.start + l - 1];
    let len = window.len().next_multiple_of(LANES);
    let from = window.first - block.instances.start;
    suffix.resize(len + 1, 0.0);
    suffix[len] = 0.0;
    let onward = onward.each_ref().map(|onward| groups(&onward[from..from + len]));
    let onward = onward[0].iter().zip(onward[1]);
    let mut total = 0.0;
    for (sums, (negative, positive)) in groups_mut(suffix).iter_mut().zip(onward).rev() {
        *sums = (Lanes(*negative) + Lanes(*positive)).running_sums_back(&mut total).0;
    }
    total
}
