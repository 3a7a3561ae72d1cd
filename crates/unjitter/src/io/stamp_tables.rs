//! Stamp files of other programs as a table of events, so that all that is done with tables can be done with
//! them.
//!
//! The table has the columns session, time, duration, label, and whatever else the files tell. Its times are
//! written in the notation of each session's own, so from here on it is a table like any other; only
//! [`FromFiles`] remembers which stamp of which file each line is, for writing the files back.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::dataset::Columns;
use super::instances::{InstancesTable, ReadSession};
use super::source::{STANDARD_INPUT, display_name, open};
use super::suggest::quoted;
use super::table::{Table, TableText, shown};
use crate::stamps::{FORMATS, Format, ReadOptions, StampFile};
use crate::{Error, Result};

/// What the columns of durations and of labels are called. There are durations only if something lasts, in the unit
/// of numeric times.
const DURATION: &str = "duration";
const LABEL: &str = "label";

/// How stamp files are read.
#[derive(Debug, Clone, Default)]
pub struct StampOptions {
    /// The session of each file, in their order; by default that of its name.
    pub sessions: Vec<String>,
    /// What formats may be told.
    pub read: ReadOptions,
}

/// The files that a table of events came from.
#[derive(Debug, Clone)]
pub struct FromFiles {
    /// In the order in which they were named.
    pub files: Vec<Arc<StampFile>>,
    /// For each line of the table, its file, its stamp in the file, and the seconds of the session's clock at
    /// the file's zero.
    lines: Vec<(usize, usize, f64)>,
}

impl FromFiles {
    /// Where the stamps of a file are, in its own seconds, if `moved` tells where some lines are on the clock
    /// of their session.
    pub fn times(&self, file: usize, moved: impl Fn(usize) -> Option<f64>) -> Vec<f64> {
        let mut times = self.files[file].found().times.clone();
        for (line, &(_, stamp, zero)) in self.of_file(file) {
            if let Some(time) = moved(line) {
                times[stamp] = time - zero;
            }
        }
        times
    }

    /// Where the stamps of a file end, in its own seconds, if `moved` tells where those of some lines do on the
    /// clock of their session; none for all others, which last as long as before.
    pub fn ends(&self, file: usize, moved: impl Fn(usize) -> Option<f64>) -> Vec<Option<f64>> {
        let mut ends = vec![None; self.files[file].found().len()];
        for (line, &(_, stamp, zero)) in self.of_file(file) {
            ends[stamp] = moved(line).map(|time| time - zero);
        }
        ends
    }

    /// Lines of a file, with what they are.
    fn of_file(&self, file: usize) -> impl Iterator<Item = (usize, &(usize, usize, f64))> {
        self.lines.iter().enumerate().filter(move |(_, line)| line.0 == file)
    }
}

/// The stamp files of a folder, in the order of their names: those whose names tell a format. Tables of
/// events are told from other tables by nothing, so they are not among them.
pub fn stamp_files_in(folder: &Path) -> Result<Vec<PathBuf>> {
    let failed = |source| Error::Io { path: folder.to_owned(), source };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let told = Format::told_by_name(&path).filter(|format| format.name != "csv");
        if told.is_some() && path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// What BIDS calls the time of an event.
const ONSET: &str = "onset";

/// The format of a file of events, if it is a stamp file of another program and no table of ours: a table whose
/// header has our column of times or of sessions is ours, whatever it is called.
pub(super) fn format_of(path: &Path, columns: &Columns) -> Result<Option<&'static Format>> {
    if path == Path::new(STANDARD_INPUT) {
        return Ok(None);
    }
    let Ok(format) = Format::told_by_file(path) else { return Ok(None) };
    if format.name == "csv" || (!columns.has_header && format.shares_names()) {
        return Ok(None);
    }
    let [session, time] = names(columns);
    let table = Table::from_reader(display_name(path), open(path)?, true);
    let is_ours = table.is_ok_and(|table| {
        // What BIDS files are called, some tables of ours are called too.
        let is_other = format.name == "bids" && table.find(ONSET).is_none();
        is_other || table.find(time).or(table.find(session)).is_some()
    });
    Ok((!is_ours).then_some(format))
}

