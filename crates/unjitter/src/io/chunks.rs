//! A table of instances read some lines at a time, for tables larger than memory.
//!
//! One chunk is refilled again and again, so that no line allocates memory. One name and one clock per
//! session are kept: sessions may be mixed, and any line may be theirs.

use std::collections::HashMap;
use std::path::Path;

use ndarray::ArrayView2;

use super::clock::{Clock, TimeUnit};
use super::dataset::{Columns, lone_session};
use super::instances::{NO_INSTANCES, Places, feature};
use super::table::{Row, Table};
use crate::Result;

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
        let places = Places::find(&table, columns)?;
        let (positions, clocks) = (HashMap::new(), Vec::new());
        let (lone, times_in) = (lone_session(path), columns.times_in);
        Ok(Self { table, row: Row::default(), places, times_in, lone, positions, clocks })
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
        let Self { table, row, places, times_in, lone, positions, clocks } = self;
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
