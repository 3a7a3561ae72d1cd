//! Settings of the simulation, and the two datasets of the paper.

use serde::{Deserialize, Serialize};

use crate::Result;
use crate::error::require;

/// Most breaths of a study: more than a year of them, some 15 GB.
const MAX_BREATHS: usize = 10_000_000;

/// Numbers and properties of the recordings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Respiration {
    /// Number of people; sessions are assigned to them in turn.
    pub subjects: usize,
    /// Number of recordings, each with one smoking episode.
    pub sessions: usize,
    /// Puffs in all recordings together, at most ten million.
    pub puffs: usize,
    /// Other breaths in all recordings together, at most ten million. As many cycles are found, to
    /// within a few per cent.
    pub negatives: usize,
    /// Similarity of puffs and other breaths: 0 (each puff is a full one, no sigh is held) to 1.
    pub overlap: f64,
    /// Share of the time spent talking, 0 to 0.9.
    pub talking: f64,
    /// Share of breaths that are sighs, 0 to 1.
    pub sighs: f64,
    /// Movements (spikes, shifts of the band) per minute.
    pub movements: f64,
    /// Losses of samples per minute; most of a quarter of a second, one in ten of one to five
    /// seconds.
    pub losses: f64,
    /// Standard deviation of the sensor's noise, as a share of the depth of an ordinary breath.
    pub noise: f64,
}

impl Default for Respiration {
    fn default() -> Self {
        Self::mpuff()
    }
}

impl Respiration {
    /// As large as the paper's mPuff: 4 subjects, 13 sessions, 179 puffs, 3 180 other breaths.
    pub fn mpuff() -> Self {
        Self {
            subjects: 4,
            sessions: 13,
            puffs: 179,
            negatives: 3180,
            overlap: 0.12,
            talking: 0.15,
            sighs: 0.03,
            movements: 0.5,
            losses: 0.5,
            noise: 0.02,
        }
    }

    /// As large as the paper's puffMarker: 6 subjects, 30 sessions, 305 puffs, 7 623 other breaths.
    pub fn puffmarker() -> Self {
        Self { subjects: 6, sessions: 30, puffs: 305, negatives: 7623, ..Self::mpuff() }
    }

    /// Sets the number of sessions; puffs and other breaths scale with it, and people without sessions
    /// are dropped.
    pub fn with_sessions(self, sessions: usize) -> Self {
        let scaled = |total| scaled(total, sessions, self.sessions, u128::div_euclid);
        Self {
            subjects: self.subjects.min(sessions),
            puffs: scaled(self.puffs),
            negatives: scaled(self.negatives),
            sessions,
            ..self
        }
    }

    /// Sets the number of people; each has about as many sessions as before, of the same kind.
    pub fn with_subjects(self, subjects: usize) -> Self {
        let sessions = scaled(self.sessions, subjects, self.subjects, u128::div_ceil);
        Self { subjects, ..self.with_sessions(sessions) }
    }

    /// Checks every setting.
    pub fn check(&self) -> Result<()> {
        // Sessions need breaths and subjects sessions, so these two bound all four.
        for (name, value) in [("puffs", self.puffs), ("negatives", self.negatives)] {
            require(name, value as f64, value <= MAX_BREATHS, "at most 10000000 in all")?;
        }
        let least = self.sessions.saturating_mul(20);
        let counts = [
            ("subjects", self.subjects, 1, "at least 1"),
            ("sessions", self.sessions, self.subjects, "at least one for each subject"),
            ("negatives", self.negatives, least, "at least 20 for each session"),
        ];
        for (name, value, least, expected) in counts {
            require(name, value as f64, value >= least, expected)?;
        }
        let shares = [
            ("overlap", self.overlap, 1.0, "a share from 0 to 1"),
            ("talking", self.talking, 0.9, "a share from 0 to 0.9"),
            ("sighs", self.sighs, 1.0, "a share from 0 to 1"),
        ];
        for (name, value, most, expected) in shares {
            require(name, value, (0.0..=most).contains(&value), expected)?;
        }
        let rates = [("movements", self.movements), ("losses", self.losses), ("noise", self.noise)];
        for (name, value) in rates {
            require(name, value, value >= 0.0, "a finite number of at least 0")?;
        }
        Ok(())
    }
}

/// `total` · `number` / `before`, or the largest number, which every check refuses.
fn scaled(total: usize, number: usize, before: usize, divide: fn(u128, u128) -> u128) -> usize {
    let scaled = divide(total as u128 * number as u128, before.max(1) as u128);
    usize::try_from(scaled).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_smaller_study_is_like_the_large_one() {
        let half = Respiration::puffmarker().with_subjects(3);
        assert_eq!((half.subjects, half.sessions, half.puffs, half.negatives), (3, 15, 152, 3811));
        assert_eq!(half.overlap, Respiration::puffmarker().overlap);
        // 13 sessions of four people: three and a quarter each.
        assert_eq!(Respiration::mpuff().with_subjects(2).sessions, 7);
        assert_eq!(Respiration::mpuff().with_subjects(4), Respiration::mpuff());
        let few = Respiration::mpuff().with_sessions(3);
        assert_eq!((few.subjects, few.sessions), (3, 3));
    }

    #[test]
    fn a_study_beyond_all_memory_is_refused() {
        let message = |options: Respiration| options.check().unwrap_err().to_string();
        let breaths = ", expected at most 10000000 in all";
        for number in [1 << 20, 1 << 60, usize::MAX] {
            assert!(message(Respiration::mpuff().with_sessions(number)).ends_with(breaths));
            assert!(message(Respiration::mpuff().with_subjects(number)).ends_with(breaths));
        }
        let many = Respiration { negatives: 1_000_000_000_000, ..Respiration::mpuff() };
        assert_eq!(message(many), format!("negatives is 1000000000000{breaths}"));
        let sessions = usize::MAX;
        let many = Respiration { sessions, ..Respiration::mpuff() };
        assert!(message(many).ends_with("expected at least 20 for each session"));
    }
}
