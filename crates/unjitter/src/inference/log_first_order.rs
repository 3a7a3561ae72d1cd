//! Log space where c!·p(c | y) = p(0 | y)·λ_yᶜ: the equations of `first_order`, instance by instance.
//!
//! ```text
//! h_y(l) = p(z_l | t_i)·λ_y·( a(i−1, l−1)·p(y | i)·p(0 | y) + x_y(l−1) )    l is i's latest
//! x_y(l) = h_y(l) + ρ_l·x_y(l−1)                                           i is open
//! n_y(l) = λ_y·p(z_{l+1} | t_i)·k_y(l+1) + ρ_{l+1}·n_y(l+1)                i gives another
//! k_y(l) = b(i+1, l) + n_y(l)                                              what can follow
//! a(i, l) = a(i−1, l)·u_i(0) + Σ_y x_y(l)
//! b(i, l) = b(i+1, l)·u_i(0) + Σ_y p(y | i)·p(0 | y)·n_y(l)
//! ```
//!
//! An instance with hundreds of stamps has λ_y in the hundreds and is silent with probability e^(−λ_y),
//! which can leave the range of f64. O(1) per state.

use super::buffers::refill;
use super::log_space::{LogSpace, log_density, log_scale};
use super::outputs::Outputs;
use super::vocabulary::{Block, Trouble};
use super::weights::LogWeights;
use super::windows::Band;
use crate::math::log_add;

/// Forward and backward sums over the states of a block, and buffers for the stamps of one instance.
#[derive(Debug, Default)]
pub(super) struct LogFirstOrder {
    states: LogSpace,
    chains: Chains,
}

impl LogFirstOrder {
    /// As `LogSpace::solve`.
    pub(super) fn solve(
        &mut self,
        band: &Band,
        block: &Block,
        weights: &LogWeights<'_>,
        ratios: [f64; 2],
        emitted: &mut [&mut [f64]; 2],
        outputs: &mut Outputs<'_>,
    ) -> Result<f64, Trouble> {
        outputs.clear_shares(band, block);
        let Self { states, chains } = self;
        let solved = chains.solve(states, band, block, weights, ratios, emitted, outputs)?;
        Ok(solved + log_scale(band, block))
    }
}

/// Buffers for the sums over one instance's stamps; rows and states are those of [`LogSpace`].
#[derive(Debug, Default)]
struct Chains {
    /// a(i−1, l) and b(i+1, l), by state.
    before: Vec<f64>,
    after: Vec<f64>,
    /// h_y(l), x_y(l), n_y(l) and k_y(l), likewise.
    latest: [Vec<f64>; 2],
    open: [Vec<f64>; 2],
    another: [Vec<f64>; 2],
    follow: [Vec<f64>; 2],
    /// log λ_y.
    log_ratios: [f64; 2],
}

/// log p(y | i)·p(0 | y) of an instance, and log u_i(0).
struct Silent {
    labels: [f64; 2],
    mixed: f64,
}

impl Silent {
    fn of(block: &Block, weights: &LogWeights<'_>, row: usize) -> Self {
        let instance = block.instances.start + row - 1;
        let log_odds = weights.log_odds[instance - weights.start];
        let labels = [0, 1].map(|y| weights.tables.log_joint(log_odds, y, 0));
        Self { labels, mixed: log_add(labels[0], labels[1]) }
    }
}

impl Chains {
    /// As `LogSpace::solve`, without the scale of the stamps' densities.
    #[expect(clippy::too_many_arguments, reason = "those of `LogSpace::solve`, and its buffers")]
    pub(super) fn solve(
        &mut self,
        states: &mut LogSpace,
        band: &Band,
        block: &Block,
        weights: &LogWeights<'_>,
        ratios: [f64; 2],
        emitted: &mut [&mut [f64]; 2],
        outputs: &mut Outputs<'_>,
    ) -> Result<f64, Trouble> {
        self.log_ratios = ratios.map(f64::ln);
        states.begin(band, block);
        let rows = states.lows.len();
        for row in 1..rows {
            self.arrive(states, band, block, weights, row);
            let silent = Silent::of(block, weights, row).mixed;
            let low = states.lows[row - 1];
            for to in states.lows[row]..=states.highs[row] {
                let (k, at) = (to - low, states.at(row, to));
                let stamped = log_add(self.open[0][k], self.open[1][k]);
                states.forward[at] = log_add(self.before[k] + silent, stamped);
                if !states.owned.is_empty() {
                    states.owned[at] = self.sum_owned(states, row, to, silent);
                }
            }
        }
        let log_evidence = states.forward[states.forward.len() - 1];
        if log_evidence == f64::NEG_INFINITY {
            return Err(Trouble::Narrow);
        }
        self.go_back(states, band, block, weights);
        for row in 1..rows {
            self.share(states, band, block, weights, row, emitted, outputs);
        }
        Ok(log_evidence)
    }

