//! Expected counts, which the parameters of the counts need.

use super::count_tables::CountTables;

/// Σ_i p(o_i = c, y_i = y | z), the sufficient statistic of the count parameters. For a first-order model
/// only the total and `Σ c·expected[c]` have a meaning; its table has two entries that carry them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Expected(pub [Vec<f64>; 2]);

impl Expected {
    /// Zeros for these tables.
    pub fn zeros(tables: &CountTables) -> Self {
        let mut zeros = Self::default();
        zeros.clear(tables);
        zeros
    }

    /// Resets to zeros for these tables.
    pub fn clear(&mut self, tables: &CountTables) {
        let len = if tables.ratios().is_some() { 2 } else { tables.max_count() + 1 };
        for expected in &mut self.0 {
            expected.clear();
            expected.resize(len, 0.0);
        }
    }

    /// Adds another session's counts; the tables may differ in length.
    pub fn add(&mut self, other: &Expected) {
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            if mine.len() < theirs.len() {
                mine.resize(theirs.len(), 0.0);
            }
            mine.iter_mut().zip(theirs).for_each(|(a, b)| *a += b);
        }
    }
}
