//! The command line of unjitter: parse, then run.
//!
//! There is no mathematics here. Each verb is a file in `commands`; what they share is beside it.

mod commands;
mod experiment;
#[allow(dead_code, unused_imports, reason = "the report draws those that no experiment has")]
mod figures;
mod palette;
mod report;
mod words;

use clap::{Parser, Subcommand};

/// Learn precise event detectors from sloppy timestamps.
#[derive(Debug, Parser)]
#[command(version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Experiment(commands::experiment::ExperimentArgs),
}

fn main() -> anyhow::Result<()> {
    match Cli::parse().command {
        Command::Experiment(args) => commands::experiment::experiment(&args),
    }
}
