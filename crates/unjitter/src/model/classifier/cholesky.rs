//! Cholesky factors of kernel matrices: choosing pivots, factorising, solving.
//!
//! Kernel matrices of real data are singular to working accuracy (repeated rows are common). The
//! usual remedy, jitter on the diagonal, changes the model; choosing pivots greedily and stopping
//! leaves out exactly the landmarks that the chosen ones already explain.
//!
//! Blocked as in LAPACK's `pstrf`: columns of a block are finished one by one, then the rest of the
//! matrix takes one matrix product. n³/3 multiplications, nearly all in that product, shared among
//! threads; the factor replaces the matrix. Only the lower triangle is read; the upper is scratch.

use ndarray::linalg::general_mat_mul;
use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis, s};
use rayon::prelude::*;

use crate::{Error, Result, Stop};

/// A landmark is left out once less than this part of its diagonal entry is unexplained.
///
/// Far above the rounding of the factorisation (about 1e-12 at ten thousand landmarks), and what is
/// left out can move a function of unit norm by no more than √1e-10 = 1e-5.
const UNEXPLAINED: f64 = 1e-10;
/// Columns that are finished before the rest of the matrix is updated.
const BLOCK: usize = 64;
/// Rows of the rest that one thread updates at a time.
const BAND: usize = 256;
/// Rows of a triangular solve that are finished without a matrix product.
const SOLVED: usize = 32;

/// The rows to keep, as many as the rank, each the one least explained by those before it.
/// The diagonal of `matrix` must be 1; its contents are used up.
/// Once `stop` is requested it ends with those it has.
pub(super) fn choose_pivots(matrix: &mut Array2<f64>, stop: Stop<'_>) -> Vec<usize> {
    factorise(matrix, stop, |residuals| {
        let mut best = (0, residuals[0]);
        for (k, &residual) in residuals.iter().enumerate() {
            if residual > best.1 {
                best = (k, residual);
            }
        }
        (best.1 >= UNEXPLAINED).then_some(best.0)
    })
}

/// Overwrites the lower triangle of `matrix`, whose diagonal must be 1, with its Cholesky factor.
pub(super) fn factorise_in_order(matrix: &mut Array2<f64>, stop: Stop<'_>) -> Result<()> {
    let instances = matrix.nrows();
    let mut failed = None;
    let order = factorise(matrix, stop, |residuals| {
        // Half the threshold of choice: the same pivots, factorised anew, may round differently.
        if residuals[0] >= UNEXPLAINED / 2.0 {
            return Some(0);
        }
        failed = Some(residuals[0]);
        None
    });
    match failed {
        _ if stop.is_requested() => Err(Error::Cancelled),
        Some(value) => Err(Error::Kernel { instances, pivot: order.len(), value }),
        None => Ok(()),
    }
}

/// Overwrites `columns` (r × n) with the solution X of factor · X = columns.
pub(super) fn solve_lower(factor: ArrayView2<'_, f64>, mut columns: ArrayViewMut2<'_, f64>) {
    for start in (0..factor.nrows()).step_by(SOLVED) {
        let end = (start + SOLVED).min(factor.nrows());
        let (solved, mut rest) = columns.view_mut().split_at(Axis(0), start);
        let mut block = rest.slice_mut(s![..end - start, ..]);
        general_mat_mul(-1.0, &factor.slice(s![start..end, ..start]), &solved, 1.0, &mut block);
        let triangle = factor.slice(s![start..end, start..end]);
        for i in 0..end - start {
            let (above, mut here) = block.view_mut().split_at(Axis(0), i);
            let mut row = here.row_mut(0);
            for (k, above) in above.rows().into_iter().enumerate() {
                row.scaled_add(-triangle[[i, k]], &above);
            }
            row /= triangle[[i, i]];
        }
    }
}

/// Overwrites `vector` with the solution x of factorᵀ · x = vector.
pub(super) fn solve_transposed(factor: ArrayView2<'_, f64>, vector: &mut [f64]) {
    for i in (0..vector.len()).rev() {
        vector[i] /= factor[[i, i]];
        for j in 0..i {
            vector[j] -= factor[[i, j]] * vector[i];
        }
    }
}

