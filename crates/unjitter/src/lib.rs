//! Learn precise event detectors from sloppy timestamps.

pub mod error;
pub mod inference;
pub mod math;
pub mod model;
pub mod params;
pub mod prior;

pub use error::{Error, Result};
