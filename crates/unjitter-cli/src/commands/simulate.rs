//! `unjitter simulate`: recordings with a known truth, or sloppy stamps for labelled data.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde::Serialize;
use unjitter::io::{Clock, Columns, Dataset, DatasetFiles, TableText, compress};
use unjitter::learning::median_spacing;
use unjitter::signal::{CYCLE_FEATURES, CycleOptions};
use unjitter::simulation::{
    ChestBand, EndSloppiness, Respiration, Sloppiness, Tails, WEARABLE_FEATURES, Wearable,
};
use unjitter::{Control, Recording, Session};

use crate::config::ConfigFile;
use crate::console::Console;
use crate::input::recorded_errors;
use crate::output::Output;
use crate::words::{count, counted, seconds};

/// Make a dataset with sloppy stamps and a known truth
///
/// Chest-band recordings of people who smoke, cut into breaths, with a stamp for each puff from an
/// annotator as sloppy as you say; or, with --preset wearable, windows of movement in which
/// something is done for a while, stamped at both ends; or, with --from, new stamps for a labelled
/// dataset of yours.
/// Times of the annotator are in multiples of the median spacing of instances.
#[derive(Debug, Clone, Args, Serialize)]
pub(crate) struct Simulate {
    /// What, and how large: breaths as in the paper's mPuff (13 sessions) or puffMarker (30 sessions), or
    /// a wearable's overlapping windows (24 sessions)
    #[arg(long, default_value = "mpuff")]
    preset: Preset,
    /// Sessions, if not as many as the preset has; events and instances go with them
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=10_000))]
    sessions: Option<u16>,
    /// Press for the labels of this dataset instead
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["preset", "sessions"])]
    from: Option<PathBuf>,
    #[command(flatten)]
    annotator: AnnotatorArgs,
    /// Folder for the dataset
    #[arg(short, long, value_name = "FOLDER")]
    output: PathBuf,
    /// Replace files that are there
    #[arg(long)]
    force: bool,
    /// Seed of everything random
    #[arg(long, default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    config: ConfigFile,
}

/// A dataset of the paper, or one whose events last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
enum Preset {
    Mpuff,
    Puffmarker,
    Wearable,
}

/// How sloppy.
#[derive(Debug, Clone, Args, Serialize)]
pub(crate) struct AnnotatorArgs {
    /// Mean delay, in median spacings; below 0 is early
    #[arg(
        long,
        value_name = "X",
        default_value_t = 0.0,
        allow_negative_numbers = true,
        help_heading = "Annotator"
    )]
    delay: f64,
    /// Standard deviation of the delays, in median spacings
    #[arg(long, value_name = "X", default_value_t = 1.0, help_heading = "Annotator")]
    spread: f64,
    /// Standard deviation of an offset that all presses of a session share, in median spacings
    #[arg(long, value_name = "X", default_value_t = 0.0, help_heading = "Annotator")]
    offset_spread: f64,
    /// Standard deviation of what the clock of a session gains, in parts per million
    #[arg(long, value_name = "PPM", default_value_t = 0.0, help_heading = "Annotator")]
    drift_spread: f64,
    /// What presses are rounded to, in median spacings
    #[arg(long, value_name = "X", default_value_t = 0.0, help_heading = "Annotator")]
    rounded: f64,
    /// How many people press, in turns; events.csv then has a column `annotator`
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1,
        value_parser = clap::value_parser!(u16).range(1..=1000),
        help_heading = "Annotator"
    )]
    people: u16,
    /// Let all of them press at every session
    #[arg(long, help_heading = "Annotator")]
    together: bool,
    /// Standard deviation of the delays of different people, in median spacings
    #[arg(long, value_name = "X", default_value_t = 0.0, help_heading = "Annotator")]
    habits: f64,
    /// Press ends too: an event is a run of instances, and this is the standard deviation of the delays of
    /// its end, in median spacings; events.csv then has columns `start` and `end`. Of the wearable's events
    /// ends are always pressed, with --spread if nothing else is said
    #[arg(long, value_name = "X", help_heading = "Annotator")]
    end_spread: Option<f64>,
    /// Mean delay of ends, in median spacings
    #[arg(
        long,
        value_name = "X",
        default_value_t = 0.0,
        allow_negative_numbers = true,
        requires = "end_spread",
        help_heading = "Annotator"
    )]
    end_delay: f64,
    /// Share of true events that are pressed
    #[arg(long, value_name = "P", default_value_t = 1.0, help_heading = "Annotator")]
    pressed: f64,
    /// Presses for nothing, per true event
    #[arg(long, value_name = "X", default_value_t = 0.0, help_heading = "Annotator")]
    extra: f64,
    /// Shape of the delays
    #[arg(long, default_value = "gaussian", help_heading = "Annotator")]
    tails: TailsName,
    /// Degrees of freedom of student-t
    #[arg(long, value_name = "X", default_value_t = 5.0, help_heading = "Annotator")]
    degrees_of_freedom: f64,
    /// A table of errors that people made, to draw delays from: a column `error`
    #[arg(long, value_name = "FILE", help_heading = "Annotator")]
    errors: Option<PathBuf>,
    /// The column of the errors
    #[arg(long, value_name = "NAME", default_value = "error", help_heading = "Annotator")]
    error_column: String,
}

