//! Laplace noise: sharper at its delay and with heavier tails than a Gaussian of equal spread.
//!
//! ```text
//! log p(d) = −log 2b − |d − m| / b      m: delay, b: spread / √2
//! ```
//!
//! The spread is the standard deviation, as for every other model. The density has a kink at the
//! delay, where the derivative in `delay` is taken as zero.

use std::f64::consts::{FRAC_1_SQRT_2, LN_2, SQRT_2};

use multiversion::multiversion;

use super::groups::for_groups;
use super::kind::{Kind, Parameter};
use super::{BoundNoise, Noise, NoiseModel};
use crate::Result;
use crate::math::{Lanes, Random};
use crate::params::{ParameterSpec, Role, Transform};

/// Delay and spread of a double exponential density.
#[derive(Debug, Clone, Copy, Default)]
pub struct Laplace;

impl Laplace {
    /// Delays of this mean and standard deviation.
    pub fn at(delay: f64, spread: f64) -> Result<BoundNoise> {
        Noise::Laplace.with(&[("delay", &[delay]), ("spread", &[spread])])
    }
}

/// Its row in the table of noise models.
pub(super) const KIND: Kind = Kind {
    name: "laplace",
    about: "Double-exponential delays: a sharper peak and longer tails than the normal",
    parameters: &[
        Parameter::number("delay", "Mean of stamp - instance time", &[0.4]),
        Parameter::number("spread", "Standard deviation", &[0.8]),
    ],
    settings: &[],
    build: |_, _| Ok(Box::new(Laplace)),
    #[cfg(test)]
    corners: tests::corners,
};

/// 1/b, from the log of the standard deviation.
fn rate(log_spread: f64) -> f64 {
    SQRT_2 * (-log_spread).exp()
}

#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2+fma"))]
fn log_densities(mean: f64, rate: f64, log_peak: f64, delays: &[f64], out: &mut [f64]) {
    for (out, &delay) in out.iter_mut().zip(delays) {
        *out = log_peak - rate * (delay - mean).abs();
    }
}

/// Σ r·sign(d − m) and Σ r·(|d − m|/b − 1).
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2+fma"))]
fn gather(mean: f64, rate: f64, delays: &[f64], responsibilities: &[f64]) -> [f64; 2] {
    let [mut later, mut earlier, mut excess] = [Lanes::all(0.0); 3];
    for_groups(mean, delays, responsibilities, |delays, responsibilities| {
        let (scaled, r) = ((delays - Lanes::all(mean)) * rate, responsibilities.0);
        later += Lanes(std::array::from_fn(|k| if scaled.0[k] > 0.0 { r[k] } else { 0.0 }));
        earlier += Lanes(std::array::from_fn(|k| if scaled.0[k] < 0.0 { r[k] } else { 0.0 }));
        excess += responsibilities
            * (Lanes(std::array::from_fn(|k| scaled.0[k].abs())) - Lanes::all(1.0));
    });
    [(later - earlier).sum(), excess.sum()]
}

impl NoiseModel for Laplace {
    fn parameters(&self) -> Vec<ParameterSpec> {
        vec![
            ParameterSpec::new("delay", 1, Transform::Free, Role::Delay).in_time(),
            ParameterSpec::new("spread", 1, Transform::Positive, Role::Spread).in_time(),
        ]
    }

    fn start(&self, delay: f64, spread: f64) -> Vec<f64> {
        vec![delay, spread.ln()]
    }

    fn log_density(&self, params: &[f64], delays: &[f64], out: &mut [f64]) {
        let (mean, rate, log_peak) = (params[0], rate(params[1]), self.log_peak(params));
        log_densities(mean, rate, log_peak, delays, out);
    }

    fn log_peak(&self, params: &[f64]) -> f64 {
        -0.5 * LN_2 - params[1]
    }

    fn reach(&self, params: &[f64], log_drop: f64) -> (f64, f64) {
        let half_width = log_drop / rate(params[1]);
        (params[0] - half_width, params[0] + half_width)
    }

    fn pull_back(
        &self,
        params: &[f64],
        delays: &[f64],
        responsibilities: &[f64],
        d_params: &mut [f64],
    ) {
        let (mean, rate) = (params[0], rate(params[1]));
        let [later_than_earlier, excess] = gather(mean, rate, delays, responsibilities);
        d_params[0] += rate * later_than_earlier;
        d_params[1] += excess;
    }

    fn sample(&self, params: &[f64], random: &mut Random) -> f64 {
        let size = -(-random.uniform()).ln_1p() * FRAC_1_SQRT_2 * params[1].exp();
        if random.uniform() < 0.5 { params[0] - size } else { params[0] + size }
    }

    fn delay(&self, params: &[f64]) -> f64 {
        params[0]
    }

    fn spread(&self, params: &[f64]) -> f64 {
        params[1].exp()
    }

    /// A kink at the delay itself, as for the median.
    fn has_kinks(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use crate::Noise;

    pub(in super::super) fn corners() -> Vec<(Noise, Vec<f64>)> {
        vec![(Noise::Laplace, vec![0.3, 0.0]), (Noise::Laplace, vec![-2.0, 1.5])]
    }
}
