//! The parts a model is made of.

pub mod classifier;
pub mod counts;
pub mod noise;
