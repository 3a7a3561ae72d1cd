//! Features to log-odds of the label.
//!
//! A classifier is a fixed feature map, learned from the training features alone
//! ([`prepare`](Classifier::prepare)), followed by a function with parameters.

mod cholesky;
mod kernel;
mod linear;
mod logistic;
mod matrix;
mod mlp;
mod per_class;
mod radial;
mod spec;
mod standardise;
#[cfg(test)]
mod tests;

use std::fmt::Debug;

use crate::Control;
use crate::features::{FeatureView, Features};
use crate::params::ParameterSpec;

pub use kernel::{Kernel, KernelSettings, KernelState, MAX_LANDMARKS};
pub use logistic::Logistic;
pub use matrix::Matrix;
pub use mlp::{Activation, MAX_PARAMETERS, Mlp};
pub(crate) use per_class::PerClass;
pub use spec::{ClassifierSpec, ClassifierState};
pub use standardise::Standardiser;

/// A differentiable map from features to log-odds.
pub trait Classifier: Debug + Send + Sync {
    /// The parameters, in the order of `params` in the other methods.
    fn parameters(&self) -> Vec<ParameterSpec>;

    /// Number of feature columns it takes.
    fn features(&self) -> usize;

    /// Log-odds of a row: one for each class of events, against no event.
    fn outputs(&self) -> usize {
        1
    }

    /// The classifier that each output is a copy of, whose parameters come one after the other, if there are several.
    fn of_one_class(&self) -> Option<&dyn Classifier> {
        None
    }

    /// Unconstrained parameters to start from.
    fn start(&self, seed: u64) -> Vec<f64>;

    /// The work that depends on no parameter, done once per session: maps `features` (rows × columns) to
    /// the input of `log_odds` and `pull_back`. If a stop is requested, the result may be unfinished and
    /// must not be used.
    fn prepare<'a>(&self, features: Features<'a>, control: Control<'_>) -> Features<'a>;

    /// Overwrites `out` (one per row and output, those of a row together) with the log-odds.
    fn log_odds(&self, params: &[f64], prepared: FeatureView<'_>, out: &mut [f64]);

    /// Adds `Σ_i d_log_odds[i] · ∂ log_odds[i] / ∂params` to `d_params`.
    fn pull_back(
        &self,
        params: &[f64],
        prepared: FeatureView<'_>,
        d_log_odds: &[f64],
        d_params: &mut [f64],
    );

    /// The state to save, beside the parameters, to restore this classifier.
    fn state(&self) -> ClassifierState;

    /// Coefficients and intercept for raw features, if it is linear in them.
    fn linear(&self, params: &[f64]) -> Option<(Vec<f64>, f64)> {
        let _ = params;
        None
    }

    /// α of f(x) = intercept + Σ_l α_l k(z_l, x), if it is a sum of kernels at landmarks z.
    fn landmark_weights(&self, params: &[f64]) -> Option<Vec<f64>> {
        let _ = params;
        None
    }
}
