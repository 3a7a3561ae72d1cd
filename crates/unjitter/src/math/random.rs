//! Seeded random numbers behind a type of our own.
//!
//! `rand` changes its traits with every major version, so they stay out of public signatures. The
//! generator is ChaCha, whose stream is the same on every platform.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Gamma, StandardNormal};

/// A seeded stream of random numbers: same seed, same numbers, everywhere.
#[derive(Debug, Clone)]
pub struct Random(ChaCha8Rng);

impl Random {
    /// The stream that belongs to `seed`.
    pub fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    /// Uniform on [0, 1).
    pub fn uniform(&mut self) -> f64 {
        self.0.random()
    }

    /// Uniform on {0, …, n − 1}; `n` must be positive.
    pub fn below(&mut self, n: usize) -> usize {
        self.0.random_range(0..n)
    }

    /// Standard normal.
    pub fn normal(&mut self) -> f64 {
        StandardNormal.sample(&mut self.0)
    }

    /// Gamma with the given shape and unit scale; `shape` must be positive and finite.
    pub fn gamma(&mut self, shape: f64) -> f64 {
        Gamma::new(shape, 1.0).expect("the shape is positive and finite").sample(&mut self.0)
    }

    /// An index drawn in proportion to `weights`, which are not negative and not all zero.
    pub fn index(&mut self, weights: &[f64]) -> usize {
        let mut left = self.uniform() * weights.iter().sum::<f64>();
        let mut last = 0;
        for (k, &weight) in weights.iter().enumerate() {
            if weight > 0.0 {
                last = k;
                left -= weight;
                if left < 0.0 {
                    return k;
                }
            }
        }
        // Rounding can leave a small remainder past the end; it goes to the last possible index.
        last
    }
}
