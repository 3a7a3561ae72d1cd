//! The recursion over one block in log space, state by state.
//!
//! Slower than the scaled columns but free of underflow, and an instance need not be able to be silent. It
//! solves the blocks that the columns cannot certify, and answers questions about single alignments, which
//! need the forward sums only. Rows are the instances of the block; row i has the states lo(i)..=hi(i) that
//! the windows allow. O(C) per state, or O(1) if c!·p(c | y) is a geometric series (`log_first_order`).

use crate::math::{Random, log_add, log_sum};

use super::buffers::refill;
use super::outputs::Outputs;
use super::vocabulary::{Block, Trouble};
use super::weights::LogWeights;
use super::windows::Band;

/// Forward and backward sums over the states of a block.
#[derive(Debug, Default)]
pub(super) struct LogSpace {
    /// Row r (after r instances) has states `lows[r]..=highs[r]`, stored from `offsets[r]` on.
    pub(super) lows: Vec<usize>,
    pub(super) highs: Vec<usize>,
    offsets: Vec<usize>,
    pub(super) forward: Vec<f64>,
    pub(super) backward: Vec<f64>,
    /// log u_i(c) of one instance.
    log_weights: Vec<f64>,
}

impl LogSpace {
    /// As `OneStamp::solve`, but returns the full log evidence of the block.
    pub(super) fn solve(
        &mut self,
        band: &Band,
        block: &Block,
        weights: &LogWeights<'_>,
        emitted: &mut [&mut [f64]; 2],
        outputs: &mut Outputs<'_>,
    ) -> Result<f64, Trouble> {
        outputs.clear_shares(band, block);
        let log_evidence = self.sum_forward(band, block, weights, log_add);
        if log_evidence == f64::NEG_INFINITY {
            return Err(Trouble::Narrow);
        }
        self.sum_backward(band, block, weights);
        for row in 1..self.lows.len() {
            self.share(band, block, weights, row, emitted, outputs);
        }
        Ok(log_evidence + log_scale(band, block))
    }

    /// Lays out the states of a block, all impossible except the certain state before it.
    pub(super) fn begin(&mut self, band: &Band, block: &Block) {
        self.lay_out(band, block);
        let states = *self.offsets.last().expect("one row at least");
        refill(&mut self.forward, states, f64::NEG_INFINITY);
        self.forward[0] = 0.0;
    }

    /// The log evidence, summed over the states before a row: sums of a row share its rounding.
    pub(super) fn log_evidence_at(&self, row: usize) -> f64 {
        let states = self.offsets[row]..self.offsets[row + 1];
        let meet = self.forward[states.clone()].iter().zip(&self.backward[states]);
        log_sum(&meet.map(|(a, b)| a + b).collect::<Vec<f64>>())
    }

    /// Fills the forward table, with `add` joining paths (log-sum or maximum), and returns its
    /// last entry.
    fn sum_forward(
        &mut self,
        band: &Band,
        block: &Block,
        weights: &LogWeights<'_>,
        add: fn(f64, f64) -> f64,
    ) -> f64 {
        self.begin(band, block);
        let mut forward = std::mem::take(&mut self.forward);
        for row in 1..self.lows.len() {
            self.weigh(block, weights, row);
            for from in self.lows[row - 1]..=self.highs[row - 1] {
                let here = forward[self.at(row - 1, from)];
                for (count, log_product) in self.arcs(band, block, row, from) {
                    let at = self.at(row, from + count);
                    forward[at] = add(forward[at], here + self.log_weights[count] + log_product);
                }
            }
        }
        self.forward = forward;
        self.forward[self.forward.len() - 1]
    }

    fn sum_backward(&mut self, band: &Band, block: &Block, weights: &LogWeights<'_>) {
        let mut backward = std::mem::take(&mut self.backward);
        refill(&mut backward, self.forward.len(), f64::NEG_INFINITY);
        backward[self.forward.len() - 1] = 0.0;
        for row in (1..self.lows.len()).rev() {
            self.weigh(block, weights, row);
            for from in self.lows[row - 1]..=self.highs[row - 1] {
                let here = self.at(row - 1, from);
                for (count, log_product) in self.arcs(band, block, row, from) {
                    let onwards = backward[self.at(row, from + count)];
                    let path = onwards + self.log_weights[count] + log_product;
                    backward[here] = log_add(backward[here], path);
                }
            }
        }
        self.backward = backward;
    }

    /// Adds the responsibilities, counts and labels from one instance's transitions between states.
    fn share(
        &mut self,
        band: &Band,
        block: &Block,
        weights: &LogWeights<'_>,
        row: usize,
        emitted: &mut [&mut [f64]; 2],
        outputs: &mut Outputs<'_>,
    ) {
        self.weigh(block, weights, row);
        let instance = block.instances.start + row - 1;
        let log_odds = weights.log_odds[instance - weights.start];
        // As in `dense`: the row's own sum shares the rounding of its terms.
        let log_evidence = self.log_evidence_at(row - 1);
        for from in self.lows[row - 1]..=self.highs[row - 1] {
            let here = self.forward[self.at(row - 1, from)] - log_evidence;
            let arcs: Vec<(usize, f64)> = self.arcs(band, block, row, from).collect();
            // A stamp belongs to the instance if the transition ends at it or later.
            let mut reaching = [0.0; 2];
            let mut beyond = self.highs[row].max(from);
            for &(count, log_product) in arcs.iter().rev().filter(|(count, _)| *count > 0) {
                let to = from + count;
                beyond = to - 1;
                let log_path = here + log_product + self.backward[self.at(row, to)];
                for y in [0, 1] {
                    let mass = (log_path + weights.tables.log_joint(log_odds, y, count)).exp();
                    reaching[y] += mass;
                    emitted[y][row - 1] += mass;
                    outputs.expected.0[y][count] += mass;
                    outputs.record(instance, count, y, mass);
                }
                outputs.add_share(band, block.stamps.start + beyond, instance, reaching);
            }
            // No transition ends at these stamps, but all of them pass these stamps.
            for stamp in from..beyond.min(self.lows[row]) {
                outputs.add_share(band, block.stamps.start + stamp, instance, reaching);
            }
        }
    }

