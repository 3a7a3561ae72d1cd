//! Blocks with any count table.
//!
//! With v_j(c,y) = p(y | j)·c!·p(c | y)/u_j(0) and the notation of `one_stamp`:
//!
//! ```text
//! G_l(j,c)   = A_{l−c}(j−1) · Π_{k=l−c+1..l} p(z_k | t_j)                 l is the c-th stamp of j
//! A_l(i)     = Σ_{j ≤ i} Σ_c Σ_y v_j(c,y) · G_l(j,c)
//! K_l(j,c,y) = v_j(c,y)·B_l(j+1) + p(z_{l+1} | t_j)·K_{l+1}(j,c+1,y)      what can follow
//! B_{l−1}(i) = Σ_{j ≥ i} p(z_l | t_j) · Σ_y K_l(j,1,y)
//! p(w(j,l), y)   ∝ Σ_c G_l(j,c)·K_l(j,c,y)
//! p(l is the last of c stamps of j, y) ∝ G_l(j,c)·v_j(c,y)·B_l(j+1)
//! ```
//!
//! O(C) work per cell, C being at most the number of windows that hold the instance.

use super::band::{Band, Span};
use super::column::{Column, certify};
use super::span::{InstanceWeights, Outputs, Trouble};
use crate::math::LANES;

/// Buffers that outlive a block.
#[derive(Debug, Default)]
pub(super) struct Table {
    /// Largest count of the block; arrays over counts have this stride and begin at count one.
    stride: usize,
    /// v_j(c,y), instance by instance.
    odds: [Vec<f64>; 2],
    /// A_l over the window of l, divided by its total.
    forward: Vec<f64>,
    totals: Vec<f64>,
    /// G_l(j,c) of one column, on the scale of A_{l−1}.
    arrivals: Vec<f64>,
    /// B_l(j+1) of one column, divided by its total.
    after: Vec<f64>,
    next_suffix: Vec<f64>,
    /// K_l(j,c,y) of one column, on the scale of B_l.
    follow: [Vec<f64>; 2],
    next_follow: [Vec<f64>; 2],
}

impl Table {
    /// As `OneStamp::solve`.
    pub(super) fn solve(
        &mut self,
        band: &Band,
        block: &Span,
        weights: &InstanceWeights<'_>,
        emitted: &mut [&mut [f64]; 2],
        outputs: &mut Outputs<'_>,
    ) -> Result<f64, Trouble> {
        self.weigh(band, block, weights);
        let log_evidence = self.forward(band, block)?;
        let mut total = 1.0;
        for l in (1..=block.stamps.len()).rev() {
            self.arrive(band, block, l);
            self.look_ahead(band, block, l, total);
            let (evidence, largest) = self.meet();
            certify(evidence, largest)?;
            self.share(band, block, l, 1.0 / evidence, emitted, outputs);
            total = self.sum_column(band, block, l);
            if !total.is_normal() {
                return Err(Trouble::Underflow);
            }
            std::mem::swap(&mut self.follow, &mut self.next_follow);
        }
        Ok(log_evidence)
    }

    fn weigh(&mut self, band: &Band, block: &Span, weights: &InstanceWeights<'_>) {
        self.stride = deepest(band, block).min(weights.tables.max_count());
        for y in [0, 1] {
            self.odds[y].clear();
            for i in block.instances.clone() {
                let inverse = weights.inverse_silent(i);
                self.odds[y].extend((1..=self.stride).map(|c| weights.joint(i, y, c) * inverse));
            }
        }
    }

    fn forward(&mut self, band: &Band, block: &Span) -> Result<f64, Trouble> {
        self.forward.clear();
        self.totals.clear();
        let mut log_evidence = 0.0;
        for l in 1..=block.stamps.len() {
            self.arrive(band, block, l);
            let stamp = block.stamps.start + l - 1;
            let first = band.windows()[stamp].first - block.instances.start;
            let column = self.forward.len();
            let odds = self.odds.each_ref().map(|odds| &odds[first * self.stride..]);
            let mut total = 0.0;
            for (k, arrivals) in self.arrivals.chunks_exact(self.stride).enumerate() {
                for (c, arrival) in arrivals.iter().enumerate() {
                    let at = k * self.stride + c;
                    total += (odds[0][at] + odds[1][at]) * arrival;
                }
                self.forward.push(total);
            }
            if !total.is_normal() {
                return Err(Trouble::Underflow);
            }
            let inverse = 1.0 / total;
            self.forward[column..].iter_mut().for_each(|v| *v *= inverse);
            self.forward.resize(self.forward.len().next_multiple_of(LANES), 0.0);
            self.totals.push(total);
            log_evidence += total.ln() + band.log_scale(stamp);
        }
        Ok(log_evidence)
    }

    /// Fills G_l(j,c) for the window of l, counted from one within the block.
    fn arrive(&mut self, band: &Band, block: &Span, l: usize) {
        let window = band.windows()[block.stamps.start + l - 1];
        let mut arrivals = std::mem::take(&mut self.arrivals);
        arrivals.clear();
        arrivals.resize(window.len() * self.stride, 0.0);
        for (j, row) in (window.first..window.end).zip(arrivals.chunks_exact_mut(self.stride)) {
            let mut product = 1.0;
            for (c, arrival) in (1..=l).zip(row) {
                let stamp = block.stamps.start + l - c;
                if j >= band.windows()[stamp].end {
                    break;
                }
                product *= band.density_at(stamp, j);
                if c > 1 {
                    product /= self.totals[l - c];
                }
                *arrival = product * self.sum_before(band, block, l - c, j);
            }
        }
        self.arrivals = arrivals;
    }

