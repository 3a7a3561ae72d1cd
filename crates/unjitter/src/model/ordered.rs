//! Stamps in the order of their instances: the paper's model, summed exactly.
//!
//! A count model gives the number of stamps per instance, a noise model their delays.

use std::ops::Range;
use std::sync::Arc;

use super::counts::CountModel;
use super::noise::NoiseModel;
use super::stamp_model::{BoundStampModel, Draws, Learned, Rows, StampModel, Sums};
use crate::inference::{
    Alignment, Buffers, CountTables, DelayDensity, Impossible, Lattice, Marginals, Pass, Shares,
    SpanSolution, Timeline,
};
use crate::params::ParameterSpec;
use crate::scratch::Scratch;

/// The part for the number of stamps per instance.
pub(super) const COUNTS: &str = "counts";
/// The part for their delays.
pub(super) const NOISE: &str = "noise";

/// Counts and noise, with their parameters in that order.
#[derive(Debug)]
pub struct Ordered {
    counts: Arc<dyn CountModel>,
    noise: Arc<dyn NoiseModel>,
    /// Number of parameters of the counts.
    split: usize,
    scratch: Scratch<Buffers>,
}

impl Ordered {
    /// Combines counts and noise.
    pub fn new(counts: Arc<dyn CountModel>, noise: Arc<dyn NoiseModel>) -> Self {
        let split = counts
            .parameters()
            .iter()
            .map(|parameter| parameter.transform.dim(parameter.len))
            .sum();
        Self { counts, noise, split, scratch: Scratch::default() }
    }
}

impl StampModel for Ordered {
    fn parts(&self) -> Vec<(&'static str, Vec<ParameterSpec>)> {
        vec![(COUNTS, self.counts.parameters()), (NOISE, self.noise.parameters())]
    }

    fn start(&self, supposed: &Learned) -> Vec<f64> {
        let Learned { delay, spread, miss_rate, false_rate } = *supposed;
        let mut params = self.counts.start(false_rate, 1.0 - miss_rate);
        params.extend(self.noise.start(delay, spread));
        params
    }

    fn learned(&self, params: &[f64]) -> Learned {
        let (counts, noise) = params.split_at(self.split);
        let (false_rate, miss_rate) = self.counts.rates(counts);
        let (delay, spread) = (self.noise.delay(noise), self.noise.spread(noise));
        Learned { delay, spread, miss_rate, false_rate }
    }

    fn log_delay_density(&self, params: &[f64], delays: &[f64], out: &mut [f64]) {
        self.noise.log_density(&params[self.split..], delays, out);
    }

    fn max_count(&self) -> Option<usize> {
        self.counts.max_count()
    }

    fn has_kinks(&self) -> bool {
        self.noise.has_kinks()
    }

    fn bind<'a>(&'a self, params: &'a [f64], most_stamps: usize) -> Box<dyn BoundStampModel + 'a> {
        let (counts, noise) = params.split_at(self.split);
        let tables = tables(self.counts.as_ref(), counts, most_stamps);
        let density = Density { noise: self.noise.as_ref(), params: noise };
        Box::new(BoundOrdered { model: self, counts, tables, density })
    }
}

/// Count tables for sessions of at most `stamps` stamps.
pub(super) fn tables(counts: &dyn CountModel, params: &[f64], stamps: usize) -> CountTables {
    // At least one entry beyond silence, so that every table has a first-count weight.
    let most = counts.max_count().unwrap_or(usize::MAX).min(stamps.max(1));
    let table = |label: usize| {
        let mut table = vec![0.0; most + 1];
        counts.log_probabilities(params, label, &mut table);
        table
    };
    let ratios = counts.log_ratio(params, 0).zip(counts.log_ratio(params, 1));
    CountTables::new([table(0), table(1)], ratios.map(|(a, b)| [a, b]))
}

/// A noise model with its parameters.
pub(super) struct Density<'a> {
    pub(super) noise: &'a dyn NoiseModel,
    pub(super) params: &'a [f64],
}