    /// The likeliest counts of the block's instances and their log weight.
    pub(super) fn best(
        &mut self,
        band: &Band,
        block: &Block,
        weights: &LogWeights<'_>,
    ) -> (Vec<usize>, f64) {
        let best = self.sum_forward(band, block, weights, f64::max);
        let counts = self.walk_back(band, block, weights, |paths| {
            let mut best = 0;
            for (k, path) in paths.iter().enumerate() {
                if *path > paths[best] {
                    best = k;
                }
            }
            best
        });
        (counts, best + log_scale(band, block))
    }

    /// Prepares [`draw`](Self::draw).
    pub(super) fn prepare_draws(&mut self, band: &Band, block: &Block, weights: &LogWeights<'_>) {
        self.sum_forward(band, block, weights, log_add);
    }

    /// Counts of the block's instances, drawn from their posterior.
    pub(super) fn draw(
        &mut self,
        band: &Band,
        block: &Block,
        weights: &LogWeights<'_>,
        random: &mut Random,
    ) -> Vec<usize> {
        self.walk_back(band, block, weights, |paths| {
            let total = log_sum(paths);
            let shares: Vec<f64> = paths.iter().map(|p| (p - total).exp()).collect();
            random.index(&shares)
        })
    }

    /// Walks from the last state to the first; `choose` picks each instance's count from the forward
    /// weights of the ways to arrive.
    fn walk_back(
        &mut self,
        band: &Band,
        block: &Block,
        weights: &LogWeights<'_>,
        mut choose: impl FnMut(&[f64]) -> usize,
    ) -> Vec<usize> {
        let rows = self.lows.len() - 1;
        let mut counts = vec![0; rows];
        let mut to = block.stamps.len();
        let mut paths = Vec::new();
        for row in (1..=rows).rev() {
            self.weigh(block, weights, row);
            paths.clear();
            let mut log_product = 0.0;
            for count in 0..self.log_weights.len() {
                if count > to || to - count < self.lows[row - 1] {
                    break;
                }
                let from = to - count;
                if count > 0 {
                    log_product += log_density(band, block, row, from);
                }
                paths.push(if from > self.highs[row - 1] {
                    f64::NEG_INFINITY
                } else {
                    self.forward[self.at(row - 1, from)] + self.log_weights[count] + log_product
                });
            }
            counts[row - 1] = choose(&paths);
            to -= counts[row - 1];
        }
        counts
    }

    /// The transitions from a state by the instance of `row`: a count that leads to a possible state, and
    /// the log densities of its stamps.
    fn arcs<'a>(
        &'a self,
        band: &'a Band,
        block: &'a Block,
        row: usize,
        from: usize,
    ) -> impl Iterator<Item = (usize, f64)> + 'a {
        let most = self.highs[row].saturating_sub(from).min(self.log_weights.len() - 1);
        let mut log_product = 0.0;
        let counts = (0..=most).map(move |count| {
            if count > 0 {
                log_product += log_density(band, block, row, from + count - 1);
            }
            (count, log_product)
        });
        counts.filter(move |(count, _)| from + count >= self.lows[row])
    }

    fn lay_out(&mut self, band: &Band, block: &Block) {
        let windows = &band.windows()[block.stamps.clone()];
        self.lows.clear();
        self.highs.clear();
        self.offsets.clear();
        self.lows.push(0);
        self.highs.push(0);
        self.offsets.extend([0, 1]);
        let (mut low, mut high, mut offset) = (0, 0, 1);
        for i in block.instances.clone() {
            while low < windows.len() && windows[low].end <= i + 1 {
                low += 1;
            }
            while high < windows.len() && windows[high].first <= i {
                high += 1;
            }
            self.lows.push(low);
            self.highs.push(high);
            offset += high - low + 1;
            self.offsets.push(offset);
        }
    }

    pub(super) fn at(&self, row: usize, state: usize) -> usize {
        self.offsets[row] + state - self.lows[row]
    }

    /// log u_i(c) of the instance of a row, for the counts that its states allow.
    fn weigh(&mut self, block: &Block, weights: &LogWeights<'_>, row: usize) {
        let instance = block.instances.start + row - 1;
        let log_odds = weights.log_odds[instance - weights.start];
        let most = (self.highs[row] - self.lows[row - 1]).min(weights.tables.max_count());
        self.log_weights.clear();
        self.log_weights.extend((0..=most).map(|c| weights.tables.log_mixed(log_odds, c)));
    }
}

/// Contribution of the stamps' largest densities to every alignment.
pub(super) fn log_scale(band: &Band, block: &Block) -> f64 {
    block.stamps.clone().map(|stamp| band.log_scale(stamp)).sum()
}

/// log p(z_l | t_i) relative to the stamp's best, with stamps and rows counted within the block; −∞
/// outside the window.
pub(super) fn log_density(band: &Band, block: &Block, row: usize, stamp: usize) -> f64 {
    let stamp = block.stamps.start + stamp;
    let instance = block.instances.start + row - 1;
    let window = band.windows()[stamp];
    if (window.first..window.end).contains(&instance) {
        band.log_density(stamp)[instance - window.first] - band.log_scale(stamp)
    } else {
        f64::NEG_INFINITY
    }
}
