//! Delays in bins, for drawing.

use serde::Serialize;

use crate::math::quantile;

/// Bins aimed at for many delays, and for few; rounding their width to a round number leaves fewer.
const MOST_BINS: f64 = 20.0;
const LEAST_BINS: f64 = 5.0;
/// The share of delays on either side that need not be drawn: one wild stamp must not squeeze all the
/// others into one bin.
const TAIL: f64 = 0.02;
/// How far from the quartiles delays are drawn, in interquartile ranges: a tenth of the stamps may be
/// false presses, anywhere.
const REACH: f64 = 3.0;

/// Numbers of delays by size.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Histogram {
    /// Edges of the bins, one more than there are bins, in seconds.
    pub edges: Vec<f64>,
    /// Delays in each bin; it holds its lower edge and not its upper one.
    pub counts: Vec<usize>,
    /// Delays before the first bin.
    pub below: usize,
    /// Delays from the last edge on.
    pub above: usize,
    /// The middle delay.
    pub median: f64,
    /// Half of the delays lie between this and `upper_quartile`.
    pub lower_quartile: f64,
    /// See `lower_quartile`.
    pub upper_quartile: f64,
}

impl Histogram {
    /// The histogram of delays in order of size, if there are any.
    pub(super) fn of(sorted: Vec<f64>) -> Option<Self> {
        if sorted.is_empty() {
            return None;
        }
        let (lower, upper) = (quantile(&sorted, 0.25), quantile(&sorted, 0.75));
        let reach = if upper > lower { REACH * (upper - lower) } else { f64::INFINITY };
        let low = quantile(&sorted, TAIL).max(lower - reach);
        let high = quantile(&sorted, 1.0 - TAIL).min(upper + reach);
        // Bins of about as many delays as there are bins: fewer would show noise.
        let aim = (2.0 * (sorted.len() as f64).sqrt()).clamp(LEAST_BINS, MOST_BINS);
        let width = handy((high - low) / aim, low.abs().max(high.abs()));
        // Rounding may put an edge just past the delay that the bin should contain, or on one that it
        // should not.
        let mut first = (low / width).floor();
        first -= f64::from(u8::from(first * width > low));
        let mut bins = (((high / width).floor() - first) as usize + 1).min(1000);
        bins += usize::from((first + bins as f64) * width <= high);
        let edges: Vec<f64> = (0..=bins).map(|k| (first + k as f64) * width).collect();
        let until = |edge: f64| sorted.partition_point(|&delay| delay < edge);
        let counts = edges.windows(2).map(|pair| until(pair[1]) - until(pair[0])).collect();
        Some(Self {
            below: until(edges[0]),
            above: sorted.len() - until(edges[bins]),
            median: quantile(&sorted, 0.5),
            lower_quartile: lower,
            upper_quartile: upper,
            edges,
            counts,
        })
    }
}

/// The smallest of 1, 2 and 5 times a power of ten that is at least `width`; for a width of zero, one
/// that separates values of size `scale`.
fn handy(width: f64, scale: f64) -> f64 {
    let least = (scale * 1e-2).max(1e-6);
    let width = if width.is_finite() { width.max(least) } else { 1e300 };
    let power = 10f64.powf(width.log10().floor());
    let fits = [1.0, 2.0, 5.0, 10.0].map(|multiple| multiple * power);
    fits.into_iter().find(|&fit| fit >= width * (1.0 - 1e-9)).unwrap_or(10.0 * power)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_delay_is_counted_once_and_wild_ones_apart() {
        let mut delays: Vec<f64> = (0..1000).map(|k| f64::from(k) / 1000.0 - 0.3).collect();
        delays.extend([1e9, 1e10]);
        delays.insert(0, -1e12);
        let histogram = Histogram::of(delays.clone()).unwrap();
        let within: usize = histogram.counts.iter().sum();
        assert_eq!(within + histogram.below + histogram.above, delays.len());
        assert!(histogram.edges[0] >= -0.35 && *histogram.edges.last().unwrap() <= 0.75);
        assert!((10..=40).contains(&histogram.counts.len()), "{:?}", histogram.edges);
        // The width is rounded up to 0.05: every full bin has the same number.
        let middle = &histogram.counts[2..histogram.counts.len() - 2];
        assert!(middle.iter().all(|&count| count.abs_diff(50) <= 1), "{middle:?}");
    }

    #[test]
    fn presses_for_nothing_do_not_squeeze_the_others() {
        let mut delays: Vec<f64> = (0..100).map(|k| f64::from(k) / 25.0 - 2.0).collect();
        delays.extend((1..=12).map(|k| 50.0 * f64::from(k)));
        let histogram = Histogram::of(delays).unwrap();
        assert!(histogram.above == 12 && histogram.counts.len() >= 8, "{histogram:?}");
    }

    #[test]
    fn widths_are_handy_numbers() {
        for (width, expected) in [(0.03, 0.05), (1.0, 1.0), (1.1, 2.0), (70.0, 100.0)] {
            let found = handy(width, 1.0);
            assert!((found / expected - 1.0).abs() < 1e-12, "{width}: {found}");
        }
    }

    #[test]
    fn odd_delays_make_a_histogram_all_the_same() {
        for delays in [vec![3.0], vec![0.0; 9], vec![1e300; 3], vec![-1e308, 0.0, 1e308]] {
            let histogram = Histogram::of(delays.clone()).unwrap();
            let within: usize = histogram.counts.iter().sum();
            assert_eq!(within + histogram.below + histogram.above, delays.len(), "{delays:?}");
        }
        assert_eq!(Histogram::of(vec![]), None);
        for delay in [0.25, -0.3, 0.7, 1e-3] {
            let histogram = Histogram::of(vec![delay; 20]).unwrap();
            assert_eq!(histogram.counts.iter().max(), Some(&20), "{delay}: {histogram:?}");
        }
    }
}
