//! `unjitter sync`: clocks that are off.

use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;
use unjitter::io::{Dataset, EventsTable};
use unjitter::model::{Factor, Varying};
use unjitter::sync::{SyncOptions, SyncedClock, Verdict, moved_back, sync};
use unjitter::{Error, FitOptions, Fitted, Model, Session, Warning};

use super::align::refuse_aligned;
use super::fit::fit;
use crate::checked::Checked;
use crate::clocks_gallery::{STEM, clocks_drawing};
use crate::clocks_text::{csv, text};
use crate::config::ConfigFile;
use crate::console::{Console, show};
use crate::failure::Mistake;
use crate::group_args::factor;
use crate::input::Input;
use crate::interrupt::{self, Listening};
use crate::model_file::{ModelFile, adopt_columns};
use crate::modes_text::{mode_number, warning};
use crate::output::{Output, is_stream, refuse_mixed};
use crate::time_span::TimeSpan;
use crate::words::{counted, few};

/// Find how far clocks are off
///
/// The telephone on which somebody pressed, and the sensor, may have clocks that differ by minutes, or
/// run at different speeds. This looks, for each clock, where its stamps fit the recording best: how far
/// they are late (the offset, beyond the delay that all share), and what the clock gains (the drift, in
/// parts per million). The verdict is found, if one place explains the stamps far better than all others;
/// several, if others do about as well; flat, if the stamps hardly tell; or no stamps. With -o the
/// events are written with their times put back, ends with their beginnings. `fit --clock` finds clocks
/// while it learns; this is for looking at them, and for stamps that other programs are to use.
#[derive(Debug, Clone, Args)]
pub(crate) struct Sync {
    #[command(flatten)]
    input: Input,
    #[command(flatten)]
    checked: Checked,
    /// A model that `fit` wrote; without one, a detector is learned from these data, by clocks that
    /// are off
    #[arg(short, long, value_name = "FILE")]
    model: Option<PathBuf>,
    /// Use another explanation of the stamps than `fit` chose, by its number: 2 is the second
    #[arg(long, value_name = "N", value_parser = mode_number, requires = "model")]
    mode: Option<usize>,
    /// What shares a clock: session, clock, device, subject or annotator. A session of which the table of
    /// sessions does not say the clock has one of its own
    #[arg(long, value_name = "BY", default_value = "clock", value_parser = factor)]
    by: Factor,
    /// The furthest that a clock may be ahead or behind, such as 180s or 3min; by default twice the mean
    /// time between stamps
    #[arg(long, value_name = "TIME")]
    range: Option<TimeSpan>,
    /// The most that a clock may gain or lose, such as 0.05, 5% or 100ppm; 0 if all run at the right speed
    #[arg(long, value_name = "SHARE", default_value = "5%", value_parser = share)]
    drift: f64,
    /// Write the events with their times by the clock of the recording, and a column `before_sync` with
    /// what they were; `-` is standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write a table of the clocks: name, stamps, verdict, offset, low, high (95 %), drift_ppm,
    /// probability, others
    #[arg(long, value_name = "FILE")]
    clocks: Option<PathBuf>,
    /// Draw how well each offset explains the stamps of a clock, as an SVG file in this folder
    #[arg(long, value_name = "FOLDER")]
    figures: Option<PathBuf>,
    /// Replace the outputs if they are there
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    config: ConfigFile,
}

/// The result, for machines.
#[derive(Debug, Serialize)]
struct SyncResult<'a> {
    by: Factor,
    clocks: &'a [SyncedClock],
    /// Stamps that were moved, if they are written.
    moved: Option<usize>,
}

