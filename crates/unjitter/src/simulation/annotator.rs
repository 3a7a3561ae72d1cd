//! An annotator who presses a button at true events: late, early, not at all, or without an event.
//!
//! Missing and spurious presses are two separate numbers. (The paper's simulator has one, π, and its equations
//! contradict each other once π < 1.) Delays come from a noise model or from a table of real human errors.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::error::require;
use crate::math::Random;
use crate::model::BoundNoise;
use crate::model::noise::Noise;
use crate::{Recording, Result};

/// Source of the delays.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "from", rename_all = "snake_case", deny_unknown_fields)]
pub enum Delays {
    /// A noise model at natural values, by block name, in the unit of the data.
    Model {
        /// The noise model.
        noise: Noise,
        /// Its parameters, such as `spread = [1.0]`.
        values: BTreeMap<String, Vec<f64>>,
    },
    /// A table of errors to draw from, each multiplied by `scale`.
    Table {
        /// Errors, stamp minus truth.
        errors: Vec<f64>,
        /// Factor, such as spacings per second.
        scale: f64,
    },
}

/// Rate of spurious presses.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Spurious {
    /// With this probability at each negative instance, with its delay, as in the model.
    PerInstance(f64),
    /// At this rate, anywhere in the recording, independent of the instances.
    PerHour {
        /// Presses per hour.
        rate: f64,
        /// Length of the data's unit of time in seconds.
        seconds_per_unit: f64,
    },
}

/// An annotator of known sloppiness.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Annotator {
    /// Delays of presses.
    pub delays: Delays,
    /// Probability that a true event gets no press.
    pub miss: f64,
    /// Spurious presses.
    pub spurious: Spurious,
    /// Standard deviation of an offset that all presses of one session share, in the unit of the
    /// data.
    pub offset_spread: f64,
    /// Standard deviation of what the clock of a session gains per unit of time, from its middle on.
    #[serde(default)]
    pub drift_spread: f64,
    /// What presses are rounded to, in the unit of the data; 0 if they are not.
    #[serde(default)]
    pub rounded: f64,
}

/// Presses with their simulated truth.
#[derive(Debug, Clone, PartialEq)]
pub struct Presses {
    /// Times of the presses, in order.
    pub stamps: Vec<f64>,
    /// The instance of each press; `None` for one without an instance.
    pub sources: Vec<Option<usize>>,
    /// The session's offset.
    pub offset: f64,
    /// What its clock gains per unit of time.
    pub drift: f64,
}

impl Annotator {
    /// Gaussian delays around `delay`, every event pressed, nothing else.
    pub fn gaussian(delay: f64, spread: f64) -> Self {
        let values = BTreeMap::from([
            ("delay".to_owned(), vec![delay]),
            ("spread".to_owned(), vec![spread]),
        ]);
        Self {
            delays: Delays::Model { noise: Noise::Gaussian, values },
            miss: 0.0,
            spurious: Spurious::PerInstance(0.0),
            offset_spread: 0.0,
            drift_spread: 0.0,
            rounded: 0.0,
        }
    }

    /// The paper's first sweep: unbiased Gaussian delays of spread σ, π = 1.
    pub fn paper_spread(sigma: f64) -> Self {
        Self::gaussian(0.0, sigma)
    }

    /// The paper's second sweep: σ = 1 and a share π of the events pressed.
    pub fn paper_pressed(pi: f64) -> Self {
        Self { miss: 1.0 - pi, ..Self::gaussian(0.0, 1.0) }
    }

