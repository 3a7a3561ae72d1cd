//! The command line of unjitter: parse, then run.
//!
//! There is no mathematics here. Each verb is a file in `commands`; what they share is beside it.

mod args;
mod checked;
mod commands;
mod config;
mod console;
mod evaluation_file;
mod experiment;
mod failure;
mod figures;
mod gallery;
mod input;
mod inputs;
mod inspection_text;
mod interrupt;
mod learners;
mod model_args;
mod model_file;
mod output;
mod palette;
mod report;
mod words;

use std::process::ExitCode;

use clap::FromArgMatches;

fn main() -> ExitCode {
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
    if let Some(threads) = cli.console.threads {
        rayon::ThreadPoolBuilder::new().num_threads(threads.into()).build_global()?;
    }
    if let Some(gibibytes) = cli.console.max_memory {
        if !(gibibytes > 0.0 && gibibytes.is_finite()) {
            let message = format!("--max-memory {gibibytes}: expected a number above 0");
            return Err(failure::usage(message));
        }
        unjitter::memory::set_memory_limit((gibibytes * f64::from(1 << 30)) as u64);
    }
    interrupt::watch();
    cli.verb.run(&cli.console)
}
