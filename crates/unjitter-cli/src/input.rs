//! Which data: a folder, or single tables, and what their columns are called.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};
use unjitter::io::{Columns, Dataset, DatasetFiles, TimeUnit};

use crate::failure::usage;
use crate::output::{Output, is_stream};

/// A dataset on the command line.
#[derive(Debug, Clone, Args, Serialize)]
pub(crate) struct Input {
    /// A folder with instances.csv and events.csv (or .tsv, or .gz), and maybe sessions.csv,
    /// observed.csv and signal.csv
    #[arg(value_name = "DATA")]
    pub data: Option<PathBuf>,
    /// Table of instances: session, time, features…, maybe label and subject. `-` is standard input
    #[arg(long, value_name = "FILE", help_heading = "Data")]
    pub instances: Option<PathBuf>,
    /// Table of events: session, time, and whatever else you keep there
    #[arg(long, value_name = "FILE", help_heading = "Data")]
    pub events: Option<PathBuf>,
    /// Table of sessions: session, subject (or group)
    #[arg(long, value_name = "FILE", help_heading = "Data")]
    pub sessions: Option<PathBuf>,
    /// Table of the times in which somebody was annotating: session, start, end
    #[arg(long, value_name = "FILE", help_heading = "Data")]
    pub observed: Option<PathBuf>,
    /// Table of the raw signal, to look at: session, time, value
    #[arg(long, value_name = "FILE", help_heading = "Data")]
    pub signal: Option<PathBuf>,
    #[command(flatten)]
    pub columns: ColumnArgs,
}

/// What columns are called.
#[derive(Debug, Clone, Args, Serialize, Deserialize)]
pub(crate) struct ColumnArgs {
    /// Column with the session's name
    #[arg(long, value_name = "NAME", default_value = "session", help_heading = "Columns")]
    pub session_column: String,
    /// Column with the time: seconds, or dates like 2024-05-31T14:03:27.5
    #[arg(long, value_name = "NAME", default_value = "time", help_heading = "Columns")]
    pub time_column: String,
    /// Column with the hand-aligned label: 0, 1 or nothing
    #[arg(long, value_name = "NAME", default_value = "label", help_heading = "Columns")]
    pub label_column: String,
    /// Column with the person or animal recorded
    #[arg(long, value_name = "NAME", default_value = "subject", help_heading = "Columns")]
    pub subject_column: String,
    /// Columns that are features, separated by commas; by default all others
    #[arg(long, value_name = "NAMES", value_delimiter = ',', help_heading = "Columns")]
    pub features: Vec<String>,
    /// Columns that are no features, separated by commas
    #[arg(long, value_name = "NAMES", value_delimiter = ',', help_heading = "Columns")]
    pub ignore: Vec<String>,
    /// Unit of times that are numbers
    #[arg(long, value_name = "UNIT", default_value = "s", help_heading = "Columns")]
    pub times_in: Unit,
    /// Tables begin with data at once; columns are called 1, 2, 3 and so on
    #[arg(long, help_heading = "Columns")]
    pub no_header: bool,
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
    /// Takes over what is not given here.
    pub(crate) fn adopt(&mut self, other: Self) {
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
    pub(crate) fn columns(&self) -> Columns {
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
    /// The files that are meant.
    pub(crate) fn files(&self) -> anyhow::Result<DatasetFiles> {
        let given = [&self.instances, &self.events, &self.sessions, &self.observed, &self.signal];
        if given.iter().copied().flatten().filter(|path| is_stream(path)).count() > 1 {
            return Err(usage("only one table can be standard input"));
        }
        let in_folder = match &self.data {
            // A single file is a table of instances: what else would somebody name?
            Some(_) if self.instances.is_some() => {
                let message = "give a folder or --instances, not both: whose instances are meant?";
                return Err(usage(message));
            }
            Some(path) if path.is_file() => {
                DatasetFiles { instances: path.clone(), ..DatasetFiles::default() }
            }
            Some(folder) => DatasetFiles::in_folder(folder)?,
            None => DatasetFiles {
                instances: self.instances.clone().ok_or_else(|| {
                    usage("no data: name a folder, or --instances FILE and --events FILE")
                })?,
                ..DatasetFiles::default()
            },
        };
        Ok(DatasetFiles {
            events: self.events.clone().or(in_folder.events),
            sessions: self.sessions.clone().or(in_folder.sessions),
            observed: self.observed.clone().or(in_folder.observed),
            signal: self.signal.clone().or(in_folder.signal),
            instances: in_folder.instances,
        })
    }

    /// Refuses to write over the data.
    pub(crate) fn protect<'a>(
        &'a self,
        outputs: impl IntoIterator<Item = &'a Path>,
        model: Option<&'a Path>,
    ) -> anyhow::Result<()> {
        let DatasetFiles { instances, events, sessions, observed, signal } = self.files()?;
        let optional = [events, sessions, observed, signal].into_iter().flatten();
        let inputs: Vec<PathBuf> = optional.chain([instances]).collect();
        let inputs = inputs.iter().map(PathBuf::as_path).chain(model);
        Output::refuse_inputs(outputs.into_iter().collect::<Vec<_>>(), inputs.collect::<Vec<_>>())
    }

    /// Reads the data with their stamps.
    pub(crate) fn read_stamped(&self, use_labels: bool) -> anyhow::Result<Dataset> {
        let files = self.files()?;
        if files.events.is_none() {
            let beside = match &self.data {
                Some(folder) => format!("there is no events.csv in {}", folder.display()),
                None => "there is no table of events".to_owned(),
            };
            return Err(usage(format!("{beside}; name one with --events FILE")));
        }
        Ok(Dataset::read(&files, &self.columns.columns(), use_labels)?)
    }
}
