//! Sloppiness of an annotator, in numbers that fit any dataset.
//!
//! An [`Annotator`] works in the unit of the data and has spurious presses per instance. A sweep over
//! several datasets needs numbers with the same meaning in all of them: times in multiples of a unit such
//! as the median spacing of instances, and spurious presses per true event.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::annotator::own_seed;
use super::bouts::{self, EndSloppiness};
use super::{Annotator, Delays, Spurious};
use crate::error::require;
use crate::math::Random;
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
    /// Standard deviation of what the clock of a session gains per unit of time, from its middle on.
    pub drift_spread: f64,
    /// What presses are rounded to, in units; 0 if they are not.
    pub rounded: f64,
    /// Share of true events that are pressed.
    pub pressed: f64,
    /// Spurious presses, per true event.
    pub extra: f64,
    /// How many people press, each of them at every session or in turns.
    pub people: usize,
    /// Whether all of them press at every session.
    pub together: bool,
    /// How far people differ: the standard deviation of their delays, in units, and of the logarithms of their
    /// spreads.
    pub habits: (f64, f64),
    /// How the ends of runs are pressed, if they are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ends: Option<EndSloppiness>,
}

impl Default for Sloppiness {
    /// Unbiased Gaussian delays of one unit, every event pressed and nothing else.
    fn default() -> Self {
        Self {
            tails: Tails::Gaussian,
            delay: 0.0,
            spread: 1.0,
            offset_spread: 0.0,
            drift_spread: 0.0,
            rounded: 0.0,
            pressed: 1.0,
            extra: 0.0,
            people: 1,
            together: false,
            habits: (0.0, 0.0),
            ends: None,
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
            drift_spread: self.drift_spread,
            rounded: self.rounded * unit,
        })
    }

    /// Presses of all people at these recordings, whose unit of time is `unit` long. If there are several, they
    /// are named, and their habits are drawn from the seed.
    pub fn annotate<'a>(
        &self,
        recordings: &[Recording<'a>],
        unit: f64,
        seed: u64,
    ) -> Result<Vec<Recording<'a>>> {
        if let Some(ends) = self.ends {
            return bouts::annotate(self, ends, recordings, unit, seed);
        }
        let people = self.people(recordings, unit, seed)?;
        if let [(_, only)] = people.as_slice() {
            return only.annotate_all(recordings, seed);
        }
        let annotate = |(k, recording): (usize, &Recording<'a>)| {
            let own = match self.together {
                true => &people[..],
                false => std::slice::from_ref(&people[k % people.len()]),
            };
            annotate_together(own, recording, own_seed(seed, k as u64))
        };
        recordings.iter().enumerate().map(annotate).collect()
    }

    /// The people, with their habits drawn from a seed.
    pub fn people(
        &self,
        recordings: &[Recording],
        unit: f64,
        seed: u64,
    ) -> Result<Vec<(String, Annotator)>> {
        const MOST: usize = 1000;
        let few = (1..=MOST).contains(&self.people);
        require("people", self.people as f64, few, "a number from 1 to 1000")?;
        let (delay, log_spread) = self.habits;
        require("habits: delay", delay, delay >= 0.0, "a number of at least 0")?;
        require("habits: spread", log_spread, log_spread >= 0.0, "a number of at least 0")?;
        let mut random = Random::new(own_seed(!seed, 0));
        let person = |k: usize| {
            let own = Self {
                delay: self.delay + delay * random.normal(),
                spread: self.spread * (log_spread * random.normal()).exp(),
                ..self.clone()
            };
            Ok((format!("person {}", k + 1), own.annotator(recordings, unit)?))
        };
        (0..self.people).map(person).collect()
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

/// The recording with the presses of several people.
fn annotate_together<'a>(
    people: &[(String, Annotator)],
    recording: &Recording<'a>,
    seed: u64,
) -> Result<Recording<'a>> {
    let mut presses: Vec<(f64, &str, f64)> = Vec::new();
    for (k, (name, annotator)) in people.iter().enumerate() {
        let own = annotator.annotate(recording, own_seed(seed, k as u64))?;
        let stamps = own.session.stamps().iter();
        presses.extend(stamps.map(|&stamp| (stamp, name.as_str(), annotator.rounded)));
    }
    presses.sort_by(|a, b| a.0.total_cmp(&b.0));
    let stamps = presses.iter().map(|own| own.0).collect();
    let of: Vec<String> = presses.iter().map(|own| own.1.to_owned()).collect();
    let widths = presses.iter().map(|own| own.2).collect();
    let names: Vec<String> = people.iter().map(|(name, _)| name.clone()).collect();
    let session = recording.session.clone().with_stamps(stamps)?.with_widths(widths)?;
    let session = session.with_annotators(&of, &names)?;
    Ok(Recording { session, truth: recording.truth.clone() })
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

    #[test]
    fn people_have_habits_and_press_together_or_in_turns() {
        let data = vec![recording(), recording(), recording()];
        let habits = Sloppiness {
            spread: 0.5,
            people: 2,
            habits: (3.0, 0.4),
            rounded: 0.25,
            ..Sloppiness::default()
        };
        let people = habits.people(&data, 10.0, 5).unwrap();
        let turns = habits.annotate(&data, 10.0, 5).unwrap();
        let names = |own: &Recording| own.session.annotators().to_vec();
        assert_eq!(names(&turns[0]), ["person 1"]);
        assert_eq!([names(&turns[1]), names(&turns[2])], [["person 2"], ["person 1"]]);
        let together = Sloppiness { together: true, ..habits }.annotate(&data, 10.0, 5).unwrap();
        let session = &together[1].session;
        assert_eq!(names(&together[1]), ["person 1", "person 2"]);
        assert_eq!((session.stamps().len(), session.width_of(7)), (4000, 2.5));
        assert!(session.stamps().iter().all(|z| (z / 2.5).fract() == 0.0));
        for (k, (_, annotator)) in people.iter().enumerate() {
            let Delays::Model { values, .. } = &annotator.delays else { panic!("{annotator:?}") };
            let (delay, spread) = (values["delay"][0], values["spread"][0]);
            let truth = (0..40_000).step_by(20).map(|i| 10.0 * i as f64);
            let mut own = session.streams()[k].1.clone();
            own.sort_by(f64::total_cmp);
            let mean = own.iter().zip(truth).map(|(z, t)| z - t).sum::<f64>() / 2000.0;
            // 2000 presses: five standard errors, whatever their order.
            assert!((mean - delay).abs() < 5.0 * spread / 44.0, "{mean} {delay}");
        }
    }

    #[test]
    fn clocks_drift_about_the_middle() {
        let data = [recording()];
        let sloppiness = Sloppiness { spread: 1e-6, drift_spread: 1e-3, ..Sloppiness::default() };
        let annotator = sloppiness.annotator(&data, 10.0).unwrap();
        let times = data[0].session.times();
        let presses = annotator.press(times, data[0].truth.as_ref().unwrap(), 3).unwrap();
        assert!(presses.drift != 0.0 && presses.drift.abs() < 5e-3, "{}", presses.drift);
        let middle = 0.5 * (times[0] + times[times.len() - 1]);
        for (z, source) in presses.stamps.iter().zip(&presses.sources) {
            let t = times[source.unwrap()];
            // Delays of 1e-5.
            assert!((z - t - presses.drift * (t - middle)).abs() < 1e-4, "{z} {t}");
        }
    }
}
