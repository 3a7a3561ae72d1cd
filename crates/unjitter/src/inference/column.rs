//! Running sums over a stamp's window, as the columns of its neighbours read them.

use super::band::{Band, Span, Window};
use super::span::Trouble;
use crate::math::LANES;

/// Running sums over a window.
#[derive(Debug)]
pub(super) struct Column<'a> {
    pub(super) window: Window,
    pub(super) values: &'a [f64],
}

impl Column<'_> {
    /// scale × (sum up to j − 1) for j in `reader`, a window that does not begin or end earlier.
    pub(super) fn sums_before(&self, reader: Window, scale: f64, out: &mut Vec<f64>) {
        out.clear();
        let (first, end) = (self.window.first + 1, self.window.end + 1);
        let none = first.clamp(reader.first, reader.end);
        let some = end.clamp(none, reader.end);
        out.resize(none - reader.first, 0.0);
        if some > none {
            out.extend(self.values[none - first..some - first].iter().map(|v| v * scale));
        }
        let total = self.values[self.values.len() - 1] * scale;
        out.resize(reader.len(), total);
    }

    /// scale × (sum from j + 1 on) for j in `reader`, a window that does not begin or end later.
    pub(super) fn sums_after(&self, reader: Window, scale: f64, out: &mut Vec<f64>) {
        out.clear();
        let all = self.window.first.saturating_sub(1).clamp(reader.first, reader.end);
        let some = (self.window.end - 1).clamp(all, reader.end);
        out.resize(all - reader.first, self.values[0] * scale);
        if some > all {
            let from = all + 1 - self.window.first;
            out.extend(self.values[from..from + some - all].iter().map(|v| v * scale));
        }
        out.resize(reader.len(), 0.0);
    }
}

/// The forward sums A_l of a block, one column per stamp, unscaled; each column is relative to the
/// total of the one before it.
#[derive(Debug, Default)]
pub(super) struct Forward {
    sums: Vec<f64>,
    inverse_totals: Vec<f64>,
}

impl Forward {
    /// Forgets the block before.
    pub(super) fn clear(&mut self) {
        self.sums.clear();
        self.inverse_totals.clear();
    }

    /// The next entry of a column that is filled one by one.
    pub(super) fn push(&mut self, sum: f64) {
        self.sums.push(sum);
    }

    /// Ends a column, padded as the cells of a band are, and returns the log of its total.
    pub(super) fn finish(&mut self, total: f64) -> Result<f64, Trouble> {
        self.sums.resize(self.sums.len().next_multiple_of(LANES), 0.0);
        if !total.is_normal() {
            return Err(Trouble::Underflow);
        }
        self.inverse_totals.push(1.0 / total);
        Ok(total.ln())
    }

    /// 1 / A_l(∞), l counted within the block.
    pub(super) fn inverse_total(&self, l: usize) -> f64 {
        self.inverse_totals[l]
    }

    /// Fills `out` with A_{l−1}(j−1), divided by its total, for j in the window of l = `stamp`.
    pub(super) fn before(&self, band: &Band, block: &Span, stamp: usize, out: &mut Vec<f64>) {
        let window = band.windows()[stamp];
        if stamp == block.stamps.start {
            out.clear();
            out.resize(window.len(), 1.0);
            return;
        }
        let cells = band.cells_of(stamp - 1);
        let offset = band.cells_of(block.stamps.start).start;
        let column = Column {
            window: band.windows()[stamp - 1],
            values: &self.sums[cells.start - offset..cells.end - offset],
        };
        column.sums_before(window, self.inverse_total(stamp - 1 - block.stamps.start), out);
    }
}

/// Fails unless the scaled evidence of a column is far above what underflow can have taken from it.
///
/// The evidence is a sum of products of two numbers: the weight of the ways to arrive in a cell and
/// that of the ways to go on. An underflow in one of them loses at most 5e-324 times the other, so
/// that with the largest of both at hand the share that was lost is known to be below 1e-33 per
/// cell.
pub(super) fn certify(evidence: f64, largest: f64) -> Result<(), Trouble> {
    // Written so that NaN fails.
    if evidence >= 1e-290 * largest.max(1.0) && evidence.is_finite() {
        Ok(())
    } else {
        Err(Trouble::Underflow)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_read_shifted_sums() {
        // Window 3..6 with running sums 1, 3, 6 (from the left).
        let column = Column { window: Window { first: 3, end: 6 }, values: &[1.0, 3.0, 6.0] };
        let mut out = Vec::new();
        column.sums_before(Window { first: 3, end: 9 }, 10.0, &mut out);
        assert_eq!(out, [0.0, 10.0, 30.0, 60.0, 60.0, 60.0]);
        column.sums_before(Window { first: 8, end: 10 }, 1.0, &mut out);
        assert_eq!(out, [6.0, 6.0]);
        // The same window with sums from the right: 6, 5, 3.
        let column = Column { window: Window { first: 3, end: 6 }, values: &[6.0, 5.0, 3.0] };
        column.sums_after(Window { first: 0, end: 6 }, 1.0, &mut out);
        assert_eq!(out, [6.0, 6.0, 6.0, 5.0, 3.0, 0.0]);
        column.sums_after(Window { first: 0, end: 2 }, 2.0, &mut out);
        assert_eq!(out, [12.0, 12.0]);
    }

    #[test]
    fn the_certificate_refuses_what_may_have_underflowed() {
        assert!(certify(1e-200, 1.0).is_ok());
        for evidence in [1e-291, 0.0, f64::NAN, f64::INFINITY] {
            assert!(certify(evidence, 1.0).is_err(), "{evidence}");
        }
        assert!(certify(1e-200, 1e100).is_err());
    }
}