impl Sync {
    pub(crate) fn run(mut self, console: &Console) -> anyhow::Result<()> {
        let tables: Vec<&Path> = self.output.iter().chain(&self.clocks).map(|p| &**p).collect();
        refuse_mixed(console, &tables)?;
        let is_streamed = tables.iter().any(|path| is_stream(path));
        let figure = self.figures.as_ref().map(|folder| folder.join(format!("{STEM}.svg")));
        let mut output = Output::promise(tables.into_iter().chain(figure.as_deref()), self.force)?;
        let known = self.known(console)?;
        let data = self.input.read_stamped(false)?;
        self.checked.refuse(&data, &self.clocked().varies, console)?;
        refuse_aligned(&data)?;
        refuse_synced(&data)?;
        self.refuse_unknown(&data, console)?;
        let fitted = match known {
            Some(fitted) => fitted,
            None => self.learned(&data, console)?,
        };
        let clocks = self.find(&fitted, &data, console)?;
        let mut moved = None;
        if let Some(path) = &self.output {
            let (table, count) = moved_table(&data, self.by, &clocks);
            output.add(path, table);
            moved = Some(count);
            warn_of_lost(&clocks, console);
        }
        if let Some(path) = &self.clocks {
            output.add(path, csv(&clocks));
        }
        if let Some(path) = &figure {
            output.add(path, clocks_drawing(self.by, &clocks).file().1);
        }
        output.write()?;
        if is_streamed {
            return Ok(());
        }
        let result = SyncResult { by: self.by, clocks: &clocks, moved };
        console.result(&result, || text(self.by, &clocks, self.drift > 0.0))?;
        if let (Some(path), Some(moved)) = (&self.output, moved) {
            console.note(&format!("moved {}: {}", counted(moved, "stamp"), path.display()));
        }
        Ok(())
    }

    /// The model that was named, whose columns are then read.
    fn known(&mut self, console: &Console) -> anyhow::Result<Option<Fitted>> {
        let Some(model) = self.model.clone() else { return Ok(None) };
        let fitted = ModelFile { model, mode: self.mode }.load()?;
        adopt_columns(&mut self.input, &fitted, console)?;
        Ok(Some(fitted))
    }

    /// The usual model, by clocks that are off.
    fn clocked(&self) -> Model {
        let mut model = Model::default().varying(Varying::Offset, self.by);
        if self.drift > 0.0 {
            model = model.varying(Varying::Drift, self.by);
        }
        model.clock_range = self.range.as_ref().map(|range| range.seconds);
        model
    }

    fn learned(&self, data: &Dataset, console: &Console) -> anyhow::Result<Fitted> {
        let fitted = fit(data, &self.clocked(), &FitOptions::default(), console)?;
        // Clocks are told below, one by one.
        let is_told = |own: &&Warning| !matches!(own, Warning::ClocksNotFound { .. });
        fitted.warnings().iter().filter(is_told).for_each(|own| console.warn(&warning(own)));
        Ok(fitted)
    }

    /// Refuses data that do not say whose clock any stamp was taken by, or without stamps.
    fn refuse_unknown(&self, data: &Dataset, console: &Console) -> anyhow::Result<()> {
        let file = &events(data).file;
        if data.stamps() == 0 {
            let message =
                format!("{file}: it has no stamp of these sessions; clocks are found by stamps");
            return Err(Mistake::Data(message).into());
        }
        let (by, sessions) = (self.by, data.recordings.iter().map(|one| &one.session));
        let unknown: Vec<String> = sessions
            .filter(|session| !says_group(session, by))
            .map(|session| session.name().to_owned())
            .collect();
        if unknown.len() == data.recordings.len() {
            let (place, option) = match by {
                Factor::Annotator => (file.as_str(), "--annotator-column"),
                Factor::Subject => ("the table of sessions or of instances", "--subject-column"),
                _ => ("the table of sessions", "--device-column"),
            };
            let name = by.name();
            let message = format!(
                "--by {name}: no session says its {name}; expected a column `{name}` in {place}, or \
                 {option} NAME"
            );
            return Err(Mistake::Data(message).into());
        }
        if !unknown.is_empty() {
            let (name, sessions) = (by.name(), few(&unknown));
            console.warn(&format!(
                "no {name} is known of {sessions}: their clocks are not looked for"
            ));
        }
        Ok(())
    }

    /// Looks for all clocks with a progress bar, and stops on Ctrl-C.
    fn find(
        &self,
        fitted: &Fitted,
        data: &Dataset,
        console: &Console,
    ) -> anyhow::Result<Vec<SyncedClock>> {
        let options = SyncOptions {
            by: self.by,
            range: self.range.as_ref().map(|range| range.seconds),
            drift: self.drift,
            ..SyncOptions::default()
        };
        let _listening = Listening::start();
        let bar = console.progress("looking for clocks");
        let show = |progress| show(&bar, progress);
        let clocks = sync(fitted, &data.sessions(), &options, interrupt::control(&show));
        bar.finish_and_clear();
        clocks.map_err(|error| match error {
            Error::Cancelled => Mistake::Interrupted("nothing was written".to_owned()).into(),
            error => error.into(),
        })
    }
}

