//! Learn precise event detectors from sloppy timestamps.

mod align;
pub mod baselines;
mod control;
pub mod diagnosis;
mod error;
pub mod evaluation;
pub mod features;
pub mod inference;
pub mod inspection;
pub mod io;
pub mod labels;
pub mod learning;
pub mod math;
pub mod memory;
pub mod model;
mod outcome;
mod parallel;
pub mod params;
pub mod planning;
pub mod prior;
pub mod scan;
mod scratch;
pub mod session;
mod settings;
pub mod signal;
pub mod simulation;
pub mod stamps;
pub mod sync;

pub use align::{
    AlignOptions, Aligned, AlignedClasses, AlignedInstance, AlignedRun, AlignedStamp, Candidate,
    SeenEvent,
};
pub use control::{Control, Iteration, Progress};
pub use error::{Error, Result};
pub use features::{FeatureView, Features};
pub use learning::FitOptions;
pub use model::classifier::{Activation, ClassifierSpec};
pub use model::counts::Counts;
pub use model::noise::Noise;
pub use model::{Detector, Fitted, Learned, Model, Posterior, PosteriorOptions, Sums, posterior};
pub use outcome::{Outcome, Warning};
pub use prior::Priors;
pub use session::{Label, Recording, Session};

/// The examples of the pages are tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/start/rust.md")]
struct StartHere;
