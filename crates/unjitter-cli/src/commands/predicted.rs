//! What `unjitter predict` finds: a line of probabilities for every instance, and events.

use unjitter::Fitted;
use unjitter::evaluation::{Detection, EventOptions, detect_class_events};
use unjitter::io::{Chunk, Clock, InstanceChunks, TableText};
use unjitter::labels::Labels;

use crate::output::Stream;
use crate::words::write_probability;

/// Lines in memory at a time: as many as the caches hold, even with hundreds of features.
const CHUNK: usize = 1024;

/// The result so far.
pub(super) struct Found<'a> {
    pub(super) instances: usize,
    pub(super) positive: usize,
    /// The classes of events, if there are several.
    pub(super) classes: &'a [String],
    /// By session, if they are needed.
    pub(super) seen: Vec<Seen>,
    threshold: f64,
}

/// Instances of one session so far.
pub(super) struct Seen {
    session: String,
    clock: Clock,
    times: Vec<f64>,
    /// By instance and class.
    probabilities: Vec<f64>,
}

/// The classes of a model, if there are several.
pub(super) fn several(fitted: &Fitted) -> &[String] {
    if fitted.classes().len() > 1 { fitted.classes() } else { &[] }
}

/// Processes the table piece by piece. What is found is kept if it is needed.
pub(super) fn piece_by_piece<'a>(
    fitted: &'a Fitted,
    threshold: f64,
    chunks: &mut InstanceChunks,
    stream: &mut Stream,
    remember: bool,
) -> anyhow::Result<Found<'a>> {
    let mut found = Found::new(fitted, threshold);
    let mut table = found.table(chunks.delimiter());
    stream.write(&table.take())?;
    let (mut chunk, classes) = (Chunk::default(), found.outputs());
    while chunks.next(&mut chunk, CHUNK)? {
        let by_class = match classes {
            1 => fitted.predict(chunk.features())?,
            _ => fitted.class_probabilities(chunk.features())?,
        };
        for (k, own) in by_class.chunks_exact(classes).enumerate() {
            found.push(&mut table, chunk.session(k), chunk.time_text(k), own);
            if remember {
                found.remember(&chunk, k, chunks, own);
            }
        }
        stream.write(&table.take())?;
        if stream.is_closed() && !remember {
            break;
        }
    }
    Ok(found)
}

/// Reads all of the table, whose labels form a chain, before the first line is written.
pub(super) fn smoothed<'a>(
    fitted: &'a Fitted,
    threshold: f64,
    chunks: &mut InstanceChunks,
    stream: &mut Stream,
) -> anyhow::Result<Found<'a>> {
    let (mut chunk, mut found) = (Chunk::default(), Found::new(fitted, threshold));
    let classes = found.outputs();
    // The session of each line, its place there, and its time as written.
    let mut lines: Vec<(usize, usize, Box<str>)> = Vec::new();
    while chunks.next(&mut chunk, CHUNK)? {
        let scores = fitted.class_log_odds(chunk.features())?;
        for (k, own) in scores.chunks_exact(classes).enumerate() {
            found.remember(&chunk, k, chunks, own);
            let at = chunk.positions[k];
            lines.push((at, found.seen[at].times.len() - 1, chunk.time_text(k).into()));
        }
    }
    found.seen.iter_mut().for_each(|own| own.smooth(fitted, classes));
    let mut table = found.table(chunks.delimiter());
    for lines in lines.chunks(CHUNK) {
        for (at, place, time) in lines {
            let Seen { session, probabilities, .. } = &found.seen[*at];
            let own = probabilities[place * classes..(place + 1) * classes].to_vec();
            let session = session.clone();
            found.push(&mut table, &session, time, &own);
        }
        stream.write(&table.take())?;
    }
    Ok(found)
}

impl<'a> Found<'a> {
    fn new(fitted: &'a Fitted, threshold: f64) -> Self {
        Self { instances: 0, positive: 0, classes: several(fitted), seen: Vec::new(), threshold }
    }

