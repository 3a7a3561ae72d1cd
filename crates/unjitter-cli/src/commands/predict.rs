//! `unjitter predict`: the detector alone, on any recording.

use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;
use unjitter::Fitted;
use unjitter::evaluation::{Detection, EventOptions, StreamOptions, detect_events};
use unjitter::io::{Chunk, Clock, Columns, InstanceChunks, TableText, takes_bytes_directly};
use unjitter::labels::Labels;

use super::follow::{Told, follow};
use crate::config::ConfigFile;
use crate::console::Console;
use crate::failure::usage;
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
    /// Print while the table is still written, as by `tail -f`: each line as soon as it is known.
    /// With `--detected -`, print events instead of probabilities. Lines of a session come in order of
    /// time
    #[arg(long)]
    follow: bool,
    /// With --follow, where labels form a chain: print an instance at most so many seconds after it,
    /// by what came until then. Otherwise it waits until nothing that may come can move it
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
        events_table(&options, &[])?;
        let fitted = self.model.load()?;
        options.threshold = self.threshold.unwrap_or(fitted.threshold());
        options.labels = fitted.model().labels;
        let threshold = options.threshold;
        let (path, columns) = self.instances(&fitted, console)?;
        let open = || InstanceChunks::open(&path, &columns);
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

    /// The table of instances and its columns.
    fn instances(
        &mut self,
        fitted: &Fitted,
        console: &Console,
    ) -> anyhow::Result<(PathBuf, Columns)> {
        // No events are read here.
        self.input.event_columns.only = vec![String::new()];
        adopt_columns(&mut self.input, fitted, console)?;
        Ok((self.input.files()?.instances, self.input.columns()?))
    }

    /// Prints what leaves while instances arrive.
    fn follow(mut self, console: &Console) -> anyhow::Result<()> {
        let is_printed = |path: &Path| is_stream(path) || takes_bytes_directly(path);
        let told = self.detected.as_deref().unwrap_or(&self.output).to_owned();
        if console.json || !is_printed(&self.output) || !is_printed(&told) {
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
        let mut printed =
            Stream::open(self.detected.as_deref().unwrap_or(&self.output), self.force)?;
        let (path, columns) = self.instances(&fitted, console)?;
        let chunks = InstanceChunks::open(&path, &columns)?;
        follow(chunks, &first, told, &mut printed)?;
        printed.finish()
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
    let mut table = TableText::new(b',', event_header(options.labels).iter().copied());
    let mut found = 0;
    for Seen { session, clock, times, probabilities, .. } in seen {
        for event in detect_events(times, probabilities, options)? {
            found += 1;
            push_event(&mut table, options.labels, session, clock, &event);
        }
    }
    Ok((table.into(), found))
}

/// The columns of detected events.
pub(super) fn event_header(labels: Labels) -> &'static [&'static str] {
    match labels {
        Labels::Independent => &["session", "time", "probability"],
        Labels::Chain => &["session", "start", "end", "probability"],
    }
}

/// Adds the line of a detected event.
pub(super) fn push_event(
    table: &mut TableText,
    labels: Labels,
    session: &str,
    clock: &Clock,
    event: &Detection,
) {
    let (time, end) = (clock.write(event.time), clock.write(event.end));
    let p = format!("{:.6}", event.score);
    match labels {
        Labels::Independent => table.push([session, &time, &p]),
        Labels::Chain => table.push([session, &time, &end, &p]),
    }
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
