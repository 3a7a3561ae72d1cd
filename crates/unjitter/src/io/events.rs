//! The table of events: stamps, and any other columns.

use std::collections::HashSet;
use std::io::Cursor;
use std::path::Path;

use super::dataset::{Columns, EventFiles};
use super::ends::Ends;
use super::instances::{InstancesTable, ReadSession, named};
use super::moments::{Moments, Wrong};
use super::stamp_tables::{self, FromFiles};
use super::suggest::{listed, suggest};
use super::table::{Row, Table, TableText, shown};
use crate::{Error, Result};

/// An events table, kept unchanged so that it can be written again.
#[derive(Debug, Clone)]
pub struct EventsTable {
    /// The table's name in messages.
    pub file: String,
    /// Names of the columns.
    pub header: Vec<String>,
    /// Its lines.
    pub rows: Vec<Row>,
    delimiter: u8,
    has_header: bool,
    session: Option<usize>,
    moments: Moments,
    ends: Option<Ends>,
    annotator: Option<usize>,
    class: Option<usize>,
    /// Whether each line is chosen.
    meant: Vec<bool>,
    /// Annotators whose stamps alone are chosen.
    only_annotators: Option<Vec<String>>,
    /// The stamp files it came from, if it is not a table of its own.
    pub files: Option<FromFiles>,
}

/// A stamp of a session.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReadStamp {
    /// In seconds of the session's clock; the middle, if all that is known is an interval.
    pub time: f64,
    /// The width of that interval; 0 if the moment is known.
    pub width: f64,
    /// When what was stamped ended, if the line says so.
    pub end: Option<f64>,
    /// Its line in the table, from 0.
    pub row: usize,
}

impl EventsTable {
    /// Reads a table.
    pub fn read(path: &Path, columns: &Columns) -> Result<Self> {
        Self::of_table(Table::open(path, columns.has_header)?, columns)
    }

    /// Reads the events of a dataset: a table, or stamp files of other programs.
    pub fn read_files(
        files: &EventFiles,
        columns: &Columns,
        instances: &InstancesTable,
    ) -> Result<Option<Self>> {
        match &files.paths[..] {
            [] => Ok(None),
            [only] if stamp_tables::format_of(only, columns)?.is_none() => {
                Self::read(only, columns).map(Some)
            }
            paths => {
                let (text, from) = stamp_tables::read(paths, &files.options, columns, instances)?;
                let text = Box::new(Cursor::new(text));
                let table = Table::from_reader(stamp_tables::called(paths), text, true)?;
                Ok(Some(Self { files: Some(from), ..Self::of_table(table, columns)? }))
            }
        }
    }

    fn of_table(mut table: Table, columns: &Columns) -> Result<Self> {
        let session = match &columns.event_session {
            Some(name) => Some(table.column_of(Some("event_session"), name)?),
            None => named(&table, "event_session", &columns.session, &Columns::default().session)?,
        };
        let ends = Ends::find(&table, columns)?;
        let moments = Moments::find(&table, columns, ends.as_ref())?;
        let usual = Columns::default().annotator;
        let annotator = match columns.annotator.is_empty() {
            true => None,
            false => named(&table, "annotator", &columns.annotator, &usual)?,
        };
        let class = match &columns.class {
            Some(name) => Some(table.column_of(Some("class"), name)?),
            None => None,
        };
        let only_annotators = columns.only.get(&columns.annotator).cloned();
        let only = columns.only.iter().map(|(name, values)| Ok((table.column(name)?, &values[..])));
        let only: Vec<(usize, &[String])> = only.collect::<Result<_>>()?;
        let mut rows = Vec::new();
        let mut row = Row::default();
        while table.next(&mut row)? {
            rows.push(row.clone());
        }
        check_values(&table, &rows, &only)?;
        let is_meant = |row: &Row| {
            only.iter().all(|(column, values)| values.iter().any(|v| v == row.cell(*column)))
        };
        let meant: Vec<bool> = rows.iter().map(is_meant).collect();
        let (header, delimiter) = (table.header().to_vec(), table.delimiter());
        let (file, has_header) = (table.file().to_owned(), table.has_header());
        Ok(Self {
            file,
            header,
            rows,
            delimiter,
            has_header,
            session,
            moments,
            ends,
            annotator,
            class,
            meant,
            only_annotators,
            files: None,
        })
    }

