//! The recursion over one block in log space, state by state.
//!
//! Slower than the scaled columns but free of underflow, and an instance need not be able to be silent. It
//! solves the blocks that the columns cannot certify, and answers questions about single alignments, which
//! need the forward sums only. Rows are the instances of the block; row i has the states lo(i)..=hi(i) that
//! the windows allow. With ρ_l the background of stamp l, and i open after c of its stamps:
//!
//! ```text
//! x_c(l) = p(z_l | t_i)·x_{c−1}(l−1) + ρ_l·x_c(l−1)                    x_0(l) = a(i−1, l)
//! a(i, l) = Σ_c u_i(c)·x_c(l)                                          a(0, 0) = 1
//! f_c(l) = u_i(c)·b(i+1, l) + n_c(l)                                   what can follow
//! n_c(l) = p(z_{l+1} | t_i)·f_{c+1}(l+1) + ρ_{l+1}·n_c(l+1)            b(i, l) = f_0(l)
//! ```
//!
//! In x_c(l) the stamps after the last one of i, up to l, come from nowhere; in n_c(l) those up to the next
//! one of i. So every alignment is counted once. A stamp whose window has not begun, or has ended, can only
//! come from nowhere. O(C) per state, or O(1) if c!·p(c | y) is a geometric series (`log_first_order`).

use crate::math::{log_add, log_sum};

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
    /// The part of the forward sums in which stamp l has an owner; in the lowest state of a row all of
    /// them. Empty if there is no background: then that is everything.
    pub(super) owned: Vec<f64>,
    pub(super) backward: Vec<f64>,
    /// log ρ_l of the block's stamps.
    pub(super) log_backgrounds: Vec<f64>,
    /// log u_i(c) of one instance.
    pub(super) log_weights: Vec<f64>,
    pub(super) instance: OpenInstance,
}

