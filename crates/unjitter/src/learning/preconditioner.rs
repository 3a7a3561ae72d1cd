//! A guess of the curvature, which L-BFGS then need not find step by step.
//!
//! Nearly redundant features make an objective flat in some directions and steep in others; steps along
//! the gradient then go back and forth. If the log-odds f are linear in the parameters, as they locally
//! are for any classifier, the cross-entropy has the curvature
//!
//! ```text
//! H = Σ_i p_i·(1 − p_i)·∇f_i·∇f_iᵀ + diag(precisions)      p_i = sigmoid(f_i)
//! ```
//!
//! Stamps tell less than labels, and less in some directions than in others. What they tell is, in expectation, the
//! square of the score. So for the evidence of stamps, with stretches k of a few instances each,
//!
//! ```text
//! H = Σ_k s_k·s_kᵀ + diag(precisions)      s_k = Σ_{i in k} ∂ log Z/∂f_i·∇f_i
//! ```
//!
//! A guess need not be exact: a sample of the rows suffices for the cross-entropy, which bounds the cost for any
//! size of the data. The guess affects the speed, not the result.

use multiversion::multiversion;

use super::objective::Curvature;
use crate::FeatureView;
use crate::math::{factorise, log_sum, sigmoid, solve};
use crate::model::classifier::Classifier;

/// Number of sampled rows, about, that suffice for a guess.
pub(super) const ROWS: usize = 2048;

/// Rows of a score.
const SCORED: usize = 64;

/// Most parameters of a classifier: for more, a matrix of them squared costs more than it saves.
const MAX_PARAMETERS: usize = 100;

/// Added to the diagonal, as a share of its largest entry, since columns may depend on each other.
const RIDGE: f64 = 1e-9;

/// A symmetric matrix over the classifier's parameters, row by row; only the lower triangle is used.
#[derive(Debug, Clone)]
pub(super) struct Square {
    size: usize,
    entries: Vec<f64>,
    /// Squares that were added.
    terms: usize,
}

impl Square {
    /// Zeros; `None` for too many parameters.
    pub(super) fn new(size: usize) -> Option<Self> {
        (size <= MAX_PARAMETERS).then(|| Self { size, entries: vec![0.0; size * size], terms: 0 })
    }

    /// The curvature of the cross-entropy at `params`, for `prepared` features, of about so many rows at most.
    /// `None` if there are too many parameters, or too few rows.
    pub(super) fn of_cross_entropy<'a>(
        classifier: &dyn Classifier,
        params: &[f64],
        prepared: impl Iterator<Item = FeatureView<'a>> + Clone,
        most_rows: usize,
    ) -> Option<Self> {
        let mut square = Self::new(params.len())?;
        let rows: usize = prepared.clone().map(|features| features.nrows()).sum();
        if rows < square.size {
            return None;
        }
        let stride = rows.div_ceil(most_rows);
        let mut slopes = vec![0.0; square.size];
        for features in prepared {
            for i in (0..features.nrows()).step_by(stride) {
                let row = features.slice(i..i + 1);
                let mut log_odds = vec![0.0; classifier.outputs()];
                classifier.log_odds(params, row, &mut log_odds);
                if let [only] = log_odds[..] {
                    let p = sigmoid(only);
                    slopes.fill(0.0);
                    classifier.pull_back(params, row, &[1.0], &mut slopes);
                    square.add(&slopes, stride as f64 * p * (1.0 - p));
                    continue;
                }
                // The expected square of the score, over the label: of softmax, onehot(y) − p.
                for (label, p) in shares(&log_odds).into_iter().enumerate() {
                    let mut d_log_odds: Vec<f64> =
                        shares(&log_odds)[1..].iter().map(|p| -p).collect();
                    if label > 0 {
                        d_log_odds[label - 1] += 1.0;
                    }
                    slopes.fill(0.0);
                    classifier.pull_back(params, row, &d_log_odds, &mut slopes);
                    square.add(&slopes, stride as f64 * p);
                }
            }
        }
        Some(square)
    }

    /// Adds the scores of a session, given the derivatives of its evidence in the log-odds, by instance and class.
    pub(super) fn add_scores(
        &mut self,
        classifier: &dyn Classifier,
        params: &[f64],
        features: FeatureView<'_>,
        slopes: &[f64],
    ) {
        let mut score = vec![0.0; self.size];
        let together = SCORED * classifier.outputs();
        for (rows, slopes) in features.chunks(SCORED).zip(slopes.chunks(together)) {
            score.fill(0.0);
            classifier.pull_back(params, rows, slopes, &mut score);
            self.add(&score, 1.0);
        }
    }

    /// The entry of a row and a column.
    pub(super) fn at(&self, row: usize, column: usize) -> f64 {
        self.entries[row.max(column) * self.size + row.min(column)]
    }

    /// Whether there are enough squares to tell all directions apart.
    pub(super) fn is_certain(&self) -> bool {
        self.terms >= 4 * self.size
    }

    fn add(&mut self, x: &[f64], factor: f64) {
        add_square(&mut self.entries, x, factor);
        self.terms += 1;
    }

    /// The same with a precision added to each parameter's entry.
    pub(super) fn with_precisions(mut self, precisions: &[f64]) -> Self {
        let diagonal = |k: usize| k * (self.size + 1);
        let largest = (0..self.size).fold(0.0, |high: f64, k| high.max(self.entries[diagonal(k)]));
        for (k, precision) in precisions.iter().enumerate() {
            self.entries[diagonal(k)] += precision + RIDGE * largest;
        }
        self
    }
}

