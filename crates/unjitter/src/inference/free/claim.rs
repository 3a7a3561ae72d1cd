//! What a stamp claims, given what the instances offer: sums over its window, several cells at a time.

use multiversion::multiversion;

use super::row::Row;
use crate::inference::column::{groups, groups_mut};
use crate::math::{LANES, Lanes};

/// A divisor below this could overflow the claim: nothing else explains the stamp.
const TINY: f64 = 1e-290;

/// Claims of a stamp from its densities and offers; overwrites its responsibilities. Returns D and how far
/// these moved.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2+fma"))]
pub(super) fn claim(row: &mut Row<'_>) -> (f64, f64) {
    let mut sum = Others::default();
    for (density, offer) in groups(row.density).iter().zip(groups(row.offers)) {
        sum.add(Lanes(*density) * Lanes(*offer));
    }
    let (others, largest) = sum.finish(row.background);
    let mut shares = NewShares::new(others + largest);
    let inputs = groups(row.density).iter().zip(groups(row.offers));
    let outputs = groups_mut(row.claims).iter_mut().zip(groups_mut(row.responsibilities));
    for ((density, offer), (claim, share)) in inputs.zip(outputs) {
        let own = Lanes(*density) * Lanes(*offer);
        *claim = but_own(*density, own, others, largest).0;
        shares.set(own, share);
    }
    (others + largest, shares.moved.sum())
}

/// Sums of terms from which one can be left out without cancellation: the largest is kept apart.
pub(super) struct Others {
    top: Lanes,
    rest: Lanes,
}

impl Default for Others {
    #[inline(always)]
    fn default() -> Self {
        Self { top: Lanes::all(0.0), rest: Lanes::all(0.0) }
    }
}

impl Others {
    #[inline(always)]
    pub(super) fn add(&mut self, terms: Lanes) {
        self.rest += self.top.min(terms);
        self.top = self.top.max(terms);
    }

    /// The sum of a number and all terms but the largest, and the largest.
    #[inline(always)]
    pub(super) fn finish(self, start: f64) -> (f64, f64) {
        let (mut largest, mut others) = (0.0, 0.0);
        for lane in self.top.0 {
            others += f64::min(largest, lane);
            largest = f64::max(largest, lane);
        }
        (start + (self.rest.sum() + others), largest)
    }
}

/// The claim: the density over all terms but the own.
#[inline(always)]
pub(super) fn but_own(density: [f64; LANES], own: Lanes, others: f64, largest: f64) -> Lanes {
    let sum = Lanes::all(others) + (Lanes::all(largest) - own);
    Lanes(density) / sum.max(Lanes::all(TINY))
}

/// Responsibilities that replace the last ones.
pub(super) struct NewShares {
    inverse: Lanes,
    pub(super) moved: Lanes,
}

impl NewShares {
    #[inline(always)]
    pub(super) fn new(total: f64) -> Self {
        Self { inverse: Lanes::all(1.0 / total.max(TINY)), moved: Lanes::all(0.0) }
    }

    #[inline(always)]
    pub(super) fn set(&mut self, own: Lanes, share: &mut [f64; LANES]) {
        let new = own * self.inverse;
        let change = new - Lanes(*share);
        self.moved += change.max(Lanes::all(0.0) - change);
        *share = new.0;
    }
}

/// Σ log(1 + μν), from products: the responsibilities of a stamp sum to one, so these stay in range.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2+fma"))]
pub(super) fn log_agreement(claims: &[f64], offers: &[f64]) -> f64 {
    let mut products = Lanes::all(1.0);
    let mut logs = 0.0;
    for (claim, offer) in groups(claims).iter().zip(groups(offers)) {
        products = products * (Lanes::all(1.0) + Lanes(*claim) * Lanes(*offer));
        if products.0.iter().any(|&product| product > 1e30) {
            logs += products.0.iter().map(|product| product.ln()).sum::<f64>();
            products = Lanes::all(1.0);
        }
    }
    logs + products.0.iter().product::<f64>().ln()
}

/// The geometric mean of new claims and the last ones.
pub(super) fn dampen(claims: &mut [f64], last: &mut [f64]) {
    for (claim, last) in claims.iter_mut().zip(last) {
        if *last > 0.0 {
            // Their product could underflow.
            *claim = claim.sqrt() * last.sqrt();
        }
        *last = *claim;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_of_any_size_are_damped() {
        // Those of instances that must give a stamp.
        let (mut claims, mut last) = ([1e-200, 4e200, 3.0], [4e-200, 1e200, 0.0]);
        dampen(&mut claims, &mut last);
        for (got, want) in claims.into_iter().zip([2e-200, 2e200, 3.0]) {
            assert!((got / want - 1.0).abs() < 1e-15, "{got} {want}"); // two roundings
        }
        assert_eq!(claims, last);
    }
}
