//! Exit codes of all errors.

use std::path::PathBuf;
use std::process::ExitCode;

use crate::console::say;

/// The manual's text about exit codes.
pub const EXIT_CODES: &str = "\
Exit codes:
  0    done
  1    something failed: a file cannot be read or written
  2    the command line or the configuration is wrong
  3    the data are wrong; the message says which file, line, column and value
  4    an output exists already; say --force to replace it
  130  interrupted; nothing was left half-written";

/// An error that the command line itself finds.
#[derive(Debug)]
pub enum Mistake {
    /// An option or a combination of options.
    Usage(String),
    /// The content of a file.
    Data(String),
    /// An existing file.
    Exists(PathBuf),
    /// Ctrl-C.
    Interrupted(String),
}

impl std::fmt::Display for Mistake {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Usage(message) | Self::Data(message) => f.write_str(message),
            Self::Exists(path) => {
                write!(f, "{} exists already; say --force to replace it", path.display())
            }
            Self::Interrupted(message) => write!(f, "interrupted; {message}"),
        }
    }
}

impl std::error::Error for Mistake {}

/// A mistake in the options.
pub fn usage(message: impl Into<String>) -> anyhow::Error {
    Mistake::Usage(message.into()).into()
}

/// Prints the error, and picks the exit code.
pub fn report(error: &anyhow::Error) -> ExitCode {
    if is_broken_pipe(error) {
        // The reader of a pipe has seen enough.
        return ExitCode::SUCCESS;
    }
    say(&format!("error: {}{}", message(error), cure(error).unwrap_or_default()));
    ExitCode::from(code(error))
}

/// The error and its causes. A cause that the message already contains is not repeated.
fn message(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if text.is_empty() {
            text = cause;
        } else if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}

/// The option that helps, which the library does not know.
fn cure(error: &anyhow::Error) -> Option<String> {
    let option = |field: &str| match field {
        "session" | "time" | "label" | "subject" | "event_session" | "event_time" | "event_end"
        | "event_duration" | "annotator" | "device" | "clock" | "annotators" => {
            Some(format!("--{}-column", field.replace('_', "-")))
        }
        // A user who listed columns has named them already.
        _ => None,
    };
    match error.downcast_ref::<unjitter::Error>()? {
        unjitter::Error::NumbersForNames { .. } => {
            Some("; if there is no header, say --no-header".to_owned())
        }
        unjitter::Error::NoGroups { .. } => Some(
            ": --annotator-column names the column of the events, and sessions.csv has subject, device \
             and clock"
                .to_owned(),
        ),
        unjitter::Error::NoColumn { field, .. } => {
            Some(format!(" (it may be named with {})", option((*field)?)?))
        }
        unjitter::Error::StampContent { option, .. } | unjitter::Error::StampFile { option, .. } => {
            Some(format!("; say --{}", (*option)?))
        }
        unjitter::Error::UnnamedColumn { field, columns, .. } => {
            let example = (*columns).min(2);
            Some(format!("; name it by its number, as in {} {example}", option((*field)?)?))
        }
        _ => None,
    }
}

fn code(error: &anyhow::Error) -> u8 {
    if let Some(mistake) = error.downcast_ref::<Mistake>() {
        return match mistake {
            Mistake::Usage(_) => 2,
            Mistake::Data(_) => 3,
            Mistake::Exists(_) => 4,
            Mistake::Interrupted(_) => 130,
        };
    }
    match error.downcast_ref::<unjitter::Error>() {
        None | Some(unjitter::Error::Io { .. }) => 1,
        Some(unjitter::Error::Interrupted { .. } | unjitter::Error::Cancelled) => 130,
        Some(
            unjitter::Error::OutOfRange { .. }
            | unjitter::Error::UnknownParameter { .. }
            | unjitter::Error::NothingVaries { .. }
            | unjitter::Error::NoRuns { .. }
            | unjitter::Error::NotOfChain { .. },
        ) => 2,
        Some(_) => 3,
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let broken = |source: &std::io::Error| source.kind() == std::io::ErrorKind::BrokenPipe;
    error.chain().any(|cause| cause.downcast_ref::<std::io::Error>().is_some_and(broken))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_that_was_stopped_was_interrupted() {
        let stopped =
            [unjitter::Error::Cancelled, unjitter::Error::Interrupted { done: 1, total: 2 }];
        assert_eq!(stopped.map(|error| code(&error.into())), [130, 130]);
    }

    #[test]
    fn causes_are_said_once() {
        let source = std::io::Error::other("disk full");
        let error = anyhow::Error::new(unjitter::Error::Io { path: "a.csv".into(), source });
        assert_eq!(message(&error), "a.csv: disk full");
        assert_eq!(message(&error.context("session 1")), "session 1: a.csv: disk full");
    }
}
