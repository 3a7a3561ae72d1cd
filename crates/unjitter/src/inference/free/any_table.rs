//! Instances with any table of counts: elementary symmetric polynomials of the claims.
//!
//! With E_c those of the earlier claims and K_c the weight of c stamps so far and any of the later ones,
//!
//! ```text
//! E_c ← E_c + μ·E_{c−1}        K_c ← K_c + μ·K_{c+1}, from K_c = u(c)        ν = Σ E_c·K_{c+1} / Σ E_c·K_c
//! ```
//!
//! Both only ever grow, so no digits are lost; each is divided by its largest if it becomes very large.

use super::claimants::Claimants;
use super::row::{Row, Side};
use super::settle::Settled;
use super::tally::Tally;
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
            let (one_more, these) = (dot(before, &after[1..]), dot(before, after));
            *offer = if these > 0.0 { growth * one_more / these } else { 0.0 };
        }
        std::mem::swap(&mut row.offers, &mut offers);
    }

    fn take(&self, row: &mut Row<'_>) {
        let growth = self.log_growth.exp();
        for (claim, state) in row.claims.iter().zip(row.running.chunks_exact_mut(self.width())) {
            match row.side {
                Side::Before => add_before(claim * growth, state),
                Side::After => add_after(claim * growth, state),
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

fn add_after(claim: f64, state: &mut [f64]) {
    for c in 1..state.len() {
        state[c - 1] += claim * state[c];
    }
}

fn dot(before: &[f64], after: &[f64]) -> f64 {
    before.iter().zip(after).map(|(e, k)| e * k).sum()
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
        let (mut sums, mut shares) = (vec![0.0; self.width()], Vec::new());
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
            self.positive_shares(i, claims, &mut shares);
            for (k, share) in shares.iter().enumerate() {
                let cell = claimants.cell(first_stamp + k, first + i);
                positive[cell] = outputs.responsibilities[cell] * share;
            }
        });
        settled.check(total).map(|()| log_evidence)
    }

    /// Overwrites `shares` with p(y = 1 | the instance gave stamp k), for the stamps of all claims:
    ///
    /// ```text
    /// p(y, stamp k is its own) ∝ Σ_c E_c·K_{c+1}(y)        E_c of the claims before k, K_c of those after it
    /// ```
    fn positive_shares(&self, i: usize, claims: &[f64], shares: &mut Vec<f64>) {
        let (most, tilt) = (self.most, self.tilt(claims));
        let claims = || claims.iter().map(|claim| claim * self.log_growth.exp() / tilt);
        let mut before = vec![0.0; most];
        before[0] = 1.0;
        let mut earlier = Vec::with_capacity(claims().len() * most);
        for claim in claims() {
            earlier.extend_from_slice(&before);
            add_before(claim, &mut before);
            tame(&mut before);
        }
        // From K_1 on, of both labels, so that they keep one scale.
        let mut after = vec![0.0; 2 * most];
        for (label, joint) in after.chunks_exact_mut(most).zip(&self.joint) {
            let joint = &joint[i * self.width() + 1..];
            for (c, (k, weight)) in label.iter_mut().zip(joint).enumerate() {
                *k = weight * tilt.powi(c as i32 + 1 - most as i32);
            }
        }
        shares.clear();
        for (claim, before) in claims().zip(earlier.chunks_exact(most)).rev() {
            let (negative, positive) = after.split_at_mut(most);
            let (a, b) = (dot(before, negative), dot(before, positive));
            shares.push(if b > 0.0 { b / (a + b) } else { 0.0 });
            add_after(claim, negative);
            add_after(claim, positive);
            tame(&mut after);
        }
        shares.reverse();
    }

    /// A number by whose power c one may divide E_c, and multiply K_c. If there are more large claims than
    /// stamps that the instance may give, E_c is largest for large c and K_c for small c, and every product
    /// of the two could underflow; divided by this, only so many claims exceed one.
    fn tilt(&self, claims: &[f64]) -> f64 {
        let mut sorted = claims.to_vec();
        sorted.sort_by(|a, b| b.total_cmp(a));
        sorted.get(self.most - 1).map_or(1.0, |claim| (claim * self.log_growth.exp()).max(1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Random;

    /// p(y = 1 | the instance gave stamp k), from the polynomials of all claims but k's.
    fn positive_share(table: &AnyTable, claims: &[f64], k: usize) -> f64 {
        let others = claims.iter().enumerate().filter(|(at, _)| *at != k).map(|(_, &claim)| claim);
        let mut sums = vec![0.0; table.width()];
        table.polynomials(others, &mut sums);
        let [negative, positive] = [0, 1].map(|y| dot(&sums, &table.joint[y][1..table.width()]));
        positive / (negative + positive)
    }

    #[test]
    fn shares_are_those_by_the_other_claims() {
        let mut random = Random::new(7);
        for case in 0..400 {
            let (most, stamps) = (1 + case % 8, 1 + case % 17);
            let growth = 0.3 * random.normal();
            let table = AnyTable::new(1, most, growth, |_, _, weight| weight[0] = random.uniform());
            let sizes = [[0.0; 3], [100.0; 3], [-100.0; 3], [-100.0, 0.0, 100.0]][case / 8 % 4];
            let mut claim = || {
                let size = sizes[(3.0 * random.uniform()) as usize];
                10_f64.powf(size + random.normal())
            };
            let claims: Vec<f64> = (0..stamps).map(|_| claim()).collect();
            let mut shares = Vec::new();
            table.positive_shares(0, &claims, &mut shares);
            assert_eq!(shares.len(), stamps);
            for (k, share) in shares.iter().enumerate() {
                let want = positive_share(&table, &claims, k);
                // Some dozens of sums and products of positive numbers.
                assert!((share / want - 1.0).abs() < 1e-12, "{claims:?} {k}: {share} {want}");
            }
        }
    }
}
