//! Sums over a stamp's window, in the layout that neighbouring columns read.
//!
//! Later stamps read whole groups of [`LANES`] cells directly from a column, wherever their windows begin
//! and although they end later than its own.

use std::ops::Range;

use super::vocabulary::{Trouble, Window};
use crate::math::{LANES, Lanes};

/// Positions of a block's columns in a buffer, one after the other.
#[derive(Debug, Default)]
pub(super) struct Columns {
    /// The first instance of each column.
    firsts: Vec<usize>,
    /// Beginnings of the columns, and the end of the last.
    starts: Vec<usize>,
}

impl Columns {
    /// Removes all columns.
    pub(super) fn clear(&mut self) {
        self.firsts.clear();
        self.starts.clear();
        self.starts.push(0);
    }

    /// Starts over with a column for A_0, which has no stamp, and one for each window.
    pub(super) fn lay_out(&mut self, windows: &[Window]) {
        self.clear();
        self.push(windows[0].first, windows[0].end);
        self.add(windows, windows.len());
    }

    /// Adds the columns of the first `count` windows.
    pub(super) fn add(&mut self, windows: &[Window], count: usize) {
        for (l, window) in windows[..count].iter().enumerate() {
            let next = windows.get(l + 1).unwrap_or(window);
            self.push(window.first, next.end);
        }
    }

    /// Adds a column that begins at the instance `first`. The next stamp reads it until `read_until`,
    /// later ones less, and each also reads the rest of its last group.
    fn push(&mut self, first: usize, read_until: usize) {
        self.firsts.push(first);
        self.starts.push(self.end() + read_until - first + LANES);
    }

    /// End of the last column.
    pub(super) fn end(&self) -> usize {
        self.starts[self.starts.len() - 1]
    }

    /// Range of column l.
    #[inline(always)]
    pub(super) fn place(&self, l: usize) -> Range<usize> {
        self.starts[l]..self.starts[l + 1]
    }

    /// Range of the last column.
    pub(super) fn last(&self) -> Range<usize> {
        self.place(self.firsts.len() - 1)
    }

    /// Position of an instance in column l.
    #[inline(always)]
    pub(super) fn at(&self, l: usize, instance: usize) -> usize {
        self.starts[l] + instance - self.firsts[l]
    }
}

/// Makes A_l out of its sums over owners, which begin one later: adds ρ·A_{l−1}, the ways in which stamp l
/// comes from nowhere, and divides by the total. Both columns begin at the same instance; without one
/// before, A_{l−1} is 1.
#[inline(always)]
pub(super) fn complete(column: &mut [f64], before: Option<&[f64]>, background: f64, total: f64) {
    let inverse_total = 1.0 / total;
    let share = background * inverse_total;
    let (first, sums) = column.split_at_mut(1);
    first[0] = before.map_or(share, |before| before[0] * share);
    if background == 0.0 {
        scale(sums, inverse_total);
    } else if let Some(before) = before {
        for (sums, before) in groups_mut(sums).iter_mut().zip(groups(&before[1..])) {
            *sums = (Lanes(*sums) * inverse_total + Lanes(*before) * share).0;
        }
    } else {
        for sums in groups_mut(sums) {
            *sums = (Lanes(*sums) * inverse_total + Lanes::all(share)).0;
        }
    }
}

/// Adds ρ·B_l to the sums of B_{l−1} over owners. `suffix` begins at the first instance of the window,
/// where it is not read; `after` begins one later.
#[inline(always)]
pub(super) fn complete_back(suffix: &mut [f64], after: &[f64], background: f64) {
    if background > 0.0 {
        let pairs = suffix[1..].iter_mut().zip(after);
        pairs.for_each(|(sum, after)| *sum += background * after);
    }
}

/// The divisor of a column, given its total and the largest number beside it.
///
/// That is the total, unless an instance with hundreds of stamps is so much more likely to continue than
/// any other is to begin that both numbers do not fit into one range.
#[inline(always)]
pub(super) fn divisor(total: f64, largest: f64) -> f64 {
    if largest > 1e200 * total { largest } else { total }
}

/// B_{l−1}(j+1) over the window of l − 1, from the sums over that of l.
#[inline(always)]
pub(super) fn look_back(
    reader: Window,
    window: Window,
    total: f64,
    divisor: f64,
    suffix: &[f64],
    after: &mut Vec<f64>,
) {
    after.resize(reader.len().next_multiple_of(LANES), 0.0);
    let (all, some) = after.split_at_mut(window.first - reader.first);
    let inverse_total = 1.0 / divisor;
    all.fill(total / divisor);
    let read = some.len().min(suffix.len() - 1);
    let (some, none) = some.split_at_mut(read);
    some.iter_mut().zip(&suffix[1..]).for_each(|(after, sum)| *after = sum * inverse_total);
    none.fill(0.0);
}

#[inline(always)]
pub(super) fn groups(values: &[f64]) -> &[[f64; LANES]] {
    values.as_chunks().0
}

#[inline(always)]
pub(super) fn groups_mut(values: &mut [f64]) -> &mut [[f64; LANES]] {
    values.as_chunks_mut().0
}

#[inline(always)]
pub(super) fn scale(values: &mut [f64], factor: f64) {
    values.iter_mut().for_each(|value| *value *= factor);
}

/// Fails unless the scaled evidence of a column is far above the possible loss by underflow.
///
/// The evidence is a sum of products of two numbers: the weight of the ways to arrive in a cell and that
/// of the ways to continue. An underflow in one of them loses at most 5e-324 times the other. So the
/// largest of both bounds the lost share below 1e-33 per cell.
///
/// If stamp l may come from nowhere, the sum over its cells is not the whole evidence. That is then known
/// from the scales of the columns: a_l times the share of A_l·B_l whose owners are in order.
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
    fn a_column_is_read_past_its_end() {
        // Sums over 3..6 from the right are 6, 5, 3: as the window 2..5 sees them, one later.
        let (reader, window) = (Window { first: 2, end: 5 }, Window { first: 3, end: 6 });
        let suffix = [6.0, 5.0, 3.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
        let mut after = vec![f64::NAN; 16];
        look_back(reader, window, 6.0, 6.0, &suffix, &mut after);
        assert_eq!(after, [1.0, 5.0 * (1.0 / 6.0), 0.5, 0.0, 0.0, 0.0, 0.0, 0.0]);
    }

    #[test]
    fn whole_groups_of_later_windows_lie_in_a_column() {
        // Both ends advance by these steps from stamp to stamp: every remainder of a group occurs.
        for (from, to) in (0..100_usize).map(|step| (step / 10, step % 10)) {
            let window = |l: usize| Window { first: from * l, end: 40 + to * l };
            let windows: Vec<_> = (0..4).map(window).collect();
            let mut columns = Columns::default();
            columns.clear();
            columns.add(&windows, windows.len());
            assert_eq!(columns.last(), columns.place(3));
            for (l, own) in windows.iter().enumerate() {
                assert!(columns.place(l).len() > own.len().next_multiple_of(LANES));
                for reader in &windows[l + 1..] {
                    let shared = windows[l + 1].end - reader.first;
                    let end = columns.at(l, reader.first) + shared.next_multiple_of(LANES);
                    assert!(end <= columns.place(l).end, "{from} {to}");
                }
            }
        }
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
