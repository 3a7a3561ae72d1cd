//! Uniform noise on a fixed interval: a hard limit on the delay, without parameters to learn.
//!
//! The only model with bounded support on both sides, so alignments can be impossible under it.
//! The interval is closed: a delay equal to an end has the full density.

use super::kind::{Kind, Setting, Value};
use super::{BoundNoise, Noise, NoiseModel};
use crate::Result;
use crate::error::require;
use crate::math::Random;
use crate::params::ParameterSpec;

/// A constant density from `earliest` to `latest`, in multiples of the unit of time.
#[derive(Debug, Clone, Copy)]
pub struct Uniform {
    earliest: f64,
    latest: f64,
}

impl Uniform {
    /// Delays between these two.
    pub fn at(earliest: f64, latest: f64) -> Result<BoundNoise> {
        Noise::Uniform { earliest, latest }.with(&[])
    }
}

/// Its row in the table of noise models.
pub(super) const KIND: Kind = Kind {
    name: "uniform",
    about: "Any delay in an interval, all equally likely; nothing is learned",
    parameters: &[],
    settings: &[
        end("earliest", "Earliest delay", "a finite time", -1.0),
        end("latest", "Latest delay", AFTER, 2.0),
    ],
    build: |settings, unit| {
        let [earliest, latest] = [settings[0], settings[1]];
        Uniform::new(earliest, latest)?;
        // An extreme unit can push an end to infinity or both ends together.
        Ok(Box::new(Uniform::new(earliest / unit, latest / unit)?))
    },
    #[cfg(test)]
    corners: tests::corners,
};

const AFTER: &str = "a finite time after noise.earliest";

const fn end(
    name: &'static str,
    about: &'static str,
    expected: &'static str,
    example: f64,
) -> Setting {
    let (value, range) = (Value::Time, (f64::MIN, f64::MAX));
    Setting { name, about, value, range, expected, default: None, example }
}

impl Uniform {
    fn new(earliest: f64, latest: f64) -> Result<Self> {
        require("noise.earliest", earliest, earliest.is_finite(), "a finite time")?;
        // The width must be finite too, or the density would be zero.
        require(
            "noise.latest",
            latest,
            (latest - earliest).is_finite() && latest > earliest,
            AFTER,
        )?;
        Ok(Self { earliest, latest })
    }

    fn width(&self) -> f64 {
        self.latest - self.earliest
    }
}

impl NoiseModel for Uniform {
    fn parameters(&self) -> Vec<ParameterSpec> {
        Vec::new()
    }

    /// Empty: the interval is fixed for any delay and spread.
    fn start(&self, _delay: f64, _spread: f64) -> Vec<f64> {
        Vec::new()
    }

    fn log_density(&self, params: &[f64], delays: &[f64], out: &mut [f64]) {
        let log_peak = self.log_peak(params);
        for (out, delay) in out.iter_mut().zip(delays) {
            let inside = (self.earliest..=self.latest).contains(delay);
            *out = if inside { log_peak } else { f64::NEG_INFINITY };
        }
    }

    fn log_peak(&self, _params: &[f64]) -> f64 {
        -self.width().ln()
    }

    fn reach(&self, _params: &[f64], _log_drop: f64) -> (f64, f64) {
        (self.earliest, self.latest)
    }

    fn pull_back(&self, _: &[f64], _: &[f64], _: &[f64], _: &mut [f64]) {}

    fn sample(&self, _params: &[f64], random: &mut Random) -> f64 {
        self.earliest + self.width() * random.uniform()
    }

    fn delay(&self, _params: &[f64]) -> f64 {
        self.earliest + 0.5 * self.width()
    }

    fn spread(&self, _params: &[f64]) -> f64 {
        self.width() / 12f64.sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::log_density;
    use crate::Noise;

    pub(in super::super) fn corners() -> Vec<(Noise, Vec<f64>)> {
        vec![(Noise::Uniform { earliest: -0.4, latest: 3.0 }, vec![])]
    }

    #[test]
    fn an_interval_is_checked() {
        let infinity = f64::INFINITY;
        for (earliest, latest) in [(1.0, 1.0), (2.0, 1.0), (0.0, infinity), (-infinity, 0.0)] {
            assert!(Noise::Uniform { earliest, latest }.build(1.0).is_err(), "{earliest} {latest}");
        }
        assert!(Noise::Uniform { earliest: f64::NAN, latest: 1.0 }.build(1.0).is_err());
        // A unit that pushes an end to infinity, and one that pushes both together.
        assert!(Noise::Uniform { earliest: 0.0, latest: 1e30 }.build(1e-300).is_err());
        assert!(Noise::Uniform { earliest: 0.0, latest: 1e-30 }.build(1e300).is_err());
    }

    #[test]
    fn uniform_is_measured_in_the_unit_and_includes_its_ends() {
        let model = Noise::Uniform { earliest: -1.0, latest: 3.0 }.build(0.5).unwrap();
        assert_eq!(model.reach(&[], 7.0), (-2.0, 6.0));
        let outside = f64::NEG_INFINITY;
        let full = -(8f64.ln());
        let got = log_density(&*model, &[], &[-2.1, -2.0, 0.0, 6.0, 6.1]);
        assert_eq!(got, [outside, full, full, full, outside]);
        assert_eq!((model.delay(&[]), model.spread(&[])), (2.0, 8.0 / 12f64.sqrt()));
    }
}
