//! A table of instances read some lines at a time, for tables larger than memory.
//!
//! One chunk is refilled again and again, so that no line allocates memory. One name and one clock per
//! session are kept: sessions may be mixed, and any line may be theirs.

use std::collections::HashMap;
use std::io::Read;
use std::path::Path;

use ndarray::ArrayView2;

use super::clock::{Clock, TimeUnit};
use super::dataset::{Columns, lone_session};
use super::instances::{NO_INSTANCES, Places, feature};
use super::source::{display_name, raw, unpacked};
use super::table::{Row, Table};
use super::whole_lines::{Unfinished, WholeLines};
use crate::{Error, Result};

/// An open table of instances.
#[derive(Debug)]
pub struct InstanceChunks {
    table: Table,
    row: Row,
    places: Places,
    times_in: TimeUnit,
    lone: String,
    positions: HashMap<String, usize>,
    clocks: Vec<Clock>,
    unfinished: Unfinished,
}

/// Some lines of a table of instances.
#[derive(Debug, Default)]
pub struct Chunk {
    /// Session of each line, numbered from 0 in the order in which the table names them.
    pub positions: Vec<usize>,
    /// Time of each line, in seconds of its session's clock.
    pub times: Vec<f64>,
    names: Texts,
    time_texts: Texts,
    /// Features, line after line.
    values: Vec<f64>,
    columns: usize,
}

impl Chunk {
    /// The session of a line.
    pub fn session(&self, line: usize) -> &str {
        self.names.get(line)
    }

    /// The time of a line, as written.
    pub fn time_text(&self, line: usize) -> &str {
        self.time_texts.get(line)
    }

    /// Features, lines × columns.
    pub fn features(&self) -> ArrayView2<'_, f64> {
        let shape = (self.times.len(), self.columns);
        ArrayView2::from_shape(shape, &self.values).expect("one value per feature")
    }

    fn clear(&mut self) {
        self.positions.clear();
        self.times.clear();
        self.names.clear();
        self.time_texts.clear();
        self.values.clear();
    }
}

impl InstanceChunks {
    /// Opens a table.
    pub fn open(path: &Path, columns: &Columns) -> Result<Self> {
        let table = Table::open(path, columns.has_header)?;
        Self::of_table(table, path, columns, Unfinished::default())
    }

    /// Opens a table that is still written, whose bytes `guard` hands on: it may end them when it likes. A last line
    /// without a line end is left out, since no one can tell half of a number from the whole.
    pub fn follow<R: Read + 'static>(
        path: &Path,
        columns: &Columns,
        guard: impl FnOnce(Box<dyn Read + Send>) -> R,
    ) -> Result<Self> {
        let (raw, size) = raw(path)?;
        let unfinished = Unfinished::default();
        let lines = WholeLines::new(unpacked(path, guard(raw), size)?, unfinished.clone());
        let table = Table::from_reader(display_name(path), Box::new(lines), columns.has_header)?;
        Self::of_table(table, path, columns, unfinished)
    }

    fn of_table(
        table: Table,
        path: &Path,
        columns: &Columns,
        unfinished: Unfinished,
    ) -> Result<Self> {
        let places = Places::find(&table, columns)?;
        let (positions, clocks) = (HashMap::new(), Vec::new());
        let (lone, times_in, row) = (lone_session(path), columns.times_in, Row::default());
        Ok(Self { table, row, places, times_in, lone, positions, clocks, unfinished })
    }

    /// The line that was left out, as far as it was there, if the table has ended in one.
    pub fn unfinished(&self) -> Option<String> {
        self.unfinished.line()
    }

    /// An error about the time of the last line that was read.
    pub fn wrong_time(&self, expected: &str) -> Error {
        self.table.wrong_cell(&self.row, self.places.time, expected)
    }

    /// The table's name in messages.
    pub fn file(&self) -> &str {
        self.table.file()
    }

    /// The separator of cells.
    pub fn delimiter(&self) -> u8 {
        self.table.delimiter()
    }

    /// The clock of a session, set by its first instance.
    pub fn clock(&self, position: usize) -> Clock {
        self.clocks[position]
    }

    /// Fills `chunk` with at most `most` further lines; false if there are none.
    pub fn next(&mut self, chunk: &mut Chunk, most: usize) -> Result<bool> {
        chunk.clear();
        chunk.columns = self.places.features.len();
        while chunk.times.len() < most && self.table.next(&mut self.row)? {
            self.add_row(chunk)?;
        }
        if self.clocks.is_empty() {
            return Err(self.table.wrong(NO_INSTANCES));
        }
        Ok(!chunk.times.is_empty())
    }

    fn add_row(&mut self, chunk: &mut Chunk) -> Result<()> {
        let Self { table, row, places, times_in, lone, positions, clocks, .. } = self;
        let name = places.session.map_or(lone.as_str(), |column| row.cell(column));
        let text = row.cell(places.time);
        let wrong = |expected| table.wrong_cell(row, places.time, expected);
        let previous = chunk.positions.last().filter(|_| chunk.names.last() == Some(name));
        let position = match previous.or_else(|| positions.get(name)) {
            Some(&position) => position,
            None => {
                clocks.push(Clock::starting_at(text, *times_in).map_err(wrong)?);
                positions.insert(name.to_owned(), clocks.len() - 1);
                clocks.len() - 1
            }
        };
        chunk.times.push(clocks[position].seconds(text).map_err(wrong)?);
        chunk.positions.push(position);
        chunk.names.push(name);
        chunk.time_texts.push(text);
        for &column in &places.features {
            chunk.values.push(feature(table, row, column)?);
        }
        Ok(())
    }
}

/// Concatenated texts.
#[derive(Debug, Default)]
struct Texts {
    text: String,
    ends: Vec<usize>,
}

impl Texts {
    fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.ends.push(self.text.len());
    }

    fn get(&self, at: usize) -> &str {
        let begin = if at == 0 { 0 } else { self.ends[at - 1] };
        &self.text[begin..self.ends[at]]
    }

    fn last(&self) -> Option<&str> {
        Some(self.get(self.ends.len().checked_sub(1)?))
    }

    fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
    }
}
