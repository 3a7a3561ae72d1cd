//! Posterior weights of one column by label, until its evidence is known.

use std::ops::Range;

use super::column::{groups, groups_mut, scale};
use super::outputs::Outputs;
use crate::math::Lanes;

/// Over the padded window of stamp l, times the column's evidence.
#[derive(Debug, Default)]
pub(super) struct LabelColumn {
    /// p(w(j,l), 1).
    pub(super) positive: Vec<f64>,
    /// p(l is j's last, y).
    pub(super) last: [Vec<f64>; 2],
}

impl LabelColumn {
    /// Zeros for a column of so many cells.
    #[inline(always)]
    pub(super) fn clear(&mut self, len: usize) {
        let [negative, positive] = &mut self.last;
        for column in [&mut self.positive, negative, positive] {
            column.clear();
            column.resize(len, 0.0);
        }
    }

    /// Divides by the evidence, also the responsibilities of the column's cells. Adds to p(some stamp, y
    /// | z), which begins at the window's first instance. Products are scaled, not factors: products are
    /// at most the evidence, while factors are unbounded.
    #[inline(always)]
    pub(super) fn share(
        &self,
        inverse_evidence: f64,
        cells: Range<usize>,
        emitted: [&mut [f64]; 2],
        outputs: &mut Outputs<'_>,
    ) {
        scale(&mut outputs.responsibilities[cells.clone()], inverse_evidence);
        if let Some(positive) = outputs.positive.as_deref_mut() {
            let positive = &mut positive[cells];
            positive.copy_from_slice(&self.positive);
            scale(positive, inverse_evidence);
        }
        for (emitted, last) in emitted.into_iter().zip(&self.last) {
            for (sum, last) in groups_mut(emitted).iter_mut().zip(groups(last)) {
                *sum = (Lanes(*sum) + Lanes(*last) * inverse_evidence).0;
            }
        }
    }
}
