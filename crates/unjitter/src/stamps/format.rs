//! Which formats there are, and how to tell them apart.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use flate2::read::MultiGzDecoder;

use super::dates::Origin;
use super::found::{Found, Read};
use super::problem::{latin, wrong};
use super::table::{self, bids};
use super::text::is_packed;
use super::{audacity, boris, dcase, edf, elan, empatica, raven, rttm, textgrid, wfdb};
use crate::{Error, Result};

/// Bytes of a file that tell its format.
const BEGINNING: u64 = 4096;

/// What a reader may be told; each format takes those it lists.
#[derive(Debug, Clone, Default)]
pub struct ReadOptions {
    /// The column of times.
    pub time: Option<String>,
    /// The column of labels; or what labels are taken from.
    pub label: Option<String>,
    /// The column of durations.
    pub duration: Option<String>,
    /// When second 0 is.
    pub origin: Option<Origin>,
    /// How text is written in bytes.
    pub encoding: Option<String>,
    /// Samples per second.
    pub fs: Option<f64>,
    /// The tier.
    pub tier: Option<TierName>,
}

impl ReadOptions {
    /// Those of these names.
    pub fn only(&self, names: &[&str]) -> Self {
        fn keep<T: Clone>(is_kept: bool, option: &Option<T>) -> Option<T> {
            option.clone().filter(|_| is_kept)
        }
        let has = |name: &str| names.contains(&name);
        Self {
            time: keep(has("time"), &self.time),
            label: keep(has("label"), &self.label),
            duration: keep(has("duration"), &self.duration),
            origin: keep(has("origin"), &self.origin),
            encoding: keep(has("encoding"), &self.encoding),
            fs: keep(has("fs"), &self.fs),
            tier: keep(has("tier"), &self.tier),
        }
    }
}

/// Which tier of a file is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TierName {
    /// That of this name.
    Named(String),
    /// That at this place, from 1.
    Numbered(i64),
}

/// How a file is made of stamps; each format takes what it lists.
#[derive(Debug, Clone, Default)]
pub struct WriteOptions {
    /// The column of times.
    pub time: Option<String>,
    /// The column of labels.
    pub label: Option<String>,
    /// The column of durations.
    pub duration: Option<String>,
    /// What separates columns.
    pub delimiter: Option<String>,
    /// Whether times are written as dates.
    pub dates: bool,
    /// Samples per second.
    pub fs: Option<f64>,
    /// The name of the tier.
    pub tier: Option<String>,
    /// Where the recording ends, in seconds.
    pub end: Option<f64>,
}

/// A format of files with stamps.
#[derive(Debug)]
pub struct Format {
    /// Its name.
    pub name: &'static str,
    /// What it is.
    pub description: &'static str,
    /// Options of reading.
    pub reads: &'static [&'static str],
    /// Options of making a file anew.
    pub writes: &'static [&'static str],
    /// Those of them that are required.
    pub needs: &'static [&'static str],
    /// Whether files may be packed with gzip.
    pub packable: bool,
    /// Whether a name, in lower case and unpacked, tells the format.
    tells: fn(&str) -> bool,
    /// Endings of names that fit, besides those that tell.
    fits: &'static [&'static str],
    pub(super) read: fn(&Path, &ReadOptions) -> Result<Read>,
    pub(super) compose: fn(&Found, &WriteOptions) -> Result<Vec<u8>>,
}

