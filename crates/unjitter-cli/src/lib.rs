//! The command line of unjitter: parse, then run.
//!
//! There is no mathematics here. Each verb is a file in `commands`; shared code is beside it.
//!
//! This is a library only so that the experiments of the workspace, a separate program, share its
//! drawing, writing, stopping and errors. Its public items are those that they use; it is no API, and
//! changes without notice.

mod adapted;
mod agreement_text;
mod annotator_text;
mod args;
mod checked;
mod classes_text;
mod clocks_gallery;
mod clocks_text;
mod commands;
mod config;
pub mod console;
mod delay_range;
mod demo_clocks;
mod diagnosis_gallery;
mod diagnosis_text;
mod evaluation_file;
mod evidence_text;
pub mod failure;
pub mod figures;
mod gallery;
mod group_args;
mod groups_gallery;
mod groups_text;
pub mod input;
pub mod inputs;
mod inspection_text;
pub mod interrupt;
pub mod learners;
mod model_args;
mod model_file;
mod modes_text;
mod noise_args;
pub mod output;
mod palette;
mod report;
mod review;
mod stamp_file_args;
mod stamp_output;
mod tables;
mod threshold;
mod time_span;
pub mod words;

use std::process::ExitCode;

use clap::FromArgMatches;

/// The program.
pub fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failure::report(&error),
    }
}

fn run() -> anyhow::Result<()> {
    let command = args::command();
    let arguments = config::expand(&command, std::env::args_os().collect())?;
    // Clap prints its own errors, help and version, with their exit codes.
    let matches = command.try_get_matches_from(arguments).unwrap_or_else(|error| error.exit());
    if let Some((_, arguments)) = matches.subcommand() {
        inputs::remember(arguments);
    }
    let cli = args::Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    cli.console.set_limits()?;
    interrupt::watch();
    cli.verb.run(&cli.console)
}
