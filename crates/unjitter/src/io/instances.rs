//! The table of instances.

use std::collections::HashMap;
use std::path::Path;

use super::clock::Clock;
use super::dataset::{Columns, lone_session};
use super::odd_times::refuse_days;
use super::table::{Row, Table, shown, with_point};
use super::{order, sessions};
use crate::Result;
use crate::session::Label;

/// The problem of a table without instances.
pub(super) const NO_INSTANCES: &str = "it has a header and no instances";
/// Shortest plausible spacing of instances in seconds: no one could press for closer ones.
const SHORTEST: f64 = 0.01;

/// The instances as on disk, by session.
#[derive(Debug)]
pub struct InstancesTable {
    /// Names of the features.
    pub features: Vec<String>,
    /// In the order in which the table names them.
    pub sessions: Vec<ReadSession>,
    /// The table's name in messages.
    pub file: String,
    pub(super) positions: HashMap<String, usize>,
}

/// The instances of one session.
#[derive(Debug)]
pub struct ReadSession {
    /// Its name.
    pub name: String,
    /// Its clock.
    pub clock: Clock,
    /// Time of each instance, in seconds of the clock.
    pub times: Vec<f64>,
    /// Features, row after row.
    pub values: Vec<f64>,
    /// Label of each instance, if there is one.
    pub labels: Vec<Option<bool>>,
    /// The class of each instance that is an event, else nothing; empty if events have no classes.
    pub classes: Vec<String>,
    /// The person or animal recorded.
    pub subject: Option<String>,
    /// The device that recorded or was pressed.
    pub device: Option<String>,
    /// The clock that the stamps were taken by, if sessions share one.
    pub shared_clock: Option<String>,
    /// Who annotated it, as far as the table of sessions says.
    pub annotators: Vec<String>,
}

impl ReadSession {
    /// Seconds from the clock's zero to the moment `text` of an entry of the session, or the expected form.
    pub fn seconds(&self, text: &str) -> std::result::Result<f64, String> {
        match (self.times.first(), self.times.last()) {
            (Some(&first), Some(&last)) => self.clock.seconds_beside(text, first, last),
            _ => self.clock.seconds(text),
        }
    }

    /// The labels with their classes.
    pub(super) fn class_labels(&self) -> Vec<Option<Label<'_>>> {
        let label = |i: usize| match self.labels[i]? {
            true => Some(Label::Event(self.classes[i].as_str())),
            false => Some(Label::Nothing),
        };
        (0..self.labels.len()).map(label).collect()
    }

    /// Makes room for another instance. Large tables grow by a quarter at a time: doubling would hold
    /// twice the memory.
    fn grow(&mut self, features: usize) {
        if self.times.len() == self.times.capacity() {
            let more = (self.times.len() / 4).max(16);
            self.times.reserve_exact(more);
            self.values.reserve_exact(more * features);
            self.labels.reserve_exact(more);
        }
    }

    fn shrink(&mut self) {
        self.times.shrink_to_fit();
        self.values.shrink_to_fit();
        self.labels.shrink_to_fit();
    }
}

/// Columns of a row's values.
#[derive(Debug)]
pub(super) struct Places {
    pub(super) session: Option<usize>,
    pub(super) time: usize,
    label: Option<usize>,
    subject: Option<usize>,
    pub(super) features: Vec<usize>,
    /// Whether labels name classes.
    has_classes: bool,
}

impl Places {
    pub(super) fn find(table: &Table, columns: &Columns) -> Result<Self> {
        let defaults = Columns::default();
        let session = named(table, "session", &columns.session, &defaults.session)?;
        let time = table.column_of(Some("time"), &columns.time)?;
        for ignored in &columns.ignore {
            table.column(ignored)?;
        }
        let used = |place: &usize| !columns.ignore.contains(&table.header()[*place]);
        let label = named(table, "label", &columns.label, &defaults.label)?.filter(used);
        let subject = named(table, "subject", &columns.subject, &defaults.subject)?.filter(used);
        let features = match &columns.features {
            Some(names) => names.iter().map(|name| table.column(name)).collect::<Result<_>>()?,
            None => (0..table.header().len())
                .filter(|&k| Some(k) != session && k != time && Some(k) != label)
                .filter(|k| Some(*k) != subject && used(k))
                .collect::<Vec<_>>(),
        };
        if features.is_empty() {
            return Err(table.wrong("it has no column left for a feature"));
        }
        if let Some(&both) = features.iter().find(|place| !used(place)) {
            let name = &table.header()[both];
            return Err(table.wrong(format!("`{name}` is both a feature and ignored")));
        }
        if columns.features.is_none() {
            // A column named like a label is one, unless the user says otherwise.
            let renamed =
                [(&columns.label, &defaults.label), (&columns.subject, &defaults.subject)];
            for (name, usual) in renamed.into_iter().filter(|(name, usual)| name != usual) {
                if table.find(usual).is_some_and(|place| features.contains(&place)) {
                    let problem = format!(
                        "it has `{usual}` beside `{name}`; ignore it, or list the features"
                    );
                    return Err(table.wrong(problem));
                }
            }
        }
        if label.is_some_and(|label| features.contains(&label)) {
            return Err(table.wrong("its label is listed among the features"));
        }
        let has_classes = columns.class.is_some();
        Ok(Self { session, time, label, subject, features, has_classes })
    }
}

/// An optional column; it must exist if it was requested under an unusual name.
pub(super) fn named(
    table: &Table,
    field: &'static str,
    name: &str,
    usual: &str,
) -> Result<Option<usize>> {
    if name == usual { Ok(table.find(name)) } else { table.column_of(Some(field), name).map(Some) }
}

