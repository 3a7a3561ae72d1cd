//! `unjitter align`: the place of every stamp.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;
use unjitter::io::{Dataset, EventsTable};
use unjitter::math::median;
use unjitter::{AlignOptions, Aligned, AlignedStamp, Fitted, Recording};

use super::event_tables::{merged_table, missed_table};
use crate::adapted::adapted;
use crate::checked::Checked;
use crate::config::ConfigFile;
use crate::console::Console;
use crate::failure::{Mistake, usage};
use crate::input::Input;
use crate::model_file::{ModelFile, adopt_columns};
use crate::output::{Output, is_stream, refuse_mixed};
use crate::stamp_output::{self, moved_files, places, written_back};
use crate::words::{count, counted, percent, seconds};

/// Give every stamp back where it belongs
///
/// Writes the events table back with its times put right: in the column of times is where each
/// event belongs (the median of where it may have been), and new columns have stamp (what was
/// pressed, as it was written), low and high (95 % interval unless --level says otherwise), instance_time (the likeliest
/// instance) and p_spurious (the probability that it was pressed for nothing). If events have several classes, aligned_class
/// has the likeliest one and p_class its probability. Your other columns
/// stay as they are, so whatever reads your events reads the aligned ones. Where events have an end or a
/// duration, that is put right too, and never lies before the beginning; new columns have end_stamp or
/// duration_stamp (as it was written), end_low, end_high and end_p_spurious. A second table lists
/// events that were probably missed, with the likeliest class if there are several. Instances are all that an event can belong to, so the interval
/// may shrink to one of them. Groups that the model has not seen, such as another clock or person, are
/// learned from their stamps first.
///
/// Stamp files of other programs are written back as they are, with the chosen stamps where they belong, if
/// --output has the name of such a file (fixed.atr) or is a folder for all of them (fixed/). If it is a table
/// (.csv, .tsv), they become one; so what other programs call .csv or .tsv themselves (DCASE, BORIS, tags.csv)
/// needs a folder to be written back.
#[derive(Debug, Clone, Args, Serialize)]
pub(crate) struct Align {
    #[command(flatten)]
    input: Input,
    #[command(flatten)]
    #[serde(flatten)]
    checked: Checked,
    #[command(flatten)]
    model: ModelFile,
    /// Where the aligned events go: a table, a stamp file of the kind that was read, or a folder for several;
    /// `-` is standard output
    #[arg(short, long, value_name = "FILE", default_value = "aligned.csv")]
    output: PathBuf,
    /// Where the events that were probably missed go
    #[arg(long, value_name = "FILE", default_value = "missed.csv")]
    missed: PathBuf,
    /// Write a table of events too, one line for all stamps of an event: session, time, p_positive
    /// (the probability that it is one), stamps (how many), seen_by (who gave them, such as Ada; Ben), and
    /// its likeliest class if there are several
    #[arg(long, value_name = "FILE")]
    merged: Option<PathBuf>,
    /// Probability above which an event counts as missed
    #[arg(long, value_name = "P", default_value_t = 0.5)]
    missed_above: f64,
    #[command(flatten)]
    #[serde(flatten)]
    sure: HowSure,
    /// Replace the outputs if they are there
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    config: ConfigFile,
}

/// Most draws: they are held in memory, and more tell nothing.
const MOST_DRAWS: usize = 100_000;

/// Intervals, and what they account for.
#[derive(Debug, Clone, Copy, Args, Serialize)]
pub(crate) struct HowSure {
    /// Probability of the interval from low to high
    #[arg(long, value_name = "P", default_value_t = 0.95)]
    level: f64,
    /// Draws of what was learned that results are averaged over, so that intervals account for what the
    /// fit does not know; 0 takes it as certain
    #[arg(long, value_name = "N", default_value_t = 32)]
    draws: usize,
}

impl HowSure {
    fn options(self) -> anyhow::Result<AlignOptions> {
        let Self { level, draws } = self;
        if !(level > 0.0 && level < 1.0) {
            return Err(usage(format!("--level {level}: expected a number between 0 and 1")));
        }
        if draws > MOST_DRAWS {
            return Err(usage(format!("--draws {draws}: expected at most {MOST_DRAWS}")));
        }
        Ok(AlignOptions { level, draws, ..AlignOptions::default() })
    }
}

