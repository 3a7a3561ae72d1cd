//! Shifted Gamma noise: presses that can only be late, by at least the shift.
//!
//! ```text
//! d = c + θ·y,  y ~ Gamma(k, 1)          c: shift, k ≥ 1: shape, s = θ√k: spread
//! log p(d) = n log y − y − log Γ(k) − log θ                               n = k − 1
//!          = log_peak − n·(e − log(1 + e)),  e = (y − n)/n        peak at y = n
//! ```
//!
//! The first form serves small shapes, down to the exponential k = 1 with its finite density at the shift
//! itself; the second serves large ones, where the first subtracts numbers of size k log k. Both ends of
//! the reach solve a convex equation, by Newton's method from outside: each step comes closer without
//! passing the root, so an end is never inside the true one except by rounding.

use std::f64::consts::TAU;

use super::kind::{Kind, Parameter};
use super::{BoundNoise, Noise, NoiseModel};
use crate::Result;
use crate::math::{Random, digamma, ln_gamma};
use crate::params::{ParameterSpec, Role, Transform};

/// Shift, shape and spread of a Gamma density of the lateness.
#[derive(Debug, Clone, Copy, Default)]
pub struct ShiftedGamma;

impl ShiftedGamma {
    /// Delays of at least this shift, with this shape and standard deviation.
    pub fn at(shift: f64, shape: f64, spread: f64) -> Result<BoundNoise> {
        let values: [(&str, &[f64]); 3] =
            [("shift", &[shift]), ("shape", &[shape]), ("spread", &[spread])];
        Noise::ShiftedGamma.with(&values)
    }
}

/// Its row in the table of noise models.
pub(super) const KIND: Kind = Kind {
    name: "shifted_gamma",
    about: "Delays that are never less than a shift: a press cannot come before its event",
    parameters: &[
        Parameter::number("shift", "The least delay", &[-0.3]),
        Parameter::number("shape", "Shape, at least 1", &[2.2]),
        Parameter::number("spread", "Standard deviation", &[0.9]),
    ],
    settings: &[],
    build: |_, _| Ok(Box::new(ShiftedGamma)),
    #[cfg(test)]
    corners: tests::corners,
};

/// Shape that learning starts from: a rise and a tail, the shift two spreads before the mean.
const START_SHAPE: f64 = 4.0;

/// From this n on the second form of the log density is used. The first missing term of its
/// series is 1e-16 here, in absolute value.
const PEAK_FORM_FROM: f64 = 16.0;

/// More Newton steps than either equation has ever needed; stopping early only widens the reach.
const MAX_STEPS: usize = 60;

/// The density of y with its constants.
struct Lateness {
    shift: f64,
    /// θ
    scale: f64,
    /// n = k − 1, exact even where k rounds to 1.
    excess_shape: f64,
    /// The constant of the form in use: −log Γ(k) − log θ, or the peak.
    log_constant: f64,
}

impl Lateness {
    fn new(params: &[f64]) -> Self {
        let excess_shape = params[1].exp();
        let shape = 1.0 + excess_shape;
        let log_scale = params[2] - 0.5 * shape.ln();
        let log_constant = if excess_shape < PEAK_FORM_FROM {
            -ln_gamma(shape)
        } else {
            log_peak_series(excess_shape)
        };
        let log_constant = log_constant - log_scale;
        Self { shift: params[0], scale: log_scale.exp(), excess_shape, log_constant }
    }

    fn shape(&self) -> f64 {
        1.0 + self.excess_shape
    }

    fn scaled(&self, delay: f64) -> f64 {
        (delay - self.shift) / self.scale
    }

    /// Whether y has positive density: for the exponential, zero included.
    fn supports(&self, y: f64) -> bool {
        y > 0.0 || (y == 0.0 && self.excess_shape == 0.0)
    }

    /// Log density for y in the support.
    fn log_density(&self, y: f64) -> f64 {
        let n = self.excess_shape;
        if n == 0.0 {
            // A separate case, because n·log y would be 0·(−∞) at the shift.
            self.log_constant - y
        } else if n < PEAK_FORM_FROM {
            self.log_constant + (n * y.ln() - y)
        } else {
            let e = (y - n) / n;
            self.log_constant + n * (e.ln_1p() - e)
        }
    }

    fn log_peak(&self) -> f64 {
        self.log_density(self.excess_shape)
    }

