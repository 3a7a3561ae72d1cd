//! Blocks where c!·p(c | y) = p(0 | y)·λ_yᶜ, as for Poisson counts.
//!
//! The sum over the counts of one instance is then itself a recursion over stamps, one per label.
//! With s_y(j) = p(y | j silent) and the notation of `one_stamp`:
//!
//! ```text
//! H_y(l,j) = λ_y·p(z_l | t_j) · ( s_y(j)·A_{l−1}(j−1) + H_y(l−1,j) )    stamp l is j's latest
//! A_l(i)   = Σ_{j ≤ i} Σ_y H_y(l,j)
//! K_y(l,j) = B_l(j+1) + λ_y·p(z_{l+1} | t_j) · K_y(l+1,j)               what can follow
//! B_{l−1}(i) = Σ_{j ≥ i} p(z_l | t_j) · Σ_y λ_y·s_y(j)·K_y(l,j)
//! p(w(j,l), y) ∝ H_y(l,j)·K_y(l,j)      p(l is j's last, y) ∝ H_y(l,j)·B_l(j+1)
//! ```
//!
//! O(1) work per cell.

use super::band::{Band, Span};
use super::column::{Column, Forward, certify};
use super::span::{InstanceWeights, Outputs, Trouble};
use crate::math::LANES;

/// Buffers that outlive a block.
#[derive(Debug, Default)]
pub(super) struct FirstOrder {
    forward: Forward,
    /// H_y relative to the same scale as the column of A.
    latest: [Vec<f64>; 2],
    /// λ_y·s_y per instance of the block.
    first: [Vec<f64>; 2],
    before: Vec<f64>,
    after: Vec<f64>,
    suffix: Vec<f64>,
    next_suffix: Vec<f64>,
    follow: [Vec<f64>; 2],
    next_follow: [Vec<f64>; 2],
}

impl FirstOrder {
    /// As `OneStamp::solve`.
    pub(super) fn solve(
        &mut self,
        band: &Band,
        block: &Span,
        weights: &InstanceWeights<'_>,
        ratios: [f64; 2],
        emitted: &mut [&mut [f64]; 2],
        outputs: &mut Outputs<'_>,
    ) -> Result<f64, Trouble> {
        for y in [0, 1] {
            self.first[y].clear();
            self.first[y].extend(
                block
                    .instances
                    .clone()
                    .map(|i| ratios[y] * weights.joint(i, y, 0) * weights.inverse_silent(i)),
            );
        }
        let log_evidence = self.forward(band, block, ratios)?;
        self.backward(band, block, ratios, emitted, outputs)?;
        Ok(log_evidence)
    }

    fn forward(&mut self, band: &Band, block: &Span, ratios: [f64; 2]) -> Result<f64, Trouble> {
        self.forward.clear();
        self.latest.iter_mut().for_each(Vec::clear);
        let start = block.instances.start;
        let offset = band.cells_of(block.stamps.start).start;
        let mut log_evidence = 0.0;
        for stamp in block.stamps.clone() {
            self.forward.before(band, block, stamp, &mut self.before);
            let window = band.windows()[stamp];
            let mut total = 0.0;
            for (k, &density) in band.density(stamp).iter().enumerate() {
                let j = window.first + k;
                let previous = self.previous_latest(band, block, stamp, j, offset);
                for y in [0, 1] {
                    let first = self.first[y][j - start] * self.before[k];
                    let latest = density * (first + ratios[y] * previous[y]);
                    self.latest[y].push(latest);
                    total += latest;
                }
                self.forward.push(total);
            }
            let padded = self.latest[0].len().next_multiple_of(LANES);
            self.latest.iter_mut().for_each(|latest| latest.resize(padded, 0.0));
            log_evidence += self.forward.finish(total)? + band.log_scale(stamp);
        }
        Ok(log_evidence)
    }

