//! One of several explanations of the same stamps.

use serde::{Deserialize, Serialize};

use super::Learned;
use crate::outcome::HeldOut;

/// An optimum of a fit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
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
    #[serde(with = "unbounded")]
    pub(crate) params: Vec<f64>,
}

/// Numbers of which some are infinite, as those of frozen rates: these are written as text.
mod unbounded {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    #[serde(untagged)]
    enum Number {
        Finite(f64),
        Infinite(String),
    }

    pub(super) fn serialize<S: Serializer>(numbers: &[f64], to: S) -> Result<S::Ok, S::Error> {
        let number = |&x: &f64| match x.is_finite() {
            true => Number::Finite(x),
            false => Number::Infinite(x.to_string()),
        };
        numbers.iter().map(number).collect::<Vec<_>>().serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<f64>, D::Error> {
        let number = |number: Number| match number {
            Number::Finite(x) => Ok(x),
            Number::Infinite(text) if text == "inf" => Ok(f64::INFINITY),
            Number::Infinite(text) if text == "-inf" => Ok(f64::NEG_INFINITY),
            Number::Infinite(text) => {
                Err(D::Error::custom(format!("{text:?} is no number, inf or -inf")))
            }
        };
        Vec::<Number>::deserialize(from)?.into_iter().map(number).collect()
    }
}
