//! The paper's experiments, and others of their kind: a TOML file lists annotators, learners, datasets
//! and seeds; running it gives tables and figures.
//!
//! `command` is the command line, `spec` the specification, `plan` the grid; `run` works through it with
//! a journal per cell; `bouts` counts runs; `outcome` holds the numbers, `results` writes them, `stopwatch` measures the time.
//! All computation is the library's; messages, figures and files use the code of the command line.

mod bouts;
mod command;
mod datasets;
mod figure;
mod learner;
mod markdown;
mod outcome;
mod place;
mod plan;
mod quick;
mod results;
mod run;
mod sentence;
mod spec;
mod stopwatch;
#[cfg(test)]
mod tests;

use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches};
use unjitter_cli::{failure, inputs, interrupt};

use command::Experiments;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failure::report(&error),
    }
}

fn run() -> anyhow::Result<()> {
    // Clap prints its own errors, help and version, with their exit codes.
    let matches = Experiments::command().get_matches();
    inputs::remember(&matches);
    let experiments = Experiments::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    experiments.console.set_limits()?;
    interrupt::watch();
    experiments.run()
}