    /// The chosen lines, from 0: those with a requested value, or all.
    pub fn meant(&self) -> impl Iterator<Item = usize> {
        (0..self.rows.len()).filter(|&row| self.meant[row])
    }

    /// The session of a line; `None` if the table has no such column.
    pub fn session_of(&self, row: usize) -> Option<&str> {
        self.session.map(|column| self.rows[row].cell(column))
    }

    /// Names of the session and time columns, and the separator of cells.
    pub fn layout(&self) -> (&str, &str, u8) {
        let session = self.session.map_or("session", |column| &self.header[column]);
        let time = if self.has_header { self.time_column() } else { "time" };
        (if self.has_header { session } else { "session" }, time, self.delimiter)
    }

    /// The name of the time column in the header; of the earliest time, if there is no other.
    pub fn time_column(&self) -> &str {
        &self.header[self.moments.time]
    }

    /// Whether the table has no time beside the earliest and latest.
    pub fn is_between(&self) -> bool {
        self.moments.is_between()
    }

    /// Names of the columns of earliest and latest times, if the table has both.
    pub fn between_columns(&self) -> Option<[&str; 2]> {
        self.moments.between().map(|(a, b)| [self.header[a].as_str(), self.header[b].as_str()])
    }

    /// Whether a column tells when stamps were pressed.
    pub(crate) fn tells_moments(&self, column: usize) -> bool {
        self.moments.reads(column) || self.ends.is_some_and(|ends| ends.column == column)
    }

    /// The column that tells when what was stamped ended, and whether it has times, not how long things lasted.
    pub fn end_column(&self) -> Option<(&str, bool)> {
        self.ends.map(|ends| (self.header[ends.column].as_str(), ends.are_times()))
    }

    /// What tells when the stamp of a line ended, as written.
    pub fn end_text(&self, row: usize) -> &str {
        self.ends.map_or("", |ends| self.rows[row].cell(ends.column))
    }

    /// How long something lasted, as the column of durations tells it.
    pub fn write_duration(&self, seconds: f64) -> String {
        self.ends.map_or_else(String::new, |ends| ends.write_duration(seconds))
    }

    /// The time of a line, as written.
    pub fn time_text(&self, row: usize) -> &str {
        self.rows[row].cell(self.moments.time)
    }

    /// The moment of a line as written: its time, or `earliest/latest`.
    pub fn stamp_text(&self, row: usize) -> String {
        self.moments.text(&self.rows[row])
    }

    /// When the stamp of a line was pressed, or the cell that does not tell.
    pub(crate) fn stamp(
        &self,
        row: usize,
        session: &ReadSession,
    ) -> std::result::Result<ReadStamp, Wrong> {
        let (time, width) = self.moments.read(&self.rows[row], session)?;
        let end = self.ends.map(|ends| ends.read(&self.rows[row], session, time));
        Ok(ReadStamp { time, width, end: end.transpose()?.flatten(), row })
    }

    /// The column that names who gave each stamp, if there is one.
    pub fn annotator_column(&self) -> Option<usize> {
        self.annotator
    }

    /// The column that names the class of each event, if classes are read.
    pub fn class_column(&self) -> Option<usize> {
        self.class
    }

    /// Who gave the stamp of a line, if it is said.
    pub fn annotator_of(&self, row: usize) -> Option<&str> {
        let name = self.annotator.map(|column| self.rows[row].cell(column));
        name.filter(|name| !name.is_empty())
    }

    /// The classes that stamps are recorded as, each of which must have one; none if events have no classes.
    pub(super) fn classes_of(&self, stamps: &[ReadStamp]) -> Option<Result<Vec<String>>> {
        let column = self.class?;
        let class = |stamp: &ReadStamp| match self.rows[stamp.row].cell(column) {
            "" => Err(self.wrong_cell(stamp.row, column, "the class of the event".to_owned())),
            class => Ok(class.to_owned()),
        };
        Some(stamps.iter().map(class).collect())
    }

