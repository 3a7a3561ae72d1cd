//! Models and their parts.

mod aligning;
mod annotator;
mod bound;
pub mod classifier;
pub mod counts;
mod detector;
mod fitted;
mod in_time;
mod mode;
pub mod noise;
mod one_annotator;
mod parts;
mod posterior;
mod spec;
mod stamp_model;
mod superposed;
mod uncertainty;

pub(crate) use annotator::GUESS;
pub use annotator::{Annotator, Gradient};
pub use counts::BoundCounts;
pub use detector::Detector;
pub use fitted::Fitted;
pub(crate) use fitted::{THRESHOLD, check_level, check_threshold};
pub(crate) use in_time::InTime;
pub use mode::Mode;
pub use noise::BoundNoise;
pub use one_annotator::OneAnnotator;
pub use parts::Parts;
pub use posterior::{Posterior, PosteriorOptions, posterior};
pub(crate) use posterior::{check_capacity, infeasible};
pub use spec::{Frozen, Model, Natural};
pub use stamp_model::{BoundStampModel, DrawnStamps, Draws, Learned, Rows, StampModel, Sums};
pub(crate) use uncertainty::Scale;
pub use uncertainty::{Estimate, LearnedEstimates, Sandwich, Uncertainty};
