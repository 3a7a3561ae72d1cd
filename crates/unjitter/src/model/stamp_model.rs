//! The interface between learning and models of the stamps.
//!
//! A stamp model takes the log-odds of a session's labels. It returns the log evidence of the stamps, the
//! derivatives in the log-odds and in its own parameters and, on request, the whole posterior. Learning,
//! `posterior`, `align`, starts and network losses all use this interface, so a new model of stamps only
//! needs another implementation of [`StampModel`].

use std::borrow::Cow;
use std::fmt::Debug;
use std::ops::{AddAssign, Range};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::exchange::Exchange;
use crate::Control;
use crate::inference::{
    Alignment, Compensator, DelayDistribution, Impossible, Marginals, Messages, Stamped, Timeline,
};
use crate::labels::{Habit, Summed, SummedStamp};
use crate::math::Random;
use crate::params::ParameterSpec;

/// Instances processed together, about, if only their log-odds are given: their numbers stay in the
/// second-level cache.
pub(super) const ROWS: usize = 512;

/// A value to be maximised and its derivatives, as threads and remote workers add them up.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Sums {
    /// Log evidence of stamps and known labels.
    pub value: f64,
    /// Its derivatives in the detector's parameters, which the log-odds depend on.
    pub d_detector: Vec<f64>,
    /// Its derivatives in the parameters of the labels, if these have any, and of the stamp model.
    pub d_annotator: Vec<f64>,
    /// Its derivative in the drift of the clock, if that is learned.
    pub d_drift: f64,
}

impl Sums {
    /// Zeros for so many parameters of detector and annotator.
    pub fn zeros(detector: usize, annotator: usize) -> Self {
        let (d_detector, d_annotator) = (vec![0.0; detector], vec![0.0; annotator]);
        Self { value: 0.0, d_detector, d_annotator, d_drift: 0.0 }
    }

    /// As of a session that counts so often.
    pub(crate) fn times(mut self, weight: f64) -> Self {
        self.value *= weight;
        self.d_drift *= weight;
        self.d_detector.iter_mut().chain(&mut self.d_annotator).for_each(|d| *d *= weight);
        self
    }
}

impl AddAssign<&Sums> for Sums {
    fn add_assign(&mut self, other: &Sums) {
        self.value += other.value;
        self.d_drift += other.d_drift;
        let add = |sums: &mut [f64], others: &[f64]| {
            sums.iter_mut().zip(others).for_each(|(sum, d)| *sum += d);
        };
        add(&mut self.d_detector, &other.d_detector);
        add(&mut self.d_annotator, &other.d_annotator);
    }
}

/// Known or assumed properties of an annotator.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Learned {
    /// Mean of stamp − instance time; positive is late.
    pub delay: f64,
    /// Standard deviation of the delay, or its scale if that is infinite.
    pub spread: f64,
    /// P(no stamp | positive instance).
    pub miss_rate: f64,
    /// P(at least one stamp | negative instance).
    pub false_rate: f64,
    /// Stamps per unit of time that come from no instance.
    pub background_rate: f64,
}

impl Learned {
    /// The same annotator with times in another unit, given in the present one.
    pub(crate) fn in_units_of(self, unit: f64) -> Self {
        let Self { delay, spread, background_rate, .. } = self;
        Self {
            delay: delay / unit,
            spread: spread / unit,
            background_rate: background_rate * unit,
            ..self
        }
    }
}

/// Stamps that were drawn.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DrawnStamps {
    /// Their times, in order.
    pub times: Vec<f64>,
    /// The delays of those that an instance gave.
    pub delays: Vec<f64>,
}

/// How labels give rise to stamps. Times are in units of the model.
pub trait StampModel: Debug + Send + Sync {
    /// Its parts by name, each with its parameters, in the order of `params` in the other methods.
    fn parts(&self) -> Vec<(&'static str, Vec<ParameterSpec>)>;

    /// Parameters that roughly describe this annotator.
    fn start(&self, supposed: &Learned) -> Vec<f64>;

    /// The annotator that the parameters describe.
    fn learned(&self, params: &[f64]) -> Learned;

    /// Overwrites `out` with log p(delay).
    fn log_delay_density(&self, params: &[f64], delays: &[f64], out: &mut [f64]);

    /// Draws stamps of instances at these times, with these labels. Those from nowhere lie between the first
    /// instance and the last.
    fn draw(
        &self,
        params: &[f64],
        times: &[f64],
        labels: &[bool],
        random: &mut Random,
    ) -> DrawnStamps;

    /// Most stamps of one instance, if there is a limit and none can come from nowhere.
    fn max_count(&self, params: &[f64]) -> Option<usize>;

    /// Whether the evidence has kinks, on which the best parameters may lie.
    fn has_kinks(&self) -> bool;

    /// The same annotator with its stamps scored as a superposition: a smoother objective.
    fn superposed(self: Arc<Self>) -> Arc<dyn StampModel>;

    /// The model at these parameters, for sessions of at most so many stamps.
    fn bind(&self, params: &[f64], clock: Clock, most_stamps: usize) -> Bound<'_>;
}

/// A stamp model at its parameters, of any kind.
pub type Bound<'a> = Box<dyn BoundStampModel + 'a>;

/// How the clock of the stamps runs, beside that of the instances.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Clock {
    /// What it gains per unit of time: an instance at t is then stamped as if it were at t + drift·(t − middle).
    /// If there is a number, its derivative is computed.
    pub drift: Option<f64>,
    /// Where it neither gains nor loses: in the middle of the session.
    pub middle: f64,
}

