//! Columns without correlations and with deviation 1.
//!
//! Cost per row: the square of the number of columns, half of it for covariances.

/// Share of the variance added to the diagonal, for columns that depend on others.
const RIDGE: f64 = 1e-3;

/// Second moments of columns whose mean is 0.
#[derive(Clone)]
pub(crate) struct Covariances {
    width: usize,
    /// Row by row; only the lower half is filled.
    sums: Vec<f64>,
    count: usize,
}

impl Covariances {
    pub(crate) fn new(width: usize) -> Self {
        Self { width, sums: vec![0.0; width * width], count: 0 }
    }

    /// Number of rows so far.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    pub(crate) fn add(&mut self, row: &[f32]) {
        for (k, &x) in row.iter().enumerate() {
            let line = &mut self.sums[k * self.width..=k * self.width + k];
            line.iter_mut().zip(row).for_each(|(sum, &y)| *sum += f64::from(x) * f64::from(y));
        }
        self.count += 1;
    }

    pub(crate) fn join(&mut self, other: &Self) {
        self.sums.iter_mut().zip(&other.sums).for_each(|(sum, other)| *sum += other);
        self.count += other.count;
    }

    /// The whitening of rows like those added. Correlations lose a share, since few rows show more
    /// correlation than there is.
    pub(crate) fn whitening(mut self, lost: f64) -> Whitening {
        let (width, count) = (self.width, self.count.max(1) as f64);
        let own = |k: usize| self.sums[k * width + k] / count;
        let precision = |k| if own(k) > 0.0 { 1.0 / own(k).sqrt() } else { 0.0 };
        let precisions: Vec<f64> = (0..width).map(precision).collect();
        for i in 0..width {
            for j in 0..i {
                let scale = (1.0 - lost) * precisions[i] * precisions[j] / count;
                self.sums[i * width + j] *= scale;
            }
            self.sums[i * width + i] = 1.0 + RIDGE;
        }
        let mut outcomes = inverse_factor(self.sums, width);
        for (column, precision) in outcomes.chunks_mut(width).zip(precisions) {
            column.iter_mut().for_each(|x| *x *= precision as f32);
        }
        Whitening { outcomes, width }
    }
}

/// A linear map of rows to columns without correlations.
pub(crate) struct Whitening {
    /// Column by column: the contribution of each input column to all outputs.
    outcomes: Vec<f32>,
    /// Number of output columns.
    width: usize,
}

impl Whitening {
    /// The same, reduced to the component along a direction.
    pub(crate) fn along(self, direction: &[f64]) -> Self {
        let part = |column: &[f32]| -> f32 {
            column.iter().zip(direction).map(|(&x, direction)| x * *direction as f32).sum()
        };
        Self { outcomes: self.outcomes.chunks(self.width).map(part).collect(), width: 1 }
    }

    /// Number of output columns.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// Rows without their correlations.
    pub(crate) fn whiten(&self, rows: &[f32]) -> Vec<f32> {
        let inputs = self.outcomes.len() / self.width;
        let mut white = vec![0.0; rows.len() / inputs * self.width];
        for (row, white) in rows.chunks(inputs).zip(white.chunks_mut(self.width)) {
            for (x, column) in row.iter().zip(self.outcomes.chunks(self.width)) {
                white.iter_mut().zip(column).for_each(|(white, outcome)| *white += outcome * x);
            }
        }
        white
    }
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
