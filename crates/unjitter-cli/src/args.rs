//! The command line: every verb and option is defined once, and the manual is made from it.

use clap::{Parser, Subcommand};

use crate::commands;
use crate::console::Console;
use crate::failure::EXIT_CODES;

/// Learn precise event detectors from sloppy timestamps
///
/// Somebody pressed a button at each event; the presses are late, early, missing or wrong, the
/// recording beside them is exact. unjitter learns the detector and the annotator's sloppiness
/// together and gives every press back where it belongs.
///
/// Start with `unjitter demo`. With your own tables: `unjitter inspect DATA`, `unjitter fit DATA`,
/// `unjitter align DATA`, `unjitter report DATA`.
#[derive(Debug, Parser)]
#[command(name = "unjitter", version, after_help = EXIT_CODES, subcommand_required = true)]
#[command(arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub console: Console,
    #[command(subcommand)]
    pub verb: Verb,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    Demo(commands::demo::Demo),
    Inspect(commands::inspect::Inspect),
    Featurize(commands::featurize::Featurize),
    Simulate(commands::simulate::Simulate),
    Fit(commands::fit::Fit),
    Align(commands::align::Align),
    Predict(commands::predict::Predict),
    Evaluate(commands::evaluate::Evaluate),
    Experiment(commands::experiment::Experiment),
    Report(commands::report::Report),
    Completions(commands::manual::Completions),
    Man(commands::manual::Man),
}

impl Verb {
    /// Does it.
    pub(crate) fn run(self, console: &Console) -> anyhow::Result<()> {
        match self {
            Self::Demo(verb) => verb.run(console),
            Self::Inspect(verb) => verb.run(console),
            Self::Featurize(verb) => verb.run(console),
            Self::Simulate(verb) => verb.run(console),
            Self::Fit(verb) => verb.run(console),
            Self::Align(verb) => verb.run(console),
            Self::Predict(verb) => verb.run(console),
            Self::Evaluate(verb) => verb.run(console),
            Self::Experiment(verb) => verb.run(console),
            Self::Report(verb) => verb.run(console),
            Self::Completions(verb) => verb.run(console),
            Self::Man(verb) => verb.run(console),
        }
    }
}
