//! The log of a review: one JSON object a line, of which none is ever changed.
//!
//! A line is on the disk before the page hears that a decision was taken, so a crash loses nothing that was
//! answered. What is taken back is another line. A program that is killed while it writes leaves half a line
//! behind, which nobody was told of: it is cut off when the log is opened again, and that is said.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::{Deserialize, Serialize};

use super::fingerprint::Fingerprint;
use super::item::{Decision, Item};
use crate::failure::{Mistake, usage};
use crate::inputs;

/// A line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Line {
    /// Its number in this log, from 1.
    pub(crate) seq: u64,
    /// The moment, in UTC.
    pub(crate) when: String,
    /// Who decided.
    pub(crate) who: String,
    /// A short name of the model that proposed.
    pub(crate) model: String,
    /// A short name of the data.
    pub(crate) data: String,
    /// What was done.
    pub(crate) what: What,
}

/// What a line tells.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum What {
    /// A review of these data began.
    Begin(Fingerprint),
    /// Something was decided, as one step.
    Decide(Vec<Said>),
    /// The decisions of a line were taken back.
    Undo(u64),
    /// They were made again.
    Redo(u64),
}

/// A decision about an item, with its times for people who read the log.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Said {
    /// Of what.
    pub(crate) item: Item,
    /// What was decided.
    #[serde(flatten)]
    pub(crate) decision: Decision,
    /// When it was pressed, in seconds of the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) stamp: Option<f64>,
    /// The time of the instance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) time: Option<f64>,
}

/// A log that was read.
#[derive(Debug, Default)]
pub(crate) struct ReadLog {
    pub(crate) lines: Vec<Line>,
    /// Bytes of whole lines.
    whole: u64,
    /// Bytes of a last line that was not finished.
    pub(crate) torn: u64,
}

impl ReadLog {
    /// Reads a log to its end.
    pub(crate) fn read(path: &Path) -> anyhow::Result<Self> {
        let mut text = Vec::new();
        let file = File::open(path).with_context(|| path.display().to_string())?;
        (&file).read_to_end(&mut text).with_context(|| path.display().to_string())?;
        Self::parse(path, &text)
    }

    fn parse(path: &Path, text: &[u8]) -> anyhow::Result<Self> {
        let mut log = Self::default();
        for (number, piece) in text.split_inclusive(|byte| *byte == b'\n').enumerate() {
            let is_last = log.whole as usize + piece.len() == text.len();
            let found: Result<Line, _> = serde_json::from_slice(piece);
            match found {
                Ok(line) if piece.ends_with(b"\n") => log.lines.push(line),
                // A last line that was written in part, or whose end never reached the disk.
                _ if is_last => {
                    log.torn = piece.len() as u64;
                    return Ok(log);
                }
                Ok(_) => unreachable!("only the last piece has no end of line"),
                Err(error) => {
                    let (path, number) = (path.display(), number + 1);
                    let message = format!("{path}, line {number}: no line of a review: {error}");
                    return Err(Mistake::Data(message).into());
                }
            }
            log.whole += piece.len() as u64;
        }
        Ok(log)
    }

    /// The data that the log is of.
    pub(crate) fn fingerprint(&self) -> Option<&Fingerprint> {
        self.lines.iter().find_map(|line| match &line.what {
            What::Begin(found) => Some(found),
            _ => None,
        })
    }
}

/// A log that is written.
#[derive(Debug)]
pub(crate) struct Log {
    path: PathBuf,
    file: File,
    next: u64,
}

