//! Made-up chest-band recordings of people who smoke one cigarette, with every puff known.
//!
//! The recordings of the paper cannot be shared; these replace them. A recording is a sequence of
//! breaths, drawn as a curve and distorted by a sensor. Rate and depth wander, people talk and sigh, and
//! a puff is a breath drawn deeper, held, and released slowly, to some degree. The presets have the
//! numbers of subjects, sessions, puffs and other breaths of the paper's two datasets, and an overlap of
//! puffs and other breaths at which logistic regression on true labels reaches an F1 of about 0.8.

mod breaths;
mod options;
mod sensor;
mod waveform;

pub use options::Respiration;

use crate::math::Random;
use crate::signal::{CycleOptions, LabelledSession, Signal, session_from_signal};
use crate::{Control, Result};
use breaths::{Breath, Subject};

/// Rate of the sensor, in Hz.
const RATE: f64 = 20.0;

/// How far the start of a detected cycle may lie from the true beginning of a puff, in seconds.
///
/// Inhalation is found where a tenth of it is done, or early where the baseline rises before it; a
/// whole breath is further away.
const TOLERANCE: f64 = 1.5;

/// One simulated recording and its truth.
#[derive(Debug, Clone, PartialEq)]
pub struct ChestBand {
    /// Name of the session.
    pub name: String,
    /// The person recorded.
    pub subject: String,
    /// The raw signal, 20 Hz with losses, in seconds from the start and counts of a converter.
    pub signal: Signal,
    /// Beginning of the inhalation of each puff, in seconds.
    pub puffs: Vec<f64>,
}

impl ChestBand {
    /// Cycles, features and true labels of the recording; puffs without a cycle that begins near are
    /// reported as missed.
    pub fn session(&self, options: &CycleOptions) -> Result<LabelledSession> {
        let mut labelled =
            session_from_signal(&self.name, &self.signal, &self.puffs, options, TOLERANCE)?;
        labelled.session = labelled.session.with_subject(&self.subject);
        Ok(labelled)
    }
}

impl Respiration {
    /// The recordings that belong to `seed`.
    pub fn simulate(&self, seed: u64, control: Control<'_>) -> Result<Vec<ChestBand>> {
        self.check()?;
        let mut random = Random::new(seed);
        let people: Vec<Subject> = (0..self.subjects).map(|_| Subject::new(&mut random)).collect();
        let puffs = split(self.puffs, self.sessions, &mut random);
        let others = split(self.negatives, self.sessions, &mut random);
        (0..self.sessions)
            .map(|k| {
                control.stop_if_requested()?;
                let person = k % self.subjects;
                let breaths =
                    breaths::sequence(&people[person], puffs[k], others[k], self, &mut random);
                let (times, values) = record(&people[person], &breaths, self, &mut random);
                let band = ChestBand {
                    name: format!("session-{:02}", k + 1),
                    subject: format!("subject-{}", person + 1),
                    signal: Signal::new(times, values)?,
                    puffs: puff_times(&breaths),
                };
                control.tell(k + 1, self.sessions, None);
                Ok(band)
            })
            .collect()
    }
}

fn puff_times(breaths: &[Breath]) -> Vec<f64> {
    breaths.iter().filter(|breath| breath.is_puff).map(|breath| breath.start).collect()
}

/// The sensor's recording of `breaths`.
fn record(
    subject: &Subject,
    breaths: &[Breath],
    options: &Respiration,
    random: &mut Random,
) -> (Vec<f64>, Vec<f64>) {
    let curve = waveform::draw(breaths, RATE);
    sensor::Sensor::new(subject, breaths, options).deliver(&curve, random)
}

/// `total` shared between `parts` in proportion to random weights from 0.6 to 1.4.
fn split(total: usize, parts: usize, random: &mut Random) -> Vec<usize> {
    let weights: Vec<f64> = (0..parts).map(|_| 0.6 + 0.8 * random.uniform()).collect();
    let sum: f64 = weights.iter().sum();
    let mut reached = 0.0;
    let mut given = 0;
    weights
        .iter()
        .map(|weight| {
            reached += weight;
            let upto = (total as f64 * (reached / sum)).round() as usize;
            let share = upto - given;
            given = upto;
            share
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_add_up() {
        let mut random = Random::new(4);
        for (total, parts) in [(179, 13), (0, 3), (2, 7), (7623, 30)] {
            let shares = split(total, parts, &mut random);
            assert_eq!((shares.len(), shares.iter().sum::<usize>()), (parts, total));
        }
    }
}