/// A share such as 0.05, 5% or 100ppm, below 1.
fn share(text: &str) -> Result<f64, String> {
    let units = [("ppm", 1e-6), ("%", 1e-2)];
    let named = units.iter().find_map(|(name, unit)| Some((text.strip_suffix(name)?, *unit)));
    let (number, unit) = named.unwrap_or((text, 1.0));
    let share = number.trim().parse::<f64>().ok().map(|number| unit * number);
    share
        .filter(|share| (0.0..1.0).contains(share))
        .ok_or_else(|| "expected a share from 0 to below 1, like 0.05, 5% or 100ppm".to_owned())
}

/// Whether it is known whose clock the stamps of a session were taken by.
fn says_group(session: &Session<'_>, by: Factor) -> bool {
    match by {
        Factor::Session | Factor::Clock => true,
        Factor::Annotator => !session.annotators().is_empty(),
        Factor::Subject => session.subject().is_some(),
        Factor::Device => session.device().is_some(),
        Factor::Class => !session.classes().is_empty(),
    }
}

/// The column of times by the clocks that are off. `align` knows another, so that it takes what is written
/// here.
const BEFORE: &str = "before_sync";

fn events(data: &Dataset) -> &EventsTable {
    data.events.as_ref().expect("the data were read with events")
}

/// Refuses a table that this verb wrote: its clocks are right already.
fn refuse_synced(data: &Dataset) -> anyhow::Result<()> {
    let EventsTable { file, header, .. } = events(data);
    if !header.iter().any(|name| name == BEFORE) {
        return Ok(());
    }
    let message = format!(
        "{file}: it has a column `{BEFORE}`, which `unjitter sync` writes; give the table it was made \
         from, or rename the column"
    );
    Err(Mistake::Data(message).into())
}

/// The events table with times by the clock of the recordings, and how many stamps were moved.
fn moved_table(data: &Dataset, by: Factor, clocks: &[SyncedClock]) -> (Vec<u8>, usize) {
    let events = events(data);
    // The session and by how much each line is moved; one that stays is written as it was.
    let mut moves: Vec<Option<(usize, f64)>> = vec![None; events.rows.len()];
    for (k, rows) in data.stamp_rows.iter().enumerate() {
        let session = &data.recordings[k].session;
        let moved = moved_back(session, by, clocks);
        for ((&row, stamp), moved) in rows.iter().zip(session.stamps()).zip(moved) {
            moves[row] = (moved != *stamp).then_some((k, moved - stamp));
        }
    }
    let moved = |row: usize, text: &str| {
        let (k, by) = moves[row]?;
        let clock = &data.clocks[k];
        Some(clock.write_like(clock.seconds(text).ok()? + by, text))
    };
    let cell = |row: usize, name: &str| {
        let column = events.header.iter().position(|own| own == name);
        let text = column.map_or("", |column| events.rows[row].cell(column));
        moved(row, text).unwrap_or_else(|| text.to_owned())
    };
    let mut times = vec![events.time_column()];
    times.extend(events.between_columns().into_iter().flatten());
    // An end moves with its beginning: how long things last does not depend on the clock, so durations stay.
    times.extend(events.end_column().filter(|(_, has_times)| *has_times).map(|(end, _)| end));
    let names = [&times[..], &[BEFORE]].concat();
    let table = events.with_columns(&names, |row| {
        let cells = times.iter().map(|name| cell(row, name));
        cells.chain([events.stamp_text(row)]).collect::<Vec<String>>()
    });
    (table, moves.iter().flatten().count())
}

/// Warns of stamps that were not moved.
fn warn_of_lost(clocks: &[SyncedClock], console: &Console) {
    let is_lost = |own: &&SyncedClock| matches!(own.verdict, Verdict::Several | Verdict::Flat);
    let lost: Vec<String> = clocks.iter().filter(is_lost).map(|own| own.name.clone()).collect();
    if !lost.is_empty() {
        let names = few(&lost);
        console.warn(&format!(
            "clocks of {names} were not found, and their stamps stay where they are"
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_have_units_or_none() {
        for (text, value) in [("0", 0.0), ("0.05", 0.05), ("5%", 0.05), ("100 ppm", 1e-4)] {
            // One multiplication: rounding only.
            assert!((share(text).unwrap() - value).abs() < 1e-15, "{text}");
        }
        for text in ["", "%", "-1%", "1", "100%", "nan", "inf", "5s"] {
            assert!(share(text).unwrap_err().contains("like 0.05, 5% or 100ppm"), "{text}");
        }
    }
}
