//! The small version of an experiment: the same questions in seconds.

use serde::{Deserialize, Serialize};
use unjitter_cli::learners::Kind;

use crate::datasets::Simulated;
use crate::spec::Spec;

/// Replacements for the quick version; values that are not given stay.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Quick {
    /// Simulated datasets.
    pub datasets: Option<Vec<Simulated>>,
    /// Seeds.
    pub seeds: Option<Vec<u64>>,
    /// Only the first so many sessions of each dataset.
    pub sessions: Option<usize>,
    /// Outer folds.
    pub folds: Option<usize>,
    /// Inner folds.
    pub inner_folds: Option<usize>,
    /// Values of the sweep.
    pub values: Option<Vec<f64>>,
    /// Grid of every learner.
    pub weight_precision: Option<Vec<f64>>,
    /// Grid of multiple-instance learners.
    pub bag_size: Option<Vec<usize>>,
}

impl Quick {
    /// The quick version of `spec`.
    pub(crate) fn applied_to(&self, spec: &Spec) -> Spec {
        let mut quick = spec.clone();
        replace(&mut quick.datasets, &self.datasets);
        replace(&mut quick.seeds, &self.seeds);
        replace(&mut quick.cross_validation.folds, &self.folds);
        replace(&mut quick.cross_validation.inner_folds, &self.inner_folds);
        if let Some(sweep) = &mut quick.sweep {
            replace(&mut sweep.values, &self.values);
        }
        for learner in &mut quick.learners {
            replace(&mut learner.weight_precision, &self.weight_precision);
            if learner.kind == Kind::MultipleInstance && self.bag_size.is_some() {
                learner.bag_size = self.bag_size.clone();
            }
        }
        quick
    }
}

fn replace<T: Clone>(value: &mut T, other: &Option<T>) {
    if let Some(other) = other {
        value.clone_from(other);
    }
}
