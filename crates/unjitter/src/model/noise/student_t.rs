//! Student-t noise: mostly like a Gaussian, with an occasional press that is far off.
//!
//! ```text
//! log p(d) = G(ν) − ½ log 2π − log a − (ν + 1)/2 · log(1 + q²/ν)        q = (d − m) / a
//! G(ν)     = log Γ((ν + 1)/2) − log Γ(ν/2) − ½ log(ν/2)
//! ```
//!
//! G tends to 0 as ν grows, but as a difference of numbers of size ν log ν. From ν = 40 on an asymptotic
//! series replaces it, so that ν = 10⁸ is a Gaussian to all digits.

use std::f64::consts::TAU;

use multiversion::multiversion;

use super::groups::for_groups;
use super::kind::{Kind, Parameter};
use super::{BoundNoise, Noise, NoiseModel};
use crate::Result;
use crate::math::{LANES, Lanes, Random, digamma, ln_1p, ln_gamma};
use crate::params::{ParameterSpec, Role, Transform};

/// Location, scale and degrees of freedom of a Student-t density.
#[derive(Debug, Clone, Copy, Default)]
pub struct StudentT;

impl StudentT {
    /// Delays of this centre, scale and number of degrees of freedom.
    pub fn at(delay: f64, scale: f64, degrees_of_freedom: f64) -> Result<BoundNoise> {
        let degrees: (&str, &[f64]) = ("degrees_of_freedom", &[degrees_of_freedom]);
        Noise::StudentT.with(&[("delay", &[delay]), ("scale", &[scale]), degrees])
    }
}

/// Its row in the table of noise models.
pub(super) const KIND: Kind = Kind {
    name: "student_t",
    about: "Heavy-tailed delays: most presses are good, some are far off",
    parameters: &[
        Parameter::number("delay", "Centre of stamp - instance time", &[0.4]),
        Parameter::number("scale", "Scale", &[0.6]),
        Parameter::number("degrees_of_freedom", "Small is heavy-tailed", &[5.0]),
    ],
    settings: &[],
    build: |_, _| Ok(Box::new(StudentT)),
    #[cfg(test)]
    corners: tests::corners,
};

/// Degrees of freedom that learning starts from: clearly heavy tails, with a finite variance.
const START_DEGREES_OF_FREEDOM: f64 = 5.0;

/// From here on the series is used. Its first missing term is 2e-17 here, in absolute value.
const SERIES_FROM: f64 = 40.0;

/// G(ν).
fn log_normaliser(degrees: f64) -> f64 {
    if degrees < SERIES_FROM {
        log_normaliser_direct(degrees)
    } else {
        log_normaliser_series(degrees)
    }
}

fn log_normaliser_direct(degrees: f64) -> f64 {
    let half = 0.5 * degrees;
    ln_gamma(half + 0.5) - ln_gamma(half) - 0.5 * half.ln()
}

/// Σ_n (2⁻ⁿ − 2)·B_{n+1} / (n(n+1)·(ν/2)ⁿ) over odd n, B the Bernoulli numbers.
fn log_normaliser_series(degrees: f64) -> f64 {
    let r = 2.0 / degrees;
    let s = r * r;
    let tail = 1.0 / 640.0 - s * (17.0 / 14336.0 - s * (31.0 / 18432.0));
    r * (-1.0 / 8.0 + s * (1.0 / 192.0 - s * tail))
}

/// dG / d log ν.
fn d_log_normaliser(degrees: f64) -> f64 {
    if degrees < SERIES_FROM {
        d_log_normaliser_direct(degrees)
    } else {
        d_log_normaliser_series(degrees)
    }
}

fn d_log_normaliser_direct(degrees: f64) -> f64 {
    let half = 0.5 * degrees;
    half * (digamma(half + 0.5) - digamma(half)) - 0.5
}

/// The series of G, differentiated term by term.
fn d_log_normaliser_series(degrees: f64) -> f64 {
    let r = 2.0 / degrees;
    let s = r * r;
    let tail = 1.0 / 128.0 - s * (17.0 / 2048.0 - s * (31.0 / 2048.0));
    r * (1.0 / 8.0 - s * (1.0 / 64.0 - s * tail))
}

/// The density with its constants.
#[derive(Debug, Clone, Copy)]
struct Tails {
    location: f64,
    /// 1 / a.
    slope: f64,
    /// ν.
    degrees: f64,
}

