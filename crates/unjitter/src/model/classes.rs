//! Classes of events, and what annotators record them as.
//!
//! An event of class k is recorded as class c with probability C_kc: the rows of a confusion matrix, which all
//! annotators share. A stamp from nowhere is of the class that it is recorded as. With one class nothing can be
//! confused, and there are no parameters.

use std::sync::Arc;

use crate::params::{ParameterSpec, Role, Transform, log_softmax};
use crate::prior::Confusion;
use crate::{Error, Result};

/// The name of the part of the confusion matrix.
pub(crate) const CONFUSION: &str = "confusion";

/// Fails unless these are names in order, each once, and none empty.
pub(super) fn check_classes(names: &[String]) -> Result<()> {
    if !names.is_sorted_by(|a, b| a < b) || names.contains(&String::new()) {
        return Err(Error::ClassNames { found: names.join(", ") });
    }
    Ok(())
}

/// The classes of events by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Classes {
    /// In order; none if events have no classes.
    names: Arc<[String]>,
}

impl Classes {
    /// Classes of these names, in order.
    pub fn new(names: &[String]) -> Self {
        Self { names: names.into() }
    }

    /// Their names; none if events have no classes.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// How many there are; events without classes are all of one.
    pub fn count(&self) -> usize {
        self.names.len().max(1)
    }

    /// Whether there is something to confuse.
    pub(crate) fn are_several(&self) -> bool {
        self.names.len() > 1
    }

    /// The number of a class.
    pub(crate) fn number(&self, name: &str) -> Option<usize> {
        self.names.binary_search_by(|own| own.as_str().cmp(name)).ok()
    }

    /// What events of each class are recorded as.
    pub(super) fn parameters(&self) -> Vec<ParameterSpec> {
        let count = self.count();
        let row = |(own, name): (usize, &String)| {
            ParameterSpec::new(name, count, Transform::Simplex, Role::Confusion(own))
        };
        let rows = self.names.iter().enumerate().filter(|_| self.are_several());
        rows.map(row).collect()
    }

    /// These parameters where a prior expects them.
    pub(crate) fn start(&self, prior: &Confusion) -> Vec<f64> {
        let count = self.count();
        let row = |own: usize| {
            let shares = prior.mode(own, count);
            shares[..count - 1]
                .iter()
                .map(|share| (share / shares[count - 1]).ln())
                .collect::<Vec<_>>()
        };
        (0..count).filter(|_| self.are_several()).flat_map(row).collect()
    }

    /// The confusion matrix at its parameters: probabilities of records, by class of the event.
    pub(super) fn confusion(&self, params: &[f64]) -> Vec<Vec<f64>> {
        let count = self.count();
        if !self.are_several() {
            return vec![vec![1.0]];
        }
        let row = |logits: &[f64]| log_softmax(logits).iter().map(|log| log.exp()).collect();
        params.chunks_exact(count - 1).map(row).collect()
    }

    /// The derivatives in the parameters of a log probability whose events are recorded so often, by class of the event
    /// and record.
    pub(super) fn pull_back(&self, confusion: &[Vec<f64>], counts: &[Vec<f64>]) -> Vec<f64> {
        let row = |(shares, counts): (&Vec<f64>, &Vec<f64>)| {
            let total: f64 = counts.iter().sum();
            let both = counts.iter().zip(shares).take(shares.len() - 1);
            both.map(|(count, share)| count - total * share).collect::<Vec<_>>()
        };
        confusion.iter().zip(counts).flat_map(row).collect()
    }
}
