//! `unjitter predict`: the detector alone, on any recording.

use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;
use unjitter::Fitted;
use unjitter::evaluation::{EventOptions, StreamOptions};
use unjitter::io::{Columns, InstanceChunks, takes_bytes_directly};
use unjitter::labels::Labels;

use super::follow::{Told, follow};
use super::predicted::{Found, events_table, piece_by_piece, smoothed};
use crate::config::ConfigFile;
use crate::console::Console;
use crate::failure::usage;
use crate::input::Input;
use crate::model_file::{ModelFile, adopt_columns};
use crate::output::{Output, Stream, is_stream, refuse_mixed};
use crate::words::counted;

/// Find events in recordings that nobody annotated
///
/// Writes one line per instance: session, time, probability, and with several classes of events the
/// probability of each, as p_CLASS. The table is read and written piece by piece, so it may be larger
/// than memory. Features are found by name; their order does not matter. Where labels form a chain, probabilities are smoothed along whole sessions, so that
/// nothing is written before all is read, and times and probabilities are kept.
#[derive(Debug, Clone, Args, Serialize)]
pub(crate) struct Predict {
    #[command(flatten)]
    input: Input,
    #[command(flatten)]
    model: ModelFile,
    /// Where the probabilities go; `-` is standard output
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: PathBuf,
    /// Write a table of detected events too: session, time, probability; where labels form a chain,
    /// session, start, end (the times of the first and the last instance), probability
    #[arg(long, value_name = "FILE")]
    detected: Option<PathBuf>,
    /// Probability from which an instance counts as an event; by default the model's own (see the
    /// option of fit)
    #[arg(long, value_name = "P")]
    threshold: Option<f64>,
    /// Least time between two events, in seconds: candidates closer than this are one event
    #[arg(long, value_name = "T", default_value_t = 0.0)]
    min_separation: f64,
    /// Print while the table is still written, as in `tail -n +1 -f FILE | unjitter predict --follow
    /// --instances -`: each line as soon as it is known, until the table ends or Ctrl-C is pressed. With
    /// `--detected -`, print events instead of probabilities. Lines of a session come in order of time
    #[arg(long)]
    follow: bool,
    /// With --follow: print an instance of labels that form a chain, or an event that is an instance,
    /// when a line comes that is so many seconds later, by what came until then. Otherwise it waits
    /// until nothing that may come can move it
    #[arg(long, value_name = "T", requires = "follow")]
    within: Option<f64>,
    /// Replace the outputs if they are there
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    config: ConfigFile,
}

/// The result, for machines.
#[derive(Debug, Serialize)]
struct PredictResult<'a> {
    instances: usize,
    positive: usize,
    threshold: f64,
    detected: Option<usize>,
    output: &'a PathBuf,
}

impl Predict {
    pub(crate) fn run(mut self, console: &Console) -> anyhow::Result<()> {
        if self.follow {
            return self.follow(console);
        }
        refuse_mixed(console, &[self.output.as_path()])?;
        let mut outputs: Vec<&Path> = vec![self.output.as_path()];
        outputs.extend(self.detected.as_deref());
        let mut detected = Output::promise(outputs, self.force)?;
        let mut stream = Stream::open(&self.output, self.force)?;
        let mut options =
            EventOptions { min_separation: self.min_separation, ..EventOptions::default() };
        options.threshold = self.threshold.unwrap_or(options.threshold);
        // Reports wrong options before the work.
        events_table(&options, &[], &[])?;
        let fitted = self.model.load()?;
        options.threshold = self.threshold.unwrap_or(fitted.threshold());
        options.labels = fitted.model().labels;
        let threshold = options.threshold;
        let (table, columns) = self.instances(&fitted, console)?;
        let mut chunks = InstanceChunks::open(&table, &columns)?;
        let found = match options.labels {
            Labels::Independent => {
                let remember = self.detected.is_some();
                piece_by_piece(&fitted, threshold, &mut chunks, &mut stream, remember)?
            }
            Labels::Chain => smoothed(&fitted, threshold, &mut chunks, &mut stream)?,
        };
        let mut events = None;
        if let Some(path) = &self.detected {
            let (text, count) = events_table(&options, found.classes, &found.seen)?;
            detected.add(path, text);
            events = Some(count);
        }
        stream.finish()?;
        detected.write()?;
        if is_stream(&self.output) {
            return Ok(());
        }
        let Found { instances, positive, .. } = found;
        let (detected, output) = (events, &self.output);
        let result = PredictResult { instances, positive, threshold, detected, output };
        console.result(&result, || {
            let all = counted(instances, "instance");
            format!("{all}, {positive} of them positive; wrote {}", self.output.display())
        })
    }

    /// The table of instances, and its columns.
    fn instances(
        &mut self,
        fitted: &Fitted,
        console: &Console,
    ) -> anyhow::Result<(PathBuf, Columns)> {
        // No events are read here.
        self.input.event_columns.only = vec![String::new()];
        adopt_columns(&mut self.input, fitted, console)?;
        let files = self.input.files()?;
        Ok((files.instances, self.input.columns()?))
    }

    /// Prints what leaves while instances arrive.
    fn follow(mut self, console: &Console) -> anyhow::Result<()> {
        let is_printed = |path: &Path| is_stream(path) || takes_bytes_directly(path);
        let path = self.detected.as_deref().unwrap_or(&self.output).to_owned();
        if console.json || !is_printed(&self.output) || !is_printed(&path) {
            let problem = "--follow prints lines as they come: it has no --json, and a file, which is \
                           written whole or not at all, is none of its outputs";
            return Err(usage(problem));
        }
        let fitted = self.model.load()?;
        let options = StreamOptions {
            threshold: self.threshold.unwrap_or(fitted.threshold()),
            min_separation: self.min_separation,
            within: self.within,
            ..StreamOptions::default()
        };
        let first = fitted.detector().stream(options)?;
        let labels = fitted.model().labels;
        let told = self.detected.as_ref().map_or(Told::Instances, |_| Told::Events(labels));
        let (table, columns) = self.instances(&fitted, console)?;
        refuse_finished(&table)?;
        let mut printed = Stream::open(&path, self.force)?;
        follow(&table, &columns, &first, told, &mut printed, console)?;
        printed.finish()
    }
}

/// Refuses a file to follow: it is as long as it is when it is read.
fn refuse_finished(table: &Path) -> anyhow::Result<()> {
    if is_stream(table) || !table.is_file() {
        return Ok(());
    }
    let file = table.display();
    Err(usage(format!(
        "--follow would stop at the present end of {file}; have its lines sent as they come: \
         tail -n +1 -f {file} | unjitter predict --follow --instances -"
    )))
}
