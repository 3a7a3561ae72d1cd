//! `unjitter predict`: the detector alone, on any recording.

use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;
use unjitter::Fitted;
use unjitter::evaluation::{EventOptions, detect_events};
use unjitter::io::{Chunk, Clock, InstanceChunks, TableText};

use crate::config::ConfigFile;
use crate::console::Console;
use crate::input::Input;
use crate::model_file::{ModelFile, adopt_columns};
use crate::output::{Output, Stream, is_stream, refuse_mixed};
use crate::words::{counted, write_probability};

/// Lines in memory at a time: as many as the caches hold, even with hundreds of features.
const CHUNK: usize = 1024;

/// Find events in recordings that nobody annotated
///
/// Writes one line per instance: session, time, probability, and with several classes of events the probability of each,
/// as p_CLASS. The table is read and written piece
/// by piece, so it may be larger than memory. Features are found by name; their order does not
/// matter.
#[derive(Debug, Clone, Args, Serialize)]
pub(crate) struct Predict {
    #[command(flatten)]
    input: Input,
    #[command(flatten)]
    model: ModelFile,
    /// Where the probabilities go; `-` is standard output
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: PathBuf,
    /// Write a table of detected events too: session, time, probability
    #[arg(long, value_name = "FILE")]
    detected: Option<PathBuf>,
    /// Probability from which an instance counts as an event; by default the model's own (see the
    /// option of fit)
    #[arg(long, value_name = "P")]
    threshold: Option<f64>,
    /// Least time between two events, in seconds
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

/// The result so far.
#[derive(Default)]
struct Found {
    instances: usize,
    positive: usize,
    /// By session, if events are to be detected.
    seen: Vec<Seen>,
}

/// Instances of one session so far.
struct Seen {
    session: String,
    clock: Clock,
    times: Vec<f64>,
    probabilities: Vec<f64>,
}

impl Predict {
    pub(crate) fn run(mut self, console: &Console) -> anyhow::Result<()> {
        refuse_mixed(console, &[self.output.as_path()])?;
        let mut outputs: Vec<&Path> = vec![self.output.as_path()];
        outputs.extend(self.detected.as_deref());
        let mut detected = Output::promise(outputs, self.force)?;
        let mut stream = Stream::open(&self.output, self.force)?;
        // Reports wrong options before the work.
        self.events(self.threshold.unwrap_or(0.5), &[])?;
        let fitted = self.model.load()?;
        let threshold = self.threshold.unwrap_or(fitted.threshold());
        // No events are read here.
        self.input.event_columns.only = vec![String::new()];
        adopt_columns(&mut self.input, &fitted, console)?;
        let files = self.input.files()?;
        let mut chunks = InstanceChunks::open(&files.instances, &self.input.columns()?)?;
        let found = self.predict(&fitted, threshold, &mut chunks, &mut stream)?;
        let mut events = None;
        if let Some(path) = &self.detected {
            let (text, count) = self.events(threshold, &found.seen)?;
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

    /// Processes the table piece by piece.
    fn predict(
        &self,
        fitted: &Fitted,
        threshold: f64,
        chunks: &mut InstanceChunks,
        stream: &mut Stream,
    ) -> anyhow::Result<Found> {
        let classes = match fitted.classes().len() {
            0 | 1 => Vec::new(),
            _ => fitted.classes().iter().map(|class| format!("p_{class}")).collect(),
        };
        let mut header = ["session", "time", "probability"].map(str::to_owned).to_vec();
        header.extend(classes.clone());
        let mut table = TableText::new(chunks.delimiter(), &header);
        stream.write(&table.take())?;
        let mut found = Found::default();
        let (mut chunk, mut text) = (Chunk::default(), String::new());
        while chunks.next(&mut chunk, CHUNK)? {
            let probabilities = fitted.predict(chunk.features())?;
            let by_class = match classes.len() {
                0 => Vec::new(),
                _ => fitted.class_probabilities(chunk.features())?,
            };
            for (k, &p) in probabilities.iter().enumerate() {
                text.clear();
                write_probability(&mut text, p);
                let own = &by_class[k * classes.len()..(k + 1) * classes.len()];
                if own.is_empty() {
                    table.push([chunk.session(k), chunk.time_text(k), &text]);
                } else {
                    let mut line = vec![chunk.session(k).to_owned(), chunk.time_text(k).to_owned()];
                    line.push(text.clone());
                    line.extend(own.iter().map(|&p| {
                        let mut text = String::new();
                        write_probability(&mut text, p);
                        text
                    }));
                    table.push(&line);
                }
                found.instances += 1;
                found.positive += usize::from(p >= threshold);
                if self.detected.is_some() {
                    found.remember(&chunk, k, chunks, p);
                }
            }
            stream.write(&table.take())?;
            if stream.is_closed() && self.detected.is_none() {
                break;
            }
        }
        Ok(found)
    }

    fn events(&self, threshold: f64, seen: &[Seen]) -> anyhow::Result<(Vec<u8>, usize)> {
        let options = EventOptions { threshold, min_separation: self.min_separation };
        // Options are checked even if there is nothing to detect.
        detect_events(&[], &[], &options)?;
        let mut table = TableText::new(b',', ["session", "time", "probability"]);
        let mut found = 0;
        for Seen { session, clock, times, probabilities } in seen {
            for event in detect_events(times, probabilities, &options)? {
                found += 1;
                let (time, p) = (clock.write(event.time), format!("{:.6}", event.score));
                table.push([session.as_str(), &time, &p]);
            }
        }
        Ok((table.into(), found))
    }
}

impl Found {
    fn remember(&mut self, chunk: &Chunk, line: usize, chunks: &InstanceChunks, p: f64) {
        let at = chunk.positions[line];
        if at == self.seen.len() {
            let (session, clock) = (chunk.session(line).to_owned(), chunks.clock(at));
            self.seen.push(Seen { session, clock, times: vec![], probabilities: vec![] });
        }
        self.seen[at].times.push(chunk.times[line]);
        self.seen[at].probabilities.push(p);
    }
}