/// All formats, in the order in which a name is tried: those that take the fewest names come first.
pub static FORMATS: &[Format] = &[
    Format {
        name: "bids",
        description: "BIDS events (*_events.tsv, also .gz): onset, duration, trial_type",
        reads: &["label", "origin", "encoding"],
        writes: &[],
        needs: &[],
        packable: true,
        tells: |name| name == "events.tsv" || name.ends_with("_events.tsv"),
        fits: &[".tsv"],
        read: bids::read,
        compose: bids::compose,
    },
    Format {
        name: "empatica",
        description: "Empatica E4 tags (tags.csv): one UNIX time per line",
        reads: &["origin"],
        writes: &[],
        needs: &[],
        packable: false,
        tells: |name| name == "tags.csv",
        fits: &[".csv"],
        read: empatica::read,
        compose: empatica::compose,
    },
    Format {
        name: "csv",
        description: "a table with a header (.csv, .tsv, also .gz): one stamp per row",
        reads: &["time", "label", "duration", "origin", "encoding"],
        writes: &["delimiter", "time", "label", "duration", "dates"],
        needs: &[],
        packable: true,
        tells: |name| name.ends_with(".csv") || name.ends_with(".tsv"),
        fits: &[],
        read: table::read,
        compose: table::compose,
    },
    Format {
        name: "textgrid",
        description: "Praat TextGrid (.TextGrid): a point tier, or the labelled intervals of a tier",
        reads: &["tier", "encoding"],
        writes: &["tier", "end"],
        needs: &[],
        packable: false,
        tells: |name| name.ends_with(".textgrid"),
        fits: &[],
        read: textgrid::read,
        compose: textgrid::compose,
    },
    Format {
        name: "edf",
        description: "EDF+ or BDF+ annotations (.edf, .bdf): the signals beside them are kept",
        reads: &["encoding"],
        writes: &[],
        needs: &[],
        packable: false,
        tells: |name| name.ends_with(".edf") || name.ends_with(".bdf"),
        fits: &[],
        read: edf::read,
        compose: edf::compose,
    },
    Format {
        name: "wfdb",
        description: "WFDB annotations (100.atr and the like; the extension is the annotator)",
        reads: &["fs", "label"],
        writes: &["fs"],
        needs: &["fs"],
        packable: false,
        tells: wfdb::tells,
        fits: &[],
        read: wfdb::read,
        compose: wfdb::compose,
    },
    Format {
        name: "raven",
        description: "Raven selection table (.selections.txt, or .txt with its header): selections",
        reads: &["label", "encoding", "origin"],
        writes: &[],
        needs: &[],
        packable: false,
        tells: |name| name.ends_with(".selections.txt"),
        fits: &[".txt"],
        read: raven::read,
        compose: raven::compose,
    },
    Format {
        name: "rttm",
        description: "RTTM (.rttm): who spoke when",
        reads: &["encoding"],
        writes: &[],
        needs: &[],
        packable: false,
        tells: |name| name.ends_with(".rttm"),
        fits: &[],
        read: rttm::read,
        compose: rttm::compose,
    },
    Format {
        name: "dcase",
        description: "DCASE sound events (a table with onset, offset, event_label)",
        reads: &["label", "encoding", "origin"],
        writes: &[],
        needs: &[],
        packable: true,
        tells: |_| false,
        fits: &[".tsv", ".csv", ".txt"],
        read: dcase::read,
        compose: dcase::compose,
    },
    Format {
        name: "boris",
        description: "BORIS observations (.boris, or a table of its events)",
        reads: &["label", "encoding", "origin"],
        writes: &[],
        needs: &[],
        packable: false,
        tells: |name| name.ends_with(".boris"),
        fits: &[".tsv", ".csv", ".txt"],
        read: boris::read,
        compose: boris::compose,
    },
    Format {
        name: "elan",
        description: "ELAN (.eaf): annotations of one tier, or of all",
        reads: &["tier", "encoding"],
        writes: &["tier"],
        needs: &[],
        packable: false,
        tells: |name| name.ends_with(".eaf"),
        fits: &[],
        read: elan::read,
        compose: elan::compose,
    },
    Format {
        name: "audacity",
        description: "Audacity labels (.txt): start, end and text, with tabs between",
        reads: &["encoding"],
        writes: &[],
        needs: &[],
        packable: false,
        tells: |name| name.ends_with(".txt"),
        fits: &[],
        read: audacity::read,
        compose: audacity::compose,
    },
];

