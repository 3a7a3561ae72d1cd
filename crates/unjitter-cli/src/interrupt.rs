//! Ctrl-C: the first asks work to stop where it can, the second stops the program.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Watches for Ctrl-C and termination from now on.
pub(crate) fn watch() {
    let handler = || {
        if INTERRUPTED.swap(true, Ordering::Relaxed) {
            // Outputs are renamed into place whole, so there is nothing to clean.
            std::process::exit(130);
        }
        eprintln!("\nstopping; press Ctrl-C again to stop at once");
    };
    // Without a handler Ctrl-C ends the program as it always does.
    let _ = ctrlc::set_handler(handler);
}

/// Whether somebody pressed Ctrl-C.
pub(crate) fn is_requested() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
}

/// For callbacks: break once somebody pressed Ctrl-C.
pub(crate) fn check() -> ControlFlow<()> {
    if is_requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}
