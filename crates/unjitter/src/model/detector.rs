//! The detector alone: a classifier with its parameters. Counts and noise are dropped.

use ndarray::ArrayView2;

use super::classifier::Classifier;
use crate::Result;
use crate::math::sigmoid;
use crate::session::{check_columns, check_features};

/// Features to probability of the positive label.
#[derive(Debug)]
pub struct Detector {
    classifier: Box<dyn Classifier>,
    params: Vec<f64>,
}

impl Detector {
    pub(crate) fn new(classifier: Box<dyn Classifier>, params: Vec<f64>) -> Self {
        Self { classifier, params }
    }

    /// Log-odds of the positive label, one per row of `features`.
    pub fn log_odds(&self, features: ArrayView2<'_, f64>) -> Result<Vec<f64>> {
        log_odds(self.classifier.as_ref(), &self.params, features)
    }

    /// Probability of the positive label, one per row of `features`.
    pub fn predict(&self, features: ArrayView2<'_, f64>) -> Result<Vec<f64>> {
        Ok(self.log_odds(features)?.into_iter().map(sigmoid).collect())
    }

    /// The classifier.
    pub fn classifier(&self) -> &dyn Classifier {
        self.classifier.as_ref()
    }

    /// Its unconstrained parameters.
    pub fn params(&self) -> &[f64] {
        &self.params
    }
}

/// Checked log-odds of new features.
pub(crate) fn log_odds(
    classifier: &dyn Classifier,
    params: &[f64],
    features: ArrayView2<'_, f64>,
) -> Result<Vec<f64>> {
    check_columns("to predict", features.ncols(), classifier.features())?;
    check_features("to predict", features)?;
    let mut out = vec![0.0; features.nrows()];
    classifier.log_odds(params, classifier.prepare(features).view(), &mut out);
    Ok(out)
}
