//! Types shared by windows, recursions and results.

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// The density of the delay z − t, with its parameters bound.
pub trait DelayDensity: Sync {
    /// Overwrites `out` with log p(delay); −∞ outside the support.
    fn log_density(&self, delays: &[f64], out: &mut [f64]);

    /// The level that `reach` measures from, close to the supremum of the log density.
    fn log_peak(&self) -> f64;

    /// An interval of delays outside which the log density is below `log_peak − log_drop`.
    fn reach(&self, log_drop: f64) -> (f64, f64);

    /// Overwrites `out` with the log of the mean density over an interval of this width around each delay.
    fn log_mean_density(&self, delays: &[f64], width: f64, out: &mut [f64]);
}

/// A stamp.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stamp {
    /// When it was pressed, or the middle of the interval in which it was.
    pub time: f64,
    /// The width of that interval; 0 if the time is known. The density of such a stamp is the mean over the
    /// interval, whose limit, as the interval shrinks, is that of a known time.
    pub width: f64,
}

impl Stamp {
    /// Stamps at these times.
    pub fn at(times: &[f64]) -> Vec<Self> {
        times.iter().map(|&time| Self { time, width: 0.0 }).collect()
    }
}

/// Instances and stamps of a session in time.
#[derive(Debug, Clone, Copy)]
pub struct Timeline<'a> {
    /// Time of each instance; they do not decrease.
    pub times: &'a [f64],
    /// The stamps; their times do not decrease.
    pub stamps: &'a [Stamp],
    /// The unit of delays, in the unit of the times.
    pub unit: f64,
    /// How long a stamp from nowhere could have been pressed, in the unit of the times.
    pub duration: f64,
}

/// Which owners of stamps are summed over.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// Stamps come in the order of their instances, as in the paper: the sum is exact.
    #[default]
    Ordered,
    /// Any stamp from any instance: the sum is approximated by belief propagation.
    Free,
}

/// A session in time, and the distribution of its delays.
#[derive(Clone, Copy)]
pub struct Stamped<'a> {
    /// Time of each instance; they do not decrease.
    pub times: &'a [f64],
    /// The stamps; their times do not decrease.
    pub stamps: &'a [Stamp],
    /// The unit of delays, in the unit of the times.
    pub unit: f64,
    /// p((z − t) / unit).
    pub density: &'a dyn DelayDensity,
    /// Log of the stamps per unit that no instance gives; −∞ if there are none.
    pub log_background: f64,
    /// Which owners are summed over.
    pub order: Order,
}

impl<'a> Timeline<'a> {
    /// Stamps that could have been pressed between the first and the last instance or stamp.
    pub fn new(times: &'a [f64], stamps: &'a [Stamp], unit: f64) -> Self {
        let earliest = [times.first().copied(), stamps.first().map(|stamp| stamp.time)];
        let latest = [times.last().copied(), stamps.last().map(|stamp| stamp.time)];
        let first = earliest.into_iter().flatten().fold(f64::INFINITY, f64::min);
        let last = latest.into_iter().flatten().fold(f64::NEG_INFINITY, f64::max);
        Self { times, stamps, unit, duration: (last - first).max(0.0) }
    }

    /// The timeline with this density of the delays: in order, and no stamp from nowhere.
    pub fn with(self, density: &'a dyn DelayDensity) -> Stamped<'a> {
        let Self { times, stamps, unit, .. } = self;
        let (log_background, order) = (f64::NEG_INFINITY, Order::Ordered);
        Stamped { times, stamps, unit, density, log_background, order }
    }
}

impl Stamped<'_> {
    /// An interval of delays outside which the density of no stamp is above its level at this drop from the peak.
    pub(super) fn reach(&self, log_drop: f64) -> (f64, f64) {
        let (low, high) = self.density.reach(log_drop);
        let widest = self.stamps.iter().map(|stamp| stamp.width).fold(0.0, f64::max);
        let half = 0.5 * widest / self.unit;
        (low - half, high + half)
    }

    /// Overwrites `out` with the log densities of delays, each of a stamp.
    pub(super) fn log_densities(&self, stamps: &[usize], delays: &[f64], out: &mut [f64]) {
        if stamps.iter().all(|&stamp| self.stamps[stamp].width == 0.0) {
            return self.density.log_density(delays, out);
        }
        for ((&stamp, delay), out) in stamps.iter().zip(delays.chunks(1)).zip(out.chunks_mut(1)) {
            self.log_densities_of(stamp, delay, out);
        }
    }

    /// The same for delays of one stamp.
    pub(crate) fn log_densities_of(&self, stamp: usize, delays: &[f64], out: &mut [f64]) {
        match self.stamps[stamp].width {
            0.0 => self.density.log_density(delays, out),
            width => self.density.log_mean_density(delays, width / self.unit, out),
        }
    }
}

impl std::fmt::Debug for Stamped<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { times, stamps, unit, .. } = self;
        let mut shown = f.debug_struct("Stamped");
        shown.field("times", times).field("stamps", stamps).field("unit", unit);
        shown.finish_non_exhaustive()
    }
}

/// The instances first..end that a stamp can have come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Window {
    /// First instance.
    pub(super) first: usize,
    /// One past the last instance.
    pub(super) end: usize,
}

impl Window {
    /// Number of instances.
    pub(super) fn len(&self) -> usize {
        self.end - self.first
    }
}

/// Neighbouring instances and the stamps whose windows lie among them: a piece of a session that is
/// summed by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Span {
    /// Its instances.
    pub(super) instances: Range<usize>,
    /// Its stamps.
    pub(super) stamps: Range<usize>,
}

/// Neighbouring stamps whose windows overlap, and the instances in those windows. All sums run over one
/// block at a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Block {
    pub(super) instances: Range<usize>,
    pub(super) stamps: Range<usize>,
}

/// Why a span could not be solved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trouble {
    /// A quantity left the range of f64; log space then takes over.
    Underflow,
    /// The windows are too narrow: no path through them, or weight at their edges.
    Narrow,
    /// Belief propagation did not converge.
    Unsettled,
}

/// No alignment has positive probability, or the sums exceed the memory limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Impossible {
    /// A stamp that no instance can have given.
    Stamp(usize),
    /// All stamps together.
    Together,
    /// The cells of all windows would take this many bytes.
    TooLarge(u64),
    /// Belief propagation did not converge.
    Unsettled,
    /// Labels in a chain need what the stamps do not have.
    OfChain(&'static str),
}

impl Impossible {
    /// The same of stamps that have these positions among others.
    pub(crate) fn among(self, positions: &[usize]) -> Self {
        match self {
            Self::Stamp(l) => Self::Stamp(positions[l]),
            others => others,
        }
    }
}

/// The largest number of windows of a block that contain one instance.
pub(super) fn deepest(windows: &[Window]) -> usize {
    let mut closed = 0;
    let mut deepest = 0;
    for (opened, window) in (1..).zip(windows) {
        while windows[closed].end <= window.first {
            closed += 1;
        }
        deepest = deepest.max(opened - closed);
    }
    deepest
}
