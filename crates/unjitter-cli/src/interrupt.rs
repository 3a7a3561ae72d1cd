//! Ctrl-C: the first asks work to stop where it can, the second stops the program.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::console::say;
use crate::failure::Mistake;

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Watches for Ctrl-C and termination from now on.
pub(crate) fn watch() {
    let handler = || {
        if INTERRUPTED.swap(true, Ordering::Relaxed) {
            // Whatever was being written is a hidden file beside its place, and never takes it.
            std::process::exit(130);
        }
        say("\nstopping; press Ctrl-C again to stop at once");
    };
    // Without a handler Ctrl-C ends the program as it always does.
    let _ = ctrlc::set_handler(handler);
}

/// Whether somebody pressed Ctrl-C.
pub(crate) fn is_requested() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
}

/// Fails once somebody pressed Ctrl-C.
pub(crate) fn stop_if_requested(what_is_left: &str) -> anyhow::Result<()> {
    match is_requested() {
        true => Err(Mistake::Interrupted(what_is_left.to_owned()).into()),
        false => Ok(()),
    }
}

/// For callbacks: break once somebody pressed Ctrl-C.
pub(crate) fn check() -> ControlFlow<()> {
    if is_requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}
