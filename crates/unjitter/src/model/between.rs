//! Stamps that are known only to an interval: the mean density of the delay over it, and its derivatives.
//!
//! The mean is a difference of the distribution function over the width, and its limit, as the interval shrinks,
//! is the density. Function and derivatives are tabulated from what every noise model has, its density and the
//! slopes of that, once for all stamps. In the tails, where differences have lost their digits, the density is
//! integrated over the interval itself.

use super::one_annotator::Density;
use crate::inference::{DelayDensity, DelayDistribution, NODES, cubic};

/// Shares below which a difference is not trusted: the table is right to 1e-9.
const SMALL: f64 = 1e-5;
/// Pieces into which an interval is cut where it is integrated.
const PIECES: usize = 16;

/// The distribution function of the delay at given parameters, with its derivatives in these.
#[derive(Debug)]
pub(super) struct Between {
    distribution: DelayDistribution,
    /// ∂F/∂parameter at the delays of the table, for each parameter.
    slopes: Vec<Vec<f64>>,
    /// Their derivatives in the delay: p(delay)·∂log p/∂parameter.
    densities: Vec<Vec<f64>>,
}

impl Between {
    pub(super) fn new(density: &Density<'_>) -> Self {
        let distribution = DelayDistribution::new(density);
        let delays = distribution.delays();
        let parameters = density.params.len();
        let mut slopes = vec![vec![0.0; delays.len()]; parameters];
        let mut densities = slopes.clone();
        for k in 0..delays.len() {
            let here = slopes_at(density, delays[k]);
            (0..parameters).for_each(|j| densities[j][k] = here[j]);
            if k > 0 {
                let (middle, half) =
                    (0.5 * (delays[k - 1] + delays[k]), 0.5 * (delays[k] - delays[k - 1]));
                (0..parameters).for_each(|j| slopes[j][k] = slopes[j][k - 1]);
                for (node, weight) in NODES {
                    let there = slopes_at(density, middle + half * node);
                    (0..parameters).for_each(|j| slopes[j][k] += half * weight * there[j]);
                }
            }
        }
        Self { distribution, slopes, densities }
    }

    /// P(delay in an interval of this width around `delay`), if the table tells.
    fn share(&self, delay: f64, width: f64) -> Option<f64> {
        let below = |delay| self.distribution.share_below(delay);
        let share = below(delay + 0.5 * width) - below(delay - 0.5 * width);
        Some(share).filter(|&share| share > SMALL)
    }

    /// Overwrites `out` with the log of the mean density over an interval of this width around each delay.
    pub(super) fn log_mean(
        &self,
        density: &Density<'_>,
        delays: &[f64],
        width: f64,
        out: &mut [f64],
    ) {
        for (out, &delay) in out.iter_mut().zip(delays) {
            *out = match self.share(delay, width) {
                Some(share) => (share / width).ln(),
                None => Pieces::new(density, delay, width).log_mean,
            };
        }
    }

    /// Adds Σ responsibilities·∂ log mean density/∂params.
    pub(super) fn pull_back(
        &self,
        density: &Density<'_>,
        delays: &[f64],
        width: f64,
        responsibilities: &[f64],
        d_params: &mut [f64],
    ) {
        for (&delay, &responsibility) in delays.iter().zip(responsibilities) {
            if responsibility == 0.0 {
                continue;
            }
            let Some(share) = self.share(delay, width) else {
                let Pieces { delays, mut shares, .. } = Pieces::new(density, delay, width);
                shares.iter_mut().for_each(|share| *share *= responsibility);
                density.noise.pull_back(&density.params, &delays, &shares, d_params);
                continue;
            };
            let table = self.distribution.delays();
            for (d_param, (values, slopes)) in
                d_params.iter_mut().zip(self.slopes.iter().zip(&self.densities))
            {
                let at = |delay: f64| cubic(table, values, slopes, delay);
                let change = at(delay + 0.5 * width) - at(delay - 0.5 * width);
                *d_param += responsibility * change / share;
            }
        }
    }
}

/// p(delay)·∂log p/∂parameters.
fn slopes_at(density: &Density<'_>, delay: f64) -> Vec<f64> {
    let (mut log_density, mut slopes) = ([0.0], vec![0.0; density.params.len()]);
    density.log_density(&[delay], &mut log_density);
    if log_density[0] > f64::NEG_INFINITY {
        let weight = [log_density[0].exp()];
        density.noise.pull_back(&density.params, &[delay], &weight, &mut slopes);
    }
    slopes
}

/// An interval in pieces, where the density is integrated.
struct Pieces {
    delays: Vec<f64>,
    /// The part of the integral that each delay stands for.
    shares: Vec<f64>,
    log_mean: f64,
}