/// A shape of delays by name.
#[derive(Debug, Clone, Copy, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum TailsName {
    Gaussian,
    Laplace,
    StudentT,
}

impl AnnotatorArgs {
    fn sloppiness(&self) -> anyhow::Result<Sloppiness> {
        let tails = match (&self.errors, self.tails) {
            (Some(path), _) => {
                Tails::Recorded { errors: recorded_errors(path, &self.error_column)? }
            }
            (None, TailsName::Gaussian) => Tails::Gaussian,
            (None, TailsName::Laplace) => Tails::Laplace,
            (None, TailsName::StudentT) => {
                Tails::StudentT { degrees_of_freedom: self.degrees_of_freedom }
            }
        };
        Ok(Sloppiness {
            tails,
            delay: self.delay,
            spread: self.spread,
            offset_spread: self.offset_spread,
            drift_spread: 1e-6 * self.drift_spread,
            rounded: self.rounded,
            pressed: self.pressed,
            extra: self.extra,
            people: self.people.into(),
            together: self.together,
            // People whose delays differ also differ in how far their presses scatter.
            habits: (self.habits, if self.habits > 0.0 { 0.3 } else { 0.0 }),
            ends: self.end_spread.map(|spread| EndSloppiness { delay: self.end_delay, spread }),
        })
    }
}

/// A simulated dataset.
pub(crate) struct Made {
    /// Sessions with stamps and truth.
    pub recordings: Vec<Recording<'static>>,
    /// The notation of their times.
    clocks: Vec<Clock>,
    /// Names of the features.
    pub features: Vec<String>,
    /// The raw recordings, if there are any.
    pub bands: Vec<ChestBand>,
}

/// The result, for machines.
#[derive(Debug, Serialize)]
struct SimulateResult<'a> {
    folder: &'a PathBuf,
    sessions: usize,
    instances: usize,
    events: usize,
    stamps: usize,
}

impl Simulate {
    pub(crate) fn run(self, console: &Console) -> anyhow::Result<()> {
        let last = match (&self.from, self.preset) {
            (Some(_), _) => Some("observed.csv"),
            (None, Preset::Wearable) => None,
            (None, _) => Some("signal.csv.gz"),
        };
        let names = ["instances.csv", "events.csv", "true_events.csv"].into_iter().chain(last);
        let paths: Vec<PathBuf> = names.map(|name| self.output.join(name)).collect();
        let mut output = Output::promise(paths.iter().map(PathBuf::as_path), self.force)?;
        let mut sloppiness = self.annotator.sloppiness()?;
        let made = match &self.from {
            Some(folder) => Made::from_folder(folder)?,
            None => self.preset.simulate(self.sessions.map(usize::from), self.seed)?,
        };
        if self.from.is_none() && self.preset == Preset::Wearable {
            let as_beginnings =
                EndSloppiness { delay: self.annotator.delay, spread: self.annotator.spread };
            sloppiness.ends = sloppiness.ends.or(Some(as_beginnings));
        }
        let made = made.annotated(&sloppiness, self.seed)?;
        for (name, bytes) in made.files() {
            output.add(self.output.join(name), bytes);
        }
        output.write()?;
        let result = made.result(&self.output);
        console.result(&result, || {
            let SimulateResult { sessions, instances, events, stamps, .. } = result;
            let spacing = seconds(median_spacing(&made.sessions()));
            format!(
                "{}: {} {spacing} apart, {} true events, {} stamps; wrote {}",
                counted(sessions, "session"),
                counted(instances, "instance"),
                count(events),
                count(stamps),
                self.output.display(),
            )
        })
    }
}

