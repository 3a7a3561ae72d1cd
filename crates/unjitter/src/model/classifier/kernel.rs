//! Logistic regression with a radial-basis kernel, exact or on landmarks.
//!
//! A function f(x) = b + Σ_l α_l k(z_l, x) on landmarks z (rows of Z) is written with the Cholesky
//! factor L of their kernel matrix as
//!
//! ```text
//! f(x) = b + w · φ(x),   φ(x) = L⁻¹ k(Z, x),   w = Lᵀ α,   |w|² = αᵀ K α
//! ```
//!
//! so a Gaussian prior on w is the prior on the kernel norm of f, the parameters are well scaled,
//! and after [`prepare`](Classifier::prepare) the model is linear. With every training instance as
//! landmark this is the exact kernel model; with a random few it is the Nyström approximation.
//! Pivoting drops landmarks that others explain (repeated rows).
//!
//! The image of a landmark is its row of L, and is copied: an exact model maps its training rows at no cost.
//!
//! For m landmarks, r of them kept: the fit takes m³/6 multiplications and 8(m² + r²) bytes; preparing
//! n rows takes n·r·(r/2 + columns) multiplications, landmarks none, and 8·n·r bytes.

use std::cmp::Ordering;

use ndarray::{Array2, ArrayView1, ArrayView2, Axis, s};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::logistic::linear_blocks;
use super::standardise::varying_columns;
use super::{Classifier, ClassifierState, Matrix, Standardiser, cholesky, linear, radial};
use crate::math::Random;
use crate::params::ParameterSpec;
use crate::{Control, Error, FeatureView, Features, Result};

/// The most landmarks that a model may have: their kernel matrix then takes 3.2 GB.
pub const MAX_LANDMARKS: usize = 20_000;

/// Rows mapped at a time: they and their landmarks' kernel values stay in cache.
const CHUNK: usize = 240;

/// Length scale and number of landmarks of the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct KernelSettings {
    /// ℓ, in standard deviations of a feature; by default the square root of the number of features
    /// that vary, and at least 1.
    pub length_scale: Option<f64>,
    /// Number of training instances, drawn at random, that serve as landmarks; by default all of them.
    pub landmarks: Option<usize>,
}

impl KernelSettings {
    /// Whether both are in range.
    pub fn check(&self) -> Result<()> {
        let out_of_range = |name: &str, value, expected| {
            Err(Error::OutOfRange { name: name.to_owned(), value, expected })
        };
        match *self {
            Self { length_scale: Some(value), .. } if !(value.is_finite() && value > 0.0) => {
                out_of_range("length_scale", value, "a finite number above 0")
            }
            Self { landmarks: Some(0), .. } => out_of_range("landmarks", 0.0, "at least 1"),
            _ => Ok(()),
        }
    }
}

/// Kernel logistic regression with chosen landmarks.
#[derive(Debug, Clone)]
pub struct Kernel {
    standardiser: Standardiser,
    length_scale: f64,
    /// Standardised, r × columns, in the order of their pivots.
    landmarks: Array2<f64>,
    /// Indices of the landmarks, sorted by features, the first feature first.
    sorted: Vec<usize>,
    /// Lower triangle, r × r; entries above the diagonal have no meaning.
    factor: Array2<f64>,
}

/// A [`Kernel`] as it is saved: the factor is recomputed from the landmarks. Another kind of processor may
/// round it differently. That moves log-odds by 1e-14, and by up to 1e-7 where landmarks nearly explain each
/// other: the last pivots have few digits then, on any machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KernelState {
    standardiser: Standardiser,
    length_scale: f64,
    landmarks: Matrix,
}

