//! Sliding windows over any sensor, each an instance with summary features.
//!
//! Windows are cut by time, not by number of samples, so channels may have different rates and lose samples.
//! A window that has lost too many is left out and counted. Time is O(n log n) in the samples of all windows.

use ndarray::Array2;
use serde::{Deserialize, Serialize};

use super::Signal;
use super::runs::resample;
use super::spectrum::Spectrum;
use super::summary::{SUMMARIES, summarise};
use crate::error::require;
use crate::math::median;
use crate::{Error, Result};

/// Most samples of a window.
const MAX_SAMPLES: f64 = 1e7;
/// Most windows of a recording: a step near zero would fill any memory.
const MAX_WINDOWS: f64 = 1e7;

/// The moment of a window that is its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Anchor {
    /// Its beginning.
    Start,
    /// Its middle.
    #[default]
    Centre,
    /// Its end.
    End,
}

/// Settings of windows and their features.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WindowOptions {
    /// Length of a window, in seconds.
    pub length: f64,
    /// Distance between the starts of neighbouring windows, in seconds.
    pub step: f64,
    /// The moment of a window that is its time.
    pub anchor: Anchor,
    /// Least number of samples of each channel, as a share of the number expected at its usual rate, 0 to
    /// 1. Never fewer than two.
    pub min_share: f64,
    /// Frequency bands whose share of the power is a feature: from, to below, in Hz.
    pub bands: Vec<(f64, f64)>,
}

impl Default for WindowOptions {
    fn default() -> Self {
        Self { length: 2.0, step: 1.0, anchor: Anchor::Centre, min_share: 0.67, bands: vec![] }
    }
}

impl WindowOptions {
    /// Checks every setting.
    pub fn check(&self) -> Result<()> {
        require("length", self.length, self.length > 0.0, "a finite number above 0")?;
        require("step", self.step, self.step > 0.0, "a finite number above 0")?;
        let is_share = (0.0..=1.0).contains(&self.min_share);
        require("min_share", self.min_share, is_share, "a share from 0 to 1")?;
        for (k, &(low, high)) in self.bands.iter().enumerate() {
            require(&format!("bands[{k}].low"), low, low >= 0.0, "a finite number of at least 0")?;
            require(&format!("bands[{k}].high"), high, high > low, "a finite number above low")?;
        }
        Ok(())
    }

    /// Names of the feature columns for channels of the given names: for each channel the
    /// [`SUMMARIES`], then the bands.
    pub fn names(&self, channels: &[&str]) -> Vec<String> {
        let of_channel = |channel: &&str| -> Vec<String> {
            let summaries = SUMMARIES.iter().map(|name| format!("{channel}_{name}"));
            let band = |(low, high): &(f64, f64)| format!("{channel}_power_{low}_{high}_hz");
            summaries.chain(self.bands.iter().map(band)).collect()
        };
        channels.iter().flat_map(of_channel).collect()
    }
}

/// Windows of a recording, in order of time.
#[derive(Debug, Clone, PartialEq)]
pub struct Windows {
    /// Time of each window, by the anchor.
    pub times: Vec<f64>,
    /// Windows × columns, named by [`WindowOptions::names`].
    pub features: Array2<f64>,
    /// How many windows had too few samples and were left out.
    pub skipped: usize,
}

/// Cuts `channels`, each of two samples or more, into windows.
///
/// Windows start at the first moment that all channels have reached, and end no later than the last that
/// all still cover. The samples of a window are those from its start to before its end.
pub fn windows(channels: &[Signal], options: &WindowOptions) -> Result<Windows> {
    options.check()?;
    let mut prepared = Vec::with_capacity(channels.len());
    for (index, signal) in channels.iter().enumerate() {
        prepared.push(Channel::new(signal, index, options)?);
    }
    let mut windows = Cut { rows: vec![], times: vec![], skipped: 0 };
    let start = prepared.iter().map(|c| c.times[0]).fold(f64::NEG_INFINITY, f64::max);
    let end = prepared.iter().map(Channel::end).fold(f64::INFINITY, f64::min);
    // A last window that rounding has made slightly too long still counts.
    let room = (end - start - options.length) / options.step + 1e-6;
    require(
        "number of windows",
        room,
        room <= MAX_WINDOWS,
        "at most 10 million; lengthen the step",
    )?;
    let count = if channels.is_empty() || room < 0.0 { 0 } else { room.floor() as usize + 1 };
    for k in 0..count {
        windows.push(&mut prepared, start, k as f64 * options.step, options);
    }
    let columns = channels.len() * (SUMMARIES.len() + options.bands.len());
    let features = Array2::from_shape_vec((windows.times.len(), columns), windows.rows)
        .expect("every window has pushed one value per column");
    Ok(Windows { times: windows.times, features, skipped: windows.skipped })
}

