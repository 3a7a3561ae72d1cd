//! Settings for finding and describing respiration cycles, each with its unit.

use serde::{Deserialize, Serialize};

use crate::Result;
use crate::error::require;

/// Settings of [`find_cycles`](super::find_cycles) and, by `neighbours`, of
/// [`session_from_signal`](super::session_from_signal). The defaults suit a chest band sampled at
/// 20 to 25 Hz.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CycleOptions {
    /// Rate of the uniform grid, in Hz; near the rate of the sensor.
    pub rate: f64,
    /// Longest step between samples that is bridged by a straight line, in seconds; a longer one
    /// ends a run, and no cycle spans two runs.
    pub max_gap: f64,
    /// Width of the median filter against spikes, in seconds; spikes up to nearly half of it
    /// vanish.
    pub despike: f64,
    /// Width of the moving average, in seconds. All reported values are read after it.
    pub smoothing: f64,
    /// Width of the moving median that is the baseline, in seconds; several cycles. The baseline is
    /// subtracted only to find and place the turning points, never from reported values.
    pub baseline: f64,
    /// Width of the window whose range is the swing at a moment, in seconds; about one cycle.
    pub breath: f64,
    /// Width of the neighbourhood whose median swing is the usual one, in seconds; many cycles, so
    /// that a few deep breaths do not hide shallow ones beside them.
    pub neighbourhood: f64,
    /// Smallest rise and fall of a cycle, as a share of the usual swing of its neighbourhood.
    pub prominence: f64,
    /// Smallest usual swing assumed for a neighbourhood, as a share of the recording's median swing:
    /// noise in a still stretch is not breathing.
    pub floor: f64,
    /// How far the signal has risen at the beginning of inhalation, as a share of the rise from trough to
    /// peak. Zero is the trough itself, which lies anywhere in a flat pause.
    pub onset: f64,
    /// Shortest cycle, in seconds.
    pub min_duration: f64,
    /// Longest cycle, in seconds.
    pub max_duration: f64,
    /// Smallest rise and fall of a cycle, in units of the signal. Both must also be above zero.
    pub min_amplitude: f64,
    /// How many cycles before, and as many after, make the surroundings of a cycle.
    pub neighbours: usize,
}

impl Default for CycleOptions {
    fn default() -> Self {
        Self {
            rate: 20.0,
            max_gap: 1.0,
            despike: 0.3,
            smoothing: 0.3,
            baseline: 15.0,
            breath: 4.0,
            neighbourhood: 60.0,
            prominence: 0.35,
            floor: 0.25,
            onset: 0.1,
            min_duration: 1.0,
            max_duration: 15.0,
            min_amplitude: 0.0,
            neighbours: 15,
        }
    }
}

impl CycleOptions {
    /// Checks every setting.
    pub fn check(&self) -> Result<()> {
        let above_zero = [
            ("max_gap", self.max_gap),
            ("baseline", self.baseline),
            ("breath", self.breath),
            ("neighbourhood", self.neighbourhood),
            ("prominence", self.prominence),
            ("max_duration", self.max_duration),
        ];
        for (name, value) in above_zero {
            require(name, value, value > 0.0, "a finite number above 0")?;
        }
        // A grid finer than any sensor would only fill the memory.
        let is_rate = self.rate > 0.0 && self.rate <= 1e4;
        require("rate", self.rate, is_rate, "a number above 0, 10000 at most")?;
        let at_least_zero = [
            ("despike", self.despike),
            ("smoothing", self.smoothing),
            ("floor", self.floor),
            ("min_duration", self.min_duration),
            ("min_amplitude", self.min_amplitude),
        ];
        for (name, value) in at_least_zero {
            require(name, value, value >= 0.0, "a finite number of at least 0")?;
        }
        require(
            "onset",
            self.onset,
            (0.0..1.0).contains(&self.onset),
            "a share from 0 to below 1",
        )?;
        let ordered = self.min_duration < self.max_duration;
        require("min_duration", self.min_duration, ordered, "less than max_duration")
    }

    /// Grid points on each side of the middle of a window of `width` seconds.
    pub(super) fn half(&self, width: f64) -> usize {
        (0.5 * width * self.rate).round() as usize
    }
}
