//! One annotator: a count model gives the number of stamps per instance, a noise model their delays, and
//! some stamps come from nowhere at a constant rate.
//!
//! In order and without a background it is the paper's model.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rayon::prelude::*;

use super::between::Between;
use super::counts::{BoundCounts, CountModel};
use super::noise::NoiseModel;
use super::stamp_model::{
    Bound, BoundStampModel, Clock, DrawnStamps, Draws, Found, Heard, Learned, Rows, StampModel,
    Sums,
};
use super::superposed::Superposed;
use crate::Error;
use crate::inference::{
    Alignment, Buffers, Compensator, CountTables, DelayDensity, DelayDistribution, Impossible,
    Lattice, Marginals, Messages, Order, Pass, Shares, SpanSolution, Stamp, Stamped, Timeline,
};
use crate::labels::{Habit, SummedStamp};
use crate::math::Random;
use crate::params::{ParameterSpec, Role, Transform};
use crate::scratch::Scratch;

/// The part for the number of stamps per instance.
pub(super) const COUNTS: &str = "counts";
/// The part for their delays.
pub(super) const NOISE: &str = "noise";

/// Stamps whose derivatives one thread adds up at a time.
const TOGETHER: usize = 256;

/// The part for stamps from nowhere.
const BACKGROUND: &str = "background";

/// Counts, noise and, if there is one, the background, with their parameters in that order.
#[derive(Debug)]
pub struct OneAnnotator {
    counts: Arc<dyn CountModel>,
    noise: Arc<dyn NoiseModel>,
    order: Order,
    has_background: bool,
    /// Stamps per unit of time of a usual session, if the background goes with them.
    usual_rate: Option<f64>,
    /// Parameters of the noise; those of the counts lie before it, the background after it.
    noise_range: Range<usize>,
    scratch: Scratch<Buffers>,
    tables: Tables,
}

impl OneAnnotator {
    /// Counts and noise in order, without a background: the paper's model.
    pub fn new(counts: Arc<dyn CountModel>, noise: Arc<dyn NoiseModel>) -> Self {
        let split = dim(&counts.parameters());
        let noise_range = split..split + dim(&noise.parameters());
        let (order, scratch, tables) = (Order::Ordered, Scratch::default(), Tables::default());
        let (has_background, usual_rate) = (false, None);
        Self { counts, noise, order, has_background, usual_rate, noise_range, scratch, tables }
    }

    /// The same with this assumption about the order of stamps.
    pub fn with_order(self, order: Order) -> Self {
        Self { order, ..self }
    }

    /// The same with stamps from nowhere, of the same rate in all sessions.
    pub fn with_background(self) -> Self {
        Self { has_background: true, ..self }
    }

    /// The same with stamps from nowhere in proportion to those of a session: the rate is that of a session
    /// with so many stamps per unit of time. Who presses more often also slips more often.
    pub fn with_proportional_background(self, usual_rate: f64) -> Self {
        Self { usual_rate: Some(usual_rate), ..self.with_background() }
    }

    /// Stamps from nowhere per unit of time in a session of this duration in which instances gave so many.
    fn drawn_background(&self, params: &[f64], given: usize, duration: f64) -> f64 {
        let rate = self.log_background(params).exp();
        match self.usual_rate {
            _ if duration <= 0.0 => 0.0,
            None => rate,
            // A share β of all stamps is β ÷ (1 − β) of the others.
            Some(usual) => {
                let share = (rate / usual).min(MOST_FROM_NOWHERE);
                share / (1.0 - share) * given as f64 / duration
            }
        }
    }

    /// log ρ; −∞ without a background.
    fn log_background(&self, params: &[f64]) -> f64 {
        if self.has_background { params[self.noise_range.end] } else { f64::NEG_INFINITY }
    }
}

