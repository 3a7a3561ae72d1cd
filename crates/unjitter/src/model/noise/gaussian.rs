//! Gaussian noise with a bias: the paper's choice, and the default.
//!
//! ```text
//! log p(d) = −½ log 2π − log s − ½ ((d − m) / s)²      m: delay, s: spread
//! ```
//!
//! Constants are hoisted, so a delay costs a subtraction and two multiplications. `Bell` holds them; the
//! mixture uses it too, so a mixture of one equals this model to the bit. Sums run in eight partial sums,
//! which the compiler vectorises.

use std::f64::consts::{FRAC_1_SQRT_2, TAU};

use multiversion::multiversion;

use super::groups::for_groups;
use super::kind::{Kind, Parameter};
use super::{BoundNoise, Noise, NoiseModel};
use crate::Result;
use crate::math::{Lanes, Random};
use crate::params::{ParameterSpec, Role, Transform};

/// Delay and spread of a normal density.
#[derive(Debug, Clone, Copy, Default)]
pub struct Gaussian;

impl Gaussian {
    /// Delays of this mean and standard deviation.
    pub fn at(delay: f64, spread: f64) -> Result<BoundNoise> {
        Noise::Gaussian.with(&[("delay", &[delay]), ("spread", &[spread])])
    }
}

/// Its row in the table of noise models.
pub(super) const KIND: Kind = Kind {
    name: "gaussian",
    about: "Normal delays",
    parameters: &[
        Parameter::number("delay", "Mean of stamp - instance time; positive is late", &[0.4]),
        Parameter::number("spread", "Standard deviation", &[0.8]),
    ],
    settings: &[],
    build: |_, _| Ok(Box::new(Gaussian)),
    #[cfg(test)]
    corners: tests::corners,
};

/// A normal density with its constants.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bell {
    mean: f64,
    /// 1 / (s·√2), so that the exponent is a plain square.
    slope: f64,
    pub(super) log_peak: f64,
}

impl Bell {
    pub(super) fn new(mean: f64, log_spread: f64) -> Self {
        let slope = FRAC_1_SQRT_2 * (-log_spread).exp();
        Self { mean, slope, log_peak: -0.5 * TAU.ln() - log_spread }
    }

    /// (d − m) / (s·√2).
    #[inline(always)]
    fn scaled(&self, delay: f64) -> f64 {
        (delay - self.mean) * self.slope
    }

    #[inline(always)]
    pub(super) fn log_density(&self, delay: f64) -> f64 {
        let scaled = self.scaled(delay);
        self.log_peak - scaled * scaled
    }

    /// Where the log density is `log_drop ≥ 0` below its peak.
    pub(super) fn reach(&self, log_drop: f64) -> (f64, f64) {
        let half_width = log_drop.sqrt() / self.slope;
        (self.mean - half_width, self.mean + half_width)
    }

    /// Adds Σ r, Σ r·∂ log p/∂m and Σ r·∂ log p/∂ log s to `sums`, in centred, scaled delays, so that a
    /// large bias costs no digits. If r is 0 the delay may be anything. Adding delays in parts gives the
    /// same bits as all at once if the parts have multiples of `LANES`.
    pub(super) fn gather(&self, delays: &[f64], responsibilities: &[f64], sums: &mut BellSums) {
        gather(*self, delays, responsibilities, sums);
    }

    /// The two derivatives from finished sums.
    pub(super) fn gradient(&self, sums: &BellSums) -> (f64, f64) {
        (2.0 * self.slope * sums.scaled.sum(), sums.excess.sum())
    }
}

/// The sums of [`Bell::gather`].
#[derive(Debug, Clone, Copy)]
pub(super) struct BellSums {
    responsibility: Lanes,
    scaled: Lanes,
    excess: Lanes,
}

impl Default for BellSums {
    fn default() -> Self {
        let zero = Lanes::all(0.0);
        Self { responsibility: zero, scaled: zero, excess: zero }
    }
}

impl BellSums {
    /// Σ r.
    pub(super) fn responsibility(&self) -> f64 {
        self.responsibility.sum()
    }
}

#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2+fma"))]
fn log_densities(bell: Bell, delays: &[f64], out: &mut [f64]) {
    for (out, &delay) in out.iter_mut().zip(delays) {
        *out = bell.log_density(delay);
    }
}

#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2+fma"))]
fn gather(bell: Bell, delays: &[f64], responsibilities: &[f64], sums: &mut BellSums) {
    let mut own = *sums;
    for_groups(bell.mean, delays, responsibilities, |delays, responsibilities| {
        let scaled = (delays - Lanes::all(bell.mean)) * bell.slope;
        own.responsibility += responsibilities;
        own.scaled += responsibilities * scaled;
        own.excess += responsibilities * (scaled * scaled * 2.0 - Lanes::all(1.0));
    });
    *sums = own;
}

impl NoiseModel for Gaussian {
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
        log_densities(Bell::new(params[0], params[1]), delays, out);
    }

    fn log_peak(&self, params: &[f64]) -> f64 {
        Bell::new(params[0], params[1]).log_peak
    }

    fn reach(&self, params: &[f64], log_drop: f64) -> (f64, f64) {
        Bell::new(params[0], params[1]).reach(log_drop)
    }

    fn pull_back(
        &self,
        params: &[f64],
        delays: &[f64],
        responsibilities: &[f64],
        d_params: &mut [f64],
    ) {
        let bell = Bell::new(params[0], params[1]);
        let mut sums = BellSums::default();
        bell.gather(delays, responsibilities, &mut sums);
        let (d_delay, d_log_spread) = bell.gradient(&sums);
        d_params[0] += d_delay;
        d_params[1] += d_log_spread;
    }

    fn sample(&self, params: &[f64], random: &mut Random) -> f64 {
        params[0] + params[1].exp() * random.normal()
    }

    fn delay(&self, params: &[f64]) -> f64 {
        params[0]
    }

    fn spread(&self, params: &[f64]) -> f64 {
        params[1].exp()
    }
}

#[cfg(test)]
mod tests {
    use crate::Noise;

    pub(in super::super) fn corners() -> Vec<(Noise, Vec<f64>)> {
        vec![(Noise::Gaussian, vec![0.0, 0.0]), (Noise::Gaussian, vec![-40.0, -2.0])]
    }
}
