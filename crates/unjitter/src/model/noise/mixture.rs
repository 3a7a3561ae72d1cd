//! A mixture of Gaussians: presses of several kinds, such as prompt ones and late ones.
//!
//! ```text
//! p(d) = Σ_k w_k · Normal(d; m_k, s_k)                 K components
//! ```
//!
//! Summed in log space, so a delay far from every component still has a finite log density and
//! well-defined component shares. A weight of exactly zero (a frozen logit of −∞) removes only its own
//! component. Time O(K) per delay: K exponentials and one logarithm, for many delays at a time.

use multiversion::multiversion;

use super::gaussian::{Bell, BellSums};
use super::kind::{Kind, Parameter, Setting, Value};
use super::{BoundNoise, Noise, NoiseModel};
use crate::Result;
use crate::math::{Random, exp_in_place, ln_in_place};
use crate::params::{ParameterSpec, Role, Transform, log_softmax};

/// Weights, delays and spreads of K normal densities.
#[derive(Debug, Clone, Copy)]
pub struct GaussianMixture {
    components: usize,
}

impl GaussianMixture {
    /// Delays from components of these weights, means and standard deviations.
    pub fn at(weights: &[f64], delays: &[f64], spreads: &[f64]) -> Result<BoundNoise> {
        let values = [("weights", weights), ("delays", delays), ("spreads", spreads)];
        Noise::GaussianMixture { components: weights.len() }.with(&values)
    }
}

/// Its row in the table of noise models.
pub(super) const KIND: Kind = Kind {
    name: "gaussian_mixture",
    about: "A mixture of normals: presses of several kinds",
    parameters: &[
        list("weights", "Shares of the components", &[0.7, 0.3]),
        list("delays", "Means of the components", &[-0.2, 1.5]),
        list("spreads", "Standard deviations of the components", &[0.4, 1.1]),
    ],
    settings: &[Setting {
        name: "components",
        about: "Number of components",
        value: Value::Length,
        // More components are useless for one-dimensional delays.
        range: (1.0, 64.0),
        expected: "a number of components from 1 to 64",
        default: Some(2.0),
        example: 2.0,
    }],
    build: |settings, _| Ok(Box::new(GaussianMixture::new(settings[0] as usize))),
    #[cfg(test)]
    corners: tests::corners,
};

const fn list(name: &'static str, about: &'static str, example: &'static [f64; 2]) -> Parameter {
    Parameter { name, about, is_list: true, example }
}

/// The parameters of K components, split.
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

/// Delays processed together: their terms stay in cache.
const CHUNK: usize = 128;

/// The terms w_k · Normal_k of a few delays, each divided by the largest term of its delay.
struct Terms {
    /// Component by component, `CHUNK` each.
    values: Vec<f64>,
    /// Logs of the largest terms; 0 if all terms are zero.
    log_highest: [f64; CHUNK],
    /// Sums of the terms; 0 if all are zero.
    sums: [f64; CHUNK],
}

impl Terms {
    fn new(components: usize) -> Self {
        let values = vec![0.0; components * CHUNK];
        Self { values, log_highest: [0.0; CHUNK], sums: [0.0; CHUNK] }
    }

    /// Computes the terms for up to `CHUNK` delays.
    fn fill(&mut self, log_weights: &[f64], bells: &[Bell], delays: &[f64]) {
        self.log_highest.fill(f64::NEG_INFINITY);
        let components = self.values.chunks_exact_mut(CHUNK).zip(log_weights.iter().zip(bells));
        for (values, (&log_weight, &bell)) in components {
            fill_logs(bell, log_weight, delays, values, &mut self.log_highest);
        }
        for log_highest in &mut self.log_highest {
            *log_highest = if log_highest.is_infinite() { 0.0 } else { *log_highest };
        }
        self.sums.fill(0.0);
        for values in self.values.chunks_exact_mut(CHUNK) {
            let values = &mut values[..delays.len()];
            values.iter_mut().zip(&self.log_highest).for_each(|(value, highest)| *value -= highest);
            exp_in_place(values);
            self.sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += *value);
        }
    }

    /// Overwrites `out` with the log densities.
    fn log_density(&self, out: &mut [f64]) {
        out.copy_from_slice(&self.sums[..out.len()]);
        ln_in_place(out);
        out.iter_mut().zip(&self.log_highest).for_each(|(out, highest)| *out += highest);
    }
}

/// Overwrites `out` with log w + log Normal(delay), and raises `highest` to it.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2+fma"))]
fn fill_logs(bell: Bell, log_weight: f64, delays: &[f64], out: &mut [f64], highest: &mut [f64]) {
    for ((out, highest), &delay) in out.iter_mut().zip(highest).zip(delays) {
        *out = log_weight + bell.log_density(delay);
        *highest = if *out > *highest { *out } else { *highest };
    }
}

/// The highest peak of a single weighted component.
fn highest(log_weights: &[f64], bells: &[Bell]) -> f64 {
    let peaks = log_weights.iter().zip(bells).map(|(w, bell)| w + bell.log_peak);
    peaks.fold(f64::NEG_INFINITY, f64::max)
}

impl NoiseModel for GaussianMixture {
    fn parameters(&self) -> Vec<ParameterSpec> {
        let len = self.components;
        vec![
            ParameterSpec::new("weights", len, Transform::Simplex, Role::MixtureWeight),
            ParameterSpec::new("delays", len, Transform::Free, Role::Delay).in_time(),
            ParameterSpec::new("spreads", len, Transform::Positive, Role::Spread).in_time(),
        ]
    }

