//! The input data: a folder or single tables, and the names of their columns.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};
use unjitter::io::{Columns, Dataset, DatasetFiles, Row, Table, TimeUnit};

use crate::failure::usage;
use crate::output::is_stream;
use crate::stamp_file_args::StampFileArgs;
use crate::time_span::TimeSpan;

/// A dataset on the command line. What is recorded of it are names of columns, but no paths: those
/// are nobody else's business, and lead nowhere on another machine.
#[derive(Debug, Clone, Args, Serialize)]
pub(crate) struct Input {
    /// A folder with instances.csv and events.csv (or .tsv, or .gz), and maybe sessions.csv,
    /// observed.csv and signal.csv
    #[arg(value_name = "DATA")]
    #[serde(skip)]
    pub data: Option<PathBuf>,
    /// Table of instances: session, time, features…, maybe label and subject. `-` is standard input
    #[arg(long, value_name = "FILE", help_heading = "Data")]
    #[serde(skip)]
    pub instances: Option<PathBuf>,
    /// Table of events: session, time, maybe annotator, and whatever else you keep there. Or a stamp file of
    /// another program, one for each session (give the option again, or a folder of them): WFDB (.atr), EDF+,
    /// BIDS, Audacity, Praat, Raven, RTTM, BORIS, ELAN, Empatica; `--only label=V` chooses what they say
    #[arg(long, value_name = "FILE", help_heading = "Data")]
    #[serde(skip)]
    pub events: Vec<PathBuf>,
    /// Table of sessions: session, and maybe subject (or group), device, clock, and annotators, such as
    /// Ada;Ben: everybody who annotated the session, with or without a stamp
    #[arg(long, value_name = "FILE", help_heading = "Data")]
    #[serde(skip)]
    pub sessions: Option<PathBuf>,
    /// Table of the times in which somebody was annotating: session, start, end
    #[arg(long, value_name = "FILE", help_heading = "Data")]
    #[serde(skip)]
    pub observed: Option<PathBuf>,
    /// Table of the raw signal, to look at: session, time, value
    #[arg(long, value_name = "FILE", help_heading = "Data")]
    #[serde(skip)]
    pub signal: Option<PathBuf>,
    #[command(flatten)]
    pub columns: ColumnArgs,
    #[command(flatten)]
    pub event_columns: EventColumnArgs,
    #[command(flatten)]
    pub session_columns: SessionColumnArgs,
    #[command(flatten)]
    #[serde(skip)]
    pub stamp_files: StampFileArgs,
}

/// What columns are called.
#[derive(Debug, Clone, Args, Serialize, Deserialize)]
pub struct ColumnArgs {
    /// Column with the session's name
    #[arg(long, value_name = "NAME", default_value = "session", help_heading = "Columns")]
    pub(crate) session_column: String,
    /// Column with the time: seconds, dates like 2024-05-31T14:03:27.5, or hours, minutes and seconds
    /// like 14:03:27.5
    #[arg(long, value_name = "NAME", default_value = "time", help_heading = "Columns")]
    pub(crate) time_column: String,
    /// Column with the hand-aligned label: 0, 1 or nothing
    #[arg(long, value_name = "NAME", default_value = "label", help_heading = "Columns")]
    pub(crate) label_column: String,
    /// Column with the person or animal recorded
    #[arg(long, value_name = "NAME", default_value = "subject", help_heading = "Columns")]
    pub(crate) subject_column: String,
    /// Columns that are features, separated by commas; by default all others
    #[arg(long, value_name = "NAMES", value_delimiter = ',', help_heading = "Columns")]
    pub(crate) features: Vec<String>,
    /// Columns that are no features, separated by commas
    #[arg(long, value_name = "NAMES", value_delimiter = ',', help_heading = "Columns")]
    pub(crate) ignore: Vec<String>,
    /// Unit of times that are numbers
    #[arg(long, value_name = "UNIT", default_value = "s", help_heading = "Columns")]
    pub(crate) times_in: Unit,
    /// Tables begin with data at once; columns are called 1, 2, 3 and so on
    #[arg(long, help_heading = "Columns")]
    pub(crate) no_header: bool,
}

