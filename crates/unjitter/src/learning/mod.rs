//! Learning the detector and the annotator's sloppiness together.
//!
//! L-BFGS maximises the log evidence of the stamps plus the log prior over one flat vector, with exact
//! gradients. Sessions are summed in parallel and added in a fixed order, so the result has the same bits
//! on any number of threads.

mod curvature;
mod data;
mod fit;
mod information;
mod lbfgs;
mod line_search;
mod map;
mod modes;
mod objective;
mod preconditioner;
mod refit;
mod rows;
mod search;
mod sensitivity;
mod start;
mod supervised;
mod unbiased;
mod warning;
mod watcher;

pub use crate::outcome::StopReason;
pub use data::median_spacing;
pub use fit::{FitOptions, Problem};
pub(crate) use information::Information;
pub use lbfgs::{LbfgsOptions, Minimum, Step, minimise};
pub use map::MapObjective;
pub use objective::{Curvature, Objective};
pub(crate) use refit::held_out_evidence;
pub(crate) use sensitivity::sensitivity;
pub use supervised::{Supervised, Target};