impl Pieces {
    fn new(density: &Density<'_>, delay: f64, width: f64) -> Self {
        let piece = width / PIECES as f64;
        let node = |k: usize| {
            let middle = delay - 0.5 * width + (k / NODES.len()) as f64 * piece + 0.5 * piece;
            middle + 0.5 * piece * NODES[k % NODES.len()].0
        };
        let delays: Vec<f64> = (0..PIECES * NODES.len()).map(node).collect();
        let mut logs = vec![0.0; delays.len()];
        density.log_density(&delays, &mut logs);
        let highest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if highest == f64::NEG_INFINITY {
            return Self { shares: vec![0.0; delays.len()], delays, log_mean: highest };
        }
        let weight = |k: usize| 0.5 * NODES[k % NODES.len()].1 / PIECES as f64;
        let mut shares: Vec<f64> =
            logs.iter().enumerate().map(|(k, log)| weight(k) * (log - highest).exp()).collect();
        let total: f64 = shares.iter().sum();
        shares.iter_mut().for_each(|share| *share /= total);
        Self { delays, shares, log_mean: highest + total.ln() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::noise::{Noise, NoiseModel};

    const WIDTHS: [f64; 4] = [1e-4, 0.3, 2.0, 30.0];

    fn density(noise: &dyn NoiseModel, params: Vec<f64>) -> Density<'_> {
        Density::new(noise, params)
    }

    /// Every noise model at ordinary values.
    fn every(ask: impl Fn(&str, &dyn NoiseModel, &[f64])) {
        for kind in Noise::kinds() {
            let model = kind.example().build(1.0).unwrap();
            ask(kind.name, model.as_ref(), &model.start(0.4, 0.8));
        }
    }

    #[test]
    fn shares_of_neighbouring_intervals_sum_to_one() {
        every(|name, noise, params| {
            let density = density(noise, params.to_vec());
            let between = Between::new(&density);
            let width = 0.7;
            let delays: Vec<f64> = (-400..=400).map(|k| f64::from(k) * width).collect();
            let mut logs = vec![0.0; delays.len()];
            between.log_mean(&density, &delays, width, &mut logs);
            let total: f64 = logs.iter().map(|log| width * log.exp()).sum();
            // The table, and tails of a power beyond 280.
            assert!((total - 1.0).abs() < 1e-6, "{name}: {total}");
        });
    }

    #[test]
    fn a_narrow_interval_has_the_density_itself() {
        every(|name, noise, params| {
            let density = density(noise, params.to_vec());
            let between = Between::new(&density);
            for delay in [-0.6, 0.37, 0.9, 1.8] {
                let (mut mean, mut point) = ([0.0], [0.0]);
                between.log_mean(&density, &[delay], 1e-4, &mut mean);
                density.log_density(&[delay], &mut point);
                // A width of 1e-4, by differences of a table that is right to 1e-9.
                let same = mean == point || (mean[0] - point[0]).abs() < 1e-4;
                assert!(same, "{name} at {delay}: {mean:?} {point:?}");
            }
        });
    }

    #[test]
    fn means_are_those_of_a_fine_sum() {
        every(|name, noise, params| {
            let density = density(noise, params.to_vec());
            let between = Between::new(&density);
            for width in WIDTHS {
                for delay in [-9.0, -1.1, 0.45, 2.0, 12.0] {
                    let mut mean = [0.0];
                    between.log_mean(&density, &[delay], width, &mut mean);
                    let count = 40_000;
                    let at = |k: usize| delay + width * ((k as f64 + 0.5) / f64::from(count) - 0.5);
                    let delays: Vec<f64> = (0..count as usize).map(at).collect();
                    let mut logs = vec![0.0; delays.len()];
                    density.log_density(&delays, &mut logs);
                    let want = logs.iter().map(|log| log.exp()).sum::<f64>() / f64::from(count);
                    let got = mean[0].exp();
                    // 40 000 steps, one of which an edge of the support may cut.
                    let allowed = 2e-4 * want + 1e-300;
                    assert!((got - want).abs() <= allowed, "{name} {width} {delay}: {got} {want}");
                }
            }
        });
    }

    #[test]
    fn derivatives_are_those_of_the_mean() {
        every(|name, noise, params| {
            let value = |params: &[f64], width: f64, delay: f64| {
                let density = density(noise, params.to_vec());
                let mut mean = [0.0];
                Between::new(&density).log_mean(&density, &[delay], width, &mut mean);
                mean[0]
            };
            for width in [0.3, 2.0] {
                for delay in [-0.9, 0.45, 1.7, 7.0] {
                    let here = value(params, width, delay);
                    if here == f64::NEG_INFINITY {
                        continue;
                    }
                    let density = density(noise, params.to_vec());
                    let mut got = vec![0.0; params.len()];
                    let between = Between::new(&density);
                    between.pull_back(&density, &[delay], width, &[1.0], &mut got);
                    for k in 0..params.len() {
                        let beside = |step: f64| {
                            let mut near = params.to_vec();
                            near[k] += step;
                            value(&near, width, delay)
                        };
                        let step = 1e-3;
                        let want = (beside(step) - beside(-step)) / (2.0 * step);
                        // Tables of 1e-9 over shares of 1e-5 and a step of 1e-3; third derivatives times the
                        // square of the step.
                        let allowed = 2e-2 * (1.0 + want.abs());
                        let close = (got[k] - want).abs() < allowed || !want.is_finite();
                        assert!(close, "{name} {width} {delay} {k}: {} {want}", got[k]);
                    }
                }
            }
        });
    }
}
