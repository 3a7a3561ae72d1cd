//! Cholesky factors of kernel matrices: choosing pivots, factorising, solving.
//!
//! Kernel matrices of real data are singular to working accuracy (repeated rows are common). The usual
//! remedy, jitter on the diagonal, changes the model. Choosing pivots greedily and stopping drops exactly
//! the landmarks that the chosen ones already explain.
//!
//! Blocked as in LAPACK's `pstrf`: columns of a block are finished one by one, then one matrix product
//! updates the rest of the matrix. n³/6 multiplications, nearly all in that product, shared among
//! threads; the factor replaces the matrix. Only the lower triangle is read; the upper is scratch.
//!
//! Products are ndarray's. An entry of one depends on its row and its column alone, not on their
//! neighbours, so the factor of chosen rows has the same bits whether pivoting chose them or they were given
//! in that order. `faer` has the whole factorisation, for 500 to 2000 rows in 0.8 of the time on one thread,
//! but adds two minutes of processor time to a first build, and a factorisation of 20 000 rows could not be
//! stopped.

use ndarray::linalg::{general_mat_mul, general_mat_vec_mul};
use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis, s};
use rayon::prelude::*;

use crate::{Control, Error, Result};

/// A landmark is dropped once less than this part of its diagonal entry is unexplained.
///
/// This is far above the rounding of the factorisation (about 1e-12 at ten thousand landmarks), and a
/// dropped landmark can move a function of unit norm by at most √1e-10 = 1e-5.
const UNEXPLAINED: f64 = 1e-10;
/// Columns that are finished before the rest of the matrix is updated.
const BLOCK: usize = 64;
/// Rows of the rest that one thread updates at a time.
const BAND: usize = 256;
/// Rows of a triangular solve that are finished without a matrix product.
const SOLVED: usize = 8;