/// Which events are meant, and what their columns are called.
#[derive(Debug, Clone, Default, Args, Serialize, Deserialize)]
pub(crate) struct EventColumnArgs {
    /// Column with the session's name in the events, if it is called otherwise there
    #[arg(long, value_name = "NAME", help_heading = "Columns")]
    pub event_session_column: Option<String>,
    /// Column with the time in the events, if it is called otherwise there
    #[arg(long, value_name = "NAME", help_heading = "Columns")]
    pub event_time_column: Option<String>,
    /// Column with the earliest time of a stamp that is known to lie between two, in the events;
    /// `earliest` if there is one
    #[arg(long, value_name = "NAME", help_heading = "Columns")]
    pub earliest_column: Option<String>,
    /// Column with the latest time of such a stamp; `latest` if there is one
    #[arg(long, value_name = "NAME", help_heading = "Columns")]
    pub latest_column: Option<String>,
    /// Column with the time at which what was stamped ended, in the events; `end` if there is one. Events with
    /// ends are bouts: both ends are sloppy, and labels form runs. '' takes beginnings alone
    #[arg(long, value_name = "NAME", help_heading = "Columns")]
    pub event_end_column: Option<String>,
    /// Column with how long it lasted, in the unit of numeric times, in place of the end; `duration` if there
    /// is one
    #[arg(long, value_name = "NAME", help_heading = "Columns")]
    pub event_duration_column: Option<String>,
    /// What the times of events are rounded to, such as 60s: the nearest multiple. If they were cut off
    /// instead, delays come out too short by half of it
    #[arg(long, value_name = "TIME", help_heading = "Data")]
    pub rounded: Option<TimeSpan>,
    /// Column with who gave the stamp, in the events; `annotator` if there is one. Each annotator's
    /// stamps in a session are a stream of their own; '' takes all for those of one
    #[arg(long, value_name = "NAME", help_heading = "Columns")]
    pub annotator_column: Option<String>,
    /// Column with the class of the event, in the events: events of each class have a detector of their own, and who
    /// confuses them is learned. Labels of instances then name a class, or are 0
    #[arg(long, value_name = "NAME", help_heading = "Columns")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub classes: Option<String>,
    /// The column of times when the model was fitted, whatever is read now
    #[arg(skip)]
    #[serde(skip)]
    pub fitted_time_column: Option<String>,
    /// Only events with this value in this column, or with one of several: class=cough,sneeze. May
    /// be given for several columns; '' takes all events, whatever the model was fitted to
    #[arg(long, value_name = "COLUMN=VALUE,…", help_heading = "Data")]
    pub only: Vec<String>,
}

impl EventColumnArgs {
    /// Takes over values not given here; returns the chosen events, if they are taken over.
    fn adopt(&mut self, other: Self) -> Option<String> {
        let own = std::mem::take(&mut self.event_session_column);
        self.event_session_column = own.or(other.event_session_column);
        self.fitted_time_column = other.event_time_column;
        let own = std::mem::take(&mut self.event_time_column);
        self.event_time_column = own.or(self.fitted_time_column.clone());
        for (own, other) in [
            (&mut self.annotator_column, other.annotator_column),
            (&mut self.earliest_column, other.earliest_column),
            (&mut self.latest_column, other.latest_column),
            (&mut self.classes, other.classes),
            (&mut self.event_end_column, other.event_end_column),
            (&mut self.event_duration_column, other.event_duration_column),
        ] {
            *own = std::mem::take(own).or(other);
        }
        self.rounded = std::mem::take(&mut self.rounded).or(other.rounded);
        if !self.only.is_empty() || other.only.is_empty() {
            return None;
        }
        self.only = other.only;
        Some(self.only.join(" and "))
    }

    /// The chosen values by column.
    fn values(&self) -> anyhow::Result<BTreeMap<String, Vec<String>>> {
        let mut values: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for text in self.only.iter().filter(|text| !text.is_empty()) {
            let Some((column, list)) = text.split_once('=') else {
                let message = format!("--only {text}: expected COLUMN=VALUE, such as class=cough");
                return Err(usage(message));
            };
            let list = list.split(',').map(|value| value.trim().to_owned());
            values.entry(column.trim().to_owned()).or_default().extend(list);
        }
        Ok(values)
    }
}

/// What columns of the table of sessions are called, besides session and subject.
#[derive(Debug, Clone, Default, Args, Serialize, Deserialize)]
pub(crate) struct SessionColumnArgs {
    /// Column with the device that recorded or was pressed, in the table of sessions; `device` if there
    /// is one
    #[arg(long, value_name = "NAME", help_heading = "Columns")]
    pub device_column: Option<String>,
    /// Column with the clock that the stamps were taken by, in the table of sessions; `clock` if there is
    /// one
    #[arg(long, value_name = "NAME", help_heading = "Columns")]
    pub clock_column: Option<String>,
    /// Column with everybody who annotated a session, in the table of sessions; `annotators` if there is
    /// one
    #[arg(long, value_name = "NAME", help_heading = "Columns")]
    pub annotators_column: Option<String>,
}

impl SessionColumnArgs {
    /// Takes over values not given here.
    fn adopt(&mut self, other: Self) {
        let Self { device_column, clock_column, annotators_column } = std::mem::take(self);
        self.device_column = device_column.or(other.device_column);
        self.clock_column = clock_column.or(other.clock_column);
        self.annotators_column = annotators_column.or(other.annotators_column);
    }
}

/// A unit of time.
#[derive(Debug, Clone, Copy, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Unit {
    S,
    Ms,
    Us,
    Ns,
}

impl ColumnArgs {
    /// Takes over values not given here.
    fn adopt(&mut self, other: Self) {
        let usual = Columns::default();
        let pairs = [
            (&mut self.session_column, other.session_column, usual.session),
            (&mut self.time_column, other.time_column, usual.time),
            (&mut self.label_column, other.label_column, usual.label),
            (&mut self.subject_column, other.subject_column, usual.subject),
        ];
        for (own, other, usual) in pairs {
            if *own == usual {
                *own = other;
            }
        }
        if matches!(self.times_in, Unit::S) {
            self.times_in = other.times_in;
        }
        self.no_header |= other.no_header;
    }

