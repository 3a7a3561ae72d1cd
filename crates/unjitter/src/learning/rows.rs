//! The rows of a session for a stamp model: features to log-odds, and derivatives back.

use std::ops::Range;
use std::sync::Mutex;

use super::data::{LabelledRows, SessionData};
use super::supervised::{Target, cross_entropy};
use crate::inference::{Impossible, Messages};
use crate::math::{log_sigmoid, log_sum, sigmoid};
use crate::model::classifier::Classifier;
use crate::model::{Exchange, Parts, Rows, Sums};
use crate::parallel::rows_in_cache;
use crate::{Control, FeatureView};

/// The observed instances of a session under a classifier.
pub(super) struct SessionRows<'a> {
    pub(super) session: &'a SessionData<'a>,
    /// Messages to begin from, and to keep.
    pub(super) exchange: &'a Exchange,
    pub(super) classifier: &'a dyn Classifier,
    /// Its parameters.
    pub(super) theta: &'a [f64],
    /// Whether labels are plain: those known are then infinite log-odds, and their evidence is added here.
    pub(super) pins: bool,
    pub(super) control: Control<'a>,
}

/// Adds one session's log evidence and derivatives at these parameters, beginning from messages, which are kept.
pub(super) fn add_session(
    parts: &Parts,
    session: &SessionData<'_>,
    exchange: &Exchange,
    params: &[f64],
    control: Control<'_>,
    sums: &mut Sums,
) -> Result<(), Impossible> {
    let (classifier, theta) = (parts.classifier.as_ref(), &params[parts.detector()]);
    let pins = parts.stamps.are_labels_plain();
    let rows = SessionRows { session, exchange, classifier, theta, pins, control };
    parts.bind(params, &session.in_time).add(&rows, sums)?;
    if let Some(unobserved) = &session.unobserved {
        add_labelled(unobserved, classifier, theta, control, sums);
    }
    Ok(())
}

impl SessionRows<'_> {
    fn features(&self, instances: Range<usize>) -> FeatureView<'_> {
        self.session.features.view().slice(instances)
    }

    /// log p(y | x) of the known labels; sets their derivatives, which a stamp model does not compute.
    fn add_known_labels(&self, instances: Range<usize>, d_log_odds: &mut [f64]) -> f64 {
        let labels = self.session.in_time.labels.get(instances.clone()).unwrap_or_default();
        if !self.pins || labels.iter().all(Option::is_none) {
            return 0.0;
        }
        let mut log_odds = vec![0.0; d_log_odds.len()];
        self.classifier.log_odds(self.theta, self.features(instances), &mut log_odds);
        known_labels(labels, &log_odds, d_log_odds)
    }
}

impl Rows for SessionRows<'_> {
    fn at_a_time(&self) -> usize {
        rows_in_cache(self.session.features.view().ncols())
    }

    fn log_odds<'a>(&'a self, instances: Range<usize>, log_odds: &'a mut [f64]) -> &'a [f64] {
        let start = instances.start;
        self.classifier.log_odds(self.theta, self.features(instances), log_odds);
        if self.pins {
            self.session.in_time.pin_labels(start, log_odds);
        }
        log_odds
    }

    fn pull_back(&self, instances: Range<usize>, d_log_odds: &mut [f64], sums: &mut Sums) {
        sums.value += self.add_known_labels(instances.clone(), d_log_odds);
        let features = self.features(instances);
        self.classifier.pull_back(self.theta, features, d_log_odds, &mut sums.d_detector);
    }

    fn messages(&self) -> Option<&Messages> {
        self.exchange.messages(0)
    }

    fn exchange(&self) -> Option<&Exchange> {
        Some(self.exchange)
    }

    fn outputs(&self) -> usize {
        self.classifier.outputs()
    }

    fn is_stopped(&self) -> bool {
        self.control.is_stop_requested()
    }
}

/// The same rows, whose derivatives in the log-odds are kept, not pulled back.
pub(super) struct KeptSlopes<'a> {
    rows: SessionRows<'a>,
    slopes: Mutex<Vec<f64>>,
}