impl Preset {
    /// The recordings, with another number of sessions if given, not annotated yet.
    fn simulate(self, sessions: Option<usize>, seed: u64) -> anyhow::Result<Made> {
        let breaths = |all: Respiration| match sessions {
            Some(sessions) => Made::respiration(&all.with_sessions(sessions), seed),
            None => Made::respiration(&all, seed),
        };
        match self {
            Self::Mpuff => breaths(Respiration::mpuff()),
            Self::Puffmarker => breaths(Respiration::puffmarker()),
            Self::Wearable => {
                let all = Wearable::default();
                let study = Wearable { people: sessions.unwrap_or(all.people), ..all };
                let recordings = study.simulate(seed, Control::default())?;
                Ok(Made::new(recordings, &WEARABLE_FEATURES, vec![]))
            }
        }
    }
}

impl Made {
    fn new(recordings: Vec<Recording<'static>>, features: &[&str], bands: Vec<ChestBand>) -> Self {
        let features = features.iter().map(|name| (*name).to_owned()).collect();
        let clocks = vec![Clock::default(); recordings.len()];
        Self { recordings, clocks, features, bands }
    }

    /// Chest-band recordings, not annotated yet.
    pub(crate) fn respiration(options: &Respiration, seed: u64) -> anyhow::Result<Self> {
        let bands = options.simulate(seed, Control::default())?;
        let mut recordings = Vec::new();
        for band in &bands {
            recordings.push(band.session(&CycleOptions::default())?.recording());
        }
        Ok(Self::new(recordings, CYCLE_FEATURES, bands))
    }

    fn from_folder(folder: &std::path::Path) -> anyhow::Result<Self> {
        let files = DatasetFiles { events: None.into(), ..DatasetFiles::in_folder(folder)? };
        let data = Dataset::read(&files, &Columns::default(), false)?;
        let Dataset { recordings, clocks, features, .. } = data;
        Ok(Self { recordings, clocks, features, bands: vec![] })
    }

    /// The same with stamps for the true events.
    pub(crate) fn annotated(self, sloppiness: &Sloppiness, seed: u64) -> anyhow::Result<Self> {
        let unit = median_spacing(&self.sessions());
        Ok(Self { recordings: sloppiness.annotate(&self.recordings, unit, seed)?, ..self })
    }