/// The sums of one instance over its states, from the lowest before it to the highest after it.
#[derive(Debug, Default)]
pub(super) struct OpenInstance {
    /// x_c(l), a row for each count.
    pub(super) open: Vec<f64>,
    /// b(i+1, l).
    after: Vec<f64>,
    /// f_c(l) of one count.
    follow: Vec<f64>,
    /// p(w(i,l), y | z).
    masses: Vec<[f64; 2]>,
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
        self.log_backgrounds.clear();
        let backgrounds = block.stamps.clone().map(|stamp| band.background(stamp).ln());
        self.log_backgrounds.extend(backgrounds);
        let is_background = |log: &f64| *log > f64::NEG_INFINITY;
        let owned = if self.log_backgrounds.iter().any(is_background) { states } else { 0 };
        refill(&mut self.owned, owned, f64::NEG_INFINITY);
        self.owned.iter_mut().take(1).for_each(|first| *first = 0.0);
    }

    /// The log evidence, summed over the states before a row: sums of a row share its rounding. A path
    /// belongs to the state of its last stamp that an earlier instance gave, or to the lowest.
    pub(super) fn log_evidence_at(&self, row: usize) -> f64 {
        let states = self.offsets[row]..self.offsets[row + 1];
        let arrived = if self.owned.is_empty() { &self.forward } else { &self.owned };
        let meet = arrived[states.clone()].iter().zip(&self.backward[states]);
        log_sum(&meet.map(|(a, b)| a + b).collect::<Vec<f64>>())
    }

    /// The states that the instance of a row leads from and to: lowest and highest.
    pub(super) fn states_of(&self, row: usize) -> (usize, usize) {
        (self.lows[row - 1], self.highs[row])
    }

    /// Appends a(i−1, l) over the states of the instance of a row. Those of stamps whose windows begin
    /// with it follow from the background.
    pub(super) fn append_before(&self, row: usize, before: &mut Vec<f64>) {
        let (_, high) = self.states_of(row);
        before.extend_from_slice(&self.forward[self.offsets[row - 1]..self.offsets[row]]);
        for state in self.highs[row - 1] + 1..=high {
            before.push(before[before.len() - 1] + self.log_backgrounds[state - 1]);
        }
    }

    /// Fills in b(i+1, l) over the same states. Those of stamps whose windows end with it follow from
    /// the background.
    pub(super) fn fill_after(&self, row: usize, after: &mut Vec<f64>) {
        let (low, high) = self.states_of(row);
        after.clear();
        after.resize(high - low + 1, f64::NEG_INFINITY);
        let ended = self.lows[row] - low;
        after[ended..].copy_from_slice(&self.backward[self.offsets[row]..self.offsets[row + 1]]);
        for k in (0..ended).rev() {
            after[k] = after[k + 1] + self.log_backgrounds[low + k];
        }
    }

    /// Fills the forward table, with `add` joining paths (log-sum or maximum), and returns its
    /// last entry.
    pub(super) fn sum_forward(
        &mut self,
        band: &Band,
        block: &Block,
        weights: &LogWeights<'_>,
        add: fn(f64, f64) -> f64,
    ) -> f64 {
        self.begin(band, block);
        for row in 1..self.lows.len() {
            self.weigh(block, weights, row);
            self.arrive(band, block, row, add);
            let (low, high) = self.states_of(row);
            let width = high - low + 1;
            for to in self.lows[row]..=high {
                let at = self.at(row, to);
                let open = self.instance.open[to - low..].iter().step_by(width);
                let paths = open.zip(&self.log_weights).map(|(open, weight)| open + weight);
                let sum = paths.rev().fold(f64::NEG_INFINITY, add);
                self.forward[at] = sum;
                if !self.owned.is_empty() {
                    self.owned[at] = self.sum_owned(band, block, row, to);
                }
            }
        }
        self.forward[self.forward.len() - 1]
    }

    /// The forward sum of a state over the paths in which its stamp has an owner.
    fn sum_owned(&self, band: &Band, block: &Block, row: usize, to: usize) -> f64 {
        let (low, high) = self.states_of(row);
        if to == self.lows[row] {
            return self.forward[self.at(row, to)];
        }
        let mut sum = match to <= self.highs[row - 1] {
            true => self.owned[self.at(row - 1, to)] + self.log_weights[0],
            false => f64::NEG_INFINITY,
        };
        let density = log_density(band, block, row, to - 1);
        let open = self.instance.open[to - 1 - low..].iter().step_by(high - low + 1);
        for (open, weight) in open.zip(&self.log_weights[1..]) {
            sum = log_add(sum, open + density + weight);
        }
        sum
    }

    /// Fills in x_c(l) of the instance of a row.
    pub(super) fn arrive(
        &mut self,
        band: &Band,
        block: &Block,
        row: usize,
        add: fn(f64, f64) -> f64,
    ) {
        let (low, high) = self.states_of(row);
        let width = high - low + 1;
        let mut open = std::mem::take(&mut self.instance.open);
        open.clear();
        self.append_before(row, &mut open);
        open.resize(self.log_weights.len() * width, f64::NEG_INFINITY);
        for count in 1..self.log_weights.len() {
            let (fewer, here) = open[(count - 1) * width..].split_at_mut(width);
            for to in low + count..=high {
                let k = to - low;
                let given = fewer[k - 1] + log_density(band, block, row, to - 1);
                here[k] = add(given, here[k - 1] + self.log_backgrounds[to - 1]);
            }
        }
        self.instance.open = open;
    }

    /// Turns f_{c+1}(l) of the instance of a row into f_c(l), for l that leave room for c stamps.
    fn precede(&mut self, band: &Band, block: &Block, row: usize, count: usize, log_weight: f64) {
        let (low, high) = self.states_of(row);
        let OpenInstance { after, follow, .. } = &mut self.instance;
        let (mut ahead, mut next) = (f64::NEG_INFINITY, f64::NEG_INFINITY);
        for from in (low + count..=high).rev() {
            let k = from - low;
            if from < high {
                let given = ahead + log_density(band, block, row, from);
                next = log_add(given, next + self.log_backgrounds[from]);
            }
            ahead = std::mem::replace(&mut follow[k], log_add(after[k] + log_weight, next));
        }
    }

    /// Prepares [`precede`](Self::precede) for the largest count of the instance of a row.
    fn leave(&mut self, row: usize) {
        let mut after = std::mem::take(&mut self.instance.after);
        self.fill_after(row, &mut after);
        refill(&mut self.instance.follow, after.len(), f64::NEG_INFINITY);
        self.instance.after = after;
    }

    fn sum_backward(&mut self, band: &Band, block: &Block, weights: &LogWeights<'_>) {
        refill(&mut self.backward, self.forward.len(), f64::NEG_INFINITY);
        *self.backward.last_mut().expect("one state at least") = 0.0;
        for row in (1..self.lows.len()).rev() {
            self.weigh(block, weights, row);
            self.leave(row);
            for count in (0..self.log_weights.len()).rev() {
                self.precede(band, block, row, count, self.log_weights[count]);
            }
            let states = self.offsets[row - 1]..self.offsets[row];
            let own = states.len();
            self.backward[states].copy_from_slice(&self.instance.follow[..own]);
        }
    }

    /// Adds the responsibilities, counts and labels of one instance.
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
        self.arrive(band, block, row, log_add);
        let (low, high) = self.states_of(row);
        let width = high - low + 1;
        let instance = block.instances.start + row - 1;
        let log_odds = weights.log_odds[instance - weights.start];
        // As in `dense`: the row's own sum shares the rounding of its terms.
        let log_evidence = self.log_evidence_at(row - 1);
        self.instance.masses.clear();
        self.instance.masses.resize(width, [0.0; 2]);
        for y in [0, 1] {
            self.leave(row);
            for count in (1..self.log_weights.len()).rev() {
                let log_joint = weights.tables.log_joint(log_odds, y, count);
                self.precede(band, block, row, count, log_joint);
                let OpenInstance { open, after, follow, masses } = &mut self.instance;
                let fewer = &open[(count - 1) * width..];
                for k in count..width {
                    let density = log_density(band, block, row, low + k - 1);
                    let given = fewer[k - 1] + density - log_evidence;
                    masses[k][y] += (given + follow[k]).exp();
                    let last = (given + log_joint + after[k]).exp();
                    emitted[y][row - 1] += last;
                    outputs.expected.0[y][count] += last;
                    outputs.record(instance, count, y, last);
                }
            }
        }
        for (stamp, masses) in (block.stamps.start + low..).zip(&self.instance.masses[1..]) {
            outputs.add_share(band, stamp, instance, *masses);
        }
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
    pub(super) fn weigh(&mut self, block: &Block, weights: &LogWeights<'_>, row: usize) {
        let instance = block.instances.start + row - 1;
        let log_odds = weights.log_odds[instance - weights.start];
        let (low, high) = self.states_of(row);
        let most = (high - low).min(weights.tables.max_count());
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