impl Tails {
    fn new(params: &[f64]) -> Self {
        Self { location: params[0], slope: (-params[1]).exp(), degrees: params[2].exp() }
    }
}

#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2+fma"))]
fn log_densities(tails: Tails, log_peak: f64, delays: &[f64], out: &mut [f64]) {
    let Tails { location, slope, degrees } = tails;
    let (power, per_degree) = (0.5 * (degrees + 1.0), 1.0 / degrees);
    for (out, &delay) in out.iter_mut().zip(delays) {
        let scaled = slope * (delay - location);
        *out = log_peak - power * ln_1p(scaled * scaled * per_degree);
    }
}

/// Sums over delays with their responsibilities r.
struct Sums {
    /// Σ r.
    responsibility: Lanes,
    /// Σ r·q/(1 + q²/ν).
    scaled: Lanes,
    /// Σ r·(q²/ν)/(1 + q²/ν).
    squared: Lanes,
    /// Σ r·½(gq² − ν·log(1 + q²/ν)), g = (ν + 1)/(ν + q²).
    tail: Lanes,
}

/// Groups of eight delays whose responsibilities are all smaller than this are skipped. Windows of heavy tails
/// have many of them, and their terms, at most a few thousand times this, vanish beside their stamp's
/// total responsibility of one.
const NOBODY: f64 = 1e-24;

#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2+fma"))]
fn gather(tails: Tails, delays: &[f64], responsibilities: &[f64]) -> Sums {
    let Tails { location, slope, degrees } = tails;
    let (per_degree, half) = (1.0 / degrees, 0.5 * degrees);
    let [mut responsibility, mut scaled, mut squared, mut tail] = [Lanes::all(0.0); 4];
    for_groups(location, delays, responsibilities, |delays, r| {
        if r.0.iter().all(|&r| r.abs() < NOBODY) {
            return;
        }
        let q = (delays - Lanes::all(location)) * slope;
        let ratio = q * q * per_degree;
        // A loop, because `map` would not be compiled for this machine's vectors.
        let (mut logs, mut pull) = (ratio, ratio);
        for k in 0..LANES {
            logs.0[k] = ln_1p(ratio.0[k]);
            pull.0[k] = 1.0 / (1.0 + ratio.0[k]);
        }
        let share = ratio * pull;
        responsibility += r;
        scaled += r * (q * pull);
        squared += r * share;
        tail += r * (share * (half + 0.5) - logs * half);
    });
    Sums { responsibility, scaled, squared, tail }
}

impl NoiseModel for StudentT {
    fn parameters(&self) -> Vec<ParameterSpec> {
        let degrees = Role::DegreesOfFreedom;
        vec![
            ParameterSpec::new("delay", 1, Transform::Free, Role::Delay).in_time(),
            ParameterSpec::new("scale", 1, Transform::Positive, Role::Spread).in_time(),
            ParameterSpec::new("degrees_of_freedom", 1, Transform::Positive, degrees),
        ]
    }

    fn start(&self, delay: f64, spread: f64) -> Vec<f64> {
        let degrees = START_DEGREES_OF_FREEDOM;
        let scale = spread * ((degrees - 2.0) / degrees).sqrt();
        vec![delay, scale.ln(), degrees.ln()]
    }

    fn log_density(&self, params: &[f64], delays: &[f64], out: &mut [f64]) {
        log_densities(Tails::new(params), self.log_peak(params), delays, out);
    }

    fn log_peak(&self, params: &[f64]) -> f64 {
        log_normaliser(params[2].exp()) - 0.5 * TAU.ln() - params[1]
    }

    /// Infinite if a heavy tail falls too slowly for the ends to be finite numbers.
    fn reach(&self, params: &[f64], log_drop: f64) -> (f64, f64) {
        let degrees = params[2].exp();
        let squared = degrees * (2.0 * log_drop / (degrees + 1.0)).exp_m1();
        let half_width = params[1].exp() * squared.sqrt();
        (params[0] - half_width, params[0] + half_width)
    }

    fn pull_back(
        &self,
        params: &[f64],
        delays: &[f64],
        responsibilities: &[f64],
        d_params: &mut [f64],
    ) {
        let tails = Tails::new(params);
        let sums = gather(tails, delays, responsibilities);
        let total = sums.responsibility.sum();
        let excess = (tails.degrees + 1.0) * sums.squared.sum();
        d_params[0] += tails.slope * (tails.degrees + 1.0) / tails.degrees * sums.scaled.sum();
        d_params[1] += excess - total;
        // For large ν the last two terms nearly cancel: the result has an absolute error of about 1e-16·q².
        d_params[2] += total * d_log_normaliser(tails.degrees) + sums.tail.sum();
    }