    /// As `LogSpace::sum_owned`.
    fn sum_owned(&self, states: &LogSpace, row: usize, to: usize, silent: f64) -> f64 {
        if to == states.lows[row] {
            return states.forward[states.at(row, to)];
        }
        let k = to - states.lows[row - 1];
        let stamped = log_add(self.latest[0][k], self.latest[1][k]);
        match to <= states.highs[row - 1] {
            true => log_add(states.owned[states.at(row - 1, to)] + silent, stamped),
            false => stamped,
        }
    }

    /// Fills in h_y(l) and x_y(l) of a row, from the lowest state before it to its highest one.
    fn arrive(
        &mut self,
        states: &LogSpace,
        band: &Band,
        block: &Block,
        weights: &LogWeights<'_>,
        row: usize,
    ) {
        let silent = Silent::of(block, weights, row);
        let (low, high) = states.states_of(row);
        self.before.clear();
        states.append_before(row, &mut self.before);
        for y in [0, 1] {
            let (latest, open) = (&mut self.latest[y], &mut self.open[y]);
            refill(latest, self.before.len(), f64::NEG_INFINITY);
            refill(open, self.before.len(), f64::NEG_INFINITY);
            for (k, to) in (1..).zip(low + 1..=high) {
                let begun = self.before[k - 1] + silent.labels[y];
                let arrived = log_add(begun, open[k - 1]);
                let density = log_density(band, block, row, to - 1);
                latest[k] = arrived + density + self.log_ratios[y];
                open[k] = log_add(latest[k], open[k - 1] + states.log_backgrounds[to - 1]);
            }
        }
    }

    /// Fills in n_y(l) and k_y(l) of a row, over the same states; needs the backward sums of the row.
    fn follow(&mut self, states: &LogSpace, band: &Band, block: &Block, row: usize) {
        let (low, high) = states.states_of(row);
        states.fill_after(row, &mut self.after);
        for y in [0, 1] {
            let (another, follow) = (&mut self.another[y], &mut self.follow[y]);
            refill(another, self.after.len(), f64::NEG_INFINITY);
            refill(follow, self.after.len(), f64::NEG_INFINITY);
            for from in (low..=high).rev() {
                let k = from - low;
                if from < high {
                    let density = log_density(band, block, row, from);
                    let next = follow[k + 1] + density + self.log_ratios[y];
                    another[k] = log_add(next, another[k + 1] + states.log_backgrounds[from]);
                }
                follow[k] = log_add(self.after[k], another[k]);
            }
        }
    }

    fn go_back(
        &mut self,
        states: &mut LogSpace,
        band: &Band,
        block: &Block,
        weights: &LogWeights<'_>,
    ) {
        refill(&mut states.backward, states.forward.len(), f64::NEG_INFINITY);
        *states.backward.last_mut().expect("one state at least") = 0.0;
        for row in (1..states.lows.len()).rev() {
            self.follow(states, band, block, row);
            let silent = Silent::of(block, weights, row);
            for (k, from) in (states.lows[row - 1]..=states.highs[row - 1]).enumerate() {
                let mut sum = self.after[k] + silent.mixed;
                for y in [0, 1] {
                    sum = log_add(sum, silent.labels[y] + self.another[y][k]);
                }
                let at = states.at(row - 1, from);
                states.backward[at] = sum;
            }
        }
    }

    /// Adds the responsibilities and counts of one instance.
    #[expect(clippy::too_many_arguments, reason = "those of `LogSpace::share`, and its buffers")]
    fn share(
        &mut self,
        states: &LogSpace,
        band: &Band,
        block: &Block,
        weights: &LogWeights<'_>,
        row: usize,
        emitted: &mut [&mut [f64]; 2],
        outputs: &mut Outputs<'_>,
    ) {
        self.arrive(states, band, block, weights, row);
        self.follow(states, band, block, row);
        let log_evidence = states.log_evidence_at(row - 1);
        let instance = block.instances.start + row - 1;
        let low = states.lows[row - 1];
        for k in 1..self.latest[0].len() {
            let ends = self.after[k] - log_evidence;
            let mut masses = [0.0; 2];
            for y in [0, 1] {
                let latest = self.latest[y][k];
                masses[y] = (latest + self.follow[y][k] - log_evidence).exp();
                let last = (latest + ends).exp();
                emitted[y][row - 1] += last;
                // The two-entry table with the same total and the same mean count.
                outputs.expected.0[y][0] += last - masses[y];
                outputs.expected.0[y][1] += masses[y];
            }
            outputs.add_share(band, block.stamps.start + low + k - 1, instance, masses);
        }
    }
}