    /// The y > n where the log density has fallen by `log_drop`.
    fn upper(&self, log_drop: f64) -> f64 {
        let n = self.excess_shape;
        if log_drop == 0.0 {
            return n;
        }
        // Not before the root, since e − log(1 + e) ≥ e²/(2(1 + e)) for e ≥ 0.
        let mut y = n + log_drop + log_drop * (1.0 + 2.0 * n / log_drop).sqrt();
        let log_peak = self.log_peak();
        for _ in 0..MAX_STEPS {
            let surplus = log_peak - self.log_density(y) - log_drop;
            let next = y - surplus * y / (y - n);
            // Also ends the search when y is infinite and `next` is NaN.
            if !(next > n && next < y) {
                break;
            }
            y = next;
        }
        y
    }

    /// The y < n where the log density has fallen by `log_drop`: y = n·e⁻ᵗ with
    /// e⁻ᵗ − 1 + t = log_drop/n. Zero, the support's end, where that underflows.
    fn lower(&self, log_drop: f64) -> f64 {
        let n = self.excess_shape;
        if n == 0.0 || log_drop == 0.0 {
            return n;
        }
        let level = log_drop / n;
        // Not before the root, since e⁻ᵗ ≥ (2 − t)/(2 + t).
        let mut t = 0.5 * (level + (level * (level + 8.0)).sqrt());
        for _ in 0..MAX_STEPS {
            let fallen = -(-t).exp_m1();
            let next = t - (t - fallen - level) / fallen;
            // Also ends the search when t is infinite and `next` is NaN.
            if !(next > 0.0 && next < t) {
                break;
            }
            t = next;
        }
        n * (-t).exp()
    }
}

/// n log n − n − log Γ(n + 1) by Stirling's series.
fn log_peak_series(n: f64) -> f64 {
    let r = 1.0 / n;
    let s = r * r;
    let tail = 1.0 / 1260.0 - s * (1.0 / 1680.0 - s * (1.0 / 1188.0));
    -0.5 * (TAU * n).ln() - r * (1.0 / 12.0 - s * (1.0 / 360.0 - s * tail))
}

impl NoiseModel for ShiftedGamma {
    fn parameters(&self) -> Vec<ParameterSpec> {
        vec![
            ParameterSpec::new("shift", 1, Transform::Free, Role::Delay).in_time(),
            ParameterSpec::new("shape", 1, Transform::AboveOne, Role::Shape),
            ParameterSpec::new("spread", 1, Transform::Positive, Role::Spread).in_time(),
        ]
    }

    fn start(&self, delay: f64, spread: f64) -> Vec<f64> {
        vec![delay - START_SHAPE.sqrt() * spread, (START_SHAPE - 1.0).ln(), spread.ln()]
    }

    fn log_density(&self, params: &[f64], delays: &[f64], out: &mut [f64]) {
        let lateness = Lateness::new(params);
        for (out, &delay) in out.iter_mut().zip(delays) {
            let y = lateness.scaled(delay);
            *out = if lateness.supports(y) { lateness.log_density(y) } else { f64::NEG_INFINITY };
        }
    }

    fn log_peak(&self, params: &[f64]) -> f64 {
        Lateness::new(params).log_peak()
    }

    fn reach(&self, params: &[f64], log_drop: f64) -> (f64, f64) {
        let lateness = Lateness::new(params);
        let delay = |y: f64| lateness.shift + lateness.scale * y;
        (delay(lateness.lower(log_drop)), delay(lateness.upper(log_drop)))
    }

    fn pull_back(
        &self,
        params: &[f64],
        delays: &[f64],
        responsibilities: &[f64],
        d_params: &mut [f64],
    ) {
        let lateness = Lateness::new(params);
        let (n, shape) = (lateness.excess_shape, lateness.shape());
        let (mut d_shift, mut d_shape, mut d_log_spread) = (0.0, 0.0, 0.0);
        let psi = digamma(shape);
        for (&delay, &responsibility) in delays.iter().zip(responsibilities) {
            let y = lateness.scaled(delay);
            if !lateness.supports(y) {
                continue;
            }
            let excess = y - shape;
            d_log_spread += responsibility * excess;
            if n == 0.0 {
                // An exponential's shape is at the end of its range and cannot move.
                d_shift += responsibility;
            } else {
                d_shift += responsibility * (1.0 - n / y);
                // At a fixed spread the scale is spread/√k, hence the last term.
                d_shape += responsibility * (y.ln() - psi - 0.5 * excess / shape);
            }
        }
        d_params[0] += d_shift / lateness.scale;
        d_params[1] += n * d_shape;
        d_params[2] += d_log_spread;
    }

