//! Quality of a detector: by instance, by event, and the significance of differences.

mod arriving;
mod bootstrap;
mod bouts;
mod calibration;
mod choosing;
mod criterion;
mod cross_validation;
mod curve;
mod detection;
mod event_summary;
mod events;
mod expected_f1;
mod fingerprint;
mod fold_warning;
mod folds;
mod instances;
mod journal;
mod matching;
mod mean;
mod ranked_events;
mod ranking;
mod rounding;
mod scores;
mod selection;
mod significance;
mod stream;
mod summary;
mod threshold;
mod tolerance;

pub use bootstrap::{BootstrapOptions, Interval, bootstrap_interval};
pub use bouts::{Bout, BoutMetrics, BoutOptions, SessionBouts, bout_metrics, lasting, match_bouts};
pub use calibration::{
    Bins, ReliabilityBin, brier_score, expected_calibration_error, log_loss, reliability_curve,
};
pub use criterion::Criterion;
pub use cross_validation::{Comparison, Contender, ContenderResult, CrossValidation, FoldResult};
pub use curve::{CurvePoint, average_precision, best_f1, precision_recall_curve};
pub use detection::{EventMetrics, SessionEvents, TimingErrors, event_metrics};
pub use event_summary::{EventScoring, EventSummary, usual_tolerance};
pub use events::{Detection, EventOptions, detect_events, events_in};
pub(crate) use expected_f1::expected_f1;
pub use expected_f1::expected_f1_threshold;
pub use fingerprint::{digest, fingerprint};
pub use fold_warning::FoldWarning;
pub use folds::{GroupBy, folds};
pub use instances::{Confusion, confusion};
pub use matching::{Pair, match_events};
pub use mean::{MeanInterval, mean_interval, mean_of_each};
pub use ranked_events::{event_average_precision, mean_event_average_precision};
pub use scores::Scores;
pub use selection::{CandidateResult, HeldOut, Simplicity, is_equal};
pub use significance::{PairedTest, bonferroni, paired_t_test};
pub use stream::{Departed, Stream, StreamOptions, Told};
pub use summary::{LabelledSummary, Summary, SummaryOptions};
pub use threshold::Threshold;
pub use tolerance::Tolerance;
