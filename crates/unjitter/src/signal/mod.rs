//! From raw sensor signals to instances: respiration cycles and sliding windows, with features.
//!
//! A detector needs instances with a time and features. This module makes them in two ways. A chest band
//! is cut into breaths ([`find_cycles`]) with [`cycle_features`]; any other sensor is cut into windows of
//! equal length ([`windows`]).
//!
//! Sampling may be irregular and have gaps. Unusable data (missing samples, rejected cycles, windows with
//! too few samples) is counted and reported. Everything takes time linear in the signal for given options.

mod channel;
mod cycles;
mod extrema;
mod features;
mod options;
mod runs;
mod session;
mod sliding;
mod spectrum;
mod summary;
mod windows;

pub use channel::Signal;
pub use cycles::{Cycle, Cycles, Rejected, find_cycles};
pub use features::{CYCLE_FEATURES, cycle_features};
pub use options::CycleOptions;
pub use session::{LabelledSession, session_from_signal};
pub use summary::SUMMARIES;
pub use windows::{Anchor, WindowOptions, Windows, windows};
