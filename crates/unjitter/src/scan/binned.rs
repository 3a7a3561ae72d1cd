//! Features in bins of time.

use super::scaling::Scaling;
use super::whitening::Whitening;
use crate::features::FeatureView;

/// Most bins per instance: beyond, most of the time is a gap.
const SPARSE: f64 = 20.0;

/// Sums of scaled features in bins of time.
pub(crate) struct Binned {
    /// When the first bin begins.
    pub(crate) start: f64,
    /// How long a bin is.
    pub(crate) bin: f64,
    /// Number of columns.
    pub(crate) width: usize,
    /// Bin by bin.
    pub(crate) features: Vec<f32>,
    /// Instances in each bin.
    pub(crate) counts: Vec<f32>,
}

impl Binned {
    /// None if the session is mostly gaps, or absurdly long.
    pub(crate) fn of(
        times: &[f64],
        features: FeatureView<'_>,
        bin: f64,
        scaling: &Scaling,
    ) -> Option<Self> {
        let (bins, width, start) = (bins(times, bin)?, scaling.width(), times[0]);
        let mut binned =
            Self { start, bin, width, features: vec![0.0; bins * width], counts: vec![0.0; bins] };
        let mut times = times.iter();
        features.visit_rows(|row| {
            if let Some(time) = times.next() {
                let k = (((time - start) / bin) as usize).min(bins - 1);
                scaling.add(row, &mut binned.features[k * width..(k + 1) * width]);
                binned.counts[k] += 1.0;
            }
        });
        Some(binned)
    }

    /// Number of bins.
    pub(crate) fn bins(&self) -> usize {
        self.counts.len()
    }

    /// The same with whitened features.
    pub(crate) fn whitened(self, whitening: &Whitening) -> Self {
        let features = whitening.whiten(&self.features);
        Self { width: whitening.width(), features, ..self }
    }

    /// The same in bins twice as long.
    pub(crate) fn doubled(&self) -> Self {
        let bins = self.bins().div_ceil(2);
        let mut features = vec![0.0; bins * self.width];
        for (sums, pair) in
            features.chunks_mut(self.width).zip(self.features.chunks(2 * self.width))
        {
            for own in pair.chunks(self.width) {
                sums.iter_mut().zip(own).for_each(|(sum, x)| *sum += x);
            }
        }
        let counts = self.counts.chunks(2).map(|pair| pair.iter().sum()).collect();
        Self { start: self.start, bin: 2.0 * self.bin, width: self.width, features, counts }
    }

    /// The bin of a moment, which may lie outside.
    pub(crate) fn place(&self, moment: f64) -> f64 {
        ((moment - self.start) / self.bin).floor()
    }
}

/// Number of bins of a session, if that is reasonable.
pub(crate) fn bins(times: &[f64], bin: f64) -> Option<usize> {
    let bins = ((times[times.len() - 1] - times[0]) / bin).floor() + 1.0;
    (bins <= SPARSE * times.len() as f64).then_some(bins as usize)
}
