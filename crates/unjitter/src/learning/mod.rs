//! Learning the detector and the annotator's sloppiness together.
//!
//! L-BFGS maximises the log evidence of the stamps plus the log prior over one flat vector, with exact
//! gradients. Sessions are summed in parallel and added in a fixed order, so the result has the same bits
//! on any number of threads.

mod adapt;
mod apart;
mod bootstrap;
mod curvature;
mod data;
mod deviations;
mod fit;
mod grouped;
mod information;
mod labelled_runs;
mod lbfgs;
mod line_search;
mod map;
mod modes;
mod objective;
mod partition;
mod passes;
mod preconditioner;
mod problem;
mod profile;
mod refit;
mod rows;
mod sample;
mod search;
mod searched;
mod sensitivity;
mod start;
mod supervised;
mod tilted;
mod unbiased;
mod warning;
mod watcher;

pub use crate::outcome::StopReason;
pub(crate) use bootstrap::bootstrap;
pub use data::median_spacing;
pub use fit::FitOptions;
pub(crate) use information::Information;
pub use lbfgs::{LbfgsOptions, Minimum, Step, minimise};
pub use map::MapObjective;
pub use objective::{Curvature, Objective};
pub use partition::{Evidence, LeftOut, Partition};
pub use passes::Workers;
pub use problem::Problem;
pub(crate) use profile::with_profiles;
pub(crate) use refit::held_out_evidence;
pub use sample::{Size, fold_of, sampled};
pub(crate) use sensitivity::sensitivity;
pub use supervised::{Supervised, Target};