impl Kernel {
    /// Draws landmarks from the training rows and keeps those that differ. If there are fewer rows than
    /// landmarks, takes all rows.
    pub fn fit(
        training: &[FeatureView<'_>],
        settings: KernelSettings,
        seed: u64,
        control: Control<'_>,
    ) -> Result<Self> {
        settings.check()?;
        let instances = training.iter().map(|part| part.nrows()).sum();
        let count = settings.landmarks.unwrap_or(instances).min(instances);
        if count > MAX_LANDMARKS {
            return Err(Error::OutOfRange {
                name: "landmarks".to_owned(),
                value: count as f64,
                expected: "at most 20000; without a number, every training instance is one",
            });
        }
        let length_scale = settings
            .length_scale
            .unwrap_or_else(|| (varying_columns(training.iter().copied()) as f64).sqrt().max(1.0));
        let standardiser = Standardiser::fit(training.iter().copied());
        let drawn = Features::from(select_rows(training, &draw_distinct(count, instances, seed)));
        let drawn = standardiser.standardised(drawn.view());
        let mut matrix = radial::kernel_matrix(&drawn, length_scale, control);
        let pivots = cholesky::choose_pivots(&mut matrix, control);
        control.stop_if_requested()?;
        let rank = pivots.len();
        let factor =
            if rank < count { matrix.slice(s![..rank, ..rank]).to_owned() } else { matrix };
        Ok(Self::new(standardiser, length_scale, drawn.select(Axis(0), &pivots), factor))
    }

    fn new(
        standardiser: Standardiser,
        length_scale: f64,
        landmarks: Array2<f64>,
        factor: Array2<f64>,
    ) -> Self {
        let mut sorted: Vec<usize> = (0..landmarks.nrows()).collect();
        sorted.sort_unstable_by(|&a, &b| compare(landmarks.row(a), landmarks.row(b)));
        Self { standardiser, length_scale, landmarks, sorted, factor }
    }

    /// The landmark with exactly these features.
    fn landmark_at(&self, point: ArrayView1<'_, f64>) -> Option<usize> {
        let found = self.sorted.binary_search_by(|&l| compare(self.landmarks.row(l), point));
        found.ok().map(|place| self.sorted[place])
    }

    /// Overwrites `out` (rows × r) with φ of `features`.
    fn map(&self, features: FeatureView<'_>, out: &mut [f64]) {
        let rank = self.factor.nrows();
        let points = self.standardiser.standardised(features);
        let mut new = Vec::new();
        for (i, (point, out)) in
            points.rows().into_iter().zip(out.chunks_exact_mut(rank)).enumerate()
        {
            match self.landmark_at(point) {
                Some(l) => {
                    out.fill(0.0);
                    (0..=l).for_each(|k| out[k] = self.factor[[l, k]]);
                }
                None => new.push(i),
            }
        }
        let mapped = self.map_new(points.select(Axis(0), &new).view());
        // In bands of rows, so that values read across rows stay in cache until they are used.
        for (band, first) in mapped.axis_chunks_iter(Axis(0), 8).zip((0..).step_by(8)) {
            for (values, i) in band.columns().into_iter().zip(&new) {
                let out = out[i * rank + first..].iter_mut();
                out.zip(values).for_each(|(out, value)| *out = *value);
            }
        }
    }

    /// φ of standardised points, r × points: in this order the triangular solve runs along rows.
    fn map_new(&self, points: ArrayView2<'_, f64>) -> Array2<f64> {
        let mut mapped = radial::kernel_values(self.landmarks.view(), points, self.length_scale);
        cholesky::solve_lower(self.factor.view(), mapped.view_mut());
        mapped
    }

    fn map_in_chunks(
        &self,
        features: FeatureView<'_>,
        chunk: usize,
        control: Control<'_>,
    ) -> Array2<f64> {
        let rank = self.factor.nrows();
        let mut mapped = Array2::zeros((features.nrows(), rank));
        let values = mapped.as_slice_mut().expect("a fresh array is in row order");
        values.par_chunks_mut(chunk * rank).enumerate().for_each(|(k, values)| {
            if control.is_stop_requested() {
                return;
            }
            let rows = values.len() / rank;
            self.map(features.slice(k * chunk..k * chunk + rows), values);
        });
        mapped
    }
}

impl KernelState {
    /// The classifier, if the values read from a file are usable.
    pub fn check(self) -> Result<Kernel> {
        let Self { standardiser, length_scale, landmarks } = self;
        let broken = |entry: &str, problem| {
            Err(Error::ModelFile { place: format!("classifier.{entry}"), problem })
        };
        standardiser.check()?;
        if !(length_scale.is_finite() && length_scale > 0.0) {
            let problem = format!("it is {length_scale}, expected a finite number above 0");
            return broken("length_scale", problem);
        }
        let landmarks = landmarks.check("classifier.landmarks")?;
        let (rows, columns) = landmarks.dim();
        if columns != standardiser.features() {
            let features = standardiser.features();
            return broken("landmarks", format!("{columns} columns for {features} features"));
        }
        // Rows without columns take no space in the file, so their number is not evidence of size.
        let most = if columns == 0 { 1 } else { MAX_LANDMARKS };
        if !(1..=most).contains(&rows) {
            return broken("landmarks", format!("{rows} rows, expected from 1 to {most}"));
        }
        let mut factor = radial::kernel_matrix(&landmarks, length_scale, Control::default());
        cholesky::factorise_in_order(&mut factor, Control::default())?;
        Ok(Kernel::new(standardiser, length_scale, landmarks, factor))
    }
}

impl Classifier for Kernel {
    fn parameters(&self) -> Vec<ParameterSpec> {
        linear_blocks(self.factor.nrows())
    }