impl DelayDensity for Density<'_> {
    fn log_density(&self, delays: &[f64], out: &mut [f64]) {
        self.noise.log_density(self.params, delays, out);
    }

    fn log_peak(&self) -> f64 {
        self.noise.log_peak(self.params)
    }

    fn reach(&self, log_drop: f64) -> (f64, f64) {
        self.noise.reach(self.params, log_drop)
    }
}

struct BoundOrdered<'a> {
    model: &'a Ordered,
    /// Parameters of the counts.
    counts: &'a [f64],
    tables: CountTables,
    density: Density<'a>,
}

impl BoundOrdered<'_> {
    fn lattice<'b>(&'b self, timeline: Timeline<'b>, log_odds: &'b [f64]) -> Lattice<'b> {
        Lattice { timeline, log_odds, counts: &self.tables, density: &self.density }
    }
}

impl BoundStampModel for BoundOrdered<'_> {
    fn add(
        &self,
        timeline: Timeline<'_>,
        rows: &dyn Rows,
        sums: &mut Sums,
    ) -> Result<(), Impossible> {
        let parameters = (sums.d_detector.len(), sums.d_annotator.len());
        let pass = Evidence { bound: self, rows, parameters };
        let stamped = timeline.with(&self.density);
        let mut found = stamped.run(&pass, &self.tables, &self.model.scratch)?;
        let (d_counts, _) = found.sums.d_annotator.split_at_mut(self.model.split);
        for (label, expected) in found.expected.0.iter().enumerate() {
            self.model.counts.pull_back(self.counts, label, expected, d_counts);
        }
        found.sums.value += found.log_evidence;
        *sums += &found.sums;
        Ok(())
    }

    fn posterior(&self, timeline: Timeline<'_>, log_odds: &[f64]) -> Result<Marginals, Impossible> {
        self.lattice(timeline, log_odds).marginals()
    }

    fn best_alignment(
        &self,
        timeline: Timeline<'_>,
        log_odds: &[f64],
        found: &Marginals,
    ) -> Alignment {
        self.lattice(timeline, log_odds).best_alignment(found)
    }

    fn sample(
        &self,
        timeline: Timeline<'_>,
        log_odds: &[f64],
        found: &Marginals,
        Draws { count, seed, control }: Draws<'_>,
    ) -> Vec<Vec<usize>> {
        self.lattice(timeline, log_odds).sample(found, count, seed, control)
    }
}

/// The pass for learning: derivatives pulled back to rows and noise.
struct Evidence<'a> {
    bound: &'a BoundOrdered<'a>,
    rows: &'a dyn Rows,
    parameters: (usize, usize),
}

impl Pass for Evidence<'_> {
    type Sums = Sums;

    fn rows_at_a_time(&self) -> usize {
        self.rows.at_a_time()
    }

    fn numbers(&self) -> usize {
        self.parameters.0 + self.parameters.1
    }

    fn zero(&self) -> Sums {
        Sums::zeros(self.parameters.0, self.parameters.1)
    }

    fn log_odds<'a>(&'a self, instances: Range<usize>, room: &'a mut [f64]) -> &'a [f64] {
        self.rows.log_odds(instances, room)
    }

    fn take_stamps(&self, Shares { delays, responsibilities, .. }: Shares<'_>, sums: &mut Sums) {
        let Density { noise, params } = self.bound.density;
        let d_noise = &mut sums.d_annotator[self.bound.model.split..];
        noise.pull_back(params, delays, responsibilities, d_noise);
    }

    fn take_span(&self, solved: SpanSolution<'_>, sums: &mut Sums) {
        self.rows.pull_back(solved.instances, solved.d_log_odds, sums);
    }

    fn add(&self, sums: &mut Sums, later: Sums) {
        *sums += &later;
    }

    fn in_parallel(&self) -> bool {
        self.rows.in_parallel()
    }

    fn is_stopped(&self) -> bool {
        self.rows.is_stopped()
    }
}