/// The result of aligning, for machines.
#[derive(Debug, Serialize)]
pub(crate) struct AlignResult {
    stamps: usize,
    probably_spurious: usize,
    probably_missed: usize,
    median_shift: f64,
    output: PathBuf,
    missed: PathBuf,
    /// Events that stamps belong to, if they are written.
    merged: Option<usize>,
}

impl Align {
    pub(crate) fn run(mut self, console: &Console) -> anyhow::Result<()> {
        if !(0.0..=1.0).contains(&self.missed_above) {
            let found = self.missed_above;
            return Err(usage(format!("--missed-above {found}: expected a number from 0 to 1")));
        }
        let options = self.sure.options()?;
        let folder = stamp_output::in_folder(&self.output, &self.input.events_paths()?)?;
        let outputs = folder.as_deref().unwrap_or(std::slice::from_ref(&self.output));
        let others = [self.missed.as_path()].into_iter().chain(self.merged.as_deref());
        let paths: Vec<&Path> = outputs.iter().map(PathBuf::as_path).chain(others).collect();
        refuse_mixed(console, &paths)?;
        let is_streamed = paths.iter().any(|path| is_stream(path));
        let mut output = Output::promise(paths, self.force)?;
        let fitted = self.model.load()?;
        adopt_columns(&mut self.input, &fitted, console)?;
        let data = self.input.read_stamped(false)?;
        self.checked.refuse(&data, &fitted.model().varies, console)?;
        let fitted_column = self.input.event_columns.fitted_time_column.as_deref();
        let time_column = fitted_column.unwrap_or(&self.input.columns.time_column);
        refuse_aligned(&data)?;
        refuse_foreign_columns(&data, time_column)?;
        refuse_class_columns(&data, &fitted)?;
        let files = written_back(&data, &self.output, folder.as_deref())?;
        let fitted = adapted(fitted, &data, console)?.0;
        let aligned = align(&fitted, &data, &options)?;
        for warning in data.recordings.iter().filter_map(|one| fitted.far_stamps(&one.session)) {
            console.warn(&warning.to_string());
        }
        let (missed, missed_count) = missed_table(&data, &aligned, time_column, self.missed_above);
        match files {
            Some(paths) => {
                let files = moved_files(&data, &aligned, &paths);
                files.into_iter().for_each(|file| output.add_moved(file));
            }
            None => output.add(&self.output, events_table(&data, &aligned, time_column)),
        }
        output.add(&self.missed, missed);
        let mut events = None;
        if let Some(path) = &self.merged {
            let (table, count) = merged_table(&data, &aligned, time_column);
            output.add(path, table);
            events = Some(count);
        }
        output.write()?;
        let (output, missed) = (self.output.clone(), self.missed.clone());
        let result =
            AlignResult { merged: events, ..summarise(&aligned, missed_count, output, missed) };
        if is_streamed {
            return Ok(());
        }
        console.result(&result, || text(&result, self.merged.as_deref()))
    }
}

/// Every session aligned.
pub(crate) fn align(
    fitted: &Fitted,
    data: &Dataset,
    options: &AlignOptions,
) -> anyhow::Result<Vec<Aligned>> {
    let align = |recording: &Recording<'_>| fitted.align_with(&recording.session, options);
    let aligned = data.recordings.iter().map(align);
    Ok(aligned.collect::<unjitter::Result<_>>()?)
}

/// The column of the press.
pub(crate) const STAMP: &str = "stamp";
/// Columns added to the events, after the stamp.
const COLUMNS: [&str; 4] = ["low", "high", "instance_time", "p_spurious"];
/// Columns added to these if there are several classes.
const CLASS_COLUMNS: [&str; 2] = ["aligned_class", "p_class"];
/// Columns added where events have ends, after the end as it was written.
const END_COLUMNS: [&str; 3] = ["end_low", "end_high", "end_p_spurious"];

/// The column for an end, or a duration, as it was written.
fn written_end(has_times: bool) -> &'static str {
    if has_times { "end_stamp" } else { "duration_stamp" }
}