    fn features(&self) -> usize {
        self.standardiser.features()
    }

    fn start(&self, _seed: u64) -> Vec<f64> {
        vec![0.0; self.factor.nrows() + 1]
    }

    fn prepare<'a>(&self, features: Features<'a>, control: Control<'_>) -> Features<'a> {
        self.map_in_chunks(features.view(), CHUNK, control).into()
    }

    fn log_odds(&self, params: &[f64], prepared: FeatureView<'_>, out: &mut [f64]) {
        let (weights, intercept) = params.split_at(self.factor.nrows());
        linear::log_odds(prepared, &vec![0.0; weights.len()], weights, intercept[0], out);
    }

    fn pull_back(
        &self,
        _params: &[f64],
        prepared: FeatureView<'_>,
        d_log_odds: &[f64],
        d_params: &mut [f64],
    ) {
        let (d_weights, d_intercept) = d_params.split_at_mut(self.factor.nrows());
        linear::add_rows(prepared, &vec![0.0; d_weights.len()], d_log_odds, d_weights);
        d_intercept[0] += d_log_odds.iter().sum::<f64>();
    }

    fn state(&self) -> ClassifierState {
        ClassifierState::Kernel(KernelState {
            standardiser: self.standardiser.clone(),
            length_scale: self.length_scale,
            landmarks: Matrix::from_array(&self.landmarks),
        })
    }

