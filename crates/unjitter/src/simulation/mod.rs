//! Data with a known truth: people who breathe and smoke, and sloppy annotators.

mod annotator;
mod bouts;
mod classes;
mod respiration;
mod sloppiness;

pub use annotator::{Annotator, Delays, Presses, Spurious};
pub use bouts::EndSloppiness;
pub use classes::ClassPresses;
pub use respiration::{ChestBand, Respiration};
pub use sloppiness::{Sloppiness, Tails};
