//! The smallest and largest values of a recording in stretches of every length.
//!
//! A view of hours has more samples than pixels. Each level has the extremes of four stretches of the level
//! below, so a view of any length reads some thousand numbers. Built once, in one pass; a third of a double for
//! every sample, since the extremes are kept in single precision.

use serde::Serialize;

use crate::report::downsample::typical_step;

/// Stretches of a level that one of the next level spans.
const FANOUT: usize = 4;
/// A pause of this many typical sampling steps is a gap.
const GAP_STEPS: f64 = 5.0;

/// Extremes of one channel; the samples themselves stay where they are.
#[derive(Debug)]
pub(crate) struct Pyramid {
    /// Lowest and highest of each stretch; NaN where nothing was measured.
    levels: Vec<Vec<[f32; 2]>>,
    step: f64,
}

/// A channel as the page draws it: between the two values at each time.
#[derive(Debug, Default, PartialEq, Serialize)]
pub(crate) struct Envelope {
    pub(crate) name: String,
    pub(crate) times: Vec<f64>,
    /// Nothing where there is a gap.
    pub(crate) low: Vec<Option<f64>>,
    pub(crate) high: Vec<Option<f64>>,
}

impl Pyramid {
    /// That of a channel.
    pub(crate) fn new(times: &[f64], values: &[f64]) -> Self {
        let mut levels: Vec<Vec<[f32; 2]>> = Vec::new();
        if values.len() > FANOUT {
            let of = |some: &[f64]| merged(some.iter().map(|value| [*value as f32; 2]));
            levels.push(values.chunks(FANOUT).map(of).collect());
        }
        while let Some(below) = levels.last().filter(|level| level.len() > FANOUT) {
            let next = below.chunks(FANOUT).map(|some| merged(some.iter().copied())).collect();
            levels.push(next);
        }
        Self { levels, step: usual_step(times) }
    }

    /// What is to be drawn from one time to another on so many pixels: at most some two points for each, and one
    /// more for each gap. `times` and `values` are those that the pyramid was built of.
    pub(crate) fn envelope(
        &self,
        (times, values): (&[f64], &[f64]),
        (from, to): (f64, f64),
        pixels: usize,
    ) -> Envelope {
        // One sample more on each side, so that the line reaches the edges.
        let first = times.partition_point(|time| *time < from).saturating_sub(1);
        let end = (times.partition_point(|time| *time <= to) + 1).min(times.len());
        let mut size = 1;
        let mut level = None;
        for k in 0..self.levels.len() {
            if (end - first) / (size * FANOUT) < 2 * pixels.max(1) {
                break;
            }
            (size, level) = (size * FANOUT, Some(k));
        }
        let stretch = |k: usize| match level {
            Some(level) => self.levels[level][k].map(f64::from),
            None => [values[k]; 2],
        };
        // Points per pixel as the levels have them, up to eight, become one.
        let width = (to - from) / pixels.max(1) as f64;
        let mut envelope = Envelope::default();
        let mut open: Option<(f64, f64, [f64; 2])> = None;
        for k in first / size..end.div_ceil(size) {
            let (start, last) = (times[k * size], times[((k + 1) * size).min(times.len()) - 1]);
            let own = stretch(k);
            match &mut open {
                Some((at, until, range)) => {
                    let gap = GAP_STEPS * self.step;
                    if start - *until > gap {
                        envelope.push(*at, *range);
                        envelope.push(*until + gap / 2.0, [f64::NAN; 2]);
                        open = Some((start, last, own));
                    } else if size > 1
                        && last - *at <= width
                        && range[0].is_nan() == own[0].is_nan()
                    {
                        *range = [range[0].min(own[0]), range[1].max(own[1])];
                        *until = last;
                    } else {
                        envelope.push(*at, *range);
                        open = Some((start, last, own));
                    }
                }
                None => open = Some((start, last, own)),
            }
        }
        if let Some((at, _, range)) = open {
            envelope.push(at, range);
        }
        envelope
    }
}