/// Reads stamp files into the text of a table.
pub(super) fn read(
    paths: &[PathBuf],
    options: &StampOptions,
    columns: &Columns,
    instances: &InstancesTable,
) -> Result<(Vec<u8>, FromFiles)> {
    let mut files = Vec::new();
    for path in paths {
        let Some(format) = format_of(path, columns)? else { return Err(no_stamp_file(path)) };
        let options = options.read.only(format.reads);
        files.push(Arc::new(StampFile::read(path, Some(format), &options)?));
    }
    check_sessions(paths, options)?;
    let has_lengths =
        files.iter().any(|file| file.found().durations.iter().any(|&lasting| lasting > 0.0));
    let facts = fact_names(&files, columns);
    let mut lone_files: HashMap<String, usize> = HashMap::new();
    let lasting = has_lengths.then_some(DURATION);
    let header = names(columns).into_iter().chain(lasting).chain([LABEL]);
    let mut table = TableText::new(b',', header.chain(facts.iter().map(String::as_str)));
    let mut lines = Vec::new();
    for (k, file) in files.iter().enumerate() {
        let found = file.found();
        let lone = lone_session(options.sessions.get(k), file.path(), paths.len(), instances);
        let places: HashMap<&str, usize> = found
            .facts
            .iter()
            .enumerate()
            .map(|(at, fact)| (fact.name.as_str(), at))
            .rev()
            .collect();
        let places: Vec<Option<usize>> =
            facts.iter().map(|name| places.get(name.as_str()).copied()).collect();
        for stamp in 0..found.len() {
            let recording = found.recording.map(|fact| found.facts[fact].values[stamp].as_str());
            let name = match recording.filter(|name| !name.is_empty()) {
                Some(name) if options.sessions.is_empty() => of_recording(name, instances),
                _ => {
                    let first = *lone_files.entry(lone.clone()).or_insert(k);
                    if first != k && options.sessions.is_empty() {
                        return Err(same_session(&lone, files[first].path(), file.path()));
                    }
                    lone.as_str()
                }
            };
            let session = instances.position(name).map(|at| &instances.sessions[at]);
            let zero = session.map_or(Ok(0.0), |session| zero_of(file, options, session))?;
            let time = zero + found.times[stamp];
            let written =
                session.map_or_else(|| time.to_string(), |session| session.clock.write(time));
            let mut line = vec![name.to_owned(), written];
            let lasting = found.durations[stamp] * columns.times_in.per_second();
            line.extend(has_lengths.then(|| lasting.to_string()));
            line.push(found.labels[stamp].clone());
            for place in &places {
                line.push(place.map_or(String::new(), |at| found.facts[at].values[stamp].clone()));
            }
            table.push(&line);
            lines.push((k, stamp, zero));
        }
    }
    Ok((table.into(), FromFiles { files, lines }))
}

/// What the columns of sessions and times are called.
fn names(columns: &Columns) -> [&str; 2] {
    let session = columns.event_session.as_ref().unwrap_or(&columns.session);
    let time = columns.event_time.as_ref().unwrap_or(&columns.time);
    [session, time]
}

/// Names of all facts of the files, without those of the first columns, in the order in which they come.
fn fact_names(files: &[Arc<StampFile>], columns: &Columns) -> Vec<String> {
    let [session, time] = names(columns);
    let mut known = HashSet::from(["", session, time, DURATION, LABEL]);
    let all = files.iter().flat_map(|file| &file.found().facts).map(|fact| fact.name.as_str());
    all.filter(|name| known.insert(name)).map(str::to_owned).collect()
}

fn check_sessions(paths: &[PathBuf], options: &StampOptions) -> Result<()> {
    let (found, files) = (options.sessions.len(), paths.len());
    match found == 0 || found == files {
        true => Ok(()),
        false => {
            let problem =
                format!("{found} sessions for {files} files of events, expected one for each");
            Err(Error::StampFile { what: "sessions".to_owned(), problem, option: None })
        }
    }
}

