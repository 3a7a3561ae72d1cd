//! Made-up wearables: sliding windows of movement, in which something is done for a while now and then.
//!
//! One event covers many windows, and neighbouring windows share samples, as where people cut recordings for a
//! detector. A sensor on two axes of shaking and one of tilt moves more, and leans, while something is done; but it also
//! shakes for a moment at other times, its tilt wanders, and people differ in how strongly they move. So a single window
//! often tells little, and the windows around it tell more.

use ndarray::Array2;
use serde::{Deserialize, Serialize};

use super::annotator::own_seed;
use crate::error::require;
use crate::math::{Random, quantile};
use crate::{Control, Recording, Result, Session};

/// Samples of the sensor per second.
const RATE: f64 = 20.0;
/// Length of a window in seconds, and in samples.
const WINDOW: f64 = 1.0;
const WIDE: usize = 20;
/// Nothing is done for this long after something was, and at both ends of a recording, in seconds.
const PAUSE: f64 = 3.0;
/// Most samples of a study: some 10 GB.
const MAX_SAMPLES: f64 = 1e8;

/// Names of the features of a window: mean and logarithm of the standard deviation of each axis.
pub const WEARABLE_FEATURES: [&str; 6] =
    ["x_mean", "y_mean", "tilt_mean", "x_log_sd", "y_log_sd", "tilt_log_sd"];

/// Numbers and properties of the recordings. Times are in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Wearable {
    /// Number of people, each with one recording.
    pub people: usize,
    /// Length of a recording.
    pub seconds: f64,
    /// How many windows begin in a second; each is a second long.
    pub windows_per_second: f64,
    /// The shortest time that something is done for.
    pub shortest: f64,
    /// The longest.
    pub longest: f64,
    /// Mean time from the end of one event to the beginning of the next, above 3.
    pub apart: f64,
}

impl Default for Wearable {
    /// 24 people for 400 seconds at four windows per second, about thirteen events of two to ten seconds each.
    fn default() -> Self {
        Self {
            people: 24,
            seconds: 400.0,
            windows_per_second: 4.0,
            shortest: 2.0,
            longest: 10.0,
            apart: 25.0,
        }
    }
}

impl Wearable {
    /// The recordings that belong to `seed`, with the label of every window and without stamps. A window is positive if
    /// something is done in its middle, which is also its time.
    pub fn simulate(&self, seed: u64, control: Control<'_>) -> Result<Vec<Recording<'static>>> {
        self.check()?;
        let recording = |k: usize| {
            control.stop_if_requested()?;
            let recording = self.recording(k, &mut Random::new(own_seed(seed, k as u64)))?;
            control.tell(k + 1, self.people, None);
            Ok(recording)
        };
        (0..self.people).map(recording).collect()
    }

    fn check(&self) -> Result<()> {
        let least = 2.0 * PAUSE + self.longest;
        let samples = self.people as f64 * self.seconds * RATE.max(self.windows_per_second);
        let above = "a number above 0";
        require("people", self.people as f64, self.people > 0, "at least 1")?;
        require("shortest", self.shortest, self.shortest > 0.0, above)?;
        require("longest", self.longest, self.longest >= self.shortest, "at least `shortest`")?;
        require("apart", self.apart, self.apart > PAUSE, "a time above 3 seconds")?;
        require("seconds", self.seconds, self.seconds > least, "6 seconds more than `longest`")?;
        let rate = self.windows_per_second;
        require("windows_per_second", rate, rate > 0.0 && rate <= RATE, "a rate up to 20")?;
        require("people × seconds", samples, samples <= MAX_SAMPLES, "at most 5000000 in all")
    }

    fn recording(&self, k: usize, random: &mut Random) -> Result<Recording<'static>> {
        let events = self.events(random);
        let axes = movement((self.seconds * RATE) as usize, &events, random);
        let starts = (self.seconds - WINDOW) * self.windows_per_second;
        let starts: Vec<f64> =
            (0..starts.ceil() as usize).map(|i| i as f64 / self.windows_per_second).collect();
        let features = Array2::from_shape_fn((starts.len(), 6), |(i, column)| {
            let first = ((starts[i] * RATE) as usize).min(axes[0].len() - WIDE);
            let (mean, log_sd) = summary(&axes[column % 3][first..first + WIDE]);
            if column < 3 { mean } else { log_sd }
        });
        let times: Vec<f64> = starts.iter().map(|start| start + 0.5 * WINDOW).collect();
        let truth = times.iter().map(|&time| is_in(&events, time)).collect();
        let name = format!("person-{:02}", k + 1);
        let session = Session::new(name.as_str(), features, times, vec![])?.with_subject(&name);
        Ok(Recording { session, truth: Some(truth) })
    }

    /// When each event begins and ends.
    fn events(&self, random: &mut Random) -> Vec<(f64, f64)> {
        let (mut events, mut at) = (Vec::new(), 0.0);
        loop {
            // A unit Gamma of shape one is exponential.
            at += PAUSE + (self.apart - PAUSE) * random.gamma(1.0);
            let length = self.shortest + (self.longest - self.shortest) * random.uniform();
            if at + length > self.seconds - PAUSE {
                return events;
            }
            events.push((at, at + length));
            at += length;
        }
    }
}

/// Whether something is done at this time.
fn is_in(events: &[(f64, f64)], time: f64) -> bool {
    let begun = events.partition_point(|&(begin, _)| begin <= time);
    begun > 0 && time < events[begun - 1].1
}