    fn sample(&self, params: &[f64], random: &mut Random) -> f64 {
        let lateness = Lateness::new(params);
        lateness.shift + lateness.scale * random.gamma(lateness.shape())
    }

    fn delay(&self, params: &[f64]) -> f64 {
        let lateness = Lateness::new(params);
        lateness.shift + lateness.shape() * lateness.scale
    }

    fn spread(&self, params: &[f64]) -> f64 {
        params[2].exp()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Noise;

    pub(in super::super) fn corners() -> Vec<(Noise, Vec<f64>)> {
        vec![
            (Noise::ShiftedGamma, vec![0.5, f64::NEG_INFINITY, 0.3]),
            (Noise::ShiftedGamma, vec![0.5, 0.2_f64.ln(), 0.3]),
            (Noise::ShiftedGamma, vec![-1.0, 3_f64.ln(), -1.0]),
            (Noise::ShiftedGamma, vec![-10.0, 99_f64.ln(), 0.0]),
        ]
    }

    #[test]
    fn both_forms_agree_at_the_switch() {
        let n = PEAK_FORM_FROM;
        let params = [1.0, n.ln() + 1e-12, 0.5];
        let lateness = Lateness::new(&params);
        assert!(lateness.excess_shape >= PEAK_FORM_FROM);
        for y in [0.5, 8.0, n, 17.0, 60.0] {
            let log_scale = lateness.scale.ln();
            let direct =
                lateness.excess_shape * f64::ln(y) - y - ln_gamma(lateness.shape()) - log_scale;
            // Rounding of terms near 60.
            assert!((lateness.log_density(y) - direct).abs() < 5e-14, "{y}");
        }
    }

    #[test]
    fn shape_one_is_the_exponential_with_its_edge() {
        let params = [2.0, f64::NEG_INFINITY, 3f64.ln()];
        let mut got = [0.0; 3];
        ShiftedGamma.log_density(&params, &[1.999, 2.0, 8.0], &mut got);
        assert_eq!(got[0], f64::NEG_INFINITY);
        assert!((got[1] + 3f64.ln()).abs() < 1e-15); // rounding of exp(log 3)
        assert!((got[2] + 3f64.ln() + 2.0).abs() < 1e-14); // the same, times two
        let mut d_params = [0.0; 3];
        ShiftedGamma.pull_back(&params, &[1.0, 2.0, 8.0], &[0.0, 1.0, 1.0], &mut d_params);
        // Each supported delay gives 1/θ, nothing, and y − 1 with y = 0 and 2.
        assert!((d_params[0] - 2.0 / 3.0).abs() < 1e-15); // rounding
        assert_eq!(d_params[1], 0.0);
        assert!(d_params[2].abs() < 1e-14); // −1 + 1
        assert_eq!(ShiftedGamma.reach(&params, 5.0).0, 2.0);
        assert!((ShiftedGamma.reach(&params, 5.0).1 - 17.0).abs() < 1e-13); // shift + 5·3
    }

    #[test]
    fn no_density_at_or_before_the_shift_of_a_rising_density() {
        let mut got = [0.0; 2];
        for log_excess in [-700.0, -1.0, 1.0, 8.0] {
            ShiftedGamma.log_density(&[0.5, log_excess, 0.0], &[0.5, 0.4], &mut got);
            assert_eq!(got, [f64::NEG_INFINITY; 2]);
        }
    }

    #[test]
    fn a_large_shape_approaches_the_gaussian() {
        let shape = 1e8_f64;
        let params = [-shape.sqrt(), (shape - 1.0).ln(), 0.0];
        let delays = [-4.0, -1.0, 0.0, 2.0, 4.0];
        let mut got = [0.0; 5];
        ShiftedGamma.log_density(&params, &delays, &mut got);
        for (got, z) in got.iter().zip(delays) {
            // Edgeworth's first term: skewness 2/√k, times (z³ − 3z)/6. The next is z⁴/(4k),
            // below 7e-7.
            let skewed =
                -0.5 * TAU.ln() - 0.5 * z * z + (z * z * z - 3.0 * z) / (3.0 * shape.sqrt());
            assert!((got - skewed).abs() < 1e-6, "{got} {skewed}");
        }
    }
}