    /// H_y(l−1, j), on the scale of column l.
    fn previous_latest(
        &self,
        band: &Band,
        block: &Span,
        stamp: usize,
        j: usize,
        offset: usize,
    ) -> [f64; 2] {
        if stamp == block.stamps.start || j >= band.windows()[stamp - 1].end {
            return [0.0, 0.0];
        }
        let cell = band.cells_of(stamp - 1).start - offset + j - band.windows()[stamp - 1].first;
        let scale = self.forward.inverse_total(stamp - 1 - block.stamps.start);
        [self.latest[0][cell] * scale, self.latest[1][cell] * scale]
    }

    fn backward(
        &mut self,
        band: &Band,
        block: &Span,
        ratios: [f64; 2],
        emitted: &mut [&mut [f64]; 2],
        outputs: &mut Outputs<'_>,
    ) -> Result<(), Trouble> {
        let start = block.instances.start;
        let offset = band.cells_of(block.stamps.start).start;
        let mut inverse_total = 1.0;
        for stamp in block.stamps.clone().rev() {
            let window = band.windows()[stamp];
            let last = stamp + 1 == block.stamps.end;
            if last {
                self.after.clear();
                self.after.resize(window.len(), 1.0);
            } else {
                let next = Column { window: band.windows()[stamp + 1], values: &self.next_suffix };
                next.sums_after(window, inverse_total, &mut self.after);
            }
            let density = band.density(stamp);
            let cells = band.cells_of(stamp);
            self.suffix.clear();
            self.suffix.resize(window.len(), 0.0);
            self.follow.iter_mut().for_each(|f| {
                f.clear();
                f.resize(window.len(), 0.0);
            });
            let (mut total, mut evidence, mut largest) = (0.0, 0.0, 0f64);
            for k in (0..window.len()).rev() {
                let j = window.first + k;
                let mut onwards = 0.0;
                for y in [0, 1] {
                    let mut follow = self.after[k];
                    if !last && j >= band.windows()[stamp + 1].first {
                        let next = j - band.windows()[stamp + 1].first;
                        follow += ratios[y]
                            * band.density(stamp + 1)[next]
                            * self.next_follow[y][next]
                            * inverse_total;
                    }
                    self.follow[y][k] = follow;
                    onwards += self.first[y][j - start] * follow;
                    let latest = self.latest[y][cells.start - offset + k];
                    evidence += latest * follow;
                    largest = largest.max(latest).max(follow);
                }
                total += density[k] * onwards;
                self.suffix[k] = total;
            }
            certify(evidence, largest)?;
            self.share(window.first - start, cells.start, offset, evidence, emitted, outputs);
            inverse_total = 1.0 / total;
            std::mem::swap(&mut self.suffix, &mut self.next_suffix);
            std::mem::swap(&mut self.follow, &mut self.next_follow);
        }
        Ok(())
    }

    /// Writes one column's responsibilities and what its stamp says of counts and labels.
    fn share(
        &self,
        first: usize,
        cell: usize,
        offset: usize,
        evidence: f64,
        emitted: &mut [&mut [f64]; 2],
        outputs: &mut Outputs<'_>,
    ) {
        let scale = 1.0 / evidence;
        let mut stamps = [0.0, 0.0];
        let mut lasts = [0.0, 0.0];
        for k in 0..self.after.len() {
            let mut both = [0.0, 0.0];
            for y in [0, 1] {
                // The product first: it is at most the evidence, while its factors may be anything.
                let latest = self.latest[y][cell - offset + k];
                both[y] = latest * self.follow[y][k] * scale;
                let last = latest * self.after[k] * scale;
                emitted[y][first + k] += last;
                stamps[y] += both[y];
                lasts[y] += last;
            }
            outputs.responsibilities[cell + k] = both[0] + both[1];
            if let Some(positive) = outputs.positive.as_deref_mut() {
                positive[cell + k] = both[1];
            }
        }
        for y in [0, 1] {
            // The two-entry table with the same total and the same mean count.
            outputs.expected.0[y][0] += lasts[y] - stamps[y];
            outputs.expected.0[y][1] += stamps[y];
        }
    }
}
