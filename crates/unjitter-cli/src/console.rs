//! Output of the program: results on standard output, everything else on standard error.

use std::fmt::Write;
use std::io::{self, Write as _};
use std::time::Duration;

use clap::Args;
use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use serde::Serialize;
use unjitter::{Iteration, Progress};

use crate::failure::usage;

/// Writes a line to standard error; ignores a closed one.
pub(crate) fn say(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}

/// How to talk.
#[derive(Debug, Clone, Copy, Args, Serialize)]
pub struct Console {
    /// Print the result as JSON, for machines
    #[arg(long, global = true, help_heading = "Everywhere")]
    pub json: bool,
    /// Show no progress and no hints
    #[arg(short, long, global = true, help_heading = "Everywhere")]
    pub quiet: bool,
    /// Threads to use; all cores by default. Results do not depend on it
    #[arg(
        long,
        global = true,
        value_name = "N",
        value_parser = clap::value_parser!(u16).range(1..=1024),
        help_heading = "Everywhere"
    )]
    pub threads: Option<u16>,
    /// Memory that the sums over alignments may take, of all threads together, in GiB; by default
    /// half of what the machine and its limits leave to the program. What needs more is refused
    /// instead of tried
    #[arg(long, global = true, value_name = "GIB", help_heading = "Everywhere")]
    pub max_memory: Option<f64>,
}

impl Console {
    /// Sets the requested limits of threads and memory.
    pub fn set_limits(&self) -> anyhow::Result<()> {
        if let Some(threads) = self.threads {
            rayon::ThreadPoolBuilder::new().num_threads(threads.into()).build_global()?;
        }
        if let Some(gibibytes) = self.max_memory {
            if !(gibibytes > 0.0 && gibibytes.is_finite()) {
                let message = format!("--max-memory {gibibytes}: expected a number above 0");
                return Err(usage(message));
            }
            unjitter::memory::set_memory_limit((gibibytes * f64::from(1 << 30)) as u64);
        }
        Ok(())
    }

    /// Prints a result for people.
    pub(crate) fn print(&self, text: &str) -> anyhow::Result<()> {
        let mut out = io::stdout().lock();
        out.write_all(text.as_bytes())?;
        if !text.ends_with('\n') {
            out.write_all(b"\n")?;
        }
        Ok(out.flush()?)
    }

    /// Prints a result: `value` for machines, `text` for people.
    pub fn result(
        &self,
        value: &impl Serialize,
        text: impl FnOnce() -> String,
    ) -> anyhow::Result<()> {
        if self.json {
            self.print(&serde_json::to_string_pretty(value)?)
        } else {
            self.print(&text())
        }
    }

    /// A remark on standard error.
    pub fn note(&self, text: &str) {
        if !self.quiet {
            say(text);
        }
    }

    /// A warning, which cannot be switched off.
    pub(crate) fn warn(&self, text: &str) {
        say(&format!("warning: {text}"));
    }

    /// A progress bar with the time left, on a terminal; nothing elsewhere. It stays empty until the
    /// total is known.
    pub fn progress(&self, label: &str) -> ProgressBar {
        let target = match self.quiet {
            true => ProgressDrawTarget::hidden(),
            false => ProgressDrawTarget::stderr_with_hz(5),
        };
        let bar = bar(target, label);
        bar.enable_steady_tick(Duration::from_millis(500));
        bar
    }
}

/// Shows the library's progress on a bar.
pub fn show(bar: &ProgressBar, Progress { done, total, iteration }: Progress) {
    bar.set_length(total as u64);
    bar.set_position(done as u64);
    if let Some(Iteration { start, starts, .. }) = iteration {
        bar.set_message(format!("start {} of {starts}", start + 1));
    }
}

fn bar(target: ProgressDrawTarget, label: &str) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, target);
    let template = "{prefix} {wide_bar} {count}{elapsed} gone{left} {msg}";
    let style = ProgressStyle::with_template(template).expect("the template is right");
    // For an unknown total, indicatif would show 0/0 and no time left.
    let count = |state: &ProgressState, text: &mut dyn Write| {
        let _ = state.len().map(|total| write!(text, "{}/{total}  ", state.pos()));
    };
    let left = |state: &ProgressState, text: &mut dyn Write| {
        let _ = state.len().map(|_| write!(text, ", {:#} left", HumanDuration(state.eta())));
    };
    bar.set_style(style.with_key("count", count).with_key("left", left));
    bar.set_prefix(label.to_owned());
    bar
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use indicatif::TermLike;

    use super::*;

    /// A terminal that remembers what was written last.
    #[derive(Debug, Clone, Default)]
    struct Screen(Arc<Mutex<String>>);

    impl TermLike for Screen {
        fn width(&self) -> u16 {
            80
        }
        fn move_cursor_up(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_down(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_right(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_left(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn write_line(&self, text: &str) -> io::Result<()> {
            self.write_str(text)
        }
        fn write_str(&self, text: &str) -> io::Result<()> {
            self.0.lock().unwrap().push_str(text);
            Ok(())
        }
        fn clear_line(&self) -> io::Result<()> {
            self.0.lock().unwrap().clear();
            Ok(())
        }
        fn flush(&self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_bar_is_empty_until_something_is_done() {
        let screen = Screen::default();
        let target = || ProgressDrawTarget::term_like(Box::new(screen.clone()));
        let shown = || screen.0.lock().unwrap().clone();
        let unknown = bar(target(), "comparing");
        unknown.tick();
        assert!(shown().starts_with("comparing ░"), "{}", shown());
        assert!(!shown().contains('█') && !shown().contains("0/0"), "{}", shown());
        assert!(!shown().contains("left"), "{}", shown());
        show(&unknown, Progress { done: 1, total: 4, iteration: None });
        unknown.tick();
        assert!(shown().contains("█") && shown().contains("░"), "{}", shown());
        assert!(shown().contains("1/4") && shown().contains("left"), "{}", shown());
        let iteration =
            Iteration { start: 1, starts: 3, number: 2, value: 0.5, gradient_norm: 0.1 };
        show(&unknown, Progress { done: 3, total: 4, iteration: Some(iteration) });
        unknown.tick();
        assert!(shown().contains("3/4") && shown().contains("start 2 of 3"), "{}", shown());
    }
}
