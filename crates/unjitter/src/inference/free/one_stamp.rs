//! Instances that give one stamp at most: what stamps claim adds up.
//!
//! ```text
//! ν = r / (1 + r·Σ claims)         p(stamped) = r·Σ / (1 + r·Σ)
//! ```

use multiversion::multiversion;

use super::claim::{NewShares, Others, but_own};
use super::row::{Row, Side};
use super::settle::Settled;
use super::tally::Tally;
use crate::inference::column::{groups, groups_mut};
use crate::inference::vocabulary::Trouble;
use crate::math::Lanes;

/// r = u(1)/u(0) of a block's instances, and zeros for padded windows.
pub(in crate::inference) struct OneStamp<'a> {
    pub(in crate::inference) odds: &'a [f64],
}

impl Tally for OneStamp<'_> {
    fn width(&self) -> usize {
        1
    }

    fn begin(&self, _: Side, running: &mut [f64]) {
        running.fill(0.0);
    }

    fn offer(&self, row: &mut Row<'_>) {
        let sides = row.running.iter().zip(row.beyond);
        for (offer, (odds, (a, b))) in
            row.offers.iter_mut().zip(self.odds[row.first..].iter().zip(sides))
        {
            *offer = odds / (1.0 + odds * (a + b));
        }
    }

    fn take(&self, row: &mut Row<'_>) {
        row.running.iter_mut().zip(&*row.claims).for_each(|(sum, claim)| *sum += claim);
    }

    fn visit(&self, row: &mut Row<'_>) -> (f64, f64) {
        visit(&self.odds[row.first..], row)
    }
}

impl OneStamp<'_> {
    /// Adds p(stamped | z) to `emitted`; returns the log evidence relative to silence.
    pub(in crate::inference) fn conclude(
        &self,
        settled: &Settled<'_>,
        emitted: &mut [f64],
    ) -> Result<f64, Trouble> {
        let (mut log_evidence, mut total) = (settled.log_evidence, 0.0);
        for ((odds, sum), emitted) in self.odds.iter().zip(settled.tally).zip(emitted) {
            let stamped = odds * sum;
            if stamped > 0.0 {
                log_evidence += stamped.ln_1p();
                *emitted += stamped / (1.0 + stamped);
                total += stamped / (1.0 + stamped);
            }
        }
        settled.check(total).map(|()| log_evidence)
    }
}

/// All steps of a visit in two loops.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2+fma"))]
fn visit(odds: &[f64], row: &mut Row<'_>) -> (f64, f64) {
    let mut sum = Others::default();
    let density = groups(row.density);
    let claimed = groups(row.running).iter().zip(groups(row.beyond));
    let inputs = density.iter().zip(groups(odds)).zip(claimed);
    for (offer, ((density, odds), (running, beyond))) in
        groups_mut(row.offers).iter_mut().zip(inputs)
    {
        let claimed = Lanes(*odds) * (Lanes(*running) + Lanes(*beyond));
        let own = Lanes(*odds) / (Lanes::all(1.0) + claimed);
        *offer = own.0;
        sum.add(Lanes(*density) * own);
    }
    let (others, largest) = sum.finish(row.background);
    let mut shares = NewShares::new(others + largest);
    let sums = groups_mut(row.running).iter_mut().zip(groups_mut(row.stored));
    let outputs = groups_mut(row.claims).iter_mut().zip(groups_mut(row.responsibilities)).zip(sums);
    let inputs = density.iter().zip(groups(row.offers));
    for ((density, offer), ((claim, share), (running, stored))) in inputs.zip(outputs) {
        let own = Lanes(*density) * Lanes(*offer);
        let new = but_own(*density, own, others, largest);
        *claim = new.0;
        *stored = *running;
        *running = (Lanes(*running) + new).0;
        shares.set(own, share);
    }
    (others + largest, shares.moved.sum())
}