    /// Numbers of an instance.
    fn outputs(&self) -> usize {
        self.classes.len().max(1)
    }

    /// The table of probabilities.
    fn table(&self, delimiter: u8) -> TableText {
        let of_classes = self.classes.iter().map(|class| format!("p_{class}"));
        let header = ["session", "time", "probability"].map(str::to_owned);
        TableText::new(delimiter, header.into_iter().chain(of_classes).collect::<Vec<String>>())
    }

    /// Adds the line of an instance with these probabilities of classes.
    fn push(&mut self, table: &mut TableText, session: &str, time: &str, own: &[f64]) {
        let p: f64 = own.iter().sum();
        let each = if self.classes.is_empty() { &[] } else { own };
        let text = |p: f64| {
            let mut text = String::new();
            write_probability(&mut text, p);
            text
        };
        let line = [session.to_owned(), time.to_owned(), text(p)];
        table.push(line.into_iter().chain(each.iter().map(|&p| text(p))).collect::<Vec<String>>());
        self.instances += 1;
        self.positive += usize::from(p >= self.threshold);
    }

    /// Keeps numbers of an instance, by class, with its session.
    fn remember(&mut self, chunk: &Chunk, line: usize, chunks: &InstanceChunks, own: &[f64]) {
        let at = chunk.positions[line];
        if at == self.seen.len() {
            let (session, clock) = (chunk.session(line).to_owned(), chunks.clock(at));
            self.seen.push(Seen { session, clock, times: vec![], probabilities: vec![] });
        }
        self.seen[at].times.push(chunk.times[line]);
        self.seen[at].probabilities.extend(own);
    }
}

impl Seen {
    /// Makes probabilities of log-odds, along the chain: lines may come in any order, and a chain takes instances in that of
    /// their times.
    fn smooth(&mut self, fitted: &Fitted, classes: usize) {
        let mut order: Vec<usize> = (0..self.times.len()).collect();
        order.sort_by(|&a, &b| self.times[a].total_cmp(&self.times[b]));
        let times: Vec<f64> = order.iter().map(|&k| self.times[k]).collect();
        let row = |k: usize| k * classes..(k + 1) * classes;
        let scores: Vec<f64> =
            order.iter().flat_map(|&k| &self.probabilities[row(k)]).copied().collect();
        let found = fitted.smoothed_by_class(&times, &scores);
        for (&k, own) in order.iter().zip(found.chunks_exact(classes)) {
            self.probabilities[row(k)].copy_from_slice(own);
        }
    }
}

/// The table of events, and how many there are.
pub(super) fn events_table(
    options: &EventOptions,
    classes: &[String],
    seen: &[Seen],
) -> anyhow::Result<(Vec<u8>, usize)> {
    // Options are checked even if there is nothing to detect.
    detect_class_events(&[], &[], 1, options)?;
    let mut table = TableText::new(b',', event_header(options.labels, classes));
    let mut found = 0;
    for Seen { session, clock, times, probabilities, .. } in seen {
        for one in detect_class_events(times, probabilities, classes.len().max(1), options)? {
            found += 1;
            let class = classes.get(one.class);
            table.push(event_line(options.labels, session, clock, &one.event, class));
        }
    }
    Ok((table.into(), found))
}

/// The columns of detected events.
pub(super) fn event_header(labels: Labels, classes: &[String]) -> Vec<&'static str> {
    let mut header = match labels {
        Labels::Independent => vec!["session", "time", "probability"],
        Labels::Chain => vec!["session", "start", "end", "probability"],
    };
    header.extend((!classes.is_empty()).then_some("class"));
    header
}

/// The line of a detected event.
pub(super) fn event_line(
    labels: Labels,
    session: &str,
    clock: &Clock,
    event: &Detection,
    class: Option<&String>,
) -> Vec<String> {
    let mut line = vec![session.to_owned(), clock.write(event.time)];
    line.extend((labels == Labels::Chain).then(|| clock.write(event.end)));
    line.push(format!("{:.6}", event.score));
    line.extend(class.cloned());
    line
}
