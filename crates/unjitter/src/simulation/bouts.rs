//! Somebody who presses when an event begins and again when it ends, sloppily each time.
//!
//! An event is a run of positive instances: it begins at its first and ends at its last. Beginnings are those of an
//! [`Annotator`](super::Annotator); an event that is missed has neither end, and a press for nothing lasts as long as
//! some true event.

use serde::{Deserialize, Serialize};

use super::Presses;
use super::annotator::own_seed;
use super::sloppiness::Sloppiness;
use crate::error::require;
use crate::math::Random;
use crate::session::is_inside;
use crate::{Recording, Result};

/// How ends are pressed, in units.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EndSloppiness {
    /// Mean delay.
    pub delay: f64,
    /// Standard deviation of the delays, which are normal.
    pub spread: f64,
}

/// Bouts that one person pressed at these recordings, whose unit of time is `unit` long.
pub(super) fn annotate<'a>(
    sloppiness: &Sloppiness,
    ends: EndSloppiness,
    recordings: &[Recording<'a>],
    unit: f64,
    seed: u64,
) -> Result<Vec<Recording<'a>>> {
    require(
        "people",
        sloppiness.people as f64,
        sloppiness.people == 1,
        "1, where ends are pressed",
    )?;
    require("delay of ends", ends.delay, true, "a finite number")?;
    require("spread of ends", ends.spread, ends.spread >= 0.0, "a number of at least 0")?;
    let onsets = |recording: &Recording<'a>| {
        let mut truth = vec![false; recording.session.len()];
        recording.true_runs()?.iter().for_each(|&(first, _)| truth[first] = true);
        Ok(Recording { session: recording.session.clone(), truth: Some(truth) })
    };
    let of_onsets: Vec<Recording<'a>> = recordings.iter().map(onsets).collect::<Result<_>>()?;
    let annotator = sloppiness.annotator(&of_onsets, unit)?;
    let annotate = |(k, (recording, onsets)): (usize, (&Recording<'a>, &Recording<'a>))| {
        let (session, seed) = (&recording.session, own_seed(seed, k as u64));
        let (times, runs) = (session.times(), recording.true_runs()?);
        let presses = annotator.press(times, onsets.hand_labels()?, seed)?;
        let Presses { stamps, sources, offset, drift } = presses;
        let mut random = Random::new(!seed);
        let middle = 0.5 * (times[0] + times[times.len() - 1]);
        let mut bouts: Vec<(f64, f64)> = Vec::with_capacity(stamps.len());
        for (start, source) in stamps.into_iter().zip(sources) {
            let delay = unit * (ends.delay + ends.spread * random.normal());
            let run = source.and_then(|i| runs.binary_search_by_key(&i, |run| run.0).ok());
            let end = match run {
                Some(at) => {
                    let last = times[runs[at].1];
                    last + offset + drift * (last - middle) + delay
                }
                None if runs.is_empty() => start + unit,
                None => {
                    let (first, last) = runs[random.below(runs.len())];
                    start + times[last] - times[first] + delay
                }
            };
            bouts.push((start, end.max(start)));
        }
        if let Some(intervals) = session.observed() {
            bouts.retain(|&(start, _)| is_inside(intervals, start));
        }
        let (stamps, ends): (Vec<f64>, Vec<f64>) = bouts.into_iter().unzip();
        let session = session.clone().with_stamps(stamps)?;
        let session = session.with_ends(ends.into_iter().map(Some).collect())?;
        Ok(Recording { session, truth: recording.truth.clone() })
    };
    recordings.iter().zip(&of_onsets).enumerate().map(annotate).collect()
}

#[cfg(test)]
mod tests {
    use ndarray::Array2;

    use super::*;
    use crate::Session;

    #[test]
    fn both_ends_of_a_run_are_pressed_with_their_own_delays() {
        // Runs of five in every twenty.
        let count = 20_000;
        let times = (0..count).map(|i| 0.5 * i as f64).collect();
        let session = Session::new("s", Array2::<f64>::zeros((count, 1)), times, vec![]).unwrap();
        let truth = Some((0..count).map(|i| i % 20 < 5).collect());
        let recording = Recording { session, truth };
        let ends = EndSloppiness { delay: 2.0, spread: 1.0 };
        let sloppiness = Sloppiness {
            delay: 0.5,
            spread: 0.4,
            pressed: 0.8,
            extra: 0.1,
            ends: Some(ends),
            ..Sloppiness::default()
        };
        let made = sloppiness.annotate(&[recording], 0.5, 3).unwrap().swap_remove(0).session;
        let stamps = made.stamps().len() as f64;
        // A thousand runs: three standard errors of the number pressed and of the false ones.
        assert!((stamps - 900.0).abs() < 3.0 * (160.0_f64 + 100.0).sqrt(), "{stamps}");
        let phase = |time: f64| (time + 3.0).rem_euclid(10.0) - 3.0;
        let mut starts: Vec<f64> = made.stamps().iter().map(|&z| phase(z)).collect();
        let mut ends: Vec<f64> =
            (0..made.stamps().len()).map(|l| phase(made.end_of(l).unwrap())).collect();
        let median = |values: &mut Vec<f64>| {
            values.sort_by(f64::total_cmp);
            values[values.len() / 2]
        };
        // Medians, which one in nine presses for nothing hardly moves.
        assert!((median(&mut starts) - 0.25).abs() < 0.1 && (median(&mut ends) - 3.0).abs() < 0.15);
        let crowd = Sloppiness { people: 2, ..sloppiness };
        let refused = crowd.annotate(&[], 0.5, 3).unwrap_err().to_string();
        assert!(refused.contains("people is 2, expected 1"), "{refused}");
    }
}