    /// α = L⁻ᵀ w. Landmarks that nearly explain each other make α large, and the sum loses digits.
    fn landmark_weights(&self, params: &[f64]) -> Option<Vec<f64>> {
        let mut weights = params[..self.factor.nrows()].to_vec();
        cholesky::solve_transposed(self.factor.view(), &mut weights);
        Some(weights)
    }
}

/// Compares by the first feature that differs.
fn compare(a: ArrayView1<'_, f64>, b: ArrayView1<'_, f64>) -> Ordering {
    let mut each = a.iter().zip(b).map(|(a, b)| a.total_cmp(b));
    each.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}

/// `count` distinct numbers below `total`, ascending, every choice equally likely.
fn draw_distinct(count: usize, total: usize, seed: u64) -> Vec<usize> {
    let mut random = Random::new(seed);
    let mut numbers: Vec<usize> = (0..total).collect();
    if count < total {
        for k in 0..count {
            numbers.swap(k, k + random.below(total - k));
        }
        numbers.truncate(count);
        numbers.sort_unstable();
    }
    numbers
}

/// The rows with those ascending indices, counted through all parts.
fn select_rows(parts: &[FeatureView<'_>], ascending: &[usize]) -> Array2<f64> {
    let columns = parts.first().map_or(0, |part| part.ncols());
    let mut selected = Array2::zeros((ascending.len(), columns));
    let mut rows =
        parts.iter().flat_map(|part| (0..part.nrows()).map(move |i| (part, i))).enumerate();
    for (mut out, &number) in selected.rows_mut().into_iter().zip(ascending) {
        let found = rows.find(|&(k, _)| k == number);
        let (_, (part, i)) = found.expect("numbers ascend within the rows");
        out.assign(&ArrayView1::from(&part.row(i)));
    }
    selected
}

#[cfg(test)]
mod tests {
    use ndarray::{Array1, concatenate};

    use super::*;
    use crate::features::view;

    fn normal(rows: usize, columns: usize, seed: u64) -> Array2<f64> {
        let mut random = Random::new(seed);
        Array2::from_shape_simple_fn((rows, columns), || random.normal())
    }

    fn exact(length_scale: f64) -> KernelSettings {
        KernelSettings { length_scale: Some(length_scale), landmarks: None }
    }

    #[test]
    fn whitened_weights_reproduce_the_kernel_expansion_and_its_norm() {
        let training = normal(60, 3, 1);
        let kernel = Kernel::fit(&[view(&training)], exact(0.8), 0, Control::default()).unwrap();
        assert_eq!(kernel.landmarks.nrows(), 60);
        let alpha = Array1::from_vec(normal(60, 1, 2).into_raw_vec_and_offset().0);
        let lower =
            Array2::from_shape_fn(
                (60, 60),
                |(i, j)| {
                    if j <= i { kernel.factor[[i, j]] } else { 0.0 }
                },
            );
        let weights = lower.t().dot(&alpha);
        let params: Vec<f64> = weights.iter().copied().chain([0.3]).collect();
        for (got, want) in kernel.landmark_weights(&params).unwrap().iter().zip(&alpha) {
            assert!((got - want).abs() < 1e-9, "{got} is not {want}"); // condition of L below 1e4
        }

        let new = normal(9, 3, 3);
        let mut got = vec![0.0; 9];
        kernel.log_odds(
            &params,
            kernel.prepare(new.view().into(), Control::default()).view(),
            &mut got,
        );
        let points = kernel.standardiser.standardised(view(&new));
        let value = |x: ndarray::ArrayView1<'_, f64>, z: ndarray::ArrayView1<'_, f64>| {
            (-(&x - &z).mapv(|d| d * d).sum() / (2.0 * 0.8 * 0.8)).exp()
        };
        let expand = |x: ndarray::ArrayView1<'_, f64>| -> f64 {
            kernel.landmarks.rows().into_iter().zip(&alpha).map(|(z, a)| a * value(x, z)).sum()
        };
        for (got, x) in got.iter().zip(points.rows()) {
            let want = 0.3 + expand(x);
            assert!((got - want).abs() < 1e-10, "{got} is not {want}"); // condition of L below 1e4
        }
        let norm: f64 =
            kernel.landmarks.rows().into_iter().zip(&alpha).map(|(z, a)| a * expand(z)).sum();
        assert!((weights.dot(&weights) - norm).abs() < 1e-11 * norm); // sums of 3600 terms
    }

    #[test]
    fn a_request_to_stop_ends_the_factorisation() {
        let flag = std::sync::atomic::AtomicBool::new(true);
        let training = normal(60, 3, 1);
        let stopped = Kernel::fit(
            &[view(&training)],
            exact(0.8),
            0,
            Control { stop: Some(&flag), ..Control::default() },
        );
        assert!(matches!(stopped, Err(Error::Cancelled)), "{stopped:?}");
    }

    #[test]
    fn inner_products_of_mapped_training_rows_are_their_kernel_matrix() {
        let training = normal(150, 2, 4);
        let kernel = Kernel::fit(&[view(&training)], exact(1.5), 0, Control::default()).unwrap();
        assert!(kernel.landmarks.nrows() < 150, "some rows are explained by others");
        let mapped = kernel.prepare(training.view().into(), Control::default());
        let mapped = mapped.view().to_f64();
        let points = kernel.standardiser.standardised(view(&training));
        let matrix = radial::kernel_matrix(&points, 1.5, Control::default());
        let products = mapped.dot(&mapped.t());
        for i in 0..150 {
            for j in 0..=i {
                // Dropped landmarks are below 1e-10 on the diagonal, hence (Cauchy-Schwarz) beside it.
                assert!((products[[i, j]] - matrix[[i, j]]).abs() < 2e-10, "{i}, {j}");
            }
        }
    }

    #[test]
    fn the_image_of_a_landmark_is_its_row_of_the_factor() {
        let training = normal(150, 4, 10);
        let kernel = Kernel::fit(&[view(&training)], exact(0.5), 0, Control::default()).unwrap();
        let rank = kernel.landmarks.nrows();
        let solved = kernel.map_new(kernel.landmarks.view());
        let mut rows = kernel.map_in_chunks(view(&training), CHUNK, Control::default());
        for (row, point) in rows.rows_mut().into_iter().zip(training.rows()) {
            let point = point.insert_axis(Axis(0));
            let point = kernel.standardiser.standardised(view(&point.to_owned()));
            let l = kernel.landmark_at(point.row(0)).expect("few smooth functions: all are kept");
            for k in 0..rank {
                // Rounding, magnified by L⁻¹.
                assert!((row[k] - solved[[k, l]]).abs() < 1e-13, "{l}, {k}");
            }
        }
        let (beside, landmark) = (normal(1, 4, 11), kernel.landmarks.row(7));
        assert_eq!(kernel.landmark_at(beside.row(0)), None);
        assert_eq!(kernel.landmark_at(landmark), Some(7));
    }

    #[test]
    fn a_factor_made_anew_has_the_same_bits() {
        // Several blocks of the factorisation; with some rows left out and with none.
        for (rows, columns, length_scale) in [(300, 2, 1.0), (200, 6, 1.0)] {
            let training = normal(rows, columns, 12);
            let kernel =
                Kernel::fit(&[view(&training)], exact(length_scale), 0, Control::default());
            let kernel = kernel.unwrap();
            let ClassifierState::Kernel(state) = kernel.state() else { panic!("a kernel") };
            let again = state.check().unwrap();
            assert_eq!(kernel.landmarks.nrows() == rows, columns == 6, "both cases");
            for ((i, j), entry) in again.factor.indexed_iter().filter(|((i, j), _)| j <= i) {
                assert_eq!(entry.to_bits(), kernel.factor[[i, j]].to_bits(), "{i}, {j}");
            }
        }
    }

    #[test]
    fn repeated_training_rows_change_nothing() {
        let once = normal(40, 3, 5);
        let twice = concatenate![Axis(0), once, once];
        let first = Kernel::fit(&[view(&once)], exact(1.0), 0, Control::default()).unwrap();
        let second =
            Kernel::fit(&[view(&once), view(&twice)], exact(1.0), 0, Control::default()).unwrap();
        assert_eq!(second.landmarks.nrows(), 40);
        // Means and scales are those of the same rows, up to rounding that L⁻¹ may magnify.
        let (first, second) = (
            first.prepare(once.view().into(), Control::default()),
            second.prepare(once.view().into(), Control::default()),
        );
        let (first, second) = (first.view().to_f64(), second.view().to_f64());
        let products = (first.dot(&first.t()), second.dot(&second.t()));
        assert!((&products.0 - &products.1).iter().all(|d| d.abs() < 1e-9));
    }

    #[test]
    fn as_many_landmarks_as_rows_is_the_exact_model() {
        let training = normal(30, 4, 6);
        let (head, tail) = (view(&training).slice(0..11), view(&training).slice(11..30));
        let fit = |landmarks, seed| {
            let settings = KernelSettings { length_scale: None, landmarks };
            Kernel::fit(&[head, tail], settings, seed, Control::default())
                .unwrap()
                .prepare(training.view().into(), Control::default())
        };
        assert_eq!(fit(Some(30), 1), fit(None, 2));
        assert_eq!(fit(Some(31), 1), fit(None, 2));
        assert_eq!(fit(Some(7), 1).view().ncols(), 7);
        assert_eq!(fit(Some(7), 1), fit(Some(7), 1));
        assert_ne!(fit(Some(7), 1), fit(Some(7), 2));
    }

    #[test]
    fn chunks_do_not_matter() {
        let training = normal(70, 5, 7);
        let settings = KernelSettings { length_scale: None, landmarks: Some(40) };
        let kernel = Kernel::fit(&[view(&training)], settings, 3, Control::default()).unwrap();
        let new = normal(300, 5, 8);
        let all = kernel.map_in_chunks(view(&new), 300, Control::default());
        for chunk in [1, 7, CHUNK] {
            let chunked = kernel.map_in_chunks(view(&new), chunk, Control::default());
            assert_eq!(chunked, all, "{chunk}");
        }
        let none = view(&new).slice(0..0).into();
        assert_eq!(kernel.prepare(none, Control::default()).view().dim(), (0, 40));
    }

    #[test]
    fn the_default_length_scale_counts_features_that_vary() {
        let varied = normal(20, 9, 9);
        let flat = concatenate![Axis(1), varied, Array2::ones((20, 5))];
        let scale = |features: &Array2<f64>| {
            let features = Features::from(features.view());
            Kernel::fit(&[features.view()], KernelSettings::default(), 0, Control::default())
                .unwrap()
                .length_scale
        };
        assert_eq!(scale(&flat), 3.0);
        assert_eq!(scale(&Array2::ones((20, 5))), 1.0);
        assert_eq!(scale(&Array2::zeros((4, 0))), 1.0);
    }

    #[test]
    fn draws_are_distinct_and_uniform() {
        let mut counts = [0; 10];
        for seed in 0..5000 {
            let drawn = draw_distinct(4, 10, seed);
            assert!(drawn.windows(2).all(|pair| pair[0] < pair[1]));
            drawn.iter().for_each(|&k| counts[k] += 1);
        }
        // 2000 expected, standard deviation √(5000 · 0.4 · 0.6) = 35: five of them.
        assert!(counts.iter().all(|&count| (1825..=2175).contains(&count)), "{counts:?}");
    }

    #[test]
    fn too_many_landmarks_are_refused_before_any_work() {
        let training = Array2::zeros((MAX_LANDMARKS + 1, 1));
        let error =
            Kernel::fit(&[view(&training)], KernelSettings::default(), 0, Control::default())
                .unwrap_err();
        assert!(matches!(error, Error::OutOfRange { value: 20001.0, .. }), "{error}");
    }
}
