//! Sloppiness of an annotator, in numbers that fit any dataset.
//!
//! An [`Annotator`] works in the unit of the data and has spurious presses per instance. A sweep over
//! several datasets needs numbers with the same meaning in all of them: times in multiples of a unit such
//! as the median spacing of instances, and spurious presses per true event.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Annotator, Delays, Spurious};
use crate::error::require;
use crate::model::noise::Noise;
use crate::{Error, Recording, Result};

/// The shape of the delays.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Tails {
    /// Normal.
    Gaussian,
    /// Double exponential.
    Laplace,
    /// Student's t.
    StudentT {
        /// Above 2, so that the standard deviation exists; the excess kurtosis is 6 / (ν − 4).
        degrees_of_freedom: f64,
    },
    /// Drawn from recorded human errors; their bias stays.
    Recorded {
        /// Stamp minus truth, in any one unit: only their shape matters.
        errors: Vec<f64>,
    },
}

/// Settings of an annotator, independent of the data's unit of time and of the rarity of events.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Sloppiness {
    /// Shape of the delays.
    pub tails: Tails,
    /// Mean delay, in units; added to the bias of recorded errors.
    pub delay: f64,
    /// Standard deviation of the delays within a session, in units; for recorded errors the root of their
    /// mean square.
    pub spread: f64,
    /// Standard deviation of an offset that all presses of a session share, in units.
    pub offset_spread: f64,
    /// Share of true events that are pressed.
    pub pressed: f64,
    /// Spurious presses, per true event.
    pub extra: f64,
}

impl Default for Sloppiness {
    /// Unbiased Gaussian delays of one unit, every event pressed and nothing else.
    fn default() -> Self {
        Self {
            tails: Tails::Gaussian,
            delay: 0.0,
            spread: 1.0,
            offset_spread: 0.0,
            pressed: 1.0,
            extra: 0.0,
        }
    }
}

impl Sloppiness {
    /// The annotator of these recordings, whose unit of time is `unit` long.
    pub fn annotator(&self, recordings: &[Recording], unit: f64) -> Result<Annotator> {
        require("unit", unit, unit > 0.0, "a finite number above 0")?;
        require("spread", self.spread, self.spread > 0.0, "a finite number above 0")?;
        let pressed = (0.0..=1.0).contains(&self.pressed);
        require("pressed", self.pressed, pressed, "a share from 0 to 1")?;
        Ok(Annotator {
            delays: self.delays(unit)?,
            miss: 1.0 - self.pressed,
            spurious: Spurious::PerInstance(self.false_rate(recordings)?),
            offset_spread: self.offset_spread * unit,
        })
    }

    fn delays(&self, unit: f64) -> Result<Delays> {
        let (delay, spread) = (self.delay * unit, self.spread * unit);
        let model = |noise, values: &[(&str, f64)]| {
            let named = values.iter().map(|&(name, value)| (name.to_owned(), vec![value]));
            Delays::Model { noise, values: BTreeMap::from_iter(named) }
        };
        Ok(match &self.tails {
            Tails::Gaussian => model(Noise::Gaussian, &[("delay", delay), ("spread", spread)]),
            Tails::Laplace => model(Noise::Laplace, &[("delay", delay), ("spread", spread)]),
            &Tails::StudentT { degrees_of_freedom: degrees } => {
                require("degrees_of_freedom", degrees, degrees > 2.0, "a finite number above 2")?;
                // Variance of a t of unit scale: ν / (ν − 2).
                let scale = spread * ((degrees - 2.0) / degrees).sqrt();
                let values = [("delay", delay), ("scale", scale), ("degrees_of_freedom", degrees)];
                model(Noise::StudentT, &values)
            }
            Tails::Recorded { errors } => {
                let scale = spread / root_mean_square(errors)?;
                let errors = errors.iter().map(|error| error * scale + delay).collect();
                Delays::Table { errors, scale: 1.0 }
            }
        })
    }

    /// Probability of a press at a negative instance that gives `extra` presses per true event.
    fn false_rate(&self, recordings: &[Recording]) -> Result<f64> {
        let (mut positives, mut negatives) = (0.0, 0.0);
        for recording in recordings {
            for &label in recording.hand_labels()? {
                *(if label { &mut positives } else { &mut negatives }) += 1.0;
            }
        }
        let rate = if self.extra == 0.0 { 0.0 } else { self.extra * positives / negatives };
        let expected = "a number from 0 to the negative instances for each positive one";
        require("extra", self.extra, (0.0..=1.0).contains(&rate), expected)?;
        Ok(rate)
    }
}

