//! Weights of the instances of a span, by label and count.

use std::ops::Range;

use super::count_tables::CountTables;
use super::unstamped::Unstamped;
use super::vocabulary::Block;

/// Log-odds of the instances of a span, and the tables that they mix.
#[derive(Debug, Clone, Copy)]
pub(super) struct LogWeights<'a> {
    pub(super) tables: &'a CountTables,
    /// First instance of the span.
    pub(super) start: usize,
    /// One per instance of the span.
    pub(super) log_odds: &'a [f64],
}

impl LogWeights<'_> {
    /// Positions of a block's instances in the span.
    pub(super) fn positions(&self, block: &Block) -> Range<usize> {
        block.instances.start - self.start..block.instances.end - self.start
    }
}

/// The same in the linear domain.
#[derive(Debug)]
pub(super) struct InstanceWeights<'a> {
    pub(super) tables: &'a CountTables,
    pub(super) start: usize,
    pub(super) unstamped: &'a Unstamped,
}

impl InstanceWeights<'_> {
    /// Fills in p(y | f_i)·weight/u_i(0) of a block's instances.
    pub(super) fn odds(&self, block: &Block, label: usize, weight: f64, out: &mut [f64]) {
        let run = block.instances.start - self.start..block.instances.end - self.start;
        self.unstamped.weigh_label(label, weight, run, out);
    }

    /// u_i(c).
    pub(super) fn mixed(&self, instance: usize, count: usize) -> f64 {
        self.joint(instance, 0, count) + self.joint(instance, 1, count)
    }

    /// p(y | f_i)·c!·p(c | y).
    pub(super) fn joint(&self, instance: usize, label: usize, count: usize) -> f64 {
        self.unstamped.label(instance - self.start, label) * self.tables.weight(label, count)
    }
}
