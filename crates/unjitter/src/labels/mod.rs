//! Labels that depend on each other: a chain over the instances of a session.
//!
//! Sliding windows make runs: one event covers several instances, and is stamped once. A linear chain says so:
//!
//! ```text
//! p(y | x) ∝ exp( Σ_i f_i·y_i + Σ_{i>0} g_i(y_{i−1}, y_i) )
//! ```
//!
//! with the log-odds f of instances by themselves, and transitions g that depend on the time between two
//! instances ([`Rates`]). Stamps are about one yes/no variable per instance that follows from the labels
//! ([`Variable`]). Everything is linear in the number of instances, and in logarithms, so that no run is too long.
//! `docs/model.md` has the formulas.

mod best;
mod chain;
#[cfg(test)]
mod ordered;
mod rates;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub use chain::{Chain, Solved, Told};
pub use rates::Rates;

/// What a stream of stamps is about: a yes/no variable per instance that follows from the labels.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Variable {
    /// The instance is the first of a run. One that is positive when the recording begins counts: somebody
    /// who begins to watch in the middle of an event stamps it when they see it.
    #[default]
    Onset,
    /// The instance is the last of a run; one that is positive when the recording ends counts.
    End,
    /// The instance is positive.
    Presence,
}
