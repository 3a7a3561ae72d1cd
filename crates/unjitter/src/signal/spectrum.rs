//! Shares of the power of a window in frequency bands.
//!
//! The window is interpolated to a uniform grid, freed of its mean, tapered by a Hann window, and
//! transformed by a real FFT: O(n log n) for n samples.

use std::fmt;
use std::sync::Arc;

use realfft::{RealFftPlanner, RealToComplex};

/// A transform of a given number of samples, planned once for all windows of a channel.
pub(super) struct Spectrum {
    transform: Arc<dyn RealToComplex<f64>>,
    taper: Vec<f64>,
    rate: f64,
}

impl fmt::Debug for Spectrum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Spectrum").field("count", &self.taper.len()).finish_non_exhaustive()
    }
}

impl Spectrum {
    /// For windows of `count` uniform samples, `rate` a second.
    pub(super) fn new(count: usize, rate: f64) -> Self {
        let angle = |k: usize| std::f64::consts::TAU * k as f64 / count as f64;
        let taper = (0..count).map(|k| 0.5 - 0.5 * angle(k).cos()).collect();
        Self { transform: RealFftPlanner::new().plan_fft_forward(count), taper, rate }
    }

    /// Number of samples in a window.
    pub(super) fn count(&self) -> usize {
        self.taper.len()
    }

    /// The share of the power (without the mean) in each band from `low` to below `high` Hz; zeros
    /// for a constant window.
    pub(super) fn shares(&self, mut values: Vec<f64>, bands: &[(f64, f64)]) -> Vec<f64> {
        let origin = values[0];
        let mean = values.iter().map(|value| value - origin).sum::<f64>() / values.len() as f64;
        for (value, taper) in values.iter_mut().zip(&self.taper) {
            *value = taper * (*value - origin - mean);
        }
        let mut bins = self.transform.make_output_vec();
        let done = self.transform.process(&mut values, &mut bins);
        debug_assert!(done.is_ok(), "both buffers have the planned length");
        let powers: Vec<f64> = bins.iter().map(|bin| bin.norm_sqr()).collect();
        // Bin zero is the rest of the mean after the taper.
        let total: f64 = powers[1..].iter().sum();
        let frequency = |bin: usize| bin as f64 * self.rate / self.taper.len() as f64;
        let share = |&(low, high): &(f64, f64)| {
            let inside = (1..powers.len()).filter(|&bin| (low..high).contains(&frequency(bin)));
            let power: f64 = inside.map(|bin| powers[bin]).sum();
            if total > 0.0 { power / total } else { 0.0 }
        };
        bands.iter().map(share).collect()
    }
}
