//! Features on one scale: mean 0, deviation 1, wild values clipped, correlations removed.
//!
//! Learned from a sample of the rows, which is accurate enough here. Cost per row: the square of the
//! number of columns; at most [`MOST_COLUMNS`], evenly spaced, are used.

use super::view::View;

/// Most columns used.
const MOST_COLUMNS: usize = 64;
/// Most rows from which scales and correlations are learned.
const SAMPLE: usize = 20_000;
/// Values further from the mean than this many deviations are clipped: one wild instance must not
/// outweigh all others.
const FURTHEST: f64 = 3.0;
/// Share of the variance added to the diagonal, for columns that depend on others.
const RIDGE: f64 = 1e-3;

/// A linear map of rows to one scale.
pub(super) struct Whitening {
    /// Positions of the columns in use.
    places: Vec<usize>,
    means: Vec<f64>,
    /// One divided by the deviation; 0 for a constant column.
    precisions: Vec<f64>,
    /// The inverse of the Cholesky factor of the correlations, column by column: the contribution of each
    /// input column to all outputs.
    outcomes: Vec<f32>,
    /// Number of output columns.
    width: usize,
}

impl Whitening {
    pub(super) fn of(view: &View<'_>) -> Self {
        let all = view.features.len();
        let places: Vec<usize> = (0..all).step_by(all.div_ceil(MOST_COLUMNS)).collect();
        let rows = sample(view, &places);
        let count = (rows.len() / places.len()).max(1) as f64;
        let width = places.len();
        let (mut means, mut squares) = (vec![0.0; width], vec![0.0; width]);
        for row in rows.chunks(width) {
            means.iter_mut().zip(row).for_each(|(mean, x)| *mean += x / count);
        }
        for row in rows.chunks(width) {
            let apart = row.iter().zip(&means).map(|(x, mean)| x - mean);
            squares.iter_mut().zip(apart).for_each(|(square, x)| *square += x * x / count);
        }
        let precision = |&square: &f64| if square > 0.0 { 1.0 / square.sqrt() } else { 0.0 };
        let precisions = squares.iter().map(precision).collect();
        let mut whitening = Self { places, means, precisions, outcomes: Vec::new(), width };
        whitening.outcomes = inverse_factor(whitening.correlations(&rows, count), width);
        whitening
    }

    /// The same, reduced to the component along a direction.
    pub(super) fn along(self, direction: &[f64]) -> Self {
        let part = |column: &[f32]| -> f32 {
            column.iter().zip(direction).map(|(&x, direction)| x * *direction as f32).sum()
        };
        let outcomes = self.outcomes.chunks(self.width).map(part).collect();
        Self { outcomes, width: 1, ..self }
    }

    /// Number of input columns.
    pub(super) fn columns(&self) -> usize {
        self.places.len()
    }

    /// Number of output columns.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// Adds a row, on the scale of its columns, to a sum.
    pub(super) fn add_scaled(&self, row: &[f64], sum: &mut [f32]) {
        for (k, sum) in sum.iter_mut().enumerate() {
            *sum += self.scaled(k, row[self.places[k]]) as f32;
        }
    }

    /// Removes the correlations from a sum of scaled rows, and resets the sum to zero.
    pub(super) fn whiten(&self, sum: &mut [f32], white: &mut [f32]) {
        for (x, column) in sum.iter_mut().zip(self.outcomes.chunks(self.width)) {
            let x = std::mem::take(x);
            white.iter_mut().zip(column).for_each(|(white, outcome)| *white += outcome * x);
        }
    }

    fn scaled(&self, column: usize, x: f64) -> f64 {
        let scaled = (x - self.means[column]) * self.precisions[column];
        // NaN comes from values whose squares are infinite.
        if scaled.is_nan() { 0.0 } else { scaled.clamp(-FURTHEST, FURTHEST) }
    }

    fn correlations(&self, rows: &[f64], count: f64) -> Vec<f64> {
        let width = self.columns();
        let mut matrix = vec![0.0; width * width];
        let mut scaled = vec![0.0; width];
        for row in rows.chunks(width) {
            scaled.iter_mut().enumerate().for_each(|(k, x)| *x = self.scaled(k, row[k]));
            for (k, &x) in scaled.iter().enumerate() {
                let line = &mut matrix[k * width..=k * width + k];
                line.iter_mut().zip(&scaled).for_each(|(sum, y)| *sum += x * y / count);
            }
        }
        for k in 0..width {
            // A constant column has no variance; any value will do.
            let own = &mut matrix[k * width + k];
            *own = if *own > 0.0 { *own * (1.0 + RIDGE) } else { 1.0 };
        }
        matrix
    }
}

/// Values of the chosen columns in evenly spaced rows.
fn sample(view: &View<'_>, places: &[usize]) -> Vec<f64> {
    let every = view.instances().div_ceil(SAMPLE).max(1);
    let mut rows = Vec::new();
    let mut seen: usize = 0;
    for session in &view.sessions {
        let first = seen.next_multiple_of(every) - seen;
        for row in (first..session.times.len()).step_by(every) {
            let values = session.features.row(row);
            rows.extend(places.iter().map(|&place| values[place]));
        }
        seen += session.times.len();
    }
    rows
}

/// The inverse of the lower Cholesky factor of a matrix, given by its lower half row by row; the result
/// is column by column.
fn inverse_factor(mut matrix: Vec<f64>, width: usize) -> Vec<f32> {
    for i in 0..width {
        for j in 0..=i {
            let dot: f64 = (0..j).map(|k| matrix[i * width + k] * matrix[j * width + k]).sum();
            let rest = matrix[i * width + j] - dot;
            matrix[i * width + j] = match i == j {
                // Rounding may leave nothing of a column that depends on others.
                true => rest.max(RIDGE * RIDGE).sqrt(),
                false => rest / matrix[j * width + j],
            };
        }
    }
    let mut inverse = vec![0.0; width * width];
    for column in 0..width {
        for i in column..width {
            let own = f64::from(u8::from(i == column));
            let dot: f64 =
                (column..i).map(|k| matrix[i * width + k] * inverse[column * width + k]).sum();
            inverse[column * width + i] = (own - dot) / matrix[i * width + i];
        }
    }
    inverse.into_iter().map(|x| x as f32).collect()
}