/// What the sensor records on its three axes.
fn movement(samples: usize, events: &[(f64, f64)], random: &mut Random) -> [Vec<f64>; 3] {
    let seconds = samples as f64 / RATE;
    let strength = (0.25 * random.normal()).exp();
    // Moments of other movement, about four in a minute.
    let (mut others, mut at) = (Vec::new(), 0.0);
    while at < seconds {
        at += 15.0 * random.gamma(1.0);
        others.push((at, at + random.gamma(1.0)));
        at = others[others.len() - 1].1;
    }
    let (mut x, mut y, mut tilt) = (Vec::new(), Vec::new(), Vec::new());
    let mut wander = 0.0;
    for sample in 0..samples {
        let time = sample as f64 / RATE;
        let is_done = is_in(events, time);
        let effort = match is_done {
            true => 0.9 * strength,
            false if is_in(&others, time) => 0.9,
            false => 0.0,
        };
        let shaken = (0.5 * effort).exp();
        x.push(shaken * random.normal());
        y.push(shaken * random.normal());
        wander += 0.027 * random.normal();
        tilt.push(wander + if is_done { 0.8 } else { 0.0 } + 1.2 * random.normal());
    }
    // How the sensor is worn is no part of what is done.
    let mut sorted = tilt.clone();
    sorted.sort_by(f64::total_cmp);
    let median = quantile(&sorted, 0.5);
    tilt.iter_mut().for_each(|value| *value -= median);
    [x, y, tilt]
}

/// Mean, and logarithm of the standard deviation.
fn summary(window: &[f64]) -> (f64, f64) {
    let count = window.len() as f64;
    let mean = window.iter().sum::<f64>() / count;
    let square = window.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count;
    (mean, 0.5 * square.ln())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_last_as_long_and_are_as_far_apart_as_asked() {
        let asked = Wearable { windows_per_second: 10.0, ..Wearable::default() };
        let recordings = asked.simulate(1, Control::default()).unwrap();
        assert_eq!(recordings.len(), 24);
        let (mut count, mut total) = (0.0, 0.0);
        for recording in &recordings {
            let (session, times) = (&recording.session, recording.session.times());
            // 399 seconds of beginnings at ten a second, and the middle of the first window.
            assert_eq!((session.len(), times[0]), (3990, 0.5));
            for (first, last) in recording.true_runs().unwrap() {
                let length = times[last] - times[first];
                // Windows see up to one step less than there is.
                assert!((1.8..=10.0).contains(&length), "{length}");
                (count, total) = (count + 1.0, total + length + 0.1);
            }
        }
        // Lengths are uniform on 2..10: four standard errors of their mean.
        let mean: f64 = total / count;
        assert!((mean - 6.0).abs() < 4.0 * 8.0 / 12f64.sqrt() / count.sqrt(), "{mean}");
        // One event every 31 seconds; the last of a recording may not fit. Four standard errors of a renewal count.
        let expected = 24.0 * (400.0 - 6.0 - 6.0) / 31.0;
        assert!(
            (count - expected).abs() < 4.0 * (expected * 0.55f64).sqrt(),
            "{count}, {expected}"
        );
    }

    #[test]
    fn movement_tells_of_events_on_average_but_not_in_every_window() {
        let recordings = Wearable::default().simulate(2, Control::default()).unwrap();
        let (mut inside, mut outside) = (Vec::new(), Vec::new());
        for Recording { session, truth } in &recordings {
            for (i, &is_done) in truth.as_ref().unwrap().iter().enumerate() {
                let moved = session.features().row(i)[3];
                if is_done { inside.push(moved) } else { outside.push(moved) }
            }
        }
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        // The logarithm of the deviation rises by 0.45 on average, less at the edges, and falls short of that in many windows.
        let rise = mean(&inside) - mean(&outside);
        assert!((0.3..0.5).contains(&rise), "{rise}");
        let low = inside.iter().filter(|&&moved| moved < mean(&outside) + 0.5 * rise).count();
        assert!((0.1..0.4).contains(&(low as f64 / inside.len() as f64)), "{low}");
    }

    #[test]
    fn people_and_seeds_have_draws_of_their_own() {
        let few = Wearable { people: 2, seconds: 60.0, ..Wearable::default() };
        let features = |seed: u64| -> Vec<f64> {
            let all = few.simulate(seed, Control::default()).unwrap();
            all.iter().map(|own| own.session.features().row(0)[0]).collect()
        };
        assert_eq!(features(1), features(1));
        assert!(features(1)[0] != features(1)[1] && features(1)[0] != features(2)[0]);
        // More people change nothing of those there are.
        let more = Wearable { people: 3, ..few }.simulate(1, Control::default()).unwrap();
        assert_eq!(more[1].session, few.simulate(1, Control::default()).unwrap()[1].session);
    }

    #[test]
    fn settings_out_of_range_are_named() {
        let plain = Wearable::default();
        for (settings, expected) in [
            (Wearable { people: 0, ..plain }, "people is 0, expected at least 1"),
            (Wearable { seconds: 16.0, ..plain }, "seconds is 16, expected 6 seconds more"),
            (Wearable { longest: 1.0, ..plain }, "longest is 1, expected at least `shortest`"),
            (Wearable { shortest: -1.0, ..plain }, "shortest is -1, expected a number above 0"),
            (Wearable { apart: 3.0, ..plain }, "apart is 3, expected a time above 3 seconds"),
            (Wearable { windows_per_second: 21.0, ..plain }, "windows_per_second is 21, expected"),
            (Wearable { seconds: f64::NAN, ..plain }, "seconds is NaN"),
            (Wearable { seconds: 1e9, ..plain }, "people × seconds is "),
        ] {
            let error = settings.simulate(0, Control::default()).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