/// The windows cut so far.
struct Cut {
    rows: Vec<f64>,
    times: Vec<f64>,
    skipped: usize,
}

impl Cut {
    /// Adds the window that begins `offset` seconds after `origin`, if it has enough samples.
    fn push(
        &mut self,
        channels: &mut [Channel<'_>],
        origin: f64,
        offset: f64,
        options: &WindowOptions,
    ) {
        let mut row = Vec::new();
        let mut is_full = true;
        for channel in channels {
            channel.move_to(origin, offset, options.length);
            is_full &= channel.has_enough(options.min_share);
            if is_full {
                channel.describe(origin + offset, options, &mut row);
            }
        }
        if !is_full {
            self.skipped += 1;
            return;
        }
        let within = match options.anchor {
            Anchor::Start => 0.0,
            Anchor::Centre => 0.5 * options.length,
            Anchor::End => options.length,
        };
        self.times.push(origin + (offset + within));
        self.rows.extend(row);
    }
}

/// One channel, and the position of the current window in it.
struct Channel<'a> {
    times: &'a [f64],
    values: &'a [f64],
    /// Usual time between samples.
    spacing: f64,
    spectrum: Spectrum,
    from: usize,
    to: usize,
}

impl<'a> Channel<'a> {
    fn new(signal: &'a Signal, index: usize, options: &WindowOptions) -> Result<Self> {
        let (times, values) = (signal.times(), signal.values());
        let steps = times.windows(2).map(|pair| pair[1] - pair[0]);
        let spacing = median(steps.filter(|&step| step > 0.0).collect())
            .ok_or(Error::TooFewSamples { channel: index, samples: times.len() })?;
        let count = (options.length / spacing).round().max(2.0);
        let expected = "a length of at most 10 million samples";
        require("length", options.length, count <= MAX_SAMPLES, expected)?;
        let count = count as usize;
        let spectrum = Spectrum::new(count, count as f64 / options.length);
        Ok(Self { times, values, spacing, spectrum, from: 0, to: 0 })
    }

    /// End of the channel: a sample covers the time until the next.
    fn end(&self) -> f64 {
        self.times[self.times.len() - 1] + self.spacing
    }

    /// Advances to the window of `length` that begins `offset` after `origin`.
    fn move_to(&mut self, origin: f64, offset: f64, length: f64) {
        let is_before = |index: usize, limit: f64| {
            self.times.get(index).is_some_and(|time| time - origin < limit)
        };
        while is_before(self.from, offset) {
            self.from += 1;
        }
        self.to = self.to.max(self.from);
        while is_before(self.to, offset + length) {
            self.to += 1;
        }
    }

    fn has_enough(&self, share: f64) -> bool {
        let found = self.to - self.from;
        found >= 2 && found as f64 >= share * self.spectrum.count() as f64
    }

    /// Adds the features of the current window, which begins at `start`, to `row`.
    fn describe(&self, start: f64, options: &WindowOptions, row: &mut Vec<f64>) {
        let (times, values) = (&self.times[self.from..self.to], &self.values[self.from..self.to]);
        row.extend(summarise(values, options.length));
        if !options.bands.is_empty() {
            let count = self.spectrum.count();
            let step = options.length / count as f64;
            let uniform = resample(times, values, start, step, count);
            row.extend(self.spectrum.shares(uniform, &options.bands));
        }
    }
}