impl Log {
    /// Opens a log, or begins one, and reads what is in it. No other program can write to it meanwhile.
    pub(crate) fn open(path: &Path) -> anyhow::Result<(Self, ReadLog)> {
        inputs::refuse(path)?;
        let open = || {
            if let Some(folder) = path.parent() {
                std::fs::create_dir_all(folder)?;
            }
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)
        };
        let file = open().with_context(|| path.display().to_string())?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => {
                let path = path.display();
                return Err(usage(format!(
                    "{path} is in use by another review; --log names another"
                )));
            }
            // Some file systems have no locks.
            Err(TryLockError::Error(_)) | Ok(()) => {}
        }
        let read = ReadLog::read(path)?;
        let next = read.lines.last().map_or(1, |line| line.seq + 1);
        let mut log = Self { path: path.to_owned(), file, next };
        log.cut(read.whole).with_context(|| path.display().to_string())?;
        Ok((log, read))
    }

    fn cut(&mut self, whole: u64) -> std::io::Result<()> {
        self.file.set_len(whole)?;
        self.file.seek(SeekFrom::Start(whole))?;
        Ok(())
    }

    /// Adds a line, with its number, and returns once it is on the disk. If it cannot be written, the log is
    /// what it was.
    pub(crate) fn append(&mut self, mut line: Line) -> anyhow::Result<Line> {
        line.seq = self.next;
        let mut text = serde_json::to_vec(&line)?;
        text.push(b'\n');
        let before = self.file.stream_position()?;
        let written = self.file.write_all(&text).and_then(|()| self.file.sync_data());
        if let Err(error) = written {
            let _ = self.cut(before);
            return Err(error).with_context(|| self.path.display().to_string());
        }
        self.next += 1;
        Ok(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::review::item::Action;

    fn line(item: Item) -> Line {
        let decision = Decision { action: Action::Accept, instance: Some(2) };
        let said = Said { item, decision, stamp: Some(1.5), time: None };
        let text = String::new;
        let what = What::Decide(vec![said]);
        Line { seq: 0, when: text(), who: "Ada".to_owned(), model: text(), data: text(), what }
    }

    #[test]
    fn half_a_line_is_cut_off_and_all_others_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/review.jsonl");
        let (mut log, read) = Log::open(&path).unwrap();
        assert!(read.lines.is_empty());
        let first = log.append(line(Item::Stamp(0, 1))).unwrap();
        let second = log.append(line(Item::Missed(0, 1))).unwrap();
        assert_eq!((first.seq, second.seq), (1, 2));
        assert!(Log::open(&path).unwrap_err().to_string().contains("in use"));
        drop(log);
        let whole = std::fs::read(&path).unwrap();
        for end in 0..whole.len() {
            std::fs::write(&path, &whole[..end]).unwrap();
            let (mut log, read) = Log::open(&path).unwrap();
            let lines = whole[..end].iter().filter(|byte| **byte == b'\n').count();
            assert_eq!(read.lines.len(), lines, "after {end} bytes");
            assert_eq!(read.torn > 0, !whole[..end].ends_with(b"\n") && end > 0);
            let third = log.append(line(Item::Stamp(3, 4))).unwrap();
            assert_eq!(third.seq, lines as u64 + 1);
            drop(log);
            let again = ReadLog::read(&path).unwrap();
            assert_eq!((again.lines.len(), again.torn), (lines + 1, 0));
            assert_eq!(again.lines[lines], third);
        }
        // What is cut off may be longer than the next line.
        std::fs::write(&path, [&whole[..], &[b'x'; 5000]].concat()).unwrap();
        let (mut log, read) = Log::open(&path).unwrap();
        assert_eq!((read.lines.len(), read.torn), (2, 5000));
        log.append(line(Item::Stamp(3, 4))).unwrap();
        drop(log);
        assert_eq!(ReadLog::read(&path).unwrap().lines.len(), 3);
        assert_eq!(ReadLog::read(&path).unwrap().torn, 0);
    }

    #[test]
    fn a_damaged_line_in_the_middle_is_refused_by_its_number() {
        let good = serde_json::to_string(&line(Item::Stamp(0, 1))).unwrap();
        let text = format!("{good}\nnothing\n{good}\n");
        let error = ReadLog::parse(Path::new("a.jsonl"), text.as_bytes()).unwrap_err();
        assert!(error.to_string().starts_with("a.jsonl, line 2: no line of a review"), "{error}");
    }
}
