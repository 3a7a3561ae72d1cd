//! `unjitter predict`: the detector alone, on any recording.

use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;
use unjitter::Fitted;
use unjitter::evaluation::{EventOptions, detect_events};
use unjitter::io::{Chunk, Clock, InstanceChunks, TableText};
use unjitter::labels::Labels;

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
/// Writes one line per instance: session, time, probability. The table is read and written piece
/// by piece, so it may be larger than memory. Features are found by name; their order does not
/// matter. Where labels form a chain, probabilities are smoothed along whole sessions, so that
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
        let mut options =
            EventOptions { min_separation: self.min_separation, ..EventOptions::default() };
        options.threshold = self.threshold.unwrap_or(options.threshold);
        // Reports wrong options before the work.
        events_table(&options, &[])?;
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
            Labels::Independent => self.predict(&fitted, threshold, &mut chunks, &mut stream)?,
            Labels::Chain => smoothed(&fitted, threshold, &mut chunks, &mut stream)?,
        };
        let mut events = None;
        if let Some(path) = &self.detected {
            let (text, count) = events_table(&options, &found.seen)?;
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
        let mut table = TableText::new(chunks.delimiter(), COLUMNS);
        stream.write(&table.take())?;
        let mut found = Found::default();
        let (mut chunk, mut text) = (Chunk::default(), String::new());
        while chunks.next(&mut chunk, CHUNK)? {
            let probabilities = fitted.predict(chunk.features())?;
            for (k, &p) in probabilities.iter().enumerate() {
                text.clear();
                write_probability(&mut text, p);
                table.push([chunk.session(k), chunk.time_text(k), &text]);
                found.count(p, threshold);
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
}

/// The columns of the probabilities.
const COLUMNS: [&str; 3] = ["session", "time", "probability"];

/// Reads all of the table, whose labels form a chain, before the first line is written.
fn smoothed(
    fitted: &Fitted,
    threshold: f64,
    chunks: &mut InstanceChunks,
    stream: &mut Stream,
) -> anyhow::Result<Found> {
    let (mut chunk, mut found) = (Chunk::default(), Found::default());
    // The session of each line, its place there, and its time as written.
    let mut lines: Vec<(usize, usize, Box<str>)> = Vec::new();
    while chunks.next(&mut chunk, CHUNK)? {
        for (k, &f) in fitted.log_odds(chunk.features())?.iter().enumerate() {
            found.remember(&chunk, k, chunks, f);
            let at = chunk.positions[k];
            lines.push((at, found.seen[at].times.len() - 1, chunk.time_text(k).into()));
        }
    }
    for Seen { times, probabilities, .. } in &mut found.seen {
        // Lines may come in any order, and a chain takes instances in that of their times.
        let mut order: Vec<usize> = (0..times.len()).collect();
        order.sort_by(|&a, &b| times[a].total_cmp(&times[b]));
        let of = |values: &[f64]| order.iter().map(|&k| values[k]).collect::<Vec<_>>();
        let smoothed = fitted.smoothed(&of(times), &of(probabilities));
        order.iter().zip(smoothed).for_each(|(&k, p)| probabilities[k] = p);
    }
    let mut table = TableText::new(chunks.delimiter(), COLUMNS);
    let mut text = String::new();
    for lines in lines.chunks(CHUNK) {
        for (at, place, time) in lines {
            let p = found.seen[*at].probabilities[*place];
            text.clear();
            write_probability(&mut text, p);
            table.push([found.seen[*at].session.as_str(), time, &text]);
            found.count(p, threshold);
        }
        stream.write(&table.take())?;
    }
    Ok(found)
}

/// The table of events, and how many there are.
fn events_table(options: &EventOptions, seen: &[Seen]) -> anyhow::Result<(Vec<u8>, usize)> {
    // Options are checked even if there is nothing to detect.
    detect_events(&[], &[], options)?;
    let header: &[&str] = match options.labels {
        Labels::Independent => &["session", "time", "probability"],
        Labels::Chain => &["session", "start", "end", "probability"],
    };
    let mut table = TableText::new(b',', header.iter().copied());
    let mut found = 0;
    for Seen { session, clock, times, probabilities, .. } in seen {
        for event in detect_events(times, probabilities, options)? {
            found += 1;
            let (time, end) = (clock.write(event.time), clock.write(event.end));
            let p = format!("{:.6}", event.score);
            match options.labels {
                Labels::Independent => table.push([session.as_str(), &time, &p]),
                Labels::Chain => table.push([session.as_str(), &time, &end, &p]),
            }
        }
    }
    Ok((table.into(), found))
}

impl Found {
    fn count(&mut self, p: f64, threshold: f64) {
        self.instances += 1;
        self.positive += usize::from(p >= threshold);
    }

    /// Keeps a number of an instance with its session.
    fn remember(&mut self, chunk: &Chunk, line: usize, chunks: &InstanceChunks, own: f64) {
        let at = chunk.positions[line];
        if at == self.seen.len() {
            let (session, clock) = (chunk.session(line).to_owned(), chunks.clock(at));
            self.seen.push(Seen { session, clock, times: vec![], probabilities: vec![] });
        }
        self.seen[at].times.push(chunk.times[line]);
        self.seen[at].probabilities.push(own);
    }
}
