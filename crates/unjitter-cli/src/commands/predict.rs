//! `unjitter predict`: the detector alone, on any recording.

use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;
use unjitter::evaluation::EventOptions;
use unjitter::io::InstanceChunks;
use unjitter::labels::Labels;

use super::predicted::{Found, events_table, piece_by_piece, smoothed};
use crate::config::ConfigFile;
use crate::console::Console;
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
        // No events are read here.
        self.input.event_columns.only = vec![String::new()];
        adopt_columns(&mut self.input, &fitted, console)?;
        let files = self.input.files()?;
        let mut chunks = InstanceChunks::open(&files.instances, &self.input.columns()?)?;
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
}
