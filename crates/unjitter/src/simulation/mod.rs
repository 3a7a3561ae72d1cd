//! Data with a known truth: annotators who are sloppy on purpose.

mod annotator;

pub use annotator::{Annotator, Delays, Presses, Spurious};