    /// Whether stamps of an annotator would be chosen.
    pub(super) fn chooses_annotator(&self, name: &str) -> bool {
        self.only_annotators.as_ref().is_none_or(|only| only.iter().any(|one| one == name))
    }

    /// The stamps of every session, in the order of lines.
    pub fn by_session(&self, instances: &InstancesTable) -> Result<Vec<Vec<ReadStamp>>> {
        let mut stamps = vec![Vec::new(); instances.sessions.len()];
        for row in self.meant() {
            let at = self.place(row, instances)?;
            let stamp = self.stamp(row, &instances.sessions[at]);
            let wrong = |(column, expected)| self.wrong_cell(row, column, expected);
            stamps[at].push(stamp.map_err(wrong)?);
        }
        Ok(stamps)
    }

    /// The position of the session that a line belongs to.
    pub fn place(&self, row: usize, instances: &InstancesTable) -> Result<usize> {
        let Some(column) = self.session else {
            return match instances.sessions.len() {
                1 => Ok(0),
                sessions => Err(Error::NoColumn {
                    file: self.file.clone(),
                    column: Columns::default().session,
                    hint: format!("there are {sessions} sessions that an event may belong to"),
                    field: Some("event_session"),
                }),
            };
        };
        let name = self.rows[row].cell(column);
        instances.position(name).ok_or_else(|| {
            let known = instances.sessions.iter().map(|session| session.name.as_str());
            let mut expected = format!("a session of {}", instances.file);
            if let Some(likely) = suggest(name, known) {
                expected.push_str(&format!("; did you mean `{}`?", shown(likely)));
            }
            self.wrong_cell(row, column, expected)
        })
    }

    /// The table with further columns at its end, all other cells unchanged. A column that exists
    /// already, from an earlier run, is replaced in place. `cells` gives the new cells of each line; a
    /// line that is not chosen keeps its old cells.
    pub fn with_columns<'n, C: IntoIterator<Item = String>>(
        &self,
        names: impl AsRef<[&'n str]>,
        cells: impl Fn(usize) -> C,
    ) -> Vec<u8> {
        let mut header = self.header.clone();
        let place = |name: &&str| match header.iter().position(|column| column == name) {
            Some(place) => place,
            None => {
                header.push((*name).to_owned());
                header.len() - 1
            }
        };
        let places: Vec<usize> = names.as_ref().iter().map(place).collect();
        let mut text = match self.has_header {
            true => TableText::new(self.delimiter, &header),
            false => TableText::without_header(self.delimiter),
        };
        for (k, row) in self.rows.iter().enumerate() {
            let mut line: Vec<String> = row.cells().map(str::to_owned).collect();
            line.resize(header.len(), String::new());
            for (&place, cell) in places.iter().zip(cells(k)) {
                if self.meant[k] || place >= self.header.len() {
                    line[place] = cell;
                }
            }
            text.push(&line);
        }
        text.into()
    }

    pub(super) fn wrong_cell(&self, row: usize, column: usize, expected: String) -> Error {
        Error::Cell {
            file: self.file.clone(),
            line: self.rows[row].line(),
            column: shown(&self.header[column]),
            value: shown(self.rows[row].cell(column)),
            expected,
        }
    }
}

/// Refuses a value that no line has: it is a slip, or the wrong table.
fn check_values(table: &Table, rows: &[Row], only: &[(usize, &[String])]) -> Result<()> {
    for (column, values) in only {
        let mut seen = HashSet::new();
        let cells = rows.iter().map(|row| row.cell(*column));
        let known: Vec<&str> = cells.filter(|value| seen.insert(*value)).collect();
        if let Some(value) = values.iter().find(|value| !known.contains(&value.as_str())) {
            return Err(Error::NoSuchEvents {
                file: table.file().to_owned(),
                column: shown(&table.header()[*column]),
                value: shown(value),
                hint: listed(&known),
            });
        }
    }
    Ok(())
}