impl OneAnnotator {
    /// The same with these parameters, its stamps scored as a superposition.
    pub(super) fn superposition(
        &self,
        params: &[f64],
        clock: Clock,
        most_stamps: usize,
    ) -> Superposition<'_> {
        let bound = self.at(params, clock, most_stamps.max(LONGEST_TABLE));
        let moment = |label: usize, power: i32| -> f64 {
            let counts = 1..=bound.tables.max_count();
            counts.map(|c| (c as f64).powi(power) * bound.tables.probability(label, c)).sum()
        };
        let [means, squares] = [1, 2].map(|power| [0, 1].map(|label| moment(label, power)));
        Superposition { bound, means, squares }
    }

    fn at(&self, params: &[f64], clock: Clock, most_stamps: usize) -> BoundAnnotator<'_> {
        let counts = params[..self.noise_range.start].to_vec();
        let tables = tables(self.counts.as_ref(), &counts, most_stamps);
        let noise = params[self.noise_range.clone()].to_vec();
        let density = Density::new(self.noise.as_ref(), noise);
        let density = Density { tables: Some(&self.tables), ..density };
        let log_background = self.log_background(params);
        BoundAnnotator { model: self, counts, tables, density, log_background, clock }
    }
}

/// What stamps about a chain need.
const ONE_OR_ANY: &str = "counts of one stamp at most (bernoulli), or of any number (poisson)";
const SOME_BACKGROUND: &str = "some stamps from nowhere: a background.rate above 0";

/// The largest share of stamps that are drawn from nowhere.
const MOST_FROM_NOWHERE: f64 = 0.9;

/// Counts up to which the mean of a table is summed.
const LONGEST_TABLE: usize = 100;

/// Unconstrained numbers of some parameters.
fn dim(parameters: &[ParameterSpec]) -> usize {
    parameters.iter().map(|parameter| parameter.transform.dim(parameter.len)).sum()
}

impl StampModel for OneAnnotator {
    fn parts(&self) -> Vec<(&'static str, Vec<ParameterSpec>)> {
        let mut parts = vec![(COUNTS, self.counts.parameters()), (NOISE, self.noise.parameters())];
        if self.has_background {
            let rate = ParameterSpec::new("rate", 1, Transform::Rate, Role::Background).per_time();
            parts.push((BACKGROUND, vec![rate]));
        }
        parts
    }

    fn start(&self, supposed: &Learned) -> Vec<f64> {
        let Learned { delay, spread, miss_rate, false_rate, background_rate } = *supposed;
        let mut params = self.counts.start(false_rate, 1.0 - miss_rate);
        params.extend(self.noise.start(delay, spread));
        if self.has_background {
            params.push(background_rate.ln());
        }
        params
    }

    fn learned(&self, params: &[f64]) -> Learned {
        let (counts, noise) =
            (&params[..self.noise_range.start], &params[self.noise_range.clone()]);
        let (false_rate, miss_rate) = self.counts.rates(counts);
        let (delay, spread) = (self.noise.delay(noise), self.noise.spread(noise));
        let background_rate = self.log_background(params).exp();
        Learned { delay, spread, miss_rate, false_rate, background_rate }
    }

    fn log_delay_density(&self, params: &[f64], delays: &[f64], out: &mut [f64]) {
        self.noise.log_density(&params[self.noise_range.clone()], delays, out);
    }

    fn draw(
        &self,
        params: &[f64],
        times: &[f64],
        labels: &[bool],
        random: &mut Random,
    ) -> DrawnStamps {
        let model = Arc::clone(&self.counts);
        let counts = BoundCounts { model, params: params[..self.noise_range.start].to_vec() };
        let noise = &params[self.noise_range.clone()];
        let mut drawn = DrawnStamps::default();
        for (time, &label) in times.iter().zip(labels) {
            for _ in 0..counts.sample(usize::from(label), random) {
                let delay = self.noise.sample(noise, random);
                drawn.times.push(time + delay);
                drawn.delays.push(delay);
            }
        }
        let (first, last) = times.first().zip(times.last()).map_or((0.0, 0.0), |(a, b)| (*a, *b));
        let rate = self.drawn_background(params, drawn.times.len(), last - first);
        // Gaps of a Poisson process: a unit Gamma of shape one is exponential.
        let mut time = first;
        while rate > 0.0 && time <= last {
            time += random.gamma(1.0) / rate;
            drawn.times.extend(Some(time).filter(|&time| time <= last));
        }
        drawn.times.sort_by(f64::total_cmp);
        drawn
    }

    fn max_count(&self, params: &[f64]) -> Option<usize> {
        self.counts.max_count().filter(|_| self.log_background(params) == f64::NEG_INFINITY)
    }

    fn has_kinks(&self) -> bool {
        self.noise.has_kinks()
    }

    fn superposed(self: Arc<Self>) -> Arc<dyn StampModel> {
        Arc::new(Superposed(self))
    }