/// The session that a file is of: the one that is given; if there is one of each, it; else the longest
/// session's name that the name of the file is, or begins with before a dot, underscore or hyphen.
fn lone_session(
    given: Option<&String>,
    path: &Path,
    files: usize,
    instances: &InstancesTable,
) -> String {
    if let Some(name) = given {
        return name.clone();
    }
    if let ([only], 1) = (&instances.sessions[..], files) {
        return only.name.clone();
    }
    let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let begins = |session: &&ReadSession| match file.strip_prefix(session.name.as_str()) {
        Some(rest) => rest.is_empty() || rest.starts_with(['.', '_', '-']),
        None => false,
    };
    let longest = instances.sessions.iter().filter(begins).max_by_key(|session| session.name.len());
    match longest {
        Some(session) => session.name.clone(),
        None => super::dataset::lone_session(path),
    }
}

/// Two files whose names tell one session: as they are, nobody would know whose stamps are whose.
fn same_session(session: &str, first: &Path, second: &Path) -> Error {
    let problem = format!(
        "by its name it is of session {}, and so is {}; name one of them, or tell the session of each",
        shown(session),
        display_name(first)
    );
    Error::StampFile { what: display_name(second), problem, option: Some("session") }
}

/// The session of a recording that a file names, such as `night/a.wav`: of that name, or of its last part, or
/// of that without an extension.
fn of_recording<'a>(name: &'a str, instances: &InstancesTable) -> &'a str {
    let last = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let stem = last.rsplit_once('.').map_or(last, |(stem, _)| stem);
    let known = [name, last, stem].into_iter().find(|name| instances.position(name).is_some());
    known.unwrap_or(name)
}

/// The seconds of a session's clock at the zero of a file. Numbers count from the same zero; dates need the
/// file to say when its zero was.
fn zero_of(file: &StampFile, options: &StampOptions, session: &ReadSession) -> Result<f64> {
    let wrong = |problem: String, option| {
        let what = file.path().display().to_string();
        Err(Error::StampFile { what, problem, option })
    };
    let (name, origin) = (shown(&session.name), options.read.origin.or(file.found().origin));
    if session.clock.is_time_of_day() {
        let problem =
            format!("session {name} has times of day; give its instances dates or seconds");
        return wrong(problem, None);
    }
    let Some((moment, zone)) = session.clock.moment() else {
        // Seconds since 1970 are told from those since the start of a recording by their size.
        return match (session.clock.zero_in_seconds().filter(|&zero| zero != 0.0), origin) {
            (None, Some(first))
                if options.read.origin.is_none() && file.found().origin_is_guess =>
            {
                let example = first.text().unwrap_or_default();
                let problem = format!(
                    "its stamps are dates, the first at {example}, but session {name} counts seconds, and nothing \
                     says when its second 0 was, such as {example}"
                );
                wrong(problem, Some("origin"))
            }
            (None, _) => Ok(0.0),
            (Some(zero), Some(origin)) => Ok(origin.nanoseconds as f64 / 1e9 - zero),
            (Some(_), None) => {
                let problem = format!(
                    "nothing says when its second 0 was, and session {name} counts from 1970"
                );
                wrong(problem, Some("origin"))
            }
        };
    };
    match origin {
        Some(origin) if origin.offset.is_some() == zone.is_some() => {
            Ok((origin.nanoseconds - moment) as f64 / 1e9)
        }
        Some(origin) => {
            let (has, text) = (zone.is_some(), origin.text().unwrap_or_default());
            let zones = if has { "have a zone" } else { "have no zone" };
            let problem =
                format!("its second 0 was at {text}, but the dates of session {name} {zones}");
            wrong(problem, Some("origin"))
        }
        None => {
            let problem =
                format!("nothing says when its second 0 was, and session {name} has dates");
            wrong(problem, Some("origin"))
        }
    }
}

/// What a table made of these files is called in messages.
pub(super) fn called(paths: &[PathBuf]) -> String {
    match paths {
        [] => "no file".to_owned(),
        [only] => display_name(only),
        [first, rest @ ..] => format!("{} and {} more", display_name(first), rest.len()),
    }
}

/// Only one table of ours can be read.
fn no_stamp_file(path: &Path) -> Error {
    let known: Vec<&str> =
        FORMATS.iter().map(|format| format.name).filter(|name| *name != "csv").collect();
    let problem =
        format!("several files must be stamp files of a known format: {}", quoted(&known));
    Error::Table { file: display_name(path), problem }
}
