//! A dataset on disk: instances, events and optional tables.
//!
//! ```text
//! instances   session, time, features…, label (optional), subject (optional)
//! events      session, time, annotator (optional), whatever else   the sloppy stamps; with earliest and
//!                                                               latest, they lie between these; with end
//!                                                               or duration, they are bouts, and time
//!                                                               may be called start or onset; or stamp
//!                                                               files of other programs
//! sessions    session, subject, device, clock, annotators       optional, as are all but the first
//! observed    session, start, end                               optional: when somebody annotated
//! signal      session, time, values…                            optional: for looking at
//! ```
//!
//! Instances are sorted by time within their session; sessions may be mixed. Events may come in any
//! order. A table without a session column is one session. If events have classes, labels name them. Annotators of a session are those who gave a stamp,
//! and those whom the table of sessions names as `Ada; Ben`.

use std::collections::{BTreeMap, HashMap};
use std::mem::take;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::clock::{Clock, TimeUnit};
use super::events::EventsTable;
use super::instances::{InstancesTable, ReadSession};
use super::source::display_name;
use super::stamp_tables::StampOptions;
use super::{annotators, observed};
use crate::session::Recording;
use crate::{Error, Result, Session};

/// The files of a dataset.
#[derive(Debug, Clone, Default)]
pub struct DatasetFiles {
    /// The instances.
    pub instances: PathBuf,
    /// The stamps.
    pub events: EventFiles,
    /// What sessions have in common, and who annotated them.
    pub sessions: Option<PathBuf>,
    /// Annotated intervals.
    pub observed: Option<PathBuf>,
    /// The raw signal.
    pub signal: Option<PathBuf>,
}

/// The files of the stamps: none, a table, or stamp files of other programs.
#[derive(Debug, Clone, Default)]
pub struct EventFiles {
    /// Where they are.
    pub paths: Vec<PathBuf>,
    /// How stamp files are read.
    pub options: StampOptions,
}

impl From<Option<PathBuf>> for EventFiles {
    fn from(path: Option<PathBuf>) -> Self {
        Self { paths: path.into_iter().collect(), ..Self::default() }
    }
}

impl DatasetFiles {
    /// The tables of a folder, by their names.
    pub fn in_folder(folder: &Path) -> Result<Self> {
        Self::default().or_in_folder(folder)
    }

    /// These files, completed by the tables of a folder.
    pub fn or_in_folder(self, folder: &Path) -> Result<Self> {
        let Self { mut instances, mut events, sessions, observed, signal } = self;
        if instances.as_os_str().is_empty() {
            instances = find(folder, INSTANCES)?.ok_or(()).or_else(|()| {
                let hint = contents(folder)?;
                Err(Error::NoTable { folder: folder.to_owned(), table: INSTANCES, hint })
            })?;
        }
        let or_find = |given: Option<PathBuf>, table| match given {
            Some(path) => Ok(Some(path)),
            None => find(folder, table),
        };
        if events.paths.is_empty() {
            events.paths.extend(find(folder, "events")?);
        }
        Ok(Self {
            instances,
            events,
            sessions: or_find(sessions, "sessions")?,
            observed: or_find(observed, "observed")?,
            signal: or_find(signal, "signal")?,
        })
    }
}

const INSTANCES: &str = "instances";
/// Names of the tables of a dataset.
const TABLES: [&str; 5] = [INSTANCES, "events", "sessions", "observed", "signal"];

/// Every file of a folder that is a table of a dataset, by its name.
pub fn tables_in(folder: &Path) -> Vec<PathBuf> {
    TABLES.iter().flat_map(|table| candidates(folder, table)).collect()
}

/// The file of a table in a folder, with any extension; two of them are an error.
fn find(folder: &Path, table: &str) -> Result<Option<PathBuf>> {
    let mut found = candidates(folder, table);
    match (found.next(), found.next()) {
        (Some(first), Some(second)) => Err(Error::TwoTables { first, second }),
        (first, _) => Ok(first),
    }
}

fn candidates(folder: &Path, table: &str) -> impl Iterator<Item = PathBuf> {
    let endings = ["csv", "tsv", "csv.gz", "tsv.gz"];
    let path = move |ending| folder.join(format!("{table}.{ending}"));
    endings.into_iter().map(path).filter(|path| path.is_file())
}