    fn bind(&self, params: &[f64], clock: Clock, most_stamps: usize) -> Bound<'_> {
        Box::new(self.at(params, clock, most_stamps))
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
    pub(super) params: Vec<f64>,
    between: OnceLock<Arc<Between>>,
    /// Where tables for other stamps may be found.
    tables: Option<&'a Tables>,
}

impl<'a> Density<'a> {
    pub(super) fn new(noise: &'a dyn NoiseModel, params: Vec<f64>) -> Self {
        Self { noise, params, between: OnceLock::new(), tables: None }
    }

    /// Tabulated on first use.
    fn between(&self) -> &Between {
        self.between.get_or_init(|| match self.tables {
            Some(tables) => tables.of(self),
            None => Arc::new(Between::new(self)),
        })
    }

    /// Adds what the responsibilities of some stamps say of the parameters.
    fn pull_back(
        &self,
        shares: Shares<'_>,
        stamps: &[Stamp],
        unit: f64,
        responsibilities: &[f64],
        d_params: &mut [f64],
    ) {
        let is_point = |(stamp, _): (usize, Range<usize>)| stamps[stamp].width == 0.0;
        if shares.cells().all(is_point) {
            return self.noise.pull_back(&self.params, shares.delays, responsibilities, d_params);
        }
        for (stamp, cells) in shares.cells() {
            let (delays, own) = (&shares.delays[cells.clone()], &responsibilities[cells]);
            self.pull_back_of(&stamps[stamp], delays, unit, own, d_params);
        }
    }

    /// The same of one stamp.
    fn pull_back_of(
        &self,
        stamp: &Stamp,
        delays: &[f64],
        unit: f64,
        responsibilities: &[f64],
        d_params: &mut [f64],
    ) {
        match stamp.width {
            0.0 => self.noise.pull_back(&self.params, delays, responsibilities, d_params),
            width => {
                self.between().pull_back(self, delays, width / unit, responsibilities, d_params);
            }
        }
    }

    /// The derivative in a number that is added to all delays, from those in the noise's parameters.
    fn along_delays(&self, d_params: &[f64]) -> f64 {
        let specs = self.noise.parameters();
        let roles = specs
            .iter()
            .flat_map(|spec| std::iter::repeat_n(spec.role, spec.transform.dim(spec.len)));
        roles.zip(d_params).filter(|(role, _)| *role == Role::Delay).map(|(_, d)| d).sum()
    }
}

/// Tables of the distribution function at the parameters that were last asked for: sessions share them.
#[derive(Debug, Default)]
pub(super) struct Tables(Mutex<VecDeque<(Vec<f64>, Arc<Between>)>>);

impl Tables {
    /// As many as there may be groups that differ in their noise, and are worth keeping.
    const MOST: usize = 64;

    fn of(&self, density: &Density<'_>) -> Arc<Between> {
        let known = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let same = |own: &&(Vec<f64>, Arc<Between>)| own.0 == density.params;
        if let Some((_, table)) = known().iter().find(same) {
            return Arc::clone(table);
        }
        let table = Arc::new(Between::new(density));
        let mut known = known();
        known.push_front((density.params.clone(), Arc::clone(&table)));
        known.truncate(Self::MOST);
        table
    }
}

impl DelayDensity for Density<'_> {
    fn log_density(&self, delays: &[f64], out: &mut [f64]) {
        self.noise.log_density(&self.params, delays, out);
    }

    fn log_peak(&self) -> f64 {
        self.noise.log_peak(&self.params)
    }

    fn reach(&self, log_drop: f64) -> (f64, f64) {
        self.noise.reach(&self.params, log_drop)
    }

    fn log_mean_density(&self, delays: &[f64], width: f64, out: &mut [f64]) {
        self.between().log_mean(self, delays, width, out);
    }
}

/// An annotator of whose counts only the mean matters.
pub(super) struct Superposition<'a> {
    bound: BoundAnnotator<'a>,
    /// E[c] by label.
    means: [f64; 2],
    /// E[c²] by label.
    squares: [f64; 2],
}

