//! The two loops that dominate a fit: rows times weights, and back.
//!
//! Four rows go through at once, so that each weight, centre and sum is fetched once for four uses.
//! A dot product runs in four independent partial sums, which the compiler turns into vector
//! instructions without changing the order of summation: a row gives the same bits alone, in any
//! company, in any memory layout and on any machine. Rows that are not contiguous are copied, a few at a time.

use multiversion::multiversion;
use ndarray::{ArrayView2, Axis};

/// Partial sums of one dot product.
const LANES: usize = 4;
/// Rows that go through together.
const TOGETHER: usize = 4;
/// Rows copied at a time when they are not contiguous; a multiple of `TOGETHER`, so that the
/// grouping of rows, and with it every bit of a sum over rows, is that of contiguous rows.
const COPIED: usize = 64 * TOGETHER;

/// Overwrites `out[i] = intercept + Σ_j (rows[i, j] − centres[j]) · weights[j]`.
pub(super) fn log_odds(
    rows: ArrayView2<'_, f64>,
    centres: &[f64],
    weights: &[f64],
    intercept: f64,
    out: &mut [f64],
) {
    debug_assert_eq!(rows.dim(), (out.len(), weights.len()));
    visit_contiguous(rows, |first, values, count| {
        centred_dots(values, centres, weights, intercept, &mut out[first..first + count]);
    });
}

#[multiversion(targets("x86_64+avx2"))]
fn centred_dots(values: &[f64], centres: &[f64], weights: &[f64], intercept: f64, out: &mut [f64]) {
    let columns = weights.len();
    let (groups, rest) = out.as_chunks_mut::<TOGETHER>();
    let done = groups.len() * TOGETHER;
    for (k, group) in groups.iter_mut().enumerate() {
        let rows = rows_from(values, columns, k * TOGETHER);
        *group = centred_dot::<TOGETHER>(rows, centres, weights).map(|dot| intercept + dot);
    }
    for (k, out) in rest.iter_mut().enumerate() {
        let [dot] = centred_dot(rows_from(values, columns, done + k), centres, weights);
        *out = intercept + dot;
    }
}

/// Adds `Σ_i factors[i] · (rows[i, j] − centres[j])` to `sums[j]`.
pub(super) fn add_rows(
    rows: ArrayView2<'_, f64>,
    centres: &[f64],
    factors: &[f64],
    sums: &mut [f64],
) {
    debug_assert_eq!(rows.dim(), (factors.len(), sums.len()));
    visit_contiguous(rows, |first, values, count| {
        add_groups(values, centres, &factors[first..first + count], sums);
    });
}

#[multiversion(targets("x86_64+avx2"))]
fn add_groups(values: &[f64], centres: &[f64], factors: &[f64], sums: &mut [f64]) {
    let columns = sums.len();
    let (groups, rest) = factors.as_chunks::<TOGETHER>();
    let done = groups.len() * TOGETHER;
    for (k, &group) in groups.iter().enumerate() {
        add_group(rows_from(values, columns, k * TOGETHER), group, centres, sums);
    }
    for (k, &factor) in rest.iter().enumerate() {
        add_group(rows_from(values, columns, done + k), [factor], centres, sums);
    }
}

/// Calls `visit(first_row, values, row_count)` on contiguous runs of rows, in order.
fn visit_contiguous(rows: ArrayView2<'_, f64>, mut visit: impl FnMut(usize, &[f64], usize)) {
    if let Some(values) = rows.as_slice() {
        return visit(0, values, rows.nrows());
    }
    for (k, chunk) in rows.axis_chunks_iter(Axis(0), COPIED).enumerate() {
        let values: Vec<f64> = chunk.iter().copied().collect();
        visit(k * COPIED, &values, chunk.nrows());
    }
}

#[inline(always)]
fn rows_from<const ROWS: usize>(values: &[f64], columns: usize, first: usize) -> [&[f64]; ROWS] {
    std::array::from_fn(|k| &values[(first + k) * columns..][..columns])
}

