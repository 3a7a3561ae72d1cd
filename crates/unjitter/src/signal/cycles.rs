//! Respiration cycles in the signal of a chest band.
//!
//! Each run without gaps is resampled, cleared of spikes by a short median, smoothed by a short mean and
//! freed of its baseline, a moving median. Peaks and troughs are found by hysteresis with a threshold
//! that follows the usual swing of the neighbourhood, so that shallow breathing is seen and noise is not.
//! In the flat pause before a breath the lowest point lies anywhere; inhalation begins where the final
//! rise leaves the level of the trough. Time is linear in the signal.

use super::Signal;
use super::extrema::{Extremum, alternating};
use super::options::CycleOptions;
use super::runs::{Run, runs};
use super::sliding::{moving_mean, moving_median, moving_sorted};
use crate::math::median;
use crate::{Error, Result};

/// One breath: inhalation from `start` to `peak`, exhalation (and pause) from `peak` to `end`.
///
/// Times are in seconds, values in units of the smoothed signal, areas in both. A cycle that was
/// not rejected rises and falls, and its three times increase.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cycle {
    /// Its run without gaps, from zero.
    pub run: usize,
    /// When inhalation begins.
    pub start: f64,
    /// When exhalation begins.
    pub peak: f64,
    /// When the next inhalation begins.
    pub end: f64,
    /// Value at the trough before the peak.
    pub start_value: f64,
    /// Value at the peak.
    pub peak_value: f64,
    /// Value at the trough after the peak.
    pub end_value: f64,
    /// Highest less lowest value from start to end.
    pub stretch: f64,
    /// Area between the signal and its lowest value, from start to peak.
    pub inhalation_area: f64,
    /// The same from peak to end.
    pub exhalation_area: f64,
}

/// Rejected candidates, by reason.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Rejected {
    /// Shorter than `min_duration`.
    pub short: usize,
    /// Longer than `max_duration`.
    pub long: usize,
    /// A rise or fall below `min_amplitude`, or none at all with the baseline left in.
    pub small: usize,
}

/// The cycles of a signal, in order of time.
#[derive(Debug, Clone, PartialEq)]
pub struct Cycles {
    /// The cycles; two neighbours of one run share their trough unless one between was rejected.
    pub cycles: Vec<Cycle>,
    /// Number of runs without gaps in the signal.
    pub runs: usize,
    /// The rejected candidates.
    pub rejected: Rejected,
}

/// The respiration cycles of `signal`. Finding none is an error.
pub fn find_cycles(signal: &Signal, options: &CycleOptions) -> Result<Cycles> {
    options.check()?;
    let runs = runs(signal, options.rate, options.max_gap);
    let filtered: Vec<Filtered> = runs.iter().map(|run| Filtered::new(run, options)).collect();
    let swings: Vec<f64> = filtered.iter().flat_map(|run| &run.swings).copied().collect();
    let floor = options.floor * median(swings).unwrap_or(0.0);

    let mut found = Cycles { cycles: vec![], runs: runs.len(), rejected: Rejected::default() };
    for (index, run) in filtered.iter().enumerate() {
        let turns = run.turning_points(floor, options);
        let first = turns.iter().position(|turn| !turn.is_peak).unwrap_or(turns.len());
        let onsets = run.onsets(&turns[first..], options.onset);
        for (breath, onsets) in turns[first..].windows(3).step_by(2).zip(onsets.windows(2)) {
            let cycle =
                run.cycle(breath, onsets, index, |i| runs[index].start + i as f64 / options.rate);
            if found.rejected.keeps(&cycle, options) {
                found.cycles.push(cycle);
            }
        }
    }
    if found.cycles.is_empty() {
        return Err(Error::NoCycles { samples: signal.len(), runs: runs.len() });
    }
    Ok(found)
}