    /// A_l(j−1) divided by its total; A_0 is one.
    fn sum_before(&self, band: &Band, block: &Span, l: usize, j: usize) -> f64 {
        if l == 0 {
            return 1.0;
        }
        let stamp = block.stamps.start + l - 1;
        let window = band.windows()[stamp];
        if j <= window.first {
            0.0
        } else if j > window.end {
            1.0
        } else {
            let offset = band.cells_of(block.stamps.start).start;
            self.forward[band.cells_of(stamp).start - offset + j - 1 - window.first]
        }
    }

    /// Fills B_l(j+1) and K_l(j,c,y); `total` is that of B_l on the scale of B_{l+1}.
    fn look_ahead(&mut self, band: &Band, block: &Span, l: usize, total: f64) {
        let stamp = block.stamps.start + l - 1;
        let window = band.windows()[stamp];
        let last = l == block.stamps.len();
        if last {
            self.after.clear();
            self.after.resize(window.len(), 1.0);
        } else {
            let next = Column { window: band.windows()[stamp + 1], values: &self.next_suffix };
            next.sums_after(window, 1.0, &mut self.after);
        }
        let stride = self.stride;
        let first = window.first - block.instances.start;
        for y in [0, 1] {
            let odds = &self.odds[y][first * stride..];
            self.follow[y].clear();
            for (k, after) in self.after.iter().enumerate() {
                let odds = &odds[k * stride..(k + 1) * stride];
                self.follow[y].extend(odds.iter().map(|v| v * after));
            }
            if last {
                continue;
            }
            let next = band.windows()[stamp + 1];
            for j in next.first..window.end {
                let density = band.density_at(stamp + 1, j) / total;
                let here = &mut self.follow[y][(j - window.first) * stride..][..stride - 1];
                let there = &self.next_follow[y][(j - next.first) * stride + 1..];
                here.iter_mut().zip(there).for_each(|(k, next)| *k += density * next);
            }
        }
    }

    /// The scaled evidence, as every column sees it, and the largest number that enters.
    fn meet(&self) -> (f64, f64) {
        let (mut evidence, mut largest) = (0.0, 0f64);
        let follow = self.follow[0].iter().zip(&self.follow[1]);
        for (arrival, (negative, positive)) in self.arrivals.iter().zip(follow) {
            let follow = negative + positive;
            evidence += arrival * follow;
            largest = largest.max(*arrival).max(follow);
        }
        (evidence, largest)
    }

    /// Writes one column's responsibilities and what its stamp says of counts and labels.
    fn share(
        &self,
        band: &Band,
        block: &Span,
        l: usize,
        scale: f64,
        emitted: &mut [&mut [f64]; 2],
        outputs: &mut Outputs<'_>,
    ) {
        let stamp = block.stamps.start + l - 1;
        let cells = band.cells_of(stamp);
        let first = band.windows()[stamp].first - block.instances.start;
        for (k, after) in self.after.iter().enumerate() {
            let mut both = [0.0, 0.0];
            for (c, arrival) in self.arrivals[k * self.stride..][..self.stride].iter().enumerate() {
                if *arrival == 0.0 {
                    continue;
                }
                for y in [0, 1] {
                    // The product first: it is at most the evidence, while its factors may be
                    // anything.
                    both[y] += arrival * self.follow[y][k * self.stride + c] * scale;
                    let odds = self.odds[y][(first + k) * self.stride + c];
                    let last = arrival * (odds * after) * scale;
                    emitted[y][first + k] += last;
                    outputs.expected.0[y][c + 1] += last;
                    outputs.record(block.instances.start + first + k, c + 1, y, last);
                }
            }
            outputs.responsibilities[cells.start + k] = both[0] + both[1];
            if let Some(positive) = outputs.positive.as_deref_mut() {
                positive[cells.start + k] = both[1];
            }
        }
    }

    /// Fills `next_suffix` with B_{l−1} over the window of l, divided by its total, which it
    /// returns.
    fn sum_column(&mut self, band: &Band, block: &Span, l: usize) -> f64 {
        let density = band.density(block.stamps.start + l - 1);
        self.next_suffix.clear();
        self.next_suffix.resize(density.len(), 0.0);
        let mut total = 0.0;
        for (k, density) in density.iter().enumerate().rev() {
            let at = k * self.stride;
            total += density * (self.follow[0][at] + self.follow[1][at]);
            self.next_suffix[k] = total;
        }
        let inverse = 1.0 / total;
        self.next_suffix.iter_mut().for_each(|v| *v *= inverse);
        total
    }
}

/// The largest number of windows of the block that hold one instance.
fn deepest(band: &Band, block: &Span) -> usize {
    let windows = &band.windows()[block.stamps.clone()];
    let mut closed = 0;
    let mut deepest = 0;
    for (opened, window) in (1..).zip(windows) {
        while windows[closed].end <= window.first {
            closed += 1;
        }
        deepest = deepest.max(opened - closed);
    }
    deepest
}
