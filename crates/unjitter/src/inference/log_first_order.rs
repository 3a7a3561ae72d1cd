//! Log space where c!·p(c | y) = p(0 | y)·λ_yᶜ: the equations of `first_order`, instance by instance.
//!
//! ```text
//! h_y(l) = log p(z_l | t_i)·λ_y + log( a(i−1, l−1)·p(y | i)·p(0 | y) + e^h_y(l−1) )     l is i's latest
//! k_y(l) = log( b(i+1, l) + e^(log p(z_{l+1} | t_i)·λ_y + k_y(l+1)) )                  what can follow
//! a(i, l)   = a(i−1, l)·u_i(0) + Σ_y e^h_y(l)
//! b(i, l−1) = b(i+1, l−1)·u_i(0) + Σ_y p(y | i)·p(0 | y)·λ_y·p(z_l | t_i)·e^k_y(l)
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
    /// h_y(l) of one row, by state.
    latest: [Vec<f64>; 2],
    /// k_y(l), likewise.
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
            for to in states.lows[row]..=states.highs[row] {
                let stay = possible(states, &states.forward, row - 1, to) + silent;
                let k = to - states.lows[row - 1];
                let stamped = log_add(self.latest[0][k], self.latest[1][k]);
                let at = states.at(row, to);
                states.forward[at] = log_add(stay, stamped);
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

    /// Fills in h_y(l) of a row, from the lowest state before it to its highest one.
    fn arrive(
        &mut self,
        states: &LogSpace,
        band: &Band,
        block: &Block,
        weights: &LogWeights<'_>,
        row: usize,
    ) {
        let silent = Silent::of(block, weights, row);
        let (low, high) = (states.lows[row - 1], states.highs[row].max(states.highs[row - 1]));
        for y in [0, 1] {
            let latest = &mut self.latest[y];
            latest.clear();
            latest.push(f64::NEG_INFINITY);
            for to in low + 1..=high {
                let begun = possible(states, &states.forward, row - 1, to - 1) + silent.labels[y];
                let arrived = log_add(begun, latest[to - 1 - low]);
                let density = log_density(band, block, row, to - 1);
                latest.push(arrived + density + self.log_ratios[y]);
            }
        }
    }

    /// Fills in k_y(l) of a row, over the same states; needs the backward sums of the next row.
    fn follow(&mut self, states: &LogSpace, band: &Band, block: &Block, row: usize) {
        let (low, high) = (states.lows[row - 1], states.highs[row].max(states.highs[row - 1]));
        for y in [0, 1] {
            let follow = &mut self.follow[y];
            follow.clear();
            follow.resize(high - low + 1, f64::NEG_INFINITY);
            for at in (low..=high).rev() {
                let ends = possible(states, &states.backward, row, at);
                let next = match at < high {
                    true => follow[at + 1 - low] + log_density(band, block, row, at),
                    false => f64::NEG_INFINITY,
                };
                follow[at - low] = log_add(ends, next + self.log_ratios[y]);
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
            let low = states.lows[row - 1];
            for from in low..=states.highs[row - 1] {
                let mut sum = possible(states, &states.backward, row, from) + silent.mixed;
                if let Some(next) = self.follow[0].get(from + 1 - low) {
                    let density = log_density(band, block, row, from);
                    for (y, follow) in [(0, *next), (1, self.follow[1][from + 1 - low])] {
                        let begun = silent.labels[y] + self.log_ratios[y] + density;
                        sum = log_add(sum, begun + follow);
                    }
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
            let ends = possible(states, &states.backward, row, low + k) - log_evidence;
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

/// The entry of a state in a table; −∞ if the row does not have the state.
fn possible(states: &LogSpace, table: &[f64], row: usize, state: usize) -> f64 {
    match (states.lows[row]..=states.highs[row]).contains(&state) {
        true => table[states.at(row, state)],
        false => f64::NEG_INFINITY,
    }
}
