//! Signals to instances, through the public API: cycles, their features, bins and windows.

mod cycles;
mod errors;
mod features;
mod windows;
