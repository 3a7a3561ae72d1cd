//! Questions and answers, a line of JSON each, with the clock between them.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::error::Error;
use std::io::{BufRead, Lines, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::data::write_numbers;

/// A request.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Question {
    what: String,
    repeat: usize,
    threads: usize,
}

/// The answer. The numbers of the last run are in the file `answer` of the case's folder.
#[derive(Debug, Serialize)]
struct Answer {
    nanoseconds: Vec<u64>,
    value: f64,
    /// Bytes in memory now, and at most since the case was loaded; 0 where the system does not say.
    resident: u64,
    peak: u64,
}

/// Both ends of the line, and one pool of threads per size that was asked for.
pub(crate) struct Dialogue<R, W> {
    lines: Lines<R>,
    output: W,
    folder: PathBuf,
    pools: BTreeMap<usize, rayon::ThreadPool>,
}

impl<R: BufRead, W: Write> Dialogue<R, W> {
    pub(crate) fn new(lines: Lines<R>, output: W, folder: &Path) -> Self {
        Self { lines, output, folder: folder.to_owned(), pools: BTreeMap::new() }
    }

    /// Answers until there are no more questions. `run` does what it is told once, overwrites the
    /// numbers and returns a value.
    pub(crate) fn serve(
        &mut self,
        mut run: impl FnMut(&str, &mut Vec<f64>) -> f64 + Send,
    ) -> Result<(), Box<dyn Error>> {
        forget_peak();
        self.say(&Answer { nanoseconds: vec![], value: 0.0, resident: resident(), peak: peak() })?;
        let mut numbers = Vec::new();
        while let Some(line) = self.lines.next() {
            let Question { what, repeat, threads } = serde_json::from_str(&line?)?;
            let pool = self.pool(threads)?;
            // In the pool as a whole, as a fit is: handing over every run would cost more than a
            // small one takes.
            let (nanoseconds, value) = pool.install(|| {
                let mut value = f64::NAN;
                let mut time = || {
                    let begun = Instant::now();
                    value = run(&what, &mut numbers);
                    begun.elapsed().as_nanos() as u64
                };
                let nanoseconds = (0..repeat).map(|_| time()).collect();
                (nanoseconds, value)
            });
            write_numbers(&self.folder.join("answer"), &numbers)?;
            self.say(&Answer { nanoseconds, value, resident: resident(), peak: peak() })?;
        }
        Ok(())
    }

    fn pool(&mut self, threads: usize) -> Result<&rayon::ThreadPool, Box<dyn Error>> {
        Ok(match self.pools.entry(threads) {
            Entry::Occupied(pool) => pool.into_mut(),
            Entry::Vacant(place) => {
                place.insert(rayon::ThreadPoolBuilder::new().num_threads(threads).build()?)
            }
        })
    }

    fn say(&mut self, answer: &Answer) -> Result<(), Box<dyn Error>> {
        serde_json::to_writer(&mut self.output, answer)?;
        writeln!(self.output)?;
        Ok(self.output.flush()?)
    }
}

fn resident() -> u64 {
    status("VmRSS:")
}

fn peak() -> u64 {
    status("VmHWM:")
}

/// Starts the peak anew, where the system can.
fn forget_peak() {
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

/// A line of Linux's status of this process, in bytes.
fn status(name: &str) -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
    let kilobytes = line.split_whitespace().next().and_then(|word| word.parse::<u64>().ok());
    1024 * kilobytes.unwrap_or(0)
}
