//! Warnings about the folds of a comparison.

use std::fmt;

use super::cross_validation::{Comparison, CrossValidation};
use super::folds::GroupBy;
use crate::Recording;

/// Folds whose scores are less informative than they seem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FoldWarning {
    /// There are fewer sessions or subjects than folds were asked for.
    FewerFolds {
        /// Requested folds.
        asked: usize,
        /// Actual folds, each with one group.
        found: usize,
        /// The unit that no fold splits.
        group_by: GroupBy,
    },
    /// Some folds have no positive instance.
    NoPositive {
        /// How many.
        count: usize,
        /// All folds.
        folds: usize,
    },
    /// Some folds have a single positive instance.
    OnePositive {
        /// How many.
        count: usize,
        /// All folds.
        folds: usize,
    },
}

impl fmt::Display for FoldWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::FewerFolds { asked, found, group_by } => {
                let things = match group_by {
                    GroupBy::Session => "sessions",
                    GroupBy::Subject => "subjects",
                };
                write!(f, "{found} folds instead of {asked}: there are only {found} {things}")
            }
            Self::NoPositive { count, folds } => write!(
                f,
                "{count} of {folds} folds have no positive instance, and F1 is 0 there whatever is \
                 found; fewer folds may help"
            ),
            Self::OnePositive { count, folds } => write!(
                f,
                "{count} of {folds} folds have a single positive instance, and F1 is all or nothing \
                 there; fewer folds may help"
            ),
        }
    }
}

impl Comparison {
    /// Warnings, given the requested cross-validation.
    pub fn warnings(&self, recordings: &[Recording], asked: &CrossValidation) -> Vec<FoldWarning> {
        let found = self.folds.len();
        let mut warnings = Vec::new();
        if found < asked.folds {
            let (asked, group_by) = (asked.folds, asked.group_by);
            warnings.push(FoldWarning::FewerFolds { asked, found, group_by });
        }
        let positives = |fold: &Vec<usize>| -> Option<usize> {
            let of =
                |&k: &usize| Some(recordings[k].truth.as_ref()?.iter().filter(|y| **y).count());
            fold.iter().map(of).sum()
        };
        let with = |count| self.folds.iter().filter(|fold| positives(fold) == Some(count)).count();
        match with(0) {
            0 => {}
            count => warnings.push(FoldWarning::NoPositive { count, folds: found }),
        }
        match with(1) {
            0 => {}
            count => warnings.push(FoldWarning::OnePositive { count, folds: found }),
        }
        warnings
    }
}
