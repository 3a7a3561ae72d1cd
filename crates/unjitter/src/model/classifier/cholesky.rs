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
//! Every entry is one chain of fused multiply-adds, L_ij = (A_ij − L_i0 L_j0 − L_i1 L_j1 − …) / L_jj, in
//! this order. So the factor of chosen rows has the same bits whether pivoting chose them or they were
//! given in that order.

use multiversion::multiversion;
use ndarray::{Array2, ArrayView2, ArrayViewMut2, s};
use rayon::prelude::*;

use super::product::subtract_product;
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
/// Rows of a strip of the panel.
const LANES: usize = 32;

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

/// Overwrites `columns` (r × n, in row order) with the solution X of factor · X = columns.
pub(super) fn solve_lower(factor: ArrayView2<'_, f64>, mut columns: ArrayViewMut2<'_, f64>) {
    let width = columns.ncols();
    solve_rows(factor, columns.as_slice_mut().expect("columns are in row order"), width);
}

/// First the upper half of the rows; then subtracts its product with the factor from the lower half; then
/// solves that.
fn solve_rows(factor: ArrayView2<'_, f64>, rows: &mut [f64], width: usize) {
    let count = factor.nrows();
    if count <= SOLVED {
        return solve_few_rows(factor, rows, width);
    }
    let half = (count / 2).next_multiple_of(SOLVED);
    let (upper, lower) = rows.split_at_mut(half * width);
    solve_rows(factor.slice(s![..half, ..half]), upper, width);
    let solved = ArrayView2::from_shape((half, width), upper).expect("whole rows");
    subtract_product(factor.slice(s![half.., ..half]), solved, lower, width);
    solve_rows(factor.slice(s![half.., half..]), lower, width);
}

#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2+fma"))]
fn solve_few_rows(factor: ArrayView2<'_, f64>, rows: &mut [f64], width: usize) {
    for i in 0..factor.nrows() {
        let (above, here) = rows.split_at_mut(i * width);
        let row = &mut here[..width];
        for (k, above) in above.chunks_exact(width.max(1)).enumerate() {
            let entry = -factor[[i, k]];
            row.iter_mut().zip(above).for_each(|(x, above)| *x = entry.mul_add(*above, *x));
        }
        let pivot = factor[[i, i]];
        row.iter_mut().for_each(|x| *x /= pivot);
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
        let mut panel = Panel::new(start, count);
        for j in start..end {
            let ahead = if control.is_stop_requested() { None } else { choose(&residuals[j..]) };
            let Some(ahead) = ahead else {
                panel.write(matrix);
                order.truncate(j);
                return order;
            };
            exchange(matrix, start, j, j + ahead);
            panel.exchange(j, j + ahead);
            order.swap(j, j + ahead);
            residuals.swap(j, j + ahead);
            panel.finish_column(matrix, j, &mut residuals);
        }
        panel.write(matrix);
        update_rest(matrix, start, end);
    }
    order
}

/// Swaps rows and columns `j` < `p` of the symmetric matrix in the lower triangle, except for the columns
/// of the block that begins at `start`.
fn exchange(matrix: &mut Array2<f64>, start: usize, j: usize, p: usize) {
    if j == p {
        return;
    }
    for k in 0..start {
        matrix.swap([j, k], [p, k]);
    }
    for k in j + 1..p {
        matrix.swap([k, j], [p, k]);
    }
    for k in p + 1..matrix.nrows() {
        matrix.swap([k, j], [k, p]);
    }
}

/// The finished columns of one block from its first row on, in strips of `LANES` rows: a strip has
/// its columns one after the other, so that rows lie side by side in vectors.
struct Panel {
    start: usize,
    rows: usize,
    columns: usize,
    strips: Vec<[f64; LANES]>,
}

impl Panel {
    fn new(start: usize, count: usize) -> Self {
        let rows = count - start;
        let strips = vec![[0.0; LANES]; rows.div_ceil(LANES) * BLOCK];
        Self { start, rows, columns: 0, strips }
    }

    /// The entry of the matrix at row `i` and column `j`.
    fn entry(&mut self, i: usize, j: usize) -> &mut f64 {
        let row = i - self.start;
        &mut self.strips[row / LANES * BLOCK + (j - self.start)][row % LANES]
    }

    fn exchange(&mut self, j: usize, p: usize) {
        for column in self.start..self.start + self.columns {
            let entry = *self.entry(j, column);
            *self.entry(j, column) = std::mem::replace(self.entry(p, column), entry);
        }
    }

    /// L_ij = (A_ij − Σ_{start ≤ t < j} L_it L_jt) / L_jj for all i > j, where the columns before the
    /// block are already subtracted from A.
    fn finish_column(&mut self, matrix: &Array2<f64>, j: usize, residuals: &mut [f64]) {
        let pivot = residuals[j].sqrt();
        let column = matrix.column(j);
        for i in j + 1..self.start + self.rows {
            *self.entry(i, j) = column[i];
        }
        let pivot_row: Vec<f64> = (self.start..j).map(|t| *self.entry(j, t)).collect();
        let first = (j - self.start) / LANES * BLOCK;
        finish_strips(&mut self.strips[first..], &pivot_row, pivot);
        *self.entry(j, j) = pivot;
        for (i, residual) in residuals.iter_mut().enumerate().skip(j + 1) {
            let entry = *self.entry(i, j);
            *residual = (-entry).mul_add(entry, *residual);
        }
        self.columns += 1;
    }

    /// Writes the finished columns to the matrix.
    fn write(&mut self, matrix: &mut Array2<f64>) {
        let (start, end) = (self.start, self.start + self.columns);
        for i in start..start + self.rows {
            for j in start..end.min(i + 1) {
                matrix[[i, j]] = *self.entry(i, j);
            }
        }
    }
}

/// The column after those of `pivot_row`, in every strip.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2+fma"))]
fn finish_strips(strips: &mut [[f64; LANES]], pivot_row: &[f64], pivot: f64) {
    for strip in strips.chunks_exact_mut(BLOCK) {
        let (done, open) = strip.split_at_mut(pivot_row.len());
        let mut column = open[0];
        for (done, entry) in done.iter().zip(pivot_row) {
            for lane in 0..LANES {
                column[lane] = (-entry).mul_add(done[lane], column[lane]);
            }
        }
        open[0] = column.map(|x| x / pivot);
    }
}

/// Subtracts the block's columns from the lower triangle below and right of it.
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
        let left = panel.slice(s![first..first + rows, ..]);
        let right = panel.slice(s![..first + rows, ..]);
        subtract_product(left, right.reversed_axes(), &mut band[end..], count);
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