impl Superposition<'_> {
    /// Adds the log likelihood of a session's stamps, and its derivatives.
    pub(super) fn add(
        &self,
        timeline: Timeline<'_>,
        rows: &dyn Rows,
        sums: &mut Sums,
    ) -> Result<(), Impossible> {
        let Self { bound, means, squares } = self;
        let model = bound.model;
        let parameters = (sums.d_detector.len(), sums.d_annotator.len());
        let pass = Evidence { bound, rows, parameters, timeline };
        bound.check_clock()?;
        let found = bound.in_time(timeline, |timeline| {
            bound.stamped(timeline).superpose(&pass, *means, &model.scratch)
        })?;
        let mut own = found.sums;
        let no_more = bound.no_more(timeline);
        if model.has_background {
            own.d_annotator[model.noise_range.end] += no_more;
        }
        let d_counts = &mut own.d_annotator[..model.noise_range.start];
        for (label, d_mean) in found.d_means.into_iter().enumerate() {
            // ∂ E[c] = Σ_c c·p(c)·∂ log p(c): as if c·p(c) instances had given c stamps.
            let expected: Vec<f64> = if bound.tables.ratios().is_some() {
                let (total, stamps) = (means[label] * d_mean, squares[label] * d_mean);
                vec![total - stamps, stamps]
            } else {
                let counts = 0..=bound.tables.max_count();
                counts.map(|c| d_mean * c as f64 * bound.tables.probability(label, c)).collect()
            };
            model.counts.pull_back(&bound.counts, label, &expected, d_counts);
        }
        own.value += found.log_likelihood + no_more;
        *sums += &own;
        Ok(())
    }
}

struct BoundAnnotator<'a> {
    model: &'a OneAnnotator,
    /// Parameters of the counts.
    counts: Vec<f64>,
    tables: CountTables,
    density: Density<'a>,
    log_background: f64,
    clock: Clock,
}

impl BoundAnnotator<'_> {
    /// Fails for a clock that runs backwards.
    fn check_clock(&self) -> Result<(), Impossible> {
        let runs = self.clock.drift.is_none_or(|drift| drift > -1.0);
        if runs { Ok(()) } else { Err(Impossible::Together) }
    }

    /// Weighs responsibilities of a stamp by how far a drift moves its delays: it moves the instance at t by t − middle,
    /// as if the delay were so much longer.
    fn weigh_drift(
        &self,
        drift: f64,
        stamp: &Stamp,
        delays: &[f64],
        unit: f64,
        weights: &mut [f64],
    ) {
        for (weight, delay) in weights.iter_mut().zip(delays) {
            let moved = stamp.time - delay * unit;
            *weight *= (moved - self.clock.middle) / (1.0 + drift) / unit;
        }
    }

    /// Shows the instances at the times that the clock of the stamps had then.
    fn in_time<T>(&self, timeline: Timeline<'_>, show: impl FnOnce(Timeline<'_>) -> T) -> T {
        show(Timeline { times: &self.clock.times_of(timeline.times), ..timeline })
    }

    fn lattice<'b>(&'b self, timeline: Timeline<'b>, log_odds: &'b [f64]) -> Lattice<'b> {
        Lattice { stamped: self.stamped(timeline), log_odds, counts: &self.tables }
    }

    fn stamped<'b>(&'b self, timeline: Timeline<'b>) -> Stamped<'b> {
        let (log_background, order) = (self.log_background(timeline), self.model.order);
        Stamped { log_background, order, ..timeline.with(&self.density) }
    }

    /// Log of the stamps from nowhere per unit of time in this session.
    fn log_background(&self, timeline: Timeline<'_>) -> f64 {
        let rate = timeline.stamps.len() as f64 * timeline.unit / timeline.duration;
        let usual = self.model.usual_rate.filter(|_| rate.is_normal());
        self.log_background + usual.map_or(0.0, |usual| (rate / usual).ln())
    }

    /// Log probability that no other stamp came from nowhere.
    fn no_more(&self, timeline: Timeline<'_>) -> f64 {
        if timeline.stamps.is_empty() && self.model.usual_rate.is_some() {
            return 0.0;
        }
        -self.log_background(timeline).exp() * timeline.duration / timeline.unit
    }
}