pub(crate) fn events(data: &Dataset) -> &EventsTable {
    data.events.as_ref().expect("the data were read with events")
}

/// Refuses a table that `align` wrote, unless its stamps are read: corrected times are not presses, and a
/// second move would go unnoticed.
pub(crate) fn refuse_aligned(data: &Dataset) -> anyhow::Result<()> {
    let EventsTable { file, header, .. } = events(data);
    let (time, has) = (events(data).time_column(), |name: &str| header.iter().any(|h| h == name));
    if let Some((end, has_times)) = events(data).end_column()
        && time == STAMP
        && has(written_end(has_times))
        && end != written_end(has_times)
    {
        let (written, option) =
            (written_end(has_times), if has_times { "end" } else { "duration" });
        let message = format!(
            "{file}: it was aligned already, and `{end}` is where events end, not when that was pressed; say \
             --event-{option}-column {written}"
        );
        return Err(Mistake::Data(message).into());
    }
    if time == STAMP || ![STAMP, "low", "high"].into_iter().all(has) {
        return Ok(());
    }
    let message = format!(
        "{file}: it was aligned already, and `{time}` is where events belong, not when they were \
         pressed; give the table it was made from, or --event-time-column {STAMP}"
    );
    Err(Mistake::Data(message).into())
}

/// A table with some but not all of the new columns uses them for something else.
fn refuse_foreign_columns(data: &Dataset, time_column: &str) -> anyhow::Result<()> {
    let EventsTable { file, header, .. } = events(data);
    // One of the time and the stamp is read; the other is new.
    let new =
        if events(data).time_column() == STAMP { place_column(data, time_column) } else { STAMP };
    let is_there = |name: &&str| header.iter().any(|column| column == name);
    let mut all = [new].into_iter().chain(COLUMNS).collect::<Vec<_>>();
    if let Some((_, has_times)) = events(data).end_column() {
        all.extend([written_end(has_times)].into_iter().chain(END_COLUMNS));
    }
    let found: Vec<&str> = all.iter().copied().filter(is_there).collect();
    match found.first() {
        Some(name) if found.len() < all.len() => {
            let message = format!("{file}: its column `{name}` would be overwritten; rename it");
            Err(Mistake::Data(message).into())
        }
        _ => Ok(()),
    }
}

/// The same of those about classes.
fn refuse_class_columns(data: &Dataset, fitted: &Fitted) -> anyhow::Result<()> {
    let EventsTable { file, header, .. } = events(data);
    let is_there = |name: &&str| header.iter().any(|column| column == name);
    let found: Vec<&str> = CLASS_COLUMNS.into_iter().filter(is_there).collect();
    match found[..] {
        [only] if fitted.classes().len() > 1 => {
            let message = format!("{file}: its column `{only}` would be overwritten; rename it");
            Err(Mistake::Data(message).into())
        }
        _ => Ok(()),
    }
}

/// The column for corrected times: the events' time column, or the common one if events are read from
/// their stamps or have only an earliest and latest time.
pub(crate) fn place_column<'a>(data: &'a Dataset, time_column: &'a str) -> &'a str {
    match events(data).time_column() {
        STAMP if time_column == STAMP => "time",
        STAMP if events(data).end_column().is_some() => {
            let is_there = |name: &&str| events(data).header.iter().any(|column| column == name);
            [time_column, "start", "onset"].into_iter().find(is_there).unwrap_or(time_column)
        }
        STAMP => time_column,
        _ if events(data).is_between() => time_column,
        own => own,
    }
}

