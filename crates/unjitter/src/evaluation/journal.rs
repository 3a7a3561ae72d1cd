//! A file of finished cells, so that interrupted work can continue.
//!
//! One JSON object per line: a header that identifies options and data, then a line per finished cell,
//! flushed as it is written. An incomplete last line is dropped on opening; a journal of other options or
//! data is refused.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// Changes whenever the same options and data would give other numbers than before, so that no journal of
/// an older program is mixed with new work.
const FORMAT: &str = "unjitter 4";

/// Options and data of a journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Header {
    journal: String,
    options: serde_json::Value,
    data: String,
}

/// A line of a journal.
#[derive(Debug, Serialize, Deserialize)]
struct Entry<T> {
    cell: String,
    result: T,
}

/// Finished cells by name, on disk if a path is given.
#[derive(Debug)]
pub(super) struct Journal<T> {
    done: HashMap<String, T>,
    file: Option<Mutex<File>>,
    path: PathBuf,
}

impl<T: Serialize + DeserializeOwned> Journal<T> {
    /// A journal in memory only.
    pub(super) fn none() -> Self {
        Self { done: HashMap::new(), file: None, path: PathBuf::new() }
    }

    /// Opens the journal at `path`, or begins one.
    pub(super) fn open(path: &Path, options: &serde_json::Value, data: &str) -> Result<Self> {
        let header =
            Header { journal: FORMAT.to_owned(), options: options.clone(), data: data.to_owned() };
        let io = |source| Error::Io { path: path.to_owned(), source };
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .map_err(io)?;
        let mut done = HashMap::new();
        let mut whole = 0;
        let mut line = Vec::new();
        let mut reader = BufReader::new(&file);
        loop {
            line.clear();
            let read = reader.read_until(b'\n', &mut line).map_err(io)?;
            // The last line counts only with its line end; otherwise it is incomplete.
            if read == 0 || line.last() != Some(&b'\n') {
                let is_own = || serde_json::to_vec(&header).is_ok_and(|own| own.starts_with(&line));
                if whole == 0 && !is_own() {
                    return Err(refuse(path, "it does not begin like a journal".to_owned()));
                }
                break;
            }
            if whole == 0 {
                check_header(path, &line, &header)?;
            } else {
                let place = done.len() + 2;
                let entry: Entry<T> = serde_json::from_slice(&line)
                    .map_err(|e| refuse(path, format!("line {place}: {e}")))?;
                done.insert(entry.cell, entry.result);
            }
            whole += read as u64;
        }
        drop(reader);
        file.set_len(whole).map_err(io)?;
        file.seek(SeekFrom::End(0)).map_err(io)?;
        if whole == 0 {
            write_line(&mut file, &header).map_err(io)?;
        }
        Ok(Self { done, file: Some(Mutex::new(file)), path: path.to_owned() })
    }

    /// The result of a finished cell.
    pub(super) fn get(&self, cell: &str) -> Option<&T> {
        self.done.get(cell)
    }

    /// The error for a journal that contradicts its header.
    pub(super) fn refuse(&self, problem: String) -> Error {
        refuse(&self.path, problem)
    }

    /// Stores a finished cell.
    pub(super) fn note(&self, cell: &str, result: &T) -> Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        let mut file = file.lock().expect("no writer panics");
        write_line(&mut file, &Entry { cell: cell.to_owned(), result })
            .map_err(|source| Error::Io { path: self.path.clone(), source })
    }
}

/// One write per line, so that a kill leaves whole lines and at most one torn one.
fn write_line(file: &mut File, value: &impl Serialize) -> std::io::Result<()> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    file.write_all(&line)?;
    file.flush()
}

fn check_header(path: &Path, line: &[u8], expected: &Header) -> Result<()> {
    let found: Header = serde_json::from_slice(line)
        .map_err(|e| refuse(path, format!("it does not begin like a journal: {e}")))?;
    if found.journal != expected.journal {
        return Err(refuse(path, format!("it was written by {}", found.journal)));
    }
    if found.options != expected.options {
        return Err(refuse(path, "it was made with other options".to_owned()));
    }
    if found.data != expected.data {
        return Err(refuse(path, "it was made with other data".to_owned()));
    }
    Ok(())
}

fn refuse(path: &Path, problem: String) -> Error {
    Error::Journal { path: path.to_owned(), problem }
}