impl BoundStampModel for BoundAnnotator<'_> {
    fn add(
        &self,
        timeline: Timeline<'_>,
        rows: &dyn Rows,
        sums: &mut Sums,
    ) -> Result<(), Impossible> {
        let parameters = (sums.d_detector.len(), sums.d_annotator.len());
        let pass = Evidence { bound: self, rows, parameters, timeline };
        self.check_clock()?;
        let mut found = self.in_time(timeline, |timeline| {
            self.stamped(timeline).run(&pass, &self.tables, &self.model.scratch)
        })?;
        let no_more = self.no_more(timeline);
        if self.model.has_background {
            found.sums.d_annotator[self.model.noise_range.end] += no_more;
        }
        let d_counts = &mut found.sums.d_annotator[..self.model.noise_range.start];
        for (label, expected) in found.expected.0.iter().enumerate() {
            self.model.counts.pull_back(&self.counts, label, expected, d_counts);
        }
        found.sums.value += found.log_evidence + no_more;
        *sums += &found.sums;
        Ok(())
    }

    fn posterior(
        &self,
        timeline: Timeline<'_>,
        log_odds: &[f64],
        messages: Option<&Messages>,
    ) -> Result<Marginals, Impossible> {
        self.check_clock()?;
        let mut found = self.in_time(timeline, |timeline| {
            self.lattice(timeline, log_odds).marginals_in(&self.model.scratch, messages)
        })?;
        found.log_evidence += self.no_more(timeline);
        Ok(found)
    }

    fn best_alignment(
        &self,
        timeline: Timeline<'_>,
        log_odds: &[f64],
        found: &Marginals,
    ) -> Alignment {
        let mut best = self
            .in_time(timeline, |timeline| self.lattice(timeline, log_odds).best_alignment(found));
        best.log_weight += self.no_more(timeline);
        best
    }

    fn label_odds(&self) -> (f64, f64) {
        let ratio = |count: usize| {
            let [negative, positive] =
                [0, 1].map(|label| self.tables.probability(label, count).ln());
            // A count that no label gives tells nothing.
            Some(positive - negative).filter(|ratio| !ratio.is_nan())
        };
        let ratios = || (0..=self.tables.max_count()).filter_map(ratio);
        (ratios().fold(f64::INFINITY, f64::min), ratios().fold(f64::NEG_INFINITY, f64::max))
    }

    fn delays(&self) -> DelayDistribution {
        DelayDistribution::new(&self.density)
    }

    fn hear<'a>(&'a self, timeline: Timeline<'a>) -> Result<Heard<'a>, Impossible> {
        self.check_clock()?;
        let further = self.tables.ratios().map_or(0.0, |ratios| ratios[1]);
        if further == 0.0 && self.model.counts.max_count() != Some(1) {
            return Err(Impossible::OfChain(ONE_OR_ANY));
        }
        // Without one, a stamp may make a label certain, which riders have no word for.
        if self.log_background == f64::NEG_INFINITY {
            return Err(Impossible::OfChain(SOME_BACKGROUND));
        }
        let weight = |count: usize| self.tables.weight(1, count.min(self.tables.max_count()));
        let habit = Habit { silent: weight(0), given: weight(1), further };
        Ok(Heard { stamped: self.stamped(timeline), habit, no_more: self.no_more(timeline) })
    }

    fn pull_back_found(&self, timeline: Timeline<'_>, found: &Found<'_>, sums: &mut Sums) {
        let Self { model, density, clock, .. } = self;
        let Timeline { stamps, unit, .. } = timeline;
        let times = clock.times_of(timeline.times);
        let noise = model.noise_range.clone();
        let part = |(stamps, found_there): (&[Stamp], &[SummedStamp])| {
            let (mut d_noise, mut d_drift, mut owned) = (vec![0.0; noise.len()], 0.0, 0.0);
            let mut delays: Vec<f64> = Vec::new();
            for (stamp, own) in stamps.iter().zip(found_there) {
                let shares = found.all.shares(own);
                let instances = &times[own.first..own.first + shares.len()];
                delays.clear();
                delays.extend(instances.iter().map(|t| (stamp.time - t) / unit));
                density.pull_back_of(stamp, &delays, unit, shares, &mut d_noise);
                if let Some(drift) = clock.drift {
                    let mut weights = shares.to_vec();
                    self.weigh_drift(drift, stamp, &delays, unit, &mut weights);
                    let mut d_noise = vec![0.0; noise.len()];
                    density.pull_back_of(stamp, &delays, unit, &weights, &mut d_noise);
                    d_drift += density.along_delays(&d_noise);
                }
                owned += shares.iter().sum::<f64>();
            }
            (d_noise, d_drift, owned)
        };
        let pieces = stamps.chunks(TOGETHER).zip(found.stamps.chunks(TOGETHER));
        let parts: Vec<(Vec<f64>, f64, f64)> = match found.in_parallel {
            true => pieces.collect::<Vec<_>>().into_par_iter().map(part).collect(),
            false => pieces.map(part).collect(),
        };
        let mut owned = 0.0;
        for (d_noise, d_drift, own) in parts {
            let sums_of_noise = sums.d_annotator[noise.clone()].iter_mut();
            sums_of_noise.zip(d_noise).for_each(|(sum, own)| *sum += own);
            sums.d_drift += d_drift;
            owned += own;
        }
        if model.has_background {
            let from_nowhere = stamps.len() as f64 - owned;
            sums.d_annotator[noise.end] += from_nowhere + self.no_more(timeline);
        }
        let Found { events, missed, given, .. } = *found;
        let expected = match self.tables.ratios() {
            Some(_) => [events - given, given],
            None => [missed, given],
        };
        model.counts.pull_back(&self.counts, 1, &expected, &mut sums.d_annotator[..noise.start]);
    }

    fn compensator(
        &self,
        timeline: Timeline<'_>,
        log_odds: &[f64],
        watched: &dyn Fn(f64) -> f64,
    ) -> Compensator {
        // Counts beyond the stamps of the session were possible too.
        let tables = tables(self.model.counts.as_ref(), &self.counts, LONGEST_TABLE);
        self.in_time(timeline, |timeline| {
            let stamped = self.stamped(timeline);
            Lattice { stamped, log_odds, counts: &tables }.compensator(&self.delays(), watched)
        })
    }

    fn sample(
        &self,
        timeline: Timeline<'_>,
        log_odds: &[f64],
        found: &Marginals,
        Draws { count, seed, control }: Draws<'_>,
    ) -> crate::Result<Vec<Vec<Option<usize>>>> {
        if self.model.order == Order::Free {
            return Err(Error::NoDraws);
        }
        Ok(self.in_time(timeline, |timeline| {
            self.lattice(timeline, log_odds).sample(found, count, seed, control)
        }))
    }
}

