//! The compiled half of the Python package: arrays in, arrays out.
//!
//! Nothing is computed here; every function converts its arguments, releases the interpreter, calls the
//! library and converts the result back. The Python half has the classes, the defaults and the messages.
//! Settings travel as JSON, in the form of model files.

mod baselines;
mod convert;
mod dataset;
mod diagnosis;
mod fit;
mod fitted;
mod groups;
mod inspection;
mod loss;
mod memory;
mod metrics;
mod noise;
mod pool;
mod posterior;
mod scale;
mod session;
mod signal;
mod simulate;
mod stamps;
mod stream;
mod sync;
mod times;
mod watch;

use pyo3::pymodule;

/// The compiled half of unjitter.
#[pymodule]
mod _core {
    /// The version of the package.
    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "Python's name")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
    #[pymodule_export]
    use super::baselines::{Detector, compare, kept_by_naive, learn, learner_name};
    #[pymodule_export]
    use super::dataset::read_dataset;
    #[pymodule_export]
    use super::diagnosis::diagnose;
    #[pymodule_export]
    use super::fit::fit;
    #[pymodule_export]
    use super::fitted::Fitted;
    #[pymodule_export]
    use super::groups::{adapted, agreement, group_estimates};
    #[pymodule_export]
    use super::inspection::inspect;
    #[pymodule_export]
    use super::loss::Annotator;
    #[pymodule_export]
    use super::memory::{memory_limit, set_memory_limit};
    #[pymodule_export]
    use super::metrics::{
        bout_metrics, class_scores, detect_events, event_metrics, lasting, match_events,
        mean_event_average_precision, told_classes,
    };
    #[pymodule_export]
    use super::noise::noise_kinds;
    #[pymodule_export]
    use super::posterior::{Posterior, posterior};
    #[pymodule_export]
    use super::scale::{Partition, fit_over, fold_of, sampled};
    #[pymodule_export]
    use super::signal::{
        cycle_feature_names, cycle_features, find_cycles, session_from_signal, summary_names,
        windows,
    };
    #[pymodule_export]
    use super::simulate::{
        annotate, annotate_sloppily, chest_bands, people, press, respiration, study, wearable,
    };
    #[pymodule_export]
    use super::stamps::{
        StampFile, read_moment, stamp_format_by_file, stamp_format_by_name, stamp_formats,
        write_new_stamps, write_whole,
    };
    #[pymodule_export]
    use super::stream::Stream;
    #[pymodule_export]
    use super::sync::{find_clocks, moved_back};
    #[pymodule_export]
    use super::times::read_times;
}