    /// Presses for the true events of instances at `times`.
    pub fn press(&self, times: &[f64], truth: &[bool], seed: u64) -> Result<Presses> {
        self.check()?;
        let mut random = Random::new(seed);
        let source = self.source()?;
        let offset = self.offset_spread * random.normal();
        // Drawn only if it is asked for: all else is then as without.
        let drift = match self.drift_spread > 0.0 {
            true => self.drift_spread * random.normal(),
            false => 0.0,
        };
        let middle = times.first().zip(times.last()).map_or(0.0, |(a, b)| 0.5 * (a + b));
        let mut presses: Vec<(f64, Option<usize>)> = Vec::new();
        let false_rate = match self.spurious {
            Spurious::PerInstance(rate) => rate,
            Spurious::PerHour { .. } => 0.0,
        };
        for (i, (&time, &event)) in times.iter().zip(truth).enumerate() {
            let rate = if event { 1.0 - self.miss } else { false_rate };
            // Drawn even if there is no press, so that rates do not change other delays.
            let (chance, delay) = (random.uniform(), source.draw(&mut random));
            if chance < rate {
                presses.push((time + offset + drift * (time - middle) + delay, Some(i)));
            }
        }
        if let Spurious::PerHour { rate, seconds_per_unit } = self.spurious {
            anywhere(times, rate * seconds_per_unit / 3600.0, &mut random, &mut presses);
        }
        if self.rounded > 0.0 {
            presses
                .iter_mut()
                .for_each(|own| own.0 = (own.0 / self.rounded).round() * self.rounded);
        }
        presses.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (stamps, sources) = presses.into_iter().unzip();
        Ok(Presses { stamps, sources, offset, drift })
    }

    /// The recording with its stamps replaced by presses for its true events. Presses outside the
    /// annotated intervals are not recorded.
    pub fn annotate<'a>(&self, recording: &Recording<'a>, seed: u64) -> Result<Recording<'a>> {
        let session = &recording.session;
        let presses = self.press(session.times(), recording.hand_labels()?, seed)?;
        let session = session.clone().with_stamps(presses.stamps)?;
        let widths = vec![self.rounded; session.stamps().len()];
        Ok(Recording { session: session.with_widths(widths)?, truth: recording.truth.clone() })
    }

    /// Annotates every recording, each with its own draws from `seed` and its position.
    pub fn annotate_all<'a>(
        &self,
        recordings: &[Recording<'a>],
        seed: u64,
    ) -> Result<Vec<Recording<'a>>> {
        let annotate = |(k, recording)| self.annotate(recording, own_seed(seed, k as u64));
        recordings.iter().enumerate().map(annotate).collect()
    }

    fn source(&self) -> Result<Source<'_>> {
        match &self.delays {
            Delays::Model { noise, values } => {
                let values: Vec<(&str, &[f64])> =
                    values.iter().map(|(name, values)| (name.as_str(), &values[..])).collect();
                Ok(Source::Model(noise.with(&values)?))
            }
            Delays::Table { errors, scale } => Ok(Source::Table(errors, *scale)),
        }
    }

    fn check(&self) -> Result<()> {
        let probability = |name: &str, value: f64| {
            let expected = "a probability from 0 to 1";
            require(name, value, (0.0..=1.0).contains(&value), expected)
        };
        probability("miss", self.miss)?;
        match self.spurious {
            Spurious::PerInstance(rate) => probability("spurious per_instance", rate)?,
            Spurious::PerHour { rate, seconds_per_unit } => {
                require("spurious per_hour rate", rate, rate >= 0.0, "a number of at least 0")?;
                let expected = "a number above 0";
                require("seconds_per_unit", seconds_per_unit, seconds_per_unit > 0.0, expected)?;
            }
        }
        let others = [
            ("offset_spread", self.offset_spread),
            ("drift_spread", self.drift_spread),
            ("rounded", self.rounded),
        ];
        for (name, value) in others {
            require(name, value, value >= 0.0, "a number of at least 0")?;
        }
        if let Delays::Table { errors, scale } = &self.delays {
            require("scale", *scale, true, "a finite number")?;
            require("number of errors", errors.len() as f64, !errors.is_empty(), "at least 1")?;
            for (k, &error) in errors.iter().enumerate() {
                require(&format!("error {k} of the table"), error, true, "a finite number")?;
            }
        }
        Ok(())
    }
}

