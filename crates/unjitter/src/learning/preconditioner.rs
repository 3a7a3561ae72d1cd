//! A first guess of the curvature, which L-BFGS then need not find step by step.
//!
//! Nearly redundant features make an objective flat in some directions and steep in others; steps along
//! the gradient then go back and forth. If the log-odds f are linear in the parameters, as they locally
//! are for any classifier, the cross-entropy has the curvature
//!
//! ```text
//! H = Σ_i p_i·(1 − p_i)·∇f_i·∇f_iᵀ + diag(precisions)      p_i = sigmoid(f_i)
//! ```
//!
//! A guess need not be exact: a sample of the rows suffices, which bounds the cost for any size of the
//! data. The guess affects the speed, not the result.

use multiversion::multiversion;

use super::objective::Curvature;
use crate::FeatureView;
use crate::math::sigmoid;
use crate::model::classifier::Classifier;

/// Number of sampled rows, about.
const ROWS: usize = 2048;

/// Most parameters of a classifier: for more, a matrix of them squared costs more than it saves.
const MAX_PARAMETERS: usize = 100;

/// Added to the diagonal, as a share of its largest entry, since columns may depend on each other.
const RIDGE: f64 = 1e-9;

/// An approximate Hessian: a Cholesky factor for the classifier's parameters, which come first, and one
/// number for each other parameter.
#[derive(Debug)]
pub(super) struct Preconditioner {
    size: usize,
    /// L with H = L·Lᵀ, row by row; only the lower triangle is used.
    factor: Vec<f64>,
    others: f64,
}

impl Preconditioner {
    /// The curvature of cross-entropy and prior at `params`, for `prepared` features and a precision per
    /// parameter; `others` is that of further parameters. `None` if it would not pay.
    pub(super) fn new<'a>(
        classifier: &dyn Classifier,
        params: &[f64],
        prepared: impl Iterator<Item = FeatureView<'a>> + Clone,
        precisions: &[f64],
        others: f64,
    ) -> Option<Self> {
        let size = params.len();
        let rows: usize = prepared.clone().map(|features| features.nrows()).sum();
        if size > MAX_PARAMETERS || rows < size {
            return None;
        }
        let stride = rows.div_ceil(ROWS);
        let mut hessian = vec![0.0; size * size];
        let mut slopes = vec![0.0; size];
        for features in prepared {
            for i in (0..features.nrows()).step_by(stride) {
                let row = features.slice(i..i + 1);
                let mut log_odds = [0.0];
                classifier.log_odds(params, row, &mut log_odds);
                let p = sigmoid(log_odds[0]);
                slopes.fill(0.0);
                classifier.pull_back(params, row, &[1.0], &mut slopes);
                add_square(&mut hessian, &slopes, stride as f64 * p * (1.0 - p));
            }
        }
        let largest = (0..size).fold(0.0, |high: f64, k| high.max(hessian[k * size + k]));
        for (k, precision) in precisions.iter().enumerate() {
            hessian[k * size + k] += precision + RIDGE * largest;
        }
        factorise(&mut hessian, size).then_some(Self { size, factor: hessian, others })
    }
}

impl Curvature for Preconditioner {
    fn solve(&self, gradient: &mut [f64]) {
        let (own, others) = gradient.split_at_mut(self.size);
        for i in 0..self.size {
            let row = &self.factor[i * self.size..][..=i];
            let sum: f64 = row[..i].iter().zip(&*own).map(|(l, x)| l * x).sum();
            own[i] = (own[i] - sum) / row[i];
        }
        for i in (0..self.size).rev() {
            let row = &self.factor[i * self.size..][..=i];
            own[i] /= row[i];
            let x = own[i];
            own[..i].iter_mut().zip(row).for_each(|(g, l)| *g -= l * x);
        }
        others.iter_mut().for_each(|g| *g /= self.others);
    }
}

/// Adds `factor`·xxᵀ to the lower triangle.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2+fma"))]
fn add_square(matrix: &mut [f64], x: &[f64], factor: f64) {
    for (row, (i, scale)) in matrix.chunks_exact_mut(x.len()).zip(x.iter().enumerate()) {
        let scale = factor * scale;
        for (sum, x) in row[..=i].iter_mut().zip(x) {
            *sum += scale * x;
        }
    }
}

