//! Ctrl-C. Work that can keep its results registers here and is asked to stop; otherwise, and at a second
//! Ctrl-C, the program ends at once and leaves no half-written file.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use unjitter::io::discard_unfinished;
use unjitter::{Control, Progress};

use crate::console::say;
use crate::failure::Mistake;

static INTERRUPTED: AtomicBool = AtomicBool::new(false);
/// Number of registered pieces of work.
static LISTENING: AtomicUsize = AtomicUsize::new(0);
/// Whether something was printed or written that stays.
static WRITTEN: AtomicBool = AtomicBool::new(false);

/// Registers work that checks the flag, until it is dropped.
#[derive(Debug)]
pub struct Listening;

impl Listening {
    /// Begins now.
    pub fn start() -> Self {
        LISTENING.fetch_add(1, Ordering::SeqCst);
        Self
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        LISTENING.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Watches for Ctrl-C and termination from now on.
pub fn watch() {
    let handler = || {
        let is_second = INTERRUPTED.swap(true, Ordering::SeqCst);
        if is_second || LISTENING.load(Ordering::SeqCst) == 0 {
            discard_unfinished();
            let left = match (is_second, WRITTEN.load(Ordering::SeqCst)) {
                // Who was asked to stop before may have written some.
                (true, _) => "",
                (false, true) => "; what was written may not be all",
                (false, false) => "; nothing was written",
            };
            say(&format!("\nerror: interrupted{left}"));
            std::process::exit(130);
        }
        say("\nstopping; press Ctrl-C again to stop at once");
    };
    // A signal that is ignored when the program begins, as under nohup or in a shell's background, must
    // stay ignored. Then no signal has a handler, and those that are not ignored end the program as usual.
    let _ = ctrlc::try_set_handler(handler);
}

/// A control that stops the library's work after a Ctrl-C and reports progress to `watch`.
pub fn control<'a>(watch: &'a (dyn Fn(Progress) + Sync)) -> Control<'a> {
    Control { stop: Some(&INTERRUPTED), watch: Some(watch) }
}

/// To be told when bytes leave that nobody can take back.
pub(crate) fn note_written() {
    WRITTEN.store(true, Ordering::SeqCst);
}

/// Whether there was a Ctrl-C.
pub(crate) fn is_requested() -> bool {
    INTERRUPTED.load(Ordering::SeqCst)
}

/// Fails after a Ctrl-C.
pub(crate) fn stop_if_requested(what_is_left: &str) -> anyhow::Result<()> {
    match is_requested() {
        true => Err(Mistake::Interrupted(what_is_left.to_owned()).into()),
        false => Ok(()),
    }
}
