//! The two loops that dominate a fit: rows times weights, and back.
//!
//! Four rows are processed at once, so that each weight, centre and sum is loaded once for four uses. A dot
//! product runs in four independent partial sums, which the compiler vectorises without changing the order
//! of summation: a row gives the same bits alone, among any others, in either precision and on any machine.
//!
//! A product of ndarray takes 0.4 to 2.6 times as long there and 1.4 to 7 times back, by features (10 to
//! 200) and precision, rows in cache; `faer` 0.3 to 0.8 times in double precision, and up to 2.3 times in
//! single, which it needs converted (minima of alternating runs on one thread). Both would need a centred
//! copy, or the means in the intercept, which loses every digit that an offset has above the spread: 1e-7
//! of a log-odds at an offset of 1e9.

use multiversion::multiversion;

use crate::FeatureView;
use crate::features::Values;

/// Partial sums of one dot product.
const LANES: usize = 4;
/// Rows processed together.
const TOGETHER: usize = 4;

/// Overwrites `out[i] = intercept + Σ_j (rows[i, j] − centres[j]) · weights[j]`.
pub(super) fn log_odds(
    rows: FeatureView<'_>,
    centres: &[f64],
    weights: &[f64],
    intercept: f64,
    out: &mut [f64],
) {
    debug_assert_eq!(rows.dim(), (out.len(), weights.len()));
    match rows.values() {
        Values::Double(values) => centred_dots(values, centres, weights, intercept, out),
        Values::Single(values) => centred_dots(values, centres, weights, intercept, out),
    }
}

#[multiversion(targets("x86_64+avx2"))]
fn centred_dots<T: Copy + Into<f64>>(
    values: &[T],
    centres: &[f64],
    weights: &[f64],
    intercept: f64,
    out: &mut [f64],
) {
    let columns = weights.len();
    let (groups, rest) = out.as_chunks_mut::<TOGETHER>();
    let done = groups.len() * TOGETHER;
    for (k, group) in groups.iter_mut().enumerate() {
        let rows = rows_from(values, columns, k * TOGETHER);
        *group = centred_dot::<T, TOGETHER>(rows, centres, weights).map(|dot| intercept + dot);
    }
    for (k, out) in rest.iter_mut().enumerate() {
        let [dot] = centred_dot(rows_from(values, columns, done + k), centres, weights);
        *out = intercept + dot;
    }
}

/// Adds `Σ_i factors[i] · (rows[i, j] − centres[j])` to `sums[j]`.
pub(super) fn add_rows(rows: FeatureView<'_>, centres: &[f64], factors: &[f64], sums: &mut [f64]) {
    debug_assert_eq!(rows.dim(), (factors.len(), sums.len()));
    match rows.values() {
        Values::Double(values) => add_groups(values, centres, factors, sums),
        Values::Single(values) => add_groups(values, centres, factors, sums),
    }
}

#[multiversion(targets("x86_64+avx2"))]
fn add_groups<T: Copy + Into<f64>>(
    values: &[T],
    centres: &[f64],
    factors: &[f64],
    sums: &mut [f64],
) {
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

#[inline(always)]
fn rows_from<T, const ROWS: usize>(values: &[T], columns: usize, first: usize) -> [&[T]; ROWS] {
    std::array::from_fn(|k| &values[(first + k) * columns..][..columns])
}

#[inline(always)]
fn centred_dot<T: Copy + Into<f64>, const ROWS: usize>(
    rows: [&[T]; ROWS],
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
                *sum += (row[k][lane].into() - centres[k][lane]) * weights[k][lane];
            }
        }
    }
    for (sums, row) in sums.iter_mut().zip(rows) {
        let last = row.as_chunks::<LANES>().1.iter().zip(last_centres).zip(last_weights);
        for (sum, ((&x, centre), weight)) in sums.iter_mut().zip(last) {
            *sum += (x.into() - centre) * weight;
        }
    }
    sums.map(|[a, b, c, d]| (a + c) + (b + d))
}

#[inline(always)]
fn add_group<T: Copy + Into<f64>, const ROWS: usize>(
    rows: [&[T]; ROWS],
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
            total += factor * (row[j].into() - centres[j]);
        }
        sums[j] += total;
    }
}

#[cfg(test)]
mod tests {
    use ndarray::Array2;

    use super::*;
    use crate::Features;
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
            let features = Features::from(values.view());
            log_odds(features.view(), &centres, &weights, 0.5, &mut out);
            let mut sums = vec![1.0; columns];
            add_rows(features.view(), &centres, &factors, &mut sums);

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
    fn precision_and_company_do_not_change_a_bit() {
        let (rows, columns) = (517, 11);
        let single = Array2::from_shape_vec((rows, columns), numbers(rows * columns, 5)).unwrap();
        let single = single.mapv(|x| x as f32);
        let double = Features::from(single.mapv(f64::from));
        let single = Features::from(single);
        let (centres, weights) = (numbers(columns, 6), numbers(columns, 7));
        let factors = numbers(rows, 8);
        let run = |rows: FeatureView<'_>, factors: &[f64]| {
            let (mut out, mut sums) = (vec![0.0; rows.nrows()], vec![0.0; columns]);
            log_odds(rows, &centres, &weights, -1.0, &mut out);
            add_rows(rows, &centres, factors, &mut sums);
            (out, sums)
        };
        let (out, sums) = run(double.view(), &factors);
        assert_eq!(run(single.view(), &factors), (out.clone(), sums));
        for i in 0..rows {
            assert_eq!(run(double.view().slice(i..i + 1), &factors[i..=i]).0, [out[i]]);
        }
    }
}
