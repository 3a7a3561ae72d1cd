//! Which sessions do not fit?
//!
//! The evidence of a session per stamp is compared with that of the others, by medians, so that a few bad
//! sessions do not hide each other. It scatters by the root of the number of stamps.

use serde::Serialize;

use super::distance::Distance;
use super::remedies::Remedy;
use crate::math::{median, student_t_quantile};

/// Sessions from which on they are compared.
const COMPARED: usize = 4;
/// Probability that a session that fits lies so far below the others that it is said not to.
const BY_CHANCE: f64 = 1e-3;
/// A median absolute deviation is as certain as the standard deviation of this share of the numbers.
const EFFICIENCY: f64 = 0.37;
/// A median absolute deviation times this is a standard deviation of normal numbers.
const NORMAL: f64 = 1.4826;

/// How a session fits.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SessionFit {
    /// Its name.
    pub session: String,
    /// The person or animal recorded.
    pub subject: Option<String>,
    /// Its stamps.
    pub stamps: usize,
    /// As many as the model expects.
    pub expected: f64,
    /// How many standard errors it has more than expected, given those before.
    pub surplus: f64,
    /// Log evidence per stamp; none without stamps.
    pub log_evidence_per_stamp: Option<f64>,
    /// How many deviations it lies above those of the others; none if there are few sessions.
    pub deviations: Option<f64>,
    /// Whether that is less than chance allows.
    pub is_far_below: bool,
    /// Gaps between stamps, in time that counts expected stamps.
    pub residuals: Distance,
    /// Delays of the stamps, beside the learned ones.
    pub delays: Distance,
    /// What would mend it, if it does not fit.
    pub remedy: Option<Remedy>,
}

impl SessionFit {
    /// Whether it is worth a look: below the others, or outside of a band, as one in ten is by chance.
    pub(super) fn is_suspect(&self) -> bool {
        let is_low = self.deviations.is_none_or(|own| own < -2.0);
        is_low || self.residuals.is_outside() || self.delays.is_outside()
    }

    /// Whether it does not fit: far below the others, or a simple change would mend it.
    pub fn is_odd(&self) -> bool {
        self.remedy.is_some() || self.is_far_below
    }
}

/// Evidence per stamp and its number, as deviations from the others.
pub(super) fn deviations(evidence: &[Option<(f64, usize)>]) -> Vec<Option<f64>> {
    let known = || evidence.iter().flatten();
    if known().count() < COMPARED {
        return vec![None; evidence.len()];
    }
    let middle = median(known().map(|(own, _)| *own).collect()).unwrap_or(0.0);
    let scaled = |own: &(f64, usize)| (own.0 - middle) * (own.1 as f64).sqrt();
    let typical = median(known().map(|own| scaled(own).abs()).collect()).unwrap_or(0.0);
    let deviations = |own: &(f64, usize)| scaled(own) / (NORMAL * typical);
    let found = |own: &Option<(f64, usize)>| own.as_ref().map(deviations);
    evidence.iter().map(|own| found(own).filter(|value| value.is_finite())).collect()
}

/// What deviations among so many sessions stay above: with few of them, the typical deviation is not well
/// known.
pub(super) fn lowest(sessions: usize) -> f64 {
    student_t_quantile(BY_CHANCE, EFFICIENCY * (sessions.max(2) as f64 - 1.0))
}

/// Worst first: those that a change would mend, by their gain, then by their evidence.
pub(super) fn rank(sessions: &mut [SessionFit]) {
    let key = |own: &SessionFit| {
        let gain = own.remedy.map_or(0.0, |remedy| remedy.gain());
        (-gain, own.deviations.unwrap_or(f64::INFINITY))
    };
    sessions.sort_by(|a, b| {
        let (a, b) = (key(a), key(b));
        a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1))
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deviations_are_those_of_the_median() {
        let evidence = [
            Some((-2.0, 4)),
            Some((-2.5, 4)),
            None,
            Some((-1.0, 4)),
            Some((-3.0, 1)),
            Some((-9.0, 4)),
        ];
        let found = deviations(&evidence);
        // Median −2.5; twice the differences, once that of one stamp: 1, 0, 3, ½ and 13, whose median is 1.
        let wanted = [1.0, 0.0, f64::NAN, 3.0, -0.5, -13.0].map(|own| own / NORMAL);
        for (found, wanted) in found.iter().zip(wanted) {
            assert!(found.is_none() == wanted.is_nan(), "{found:?}");
            assert!(found.is_none_or(|found| (found - wanted).abs() < 1e-12), "{found:?}");
        }
        assert_eq!(deviations(&evidence[..4]), vec![None; 4], "three are too few");
        let same = [Some((-2.0, 4)); 5];
        assert_eq!(deviations(&same), vec![None; 5], "nothing to compare by");
    }
}