impl Envelope {
    fn push(&mut self, time: f64, [low, high]: [f64; 2]) {
        let finite = |value: f64| value.is_finite().then_some(value);
        self.times.push(time);
        self.low.push(finite(low));
        self.high.push(finite(high));
    }
}

/// Lowest and highest of several stretches, of what was measured.
fn merged(some: impl Iterator<Item = [f32; 2]>) -> [f32; 2] {
    some.fold([f32::NAN; 2], |range, own| [range[0].min(own[0]), range[1].max(own[1])])
}

fn usual_step(times: &[f64]) -> f64 {
    // A thousand steps from all over are enough for a median.
    let every = (times.len() / 1000).max(1);
    typical_step(times.windows(2).step_by(every).map(|pair| pair[1] - pair[0]))
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    fn clock(length: usize) -> Vec<f64> {
        (0..length).map(|i| i as f64 * 0.01).collect()
    }

    #[test]
    fn extremes_of_every_stretch_are_drawn() {
        for length in [1, 3, 5, 100, 10_007] {
            let times = clock(length);
            let values: Vec<f64> = (0..length).map(|i| ((i * 7919) % 1009) as f64).collect();
            let pyramid = Pyramid::new(&times, &values);
            for (from, to, pixels) in
                [(0.0, 100.0, 50), (0.02, 0.03, 100), (20.0, 61.3, 10), (-5.0, 500.0, 7)]
            {
                let found = pyramid.envelope((&times, &values), (from, to), pixels);
                assert!(found.times.len() <= 8 * pixels + 2, "{} points", found.times.len());
                assert!(found.times.is_sorted());
                let inside = || times.iter().zip(&values).filter(|(t, _)| (from..=to).contains(*t));
                let highest = inside().map(|(_, v)| *v).fold(f64::NEG_INFINITY, f64::max);
                let lowest = inside().map(|(_, v)| *v).fold(f64::INFINITY, f64::min);
                let drawn = |values: &[Option<f64>], of: fn(f64, f64) -> f64| {
                    values.iter().flatten().copied().reduce(of)
                };
                if inside().next().is_some() {
                    assert!(
                        drawn(&found.high, f64::max).unwrap() >= highest,
                        "{length} {from} {to}"
                    );
                    assert!(drawn(&found.low, f64::min).unwrap() <= lowest, "{length} {from} {to}");
                }
            }
        }
        assert_eq!(Pyramid::new(&[], &[]).envelope((&[], &[]), (0.0, 1.0), 10).times.len(), 0);
    }

    #[test]
    fn what_was_not_measured_is_a_gap() {
        let mut times = clock(4000);
        times[2000..].iter_mut().for_each(|time| *time += 30.0);
        let mut values = vec![1.0; 4000];
        values[500..1000].fill(f64::NAN);
        let pyramid = Pyramid::new(&times, &values);
        let found = pyramid.envelope((&times, &values), (0.0, 80.0), 100);
        let at = |time: f64| {
            let after = found.times.partition_point(|t| *t <= time);
            found.low[after - 1]
        };
        assert_eq!(
            [at(2.0), at(7.5), at(15.0), at(35.0), at(60.0)],
            [Some(1.0), None, Some(1.0), None, Some(1.0)]
        );
    }

    #[test]
    fn ten_million_samples_answer_in_milliseconds() {
        let times = clock(10_000_000);
        let values: Vec<f64> = times.iter().map(|t| (t * 3.1).sin()).collect();
        let pyramid = Pyramid::new(&times, &values);
        let begun = Instant::now();
        for k in 0..20 {
            let (from, to) = (f64::from(k) * 10.0, 100_000.0 / f64::from(k * k + 1));
            let found = pyramid.envelope((&times, &values), (from, to), 1000);
            assert!(found.times.len() < 8002);
        }
        assert!(begun.elapsed() < Duration::from_millis(400), "{:?} for 20 views", begun.elapsed());
    }
}