    fn sessions(&self) -> Vec<Session<'static>> {
        self.recordings.iter().map(|recording| recording.session.clone()).collect()
    }

    /// The files of the dataset.
    pub(crate) fn files(&self) -> Vec<(&'static str, Vec<u8>)> {
        let mut files = vec![
            ("instances.csv", self.instances()),
            ("events.csv", self.events()),
            ("true_events.csv", self.true_events()),
        ];
        if self.recordings.iter().any(|recording| recording.session.observed().is_some()) {
            files.push(("observed.csv", self.observed()));
        }
        if !self.bands.is_empty() {
            files.push(("signal.csv.gz", compress(&self.signal())));
        }
        files
    }

    fn instances(&self) -> Vec<u8> {
        let named = ["session", "subject", "time"].map(str::to_owned);
        let header = named.into_iter().chain(self.features.clone()).chain(["label".to_owned()]);
        let mut table = TableText::new(b',', header);
        for (Recording { session, truth }, clock) in self.recordings.iter().zip(&self.clocks) {
            let subject = session.subject().unwrap_or_default();
            for i in 0..session.len() {
                let mut line = vec![session.name().to_owned(), subject.to_owned()];
                line.push(clock.write(session.times()[i]));
                line.extend(session.features().row(i).iter().map(f64::to_string));
                let label = truth.as_ref().map(|truth| u8::from(truth[i]).to_string());
                line.push(label.unwrap_or_default());
                table.push(line);
            }
        }
        table.into()
    }

    /// The stamps, and who gave them if that is known.
    fn events(&self) -> Vec<u8> {
        let is_known = |own: &Recording| !own.session.annotators().is_empty();
        let annotator = self.recordings.iter().any(is_known).then_some("annotator");
        let has_ends = self.has_ends();
        let header = if has_ends { &["session", "start", "end"][..] } else { &["session", "time"] };
        let mut table = TableText::new(b',', header.iter().copied().chain(annotator));
        for (Recording { session, .. }, clock) in self.recordings.iter().zip(&self.clocks) {
            for (l, &stamp) in session.stamps().iter().enumerate() {
                let name = session.annotator_of(l).map(|k| session.annotators()[k].as_str());
                let of = annotator.map(|_| name.unwrap_or_default());
                let end =
                    has_ends.then(|| session.end_of(l).map_or(String::new(), |t| clock.write(t)));
                let cells = [session.name().to_owned(), clock.write(stamp)].into_iter().chain(end);
                table.push(cells.chain(of.map(str::to_owned)));
            }
        }
        table.into()
    }

    fn has_ends(&self) -> bool {
        self.recordings.iter().any(|recording| recording.session.has_ends())
    }

    /// True events; runs from their first instance to their last where ends are pressed.
    fn true_events(&self) -> Vec<u8> {
        if self.has_ends() {
            return self.true_bouts_table();
        }
        let mut table = TableText::new(b',', ["session", "time"]);
        for (recording, clock) in self.recordings.iter().zip(&self.clocks) {
            for time in true_events(recording) {
                table.push([recording.session.name(), &clock.write(time)]);
            }
        }
        table.into()
    }

    fn true_bouts_table(&self) -> Vec<u8> {
        let mut table = TableText::new(b',', ["session", "start", "end"]);
        for (recording, clock) in self.recordings.iter().zip(&self.clocks) {
            for (start, last) in true_bouts(recording) {
                let name = recording.session.name();
                table.push([name, &clock.write(start), &clock.write(last)]);
            }
        }
        table.into()
    }

    fn observed(&self) -> Vec<u8> {
        let mut table = TableText::new(b',', ["session", "start", "end"]);
        for (Recording { session, .. }, clock) in self.recordings.iter().zip(&self.clocks) {
            for &(start, end) in session.observed().unwrap_or_default() {
                table.push([session.name(), &clock.write(start), &clock.write(end)]);
            }
        }
        table.into()
    }

    fn signal(&self) -> Vec<u8> {
        let mut table = TableText::new(b',', ["session", "time", "value"]);
        for band in &self.bands {
            for (time, value) in band.signal.times().iter().zip(band.signal.values()) {
                table.push([&band.name, &format!("{time:.3}"), &format!("{value:.1}")]);
            }
        }
        table.into()
    }

    fn result<'a>(&self, folder: &'a PathBuf) -> SimulateResult<'a> {
        let events = |recording: &Recording| match self.has_ends() {
            true => true_bouts(recording).len(),
            false => true_events(recording).len(),
        };
        SimulateResult {
            folder,
            sessions: self.recordings.len(),
            instances: self.recordings.iter().map(|one| one.session.len()).sum(),
            events: self.recordings.iter().map(events).sum(),
            stamps: self.recordings.iter().map(|one| one.session.stamps().len()).sum(),
        }
    }
}

fn true_events(recording: &Recording) -> Vec<f64> {
    let truth = recording.truth.iter().flatten();
    let times = recording.session.times().iter().zip(truth);
    times.filter(|(_, label)| **label).map(|(time, _)| *time).collect()
}

/// Times of the first and the last instance of every run of true ones.
fn true_bouts(recording: &Recording) -> Vec<(f64, f64)> {
    let times = recording.session.times();
    let runs = recording.true_runs().unwrap_or_default();
    runs.into_iter().map(|(first, last)| (times[first], times[last])).collect()
}
