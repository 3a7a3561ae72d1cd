//! The radial-basis kernel k(x, z) = exp(−|x − z|² / (2ℓ²)).
//!
//! Squared distances are sums of squared differences rather than |x|² + |z|² − 2x·z: a matrix
//! product would be faster but cancels for points far out and close together, and the factorisation
//! of the kernel matrix needs every digit. This way the diagonal is exactly 1 and nothing is
//! clamped. Three operations per landmark and feature; four points go through at once.

use crate::Stop;
use ndarray::Array2;
use rayon::prelude::*;

/// Partial sums of one squared distance.
const LANES: usize = 4;
/// Points that go through together.
const TOGETHER: usize = 4;

/// Overwrites `out[i] = k(points[i], centre)`; `points` are rows of `centre.len()` numbers.
pub(super) fn kernel_row(centre: &[f64], points: &[f64], length_scale: f64, out: &mut [f64]) {
    let columns = centre.len();
    let row = |i: usize| &points[i * columns..][..columns];
    let (groups, rest) = out.as_chunks_mut::<TOGETHER>();
    let done = groups.len() * TOGETHER;
    for (k, group) in groups.iter_mut().enumerate() {
        let rows: [_; TOGETHER] = std::array::from_fn(|r| row(k * TOGETHER + r));
        *group = squared_distances(rows, centre);
    }
    for (k, out) in rest.iter_mut().enumerate() {
        [*out] = squared_distances([row(done + k)], centre);
    }
    // Divided twice: the square of a tiny length scale would underflow to 0, and 0 / 0 is no number.
    out.iter_mut().for_each(|v| *v = (-0.5 * (*v / length_scale / length_scale)).exp());
}

/// The lower triangle of the kernel matrix of the rows of `points`, with zeros above.
/// Unfinished once `stop` is requested.
pub(super) fn kernel_matrix(
    points: &Array2<f64>,
    length_scale: f64,
    stop: Stop<'_>,
) -> Array2<f64> {
    let (count, columns) = points.dim();
    let values = points.as_slice().expect("owned arrays of points are in row order");
    let mut matrix = Array2::zeros((count, count));
    let rows = matrix.as_slice_mut().expect("a fresh array is in row order");
    rows.par_chunks_mut(count.max(1)).enumerate().for_each(|(i, row)| {
        if stop.is_requested() {
            return;
        }
        let centre = &values[i * columns..][..columns];
        kernel_row(centre, values, length_scale, &mut row[..=i]);
    });
    matrix
}

fn squared_distances<const ROWS: usize>(rows: [&[f64]; ROWS], centre: &[f64]) -> [f64; ROWS] {
    let (centre, last_centre) = centre.as_chunks::<LANES>();
    // Equal lengths, stated so that the loop needs no bounds checks.
    let full = rows.map(|row| &row.as_chunks::<LANES>().0[..centre.len()]);
    let mut sums = [[0.0; LANES]; ROWS];
    for k in 0..centre.len() {
        for (sums, row) in sums.iter_mut().zip(full) {
            for (lane, sum) in sums.iter_mut().enumerate() {
                let difference = row[k][lane] - centre[k][lane];
                *sum += difference * difference;
            }
        }
    }
    for (sums, row) in sums.iter_mut().zip(rows) {
        let last = row.as_chunks::<LANES>().1.iter().zip(last_centre);
        for (sum, (x, centre)) in sums.iter_mut().zip(last) {
            *sum += (x - centre) * (x - centre);
        }
    }
    sums.map(|[a, b, c, d]| (a + c) + (b + d))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Random;

    #[test]
    fn the_matrix_equals_the_formula() {
        let mut random = Random::new(1);
        for (count, columns) in [(1, 0), (3, 1), (6, 4), (9, 7)] {
            let points = Array2::from_shape_simple_fn((count, columns), || random.normal());
            let matrix = kernel_matrix(&points, 1.5, Stop::default());
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
        for (length_scale, apart) in [(1e-200, 0.0), (1e200, 1.0)] {
            kernel_row(&[3.0], &[3.0, 4.0], length_scale, &mut out);
            assert_eq!(out, [1.0, apart]);
        }
    }
}
