//! How good a detector is: by instance, by event, and whether the difference is real.

mod criterion;
mod cross_validation;
mod fingerprint;
mod folds;
mod instances;
mod journal;
mod scores;
mod threshold;

pub use criterion::Criterion;
pub use cross_validation::{CellsDone, Comparison, Contender, CrossValidation, FoldResult, Judged};
pub use fingerprint::fingerprint;
pub use folds::{GroupBy, folds};
pub use instances::{Confusion, confusion};
pub use scores::Scores;
pub use threshold::Threshold;