/// Probabilities of no event and of each class.
fn shares(log_odds: &[f64]) -> Vec<f64> {
    let all = [&[0.0], log_odds].concat();
    let total = log_sum(&all);
    all.iter().map(|f| (f - total).exp()).collect()
}

/// An approximate Hessian: a Cholesky factor for the first parameters, and a number for each other one.
#[derive(Debug)]
pub(super) struct Preconditioner {
    size: usize,
    /// L with H = L·Lᵀ, row by row; only the lower triangle is used.
    factor: Vec<f64>,
    others: Vec<f64>,
}

impl Preconditioner {
    /// From the curvature in the classifier's parameters, which come first, and a positive number for each
    /// other one. `None` if it is not positive definite.
    pub(super) fn new(classifier: Square, others: Vec<f64>) -> Option<Self> {
        let Square { size, mut entries, .. } = classifier;
        factorise(&mut entries, size).then_some(Self { size, factor: entries, others })
    }

    /// The same with the columns of further parameters, each of which has an entry for every parameter, and a
    /// number for each that is left.
    pub(super) fn with_columns(
        classifier: &Square,
        columns: &[Vec<f64>],
        others: Vec<f64>,
    ) -> Option<Self> {
        let size = classifier.size + columns.len();
        let mut factor = vec![0.0; size * size];
        let rows = classifier.entries.chunks(classifier.size).map(<[f64]>::to_vec);
        for (at, row) in rows.chain(columns.iter().cloned()).enumerate() {
            factor[at * size..][..=at].copy_from_slice(&row[..=at]);
        }
        factorise(&mut factor, size).then_some(Self { size, factor, others })
    }
}

impl Curvature for Preconditioner {
    fn solve(&self, gradient: &mut [f64]) {
        let (own, others) = gradient.split_at_mut(self.size);
        solve(&self.factor, own);
        others.iter_mut().zip(&self.others).for_each(|(g, own)| *g /= own);
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
        let square = Square::of_cross_entropy(&logistic, &params, [head, tail].into_iter(), ROWS);
        let guess =
            Preconditioner::new(square.unwrap().with_precisions(&precisions), vec![4.0]).unwrap();
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
    fn columns_of_other_parameters_complete_the_matrix() {
        // (4, 1, 2), (1, 3, 1), (2, 1, 5), of which the last row is a column of its own.
        let square = Square { size: 2, entries: vec![4.0, f64::NAN, 1.0, 3.0], terms: 2 };
        let guess =
            Preconditioner::with_columns(&square, &[vec![2.0, 1.0, 5.0]], vec![2.0]).unwrap();
        let mut product = [4.0 - 2.0 + 6.0, 1.0 - 6.0 + 3.0, 2.0 - 2.0 + 15.0, 8.0];
        guess.solve(&mut product);
        for (got, want) in product.into_iter().zip([1.0, -2.0, 3.0, 4.0]) {
            assert!((got - want).abs() < 1e-14, "{got} is not {want}"); // a few roundings
        }
        // Not positive definite, or not a number.
        for column in [vec![2.0, 1.0, 1.0], vec![2.0, f64::NAN, 5.0]] {
            assert!(Preconditioner::with_columns(&square, &[column], Vec::new()).is_none());
        }
    }

    #[test]
    fn scores_of_many_stretches_have_the_curvature_of_the_cross_entropy_if_labels_are_known() {
        let features = normal(300 * SCORED, 2);
        let logistic = Logistic::fit(&[features.view()]);
        let params = [0.8, -0.5, 0.3];
        let mut slopes = vec![0.0; features.view().nrows()];
        logistic.log_odds(&params, features.view(), &mut slopes);
        let mut random = Random::new(2);
        for slope in &mut slopes {
            let p = sigmoid(*slope);
            *slope = f64::from(u8::from(random.uniform() < p)) - p;
        }
        let mut scores = Square::new(3).unwrap();
        scores.add_scores(&logistic, &params, features.view(), &slopes);
        assert!(scores.is_certain());
        let all = [features.view()].into_iter();
        let want = Square::of_cross_entropy(&logistic, &params, all, ROWS).unwrap();
        for k in 0..3 {
            let ratio = scores.entries[4 * k] / want.entries[4 * k];
            // 300 squares: a standard deviation of √(2/300) = 8 %, and 2048 rows: 3 %.
            assert!((ratio - 1.0).abs() < 0.26, "{ratio}");
        }
    }

    #[test]
    fn a_sample_of_the_rows_counts_for_all() {
        let features = normal(16 * ROWS, 1);
        let logistic = Logistic::fit(&[features.view()]);
        let all = [features.view()].into_iter();
        let square = Square::of_cross_entropy(&logistic, &[0.0; 2], all, ROWS).unwrap();
        let guess = Preconditioner::new(square.with_precisions(&[0.0; 2]), Vec::new()).unwrap();
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
            let square = Square::of_cross_entropy(&logistic, &params, all, ROWS);
            let square = square.map(|square| square.with_precisions(&[1.0; 3]));
            square.and_then(|square| Preconditioner::new(square, Vec::new())).is_none()
        };
        assert!(none([0.0; 3], &few));
        assert!(none([f64::NAN; 3], &normal(9, 2)));
        assert!(!none([0.0; 3], &normal(9, 2)));
    }
}