impl Format {
    /// The format of that name.
    pub fn named(name: &str) -> Result<&'static Self> {
        let found = FORMATS.iter().find(|format| format.name == name);
        found.ok_or_else(|| {
            let found = super::problem::quoted(name);
            wrong("format", format!("found {found}, expected one of\n{}", listing()))
        })
    }

    /// The format by the name of a file alone.
    pub fn told_by_name(path: &Path) -> Option<&'static Self> {
        let (name, packed) = plain_name(path);
        FORMATS.iter().find(|format| (format.tells)(&name) && (format.packable || !packed))
    }

    /// The format by the name of a file, or by what is beside it or in it.
    pub fn told_by_file(path: &Path) -> Result<&'static Self> {
        let told = Self::told_by_name(path);
        if let Some(format) = told.filter(|format| !format.shares_names()) {
            return Ok(format);
        }
        let header = wfdb::header_beside(path);
        let is_header = path.extension().is_none_or(|ending| ending == "hea");
        if told.is_none() && !is_header && header.is_file() {
            return Self::named("wfdb");
        }
        let beginning = beginning(path)?;
        let own = match told {
            Some(_) => told_by_header(&beginning),
            None => told_by_content(beginning),
        };
        match own {
            Some(name) => Self::named(name),
            None => told.ok_or_else(|| cannot_tell(path)),
        }
    }

    /// Whether tables of other programs are called like files of this format.
    pub(crate) fn shares_names(&self) -> bool {
        ["csv", "bids", "audacity", "empatica"].contains(&self.name)
    }

    /// Whether a file of this format may have that name.
    pub(super) fn fits(&self, path: &Path) -> bool {
        let (name, packed) = plain_name(path);
        let fits = (self.tells)(&name) || self.fits.iter().any(|ending| name.ends_with(ending));
        fits && (self.packable || !packed)
    }
}

/// The name of a file in lower case and without `.gz`, and whether it had that.
fn plain_name(path: &Path) -> (String, bool) {
    let name = path.file_name().unwrap_or(OsStr::new("")).to_string_lossy().to_lowercase();
    match name.strip_suffix(".gz").filter(|_| is_packed(path)) {
        Some(plain) => (plain.to_owned(), true),
        None => (name, false),
    }
}

/// The first bytes of a file, unpacked if its name says so.
fn beginning(path: &Path) -> Result<Vec<u8>> {
    let failed = |source| Error::Io { path: path.to_owned(), source };
    let file = File::open(path).map_err(failed)?;
    let mut beginning = Vec::new();
    if is_packed(path) {
        // What is wrong with it, reading it will say.
        let _ = MultiGzDecoder::new(file).take(BEGINNING).read_to_end(&mut beginning);
    } else {
        file.take(BEGINNING).read_to_end(&mut beginning).map_err(failed)?;
    }
    Ok(beginning)
}

/// The format of a table with the names of columns that a program gives.
fn told_by_header(beginning: &[u8]) -> Option<&'static str> {
    let text = latin(beginning);
    let header = text.lines().next().unwrap_or_default().trim_start_matches("ï»¿");
    let names: Vec<&str> =
        header.split(['\t', ',', ';']).map(|name| name.trim_matches(['"', ' '])).collect();
    let has = |name: &str| names.contains(&name);
    if has(raven::TIME) {
        return Some("raven");
    }
    if dcase::HEADER.iter().all(|name| has(name)) {
        return Some("dcase");
    }
    (has(boris::BEHAVIOR) && boris::TIMES.iter().any(|name| has(name))).then_some("boris")
}

/// The format of a file whose name tells nothing.
fn told_by_content(mut beginning: Vec<u8>) -> Option<&'static str> {
    if beginning.starts_with(b"0       ") || beginning.starts_with(b"\xffBIOSEMI") {
        return Some("edf");
    }
    // UTF-16 has zeros between its letters.
    beginning.retain(|&byte| byte != 0);
    let has = |text: &[u8]| beginning.windows(text.len()).any(|bytes| bytes == text);
    if has(b"ooTextFile") {
        return Some("textgrid");
    }
    if has(b"<ANNOTATION_DOCUMENT") { Some("elan") } else { told_by_header(&beginning) }
}

/// The formats, one per line.
fn listing() -> String {
    let mut formats: Vec<&Format> = FORMATS.iter().collect();
    formats.sort_by_key(|format| format.name);
    let line = |format: &&Format| format!("  '{}': {}", format.name, format.description);
    formats.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// An error that lists the formats.
pub(super) fn cannot_tell(path: &Path) -> Error {
    let problem = format!("cannot tell the format; pass format= as one of\n{}", listing());
    wrong(&path.display().to_string(), problem)
}
