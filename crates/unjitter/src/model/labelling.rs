//! How the labels of a session depend on each other, and what of them stamps are about.

use crate::labels::{Chain, Labels, Rates, Variable};
use crate::math::{log_sum, sigmoid};
use crate::params::{ParameterSpec, Role, Transform};

/// The name of the part of the parameters of labels.
pub(crate) const LABELS: &str = "labels";

/// What the names of the parts begin with that are about the ends of bouts.
pub(crate) const ENDS: &str = "ends";

/// How labels depend on each other, and what of them stamps are about.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Labelling {
    /// Between neighbours.
    pub labels: Labels,
    /// What stamps are about, if labels form a chain; otherwise about instances.
    pub stamps: Variable,
    /// Whether stamps tell the ends of bouts too, which then have numbers of the annotator of their own.
    pub ends: bool,
}

impl Labelling {
    /// Whether labels are independent given the features.
    pub(crate) fn is_independent(&self) -> bool {
        self.labels == Labels::Independent
    }

    /// The parameters of the labels.
    pub(crate) fn parameters(&self) -> Vec<ParameterSpec> {
        let rate = |name, role| ParameterSpec::new(name, 1, Transform::Positive, role).per_time();
        match self.labels {
            Labels::Independent => Vec::new(),
            Labels::Chain => {
                vec![rate("onset_rate", Role::OnsetRate), rate("offset_rate", Role::OffsetRate)]
            }
        }
    }

    /// The transitions at these parameters, for times of which one unit of the parameters is so many; none if labels are
    /// independent.
    pub(crate) fn rates(&self, params: &[f64], unit: f64) -> Option<Rates> {
        let at = |k: usize| params[k].exp() / unit;
        (!self.is_independent()).then(|| Rates { onset: at(0), offset: at(1) })
    }
}

/// p(an event) of instances at these times with these log-odds by instance and class, along the chain if there is one.
pub(super) fn presence(
    rates: Option<Rates>,
    classes: usize,
    times: &[f64],
    log_odds: &[f64],
) -> Vec<f64> {
    let by_class = presence_by_class(rates, classes, times, log_odds);
    match classes {
        1 => by_class,
        _ => by_class.chunks_exact(classes).map(|own| own.iter().sum()).collect(),
    }
}

/// The same by instance and class.
pub(super) fn presence_by_class(
    rates: Option<Rates>,
    classes: usize,
    times: &[f64],
    log_odds: &[f64],
) -> Vec<f64> {
    match (rates, classes) {
        (None, 1) => log_odds.iter().map(|&f| sigmoid(f)).collect(),
        (None, _) => log_odds.chunks_exact(classes).flat_map(softmax).collect(),
        (rates, _) => Chain::new(times, classes, rates, log_odds).presence(),
    }
}

/// Probabilities of classes, where no event has log-odds 0.
pub(super) fn softmax(log_odds: &[f64]) -> Vec<f64> {
    let total = log_sum(&[log_odds, &[0.0]].concat());
    log_odds.iter().map(|f| (f - total).exp()).collect()
}
