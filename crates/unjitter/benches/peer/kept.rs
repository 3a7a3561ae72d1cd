//! Evaluations as those of a fit: messages are kept from one to the next.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use unjitter::inference::{Messages, Timeline};
use unjitter::model::{Clock, OneAnnotator, Rows, StampModel};
use unjitter::{Model, Sums};

/// Log-odds as they were given, their derivatives, and the messages of the last evaluation.
pub(crate) struct Kept<'a> {
    log_odds: &'a [f64],
    d_log_odds: Mutex<Vec<f64>>,
    messages: Messages,
}

impl<'a> Kept<'a> {
    pub(crate) fn new(log_odds: &'a [f64]) -> Self {
        let d_log_odds = Mutex::new(vec![0.0; log_odds.len()]);
        Self { log_odds, d_log_odds, messages: Messages::default() }
    }

    /// Log evidence; overwrites `numbers` with its derivatives in log-odds and parameters.
    pub(crate) fn evaluate(
        &self,
        annotator: &OneAnnotator,
        params: &[f64],
        timeline: Timeline<'_>,
        numbers: &mut Vec<f64>,
    ) -> f64 {
        let mut sums = Sums::zeros(0, params.len());
        let bound = annotator.bind(params, Clock::default(), timeline.stamps.len());
        bound.add(timeline, self, &mut sums).expect("stamps that are possible");
        let d_log_odds = self.d_log_odds.lock().unwrap_or_else(PoisonError::into_inner);
        numbers.clear();
        numbers.extend(d_log_odds.iter().chain(&sums.d_annotator));
        sums.value
    }
}

/// The stamp model that a fit of this model would take.
pub(crate) fn annotator(model: &Model, unit: f64) -> unjitter::Result<OneAnnotator> {
    let (counts, noise) = (model.counts.build()?, model.noise.build(unit)?);
    let annotator = OneAnnotator::new(counts.into(), noise.into());
    Ok(annotator.with_order(model.alignment).with_background())
}

impl Rows for Kept<'_> {
    fn at_a_time(&self) -> usize {
        512
    }

    fn log_odds<'a>(&'a self, instances: Range<usize>, _: &'a mut [f64]) -> &'a [f64] {
        &self.log_odds[instances]
    }

    fn pull_back(&self, instances: Range<usize>, d_log_odds: &mut [f64], _: &mut Sums) {
        let mut all = self.d_log_odds.lock().unwrap_or_else(PoisonError::into_inner);
        all[instances].copy_from_slice(d_log_odds);
    }

    fn messages(&self) -> Option<&Messages> {
        Some(&self.messages)
    }
}
