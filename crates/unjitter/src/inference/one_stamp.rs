//! Blocks where an instance gives one stamp at most.
//!
//! With the silent weights Π u_i(0) taken out, r_i = u_i(1)/u_i(0) and g_l(j) = r_j·p(z_l | t_j),
//! the recursion over states becomes a running sum per stamp:
//!
//! ```text
//! A_l(i) = Σ_{j ≤ i} g_l(j) · A_{l−1}(j−1)        A_0 = 1
//! B_l(i) = Σ_{j ≥ i} g_{l+1}(j) · B_{l+1}(j+1)    B_M = 1
//! p(w(j,l)) ∝ A_{l−1}(j−1) · g_l(j) · B_l(j+1)
//! ```
//!
//! O(1) work per cell; each column is divided by its total.

use super::band::{Band, Span};
use super::column::{Column, Forward, certify};
use super::span::{InstanceWeights, Outputs, Trouble};

/// Buffers that outlive a block.
#[derive(Debug, Default)]
pub(super) struct OneStamp {
    /// r_j, one per instance of the block.
    odds: Vec<f64>,
    forward: Forward,
    before: Vec<f64>,
    after: Vec<f64>,
    suffix: Vec<f64>,
    next_suffix: Vec<f64>,
}

impl OneStamp {
    /// Fills the block's responsibilities, adds p(some stamp, y | z) per instance to `emitted`, and
    /// returns the log evidence relative to Π u_i(0).
    pub(super) fn solve(
        &mut self,
        band: &Band,
        block: &Span,
        weights: &InstanceWeights<'_>,
        emitted: &mut [Vec<f64>; 2],
        outputs: &mut Outputs<'_>,
    ) -> Result<f64, Trouble> {
        self.odds.clear();
        self.odds.extend(block.instances.clone().map(|i| weights.mixed(i, 1) / weights.silent(i)));
        let log_evidence = if block.stamps.len() == 1 {
            self.alone(band, block.stamps.start, outputs.responsibilities)?
        } else {
            let log_evidence = self.forward(band, block)?;
            self.backward(band, block, outputs.responsibilities)?;
            log_evidence
        };
        emit(band, block, weights, emitted, outputs);
        Ok(log_evidence)
    }

    /// A stamp whose window meets no other: one column, no neighbours.
    fn alone(
        &self,
        band: &Band,
        stamp: usize,
        responsibilities: &mut [f64],
    ) -> Result<f64, Trouble> {
        let responsibilities = &mut responsibilities[band.cells_of(stamp)];
        let mut total = 0.0;
        let cells = band.density(stamp).iter().zip(&self.odds);
        for (share, (density, odds)) in responsibilities.iter_mut().zip(cells) {
            *share = density * odds;
            total += *share;
        }
        certify(total, largest(&self.odds))?;
        let scale = 1.0 / total;
        responsibilities.iter_mut().for_each(|share| *share *= scale);
        Ok(total.ln() + band.log_scale(stamp))
    }

    fn forward(&mut self, band: &Band, block: &Span) -> Result<f64, Trouble> {
        self.forward.clear();
        let mut log_evidence = 0.0;
        for stamp in block.stamps.clone() {
            self.forward.before(band, block, stamp, &mut self.before);
            let window = band.windows()[stamp];
            let odds = &self.odds[window.first - block.instances.start..];
            let cells = band.density(stamp).iter().zip(odds).zip(&self.before);
            let mut total = 0.0;
            for (sum, ((density, odds), before)) in
                self.forward.column(window.len()).iter_mut().zip(cells)
            {
                total += density * odds * before;
                *sum = total;
            }
            log_evidence += self.forward.finish(total)? + band.log_scale(stamp);
        }
        Ok(log_evidence)
    }

    fn backward(
        &mut self,
        band: &Band,
        block: &Span,
        responsibilities: &mut [f64],
    ) -> Result<(), Trouble> {
        let odds_max = largest(&self.odds);
        let mut inverse_total = 1.0;
        for stamp in block.stamps.clone().rev() {
            let window = band.windows()[stamp];
            self.forward.before(band, block, stamp, &mut self.before);
            if stamp + 1 == block.stamps.end {
                self.after.clear();
                self.after.resize(window.len(), 1.0);
            } else {
                let next = Column { window: band.windows()[stamp + 1], values: &self.next_suffix };
                next.sums_after(window, inverse_total, &mut self.after);
            }
            let shares = &mut responsibilities[band.cells_of(stamp)];
            self.suffix.resize(window.len(), 0.0);
            let odds = &self.odds[window.first - block.instances.start..][..window.len()];
            let cells = band.density(stamp).iter().zip(odds).zip(&self.after).zip(&self.before);
            let outputs = self.suffix.iter_mut().zip(shares.iter_mut());
            let (mut total, mut evidence) = (0.0, 0.0);
            for ((((density, odds), after), before), (sum, share)) in cells.zip(outputs).rev() {
                let onwards = density * odds * after;
                total += onwards;
                *sum = total;
                *share = onwards * before;
                evidence += *share;
            }
            certify(evidence, odds_max)?;
            let scale = 1.0 / evidence;
            shares.iter_mut().for_each(|share| *share *= scale);
            inverse_total = 1.0 / total;
            std::mem::swap(&mut self.suffix, &mut self.next_suffix);
        }
        Ok(())
    }
}

/// Splits the responsibilities by label.
fn emit(
    band: &Band,
    block: &Span,
    weights: &InstanceWeights<'_>,
    emitted: &mut [Vec<f64>; 2],
    outputs: &mut Outputs<'_>,
) {
    let [negatives, positives] = emitted;
    let start = block.instances.start;
    for stamp in block.stamps.clone() {
        let shares = &outputs.responsibilities[band.cells_of(stamp)];
        let sums = &mut positives[band.windows()[stamp].first - start..];
        sums.iter_mut().zip(shares).for_each(|(sum, share)| *sum += share);
    }
    let [mut negative_total, mut positive_total] = [0.0, 0.0];
    let emitted = negatives.iter_mut().zip(positives.iter_mut());
    for (i, (negative, positive)) in block.instances.clone().zip(emitted) {
        let [joint0, joint1] = [weights.joint(i, 0, 1), weights.joint(i, 1, 1)];
        // An instance that cannot give a stamp has none to split.
        if *positive > 0.0 {
            let scale = *positive / (joint0 + joint1);
            *negative = joint0 * scale;
            *positive = joint1 * scale;
            negative_total += *negative;
            positive_total += *positive;
        }
    }
    outputs.expected.0[0][1] += negative_total;
    outputs.expected.0[1][1] += positive_total;
    if let Some(positive) = outputs.positive.as_deref_mut() {
        for stamp in block.stamps.clone() {
            let instances = band.windows()[stamp].first..;
            for (cell, i) in band.cells_of(stamp).zip(instances) {
                let share = outputs.responsibilities[cell];
                if share > 0.0 {
                    positive[cell] = share * weights.joint(i, 1, 1) / weights.mixed(i, 1);
                }
            }
        }
    }
    if outputs.record.is_some() {
        for (i, (negative, positive)) in
            block.instances.clone().zip(negatives.iter().zip(positives.iter()))
        {
            outputs.record(i, 1, 0, *negative);
            outputs.record(i, 1, 1, *positive);
        }
    }
}

fn largest(values: &[f64]) -> f64 {
    values.iter().copied().fold(0.0, f64::max)
}