impl<'a> KeptSlopes<'a> {
    pub(super) fn new(rows: SessionRows<'a>) -> Self {
        let instances = rows.session.in_time.times.len();
        let slopes = Mutex::new(vec![0.0; instances * rows.outputs()]);
        Self { rows, slopes }
    }

    /// The derivatives, by instance and class.
    pub(super) fn into_slopes(self) -> Vec<f64> {
        self.slopes.into_inner().unwrap_or_default()
    }
}

impl Rows for KeptSlopes<'_> {
    fn at_a_time(&self) -> usize {
        self.rows.at_a_time()
    }

    fn log_odds<'a>(&'a self, instances: Range<usize>, log_odds: &'a mut [f64]) -> &'a [f64] {
        self.rows.log_odds(instances, log_odds)
    }

    fn pull_back(&self, instances: Range<usize>, d_log_odds: &mut [f64], _: &mut Sums) {
        self.rows.add_known_labels(instances.clone(), d_log_odds);
        if let Ok(mut slopes) = self.slopes.lock() {
            let outputs = self.outputs();
            slopes[instances.start * outputs..instances.end * outputs].copy_from_slice(d_log_odds);
        }
    }

    fn messages(&self) -> Option<&Messages> {
        self.rows.messages()
    }

    fn exchange(&self) -> Option<&Exchange> {
        self.rows.exchange()
    }

    fn outputs(&self) -> usize {
        self.rows.outputs()
    }

    fn is_stopped(&self) -> bool {
        self.rows.is_stopped()
    }
}

/// log p(y | x) of the known labels; sets their derivatives.
fn known_labels(labels: &[Option<bool>], log_odds: &[f64], d_log_odds: &mut [f64]) -> f64 {
    let mut value = 0.0;
    for ((label, &f), d) in labels.iter().zip(log_odds).zip(d_log_odds) {
        match label {
            Some(true) => {
                value += log_sigmoid(f);
                *d = sigmoid(-f);
            }
            Some(false) => {
                value += log_sigmoid(-f);
                *d = -sigmoid(f);
            }
            None => {}
        }
    }
    value
}

/// Overwrites log-odds by row and class with the derivatives of the cross-entropy, and returns its value.
fn softmax_cross_entropy(log_odds: &mut [f64], labels: &[usize], classes: usize) -> f64 {
    let mut value = 0.0;
    for (own, &label) in log_odds.chunks_exact_mut(classes).zip(labels) {
        let total = log_sum(&[&*own, &[0.0]].concat());
        value += total - if label == 0 { 0.0 } else { own[label - 1] };
        own.iter_mut().for_each(|f| *f = (*f - total).exp());
        if label > 0 {
            own[label - 1] -= 1.0;
        }
    }
    value
}

/// Adds the labels outside the annotated intervals.
fn add_labelled(
    rows: &LabelledRows<'_>,
    classifier: &dyn Classifier,
    theta: &[f64],
    control: Control<'_>,
    sums: &mut Sums,
) {
    let chunk = rows_in_cache(rows.features.view().ncols());
    let outputs = classifier.outputs();
    let mut log_odds = vec![0.0; rows.labels.len().min(chunk) * outputs];
    let chunks = rows.features.view().chunks(chunk);
    for (features, labels) in chunks.zip(rows.labels.chunks(chunk)) {
        if control.is_stop_requested() {
            sums.value = f64::NAN;
            return;
        }
        let log_odds = &mut log_odds[..labels.len() * outputs];
        classifier.log_odds(theta, features, log_odds);
        sums.value -= match outputs {
            1 => cross_entropy(log_odds, labels.iter().map(|&label| Target::from(label > 0))),
            _ => softmax_cross_entropy(log_odds, labels, outputs),
        };
        log_odds.iter_mut().for_each(|d| *d = -*d);
        classifier.pull_back(theta, features, log_odds, &mut sums.d_detector);
    }
}