/// Cholesky factorisation in place; false if the matrix is not positive definite and finite.
fn factorise(matrix: &mut [f64], size: usize) -> bool {
    for i in 0..size {
        let (above, rest) = matrix.split_at_mut(i * size);
        let row = &mut rest[..size];
        for j in 0..i {
            let other = &above[j * size..][..=j];
            let sum: f64 = row[..j].iter().zip(other).map(|(a, b)| a * b).sum();
            row[j] = (row[j] - sum) / other[j];
        }
        let sum: f64 = row[..i].iter().map(|a| a * a).sum();
        let pivot = row[i] - sum;
        if !(pivot > 0.0 && pivot.is_finite()) {
            return false;
        }
        row[i] = pivot.sqrt();
    }
    true
}

#[cfg(test)]
mod tests {
    use ndarray::Array2;

    use super::*;
    use crate::Features;
    use crate::math::Random;
    use crate::model::classifier::Logistic;

    fn normal(rows: usize, columns: usize) -> Features<'static> {
        let mut random = Random::new(1);
        Array2::from_shape_simple_fn((rows, columns), || random.normal()).into()
    }

    #[test]
    fn solving_undoes_the_curvature_of_the_formula() {
        let features = normal(50, 2);
        let logistic = Logistic::fit(&[features.view()]);
        let (params, precisions) = ([0.5, -1.0, 0.2], [2.0, 2.0, 0.1]);
        let features = features.view();
        let (head, tail) = (features.slice(0..20), features.slice(20..50));
        let guess =
            Preconditioner::new(&logistic, &params, [head, tail].into_iter(), &precisions, 4.0)
                .unwrap();
        let x = [1.0, -2.0, 3.0];
        let mut product: Vec<f64> = precisions.iter().zip(x).map(|(a, b)| a * b).collect();
        for row in features.chunks(1) {
            let mut slopes = [0.0; 3];
            logistic.pull_back(&params, row, &[1.0], &mut slopes);
            let along: f64 = slopes.iter().zip(x).map(|(a, b)| a * b).sum();
            let mut log_odds = [0.0];
            logistic.log_odds(&params, row, &mut log_odds);
            let p = sigmoid(log_odds[0]);
            product.iter_mut().zip(slopes).for_each(|(sum, s)| *sum += p * (1.0 - p) * along * s);
        }
        product.push(12.0);
        guess.solve(&mut product);
        for (got, want) in product.iter().zip([1.0, -2.0, 3.0, 3.0]) {
            assert!((got - want).abs() < 1e-7, "{got} is not {want}"); // the ridge is 1e-9
        }
    }

    #[test]
    fn a_sample_of_the_rows_counts_for_all() {
        let features = normal(16 * ROWS, 1);
        let logistic = Logistic::fit(&[features.view()]);
        let all = [features.view()].into_iter();
        let guess = Preconditioner::new(&logistic, &[0.0; 2], all, &[0.0; 2], 1.0).unwrap();
        let mut solved = [1.0, 1.0];
        guess.solve(&mut solved);
        let want = 4.0 / features.view().nrows() as f64; // p·(1 − p) is a quarter, squares are one on average
        // 2048 squares of normal numbers: their mean has a standard deviation of √(2/2048) = 3 %.
        assert!(solved.iter().all(|got| (got / want - 1.0).abs() < 0.15), "{solved:?}");
    }

    #[test]
    fn what_cannot_be_told_from_the_features_is_no_guess() {
        let few = normal(2, 2);
        let logistic = Logistic::fit(&[few.view()]);
        let none = |params: [f64; 3], features: &Features<'_>| {
            let all = [features.view()].into_iter();
            Preconditioner::new(&logistic, &params, all, &[1.0; 3], 1.0).is_none()
        };
        assert!(none([0.0; 3], &few));
        assert!(none([f64::NAN; 3], &normal(9, 2)));
        assert!(!none([0.0; 3], &normal(9, 2)));
    }
}
