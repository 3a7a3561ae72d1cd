//! `unjitter align`: every stamp back where it belongs.

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;
use serde::Serialize;
use unjitter::io::{Dataset, TableText, to_microsecond};
use unjitter::{Aligned, AlignedStamp, Fitted};

use crate::config::ConfigFile;
use crate::console::Console;
use crate::failure::{Mistake, usage};
use crate::input::Input;
use crate::model_file::{ModelFile, adopt_columns};
use crate::output::{Output, is_stream, refuse_mixed};
use crate::words::{count, percent, seconds};

/// Give every stamp back where it belongs
///
/// Writes the events table back with new columns: aligned_time (mean of where the event may have
/// been), lo and hi (95 % interval), instance_time (the likeliest instance) and p_spurious (the
/// probability that it was pressed for nothing). Your other columns stay as they are. A second
/// table lists events that were probably missed. Instances are all that an event can belong to, so
/// the interval may shrink to one of them, while the mean still leans to its neighbours.
#[derive(Debug, Clone, Args, Serialize)]
pub(crate) struct Align {
    #[command(flatten)]
    input: Input,
    #[command(flatten)]
    model: ModelFile,
    /// Where the aligned events go; `-` is standard output
    #[arg(short, long, value_name = "FILE", default_value = "aligned.csv")]
    output: PathBuf,
    /// Where the events that were probably missed go
    #[arg(long, value_name = "FILE", default_value = "missed.csv")]
    missed: PathBuf,
    /// Probability above which an event counts as missed
    #[arg(long, value_name = "P", default_value_t = 0.5)]
    missed_above: f64,
    /// Replace the outputs if they are there
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    config: ConfigFile,
}

/// What aligning found, for machines.
#[derive(Debug, Serialize)]
pub(crate) struct AlignResult {
    stamps: usize,
    probably_spurious: usize,
    probably_missed: usize,
    median_shift: f64,
    output: PathBuf,
    missed: PathBuf,
}

impl Align {
    pub(crate) fn run(mut self, console: &Console) -> anyhow::Result<()> {
        if !(0.0..=1.0).contains(&self.missed_above) {
            let found = self.missed_above;
            return Err(usage(format!("--missed-above {found}: expected a number from 0 to 1")));
        }
        let paths = [self.output.as_path(), self.missed.as_path()];
        refuse_mixed(console, &paths)?;
        let mut output = Output::promise(paths, self.force)?;
        self.input.protect(paths, Some(&self.model.model))?;
        let fitted = self.model.load()?;
        adopt_columns(&mut self.input.columns, &fitted, console)?;
        let data = self.input.read_stamped(false)?;
        refuse_foreign_columns(&data)?;
        let aligned = align(&fitted, &data)?;
        for warning in data.recordings.iter().filter_map(|one| fitted.far_stamps(&one.session)) {
            console.warn(&warning.to_string());
        }
        let (missed, missed_count) = missed_table(&data, &aligned, self.missed_above);
        output.add(&self.output, events_table(&data, &aligned));
        output.add(&self.missed, missed);
        output.write()?;
        let (output, missed) = (self.output.clone(), self.missed.clone());
        let result = summarise(&aligned, missed_count, output, missed);
        if is_stream(&self.output) || is_stream(&self.missed) {
            return Ok(());
        }
        console.result(&result, || text(&result))
    }
}

/// Every session aligned.
pub(crate) fn align(fitted: &Fitted, data: &Dataset) -> anyhow::Result<Vec<Aligned>> {
    let aligned = data.recordings.iter().map(|recording| fitted.align(&recording.session));
    Ok(aligned.collect::<unjitter::Result<_>>()?)
}

/// Columns that are added to the events.
const COLUMNS: [&str; 5] = ["aligned_time", "lo", "hi", "instance_time", "p_spurious"];

/// A table that has some of the new columns but not all has them for something else.
fn refuse_foreign_columns(data: &Dataset) -> anyhow::Result<()> {
    let events = data.events.as_ref().expect("the data were read with events");
    let is_there = |name: &&&str| events.header.iter().any(|column| column == **name);
    let found: Vec<&&str> = COLUMNS.iter().filter(is_there).collect();
    match found.first() {
        Some(name) if found.len() < COLUMNS.len() => {
            let file = &events.file;
            let message = format!("{file}: its column `{name}` would be overwritten; rename it");
            Err(Mistake::Data(message).into())
        }
        _ => Ok(()),
    }
}

/// The events table with its new columns.
pub(crate) fn events_table(data: &Dataset, aligned: &[Aligned]) -> Vec<u8> {
    let events = data.events.as_ref().expect("the data were read with events");
    let mut places: Vec<Option<(usize, AlignedStamp)>> = vec![None; events.rows.len()];
    for (session, (rows, aligned)) in data.stamp_rows.iter().zip(aligned).enumerate() {
        for (&row, stamp) in rows.iter().zip(&aligned.stamps) {
            places[row] = Some((session, *stamp));
        }
    }
    events.with_columns(COLUMNS, |row| {
        let Some((session, stamp)) = places[row] else {
            return std::array::from_fn(|_| String::new());
        };
        let write = |time| data.clocks[session].write_like(time, events.time_text(row));
        [
            // Nanoseconds of a mean are noise.
            write(to_microsecond(stamp.time)),
            write(stamp.low),
            write(stamp.high),
            write(stamp.instance_time),
            probability(stamp.p_spurious),
        ]
    })
}

/// A table of events that were probably missed, and how many there are.
pub(crate) fn missed_table(data: &Dataset, aligned: &[Aligned], above: f64) -> (Vec<u8>, usize) {
    let events = data.events.as_ref().expect("the data were read with events");
    let (session, time, delimiter) = events.layout();
    let mut table = TableText::new(delimiter, [session, time, "p_missed", "p_detector"]);
    let mut missed = 0;
    for (k, aligned) in aligned.iter().enumerate() {
        let name = data.recordings[k].session.name();
        for instance in aligned.instances.iter().filter(|instance| instance.p_missed > above) {
            missed += 1;
            let time = data.clocks[k].write(instance.time);
            let (p_missed, p) = (probability(instance.p_missed), probability(instance.p_detector));
            table.push([name, &time, &p_missed, &p]);
        }
    }
    (table.into(), missed)
}

fn probability(p: f64) -> String {
    format!("{p:.6}")
}

fn summarise(
    aligned: &[Aligned],
    missed: usize,
    output: PathBuf,
    missed_file: PathBuf,
) -> AlignResult {
    let stamps: Vec<&AlignedStamp> = aligned.iter().flat_map(|one| &one.stamps).collect();
    let mut shifts: Vec<f64> =
        stamps.iter().map(|stamp| (stamp.stamp - stamp.instance_time).abs()).collect();
    shifts.sort_by(f64::total_cmp);
    AlignResult {
        stamps: stamps.len(),
        probably_spurious: stamps.iter().filter(|stamp| stamp.p_spurious > 0.5).count(),
        probably_missed: missed,
        median_shift: shifts.get(shifts.len() / 2).copied().unwrap_or(0.0),
        output,
        missed: missed_file,
    }
}

fn text(result: &AlignResult) -> String {
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
    let _ = write!(text, "wrote {} and {}", result.output.display(), result.missed.display());
    text
}
