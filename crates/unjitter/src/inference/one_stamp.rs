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
use super::span::{Column, InstanceWeights, Outputs, Trouble, certify};

/// Buffers that outlive a block.
#[derive(Debug, Default)]
pub(super) struct OneStamp {
    /// A_l over the window of l, unscaled, cell by cell.
    forward: Vec<f64>,
    /// 1 / A_l(∞).
    inverse_totals: Vec<f64>,
    before: Vec<f64>,
    after: Vec<f64>,
    suffix: Vec<f64>,
    next_suffix: Vec<f64>,
    odds: Vec<f64>,
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
        let log_evidence = self.forward(band, block)?;
        self.backward(band, block, outputs.cells.responsibilities)?;
        self.emit(band, block, weights, emitted, outputs);
        Ok(log_evidence)
    }

    /// Splits the responsibilities by label.
    fn emit(
        &self,
        band: &Band,
        block: &Span,
        weights: &InstanceWeights<'_>,
        emitted: &mut [Vec<f64>; 2],
        outputs: &mut Outputs<'_>,
    ) {
        let [negatives, positives] = emitted;
        let start = block.instances.start;
        for stamp in block.stamps.clone() {
            let shares = &outputs.cells.responsibilities[band.cells_of(stamp)];
            let sums = &mut positives[band.windows()[stamp].first - start..];
            sums.iter_mut().zip(shares).for_each(|(sum, share)| *sum += share);
        }
        for (i, (negative, positive)) in
            block.instances.clone().zip(negatives.iter_mut().zip(positives.iter_mut()))
        {
            // An instance that cannot give a stamp has none to split.
            let total = *positive;
            if total > 0.0 {
                let inverse = total / weights.mixed(i, 1);
                *positive = weights.joint(i, 1, 1) * inverse;
                *negative = weights.joint(i, 0, 1) * inverse;
                outputs.expected.0[0][1] += *negative;
                outputs.expected.0[1][1] += *positive;
            }
        }
        if let Some(positive) = outputs.cells.positive.as_deref_mut() {
            for stamp in block.stamps.clone() {
                let instances = band.windows()[stamp].first..;
                for (cell, i) in band.cells_of(stamp).zip(instances) {
                    let share = outputs.cells.responsibilities[cell];
                    if share > 0.0 {
                        positive[cell] = share * weights.joint(i, 1, 1) / weights.mixed(i, 1);
                    }
                }
            }
        }
        if outputs.record.is_some() {
            let emitted = negatives.iter().zip(positives.iter());
            for (i, (negative, positive)) in block.instances.clone().zip(emitted) {
                outputs.record(i, 1, 0, *negative);
                outputs.record(i, 1, 1, *positive);
            }
        }
    }

    fn forward(&mut self, band: &Band, block: &Span) -> Result<f64, Trouble> {
        self.forward.clear();
        self.inverse_totals.clear();
        let mut log_evidence = 0.0;
        for stamp in block.stamps.clone() {
            self.fill_before(band, block, stamp);
            let mut total = 0.0;
            let odds = &self.odds[band.windows()[stamp].first - block.instances.start..];
            for ((density, odds), before) in band.density(stamp).iter().zip(odds).zip(&self.before)
            {
                total += density * odds * before;
                self.forward.push(total);
            }
            if !(total.is_normal()) {
                return Err(Trouble::Underflow);
            }
            self.inverse_totals.push(1.0 / total);
            log_evidence += total.ln() + band.log_scale(stamp);
        }
        Ok(log_evidence)
    }

    /// A_{l−1}(j−1) for j in the window of l = `stamp`.
    fn fill_before(&mut self, band: &Band, block: &Span, stamp: usize) {
        let window = band.windows()[stamp];
        if stamp == block.stamps.start {
            self.before.clear();
            self.before.resize(window.len(), 1.0);
            return;
        }
        let cells = band.cells_of(stamp - 1);
        let offset = band.cells_of(block.stamps.start).start;
        let column = Column {
            window: band.windows()[stamp - 1],
            values: &self.forward[cells.start - offset..cells.end - offset],
        };
        let inverse_total = self.inverse_totals[stamp - 1 - block.stamps.start];
        column.sums_before(window, inverse_total, &mut self.before);
    }

    fn backward(
        &mut self,
        band: &Band,
        block: &Span,
        responsibilities: &mut [f64],
    ) -> Result<(), Trouble> {
        let odds_max = self.odds.iter().copied().fold(0.0, f64::max);
        let mut inverse_total = 1.0;
        for stamp in block.stamps.clone().rev() {
            let window = band.windows()[stamp];
            self.fill_before(band, block, stamp);
            if stamp + 1 == block.stamps.end {
                self.after.clear();
                self.after.resize(window.len(), 1.0);
            } else {
                let next = Column { window: band.windows()[stamp + 1], values: &self.next_suffix };
                next.sums_after(window, inverse_total, &mut self.after);
            }
            let responsibilities = &mut responsibilities[band.cells_of(stamp)];
            let odds = &self.odds[window.first - block.instances.start..];
            let density = band.density(stamp);
            self.suffix.clear();
            self.suffix.resize(window.len(), 0.0);
            let (mut total, mut evidence) = (0.0, 0.0);
            for k in (0..window.len()).rev() {
                let onwards = density[k] * odds[k] * self.after[k];
                total += onwards;
                self.suffix[k] = total;
                let both = onwards * self.before[k];
                evidence += both;
                responsibilities[k] = both;
            }
            certify(evidence, odds_max)?;
            let scale = 1.0 / evidence;
            responsibilities.iter_mut().for_each(|r| *r *= scale);
            inverse_total = 1.0 / total;
            std::mem::swap(&mut self.suffix, &mut self.next_suffix);
        }
        Ok(())
    }
}
