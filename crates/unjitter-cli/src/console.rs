//! What the program says: results on standard output, everything else on standard error.

use std::io::{self, Write};
use std::time::Duration;

use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;

/// A line on standard error; if nobody listens there, so be it.
pub(crate) fn say(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}

/// How to talk.
#[derive(Debug, Clone, Copy, Args, Serialize)]
pub(crate) struct Console {
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
}

impl Console {
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
    pub(crate) fn result(
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
    pub(crate) fn note(&self, text: &str) {
        if !self.quiet {
            say(text);
        }
    }

    /// A warning, which nobody can switch off.
    pub(crate) fn warn(&self, text: &str) {
        say(&format!("warning: {text}"));
    }

    /// A bar with the time left, on a terminal; nothing elsewhere.
    pub(crate) fn progress(&self, label: &str, total: u64) -> ProgressBar {
        let target = match self.quiet {
            true => ProgressDrawTarget::hidden(),
            false => ProgressDrawTarget::stderr_with_hz(5),
        };
        let bar = ProgressBar::with_draw_target(Some(total), target);
        let template = "{prefix} {wide_bar} {pos}/{len}  {elapsed} gone, {eta} left {msg}";
        let style = ProgressStyle::with_template(template).expect("the template is right");
        bar.set_style(style);
        bar.set_prefix(label.to_owned());
        bar.enable_steady_tick(Duration::from_millis(500));
        bar
    }
}
