//! What to simulate, and the two datasets of the paper.

use serde::{Deserialize, Serialize};

use crate::Result;
use crate::error::require;

/// How many recordings of what.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Respiration {
    /// Number of people; sessions go round among them.
    pub subjects: usize,
    /// Number of recordings, each with one smoking episode.
    pub sessions: usize,
    /// Puffs in all recordings together.
    pub puffs: usize,
    /// Other breaths in all recordings together. As many cycles are found, to within a few per
    /// cent.
    pub negatives: usize,
    /// How much puffs and other breaths are alike: 0 (each puff is a full one, no sigh is held) to
    /// 1.
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

    /// So many sessions; puffs and other breaths go with them, and people without any go away.
    pub fn with_sessions(self, sessions: usize) -> Self {
        let scaled = |total: usize| total * sessions / self.sessions.max(1);
        Self {
            subjects: self.subjects.min(sessions),
            puffs: scaled(self.puffs),
            negatives: scaled(self.negatives),
            sessions,
            ..self
        }
    }

    /// So many people, each with about as many sessions as before, which are like those before.
    pub fn with_subjects(self, subjects: usize) -> Self {
        let sessions = (self.sessions * subjects).div_ceil(self.subjects.max(1));
        Self { subjects, ..self.with_sessions(sessions) }
    }

    /// Checks every setting.
    pub fn check(&self) -> Result<()> {
        let counts = [
            ("subjects", self.subjects, 1, "at least 1"),
            ("sessions", self.sessions, self.subjects, "at least one for each subject"),
            ("negatives", self.negatives, 20 * self.sessions, "at least 20 for each session"),
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
}
