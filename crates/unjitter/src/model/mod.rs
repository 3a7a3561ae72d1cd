//! The parts a model is made of, and the model made of them.

pub mod classifier;
pub mod counts;
mod detector;
mod evidence;
mod gradient;
pub mod noise;
mod parts;
mod posterior;
mod spec;

pub use detector::Detector;
pub(crate) use detector::{linear, log_odds};
pub use evidence::Evidence;
pub use gradient::Gradient;
pub use parts::{BoundCounts, BoundNoise, Parts};
pub use posterior::{Posterior, posterior};
pub(crate) use posterior::{check_capacity, infeasible};
pub use spec::{Frozen, Model};
