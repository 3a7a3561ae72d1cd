//! The rows of a session for a stamp model: features to log-odds, and derivatives back.

use std::ops::Range;
use std::sync::Mutex;

use super::data::{LabelledRows, SessionData};
use super::supervised::{Target, cross_entropy};
use crate::inference::{Impossible, Messages};
use crate::math::{log_sigmoid, sigmoid};
use crate::model::classifier::Classifier;
use crate::model::{Exchange, Outside, Parts, Rows, Sums};
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
    match &session.unobserved {
        Some(unobserved) if pins => add_labelled(unobserved, classifier, theta, control, sums),
        Some(unobserved) => add_along(unobserved, parts, params, control, sums)?,
        None => {}
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

/// Adds the labels outside the annotated intervals, each a yes or no of its own.
fn add_labelled(
    rows: &LabelledRows<'_>,
    classifier: &dyn Classifier,
    theta: &[f64],
    control: Control<'_>,
    sums: &mut Sums,
) {
    let labels = &rows.outside.labels;
    let chunk = rows_in_cache(rows.features.view().ncols());
    let mut log_odds = vec![0.0; labels.len().min(chunk)];
    let chunks = rows.features.view().chunks(chunk);
    for (features, labels) in chunks.zip(labels.chunks(chunk)) {
        if control.is_stop_requested() {
            sums.value = f64::NAN;
            return;
        }
        let log_odds = &mut log_odds[..labels.len()];
        classifier.log_odds(theta, features, log_odds);
        let targets = labels.iter().map(|&label| Target::from(label > 0));
        sums.value -= cross_entropy(log_odds, targets);
        log_odds.iter_mut().for_each(|d| *d = -*d);
        classifier.pull_back(theta, features, log_odds, &mut sums.d_detector);
    }
}

/// The same where they depend on each other or are of several classes.
fn add_along(
    rows: &LabelledRows<'_>,
    parts: &Parts,
    params: &[f64],
    control: Control<'_>,
    sums: &mut Sums,
) -> Result<(), Impossible> {
    if control.is_stop_requested() {
        sums.value = f64::NAN;
        return Ok(());
    }
    let (theta, rest) = params.split_at(parts.detector().end);
    let (classifier, Outside { times, labels, .. }) = (&parts.classifier, &rows.outside);
    let chunk = rows_in_cache(rows.features.view().ncols());
    let mut log_odds = vec![0.0; labels.len() * classifier.outputs()];
    let chunks = || rows.features.view().chunks(chunk);
    for (features, out) in chunks().zip(log_odds.chunks_mut(chunk * classifier.outputs())) {
        classifier.log_odds(theta, features, out);
    }
    let found = parts.stamps.labelled(rest, times, labels, &log_odds)?;
    sums.value += found.log_evidence;
    for (features, d) in chunks().zip(found.presence.chunks(chunk * classifier.outputs())) {
        classifier.pull_back(theta, features, d, &mut sums.d_detector);
    }
    if parts.rates(params, 1.0).is_some() {
        // Those of the chain come first.
        sums.d_annotator.iter_mut().zip(found.d_rates).for_each(|(sum, d)| *sum += d);
    }
    Ok(())
}