/// Right-looking blocked factorisation. `choose` is shown the unexplained part of the diagonal from
/// the next pivot on and says which of these to take, or to stop. Returns the order taken.
fn factorise(
    matrix: &mut Array2<f64>,
    stop: Stop<'_>,
    mut choose: impl FnMut(&[f64]) -> Option<usize>,
) -> Vec<usize> {
    let count = matrix.nrows();
    let mut order: Vec<usize> = (0..count).collect();
    let mut residuals = vec![1.0; count];
    for start in (0..count).step_by(BLOCK) {
        let end = (start + BLOCK).min(count);
        for j in start..end {
            let ahead = if stop.is_requested() { None } else { choose(&residuals[j..]) };
            let Some(ahead) = ahead else {
                order.truncate(j);
                return order;
            };
            exchange(matrix, j, j + ahead);
            order.swap(j, j + ahead);
            residuals.swap(j, j + ahead);
            finish_column(matrix, start, j, &mut residuals);
        }
        update_rest(matrix, start, end);
    }
    order
}

/// Swaps rows and columns `j` < `p` of the symmetric matrix kept in the lower triangle.
fn exchange(matrix: &mut Array2<f64>, j: usize, p: usize) {
    if j == p {
        return;
    }
    for k in 0..j {
        matrix.swap([j, k], [p, k]);
    }
    for k in j + 1..p {
        matrix.swap([k, j], [p, k]);
    }
    for k in p + 1..matrix.nrows() {
        matrix.swap([k, j], [k, p]);
    }
}

/// L_ij = (A_ij − Σ_{start ≤ t < j} L_it L_jt) / L_jj for all i > j, where A has the columns before
/// `start` taken off already.
fn finish_column(matrix: &mut Array2<f64>, start: usize, j: usize, residuals: &mut [f64]) {
    let pivot = residuals[j].sqrt();
    matrix[[j, j]] = pivot;
    let count = matrix.nrows();
    let values = matrix.as_slice_mut().expect("a kernel matrix is in row order");
    let (above, below) = values.split_at_mut((j + 1) * count);
    let pivot_row = &above[j * count..][start..j];
    for (row, residual) in below.chunks_exact_mut(count).zip(&mut residuals[j + 1..]) {
        let entry = (row[j] - dot(&row[start..j], pivot_row)) / pivot;
        row[j] = entry;
        *residual -= entry * entry;
    }
}