/// The pass for learning: derivatives pulled back to rows and noise.
struct Evidence<'a> {
    bound: &'a BoundAnnotator<'a>,
    rows: &'a dyn Rows,
    parameters: (usize, usize),
    /// By the clock of the instances.
    timeline: Timeline<'a>,
}

impl Evidence<'_> {
    /// Adds the derivative in the drift.
    fn add_drift(&self, drift: f64, shares: Shares<'_>, sums: &mut Sums) {
        let Timeline { stamps, unit, .. } = self.timeline;
        let density = &self.bound.density;
        let mut weights = shares.responsibilities.to_vec();
        for (stamp, cells) in shares.cells() {
            let delays = &shares.delays[cells.clone()];
            self.bound.weigh_drift(drift, &stamps[stamp], delays, unit, &mut weights[cells]);
        }
        let mut d_noise = vec![0.0; density.params.len()];
        density.pull_back(shares, stamps, unit, &weights, &mut d_noise);
        sums.d_drift += density.along_delays(&d_noise);
    }
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

    fn take_stamps(&self, shares: Shares<'_>, sums: &mut Sums) {
        let range = self.bound.model.noise_range.clone();
        if let Some(drift) = self.bound.clock.drift {
            self.add_drift(drift, shares, sums);
        }
        let (Timeline { stamps, unit, .. }, responsibilities) =
            (self.timeline, shares.responsibilities);
        let d_noise = &mut sums.d_annotator[range.clone()];
        self.bound.density.pull_back(shares, stamps, unit, responsibilities, d_noise);
        if self.bound.log_background > f64::NEG_INFINITY {
            // The rest of every stamp; what cancels is a rounding of one stamp.
            let owned: f64 = responsibilities.iter().sum();
            sums.d_annotator[range.end] += shares.stamps() as f64 - owned;
        }
    }

    fn take_span(&self, solved: SpanSolution<'_>, sums: &mut Sums) {
        self.rows.pull_back(solved.instances, solved.d_log_odds, sums);
    }

    fn add(&self, sums: &mut Sums, later: Sums) {
        *sums += &later;
    }

    fn messages(&self) -> Option<&Messages> {
        self.rows.messages()
    }

    fn in_parallel(&self) -> bool {
        self.rows.in_parallel()
    }

    fn is_stopped(&self) -> bool {
        self.rows.is_stopped()
    }
}