fn contents(folder: &Path) -> Result<String> {
    let failed = |source| Error::Io { path: folder.to_owned(), source };
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        names.push(entry.map_err(failed)?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    names.truncate(12);
    Ok(match names.is_empty() {
        true => "the folder is empty".to_owned(),
        false => format!("there are {}", names.join(", ")),
    })
}

/// Names of the columns, the unit of numeric times, and the choice of events.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Columns {
    /// The session's name.
    pub session: String,
    /// The time.
    pub time: String,
    /// The hand-aligned label: 0, 1 or nothing.
    pub label: String,
    /// The person or animal recorded.
    pub subject: String,
    /// The features, in order; by default all other columns.
    pub features: Option<Vec<String>>,
    /// Columns that are not features.
    pub ignore: Vec<String>,
    /// The unit of times that are numbers.
    pub times_in: TimeUnit,
    /// Whether tables begin with the names of their columns; otherwise the columns are called 1, 2, 3.
    pub has_header: bool,
    /// The session's name in the events, if different.
    pub event_session: Option<String>,
    /// The time in the events, if different.
    pub event_time: Option<String>,
    /// The earliest and latest time of a stamp, in the events, if it is known to lie between two.
    pub earliest: String,
    /// See `earliest`.
    pub latest: String,
    /// When what was stamped ended, in the events; if empty, neither that nor `event_duration` is read.
    pub event_end: String,
    /// How long it lasted, in the unit of numeric times, if there is no end.
    pub event_duration: String,
    /// The nearest multiple that times in the events are rounded to, in seconds.
    pub rounded: Option<f64>,
    /// Who gave a stamp, in the events; if empty, nobody is told apart.
    pub annotator: String,
    /// What class an event is of, in the events, if events have classes. Labels of instances then name a class, or
    /// are 0.
    pub class: Option<String>,
    /// The device that recorded or was pressed, in the table of sessions.
    pub device: String,
    /// The clock that stamps were taken by, in the table of sessions.
    pub clock: String,
    /// Everybody who annotated a session, in the table of sessions, with semicolons between them.
    pub annotators: String,
    /// The chosen events: by column, the accepted values. All by default.
    pub only: BTreeMap<String, Vec<String>>,
}

impl Default for Columns {
    fn default() -> Self {
        Self {
            session: "session".to_owned(),
            time: "time".to_owned(),
            label: "label".to_owned(),
            subject: "subject".to_owned(),
            features: None,
            ignore: Vec::new(),
            times_in: TimeUnit::S,
            has_header: true,
            event_session: None,
            event_time: None,
            earliest: "earliest".to_owned(),
            latest: "latest".to_owned(),
            event_end: "end".to_owned(),
            event_duration: "duration".to_owned(),
            rounded: None,
            annotator: "annotator".to_owned(),
            class: None,
            device: "device".to_owned(),
            clock: "clock".to_owned(),
            annotators: "annotators".to_owned(),
            only: BTreeMap::new(),
        }
    }
}

/// A dataset, read and checked.
#[derive(Debug)]
pub struct Dataset {
    /// One per session, in the order in which the instances name them.
    pub recordings: Vec<Recording<'static>>,
    /// Their clocks.
    pub clocks: Vec<Clock>,
    /// Names of the features.
    pub features: Vec<String>,
    /// The unchanged events table, if there is one.
    pub events: Option<EventsTable>,
    /// Per session, the line of the events table (from 0) of each stamp.
    pub stamp_rows: Vec<Vec<usize>>,
    /// Per session, the class of each instance by its label, empty for no event; none if labels have no classes, or are not
    /// all known.
    pub classes: Vec<Option<Vec<String>>>,
    positions: HashMap<String, usize>,
}

impl Dataset {
    /// Reads a dataset. With `use_labels`, learners know the labels; otherwise they serve evaluation only.
    pub fn read(files: &DatasetFiles, columns: &Columns, use_labels: bool) -> Result<Self> {
        let mut instances = InstancesTable::read(&files.instances, columns)?;
        if let Some(path) = &files.sessions {
            instances = instances.with_sessions(path, columns)?;
        }
        let events = EventsTable::read_files(&files.events, columns, &instances)?;
        let mut dataset = Self::assemble(instances, events, use_labels)?;
        if let Some(path) = &files.observed {
            observed::add(&mut dataset, path, columns)?;
        }
        Ok(dataset)
    }