/// The seed of the draws of recording `k` of a dataset.
///
/// Neighbouring seeds lie a thousand apart, which is room for a thousand recordings. Further recordings,
/// and those of seeds too large for that, go anywhere in the 2⁶⁴ seeds, where they meet another dataset's
/// only by chance.
pub(super) fn own_seed(seed: u64, k: u64) -> u64 {
    let beside = seed.checked_mul(1000).and_then(|first| first.checked_add(k));
    match beside {
        Some(beside) if k < 1000 => beside,
        _ => scatter(scatter(seed).wrapping_add(k)),
    }
}

/// A bijection of numbers that destroys their order: a step of SplitMix64.
fn scatter(number: u64) -> u64 {
    let mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

enum Source<'a> {
    Model(BoundNoise),
    Table(&'a [f64], f64),
}

impl Source<'_> {
    fn draw(&self, random: &mut Random) -> f64 {
        match self {
            Source::Model(noise) => noise.sample(random),
            Source::Table(errors, scale) => errors[random.below(errors.len())] * scale,
        }
    }
}

/// Adds presses at a rate per unit of time, between the first instance and the last.
fn anywhere(
    times: &[f64],
    rate: f64,
    random: &mut Random,
    presses: &mut Vec<(f64, Option<usize>)>,
) {
    let (Some(&first), Some(&last)) = (times.first(), times.last()) else { return };
    if rate == 0.0 {
        return;
    }
    // Exponential gaps of a Poisson process; a unit Gamma of shape one is exponential.
    let mut time = first + random.gamma(1.0) / rate;
    while time <= last {
        presses.push((time, None));
        time += random.gamma(1.0) / rate;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn many() -> (Vec<f64>, Vec<bool>) {
        let times = (0..40_000).map(|i| 10.0 * f64::from(i)).collect();
        let truth = (0..40_000).map(|i| i % 10 == 0).collect();
        (times, truth)
    }

    #[test]
    fn no_two_recordings_share_their_draws() {
        let seeds = [0, 1, 2, 7, u64::MAX / 1000, u64::MAX / 1000 + 1, u64::MAX - 1, u64::MAX];
        let all: std::collections::BTreeSet<u64> =
            seeds.iter().flat_map(|&seed| (0..5000).map(move |k| own_seed(seed, k))).collect();
        assert_eq!(all.len(), 5000 * seeds.len());
        // Published figures were drawn with these.
        assert_eq!((own_seed(3, 0), own_seed(3, 999)), (3000, 3999));
    }

    #[test]
    fn rates_and_delays_come_out_as_asked() {
        let (times, truth) = many();
        let annotator = Annotator {
            miss: 0.2,
            spurious: Spurious::PerInstance(0.01),
            ..Annotator::gaussian(0.5, 0.8)
        };
        let presses = annotator.press(&times, &truth, 1).unwrap();
        let hits: Vec<usize> =
            presses.sources.iter().flatten().copied().filter(|&i| truth[i]).collect();
        let slips = presses.sources.len() - hits.len();
        // Four standard errors of binomial counts of 4 000 and 36 000.
        assert!((hits.len() as f64 - 3200.0).abs() < 4.0 * (4000.0f64 * 0.2 * 0.8).sqrt());
        assert!((slips as f64 - 360.0).abs() < 4.0 * (36_000.0f64 * 0.01 * 0.99).sqrt());
        let delays: Vec<f64> = presses
            .stamps
            .iter()
            .zip(&presses.sources)
            .map(|(z, source)| z - times[source.unwrap()])
            .collect();
        let n = delays.len() as f64;
        let mean = delays.iter().sum::<f64>() / n;
        let variance = delays.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / n;
        assert!((mean - 0.5).abs() < 4.0 * 0.8 / n.sqrt(), "{mean}");
        assert!((variance.sqrt() - 0.8).abs() < 4.0 * 0.8 / (2.0 * n).sqrt(), "{variance}");
    }

    #[test]
    fn presses_per_hour_fall_anywhere() {
        let (times, truth) = many();
        let spurious = Spurious::PerHour { rate: 30.0, seconds_per_unit: 1.0 };
        let annotator = Annotator { miss: 1.0, spurious, ..Annotator::gaussian(0.0, 1.0) };
        let presses = annotator.press(&times, &truth, 2).unwrap();
        assert!(presses.sources.iter().all(Option::is_none));
        let expected = 30.0 * 399_990.0 / 3600.0;
        // Four standard deviations of a Poisson count.
        assert!((presses.stamps.len() as f64 - expected).abs() < 4.0 * expected.sqrt());
        assert!(presses.stamps.windows(2).all(|pair| pair[0] <= pair[1]));
    }

    #[test]
    fn a_table_is_drawn_from_and_scaled() {
        let (times, truth) = many();
        let delays = Delays::Table { errors: vec![-1.0, 2.0], scale: 0.5 };
        let annotator = Annotator { delays, ..Annotator::gaussian(0.0, 1.0) };
        let presses = annotator.press(&times, &truth, 3).unwrap();
        for (z, source) in presses.stamps.iter().zip(&presses.sources) {
            let delay = z - times[source.unwrap()];
            // Sums of small multiples of a half: exact.
            assert!(delay == -0.5 || delay == 1.0, "{delay}");
        }
    }

    #[test]
    fn a_session_shares_its_offset() {
        let annotator = Annotator { offset_spread: 5.0, ..Annotator::gaussian(0.0, 1e-9) };
        let presses = annotator.press(&[0.0, 100.0], &[true, true], 4).unwrap();
        assert!(presses.offset.abs() > 0.01);
        for (z, t) in presses.stamps.iter().zip([0.0, 100.0]) {
            // The delays themselves have a spread of 1e-9.
            assert!((z - t - presses.offset).abs() < 1e-7);
        }
    }

    #[test]
    fn the_same_seed_presses_the_same_and_rates_leave_delays_alone() {
        let (times, truth) = many();
        let all = Annotator::paper_spread(1.0).press(&times, &truth, 5).unwrap();
        assert_eq!(all, Annotator::paper_spread(1.0).press(&times, &truth, 5).unwrap());
        let some = Annotator::paper_pressed(0.7).press(&times, &truth, 5).unwrap();
        assert!(some.stamps.len() < all.stamps.len());
        assert!(some.stamps.iter().all(|z| all.stamps.contains(z)));
    }

    #[test]
    fn settings_out_of_range_are_named() {
        let annotator = Annotator { miss: 1.5, ..Annotator::gaussian(0.0, 1.0) };
        let error = annotator.press(&[0.0], &[true], 0).unwrap_err().to_string();
        assert_eq!(error, "miss is 1.5, expected a probability from 0 to 1");
        let annotator = Annotator::gaussian(0.0, -1.0);
        let error = annotator.press(&[0.0], &[true], 0).unwrap_err().to_string();
        assert_eq!(error, "noise.spread is -1, expected a number above 0");
    }

    #[test]
    fn every_recording_has_draws_of_its_own() {
        let (times, truth) = ((0..200).map(f64::from).collect::<Vec<_>>(), vec![true; 200]);
        let features = ndarray::Array2::<f64>::zeros((200, 1));
        let session = crate::Session::new("one", features, times, vec![]).unwrap();
        let recordings = vec![Recording { session, truth: Some(truth) }; 2];
        let annotator = Annotator::gaussian(0.0, 1.0);
        let stamps = |seed| -> Vec<Vec<f64>> {
            let all = annotator.annotate_all(&recordings, seed).unwrap();
            all.iter().map(|recording| recording.session.stamps().to_vec()).collect()
        };
        let (first, second) = (stamps(1), stamps(2));
        assert_ne!(first[0], first[1]);
        assert!(!second.contains(&first[0]) && !second.contains(&first[1]));
        assert_eq!(first, stamps(1));
    }
}
