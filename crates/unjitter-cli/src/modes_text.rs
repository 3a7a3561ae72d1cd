//! The explanations of the stamps that a fit found, in words, and how to choose among them.

use unjitter::model::Mode;
use unjitter::{Fitted, Warning};

use crate::failure::usage;
use crate::words::{number, seconds};

/// Columns of the table of modes.
pub(crate) const HEADER: [&str; 6] =
    ["mode", "delay", "spread", "log evidence", "held out", "shift"];

/// What the table needs to be understood.
pub(crate) const CAPTION: &str = "Mode 1 is in use; --mode takes another. Held out: log evidence of \
    sessions left out of learning, less that of the fit's choice, per session. Shift: instances by \
    which its detector fires later.";

/// A row for each mode; nothing if there is no choice.
pub(crate) fn rows(modes: &[Mode]) -> Vec<[String; 6]> {
    if modes.len() < 2 {
        return Vec::new();
    }
    modes.iter().zip(1..).map(|(mode, k)| row(k, mode)).collect()
}

fn row(k: usize, mode: &Mode) -> [String; 6] {
    let held_out = mode.held_out.map_or("–".to_owned(), |held_out| {
        format!("{} ± {}", number(held_out.mean), number(held_out.standard_error))
    });
    [
        k.to_string(),
        seconds(mode.learned.delay),
        seconds(mode.learned.spread),
        number(mode.log_evidence),
        held_out,
        mode.shift.to_string(),
    ]
}

/// A number on the command line that could be that of a mode.
pub(crate) fn mode_number(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| *number >= 1);
    number.ok_or_else(|| "expected a number in the table of modes: 1, 2, …".to_owned())
}

/// Fails if the fit has no mode of this number.
pub(crate) fn check_mode(fitted: &Fitted, number: Option<usize>) -> anyhow::Result<()> {
    let modes = fitted.modes().len().max(1);
    match number {
        Some(number) if number > modes => {
            let expected =
                if modes == 1 { "1, the only mode".into() } else { format!("1 to {modes}") };
            Err(usage(format!("--mode {number}: expected {expected}")))
        }
        _ => Ok(()),
    }
}

/// The fit with the mode of this number in use; the first if there is none.
pub(crate) fn with_mode(fitted: Fitted, number: Option<usize>) -> anyhow::Result<Fitted> {
    check_mode(&fitted, number)?;
    match number {
        Some(number) if number > 1 => Ok(fitted.use_mode(number - 1)?),
        _ => Ok(fitted),
    }
}

/// A warning, with the options that help, which the library does not know.
pub(crate) fn warning(warning: &Warning) -> String {
    let cure = match warning {
        Warning::Modes { .. } => {
            ": --delay 0.2..3s, or a label column that says for some presses which instances they \
             belong to, and --use-labels; or take the other with --mode"
        }
        Warning::ClocksNotFound { .. } => {
            ": `unjitter sync --figures FOLDER` draws them, and --clock-range 60s is how far to look"
        }
        _ => "",
    };
    format!("{warning}{cure}")
}