    /// For the library.
    pub fn columns(&self) -> Columns {
        Columns {
            session: self.session_column.clone(),
            time: self.time_column.clone(),
            label: self.label_column.clone(),
            subject: self.subject_column.clone(),
            features: (!self.features.is_empty()).then(|| self.features.clone()),
            ignore: self.ignore.clone(),
            times_in: match self.times_in {
                Unit::S => TimeUnit::S,
                Unit::Ms => TimeUnit::Ms,
                Unit::Us => TimeUnit::Us,
                Unit::Ns => TimeUnit::Ns,
            },
            has_header: !self.no_header,
            ..Columns::default()
        }
    }
}

impl Input {
    /// The files of the dataset.
    pub(crate) fn files(&self) -> anyhow::Result<DatasetFiles> {
        let given = [&self.instances, &self.sessions, &self.observed, &self.signal];
        let given = given.into_iter().flatten().chain(&self.events);
        if given.filter(|path| is_stream(path)).count() > 1 {
            return Err(usage("only one table can be standard input"));
        }
        let given = DatasetFiles {
            instances: self.instances.clone().unwrap_or_default(),
            events: self.stamp_files.files(&self.events)?,
            sessions: self.sessions.clone(),
            observed: self.observed.clone(),
            signal: self.signal.clone(),
        };
        let files = match &self.data {
            Some(_) if self.instances.is_some() => {
                return Err(usage(
                    "give a folder or --instances, not both: whose instances are meant?",
                ));
            }
            // A single file must be a table of instances.
            Some(path) if path.is_file() => DatasetFiles { instances: path.clone(), ..given },
            Some(folder) => given.or_in_folder(folder)?,
            None if self.instances.is_none() => {
                return Err(usage("no data: name a folder, or --instances FILE and --events FILE"));
            }
            None => given,
        };
        if files.events.paths.is_empty()
            && self.event_columns.only.iter().any(|text| !text.is_empty())
        {
            return Err(usage("--only chooses events, and there is no table of them"));
        }
        Ok(files)
    }

    /// The files of the events, as far as they are named.
    pub(crate) fn events_paths(&self) -> anyhow::Result<Vec<PathBuf>> {
        Ok(self.stamp_files.files(&self.events)?.paths)
    }

    /// Names of the columns, and the choice of events.
    pub(crate) fn columns(&self) -> anyhow::Result<Columns> {
        let usual = self.columns.columns();
        let SessionColumnArgs { device_column, clock_column, annotators_column } =
            self.session_columns.clone();
        let events = self.event_columns.clone();
        Ok(Columns {
            earliest: events.earliest_column.unwrap_or(usual.earliest),
            latest: events.latest_column.unwrap_or(usual.latest),
            event_end: events.event_end_column.unwrap_or(usual.event_end),
            event_duration: events.event_duration_column.unwrap_or(usual.event_duration),
            rounded: events.rounded.map(|span| span.seconds),
            annotator: events.annotator_column.unwrap_or(usual.annotator),
            class: events.classes,
            device: device_column.unwrap_or(usual.device),
            clock: clock_column.unwrap_or(usual.clock),
            annotators: annotators_column.unwrap_or(usual.annotators),
            event_session: events.event_session_column,
            event_time: events.event_time_column,
            only: self.event_columns.values()?,
            ..self.columns.columns()
        })
    }

    /// Takes over the column names from the model's fit that are not given now; returns the chosen
    /// events, if they are taken over.
    pub(crate) fn adopt(&mut self, recorded: &serde_json::Value) -> Option<String> {
        // A model of the library, or of another version, may have other notes.
        if let Ok(columns) = Deserialize::deserialize(&recorded["columns"]) {
            self.columns.adopt(columns);
        }
        if let Ok(columns) = Deserialize::deserialize(&recorded["session_columns"]) {
            self.session_columns.adopt(columns);
        }
        let events = Deserialize::deserialize(&recorded["event_columns"]).ok()?;
        self.event_columns.adopt(events)
    }

    /// Reads the data with their stamps.
    pub(crate) fn read_stamped(&self, use_labels: bool) -> anyhow::Result<Dataset> {
        let files = self.files()?;
        if files.events.paths.is_empty() {
            let beside = match &self.data {
                Some(folder) => format!("there is no events.csv in {}", folder.display()),
                None => "there is no table of events".to_owned(),
            };
            return Err(usage(format!("{beside}; name one with --events FILE")));
        }
        Ok(Dataset::read(&files, &self.columns()?, use_labels)?)
    }
}

/// A column of recorded human errors.
pub fn recorded_errors(path: &Path, column: &str) -> anyhow::Result<Vec<f64>> {
    let mut table = Table::open(path, true)?;
    let place = table.column(column)?;
    let mut row = Row::default();
    let mut errors = Vec::new();
    while table.next(&mut row)? {
        // Missed events have no error.
        if !row.cell(place).is_empty() {
            errors.push(table.number(&row, place)?);
        }
    }
    Ok(errors)
}
