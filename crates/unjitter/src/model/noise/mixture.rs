//! A mixture of Gaussians: presses of several kinds, such as prompt ones and late ones.
//!
//! ```text
//! p(d) = Σ_k w_k · Normal(d; m_k, s_k)                 K components
//! ```
//!
//! Summed in log space, so a delay far from every component still has a finite log density and
//! well-defined component shares. A weight of exactly zero (a frozen logit of −∞) removes its
//! component and nothing else. Time O(K) per delay.

use super::NoiseModel;
use super::gaussian::{Bell, BellSums};
use crate::math::{Random, log_sum};
use crate::params::{BlockSpec, Role, Transform, log_softmax};

/// Weights, delays and spreads of K normal densities.
#[derive(Debug, Clone, Copy)]
pub struct GaussianMixture {
    components: usize,
}

/// The parameters of K components, cut apart.
struct Parts<'a> {
    log_weights: Vec<f64>,
    delays: &'a [f64],
    log_spreads: &'a [f64],
}

impl Parts<'_> {
    fn bells(&self) -> Vec<Bell> {
        self.delays.iter().zip(self.log_spreads).map(|(&m, &s)| Bell::new(m, s)).collect()
    }

    fn weights(&self) -> Vec<f64> {
        self.log_weights.iter().map(|w| w.exp()).collect()
    }
}

impl GaussianMixture {
    /// A mixture of `components ≥ 1`.
    pub(crate) fn new(components: usize) -> Self {
        debug_assert!(components >= 1);
        Self { components }
    }

    fn cut<'a>(&self, params: &'a [f64]) -> Parts<'a> {
        let (logits, rest) = params.split_at(self.components - 1);
        let (delays, log_spreads) = rest.split_at(self.components);
        Parts { log_weights: log_softmax(logits), delays, log_spreads }
    }
}

/// Overwrites `terms` with log w_k + log Normal_k(delay).
fn fill_terms(log_weights: &[f64], bells: &[Bell], delay: f64, terms: &mut [f64]) {
    for ((term, log_weight), bell) in terms.iter_mut().zip(log_weights).zip(bells) {
        *term = log_weight + bell.log_density(delay);
    }
}

/// The highest peak of a single weighted component.
fn highest(log_weights: &[f64], bells: &[Bell]) -> f64 {
    let peaks = log_weights.iter().zip(bells).map(|(w, bell)| w + bell.log_peak);
    peaks.fold(f64::NEG_INFINITY, f64::max)
}

impl NoiseModel for GaussianMixture {
    fn blocks(&self) -> Vec<BlockSpec> {
        let len = self.components;
        vec![
            BlockSpec::new("weights", len, Transform::Simplex, Role::MixtureWeight),
            BlockSpec::new("delays", len, Transform::Free, Role::Delay).in_time(),
            BlockSpec::new("spreads", len, Transform::Positive, Role::Spread).in_time(),
        ]
    }

    /// Equal weights; from the first component to the last the delays run from early to late and
    /// the spreads from narrow to wide, so that no two components start alike. Mean and standard
    /// deviation of the whole are exactly as asked.
    fn start(&self, delay: f64, spread: f64) -> Vec<f64> {
        let count = self.components as f64;
        let quantile = |k: usize| (k as f64 + 0.5) / count;
        // Evenly spaced on (−1, 1), with variance (1 − 1/K²)/3; the rest of the variance is
        // shared by components whose widths differ by up to a factor of four.
        let offset = |k: usize| 2.0 * quantile(k) - 1.0;
        let width = |k: usize| 4f64.powf(quantile(k));
        let mean_square = |f: &dyn Fn(usize) -> f64| {
            (0..self.components).map(|k| f(k) * f(k)).sum::<f64>() / count
        };
        let scale = ((1.0 - mean_square(&offset)) / mean_square(&width)).sqrt();
        let mut params = vec![0.0; self.components - 1];
        params.extend((0..self.components).map(|k| delay + spread * offset(k)));
        params.extend((0..self.components).map(|k| (spread * scale * width(k)).ln()));
        params
    }

