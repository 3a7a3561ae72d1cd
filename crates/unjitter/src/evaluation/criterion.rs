//! What hyper-parameters are chosen by.
//!
//! The paper chooses by F1 on hand-aligned labels, which people with sloppy stamps do not have. The
//! held-out log evidence of the stamps needs no clean label.

use serde::{Deserialize, Serialize};

/// What to make large on held-out recordings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Criterion {
    /// F1 on hand-aligned labels at the threshold, pooled over folds: the paper's.
    F1,
    /// Log evidence of the stamps, summed over folds.
    LogEvidence,
}
