//! Ctrl-C. Work that can keep what it has done says so and is asked to stop; anything else, and a
//! second Ctrl-C, ends the program at once, with nothing half-written left behind.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use unjitter::io::discard_unfinished;
use unjitter::{Control, Progress};

use crate::console::say;
use crate::failure::Mistake;

static INTERRUPTED: AtomicBool = AtomicBool::new(false);
/// How much work under way looks at the flag.
static LISTENING: AtomicUsize = AtomicUsize::new(0);

/// Work that looks at the flag, until it is dropped.
#[derive(Debug)]
pub struct Listening;

impl Listening {
    /// From now on.
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
            say("\nerror: interrupted; nothing was written");
            std::process::exit(130);
        }
        say("\nstopping; press Ctrl-C again to stop at once");
    };
    // A signal that is ignored when the program begins, as nohup does and shells do for work in
    // the background, is to be ignored: then none has a handler, and those that are not ignored
    // end the program as they always do.
    let _ = ctrlc::try_set_handler(handler);
}

/// Work of the library stops after a Ctrl-C and tells `watch` how far it is.
pub fn control<'a>(watch: &'a (dyn Fn(Progress) + Sync)) -> Control<'a> {
    Control { stop: Some(&INTERRUPTED), watch: Some(watch) }
}

/// Fails once somebody pressed Ctrl-C.
pub(crate) fn stop_if_requested(what_is_left: &str) -> anyhow::Result<()> {
    match INTERRUPTED.load(Ordering::SeqCst) {
        true => Err(Mistake::Interrupted(what_is_left.to_owned()).into()),
        false => Ok(()),
    }
}
