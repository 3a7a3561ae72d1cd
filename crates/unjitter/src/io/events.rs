//! The table of events: stamps, and whatever else its owner keeps there.

use std::path::Path;

use super::dataset::Columns;
use super::instances::{InstancesTable, named};
use super::suggest::suggest;
use super::table::{Row, Table, TableText, shown};
use crate::{Error, Result};

/// An events table, kept as it stands so that it can be given back.
#[derive(Debug, Clone)]
pub struct EventsTable {
    /// What the table is called in messages.
    pub file: String,
    /// Names of the columns.
    pub header: Vec<String>,
    /// Its lines.
    pub rows: Vec<Row>,
    delimiter: u8,
    has_header: bool,
    session: Option<usize>,
    time: usize,
}

/// A stamp of a session.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReadStamp {
    /// In seconds of the session's clock.
    pub time: f64,
    /// Its line in the table, from 0.
    pub row: usize,
}

impl EventsTable {
    /// Reads a table.
    pub fn read(path: &Path, columns: &Columns) -> Result<Self> {
        let mut table = Table::open(path, columns.has_header)?;
        let session = named(&table, &columns.session, &Columns::default().session)?;
        let time = table.column(&columns.time)?;
        let mut rows = Vec::new();
        let mut row = Row::default();
        while table.next(&mut row)? {
            rows.push(row.clone());
        }
        let (header, delimiter) = (table.header().to_vec(), table.delimiter());
        let (file, has_header) = (table.file().to_owned(), columns.has_header);
        Ok(Self { file, header, rows, delimiter, has_header, session, time })
    }

    /// The session that a line names; `None` where the table has no such column.
    pub fn session_of(&self, row: usize) -> Option<&str> {
        self.session.map(|column| self.rows[row].cell(column))
    }

    /// Names of the columns of session and time, and what stands between cells.
    pub fn layout(&self) -> (&str, &str, u8) {
        let session = self.session.map_or("session", |column| &self.header[column]);
        let time = if self.has_header { self.header[self.time].as_str() } else { "time" };
        (if self.has_header { session } else { "session" }, time, self.delimiter)
    }

    /// What the column of times is called in the header.
    pub fn time_column(&self) -> &str {
        &self.header[self.time]
    }

    /// The time that a line gives, as it is written.
    pub fn time_text(&self, row: usize) -> &str {
        self.rows[row].cell(self.time)
    }

    /// The stamps of every session, in the order of lines.
    pub fn by_session(&self, instances: &InstancesTable) -> Result<Vec<Vec<ReadStamp>>> {
        let mut stamps = vec![Vec::new(); instances.sessions.len()];
        for row in 0..self.rows.len() {
            let at = self.place(row, instances)?;
            let time = instances.sessions[at].clock.seconds(self.time_text(row));
            let time = time.map_err(|expected| self.wrong_cell(row, self.time, expected))?;
            stamps[at].push(ReadStamp { time, row });
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

    /// The table with further columns at its end, every other cell as it was. A column that is
    /// there already, from an earlier run, is replaced where it stands. `cells` gives the new cells
    /// of each line.
    pub fn with_columns<const N: usize>(
        &self,
        names: [&str; N],
        cells: impl Fn(usize) -> [String; N],
    ) -> Vec<u8> {
        let mut header = self.header.clone();
        let places = names.map(|name| match header.iter().position(|column| column == name) {
            Some(place) => place,
            None => {
                header.push(name.to_owned());
                header.len() - 1
            }
        });
        let mut text = match self.has_header {
            true => TableText::new(self.delimiter, &header),
            false => TableText::without_header(self.delimiter),
        };
        for (k, row) in self.rows.iter().enumerate() {
            let mut line: Vec<String> = row.cells().map(str::to_owned).collect();
            line.resize(header.len(), String::new());
            for (place, cell) in places.iter().zip(cells(k)) {
                line[*place] = cell;
            }
            text.push(&line);
        }
        text.into()
    }

    fn wrong_cell(&self, row: usize, column: usize, expected: String) -> Error {
        Error::Cell {
            file: self.file.clone(),
            line: self.rows[row].line(),
            column: shown(&self.header[column]),
            value: shown(self.rows[row].cell(column)),
            expected,
        }
    }
}
