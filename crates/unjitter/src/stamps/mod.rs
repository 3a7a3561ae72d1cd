//! Stamps in the files that the field keeps: read, moved, and written back with all else as it was.
//!
//! ```text
//! StampFile::read("100.atr")     stamps in the order of the file, and the file
//! file.render(times, kept)       all of the file, with its stamps elsewhere
//! file.with_ends(ends)           the same file, to be rendered with other ends too
//! compose(format, stamps)        a file of stamps alone
//! ```
//!
//! Each format is a file here: a reader that gives [`Found`] and a source, which renders. They read bytes
//! themselves rather than by the packages of their fields, because writing back must lose nothing: not the
//! notes that a package drops, not the order of attributes, not the digits of a number. Files are not
//! trusted: what is wrong in them is an error with its place, and memory is bounded by the size of a file,
//! which is bounded too.

mod audacity;
mod boris;
mod dates;
mod dcase;
mod delimited;
mod edf;
mod edf_header;
mod edf_lists;
mod elan;
mod elan_excess;
mod empatica;
mod format;
mod found;
mod numerals;
mod problem;
mod raven;
mod rows;
mod rttm;
mod samples;
mod table;
mod table_source;
mod text;
mod textgrid;
mod textgrid_text;
mod wfdb;
mod wfdb_words;

use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use dates::Origin;
pub use format::{FORMATS, Format, ReadOptions, TierName, WriteOptions};
pub use found::{Fact, Found};
pub(crate) use text::is_packed;

use crate::Result;
use found::{Moved, Source};
use problem::wrong;

/// A file with stamps, as it was read.
#[derive(Debug)]
pub struct StampFile {
    path: PathBuf,
    format: &'static Format,
    found: Arc<Found>,
    source: Arc<dyn Source>,
    ends: Vec<Option<f64>>,
}

impl StampFile {
    /// Reads a file; its format is told from its name, or from what is in it, if it is not given.
    pub fn read(
        path: &Path,
        format: Option<&'static Format>,
        options: &ReadOptions,
    ) -> Result<Self> {
        let format = match format {
            Some(format) => format,
            None => Format::told_by_file(path)?,
        };
        let (found, source) = (format.read)(path, options)?;
        let (found, source, ends) = (Arc::new(found), Arc::from(source), Vec::new());
        Ok(Self { path: path.to_owned(), format, found, source, ends })
    }

    /// The same file, whose stamps will end there, in the order of the file, wherever they begin then; those
    /// without an end last as long as before.
    pub fn with_ends(&self, ends: Vec<Option<f64>>) -> Self {
        let (path, found, source) = (self.path.clone(), self.found.clone(), self.source.clone());
        Self { path, format: self.format, found, source, ends }
    }

    /// Whether stamps of the file can be given other ends.
    pub fn holds_ends(&self) -> bool {
        self.source.holds_ends()
    }

    /// Where it was read.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its format.
    pub fn format(&self) -> &'static Format {
        self.format
    }

    /// Its stamps, in the order of the file.
    pub fn found(&self) -> &Found {
        &self.found
    }

    /// Hands out the file with its stamps at `times`, without those that are not `kept`, both in the order of
    /// the file.
    pub fn render(
        &self,
        times: &[f64],
        kept: &[bool],
        sink: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let moved = Moved::new(&self.found, times, &self.ends, kept);
        self.check_ends(moved)?;
        self.source.render(moved, sink)
    }

    /// Refuses ends that are none, or that the file cannot hold.
    fn check_ends(&self, moved: Moved<'_>) -> Result<()> {
        let what = self.path.display().to_string();
        for stamp in (0..self.ends.len()).filter(|&stamp| moved.keeps(stamp)) {
            let Some(end) = moved.end(stamp) else { continue };
            let start = moved.now(stamp);
            if !(end.is_finite() && end >= start) {
                let problem = format!("found the end {end} s, expected none before {start} s");
                return Err(wrong(&what, problem));
            }
            if !self.holds_ends() {
                let name = self.format.name;
                let problem = format!(
                    "a stamp from {start} to {end} s would last longer or shorter than before, but these stamps \
                     ({name}) have no end that can be moved; move their beginnings alone"
                );
                return Err(wrong(&what, problem));
            }
        }
        Ok(())
    }

    /// The format to write these stamps in under a name: their own, if the name allows; else as the name
    /// says.
    pub fn format_for(&self, path: &Path) -> Result<&'static Format> {
        // A file whose format was given may be written under the kind of name that it had.
        let is_alike = path.extension() == self.path.extension();
        if self.format.fits(path) || is_alike {
            return Ok(self.format);
        }
        match Format::told_by_name(path) {
            Some(told) => Ok(told),
            // The extension of WFDB annotations is the annotator, which may have any name.
            None if self.format.name == "wfdb" && path.extension().is_some() => Ok(self.format),
            None => Err(format::cannot_tell(path)),
        }
    }
}

/// A file of these stamps alone, which are in order of time.
pub fn compose(format: &Format, stamps: &Found, options: &WriteOptions) -> Result<Vec<u8>> {
    for (k, time) in stamps.times.iter().enumerate() {
        if !time.is_finite() {
            return Err(wrong(
                "times",
                format!("found {time} at index {k}, expected a finite number"),
            ));
        }
    }
    (format.compose)(stamps, options)
}