/// Takes the block's columns off the lower triangle below and right of it.
fn update_rest(matrix: &mut Array2<f64>, start: usize, end: usize) {
    let count = matrix.nrows();
    if end == count {
        return;
    }
    let panel = matrix.slice(s![end.., start..end]).to_owned();
    let values = matrix.as_slice_mut().expect("a kernel matrix is in row order");
    let (_, rest) = values.split_at_mut(end * count);
    rest.par_chunks_mut(BAND * count).enumerate().for_each(|(k, band)| {
        let rows = band.len() / count;
        let first = k * BAND;
        let mut band = ArrayViewMut2::from_shape((rows, count), band).expect("whole rows");
        let mut lower = band.slice_mut(s![.., end..end + first + rows]);
        let left = panel.slice(s![first..first + rows, ..]);
        let right = panel.slice(s![..first + rows, ..]);
        general_mat_mul(-1.0, &left, &right.t(), 1.0, &mut lower);
    });
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    let ((a, last_a), (b, last_b)) = (a.as_chunks::<4>(), b.as_chunks::<4>());
    let mut sums = [0.0; 4];
    for (a, b) in a.iter().zip(b) {
        for (sum, (a, b)) in sums.iter_mut().zip(a.iter().zip(b)) {
            *sum += a * b;
        }
    }
    for (sum, (a, b)) in sums.iter_mut().zip(last_a.iter().zip(last_b)) {
        *sum += a * b;
    }
    (sums[0] + sums[2]) + (sums[1] + sums[3])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Random;
    use crate::model::classifier::radial::kernel_matrix;

    fn points(count: usize) -> Array2<f64> {
        let mut random = Random::new(7);
        Array2::from_shape_simple_fn((count, 3), || random.normal())
    }

    fn lower(matrix: &Array2<f64>) -> Array2<f64> {
        Array2::from_shape_fn(matrix.dim(), |(i, j)| if j <= i { matrix[[i, j]] } else { 0.0 })
    }

    /// Textbook greedy choice: full residual matrix, one rank at a time.
    fn plain_pivots(matrix: &Array2<f64>) -> Vec<usize> {
        let count = matrix.nrows();
        let mut rest = Array2::from_shape_fn((count, count), |(i, j)| matrix[[i.max(j), i.min(j)]]);
        let mut order = Vec::new();
        loop {
            let free = (0..count).filter(|i| !order.contains(i));
            let best = free.fold(None, |best: Option<usize>, i| match best {
                Some(b) if rest[[b, b]] >= rest[[i, i]] => Some(b),
                _ => Some(i),
            });
            let Some(p) = best.filter(|&p| rest[[p, p]] >= UNEXPLAINED) else { return order };
            let column = rest.column(p).to_owned();
            for i in 0..count {
                for j in 0..count {
                    rest[[i, j]] -= column[i] * column[j] / column[p];
                }
            }
            order.push(p);
        }
    }

    #[test]
    fn the_factor_times_its_transpose_is_the_matrix() {
        // One block, block boundaries, and several bands.
        for count in [1, 5, BLOCK, BLOCK + 1, 2 * BLOCK + 3, BAND + 2 * BLOCK + 5] {
            let matrix = kernel_matrix(&points(count), 0.2, Stop::default());
            let mut factor = matrix.clone();
            factorise_in_order(&mut factor, Stop::default()).unwrap();
            let factor = lower(&factor);
            let product = factor.dot(&factor.t());
            for i in 0..count {
                for j in 0..=i {
                    // Backward error of Cholesky: n · 1.1e-16 of a unit diagonal.
                    assert!((product[[i, j]] - matrix[[i, j]]).abs() < 1e-13, "{count}: {i}, {j}");
                }
            }
        }
    }

    #[test]
    fn pivots_are_the_greedy_ones() {
        for (count, length_scale) in [(40, 1.0), (150, 0.5), (150, 3.0)] {
            let matrix = kernel_matrix(&points(count), length_scale, Stop::default());
            let plain = plain_pivots(&matrix);
            assert_eq!(
                choose_pivots(&mut matrix.clone(), Stop::default()),
                plain,
                "{count}, {length_scale}"
            );
        }
    }

    #[test]
    fn chosen_rows_factorise_in_their_order() {
        let points = points(200);
        let order =
            choose_pivots(&mut kernel_matrix(&points, 4.0, Stop::default()), Stop::default());
        assert!(order.len() < 200, "this smooth a kernel is singular to 1e-10");
        let chosen = points.select(Axis(0), &order);
        factorise_in_order(&mut kernel_matrix(&chosen, 4.0, Stop::default()), Stop::default())
            .unwrap();
    }

    #[test]
    fn repeated_rows_fail_in_order_and_are_left_out_by_choice() {
        let once = points(70);
        let twice = ndarray::concatenate![Axis(0), once, once];
        let mut order =
            choose_pivots(&mut kernel_matrix(&twice, 0.3, Stop::default()), Stop::default());
        order.iter_mut().for_each(|p| *p %= 70);
        order.sort_unstable();
        assert!(order.iter().copied().eq(0..70), "every row once");
        let error =
            factorise_in_order(&mut kernel_matrix(&twice, 0.3, Stop::default()), Stop::default())
                .unwrap_err();
        assert!(matches!(error, Error::Kernel { instances: 140, pivot: 70, .. }), "{error}");
    }

    #[test]
    fn solving_undoes_multiplication() {
        for count in [1, SOLVED, SOLVED + 1, 3 * SOLVED + 7] {
            let mut factor = kernel_matrix(&points(count), 0.3, Stop::default());
            factorise_in_order(&mut factor, Stop::default()).unwrap();
            let want = Array2::from_shape_fn((count, 6), |(i, j)| (i * 7 + j * 3) as f64 % 5.0);
            let mut got = lower(&factor).dot(&want);
            solve_lower(factor.view(), got.view_mut());
            // The condition of these factors is below 1e3.
            assert!((&got - &want).iter().all(|d| d.abs() < 1e-11), "{count}");
        }
    }
}