/// The events table with corrected times and its new columns.
pub(crate) fn events_table(data: &Dataset, aligned: &[Aligned], time_column: &str) -> Vec<u8> {
    let events = events(data);
    let places = places(data, aligned);
    let start = |row: usize| {
        let (like, pressed) = (events.time_text(row), events.stamp_text(row));
        let Some((session, aligned, l)) = places[row] else {
            let mut cells = [const { String::new() }; 6];
            cells[0] = like.to_owned();
            cells[1] = pressed;
            return cells;
        };
        let (stamp, write) =
            (aligned.stamps[l], |time| data.clocks[session].write_like(time, like));
        [
            write(stamp.time),
            pressed,
            write(stamp.low),
            write(stamp.high),
            write(stamp.instance_time),
            probability(stamp.p_spurious),
        ]
    };
    let [low, high, instance_time, p_spurious] = COLUMNS;
    let time = place_column(data, time_column);
    let mut names = vec![time, STAMP, low, high, instance_time, p_spurious];
    let end = events.end_column();
    if let Some((end, has_times)) = end {
        // Events that are read from their stamps get their place in the usual columns.
        let end = match (end == written_end(has_times), has_times) {
            (false, _) => end,
            (true, true) => "end",
            (true, false) => "duration",
        };
        names.extend([end, written_end(has_times)].into_iter().chain(END_COLUMNS));
    }
    let has_classes = aligned.iter().any(|own| own.classes.is_some());
    names.extend(CLASS_COLUMNS.into_iter().filter(|_| has_classes));
    let ends = |row: usize, has_times: bool| {
        let written = events.end_text(row);
        let aligned = places[row].and_then(|(session, aligned, l)| {
            Some((session, aligned.stamps[l], (*aligned.ends.get(l)?)?))
        });
        let Some((session, start, end)) = aligned else {
            let mut cells = [const { String::new() }; 5];
            (cells[0], cells[1]) = (written.to_owned(), written.to_owned());
            // What lasted no time still does, where its beginning has gone.
            if let Some((session, aligned, l)) = places[row].filter(|_| has_times)
                && data.clocks[session].seconds(written).is_ok()
            {
                cells[0] = data.clocks[session].write_like(aligned.stamps[l].time, written);
            }
            return cells;
        };
        // Durations are no times to write others like.
        let like = if has_times { written } else { events.time_text(row) };
        let write = |time| data.clocks[session].write_like(time, like);
        let place = match has_times {
            true => write(end.time),
            false => events.write_duration(end.time - start.time),
        };
        let (low, high) = (write(end.low), write(end.high));
        [place, written.to_owned(), low, high, probability(end.p_spurious)]
    };
    let class = |row: usize| {
        let (_, aligned, l) = places[row]?;
        let (class, p) = aligned.classes.as_ref()?.of_stamp(l);
        Some([class.to_owned(), probability(p)])
    };
    events.with_columns(&names, |row| {
        let mut cells = start(row).to_vec();
        cells.extend(end.into_iter().flat_map(|(_, has_times)| ends(row, has_times)));
        cells.extend(has_classes.then(|| class(row).unwrap_or_default()).into_iter().flatten());
        cells
    })
}

pub(crate) fn probability(p: f64) -> String {
    format!("{p:.6}")
}

fn summarise(
    aligned: &[Aligned],
    missed: usize,
    output: PathBuf,
    missed_file: PathBuf,
) -> AlignResult {
    let stamps: Vec<&AlignedStamp> = aligned.iter().flat_map(|one| &one.stamps).collect();
    let shifts = stamps.iter().map(|stamp| (stamp.stamp - stamp.time).abs());
    AlignResult {
        stamps: stamps.len(),
        probably_spurious: stamps.iter().filter(|stamp| stamp.p_spurious > 0.5).count(),
        probably_missed: missed,
        median_shift: median(shifts.collect()).unwrap_or(0.0),
        output,
        missed: missed_file,
        merged: None,
    }
}

fn text(result: &AlignResult, merged: Option<&Path>) -> String {
    let mut text = String::new();
    let share = result.probably_spurious as f64 / (result.stamps.max(1)) as f64;
    let _ = writeln!(
        text,
        "{} stamps aligned, moved by {} in the median",
        count(result.stamps),
        seconds(result.median_shift)
    );
    let _ = writeln!(
        text,
        "{} ({}) were probably pressed for nothing",
        count(result.probably_spurious),
        percent(share)
    );
    let _ = writeln!(text, "{} events were probably missed", count(result.probably_missed));
    let (output, missed) = (result.output.display(), result.missed.display());
    match merged.zip(result.merged) {
        Some((merged, events)) => {
            let (merged, events) = (merged.display(), counted(events, "event"));
            let _ = write!(text, "wrote {output}, {missed} and {merged} ({events})");
        }
        None => {
            let _ = write!(text, "wrote {output} and {missed}");
        }
    }
    text
}