/// The rows to keep, as many as the rank r, each the one least explained by those before it. The diagonal
/// of `matrix` must be 1; its leading r × r part is overwritten with the Cholesky factor of these rows, as
/// by [`factorise_in_order`], and the rest is destroyed. If a stop is requested, returns the rows so far.
pub(super) fn choose_pivots(matrix: &mut Array2<f64>, control: Control<'_>) -> Vec<usize> {
    factorise(matrix, control, |residuals| {
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
pub(super) fn factorise_in_order(matrix: &mut Array2<f64>, control: Control<'_>) -> Result<()> {
    let instances = matrix.nrows();
    let mut failed = None;
    let order = factorise(matrix, control, |residuals| {
        // Half the threshold of choice: a file may have rounded the chosen rows.
        if residuals[0] >= UNEXPLAINED / 2.0 {
            return Some(0);
        }
        failed = Some(residuals[0]);
        None
    });
    match failed {
        _ if control.is_stop_requested() => Err(Error::Cancelled),
        Some(value) => Err(Error::Kernel { instances, pivot: order.len(), value }),
        None => Ok(()),
    }
}

/// Overwrites `columns` (r × n) with the solution X of factor · X = columns.
///
/// First solves the upper half of the rows; then subtracts its product with the factor from the lower half;
/// then solves that.
pub(super) fn solve_lower(factor: ArrayView2<'_, f64>, mut columns: ArrayViewMut2<'_, f64>) {
    let count = factor.nrows();
    if count <= SOLVED {
        for i in 0..count {
            let (above, mut row) = columns.multi_slice_mut((s![..i, ..], s![i, ..]));
            for (entry, above) in factor.row(i).iter().zip(above.rows()) {
                row.scaled_add(-entry, &above);
            }
            row /= factor[[i, i]];
        }
        return;
    }
    let half = (count / 2).next_multiple_of(SOLVED);
    let (mut upper, mut lower) = columns.split_at(Axis(0), half);
    solve_lower(factor.slice(s![..half, ..half]), upper.view_mut());
    general_mat_mul(-1.0, &factor.slice(s![half.., ..half]), &upper, 1.0, &mut lower);
    solve_lower(factor.slice(s![half.., half..]), lower);
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

/// Right-looking blocked factorisation. `choose` gets the unexplained part of the diagonal from the next
/// pivot on and picks an entry, or stops. Returns the order taken.
fn factorise(
    matrix: &mut Array2<f64>,
    control: Control<'_>,
    mut choose: impl FnMut(&[f64]) -> Option<usize>,
) -> Vec<usize> {
    let count = matrix.nrows();
    let mut order: Vec<usize> = (0..count).collect();
    let mut residuals = vec![1.0; count];
    for start in (0..count).step_by(BLOCK) {
        let end = (start + BLOCK).min(count);
        for j in start..end {
            let ahead = if control.is_stop_requested() { None } else { choose(&residuals[j..]) };
            let Some(ahead) = ahead else {
                order.truncate(j);
                return order;
            };
            exchange(matrix, j, j + ahead);
            order.swap(j, j + ahead);
            residuals.swap(j, j + ahead);
            finish_column(matrix, start, j, &mut residuals[j..]);
        }
        update_rest(matrix, start, end);
    }
    order
}

/// Swaps rows and columns `j` ≤ `p` of the symmetric matrix in the lower triangle, whose columns before
/// `j` are those of the factor.
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

/// L_ij = (A_ij − Σ_{start ≤ t < j} L_it L_jt) / L_jj for all i > j, where the columns before the block
/// are already subtracted from A. `residuals` begin at j.
fn finish_column(matrix: &mut Array2<f64>, start: usize, j: usize, residuals: &mut [f64]) {
    let pivot = residuals[0].sqrt();
    matrix[[j, j]] = pivot;
    let below = s![j + 1.., start..j];
    let (done, row, mut column) = matrix.multi_slice_mut((below, s![j, start..j], s![j + 1.., j]));
    general_mat_vec_mul(-1.0, &done, &row, 1.0, &mut column);
    for (entry, residual) in column.iter_mut().zip(&mut residuals[1..]) {
        *entry /= pivot;
        *residual -= *entry * *entry;
    }
}

/// Subtracts the block's columns from the lower triangle below and right of it.
fn update_rest(matrix: &mut Array2<f64>, start: usize, end: usize) {
    let count = matrix.nrows();
    let panel = matrix.slice(s![end.., start..end]).to_owned();
    let values = matrix.as_slice_mut().expect("a kernel matrix is in row order");
    let (_, rest) = values.split_at_mut(end * count);
    rest.par_chunks_mut(BAND * count).enumerate().for_each(|(k, band)| {
        let rows = band.len() / count;
        let (first, last) = (k * BAND, k * BAND + rows);
        let mut band = ArrayViewMut2::from_shape((rows, count), band).expect("whole rows");
        let mut band = band.slice_mut(s![.., end..end + last]);
        let (left, right) = (panel.slice(s![first..last, ..]), panel.slice(s![..last, ..]));
        general_mat_mul(-1.0, &left, &right.reversed_axes(), 1.0, &mut band);
    });
}

#[cfg(test)]
mod tests {
    use ndarray::Axis;

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
            let matrix = kernel_matrix(&points(count), 0.2, Control::default());
            let mut factor = matrix.clone();
            factorise_in_order(&mut factor, Control::default()).unwrap();
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
            let matrix = kernel_matrix(&points(count), length_scale, Control::default());
            let plain = plain_pivots(&matrix);
            assert_eq!(
                choose_pivots(&mut matrix.clone(), Control::default()),
                plain,
                "{count}, {length_scale}"
            );
        }
    }

    #[test]
    fn chosen_rows_factorise_in_their_order() {
        let points = points(200);
        let order =
            choose_pivots(&mut kernel_matrix(&points, 4.0, Control::default()), Control::default());
        assert!(order.len() < 200, "this smooth a kernel is singular to 1e-10");
        let chosen = points.select(Axis(0), &order);
        factorise_in_order(
            &mut kernel_matrix(&chosen, 4.0, Control::default()),
            Control::default(),
        )
        .unwrap();
    }

    #[test]
    fn repeated_rows_fail_in_order_and_are_left_out_by_choice() {
        let once = points(70);
        let twice = ndarray::concatenate![Axis(0), once, once];
        let mut order =
            choose_pivots(&mut kernel_matrix(&twice, 0.3, Control::default()), Control::default());
        order.iter_mut().for_each(|p| *p %= 70);
        order.sort_unstable();
        assert!(order.iter().copied().eq(0..70), "every row once");
        let error = factorise_in_order(
            &mut kernel_matrix(&twice, 0.3, Control::default()),
            Control::default(),
        )
        .unwrap_err();
        assert!(matches!(error, Error::Kernel { instances: 140, pivot: 70, .. }), "{error}");
    }

    #[test]
    fn solving_undoes_multiplication() {
        for count in [1, SOLVED, SOLVED + 1, 3 * SOLVED + 7] {
            let mut factor = kernel_matrix(&points(count), 0.3, Control::default());
            factorise_in_order(&mut factor, Control::default()).unwrap();
            let want = Array2::from_shape_fn((count, 6), |(i, j)| (i * 7 + j * 3) as f64 % 5.0);
            let mut got = lower(&factor).dot(&want);
            solve_lower(factor.view(), got.view_mut());
            // The condition of these factors is below 1e3.
            assert!((&got - &want).iter().all(|d| d.abs() < 1e-11), "{count}");
        }
    }
}