impl Clock {
    /// What the clock of the stamps shows at these times of instances.
    pub(crate) fn times_of<'a>(&self, times: &'a [f64]) -> Cow<'a, [f64]> {
        let Some(drift) = self.drift.filter(|&drift| drift != 0.0) else { return times.into() };
        times.iter().map(|t| t + drift * (t - self.middle)).collect()
    }
}

/// Stamps about labels that depend on each other, for the sum over these.
#[derive(Debug)]
pub struct Heard<'a> {
    /// Instances, stamps, delays and background.
    pub(crate) stamped: Stamped<'a>,
    /// How many stamps an event has.
    pub(crate) habit: Habit,
    /// Log probability that no other stamp came from nowhere.
    pub(crate) no_more: f64,
}

/// What the sum found of the stamps that are recorded as a class, and of the events that are of it.
#[derive(Debug)]
pub struct Found<'a> {
    /// Where each stamp belongs.
    pub(crate) stamps: &'a [SummedStamp],
    pub(crate) all: &'a Summed,
    /// Whether other threads may help.
    pub(crate) in_parallel: bool,
    /// Expected number of stamps that the events gave, whatever these are recorded as.
    pub(crate) given: f64,
    /// Expected number of events.
    pub(crate) events: f64,
    /// Expected number of events without a stamp.
    pub(crate) missed: f64,
}

/// A stamp model at its parameters.
pub trait BoundStampModel: Sync {
    /// Adds the log evidence of a session's stamps and its derivatives; `rows` handles the derivatives in
    /// the log-odds. On failure nothing was added.
    fn add(
        &self,
        timeline: Timeline<'_>,
        rows: &dyn Rows,
        sums: &mut Sums,
    ) -> Result<(), Impossible>;

    /// The posterior over alignments and labels. Log-odds are ±∞ if a label is known. Messages of a similar
    /// evaluation, if there are any, shorten it, and are overwritten.
    fn posterior(
        &self,
        timeline: Timeline<'_>,
        log_odds: &[f64],
        messages: Option<&Messages>,
    ) -> Result<Marginals, Impossible>;

    /// The likeliest alignment, given the posterior of the same session.
    fn best_alignment(
        &self,
        timeline: Timeline<'_>,
        log_odds: &[f64],
        found: &Marginals,
    ) -> Alignment;

    /// The least and the most that a stream of stamps can tell of a label, as log-odds.
    fn label_odds(&self) -> (f64, f64);

    /// The distribution of the delay.
    fn delays(&self) -> DelayDistribution;

    /// What a sum over labels that depend on each other needs of a session's stamps. Times are by their clock.
    fn hear<'a>(&'a self, timeline: Timeline<'a>) -> Result<Heard<'a>, Impossible>;

    /// Adds the derivatives of what that sum found. Times are by the clock of the instances.
    fn pull_back_found(&self, timeline: Timeline<'_>, found: &Found<'_>, sums: &mut Sums);

    /// How many stamps were to be expected between stamps, given those before; `watched` is how long
    /// somebody annotated up to a time.
    fn compensator(
        &self,
        timeline: Timeline<'_>,
        log_odds: &[f64],
        watched: &dyn Fn(f64) -> f64,
    ) -> Compensator;

    /// Draws alignments from the posterior, given its marginals: an instance for each stamp, or none if it
    /// came from nowhere. Cut short if a stop is requested. Fails if only the marginals are known.
    fn sample(
        &self,
        timeline: Timeline<'_>,
        log_odds: &[f64],
        found: &Marginals,
        draws: Draws<'_>,
    ) -> crate::Result<Vec<Vec<Option<usize>>>>;
}

/// How many alignments to draw, and how.
#[derive(Debug, Clone, Copy)]
pub struct Draws<'a> {
    /// How many.
    pub count: usize,
    /// Same seed, same draws.
    pub seed: u64,
    /// Stops the draws early, and reports progress.
    pub control: Control<'a>,
}

/// Given log-odds, without derivatives.
impl Rows for &[f64] {
    fn at_a_time(&self) -> usize {
        ROWS
    }

    fn log_odds<'a>(&'a self, instances: Range<usize>, _: &'a mut [f64]) -> &'a [f64] {
        &self[instances]
    }

    fn pull_back(&self, _: Range<usize>, _: &mut [f64], _: &mut Sums) {}
}

/// The instances of a session. They provide log-odds and take back derivatives some rows at a time, while
/// these are in cache.
pub trait Rows: Sync {
    /// How many rows stay in cache between the two.
    fn at_a_time(&self) -> usize;

    /// Log-odds by instance and class, borrowed or written to `room`; ±∞ if a label is known and plain.
    fn log_odds<'a>(&'a self, instances: Range<usize>, room: &'a mut [f64]) -> &'a [f64];

    /// Takes the derivatives of the stamps' evidence in these log-odds, which are 0 if a label is known,
    /// and adds the resulting derivatives to the sums.
    fn pull_back(&self, instances: Range<usize>, d_log_odds: &mut [f64], sums: &mut Sums);

    /// Where a stamp model keeps messages of this session from one evaluation to the next.
    fn messages(&self) -> Option<&Messages> {
        None
    }

    /// Where several annotators keep what they told each other.
    fn exchange(&self) -> Option<&Exchange> {
        None
    }

    /// Log-odds of an instance: one for each class of events.
    fn outputs(&self) -> usize {
        1
    }

    /// Whether other threads may work on other rows of the session.
    fn in_parallel(&self) -> bool {
        true
    }

    /// Whether to skip the rest; the value is then NaN.
    fn is_stopped(&self) -> bool {
        false
    }
}