impl Rejected {
    /// Whether `cycle` is valid; if not, counts the reason.
    fn keeps(&mut self, cycle: &Cycle, options: &CycleOptions) -> bool {
        let duration = cycle.end - cycle.start;
        let rise = cycle.peak_value - cycle.start_value;
        let amplitude = rise.min(cycle.peak_value - cycle.end_value);
        let reason = if duration < options.min_duration {
            &mut self.short
        } else if duration > options.max_duration {
            &mut self.long
        } else if amplitude < options.min_amplitude || amplitude <= 0.0 {
            &mut self.small
        } else {
            return true;
        };
        *reason += 1;
        false
    }
}

/// One run, filtered.
struct Filtered {
    /// Without spikes and noise.
    smooth: Vec<f64>,
    /// The same, less its baseline.
    level: Vec<f64>,
    /// The usual swing of `level` around each point.
    swings: Vec<f64>,
}

impl Filtered {
    fn new(run: &Run, options: &CycleOptions) -> Self {
        let clean = moving_median(&run.values, options.half(options.despike));
        let smooth = moving_mean(&clean, options.half(options.smoothing));
        let baseline = baseline(&smooth, options.half(options.baseline));
        let level: Vec<f64> =
            smooth.iter().zip(baseline).map(|(value, base)| value - base).collect();
        let range = |window: &[f64]| window[window.len() - 1] - window[0];
        let ranges = moving_sorted(&level, options.half(options.breath), range);
        let swings = moving_median(&ranges, options.half(options.neighbourhood));
        Self { smooth, level, swings }
    }

    fn turning_points(&self, floor: f64, options: &CycleOptions) -> Vec<Extremum> {
        let threshold = |swing: &f64| options.prominence * swing.max(floor);
        let thresholds: Vec<f64> = self.swings.iter().map(threshold).collect();
        alternating(&self.level, &thresholds)
    }

    /// For each trough of `turns`, which begin with one, the last point before the next peak that
    /// has risen by no more than `share` of the rise.
    fn onsets(&self, turns: &[Extremum], share: f64) -> Vec<usize> {
        let onset = |place: usize| {
            let trough = turns[place].index;
            // After the last trough the run may end before the signal turns again.
            let peak = turns.get(place + 1).map_or(self.level.len() - 1, |turn| turn.index);
            let rise = &self.level[trough..=peak];
            let top = rise.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let limit = rise[0] + share * (top - rise[0]);
            let first_top = rise.iter().position(|&value| value == top).unwrap_or(0);
            trough + rise[..first_top].iter().rposition(|&value| value <= limit).unwrap_or(0)
        };
        (0..turns.len()).step_by(2).map(onset).collect()
    }

    /// The cycle of `turns` (trough, peak, trough) that begins and ends at `onsets`.
    fn cycle(
        &self,
        turns: &[Extremum],
        onsets: &[usize],
        run: usize,
        time: impl Fn(usize) -> f64,
    ) -> Cycle {
        let (start, peak, end) = (onsets[0], turns[1].index, onsets[1]);
        let breath = &self.smooth[start..=end];
        let lowest = breath.iter().copied().fold(f64::INFINITY, f64::min);
        let highest = breath.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let area = |from: usize, to: usize| {
            let height: f64 =
                self.smooth[from..=to].windows(2).map(|s| 0.5 * (s[0] + s[1]) - lowest).sum();
            height * (time(to) - time(from)) / (to - from) as f64
        };
        Cycle {
            run,
            start: time(start),
            peak: time(peak),
            end: time(end),
            start_value: self.smooth[turns[0].index],
            peak_value: self.smooth[peak],
            end_value: self.smooth[turns[2].index],
            stretch: highest - lowest,
            inhalation_area: area(start, peak),
            exhalation_area: area(peak, end),
        }
    }
}

/// The moving median, held constant where its window would reach beyond an end: a window that
/// shrinks to part of a breath would follow the breath.
fn baseline(smooth: &[f64], half: usize) -> Vec<f64> {
    let medians = moving_median(smooth, half);
    let count = smooth.len();
    let inside =
        |i: usize| if count / 2 > half { i.clamp(half, count - 1 - half) } else { count / 2 };
    (0..count).map(|i| medians[inside(i)]).collect()
}
