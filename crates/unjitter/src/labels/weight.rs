//! Weights of labels, as numbers or as their logarithms.
//!
//! Numbers are fast, and normalised at every step, so that no chain is too long for them; only log-odds of several
//! hundreds leave their range. Logarithms then take over: the recursion is the same.

use crate::math::{exp_in_place, log_add};

/// A weight that is at least zero.
pub(super) trait Weight: Copy + Send + Sync {
    /// No weight.
    const ZERO: Self;
    /// Weight one.
    const ONE: Self;

    /// From a number.
    fn of(number: f64) -> Self;

    /// From logarithms.
    fn exp(logs: Vec<f64>) -> Vec<Self>;

    /// Its logarithm.
    fn ln(self) -> f64;

    /// Whether it is no weight at all.
    fn is_zero(self) -> bool;

    /// Whether another is the same, to this share of it.
    fn agrees(self, other: Self, share: f64) -> bool;

    /// The number.
    fn number(self) -> f64;

    /// Both together.
    fn plus(self, other: Self) -> Self;

    /// The product.
    fn times(self, other: Self) -> Self;

    /// The ratio to a weight that is not zero.
    fn over(self, other: Self) -> Self;

    /// The logarithm of the product of many.
    fn ln_of_product(weights: impl Iterator<Item = Self>) -> f64 {
        weights.map(Self::ln).sum()
    }
}

impl Weight for f64 {
    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;

    fn of(number: f64) -> Self {
        number
    }

    fn exp(mut logs: Vec<f64>) -> Vec<Self> {
        exp_in_place(&mut logs);
        logs
    }

    fn ln(self) -> f64 {
        self.ln()
    }

    fn is_zero(self) -> bool {
        self == 0.0
    }

    fn agrees(self, other: Self, share: f64) -> bool {
        (self - other).abs() <= share * other
    }

    fn number(self) -> f64 {
        self
    }

    fn plus(self, other: Self) -> Self {
        self + other
    }

    fn times(self, other: Self) -> Self {
        self * other
    }

    fn over(self, other: Self) -> Self {
        self / other
    }

    /// Takes a logarithm only where the product would leave its range.
    fn ln_of_product(weights: impl Iterator<Item = Self>) -> f64 {
        let (mut sum, mut product) = (0.0, 1.0_f64);
        for weight in weights {
            let next = product * weight;
            if ORDINARY.contains(&next) {
                product = next;
            } else {
                sum += product.ln();
                product = weight;
            }
        }
        sum + product.ln()
    }
}

/// Products that lose no digits.
const ORDINARY: std::ops::Range<f64> = 1e-150..1e150;

/// The logarithm of a weight.
#[derive(Debug, Clone, Copy)]
pub(super) struct Log(f64);

impl Weight for Log {
    const ZERO: Self = Self(f64::NEG_INFINITY);
    const ONE: Self = Self(0.0);

    fn of(number: f64) -> Self {
        Self(number.ln())
    }

    fn exp(logs: Vec<f64>) -> Vec<Self> {
        logs.into_iter().map(Self).collect()
    }

    fn ln(self) -> f64 {
        self.0
    }

    fn is_zero(self) -> bool {
        self.0 == f64::NEG_INFINITY
    }

    fn agrees(self, other: Self, share: f64) -> bool {
        self.0 == other.0 || (self.0 - other.0).abs() <= share
    }

    fn number(self) -> f64 {
        self.0.exp()
    }

    fn plus(self, other: Self) -> Self {
        Self(log_add(self.0, other.0))
    }

    fn times(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }

    fn over(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}
