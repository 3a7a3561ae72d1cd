//! Instances that give one stamp at most: what stamps claim adds up.
//!
//! ```text
//! ν = r / (1 + r·Σ claims)         p(stamped) = r·Σ / (1 + r·Σ)
//! ```

use multiversion::multiversion;

use super::{Settled, Side, Tally};
use crate::inference::column::{groups, groups_mut};
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

    fn offers(&self, first: usize, sides: [&[f64]; 2], offers: &mut [f64]) {
        offer(&self.odds[first..], sides, offers);
    }

    fn take(&self, _: Side, claims: &[f64], running: &mut [f64]) {
        running.iter_mut().zip(claims).for_each(|(sum, claim)| *sum += claim);
    }
}

impl OneStamp<'_> {
    /// Adds p(stamped | z) to `emitted`; returns the log evidence relative to silence.
    pub(in crate::inference) fn conclude(&self, settled: &Settled<'_>, emitted: &mut [f64]) -> f64 {
        let mut log_evidence = settled.log_evidence;
        for ((odds, sum), emitted) in self.odds.iter().zip(settled.tally).zip(emitted) {
            let stamped = odds * sum;
            if stamped > 0.0 {
                log_evidence += stamped.ln_1p();
                *emitted += stamped / (1.0 + stamped);
            }
        }
        log_evidence
    }
}

#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2+fma"))]
fn offer(odds: &[f64], [before, after]: [&[f64]; 2], offers: &mut [f64]) {
    let inputs = groups(odds).iter().zip(groups(before)).zip(groups(after));
    for (offer, ((odds, before), after)) in groups_mut(offers).iter_mut().zip(inputs) {
        let claimed = Lanes(*odds) * (Lanes(*before) + Lanes(*after));
        *offer = (Lanes(*odds) / (Lanes::all(1.0) + claimed)).0;
    }
}
