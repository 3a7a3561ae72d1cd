//! The detector alone: a classifier with its parameters. Counts and noise are dropped.

use std::sync::Arc;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::classes::{Classes, check_classes};
use super::classifier::{Classifier, ClassifierState, PerClass};
use super::labelling::presence;
use crate::error::require;
use crate::labels::{Rates, Variable};
use crate::math::{log_sum, sigmoid};
use crate::params::{CLASSIFIER, Layout};
use crate::session::{check_columns, check_features};
use crate::{Control, Error, FeatureView, Features, Result, Session};

/// Features to probability of the positive label.
#[derive(Debug, Clone)]
pub struct Detector {
    classifier: Arc<dyn Classifier>,
    params: Vec<f64>,
    runs: Option<Runs>,
    classes: Classes,
}

/// How labels form runs, and what of these stamps are about.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Runs {
    /// Runs that begin per unit of time outside of runs.
    pub onset_rate: f64,
    /// Runs that end per unit of time inside of runs: one over their mean length.
    pub offset_rate: f64,
    /// What stamps are about.
    pub stamps: Variable,
}

impl Runs {
    fn check(&self) -> Result<()> {
        for (name, rate) in [("onset_rate", self.onset_rate), ("offset_rate", self.offset_rate)] {
            require(name, rate, rate > 0.0, "a finite number above 0")?;
        }
        Ok(())
    }

    pub(crate) fn rates(&self) -> Rates {
        Rates { onset: self.onset_rate, offset: self.offset_rate }
    }
}

impl Detector {
    pub(crate) fn new(classifier: Arc<dyn Classifier>, params: Vec<f64>) -> Self {
        Self { classifier, params, runs: None, classes: Classes::default() }
    }

    /// The same of a classifier that has a copy of its parameters for each of these classes, if there are several.
    pub(crate) fn of_classes(self, classes: Classes) -> Self {
        Self { classes, ..self }
    }

    /// The same with how labels form runs, if they do.
    pub(crate) fn with_runs(self, runs: Option<Runs>) -> Self {
        Self { runs, ..self }
    }

    /// How labels form runs; none if they are independent.
    pub fn runs(&self) -> Option<Runs> {
        self.runs
    }

    /// Names of the classes of events, in order; none if it knows only events.
    pub fn classes(&self) -> &[String] {
        self.classes.names()
    }

    /// Log-odds of the positive label, one per row of `features`: of an event of any class.
    pub fn log_odds<'a>(&self, features: impl Into<Features<'a>>) -> Result<Vec<f64>> {
        log_odds(self.classifier.as_ref(), &self.params, features.into().view())
    }

    /// Probability of the positive label, one per row of `features`. Refused if labels form runs, where rows by themselves
    /// tell too little.
    pub fn predict<'a>(&self, features: impl Into<Features<'a>>) -> Result<Vec<f64>> {
        match self.runs {
            Some(_) => Err(Error::RowsOfChain),
            None => Ok(self.log_odds(features)?.into_iter().map(sigmoid).collect()),
        }
    }

    /// Probability of the positive label, one per instance of a session: smoothed along it if labels form runs.
    pub fn predict_session(&self, session: &Session) -> Result<Vec<f64>> {
        let scores = scores(self.classifier.as_ref(), &self.params, session.features())?;
        Ok(self.smoothed(session.times(), &scores))
    }

    /// The same of instances at these times, in order, with these log-odds, by instance and class.
    pub fn smoothed(&self, times: &[f64], log_odds: &[f64]) -> Vec<f64> {
        let rates = self.runs.as_ref().map(Runs::rates);
        presence(rates, self.classifier.outputs(), times, log_odds)
    }

    /// Coefficients and intercept of a logistic classifier for raw, not standardised, features: f(x) =
    /// intercept + coefficients · x. Large features with a small spread lose digits in that sum;
    /// [`log_odds`](Self::log_odds) does not.
    pub fn linear(&self) -> Option<(Vec<f64>, f64)> {
        self.classifier.linear(&self.params)
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

/// The serialised form of a detector.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedDetector {
    classifier: ClassifierState,
    params: Vec<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    runs: Option<Runs>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    classes: Vec<String>,
}

impl Serialize for Detector {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let Self { classifier, params, runs, .. } = self;
        let (classifier, params) = (classifier.state(), params.clone());
        // One class has the text of none.
        let is_told = self.classes.are_several();
        let classes = if is_told { self.classes().to_vec() } else { Vec::new() };
        SavedDetector { classifier, params, runs: *runs, classes }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Detector {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let saved = SavedDetector::deserialize(deserializer)?;
        let SavedDetector { classifier, params, runs, classes } = saved;
        runs.as_ref().map_or(Ok(()), Runs::check).map_err(D::Error::custom)?;
        check_classes(&classes).map_err(D::Error::custom)?;
        let mut classifier = classifier.check().map_err(D::Error::custom)?;
        let classes = Classes::new(&classes);
        if classes.are_several() {
            classifier = Box::new(PerClass::new(classifier, classes.names().to_vec()));
        }
        let expected = Layout::new(vec![(CLASSIFIER, classifier.parameters())]).dim();
        let found = params.len();
        if found != expected {
            let problem = format!("{found} parameters of the classifier, expected {expected}");
            return Err(D::Error::custom(problem));
        }
        Ok(Self { classifier: Arc::from(classifier), params, runs, classes })
    }
}

/// Checked log-odds of an event of any class, of new features.
pub(crate) fn log_odds(
    classifier: &dyn Classifier,
    params: &[f64],
    features: FeatureView<'_>,
) -> Result<Vec<f64>> {
    let scores = scores(classifier, params, features)?;
    Ok(match classifier.outputs() {
        1 => scores,
        classes => scores.chunks_exact(classes).map(log_sum).collect(),
    })
}

/// Checked log-odds of new features, by row and class.
pub(crate) fn scores(
    classifier: &dyn Classifier,
    params: &[f64],
    features: FeatureView<'_>,
) -> Result<Vec<f64>> {
    check_columns("to predict", features.ncols(), classifier.features())?;
    check_features("to predict", features)?;
    let mut out = vec![0.0; features.nrows() * classifier.outputs()];
    classifier.log_odds(
        params,
        classifier.prepare(features.into(), Control::default()).view(),
        &mut out,
    );
    Ok(out)
}
