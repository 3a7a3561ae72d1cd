//! One of several explanations of the same stamps.

use serde::Serialize;

use super::Learned;
use crate::outcome::HeldOut;

/// An optimum of a fit.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Mode {
    /// The annotator, in the unit of the data.
    pub learned: Learned,
    /// Log posterior of the parameters up to a constant, as maximised.
    pub log_posterior: f64,
    /// log p(stamps, known labels | features, times), in the unit of the data.
    pub log_evidence: f64,
    /// Evidence of sessions that were left out of learning, less that of the chosen mode; none if there
    /// was no rival or only one session.
    pub held_out: Option<HeldOut>,
    /// By how many instances its detector fires later than that of the chosen mode.
    pub shift: i64,
    /// All parameters, unconstrained.
    #[serde(skip)]
    pub(crate) params: Vec<f64>,
}