impl InstancesTable {
    /// Reads a table.
    pub fn read(path: &Path, columns: &Columns) -> Result<Self> {
        let mut table = Table::open(path, columns.has_header)?;
        let places = Places::find(&table, columns)?;
        let lone = lone_session(path);
        let mut sessions: Vec<ReadSession> = Vec::new();
        let mut positions: HashMap<String, usize> = HashMap::new();
        let mut row = Row::default();
        while table.next(&mut row)? {
            let name = match places.session {
                Some(column) => row.cell(column),
                None => &lone,
            };
            if name.is_empty() {
                let column = places.session.expect("the name of a lone session is not empty");
                return Err(table.wrong_cell(&row, column, "the name of a session"));
            }
            let last = sessions.len().wrapping_sub(1);
            let at = match sessions.last() {
                Some(session) if session.name == name => last,
                _ => match positions.get(name) {
                    Some(&position) => position,
                    None => {
                        sessions.push(begin(&table, &row, &places, columns, name)?);
                        positions.insert(name.to_owned(), sessions.len() - 1);
                        sessions.len() - 1
                    }
                },
            };
            add_row(&table, &row, &places, &mut sessions[at])?;
        }
        if sessions.is_empty() {
            return Err(table.wrong(NO_INSTANCES));
        }
        for session in &mut sessions {
            session.shrink();
            refuse_days(&session.clock, &session.times, SHORTEST).map_err(|problem| {
                table.wrong(format!("session {}: {problem}", shown(&session.name)))
            })?;
        }
        let features = places.features.iter().map(|&k| table.header()[k].clone()).collect();
        Ok(Self { features, sessions, file: table.file().to_owned(), positions })
    }

    /// Adds what a table of sessions tells: subjects, devices, clocks, annotators.
    pub fn with_sessions(mut self, path: &Path, columns: &Columns) -> Result<Self> {
        sessions::add(&mut self, path, columns)?;
        Ok(self)
    }

    /// The position of the session with this name.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.positions.get(name).copied()
    }
}

fn begin(
    table: &Table,
    row: &Row,
    places: &Places,
    columns: &Columns,
    name: &str,
) -> Result<ReadSession> {
    let clock = Clock::starting_at(row.cell(places.time), columns.times_in)
        .map_err(|expected| table.wrong_cell(row, places.time, expected))?;
    let subject = places.subject.map(|k| row.cell(k).to_owned()).filter(|name| !name.is_empty());
    Ok(ReadSession {
        name: name.to_owned(),
        clock,
        times: Vec::new(),
        values: Vec::new(),
        labels: Vec::new(),
        classes: Vec::new(),
        subject,
        device: None,
        shared_clock: None,
        annotators: Vec::new(),
    })
}

fn add_row(table: &Table, row: &Row, places: &Places, session: &mut ReadSession) -> Result<()> {
    let time = session.clock.seconds(row.cell(places.time));
    let time = time.map_err(|expected| table.wrong_cell(row, places.time, expected))?;
    if session.times.last().is_some_and(|&previous| time < previous) {
        let expected = order::expected(&session.clock, &session.name, &session.times, time);
        return Err(table.wrong_cell(row, places.time, expected));
    }
    session.grow(places.features.len());
    session.times.push(time);
    for &column in &places.features {
        session.values.push(feature(table, row, column)?);
    }
    session.labels.push(match places.label {
        None => None,
        Some(column) if places.has_classes => {
            let (label, class) = class_label(row, column);
            session.classes.push(class);
            label
        }
        Some(column) => label(table, row, column)?,
    });
    if let Some(column) = places.subject {
        let found = row.cell(column);
        if found != session.subject.as_deref().unwrap_or_default() {
            let name = shown(&session.name);
            let expected = format!("the subject of the lines before it in session {name}");
            return Err(table.wrong_cell(row, column, expected));
        }
    }
    Ok(())
}

pub(super) fn feature(table: &Table, row: &Row, column: usize) -> Result<f64> {
    table.number(row, column).map_err(|error| {
        let text = row.cell(column);
        let name = shown(&table.header()[column]);
        let expected = if with_point(text).is_some() {
            return error;
        } else if text.is_empty() || text.eq_ignore_ascii_case("nan") || text == "NA" {
            "a finite number; fill in or drop instances with missing features".to_owned()
        } else if table.has_header() {
            format!("a finite number; if `{name}` is no feature, ignore the column")
        } else {
            format!("a finite number; if column {name} is no feature but the session, say so")
        };
        table.wrong_cell(row, column, expected)
    })
}

/// A label with the class of its event, which is whatever does not say that there is none.
fn class_label(row: &Row, column: usize) -> (Option<bool>, String) {
    match row.cell(column) {
        "" | "NA" | "NaN" | "nan" => (None, String::new()),
        "0" | "0.0" | "false" | "False" | "FALSE" => (Some(false), String::new()),
        class => (Some(true), class.to_owned()),
    }
}

fn label(table: &Table, row: &Row, column: usize) -> Result<Option<bool>> {
    match row.cell(column) {
        "" | "NA" | "NaN" | "nan" => Ok(None),
        "0" | "0.0" | "false" | "False" | "FALSE" => Ok(Some(false)),
        "1" | "1.0" | "true" | "True" | "TRUE" => Ok(Some(true)),
        _ => Err(table.wrong_cell(row, column, "a label: 0 or 1, false or true, or nothing")),
    }
}
