//! The radial-basis kernel k(x, z) = exp(−|x − z|² / (2ℓ²)).
//!
//! Squared distances are sums of squared differences rather than |x|² + |z|² − 2x·z. A matrix product
//! would be faster but cancels for points far out and close together, and the factorisation of the kernel
//! matrix needs every digit. So the diagonal is exactly 1, the matrix is symmetric to the bit and nothing
//! is clamped. Two operations per landmark and feature.

use ndarray::{Array2, ArrayView2, s};
use rayon::prelude::*;

use super::product::add_squared_distances;
use crate::Control;
use crate::math::exp_in_place;

/// Rows of the kernel matrix that one thread computes at a time.
const BAND: usize = 64;

/// Overwrites `out` with k(centres[i], points[j]), row by row.
pub(super) fn kernel_values(
    centres: ArrayView2<'_, f64>,
    points: ArrayView2<'_, f64>,
    length_scale: f64,
    out: &mut [f64],
) {
    out.fill(0.0);
    add_squared_distances(centres, points, out, points.nrows());
    from_squared_distances(length_scale, out);
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
        let end = first + band.len() / count;
        let centres = points.slice(s![first..end, ..]);
        add_squared_distances(centres, points.slice(s![..end, ..]), band, count);
        for (i, row) in band.chunks_exact_mut(count).enumerate() {
            let (lower, upper) = row.split_at_mut(first + i + 1);
            from_squared_distances(length_scale, lower);
            upper.fill(0.0);
        }
    });
    matrix
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
        let mut out = [f64::NAN; 2];
        let (centre, points) = (array![[3.0]], array![[3.0], [4.0]]);
        for (length_scale, apart) in [(5e-324, 0.0), (1e-200, 0.0), (1e200, 1.0)] {
            kernel_values(centre.view(), points.view(), length_scale, &mut out);
            assert_eq!(out, [1.0, apart]);
        }
    }
}
