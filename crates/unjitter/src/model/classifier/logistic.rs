//! Logistic regression: log-odds linear in the standardised features.
//!
//! Features are never copied: means and scales are folded into the loop over each row. Three operations per
//! feature for the log-odds and three for the pull-back: about as fast as memory delivers the features.
//!
//! ```text
//! f_i = b + Σ_j (x_ij − mean_j) · (w_j / scale_j)
//! ```

use serde::{Deserialize, Serialize};

use super::{Classifier, ClassifierState, Standardiser, linear};
use crate::params::{ParameterSpec, Role, Transform};
use crate::{Control, FeatureView, Features};

/// Logistic regression on standardised features.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Logistic {
    pub(super) standardiser: Standardiser,
}

impl Logistic {
    /// Learns means and scales from the training features.
    pub fn fit(training: &[FeatureView<'_>]) -> Self {
        Self { standardiser: Standardiser::fit(training.iter().copied()) }
    }
}

impl Classifier for Logistic {
    fn parameters(&self) -> Vec<ParameterSpec> {
        linear_blocks(self.features())
    }

    fn features(&self) -> usize {
        self.standardiser.features()
    }

    fn start(&self, _seed: u64) -> Vec<f64> {
        vec![0.0; self.features() + 1]
    }

    fn prepare<'a>(&self, features: Features<'a>, _: Control<'_>) -> Features<'a> {
        features
    }

    fn log_odds(&self, params: &[f64], prepared: FeatureView<'_>, out: &mut [f64]) {
        let (weights, intercept) = params.split_at(self.features());
        let Standardiser { means, scales } = &self.standardiser;
        let weights: Vec<f64> = weights.iter().zip(scales).map(|(w, scale)| w / scale).collect();
        linear::log_odds(prepared, means, &weights, intercept[0], out);
    }

    fn pull_back(
        &self,
        _params: &[f64],
        prepared: FeatureView<'_>,
        d_log_odds: &[f64],
        d_params: &mut [f64],
    ) {
        let (d_weights, d_intercept) = d_params.split_at_mut(self.features());
        let Standardiser { means, scales } = &self.standardiser;
        let mut sums = vec![0.0; means.len()];
        linear::add_rows(prepared, means, d_log_odds, &mut sums);
        for (d_weight, (sum, scale)) in d_weights.iter_mut().zip(sums.iter().zip(scales)) {
            *d_weight += sum / scale;
        }
        d_intercept[0] += d_log_odds.iter().sum::<f64>();
    }

    fn state(&self) -> ClassifierState {
        ClassifierState::Logistic(self.clone())
    }

    fn linear(&self, params: &[f64]) -> Option<(Vec<f64>, f64)> {
        let (weights, intercept) = params.split_at(self.features());
        let Standardiser { means, scales } = &self.standardiser;
        let coefficients: Vec<f64> = weights.iter().zip(scales).map(|(w, s)| w / s).collect();
        let shift: f64 = coefficients.iter().zip(means).map(|(c, mean)| c * mean).sum();
        Some((coefficients, intercept[0] - shift))
    }
}

/// The parameters of a linear function of `weights` numbers.
pub(super) fn linear_blocks(weights: usize) -> Vec<ParameterSpec> {
    vec![
        ParameterSpec::new("weights", weights, Transform::Free, Role::Weight),
        ParameterSpec::new("intercept", 1, Transform::Free, Role::Intercept),
    ]
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;
    use crate::features::view;

    #[test]
    fn log_odds_equal_the_formula_on_a_worked_example() {
        // Column 0: mean 3, scale 2. Column 1: constant, so its weight does nothing.
        let features = array![[1.0, 7.0], [5.0, 7.0]];
        let logistic = Logistic::fit(&[view(&features)]);
        let mut out = [f64::NAN; 2];
        logistic.log_odds(&[1.5, 100.0, 0.25], view(&features), &mut out);
        assert_eq!(out, [0.25 - 1.5, 0.25 + 1.5]);
    }

    #[test]
    fn the_linear_form_is_the_same_function() {
        let features = array![[1.0, 7.0], [5.0, 3.0], [2.0, 1.0]];
        let logistic = Logistic::fit(&[view(&features)]);
        let params = [1.5, -0.4, 0.25];
        let mut out = [f64::NAN; 3];
        logistic.log_odds(&params, view(&features), &mut out);
        let (coefficients, intercept) = logistic.linear(&params).unwrap();
        for (row, want) in features.rows().into_iter().zip(out) {
            let got = intercept + coefficients[0] * row[0] + coefficients[1] * row[1];
            // A handful of roundings of numbers below ten.
            assert!((got - want).abs() < 1e-14, "{got} {want}");
        }
    }

    #[test]
    fn an_offset_of_a_billion_changes_neither_log_odds_nor_gradient() {
        let plain = array![[1.0], [2.0], [4.0], [9.0]];
        let run = |features: ndarray::Array2<f64>| {
            let logistic = Logistic::fit(&[view(&features)]);
            let (mut out, mut d_params) = (vec![0.0; 4], vec![0.0; 2]);
            logistic.log_odds(&[1.0, 0.0], view(&features), &mut out);
            logistic.pull_back(&[1.0, 0.0], view(&features), &[1.0, -2.0, 0.5, 0.5], &mut d_params);
            (out, d_params)
        };
        // Whole numbers, means included: nothing rounds.
        assert_eq!(run(plain.clone()), run(plain + 1e9));
    }
}
