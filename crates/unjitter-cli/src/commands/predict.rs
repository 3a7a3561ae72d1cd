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
/// matter. Where labels form a chain, probabilities are smoothed along whole sessions: the table is
/// read twice, and 16 bytes per instance are kept.
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
    /// How many have been written.
    written: usize,
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
        let columns = self.input.columns()?;
        let open = || InstanceChunks::open(&files.instances, &columns);
        let known = match options.labels {
            Labels::Independent => None,
            Labels::Chain => Some(smoothed(&fitted, open()?)?),
        };
        let found = self.predict(&fitted, known, threshold, &mut open()?, &mut stream)?;
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

    /// Processes the table piece by piece; probabilities are known already where labels form a chain.
    fn predict(
        &self,
        fitted: &Fitted,
        known: Option<Vec<Seen>>,
        threshold: f64,
        chunks: &mut InstanceChunks,
        stream: &mut Stream,
    ) -> anyhow::Result<Found> {
        let mut table = TableText::new(chunks.delimiter(), ["session", "time", "probability"]);
        stream.write(&table.take())?;
        let is_known = known.is_some();
        let mut found = Found { seen: known.unwrap_or_default(), ..Found::default() };
        let (mut chunk, mut text) = (Chunk::default(), String::new());
        while chunks.next(&mut chunk, CHUNK)? {
            let probabilities = match is_known {
                true => chunk.positions.iter().map(|&at| found.seen[at].next()).collect(),
                false => fitted.predict(chunk.features())?,
            };
            for (k, &p) in probabilities.iter().enumerate() {
                text.clear();
                write_probability(&mut text, p);
                table.push([chunk.session(k), chunk.time_text(k), &text]);
                found.instances += 1;
                found.positive += usize::from(p >= threshold);
                if self.detected.is_some() && !is_known {
                    remember(&mut found.seen, &chunk, k, chunks, p);
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

/// Every session of a table with its probabilities, smoothed along the chain.
fn smoothed(fitted: &Fitted, mut chunks: InstanceChunks) -> anyhow::Result<Vec<Seen>> {
    let (mut chunk, mut all) = (Chunk::default(), Vec::new());
    while chunks.next(&mut chunk, CHUNK)? {
        for (k, &f) in fitted.log_odds(chunk.features())?.iter().enumerate() {
            remember(&mut all, &chunk, k, &chunks, f);
        }
    }
    for Seen { times, probabilities, .. } in &mut all {
        // Lines may come in any order, and a chain takes instances in that of their times.
        let mut order: Vec<usize> = (0..times.len()).collect();
        order.sort_by(|&a, &b| times[a].total_cmp(&times[b]));
        let of = |values: &[f64]| order.iter().map(|&k| values[k]).collect::<Vec<_>>();
        let found = fitted.smoothed(&of(times), &of(probabilities));
        order.iter().zip(found).for_each(|(&k, p)| probabilities[k] = p);
    }
    Ok(all)
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

/// Keeps a number of an instance with its session.
fn remember(seen: &mut Vec<Seen>, chunk: &Chunk, line: usize, chunks: &InstanceChunks, own: f64) {
    let at = chunk.positions[line];
    if at == seen.len() {
        let (session, clock) = (chunk.session(line).to_owned(), chunks.clock(at));
        seen.push(Seen { session, clock, times: vec![], probabilities: vec![], written: 0 });
    }
    seen[at].times.push(chunk.times[line]);
    seen[at].probabilities.push(own);
}

impl Seen {
    /// The probability of its next line.
    fn next(&mut self) -> f64 {
        self.written += 1;
        self.probabilities[self.written - 1]
    }
}
