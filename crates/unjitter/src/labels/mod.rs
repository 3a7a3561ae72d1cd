//! Labels that depend on each other: a chain over the instances of a session.
//!
//! Sliding windows make runs: one event covers several instances, and is stamped once. A linear chain says so:
//!
//! ```text
//! p(y | x) ∝ exp( Σ_i f_i·y_i + Σ_{i>0} g_i(y_{i−1}, y_i) )
//! ```
//!
//! with the log-odds f of instances by themselves, and transitions g that depend on the time between two
//! instances (`rates`). Stamps are about one yes/no variable per instance that follows from the labels
//! ([`Variable`]). `chain` sums over the labels alone, `sums` over labels and stamps together. Everything is linear in the
//! number of instances. `docs/model.md` has the formulas.

mod agreed;
mod arriving;
mod best;
mod chain;
mod count;
mod exact;
mod expected;
mod labelled;
mod lone;
mod memory;
mod open;
mod path;
mod rates;
mod recur;
mod riders;
mod scene;
mod spare;
mod stretch;
mod sums;
#[cfg(test)]
mod tests;
mod told;
mod visit;
mod weight;

use serde::{Deserialize, Serialize};

pub(crate) use agreed::Kept;
pub(crate) use arriving::Arriving;
pub(crate) use best::owners;
pub(crate) use chain::Chain;
pub(crate) use rates::Rates;
pub(crate) use scene::{Habit, Scene, Source, Stream};
pub(crate) use spare::Spare;
pub(crate) use sums::{Summed, SummedStamp, SummedStream, Wanted};

/// How labels of neighbouring instances depend on each other.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Labels {
    /// Not at all, given the features: an event is one instance.
    #[default]
    Independent,
    /// They form runs: an event covers several instances.
    Chain,
}

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

impl Variable {
    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Onset => "onsets",
            Self::End => "ends",
            Self::Presence => "presence",
        }
    }
}
