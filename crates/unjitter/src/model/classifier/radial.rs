//! The radial-basis kernel k(x, z) = exp(−|x − z|² / (2ℓ²)).
//!
//! Squared distances are sums of squared differences rather than |x|² + |z|² − 2x·z. A matrix product
//! takes three quarters of the time but cancels for points far out and close together, and the factorisation
//! of the kernel matrix needs every digit: of 50 features, kernel values are good to 7e-16, by a product to
//! 1e-12 for points 30 standard deviations out, and to 3e-9 if the length scale is 0.1 besides (against
//! compensated sums). So the diagonal is exactly 1, the matrix is symmetric to the bit and nothing is
//! clamped. Two operations per landmark and feature.

use multiversion::multiversion;
use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis, s};
use rayon::prelude::*;

use crate::Control;
use crate::math::exp_in_place;

/// Rows of the kernel matrix that one thread computes at a time.
const BAND: usize = 64;
/// Centres of a tile of squared distances, which stays in registers during the loop over features.
const ROWS: usize = 4;
/// Points of a tile.
const COLUMNS: usize = 16;

/// k(centres[i], points[j]), centres × points.
pub(super) fn kernel_values(
    centres: ArrayView2<'_, f64>,
    points: ArrayView2<'_, f64>,
    length_scale: f64,
) -> Array2<f64> {
    let mut values = Array2::zeros((centres.nrows(), points.nrows()));
    squared_distances(centres, points, values.view_mut());
    let all = values.as_slice_mut().expect("a fresh array is in row order");
    from_squared_distances(length_scale, all);
    values
}

/// The lower triangle of the kernel matrix of the rows of `points`, with zeros above. Unfinished if a
/// stop is requested.
pub(super) fn kernel_matrix(
    points: &Array2<f64>,
    length_scale: f64,
    control: Control<'_>,
) -> Array2<f64> {
    let count = points.nrows();
    let mut matrix = Array2::zeros((count, count));
    let rows = matrix.as_slice_mut().expect("a fresh array is in row order");
    rows.par_chunks_mut(BAND * count.max(1)).enumerate().for_each(|(k, band)| {
        if control.is_stop_requested() {
            return;
        }
        let first = k * BAND;
        let rows = band.len() / count;
        let end = first + rows;
        let (centres, points) = (points.slice(s![first..end, ..]), points.slice(s![..end, ..]));
        let mut all = ArrayViewMut2::from_shape((rows, count), &mut *band).expect("whole rows");
        squared_distances(centres, points, all.slice_mut(s![.., ..end]));
        for (i, row) in band.chunks_exact_mut(count).enumerate() {
            let (lower, upper) = row.split_at_mut(first + i + 1);
            from_squared_distances(length_scale, lower);
            upper.fill(0.0);
        }
    });
    matrix
}

/// Overwrites `out` (centres × points). The features of a centre are contiguous.
fn squared_distances(
    centres: ArrayView2<'_, f64>,
    points: ArrayView2<'_, f64>,
    mut out: ArrayViewMut2<'_, f64>,
) {
    // Some points, feature by feature. If the last are fewer, the lanes behind them are never read.
    let mut strip = vec![[0.0; COLUMNS]; points.ncols()];
    let strips = points.axis_chunks_iter(Axis(0), COLUMNS);
    for (points, mut out) in strips.zip(out.axis_chunks_iter_mut(Axis(1), COLUMNS)) {
        for (lane, point) in points.rows().into_iter().enumerate() {
            strip.iter_mut().zip(point).for_each(|(feature, x)| feature[lane] = *x);
        }
        let groups = centres.axis_chunks_iter(Axis(0), ROWS);
        for (group, mut out) in groups.zip(out.axis_chunks_iter_mut(Axis(0), ROWS)) {
            // A group that is not full repeats its last centre.
            let rows = std::array::from_fn(|i| {
                let row = group.index_axis_move(Axis(0), i.min(group.nrows() - 1));
                row.to_slice().expect("the features of a centre are contiguous")
            });
            for (mut out, tile) in out.rows_mut().into_iter().zip(tile(rows, &strip)) {
                out.iter_mut().zip(tile).for_each(|(out, squared)| *out = squared);
            }
        }
    }
}

#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2+fma"))]
fn tile(centres: [&[f64]; ROWS], points: &[[f64; COLUMNS]]) -> [[f64; COLUMNS]; ROWS] {
    // Equal lengths, stated so that the loop needs no bounds checks.
    let centres = centres.map(|centre| &centre[..points.len()]);
    let mut sums = [[0.0; COLUMNS]; ROWS];
    for (k, point) in points.iter().enumerate() {
        for (sums, centre) in sums.iter_mut().zip(centres) {
            for (sum, x) in sums.iter_mut().zip(point) {
                let difference = centre[k] - x;
                *sum = difference.mul_add(difference, *sum);
            }
        }
    }
    sums
}

fn from_squared_distances(length_scale: f64, values: &mut [f64]) {
    // Multiplied twice: the square of a tiny length scale would underflow to 0, and 0 / 0 is NaN. So is 0
    // · ∞; the bound changes nothing, since any distance times it is infinite.
    let inverse = (1.0 / length_scale).min(f64::MAX);
    values.iter_mut().for_each(|value| *value = -0.5 * (*value * inverse * inverse));
    exp_in_place(values);
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;
    use crate::math::Random;

    #[test]
    fn the_matrix_equals_the_formula() {
        let mut random = Random::new(1);
        for (count, columns) in [(1, 0), (3, 1), (6, 4), (9, 7), (2 * BAND + 3, 2)] {
            let points = Array2::from_shape_simple_fn((count, columns), || random.normal());
            let matrix = kernel_matrix(&points, 1.5, Control::default());
            for i in 0..count {
                assert_eq!(matrix[[i, i]], 1.0);
                for j in 0..count {
                    let squared = (&points.row(i) - &points.row(j)).mapv(|d| d * d).sum();
                    let want = if j > i { 0.0 } else { (-squared / (2.0 * 1.5 * 1.5)).exp() };
                    assert!((matrix[[i, j]] - want).abs() < 1e-14); // ≤ 7 terms of O(1), then exp
                }
            }
        }
    }

    #[test]
    fn extreme_length_scales_give_numbers() {
        let (centre, points) = (array![[3.0]], array![[3.0], [4.0]]);
        for (length_scale, apart) in [(5e-324, 0.0), (1e-200, 0.0), (1e200, 1.0)] {
            let values = kernel_values(centre.view(), points.view(), length_scale);
            assert_eq!(values, array![[1.0, apart]]);
        }
    }
}
