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
/// Writes one line per instance: session, time, probability, and with several classes of events the probability of each,
/// as p_CLASS. The table is read and written piece
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
    /// By instance and class.
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
        events_table(&options, &[], &[])?;
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
            let (text, count) = events_table(&options, several(&fitted), &found.seen)?;
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
        let of_classes = several(fitted).iter().map(|class| format!("p_{class}"));
        let header: Vec<String> = HEADER.map(str::to_owned).into_iter().chain(of_classes).collect();
        let mut table = TableText::new(chunks.delimiter(), &header);
        stream.write(&table.take())?;
        let (classes, is_known) = (fitted.classes().len().max(1), known.is_some());
        let mut found = Found { seen: known.unwrap_or_default(), ..Found::default() };
        let mut chunk = Chunk::default();
        let mut texts = vec![String::new(); header.len() - 2];
        while chunks.next(&mut chunk, CHUNK)? {
            let by_class: Vec<f64> = match is_known {
                true => {
                    chunk.positions.iter().flat_map(|&at| found.seen[at].next(classes)).collect()
                }
                false if classes > 1 => fitted.class_probabilities(chunk.features())?,
                false => fitted.predict(chunk.features())?,
            };
            for (k, own) in by_class.chunks_exact(classes).enumerate() {
                let p: f64 = own.iter().sum();
                for (text, &p) in texts.iter_mut().zip([&[p], own].concat().iter()) {
                    text.clear();
                    write_probability(text, p);
                }
                let line = [chunk.session(k), chunk.time_text(k)].into_iter();
                table.push(line.chain(texts.iter().map(String::as_str)));
                found.instances += 1;
                found.positive += usize::from(p >= threshold);
                if self.detected.is_some() && !is_known {
                    remember(&mut found.seen, &chunk, k, chunks, own);
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

const HEADER: [&str; 3] = ["session", "time", "probability"];

/// The classes of a model, if there are several.
fn several(fitted: &Fitted) -> &[String] {
    if fitted.classes().len() > 1 { fitted.classes() } else { &[] }
}

/// Every session of a table with its probabilities, smoothed along the chain.
fn smoothed(fitted: &Fitted, mut chunks: InstanceChunks) -> anyhow::Result<Vec<Seen>> {
    let (mut chunk, mut all) = (Chunk::default(), Vec::new());
    let classes = fitted.classes().len().max(1);
    while chunks.next(&mut chunk, CHUNK)? {
        let scores = fitted.class_log_odds(chunk.features())?;
        for (k, own) in scores.chunks_exact(classes).enumerate() {
            remember(&mut all, &chunk, k, &chunks, own);
        }
    }
    for Seen { times, probabilities, .. } in &mut all {
        // Lines may come in any order, and a chain takes instances in that of their times.
        let mut order: Vec<usize> = (0..times.len()).collect();
        order.sort_by(|&a, &b| times[a].total_cmp(&times[b]));
        let times: Vec<f64> = order.iter().map(|&k| times[k]).collect();
        let row = |k: usize| k * classes..(k + 1) * classes;
        let scores: Vec<f64> =
            order.iter().flat_map(|&k| &probabilities[row(k)]).copied().collect();
        let found = fitted.smoothed_by_class(&times, &scores);
        for (&k, own) in order.iter().zip(found.chunks_exact(classes)) {
            probabilities[row(k)].copy_from_slice(own);
        }
    }
    Ok(all)
}

/// The table of events, and how many there are. Those of each class are found by themselves.
fn events_table(
    options: &EventOptions,
    classes: &[String],
    seen: &[Seen],
) -> anyhow::Result<(Vec<u8>, usize)> {
    // Options are checked even if there is nothing to detect.
    detect_events(&[], &[], options)?;
    let mut header = match options.labels {
        Labels::Independent => vec!["session", "time", "probability"],
        Labels::Chain => vec!["session", "start", "end", "probability"],
    };
    header.extend((!classes.is_empty()).then_some("class"));
    let mut table = TableText::new(b',', header);
    let mut found = 0;
    for Seen { session, clock, times, probabilities, .. } in seen {
        let mut events = Vec::new();
        for k in 0..classes.len().max(1) {
            let own = probabilities.iter().skip(k).step_by(classes.len().max(1));
            let own: Vec<f64> = own.copied().collect();
            let own = detect_events(times, &own, options)?;
            events.extend(own.into_iter().map(|event| (event, classes.get(k))));
        }
        events.sort_by(|(a, _), (b, _)| a.time.total_cmp(&b.time));
        for (event, class) in events {
            found += 1;
            let mut line = vec![session.clone(), clock.write(event.time)];
            line.extend((options.labels == Labels::Chain).then(|| clock.write(event.end)));
            line.push(format!("{:.6}", event.score));
            line.extend(class.cloned());
            table.push(line);
        }
    }
    Ok((table.into(), found))
}

/// Keeps numbers of an instance, by class, with its session.
fn remember(
    seen: &mut Vec<Seen>,
    chunk: &Chunk,
    line: usize,
    chunks: &InstanceChunks,
    own: &[f64],
) {
    let at = chunk.positions[line];
    if at == seen.len() {
        let (session, clock) = (chunk.session(line).to_owned(), chunks.clock(at));
        seen.push(Seen { session, clock, times: vec![], probabilities: vec![], written: 0 });
    }
    seen[at].times.push(chunk.times[line]);
    seen[at].probabilities.extend(own);
}

impl Seen {
    /// The probabilities of its next line.
    fn next(&mut self, classes: usize) -> Vec<f64> {
        self.written += 1;
        self.probabilities[(self.written - 1) * classes..self.written * classes].to_vec()
    }
}