    /// Equal weights. Delays run from early to late and spreads from narrow to wide, so that no two
    /// components start alike. Mean and standard deviation of the mixture are exactly those given.
    fn start(&self, delay: f64, spread: f64) -> Vec<f64> {
        let count = self.components as f64;
        let quantile = |k: usize| (k as f64 + 0.5) / count;
        // Evenly spaced on (−1, 1), with variance (1 − 1/K²)/3; the components share the rest of the
        // variance, with widths that differ by up to a factor of four.
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
        let mut terms = Terms::new(self.components);
        for (out, delays) in out.chunks_mut(CHUNK).zip(delays.chunks(CHUNK)) {
            terms.fill(&parts.log_weights, &bells, delays);
            terms.log_density(out);
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
        let mut terms = Terms::new(self.components);
        let mut sums = vec![BellSums::default(); self.components];
        for (delays, responsibilities) in delays.chunks(CHUNK).zip(responsibilities.chunks(CHUNK)) {
            terms.fill(&parts.log_weights, &bells, delays);
            let components = terms.values.chunks_exact_mut(CHUNK).zip(bells.iter().zip(&mut sums));
            for (values, (bell, sums)) in components {
                let shares = &mut values[..delays.len()];
                for ((share, sum), responsibility) in
                    shares.iter_mut().zip(&terms.sums).zip(responsibilities)
                {
                    // Not 0 / 0 if every component is too far away.
                    *share *= if *sum == 0.0 { 0.0 } else { responsibility / sum };
                }
                bell.gather(delays, shares, sums);
            }
        }
        let shares: Vec<f64> = sums.iter().map(BellSums::responsibility).collect();
        let total: f64 = shares.iter().sum();
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

#[cfg(test)]
mod tests {
    use super::super::gaussian::Gaussian;
    use super::super::tests::log_density;
    use super::*;
    use crate::Noise;

    pub(in super::super) fn corners() -> Vec<(Noise, Vec<f64>)> {
        let three = Noise::GaussianMixture { components: 3 };
        vec![
            (Noise::GaussianMixture { components: 1 }, vec![2.0, 0.7]),
            (Noise::GaussianMixture { components: 2 }, vec![1.0, -0.5, 3.0, -1.0, 0.5]),
            (three.clone(), vec![0.5, -3.0, 0.0, 2.0, 30.0, 0.0, -1.5, 1.0]),
            (three, vec![f64::NEG_INFINITY, 1.0, 9.0, 2.0, 4.0, 0.0, -0.5, 1.0]),
        ]
    }

    #[test]
    fn components_start_apart() {
        let start = GaussianMixture::new(3).start(0.0, 1.0);
        assert!(start[2] < start[3] && start[3] < start[4], "delays alike: {start:?}");
        assert!(start[5] < start[6] && start[6] < start[7], "spreads alike: {start:?}");
    }

    #[test]
    fn a_mixture_of_one_is_the_gaussian_to_the_bit() {
        let (mixture, params) = (GaussianMixture::new(1), [1.7, -0.4]);
        let (delays, responsibilities) = ([-80.0, 0.0, 1.7, 2.0], [0.1, 0.9, 0.5, 0.3]);
        assert_eq!(
            log_density(&mixture, &params, &delays),
            log_density(&Gaussian, &params, &delays)
        );
        let (mut a, mut b) = ([0.0; 2], [0.0; 2]);
        mixture.pull_back(&params, &delays, &responsibilities, &mut a);
        Gaussian.pull_back(&params, &delays, &responsibilities, &mut b);
        assert_eq!(a, b);
        for drop in [0.0, 1e-3, 0.5, 2.0, 10.0, 700.0, 1e6] {
            assert_eq!(mixture.reach(&params, drop), Gaussian.reach(&params, drop));
        }
        assert_eq!(mixture.log_peak(&params), Gaussian.log_peak(&params));
        assert_eq!(mixture.delay(&params), Gaussian.delay(&params));
    }

    #[test]
    fn an_empty_component_does_nothing() {
        let none = f64::NEG_INFINITY;
        let (three, two) = (GaussianMixture::new(3), GaussianMixture::new(2));
        let with = [none, 0.3, 9.0, 1.0, -2.0, 1.0, 0.5, 0.0];
        let without = [0.3, 1.0, -2.0, 0.5, 0.0];
        let delays = [-1e4, -2.0, 0.0, 9.0, 1e4];
        assert_eq!(log_density(&three, &with, &delays), log_density(&two, &without, &delays));
        let (mut a, mut b) = ([0.0; 8], [0.0; 5]);
        three.pull_back(&with, &delays, &[1.0; 5], &mut a);
        two.pull_back(&without, &delays, &[1.0; 5], &mut b);
        assert_eq!([a[1], a[3], a[4], a[6], a[7]], b);
        assert_eq!([a[0], a[2], a[5]], [0.0; 3]);
        assert_eq!(three.delay(&with), two.delay(&without));
    }

    #[test]
    fn far_delays_stay_finite_in_a_mixture() {
        let mixture = GaussianMixture::new(2);
        let params = [0.0, 0.0, 10.0, -3.0, -2.0];
        let delays = [-1e8, 1e8];
        assert!(log_density(&mixture, &params, &delays).iter().all(|v| v.is_finite()));
        let mut d_params = [0.0; 5];
        mixture.pull_back(&params, &delays, &[1.0, 1.0], &mut d_params);
        assert!(d_params.iter().all(|v| v.is_finite()), "{d_params:?}");
    }

    #[test]
    fn a_number_of_components_is_checked() {
        for components in [0, 65] {
            let error = Noise::GaussianMixture { components }.build(1.0).expect_err("out of range");
            let expected = format!(
                "noise.components is {components}, expected a number of components from 1 to 64"
            );
            assert_eq!(error.to_string(), expected);
        }
        assert!(KIND.noise(&[2.5]).is_err());
    }
}
