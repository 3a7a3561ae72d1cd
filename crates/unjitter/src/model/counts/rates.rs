//! The two rates that every count model begins with: P(at least one stamp | label).
//!
//! Both are stored as logits, so that rates near 0 or 1 and their complements keep their digits.

use crate::math::{logit, sigmoid};
use crate::params::{ParameterSpec, Role, Transform};

/// The parameters `false_rate` (label 0) and `hit_rate` (label 1): `params[label]` is the logit.
pub(super) fn parameters() -> Vec<ParameterSpec> {
    vec![
        ParameterSpec::new("false_rate", 1, Transform::Probability, Role::FalseRate),
        ParameterSpec::new("hit_rate", 1, Transform::Probability, Role::HitRate),
    ]
}

/// Their unconstrained numbers.
pub(super) fn start(false_rate: f64, hit_rate: f64) -> Vec<f64> {
    vec![logit(false_rate), logit(hit_rate)]
}

/// ∂/∂logit of none·log(1 − π) + some·log π.
pub(super) fn d_logit(logit: f64, none: f64, some: f64) -> f64 {
    some * sigmoid(-logit) - none * sigmoid(logit)
}

/// `Σ_c expected[c]` and `Σ_c c·expected[c]`.
pub(super) fn totals(expected: &[f64]) -> (f64, f64) {
    let stamps = expected.iter().enumerate().map(|(c, e)| c as f64 * e);
    (expected.iter().sum(), stamps.sum())
}