#[inline(always)]
fn centred_dot<const ROWS: usize>(
    rows: [&[f64]; ROWS],
    centres: &[f64],
    weights: &[f64],
) -> [f64; ROWS] {
    let (weights, last_weights) = weights.as_chunks::<LANES>();
    let (centres, last_centres) = centres.as_chunks::<LANES>();
    // Equal lengths, stated so that the loop needs no bounds checks.
    let centres = &centres[..weights.len()];
    let full = rows.map(|row| &row.as_chunks::<LANES>().0[..weights.len()]);
    let mut sums = [[0.0; LANES]; ROWS];
    for k in 0..weights.len() {
        for (sums, row) in sums.iter_mut().zip(full) {
            for (lane, sum) in sums.iter_mut().enumerate() {
                *sum += (row[k][lane] - centres[k][lane]) * weights[k][lane];
            }
        }
    }
    for (sums, row) in sums.iter_mut().zip(rows) {
        let last = row.as_chunks::<LANES>().1.iter().zip(last_centres).zip(last_weights);
        for (sum, ((x, centre), weight)) in sums.iter_mut().zip(last) {
            *sum += (x - centre) * weight;
        }
    }
    sums.map(|[a, b, c, d]| (a + c) + (b + d))
}

#[inline(always)]
fn add_group<const ROWS: usize>(
    rows: [&[f64]; ROWS],
    factors: [f64; ROWS],
    centres: &[f64],
    sums: &mut [f64],
) {
    // Equal lengths, stated so that the loop needs no bounds checks.
    let rows = rows.map(|row| &row[..sums.len()]);
    let centres = &centres[..sums.len()];
    for j in 0..sums.len() {
        let mut total = 0.0;
        for (row, factor) in rows.iter().zip(factors) {
            total += factor * (row[j] - centres[j]);
        }
        sums[j] += total;
    }
}

#[cfg(test)]
mod tests {
    use ndarray::{Array2, ShapeBuilder, s};

    use super::*;
    use crate::math::Random;

    fn numbers(count: usize, seed: u64) -> Vec<f64> {
        let mut random = Random::new(seed);
        (0..count).map(|_| random.normal()).collect()
    }

    #[test]
    fn both_loops_equal_the_nested_formula() {
        for (rows, columns) in [(0, 3), (1, 1), (3, 0), (4, 4), (7, 5), (9, 8), (263, 50)] {
            let values =
                Array2::from_shape_vec((rows, columns), numbers(rows * columns, 1)).unwrap();
            let (centres, weights) = (numbers(columns, 2), numbers(columns, 3));
            let factors = numbers(rows, 4);
            let mut out = vec![f64::NAN; rows];
            log_odds(values.view(), &centres, &weights, 0.5, &mut out);
            let mut sums = vec![1.0; columns];
            add_rows(values.view(), &centres, &factors, &mut sums);

            let mut want_sums = vec![1.0; columns];
            for i in 0..rows {
                let mut want = 0.5;
                for j in 0..columns {
                    want += (values[[i, j]] - centres[j]) * weights[j];
                    want_sums[j] += factors[i] * (values[[i, j]] - centres[j]);
                }
                assert!((out[i] - want).abs() < 1e-13, "row {i} of {rows} × {columns}"); // ≤ 50 terms of O(1)
            }
            for (got, want) in sums.iter().zip(want_sums) {
                assert!((got - want).abs() < 1e-12, "{rows} × {columns}"); // ≤ 263 terms of O(1)
            }
        }
    }

    #[test]
    fn layout_and_company_do_not_change_a_bit() {
        let (rows, columns) = (2 * COPIED + 5, 11);
        let values = Array2::from_shape_vec((rows, columns), numbers(rows * columns, 5)).unwrap();
        let (centres, weights) = (numbers(columns, 6), numbers(columns, 7));
        let factors = numbers(rows, 8);
        let run = |view: ArrayView2<'_, f64>, factors: &[f64]| {
            let (mut out, mut sums) = (vec![0.0; view.nrows()], vec![0.0; columns]);
            log_odds(view, &centres, &weights, -1.0, &mut out);
            add_rows(view, &centres, factors, &mut sums);
            (out, sums)
        };
        let (out, sums) = run(values.view(), &factors);

        let mut by_column = Array2::zeros((rows, columns).f());
        by_column.assign(&values);
        assert_eq!(run(by_column.view(), &factors), (out.clone(), sums.clone()));

        let mut wide = Array2::zeros((rows, 2 * columns));
        wide.slice_mut(s![.., ..;2]).assign(&values);
        assert_eq!(run(wide.slice(s![.., ..;2]), &factors), (out.clone(), sums));

        for i in 0..rows {
            assert_eq!(run(values.slice(s![i..=i, ..]), &factors[i..=i]).0, [out[i]]);
        }
    }
}
