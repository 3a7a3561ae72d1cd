//! Logistic noise behind a known lag: some beats of a known period.
//!
//! ```text
//! log p(d) = −|q| − 2 log(1 + e^(−|q|)) − log a      q = (d − m − lag) / a, a: spread·√3/π
//! ```

use std::f64::consts::{LN_2, PI};

use super::NoiseModel;
use super::kind::{Kind, Parameter, Setting, Value};
use crate::math::Random;
use crate::params::{ParameterSpec, Role, Transform};

/// Delay and spread of a logistic density.
#[derive(Debug, Clone, Copy)]
pub struct LateLogistic {
    lag: f64,
}

/// Its row in the table of noise models.
pub(super) const KIND: Kind = Kind {
    name: "late_logistic",
    about: "Logistic delays behind a known lag",
    parameters: &[
        Parameter::number("delay", "Mean of stamp - instance time, less the lag", &[0.4]),
        Parameter::number("spread", "Standard deviation", &[0.8]),
    ],
    settings: &[
        Setting {
            name: "period",
            about: "Length of a beat",
            value: Value::Time,
            range: (0.0, f64::MAX),
            expected: "a time of at least 0",
            default: None,
            example: 0.2,
        },
        Setting {
            name: "beats",
            about: "Beats of the lag",
            value: Value::Number,
            range: (0.0, 100.0),
            expected: "a number from 0 to 100",
            default: Some(1.0),
            example: 1.5,
        },
    ],
    build: |settings, unit| Ok(Box::new(LateLogistic { lag: settings[0] * settings[1] / unit })),
    #[cfg(test)]
    corners: tests::corners,
};

/// a, from the log of the standard deviation.
fn scale(log_spread: f64) -> f64 {
    log_spread.exp() * 3f64.sqrt() / PI
}

impl NoiseModel for LateLogistic {
    fn parameters(&self) -> Vec<ParameterSpec> {
        vec![
            ParameterSpec::new("delay", 1, Transform::Free, Role::Delay).in_time(),
            ParameterSpec::new("spread", 1, Transform::Positive, Role::Spread).in_time(),
        ]
    }

    fn start(&self, delay: f64, spread: f64) -> Vec<f64> {
        vec![delay - self.lag, spread.ln()]
    }

    fn log_density(&self, params: &[f64], delays: &[f64], out: &mut [f64]) {
        let (mean, a) = (params[0] + self.lag, scale(params[1]));
        for (out, delay) in out.iter_mut().zip(delays) {
            let q = ((delay - mean) / a).abs();
            *out = -q - 2.0 * (-q).exp().ln_1p() - a.ln();
        }
    }

    fn log_peak(&self, params: &[f64]) -> f64 {
        -2.0 * LN_2 - scale(params[1]).ln()
    }

    /// cosh²(q/2) = e^drop, solved for q.
    fn reach(&self, params: &[f64], log_drop: f64) -> (f64, f64) {
        let q = log_drop + 2.0 * (-(-log_drop).exp_m1()).sqrt().ln_1p();
        let (mean, half_width) = (params[0] + self.lag, scale(params[1]) * q);
        (mean - half_width, mean + half_width)
    }

    fn pull_back(
        &self,
        params: &[f64],
        delays: &[f64],
        responsibilities: &[f64],
        d_params: &mut [f64],
    ) {
        let (mean, a) = (params[0] + self.lag, scale(params[1]));
        for (delay, responsibility) in delays.iter().zip(responsibilities) {
            let q = (delay - mean) / a;
            d_params[0] += responsibility * (0.5 * q).tanh() / a;
            d_params[1] += responsibility * (q * (0.5 * q).tanh() - 1.0);
        }
    }

    fn sample(&self, params: &[f64], random: &mut Random) -> f64 {
        let u = random.uniform();
        params[0] + self.lag + scale(params[1]) * (u.ln() - (-u).ln_1p())
    }

    fn delay(&self, params: &[f64]) -> f64 {
        params[0] + self.lag
    }

    fn spread(&self, params: &[f64]) -> f64 {
        params[1].exp()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Noise;

    pub(in super::super) fn corners() -> Vec<(Noise, Vec<f64>)> {
        vec![
            (Noise::LateLogistic { period: 0.0, beats: 1.0 }, vec![0.0, 0.0]),
            (Noise::LateLogistic { period: 0.5, beats: 3.0 }, vec![-4.0, -1.5]),
        ]
    }

    #[test]
    fn the_lag_is_measured_in_the_unit() {
        let model = Noise::LateLogistic { period: 1.0, beats: 3.0 }.build(0.5).unwrap();
        assert_eq!(model.delay(&[0.25, 0.0]), 6.25);
        assert!(KIND.noise(&[1.0, 101.0]).unwrap().build(0.5).is_err());
    }
}
