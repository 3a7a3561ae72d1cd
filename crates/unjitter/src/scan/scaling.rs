//! Columns on one scale: mean 0, deviation 1, wild values clipped, many columns folded into few.
//!
//! Means and deviations come from all rows, since a feature may be silent in all but a few. Cost: two
//! passes over the features.

use crate::features::FeatureView;

/// Most columns that remain. Beyond, columns are added up in groups with random signs, so that each of
/// them still counts, though less: dropping columns could drop the only one that tells.
const MOST_COLUMNS: usize = 64;
/// Values further from the mean than this many deviations are clipped: one wild instance must not
/// outweigh all others. Not much smaller, since events may be rare among silent instances.
const FURTHEST: f64 = 10.0;

/// A map of rows to one scale.
pub(crate) struct Scaling {
    means: Vec<f64>,
    /// One divided by the deviation, with the sign of the column in its group; 0 for a constant column.
    precisions: Vec<f64>,
    width: usize,
}

impl Scaling {
    /// None if there is no column, or all are constant.
    pub(crate) fn of<'a>(
        features: impl Iterator<Item = FeatureView<'a>> + Clone,
        columns: usize,
    ) -> Option<Self> {
        let rows = features.clone().map(|view| view.nrows()).sum::<usize>() as f64;
        let (mut means, mut squares) = (vec![0.0; columns], vec![0.0; columns]);
        features.clone().for_each(|view| {
            view.visit_rows(|row| {
                means.iter_mut().zip(row).for_each(|(mean, x)| *mean += x / rows);
            });
        });
        features.for_each(|view| {
            view.visit_rows(|row| {
                let apart = row.iter().zip(&means).map(|(x, mean)| x - mean);
                squares.iter_mut().zip(apart).for_each(|(square, x)| *square += x * x / rows);
            });
        });
        let is_constant = |k: usize| {
            // What rounding leaves of a constant.
            squares[k].is_nan() || squares[k].sqrt() <= 1e-12 * means[k].abs() || squares[k] <= 0.0
        };
        let precision = |k| if is_constant(k) { 0.0 } else { sign(k) / squares[k].sqrt() };
        let precisions: Vec<f64> = (0..columns).map(precision).collect();
        let tells = precisions.iter().any(|precision| *precision != 0.0);
        tells.then(|| Self { means, precisions, width: columns.min(MOST_COLUMNS) })
    }

    /// Number of columns that remain.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// Adds a row to a sum.
    pub(crate) fn add(&self, row: &[f64], sum: &mut [f32]) {
        let scales = self.means.chunks(self.width).zip(self.precisions.chunks(self.width));
        for (values, (means, precisions)) in row.chunks(self.width).zip(scales) {
            let scales = means.iter().zip(precisions);
            for ((sum, x), (mean, precision)) in sum.iter_mut().zip(values).zip(scales) {
                *sum += clipped((x - mean) * precision) as f32;
            }
        }
    }
}

fn clipped(x: f64) -> f64 {
    // NaN comes from values whose squares are infinite.
    if x.is_nan() { 0.0 } else { x.clamp(-FURTHEST, FURTHEST) }
}

/// The sign of a column in its group; columns that need no group keep theirs.
fn sign(column: usize) -> f64 {
    let mixed = ((column / MOST_COLUMNS) as u64).wrapping_mul(column as u64 | 1);
    if mixed.count_ones().is_multiple_of(2) { 1.0 } else { -1.0 }
}

#[cfg(test)]
mod tests {
    use ndarray::Array2;

    use super::*;
    use crate::features::view;

    #[test]
    fn of_many_columns_each_still_counts() {
        let columns = 3 * MOST_COLUMNS + 5;
        let features =
            Array2::from_shape_fn((2, columns), |(i, j)| if i == 0 { 1.0 } else { j as f64 });
        let scaling = Scaling::of(std::iter::once(view(&features)), columns).unwrap();
        assert_eq!(scaling.width(), MOST_COLUMNS);
        for column in (0..columns).filter(|&column| column != 1) {
            let mut row = scaling.means.clone();
            row[column] += 1.0;
            let mut sum = vec![0.0; MOST_COLUMNS];
            scaling.add(&row, &mut sum);
            let told: Vec<usize> = (0..sum.len()).filter(|&k| sum[k] != 0.0).collect();
            assert_eq!(told, [column % MOST_COLUMNS]);
        }
        let negative = scaling.precisions.iter().filter(|x| **x < 0.0).count();
        // The first ones keep their sign; of the others it is about half.
        assert!((columns / 6..columns / 2).contains(&negative), "{negative} of {columns}");
    }

    #[test]
    fn constants_tell_nothing_and_wild_values_are_clipped() {
        let mut features = Array2::from_elem((1000, 2), 0.1);
        assert!(Scaling::of(std::iter::once(view(&features)), 2).is_none());
        features[[7, 1]] = 1e9;
        let scaling = Scaling::of(std::iter::once(view(&features)), 2).unwrap();
        let mut sum = vec![0.0; 2];
        scaling.add(&[0.1, 1e9], &mut sum);
        assert_eq!(sum, [0.0, FURTHEST as f32]);
    }
}