    fn sample(&self, params: &[f64], random: &mut Random) -> f64 {
        let half = 0.5 * params[2].exp();
        let precision = random.gamma(half) / half;
        params[0] + params[1].exp() * random.normal() / precision.sqrt()
    }

    /// The location: the mean if it exists (ν > 1), the median always.
    fn delay(&self, params: &[f64]) -> f64 {
        params[0]
    }

    /// Standard deviation for ν > 2; the scale below, where the variance is infinite.
    fn spread(&self, params: &[f64]) -> f64 {
        let (scale, degrees) = (params[1].exp(), params[2].exp());
        if degrees > 2.0 { scale * (degrees / (degrees - 2.0)).sqrt() } else { scale }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Noise;

    pub(in super::super) fn corners() -> Vec<(Noise, Vec<f64>)> {
        vec![
            (Noise::StudentT, vec![1.0, 0.5, 0.5_f64.ln()]),
            (Noise::StudentT, vec![1.0, -0.5, 1.3_f64.ln()]),
            (Noise::StudentT, vec![0.0, 0.2, 5_f64.ln()]),
            (Noise::StudentT, vec![-3.0, 0.0, 39_f64.ln()]),
            (Noise::StudentT, vec![0.0, 1.0, 1e8_f64.ln()]),
        ]
    }

    #[test]
    fn series_meets_direct_formula_at_the_switch() {
        for degrees in [SERIES_FROM, 1.5 * SERIES_FROM] {
            let (direct, series) = (log_normaliser_direct(degrees), log_normaliser_series(degrees));
            // The direct formula subtracts numbers near 50 to 100: some of their last digits.
            assert!((direct - series).abs() < 1e-13, "{direct} {series}");
            let direct = d_log_normaliser_direct(degrees);
            let series = d_log_normaliser_series(degrees);
            // ν/2 = 20 to 30 times a difference of numbers near 3.
            assert!((direct - series).abs() < 1e-13, "{direct} {series}");
        }
    }

    #[test]
    fn one_and_two_degrees_have_their_closed_forms() {
        let delays = [-30.0, -1.0, 0.0, 0.5, 4.0];
        let mut got = [0.0; 5];
        StudentT.log_density(&[0.0, 0.0, 0.0], &delays, &mut got);
        for (got, q) in got.iter().zip(delays) {
            let cauchy = -(std::f64::consts::PI * (1.0 + q * q)).ln();
            assert!((got - cauchy).abs() < 1e-14, "{got} {cauchy}"); // a few O(1) terms
        }
        StudentT.log_density(&[0.0, 0.0, 2f64.ln()], &delays, &mut got);
        for (got, q) in got.iter().zip(delays) {
            let closed = -1.5 * (2.0 + q * q).ln();
            assert!((got - closed).abs() < 1e-14, "{got} {closed}"); // a few O(1) terms
        }
    }

    #[test]
    fn many_degrees_approach_the_gaussian_at_the_known_speed() {
        let degrees = 1e8_f64;
        let delays = [-6.0, -1.0, 0.0, 0.3, 5.0];
        let mut got = [0.0; 5];
        StudentT.log_density(&[0.0, 0.0, degrees.ln()], &delays, &mut got);
        for (got, q) in got.iter().zip(delays) {
            let gaussian = -0.5 * TAU.ln() - 0.5 * q * q;
            let correction = (q.powi(4) - 2.0 * q * q - 1.0) / (4.0 * degrees);
            // The next order is q⁶/(6ν²), below 8e-13.
            assert!((got - gaussian - correction).abs() < 1e-12, "{got} {gaussian}");
        }
    }

    #[test]
    fn spread_is_the_scale_where_the_variance_is_infinite() {
        assert_eq!(StudentT.spread(&[0.0, 3f64.ln(), 1.5f64.ln()]), 3f64.ln().exp());
        // Five degrees: variance 5/3 of the squared scale.
        let spread = StudentT.spread(&[0.0, 0.0, 5f64.ln()]);
        assert!((spread * spread - 5.0 / 3.0).abs() < 1e-14); // rounding of exp and log
    }
}
