//! The command line: experiments from TOML files, the paper's or your own.

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Parser;
use unjitter::io::{Columns, Dataset as Read, DatasetFiles};
use unjitter_cli::console::{Console, show};
use unjitter_cli::failure::{EXIT_CODES, Mistake};
use unjitter_cli::input::{ColumnArgs, recorded_errors};
use unjitter_cli::inputs;
use unjitter_cli::interrupt::{self, Listening};
use unjitter_cli::words::counted;

use crate::datasets::Dataset;
use crate::outcome::Outcome;
use crate::results::write;
use crate::run::{RunOptions, run};
use crate::spec::Spec;
use crate::stopwatch::{Stopwatch, Took, in_words};

/// How the program is started from a checkout, for the record.
const PROGRAM: &str = "cargo run --release -p unjitter-experiments --";

/// Run experiments: learners on annotators of every sloppiness
///
/// An experiment is a TOML file: which annotators, learners, datasets and seeds. Results go to
/// RESULTS.md, with a figure and the numbers of each beside it; running one again changes its own
/// sections only. Work that was interrupted goes on where it was.
#[derive(Debug, Clone, Parser)]
#[command(name = "unjitter-experiments", version, after_help = EXIT_CODES)]
#[command(arg_required_else_help = true, allow_negative_numbers = true)]
pub(crate) struct Experiments {
    #[command(flatten)]
    pub console: Console,
    /// Experiments
    #[arg(required = true, value_name = "FILE.toml")]
    files: Vec<PathBuf>,
    /// The small version of each
    #[arg(long)]
    quick: bool,
    /// A labelled dataset to run on instead of the simulated ones; may be given several times
    #[arg(long, value_name = "FOLDER")]
    data: Vec<PathBuf>,
    #[command(flatten)]
    columns: ColumnArgs,
    /// A table of errors that people made, to draw delays from
    #[arg(long, value_name = "FILE")]
    errors: Option<PathBuf>,
    /// The column of the errors
    #[arg(long, value_name = "NAME", default_value = "error")]
    error_column: String,
    /// Folder for RESULTS.md and results/
    #[arg(short, long, value_name = "FOLDER", default_value = "experiments")]
    output: PathBuf,
    /// Folder for unfinished work; .work in the output folder by default
    #[arg(long, value_name = "FOLDER")]
    work: Option<PathBuf>,
    /// Write tables but no figure
    #[arg(long)]
    no_figure: bool,
    /// What the results say they were made with; unfinished work of another is not gone on with
    #[arg(long, value_name = "TEXT", default_value = env!("CARGO_PKG_VERSION"))]
    commit: String,
}

impl Experiments {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let specs: Vec<Spec> =
            self.files.iter().map(|file| Spec::read(file)).collect::<anyhow::Result<_>>()?;
        // At once, not after hours of work.
        inputs::refuse(&self.output.join("RESULTS.md"))?;
        let given = self.read_data()?;
        let (mut pages, mut all) = (Vec::new(), Vec::new());
        for (file, spec) in self.files.iter().zip(&specs) {
            let datasets = match given.is_empty() {
                true => spec.simulated(self.quick)?,
                false => given.clone(),
            };
            let options = self.options(file, spec)?;
            let outcomes = self.go(spec, &datasets, &options)?;
            let page = write(&outcomes, &self.output)?;
            self.console.note(&format!("{}: wrote {}", spec.name, page.display()));
            all.extend(outcomes.first().and_then(|outcome| outcome.how.took));
            pages.push(
                serde_json::json!({ "experiment": spec.name, "page": page, "outcomes": outcomes }),
            );
        }
        self.console.note(&told(&all));
        self.console.result(&pages, || format!("see {}", self.output.join("RESULTS.md").display()))
    }

    fn read_data(&self) -> anyhow::Result<Vec<Dataset>> {
        let columns: Columns = self.columns.columns();
        let read = |folder: &PathBuf| {
            let files = DatasetFiles { events: None.into(), ..DatasetFiles::in_folder(folder)? };
            let name =
                folder.canonicalize()?.file_name().map(|name| name.to_string_lossy().into_owned());
            let recordings = Read::read(&files, &columns, false)?.recordings;
            Ok(Dataset { name: name.unwrap_or_default(), recordings })
        };
        self.data.iter().map(read).collect()
    }

    fn go(
        &self,
        spec: &Spec,
        datasets: &[Dataset],
        options: &RunOptions,
    ) -> anyhow::Result<Vec<Outcome>> {
        let _listening = Listening::start();
        let work = format!("{}, version {}", options.command, options.commit);
        let stopwatch = Stopwatch::start(&self.work_folder(), work)?;
        let bar = self.console.progress(&spec.name);
        let watch = |progress| {
            show(&bar, progress);
            // A failure to store the time is reported at the end.
            let _ = stopwatch.look();
        };
        let begin = |label: &str| bar.set_message(label.to_owned());
        let outcomes = run(spec, datasets, options, &begin, interrupt::control(&watch));
        bar.finish_and_clear();
        let took = stopwatch.stop()?;
        let timed = |mut outcome: Outcome| {
            outcome.how.took = Some(took);
            outcome
        };
        let outcomes = outcomes.map(|all| all.into_iter().map(timed).collect());
        outcomes.map_err(|error| match error.downcast_ref() {
            Some(unjitter::Error::Interrupted { .. }) => {
                Mistake::Interrupted("what is done is kept; run again to go on".to_owned()).into()
            }
            _ => error,
        })
    }

    fn work_folder(&self) -> PathBuf {
        self.work.clone().unwrap_or_else(|| self.output.join(".work"))
    }

    fn options(&self, file: &Path, spec: &Spec) -> anyhow::Result<RunOptions> {
        let errors = match (&self.errors, &spec.errors) {
            (Some(path), _) => Some(recorded_errors(path, &self.error_column)?),
            (None, Some(of)) => {
                let folder = file.parent().context("a file has a folder")?;
                let (path, column) = (folder.join(&of.file), of.column.as_deref());
                inputs::add(&path);
                Some(recorded_errors(&path, column.unwrap_or("error"))?)
            }
            (None, None) => None,
        };
        Ok(RunOptions {
            quick: self.quick,
            work: Some(self.work_folder()),
            errors,
            command: self.command(file),
            commit: self.commit.clone(),
            figure: !self.no_figure,
        })
    }

    /// The command that reproduces these results; data folders appear by their last name.
    fn command(&self, file: &Path) -> String {
        let last =
            |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut command = format!("{PROGRAM} {}", file.display());
        if self.quick {
            command.push_str(" --quick");
        }
        for folder in &self.data {
            command.push_str(&format!(" --data {}", last(folder)));
        }
        if let Some(path) = &self.errors {
            command.push_str(&format!(" --errors {}", last(path)));
            command.push_str(&format!(" --error-column {}", self.error_column));
        }
        command
    }
}

/// How long it took: "6 experiments: 8 min 12 s on 2 threads".
fn told(all: &[Took]) -> String {
    let total = in_words(all.iter().map(|took| took.seconds).sum());
    let threads = all.iter().map(|took| took.threads).max().unwrap_or(1);
    format!("{}: {total} on {}", counted(all.len(), "experiment"), counted(threads, "thread"))
}
