//! Instances with any table of counts: elementary symmetric polynomials of the claims.
//!
//! With E_c those of the earlier claims and K_c the weight of c stamps so far and any of the later ones,
//!
//! ```text
//! E_c ← E_c + μ·E_{c−1}        K_c ← K_c + μ·K_{c+1}, from K_c = u(c)        ν = Σ E_c·K_{c+1} / Σ E_c·K_c
//! ```
//!
//! Both only ever grow, so no digits are lost; each is divided by its largest if it becomes very large.

use super::{Claimants, Row, Settled, Side, Tally};
use crate::inference::outputs::Outputs;
use crate::inference::vocabulary::Trouble;
use crate::math::LANES;

/// Where numbers are divided by their largest.
const LARGE: f64 = 1e100;

/// The instances of a block.
pub(in crate::inference) struct AnyTable {
    /// Largest count.
    most: usize,
    /// p(y)·c!·p(c | y)/u(0)·ρ⁻ᶜ by instance and count, for both labels; zeros for padded windows.
    joint: [Vec<f64>; 2],
    /// log ρ.
    log_growth: f64,
}

impl AnyTable {
    /// `weigh` fills in the weights of a label and count over the block's instances, as divided by ρᶜ.
    pub(in crate::inference) fn new(
        instances: usize,
        most: usize,
        log_growth: f64,
        mut weigh: impl FnMut(usize, usize, &mut [f64]),
    ) -> Self {
        let mut column = vec![0.0; instances];
        let joint = [0, 1].map(|y| {
            let mut joint = vec![0.0; (instances + LANES) * (most + 1)];
            for count in 0..=most {
                weigh(y, count, &mut column);
                for (i, weight) in column.iter().enumerate() {
                    joint[i * (most + 1) + count] = *weight;
                }
            }
            joint
        });
        Self { most, joint, log_growth }
    }

    fn weight(&self, instance: usize, count: usize) -> f64 {
        let at = instance * (self.most + 1) + count;
        self.joint[0][at] + self.joint[1][at]
    }

    /// E_c of some claims, times ρᶜ and divided by e to the returned number.
    fn polynomials(&self, claims: impl Iterator<Item = f64>, sums: &mut [f64]) -> f64 {
        let growth = self.log_growth.exp();
        sums.fill(0.0);
        sums[0] = 1.0;
        let mut log_scale = 0.0;
        for claim in claims {
            add_before(claim * growth, sums);
            log_scale += tame(sums).ln();
        }
        log_scale
    }
}

impl Tally for AnyTable {
    fn width(&self) -> usize {
        self.most + 1
    }

    fn begin(&self, side: Side, running: &mut [f64]) {
        match side {
            Side::Before => {
                running.fill(0.0);
                running.iter_mut().step_by(self.width()).for_each(|first| *first = 1.0);
            }
            Side::After => {
                let weights = self.joint[0].iter().zip(&self.joint[1]);
                running.iter_mut().zip(weights).for_each(|(k, (a, b))| *k = a + b);
            }
        }
    }

    fn offer(&self, row: &mut Row<'_>) {
        let growth = self.log_growth.exp();
        let width = self.width();
        let mut offers = std::mem::take(&mut row.offers);
        let [before, after] = row.sides();
        let sides = before.chunks_exact(width).zip(after.chunks_exact(width));
        for (offer, (before, after)) in offers.iter_mut().zip(sides) {
            let dot = |after: &[f64]| before.iter().zip(after).map(|(e, k)| e * k).sum::<f64>();
            let (one_more, these) = (dot(&after[1..]), dot(after));
            *offer = if these > 0.0 { growth * one_more / these } else { 0.0 };
        }
        std::mem::swap(&mut row.offers, &mut offers);
    }

    fn take(&self, row: &mut Row<'_>) {
        let growth = self.log_growth.exp();
        for (claim, state) in row.claims.iter().zip(row.running.chunks_exact_mut(self.width())) {
            match row.side {
                Side::Before => add_before(claim * growth, state),
                Side::After => {
                    for c in 0..state.len() - 1 {
                        state[c] += claim * growth * state[c + 1];
                    }
                }
            }
            tame(state);
        }
    }
}

fn add_before(claim: f64, state: &mut [f64]) {
    for c in (1..state.len()).rev() {
        state[c] += claim * state[c - 1];
    }
}

/// Divides by the largest if that is large; returns the divisor.
fn tame(state: &mut [f64]) -> f64 {
    let largest = state.iter().fold(0.0, |a: f64, &b| a.max(b));
    if largest < LARGE {
        return 1.0;
    }
    state.iter_mut().for_each(|value| *value /= largest);
    largest
}

impl AnyTable {
    /// As `FirstOrder::conclude`, and records each count.
    pub(in crate::inference) fn conclude(
        &self,
        settled: &Settled<'_>,
        claimants: Claimants<'_>,
        emitted: &mut [&mut [f64]; 2],
        outputs: &mut Outputs<'_>,
    ) -> Result<f64, Trouble> {
        let (mut log_evidence, mut total) = (settled.log_evidence, 0.0);
        let mut sums = vec![0.0; self.width()];
        let first = claimants.block.instances.start;
        if let Some(positive) = outputs.positive.as_deref_mut() {
            let stamps = claimants.block.stamps.clone();
            stamps.for_each(|stamp| positive[claimants.band.padded_cells_of(stamp)].fill(0.0));
        }
        claimants.for_instances(settled, |i, first_stamp, claims| {
            let log_scale = self.polynomials(claims.iter().copied(), &mut sums);
            let all: f64 = (0..=self.most).map(|c| sums[c] * self.weight(i, c)).sum();
            log_evidence += all.ln() + log_scale;
            for y in [0, 1] {
                for (c, sum) in sums.iter().enumerate().skip(1).take(claims.len()) {
                    let mass = sum * self.joint[y][i * self.width() + c] / all;
                    total += c as f64 * mass;
                    emitted[y][i] += mass;
                    outputs.expected.0[y][c] += mass;
                    outputs.record(first + i, c, y, mass);
                }
            }
            let Some(positive) = outputs.positive.as_deref_mut() else { return };
            for k in 0..claims.len() {
                let share = self.positive_share(i, claims, k, &mut sums);
                let cell = claimants.cell(first_stamp + k, first + i);
                positive[cell] = outputs.responsibilities[cell] * share;
            }
        });
        settled.check(total).map(|()| log_evidence)
    }

    /// p(y = 1 | the instance gave stamp k).
    fn positive_share(&self, i: usize, claims: &[f64], k: usize, sums: &mut [f64]) -> f64 {
        let others = claims.iter().enumerate().filter(|(at, _)| *at != k).map(|(_, &claim)| claim);
        self.polynomials(others, sums);
        let given = |y: usize| -> f64 {
            let row = &self.joint[y][i * self.width() + 1..(i + 1) * self.width()];
            row.iter().zip(&*sums).map(|(weight, sum)| weight * sum).sum()
        };
        let (negative, positive) = (given(0), given(1));
        if positive > 0.0 { positive / (negative + positive) } else { 0.0 }
    }
}
