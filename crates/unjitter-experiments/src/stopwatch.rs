//! Time of an experiment, over all its runs.
//!
//! Time is stored in a file of the work folder every few seconds, beside the journals: when interrupted
//! work continues, its earlier time counts too, as its numbers do.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use anyhow::Context;
use serde::{Deserialize, Serialize};
use unjitter_cli::inputs;

/// Time between two entries: the most that a killed run can lose.
const OFTEN: Duration = Duration::from_secs(2);

/// Time of all runs, and number of threads of the last one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Took {
    /// Wall-clock time.
    pub seconds: f64,
    /// Threads.
    pub threads: usize,
}

/// A line of the file.
#[derive(Debug, Serialize, Deserialize)]
struct Note {
    /// The work that took the time.
    work: String,
    seconds: f64,
}

/// Measures from its creation on.
#[derive(Debug)]
pub(crate) struct Stopwatch {
    file: PathBuf,
    work: String,
    noted: Mutex<Instant>,
}

impl Stopwatch {
    /// Begins to measure a piece of work; earlier runs may be stored in the folder.
    pub(crate) fn start(folder: &Path, work: String) -> anyhow::Result<Self> {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("cannot make the work folder {}", folder.display()))?;
        let file = folder.join("times.jsonl");
        inputs::refuse(&file)?;
        Ok(Self { file, work, noted: Mutex::new(Instant::now()) })
    }

    /// Stores the time, if the last entry is some time ago.
    pub(crate) fn look(&self) -> anyhow::Result<()> {
        let mut noted = self.noted.lock().expect("nobody panics while noting");
        let passed = noted.elapsed();
        if passed >= OFTEN { self.note(passed, &mut noted) } else { Ok(()) }
    }

    /// Stores the rest, and sums the time of all runs.
    pub(crate) fn stop(self) -> anyhow::Result<Took> {
        let mut noted = self.noted.lock().expect("nobody panics while noting");
        self.note(noted.elapsed(), &mut noted)?;
        let text = std::fs::read_to_string(&self.file)
            .with_context(|| format!("cannot read {}", self.file.display()))?;
        // A line cut off by a kill is not an entry.
        let notes = text.lines().filter_map(|line| serde_json::from_str(line).ok());
        let own = notes.filter(|note: &Note| note.work == self.work);
        let seconds = own.map(|note| note.seconds).sum();
        Ok(Took { seconds, threads: rayon::current_num_threads() })
    }

    fn note(&self, passed: Duration, noted: &mut Instant) -> anyhow::Result<()> {
        let note = Note { work: self.work.clone(), seconds: passed.as_secs_f64() };
        // The line feed comes first, so that a line cut off by a kill stays separate.
        let line = format!("\n{}", serde_json::to_string(&note)?);
        OpenOptions::new()
            .create(true)
            .append(true)
            .open(&self.file)
            .and_then(|mut file| file.write_all(line.as_bytes()))
            .with_context(|| format!("cannot write to {}", self.file.display()))?;
        *noted += passed;
        Ok(())
    }
}

/// "8 min 12 s", "9.5 s".
pub(crate) fn in_words(seconds: f64) -> String {
    if seconds < 59.95 {
        return format!("{seconds:.1} s");
    }
    let whole = seconds.round() as u64;
    format!("{} min {} s", whole / 60, whole % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_the_same_work_add_up() {
        let folder = tempfile::tempdir().unwrap();
        let measure = |work: &str| {
            let stopwatch = Stopwatch::start(folder.path(), work.to_owned()).unwrap();
            *stopwatch.noted.lock().unwrap() -= Duration::from_secs(100);
            stopwatch.look().unwrap();
            stopwatch.stop().unwrap().seconds
        };
        // A hundred seconds each, plus the test's own time.
        assert!((100.0..120.0).contains(&measure("a")));
        assert!((100.0..120.0).contains(&measure("b")));
        let file = folder.path().join("times.jsonl");
        let mut text = std::fs::read_to_string(&file).unwrap();
        text.push_str("\n{\"work\":\"a\",\"secon");
        std::fs::write(&file, text).unwrap();
        assert!((200.0..240.0).contains(&measure("a")));
        assert!((300.0..360.0).contains(&measure("a")));
    }

    #[test]
    fn times_are_told_in_minutes_and_seconds() {
        for (seconds, text) in
            [(0.04, "0.0 s"), (9.5, "9.5 s"), (59.96, "1 min 0 s"), (492.4, "8 min 12 s")]
        {
            assert_eq!(in_words(seconds), text);
        }
    }
}