fn root_mean_square(errors: &[f64]) -> Result<f64> {
    if errors.is_empty() {
        return Err(Error::TooFew { what: "recorded errors", found: 0, least: 1 });
    }
    let mean_square = errors.iter().map(|error| error * error).sum::<f64>() / errors.len() as f64;
    let root = mean_square.sqrt();
    require("root mean square of the recorded errors", root, root > 0.0, "a number above 0")?;
    Ok(root)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Session;
    use ndarray::Array2;

    /// Instances ten apart, one in twenty positive.
    fn recording() -> Recording<'static> {
        let count = 40_000;
        let times = (0..count).map(|i| 10.0 * i as f64).collect();
        let session = Session::new("s", Array2::<f64>::zeros((count, 1)), times, vec![]).unwrap();
        Recording { session, truth: Some((0..count).map(|i| i % 20 == 0).collect()) }
    }

    fn delays(sloppiness: &Sloppiness) -> Vec<f64> {
        let data = [recording()];
        let annotator = sloppiness.annotator(&data, 10.0).unwrap();
        let times = data[0].session.times();
        let presses = annotator.press(times, data[0].truth.as_ref().unwrap(), 7).unwrap();
        let pairs = presses.stamps.iter().zip(&presses.sources);
        pairs.map(|(z, source)| z - times[source.unwrap()]).collect()
    }

    #[test]
    fn every_shape_has_the_spread_asked_for() {
        let shapes = [
            Tails::Gaussian,
            Tails::Laplace,
            Tails::StudentT { degrees_of_freedom: 6.0 },
            Tails::Recorded { errors: vec![-0.3, 0.3, 0.1, -0.1] },
        ];
        for tails in shapes {
            let sloppiness = Sloppiness { tails, delay: 0.5, spread: 2.0, ..Default::default() };
            let delays = delays(&sloppiness);
            let n = delays.len() as f64;
            let mean = delays.iter().sum::<f64>() / n;
            let sd = (delays.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / n).sqrt();
            // 2 000 delays of sd 20: five standard errors of the mean; a t with ν = 6 has kurtosis
            // 6, so the standard error of its sd is 20·√(5/8000) = 0.5.
            assert!((mean - 5.0).abs() < 2.3, "{sloppiness:?}: {mean}");
            assert!((sd - 20.0).abs() < 2.5, "{sloppiness:?}: {sd}");
        }
    }

    #[test]
    fn recorded_errors_keep_their_bias() {
        let tails = Tails::Recorded { errors: vec![0.01, 0.03] };
        let delays = delays(&Sloppiness { tails, ..Default::default() });
        // Root mean square √5/100; rounding only.
        let unit = 10.0 / 5f64.sqrt();
        assert!(delays.iter().all(|d| (d - unit).abs() < 1e-8 || (d - 3.0 * unit).abs() < 1e-8));
    }

    #[test]
    fn extras_are_counted_per_true_event() {
        let data = [recording()];
        let sloppiness = Sloppiness { pressed: 0.93, extra: 0.5, ..Default::default() };
        let annotator = sloppiness.annotator(&data, 10.0).unwrap();
        assert!((annotator.miss - 0.07).abs() < 1e-15); // one subtraction
        // Nineteen negatives for each positive.
        let Spurious::PerInstance(rate) = annotator.spurious else { panic!("{annotator:?}") };
        assert!((rate - 0.5 / 19.0).abs() < 1e-15); // one division
    }

    #[test]
    fn bad_settings_are_named() {
        let message = |change: fn(&mut Sloppiness)| {
            let mut sloppiness = Sloppiness::default();
            change(&mut sloppiness);
            sloppiness.annotator(&[recording()], 1.0).unwrap_err().to_string()
        };
        assert_eq!(message(|s| s.spread = 0.0), "spread is 0, expected a finite number above 0");
        assert_eq!(message(|s| s.pressed = 1.1), "pressed is 1.1, expected a share from 0 to 1");
        assert!(message(|s| s.extra = 30.0).starts_with("extra is 30, expected"));
        assert!(message(|s| s.extra = -1.0).starts_with("extra is -1, expected"));
        let light = |s: &mut Sloppiness| s.tails = Tails::StudentT { degrees_of_freedom: 2.0 };
        let expected = "degrees_of_freedom is 2, expected a finite number above 2";
        assert_eq!(message(light), expected);
        let none = |s: &mut Sloppiness| s.tails = Tails::Recorded { errors: vec![] };
        assert_eq!(message(none), "0 recorded errors, expected at least 1");
        let zero = |s: &mut Sloppiness| s.tails = Tails::Recorded { errors: vec![0.0] };
        assert!(message(zero).starts_with("root mean square of the recorded errors is 0"));
    }
}
