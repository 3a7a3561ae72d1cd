//! Which of several options is taken, by the evidence of the stamps of sessions that were left out.
//!
//! Evidence differs from session to session far more than between options, so options are compared session
//! by session: with the best, as a mean difference and its standard error. Those within one standard error of
//! the best are equal, and the simplest of them is taken (Breiman et al. 1984, *Classification and Regression
//! Trees*, section 3.4.3): a lead by chance is no reason for a weaker prior or for more parameters.

use serde::{Deserialize, Serialize};

pub use crate::outcome::HeldOut;

/// How simple an option is. The simpler of two has fewer parameters to learn; of as many, the stronger
/// regularisation; of the same, it was given first.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Simplicity {
    /// Numbers that are learned.
    pub parameters: usize,
    /// Precision of the prior on weights.
    pub weight_precision: f64,
}

impl Simplicity {
    fn is_simpler(&self, other: &Self) -> bool {
        (self.parameters, -self.weight_precision) < (other.parameters, -other.weight_precision)
    }
}

/// An option of a learner, and how it did on sessions that were left out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CandidateResult {
    /// The learner's options.
    pub options: serde_json::Value,
    /// How simple it is.
    pub simplicity: Simplicity,
    /// How much less log evidence it has than the best, per session (or subject); none if the stamps of
    /// some session are impossible.
    pub behind: Option<HeldOut>,
    /// Folds that took it.
    pub chosen: usize,
}

/// Log evidence per session that nobody would choose by, however regular it is: odds of a hundredth.
const NOTHING: f64 = 0.01;

/// Whether something so far behind the best counts as equal to it.
pub fn is_equal(behind: &HeldOut) -> bool {
    behind.mean <= behind.standard_error.max(NOTHING)
}

/// How much less evidence each has than the best, session by session; none where it has none.
pub(super) fn behind_best(evidence: &[Option<Vec<f64>>]) -> Vec<Option<HeldOut>> {
    let sum = |own: &Vec<f64>| own.iter().sum::<f64>();
    let best = evidence.iter().flatten().max_by(|a, b| sum(a).total_cmp(&sum(b)));
    evidence.iter().map(|own| Some(HeldOut::difference(best?, own.as_ref()?))).collect()
}

/// The simplest of those that are equal to the best; the first if none has evidence.
pub(super) fn simplest(behind: &[Option<HeldOut>], simplicity: &[Simplicity]) -> usize {
    let is_best = |k: &usize| behind[*k].as_ref().is_some_and(is_equal);
    let equal = (0..behind.len()).filter(is_best);
    let simpler =
        |kept: usize, k: usize| if simplicity[k].is_simpler(&simplicity[kept]) { k } else { kept };
    equal.reduce(simpler).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Random;

    /// Sessions that differ a lot, and options that are behind by so much on average.
    fn evidence(behind: &[f64], noise: f64) -> Vec<Option<Vec<f64>>> {
        let mut random = Random::new(3);
        let sessions: Vec<f64> = (0..40).map(|_| -100.0 + 30.0 * random.normal()).collect();
        let mut of = |behind: &f64| {
            sessions.iter().map(|own| own - behind + noise * random.normal()).collect()
        };
        behind.iter().map(|own| Some(of(own))).collect()
    }

    fn precisions(of: &[f64]) -> Vec<Simplicity> {
        let one = |&weight_precision: &f64| Simplicity { parameters: 5, weight_precision };
        of.iter().map(one).collect()
    }

    #[test]
    fn the_simplest_of_equals_is_taken_and_not_a_clearly_worse_one() {
        // Pairs leave a standard error of 1.4/√40 = 0.22 where single sessions would leave 4.7.
        let behind = behind_best(&evidence(&[0.0, 0.05, 2.0], 1.0));
        assert!(behind.iter().flatten().all(|own| own.standard_error < 0.5), "{behind:?}");
        assert_eq!(simplest(&behind, &precisions(&[0.1, 1.0, 10.0])), 1, "{behind:?}");
        assert_eq!(simplest(&behind, &precisions(&[1.0, 0.1, 10.0])), 0);
        // Fewer parameters count for more than a stronger prior.
        let mut simplicity = precisions(&[1.0, 10.0, 100.0]);
        simplicity[0].parameters = 4;
        assert_eq!(simplest(&behind, &simplicity), 0);
        // Of the same, the first.
        assert_eq!(simplest(&behind, &precisions(&[1.0, 1.0, 1.0])), 0);
    }

    #[test]
    fn the_best_is_behind_by_nothing() {
        let behind = behind_best(&evidence(&[3.0, 0.0], 0.0));
        let best = behind[1].unwrap();
        assert_eq!((best.mean, best.standard_error), (0.0, 0.0));
        assert!(is_equal(&best));
        let other = behind[0].unwrap();
        assert!((other.mean - 3.0).abs() < 1e-12 && !is_equal(&other), "{other:?}"); // rounding
    }

    #[test]
    fn what_is_impossible_is_not_taken() {
        let mut all = evidence(&[0.0, 0.0], 0.1);
        all[0] = None;
        let behind = behind_best(&all);
        assert!(behind[0].is_none());
        assert_eq!(simplest(&behind, &precisions(&[10.0, 1.0])), 1);
        assert_eq!(simplest(&behind_best(&[None, None]), &precisions(&[10.0, 1.0])), 0);
    }
}
