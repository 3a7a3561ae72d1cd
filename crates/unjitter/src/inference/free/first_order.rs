//! Instances with c!·p(c | y) = p(0 | y)·λ_yᶜ, as for Poisson counts: claims multiply, label by label.
//!
//! Only the ratio R = Π (1 + λ_1·μ) / (1 + λ_0·μ) of both labels matters to an offer:
//!
//! ```text
//! ν = (s_0·λ_0 + s_1·λ_1·R) / (s_0 + s_1·R)        s_y = p(y | silent)
//! ```

use super::claimants::Claimants;
use super::row::{Row, Side};
use super::settle::Settled;
use super::tally::Tally;
use crate::inference::outputs::Outputs;
use crate::inference::vocabulary::Trouble;

/// A ratio beyond which one label is certain: the square of it is still a number.
const CERTAIN: f64 = 1e150;

/// The instances of a block.
pub(in crate::inference) struct FirstOrder<'a> {
    /// λ_y.
    pub(in crate::inference) ratios: [f64; 2],
    /// s_y of the block's instances, and zeros for padded windows.
    pub(in crate::inference) silent: [&'a [f64]; 2],
}

impl Tally for FirstOrder<'_> {
    fn width(&self) -> usize {
        1
    }

    fn begin(&self, _: Side, running: &mut [f64]) {
        running.fill(1.0);
    }

    fn offer(&self, row: &mut Row<'_>) {
        let [negative, positive] = self.silent.map(|silent| &silent[row.first..]);
        let [low, high] = self.ratios;
        for (k, offer) in row.offers.iter_mut().enumerate() {
            let ratio = row.running[k] * row.beyond[k];
            let (negative, positive) = (negative[k], positive[k] * ratio);
            let both = negative + positive;
            *offer = if both > 0.0 { (negative * low + positive * high) / both } else { 0.0 };
        }
    }

    fn take(&self, row: &mut Row<'_>) {
        let [low, high] = self.ratios;
        for (ratio, claim) in row.running.iter_mut().zip(&*row.claims) {
            *ratio *= (1.0 + high * claim) / (1.0 + low * claim);
            *ratio = ratio.clamp(1.0 / CERTAIN, CERTAIN);
        }
    }
}

impl FirstOrder<'_> {
    /// Adds p(some stamp, y | z) to `emitted`, and the expected counts; returns the log evidence relative
    /// to silence.
    pub(in crate::inference) fn conclude(
        &self,
        settled: &Settled<'_>,
        claimants: Claimants<'_>,
        emitted: &mut [&mut [f64]; 2],
        outputs: &mut Outputs<'_>,
    ) -> Result<f64, Trouble> {
        let (mut log_evidence, mut total) = (settled.log_evidence, 0.0);
        claimants.for_instances(settled, |i, _, claims| {
            // log Π (1 + λμ) and the expected stamps, given the label.
            let given = self.ratios.map(|ratio| {
                let log_product: f64 = claims.iter().map(|claim| (ratio * claim).ln_1p()).sum();
                let share = |claim: &f64| ratio * claim / (1.0 + ratio * claim);
                (log_product, claims.iter().map(share).sum::<f64>())
            });
            let silent = self.silent.map(|silent| silent[i]);
            let highest = [0, 1].map(|y| if silent[y] > 0.0 { given[y].0 } else { 0.0 });
            let highest = highest[0].max(highest[1]);
            let joint = [0, 1].map(|y| silent[y] * (given[y].0 - highest).exp());
            let both = joint[0] + joint[1];
            log_evidence += both.ln() + highest;
            for y in [0, 1] {
                let some = (joint[y] - silent[y] * (-highest).exp()) / both;
                let stamps = joint[y] / both * given[y].1;
                total += stamps;
                emitted[y][i] += some;
                outputs.expected.0[y][0] += some - stamps;
                outputs.expected.0[y][1] += stamps;
            }
        });
        settled.check(total).map(|()| log_evidence)
    }
}
