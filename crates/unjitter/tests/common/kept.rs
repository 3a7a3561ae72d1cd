//! Rows of given log-odds that keep what is derived in them.

use std::ops::Range;
use std::sync::Mutex;

use unjitter::model::{Rows, Sums};

/// Rows that keep the derivatives in their log-odds.
pub(crate) struct Kept<'a> {
    pub(crate) log_odds: &'a [f64],
    pub(crate) derivatives: Mutex<Vec<f64>>,
}

impl Rows for Kept<'_> {
    fn at_a_time(&self) -> usize {
        512
    }

    fn log_odds<'a>(&'a self, instances: Range<usize>, _: &'a mut [f64]) -> &'a [f64] {
        &self.log_odds[instances]
    }

    fn pull_back(&self, instances: Range<usize>, d_log_odds: &mut [f64], _: &mut Sums) {
        self.derivatives.lock().unwrap()[instances].copy_from_slice(d_log_odds);
    }
}
