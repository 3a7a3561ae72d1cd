//! Data with a known truth: people who breathe and smoke, or move now and then, and sloppy annotators.

mod annotator;
mod bouts;
mod classes;
mod respiration;
mod sloppiness;
mod wearable;

pub use annotator::{Annotator, Delays, Presses, Spurious};
pub use bouts::EndSloppiness;
pub use classes::ClassPresses;
pub use respiration::{ChestBand, Respiration};
pub use sloppiness::{Sloppiness, Tails};
pub use wearable::{WEARABLE_FEATURES, Wearable};
