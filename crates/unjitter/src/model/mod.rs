//! Models and their parts.

mod aligning;
mod along;
mod annotator;
mod between;
mod bound;
mod bound_session;
pub mod classifier;
pub mod counts;
mod detector;
mod exchange;
mod fitted;
mod group_estimates;
mod groups;
mod in_time;
mod labelling;
mod mode;
pub mod noise;
mod one_annotator;
mod parts;
mod posterior;
mod profile;
mod quantity;
mod spec;
mod stamp_model;
mod stamp_parts;
mod superposed;
mod uncertainty;

pub(crate) use annotator::GUESS;
pub use annotator::{Annotator, Gradient};
pub(crate) use bound_session::BoundSession;
pub use counts::BoundCounts;
pub use detector::{Detector, Runs};
pub use exchange::Exchange;
pub use fitted::{ExpectedRuns, Fitted};
pub(crate) use fitted::{THRESHOLD, check_level, check_threshold};
pub use group_estimates::GroupEstimate;
pub use groups::{Effect, Factor, Groups, Members, Variation, Varying};
pub use in_time::SessionStamps;
pub(crate) use in_time::{InTime, Stream};
pub use labelling::Labelling;
pub(crate) use labelling::{ENDS, LABELS};
pub use mode::Mode;
pub use noise::BoundNoise;
pub use one_annotator::OneAnnotator;
pub use parts::Parts;
pub(crate) use posterior::infeasible;
pub use posterior::{Posterior, PosteriorOptions, posterior};
pub use profile::Profile;
pub use quantity::Quantity;
pub use spec::{Frozen, Model, Natural};
pub use stamp_model::{
    Bound, BoundStampModel, Clock, DrawnStamps, Draws, Learned, Rows, StampModel, Sums,
};
pub use stamp_parts::StampParts;
pub(crate) use uncertainty::Scale;
pub use uncertainty::{Estimate, GroupPosterior, LearnedEstimates, Sandwich, Uncertainty};