    /// Combines the tables.
    pub fn assemble(
        instances: InstancesTable,
        events: Option<EventsTable>,
        use_labels: bool,
    ) -> Result<Self> {
        let mut stamps = match &events {
            Some(events) => events.by_session(&instances)?,
            None => vec![Vec::new(); instances.sessions.len()],
        };
        let (mut recordings, mut clocks, mut stamp_rows) = (vec![], vec![], vec![]);
        let mut classes = Vec::new();
        let InstancesTable { features, sessions, positions, .. } = instances;
        for (mut read, stamps) in sessions.into_iter().zip(&mut stamps) {
            // Stable: stamps at the same time keep the order of their lines.
            stamps.sort_by(|a, b| a.time.total_cmp(&b.time));
            let times = stamps.iter().map(|stamp| stamp.time).collect();
            let truth: Option<Vec<bool>> = read.labels.iter().copied().collect();
            let known = read.labels.iter().any(Option::is_some);
            let (values, instants) = (take(&mut read.values), take(&mut read.times));
            let matrix = ndarray::Array2::from_shape_vec((instants.len(), features.len()), values)
                .expect("every row has one value per feature");
            let widths = stamps.iter().map(|stamp| stamp.width).collect();
            let session = Session::new(&read.name, matrix, instants, times)?;
            let ends = stamps.iter().map(|stamp| stamp.end).collect();
            let mut session = session.with_widths(widths)?.with_ends(ends)?;
            if let Some(events) = &events {
                session = annotators::add(session, &read, events, stamps)?;
            }
            if let Some(classes) = events.as_ref().and_then(|events| events.classes_of(stamps)) {
                session = session.with_classes(&classes?)?;
            }
            if use_labels && known {
                session = match read.classes.is_empty() {
                    true => session.with_labels(read.labels.clone())?,
                    false => session.with_class_labels(&read.class_labels())?,
                };
            }
            let truth_classes = truth.is_some().then(|| take(&mut read.classes));
            classes.push(truth_classes.filter(|classes| !classes.is_empty()));
            let session = about(session, &read);
            recordings.push(Recording { session, truth });
            clocks.push(read.clock);
            stamp_rows.push(stamps.iter().map(|stamp| stamp.row).collect());
        }
        Ok(Self { recordings, clocks, features, events, stamp_rows, classes, positions })
    }

    /// Names and clocks of the sessions.
    pub fn known_clocks(&self) -> Vec<(&str, Clock)> {
        let names = self.recordings.iter().map(|recording| recording.session.name());
        names.zip(self.clocks.iter().copied()).collect()
    }

    /// Number of instances of all sessions.
    pub fn instances(&self) -> usize {
        self.recordings.iter().map(|recording| recording.session.len()).sum()
    }

    /// Number of stamps of all sessions.
    pub fn stamps(&self) -> usize {
        self.recordings.iter().map(|recording| recording.session.stamps().len()).sum()
    }

    /// The sessions alone.
    pub fn sessions(&self) -> Vec<Session<'static>> {
        self.recordings.iter().map(|recording| recording.session.clone()).collect()
    }

    /// The position of the session with this name.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.positions.get(name).copied()
    }
}

/// The session with what it has in common with others.
fn about(mut session: Session<'static>, read: &ReadSession) -> Session<'static> {
    if let Some(subject) = &read.subject {
        session = session.with_subject(subject);
    }
    if let Some(device) = &read.device {
        session = session.with_device(device);
    }
    match &read.shared_clock {
        Some(clock) => session.with_clock(clock),
        None => session,
    }
}

/// The session of a table without a session column: the file's name without extensions.
pub(super) fn lone_session(path: &Path) -> String {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
    let name = name.unwrap_or_else(|| display_name(path));
    name.split('.')
        .next()
        .filter(|stem| !stem.is_empty() && *stem != "-")
        .unwrap_or("recording")
        .to_owned()
}
