//! `unjitter experiment FILE.toml…`: the paper's experiments, or your own.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;

use crate::experiment::{Dataset, RunOptions, Spec, Step, read_errors, run, write};

/// Run experiments, and write tables and figures.
#[derive(Debug, Args)]
pub(crate) struct ExperimentArgs {
    /// Experiment files.
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// The small version of each.
    #[arg(long)]
    quick: bool,
    /// Folder for RESULTS.md and results/.
    #[arg(long, default_value = "experiments")]
    out: PathBuf,
    /// Folder of journals; beside the results by default.
    #[arg(long)]
    work: Option<PathBuf>,
    /// CSV file of errors that people made, instead of the annotator's tails.
    #[arg(long)]
    errors: Option<PathBuf>,
    /// Column of that file.
    #[arg(long, requires = "errors")]
    errors_column: Option<String>,
    /// Version of the program, for the record.
    #[arg(long, default_value = env!("CARGO_PKG_VERSION"))]
    commit: String,
}

/// Runs every file in turn; results are written after each.
pub(crate) fn experiment(args: &ExperimentArgs) -> anyhow::Result<()> {
    for file in &args.files {
        let spec = Spec::read(file)?;
        let options = options(args, file, &spec)?;
        let version = spec.quick(args.quick);
        let datasets: Vec<Dataset> = version
            .datasets
            .iter()
            .map(|simulated| simulated.dataset())
            .collect::<Result<_, _>>()?;
        let outcomes = run(&spec, &datasets, &options, &|step| {
            report(step);
            ControlFlow::Continue(())
        })?;
        eprintln!();
        let page = write(&outcomes, &args.out)?;
        println!("{}: {}", spec.name, page.display());
    }
    Ok(())
}

fn options(args: &ExperimentArgs, file: &Path, spec: &Spec) -> anyhow::Result<RunOptions> {
    let errors = match (&args.errors, &spec.errors) {
        (Some(path), _) => Some(read_errors(path, args.errors_column.as_deref())?),
        (None, Some(of)) => {
            let folder = file.parent().context("a file has a folder")?;
            Some(read_errors(&folder.join(&of.file), of.column.as_deref())?)
        }
        (None, None) => None,
    };
    let quick = if args.quick { " --quick" } else { "" };
    let mut from = String::new();
    if let Some(path) = &args.errors {
        from += &format!(" --errors {}", path.file_name().unwrap_or_default().to_string_lossy());
    }
    if let Some(column) = &args.errors_column {
        from += &format!(" --errors-column {column}");
    }
    Ok(RunOptions {
        quick: args.quick,
        work: Some(args.work.clone().unwrap_or_else(|| args.out.join(".work"))),
        errors,
        command: format!("unjitter experiment {}{quick}{from}", file.display()),
        commit: args.commit.clone(),
    })
}

fn report(step: Step<'_>) {
    if step.done.is_multiple_of(50) || step.done == step.total {
        eprint!("\r{:>6}/{} {:<70}", step.done, step.total, step.label);
    }
}
