//! Criteria for choosing hyper-parameters.
//!
//! The paper chooses by F1 on hand-aligned labels, which users with sloppy stamps do not have. The
//! held-out log evidence of the stamps needs no clean label. F1 takes the best candidate; evidence the simplest
//! of those that are equal to it (`selection`).

use serde::{Deserialize, Serialize};

/// The quantity to maximise on held-out recordings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Criterion {
    /// F1 on hand-aligned labels at the threshold, pooled over folds: the paper's.
    F1,
    /// Log evidence of the stamps, compared session by session.
    LogEvidence,
}
