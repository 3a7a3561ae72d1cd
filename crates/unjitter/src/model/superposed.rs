//! An annotator whose stamps are scored as a superposition, to begin learning from.
//!
//! Parameters are those of the annotator itself, and so is every answer but the evidence.

use std::sync::Arc;

use super::one_annotator::{OneAnnotator, Superposition};
use super::stamp_model::{
    Bound, BoundStampModel, Clock, DrawnStamps, Draws, Found, Heard, Learned, Rows, StampModel,
    Sums,
};
use crate::inference::{
    Alignment, Compensator, DelayDistribution, Impossible, Marginals, Messages, Timeline,
};
use crate::math::Random;
use crate::params::ParameterSpec;

/// The same annotator, scored by superposition.
#[derive(Debug)]
pub(crate) struct Superposed(pub(super) Arc<OneAnnotator>);

impl StampModel for Superposed {
    fn parts(&self) -> Vec<(&'static str, Vec<ParameterSpec>)> {
        self.0.parts()
    }

    fn start(&self, supposed: &Learned) -> Vec<f64> {
        self.0.start(supposed)
    }

    fn learned(&self, params: &[f64]) -> Learned {
        self.0.learned(params)
    }

    fn log_delay_density(&self, params: &[f64], delays: &[f64], out: &mut [f64]) {
        self.0.log_delay_density(params, delays, out);
    }

    fn draw(
        &self,
        params: &[f64],
        times: &[f64],
        labels: &[bool],
        random: &mut Random,
    ) -> DrawnStamps {
        self.0.draw(params, times, labels, random)
    }

    fn max_count(&self, _: &[f64]) -> Option<usize> {
        None
    }

    fn has_kinks(&self) -> bool {
        self.0.has_kinks()
    }

    fn superposed(self: Arc<Self>) -> Arc<dyn StampModel> {
        self
    }

    fn bind(&self, params: &[f64], clock: Clock, most_stamps: usize) -> Bound<'_> {
        let superposition = self.0.superposition(params, clock, most_stamps);
        Box::new(BoundSuperposed { superposition, whole: self.0.bind(params, clock, most_stamps) })
    }
}

struct BoundSuperposed<'a> {
    superposition: Superposition<'a>,
    whole: Bound<'a>,
}

impl BoundStampModel for BoundSuperposed<'_> {
    fn add(
        &self,
        timeline: Timeline<'_>,
        rows: &dyn Rows,
        sums: &mut Sums,
    ) -> Result<(), Impossible> {
        self.superposition.add(timeline, rows, sums)
    }

    fn posterior(
        &self,
        timeline: Timeline<'_>,
        log_odds: &[f64],
        messages: Option<&Messages>,
    ) -> Result<Marginals, Impossible> {
        self.whole.posterior(timeline, log_odds, messages)
    }

    fn best_alignment(
        &self,
        timeline: Timeline<'_>,
        log_odds: &[f64],
        found: &Marginals,
    ) -> Alignment {
        self.whole.best_alignment(timeline, log_odds, found)
    }

    fn label_odds(&self) -> (f64, f64) {
        self.whole.label_odds()
    }

    fn delays(&self) -> DelayDistribution {
        self.whole.delays()
    }

    fn hear<'a>(&'a self, timeline: Timeline<'a>) -> Result<Heard<'a>, Impossible> {
        self.whole.hear(timeline)
    }

    fn pull_back_found(&self, timeline: Timeline<'_>, found: &Found<'_>, sums: &mut Sums) {
        self.whole.pull_back_found(timeline, found, sums);
    }

    fn compensator(
        &self,
        timeline: Timeline<'_>,
        log_odds: &[f64],
        watched: &dyn Fn(f64) -> f64,
    ) -> Compensator {
        self.whole.compensator(timeline, log_odds, watched)
    }

    fn sample(
        &self,
        timeline: Timeline<'_>,
        log_odds: &[f64],
        found: &Marginals,
        draws: Draws<'_>,
    ) -> crate::Result<Vec<Vec<Option<usize>>>> {
        self.whole.sample(timeline, log_odds, found, draws)
    }
}
