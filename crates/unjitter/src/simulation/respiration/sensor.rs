//! A chest band: gain, drift, heart, noise, movements and losses.
//!
//! Movements and losses keep clear of puffs, so that each puff stays one cycle and their number is as requested.

use std::f64::consts::TAU;

use super::breaths::{Breath, Subject};
use super::{RATE, Respiration};
use crate::math::Random;

/// Time constant of the baseline's drift, in seconds.
const DRIFT_TIME: f64 = 40.0;
/// Its standard deviation, in ordinary breaths.
const DRIFT: f64 = 0.15;
/// Time constant of a shifted band, in seconds.
const SETTLING: f64 = 8.0;
/// Amplitude of the heart beat, in ordinary breaths.
const HEART: f64 = 0.03;

/// A chest band on one person in one session.
#[derive(Debug)]
pub(super) struct Sensor<'a> {
    subject: &'a Subject,
    options: &'a Respiration,
    /// Intervals without movements and losses: the puffs and the breath on each side, in seconds.
    spared: Vec<(f64, f64)>,
}

impl<'a> Sensor<'a> {
    pub(super) fn new(subject: &'a Subject, breaths: &[Breath], options: &'a Respiration) -> Self {
        let around = |three: &[Breath]| (three[0].start, three[2].end());
        let spared = breaths.windows(3).filter(|three| three[1].is_puff).map(around).collect();
        Self { subject, options, spared }
    }

    /// Times and values of the samples delivered for a `curve` of fullness.
    pub(super) fn deliver(&self, curve: &[f64], random: &mut Random) -> (Vec<f64>, Vec<f64>) {
        let mut values = self.disturb(curve, random);
        self.move_about(&mut values, random);
        let is_lost = self.losses(values.len(), random);
        let gain = |value: f64| (self.subject.level + self.subject.gain * value).round();
        let delivered = (0..values.len()).filter(|&k| !is_lost[k]);
        delivered.map(|k| (k as f64 / RATE, gain(values[k]))).unzip()
    }

    /// Adds drift, heart beat and noise.
    fn disturb(&self, curve: &[f64], random: &mut Random) -> Vec<f64> {
        let memory = (-1.0 / (DRIFT_TIME * RATE)).exp();
        let fresh = (1.0 - memory * memory).sqrt() * DRIFT;
        let mut drift = DRIFT * random.normal();
        let mut beat = random.uniform();
        let heart_rate = 1.0 + 0.4 * random.uniform();
        let sample = |&value: &f64| {
            drift = memory * drift + fresh * random.normal();
            beat += heart_rate / RATE;
            let heart = HEART * (TAU * beat).sin();
            value + drift + heart + self.options.noise * random.normal()
        };
        curve.iter().map(sample).collect()
    }

    /// Adds spikes of one to three samples, and shifts of the band that settle.
    fn move_about(&self, values: &mut [f64], random: &mut Random) {
        for at in self.moments(values.len(), self.options.movements, random) {
            let side = if random.uniform() < 0.5 { -1.0 } else { 1.0 };
            let height = side * (0.5 + 1.5 * random.uniform());
            let (length, decay) = if random.uniform() < 0.7 {
                (1 + random.below(3), 0.0)
            } else {
                (values.len(), 1.0 / (SETTLING * RATE))
            };
            for (age, value) in values.iter_mut().skip(at).take(length).enumerate() {
                *value += height * (-(age as f64) * decay).exp();
            }
        }
    }

    /// Samples that are lost.
    fn losses(&self, count: usize, random: &mut Random) -> Vec<bool> {
        let mut is_lost = vec![false; count];
        for at in self.moments(count, self.options.losses, random) {
            let seconds = if random.uniform() < 0.9 { 0.25 } else { 1.0 + 4.0 * random.uniform() };
            let end = (at + (seconds * RATE) as usize).min(self.next_spared(at)).min(count);
            is_lost[at..end].fill(true);
        }
        is_lost
    }

    /// Samples of random events, `per_minute` on average, none of them spared.
    fn moments(&self, count: usize, per_minute: f64, random: &mut Random) -> Vec<usize> {
        let chance = per_minute / (60.0 * RATE);
        let is_spared = |k: usize| {
            let time = k as f64 / RATE;
            self.spared.iter().any(|&(from, to)| (from..to).contains(&time))
        };
        (0..count).filter(|&k| random.uniform() < chance && !is_spared(k)).collect()
    }

    /// The first spared sample after `at`, or one beyond any recording.
    fn next_spared(&self, at: usize) -> usize {
        let time = at as f64 / RATE;
        let next = self.spared.iter().map(|&(from, _)| from).find(|&from| from > time);
        next.map_or(usize::MAX, |from| (from * RATE) as usize)
    }
}