    fn log_density(&self, params: &[f64], delays: &[f64], out: &mut [f64]) {
        let parts = self.cut(params);
        let bells = parts.bells();
        let mut terms = vec![0.0; self.components];
        for (out, &delay) in out.iter_mut().zip(delays) {
            fill_terms(&parts.log_weights, &bells, delay, &mut terms);
            *out = log_sum(&terms);
        }
    }

    /// The highest single component: at most the supremum, and at least the supremum − log K.
    fn log_peak(&self, params: &[f64]) -> f64 {
        let parts = self.cut(params);
        highest(&parts.log_weights, &parts.bells())
    }

    /// Outside the hull of the components' reaches, each one is below 1/K of the level, so their
    /// sum is below the level.
    fn reach(&self, params: &[f64], log_drop: f64) -> (f64, f64) {
        let parts = self.cut(params);
        let bells = parts.bells();
        let log_peak = highest(&parts.log_weights, &bells);
        let common_drop = log_drop + (self.components as f64).ln();
        let mut hull = (f64::INFINITY, f64::NEG_INFINITY);
        for (log_weight, bell) in parts.log_weights.iter().zip(&bells) {
            let own_drop = (log_weight + bell.log_peak - log_peak) + common_drop;
            if own_drop >= 0.0 {
                let (earliest, latest) = bell.reach(own_drop);
                hull = (hull.0.min(earliest), hull.1.max(latest));
            }
        }
        hull
    }

    fn pull_back(
        &self,
        params: &[f64],
        delays: &[f64],
        responsibilities: &[f64],
        d_params: &mut [f64],
    ) {
        let parts = self.cut(params);
        let bells = parts.bells();
        let mut terms = vec![0.0; self.components];
        let mut shares = vec![0.0; self.components];
        let mut sums = vec![BellSums::default(); self.components];
        let mut total = 0.0;
        for (&delay, &responsibility) in delays.iter().zip(responsibilities) {
            fill_terms(&parts.log_weights, &bells, delay, &mut terms);
            let log_density = log_sum(&terms);
            if responsibility == 0.0 || log_density == f64::NEG_INFINITY {
                continue;
            }
            total += responsibility;
            for k in 0..self.components {
                let share = responsibility * (terms[k] - log_density).exp();
                // A component too far away to have a share may have an exponent that overflows.
                if share != 0.0 {
                    shares[k] += share;
                    bells[k].gather(delay, share, &mut sums[k]);
                }
            }
        }
        let (d_logits, rest) = d_params.split_at_mut(self.components - 1);
        let (d_delays, d_log_spreads) = rest.split_at_mut(self.components);
        let weights = parts.weights();
        for (k, d_logit) in d_logits.iter_mut().enumerate() {
            *d_logit += shares[k] - total * weights[k];
        }
        for (k, bell) in bells.iter().enumerate() {
            let (d_delay, d_log_spread) = bell.gradient(&sums[k]);
            d_delays[k] += d_delay;
            d_log_spreads[k] += d_log_spread;
        }
    }

    fn sample(&self, params: &[f64], random: &mut Random) -> f64 {
        let parts = self.cut(params);
        let k = random.index(&parts.weights());
        parts.delays[k] + parts.log_spreads[k].exp() * random.normal()
    }

    fn delay(&self, params: &[f64]) -> f64 {
        let parts = self.cut(params);
        parts.weights().iter().zip(parts.delays).map(|(w, m)| w * m).sum()
    }

    fn spread(&self, params: &[f64]) -> f64 {
        let parts = self.cut(params);
        let mean = self.delay(params);
        let variance =
            |k: usize| (2.0 * parts.log_spreads[k]).exp() + (parts.delays[k] - mean).powi(2);
        parts.weights().iter().enumerate().map(|(k, w)| w * variance(k)).sum::<f64>().sqrt()
    }
}
