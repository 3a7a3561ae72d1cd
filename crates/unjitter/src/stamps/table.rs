//! Tables with a header: one stamp per row, other columns and their text kept.
//!
//! Times are seconds, or ISO-8601 dates like `2024-05-31T14:03:27.5+02:00`. Moved ones are written back in
//! the same form and zone: seconds in as many digits as it takes to read back the same number, dates to the
//! microsecond. Formats that are tables of fixed names (BIDS, Raven, DCASE, BORIS) are a [`Layout`] each.

use std::collections::HashMap;
use std::path::Path;

use super::dates::{self, Origin, SECOND, Spelling};
use super::delimited::{self, rows, table_text};
use super::format::{ReadOptions, WriteOptions};
use super::found::{Found, Read};
use super::numerals::{number_text, parse_number};
use super::problem::{quoted, wrong};
use super::rows::{Row, Rows};
use super::samples::{Evidence, SampleColumns, Samples};
use super::table_source::{Clock, Table};
use super::text::Text;
use crate::Result;

const DELIMITERS: &[char] = &[',', '\t', ';', '|'];
const MISSING: [&str; 6] = ["", "n/a", "N/A", "NA", "nan", "NaN"];

/// Which columns hold what, by name.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Layout<'a> {
    /// What may separate columns.
    pub(super) delimiters: &'a [char],
    /// The time; any of these, the first that is there.
    pub(super) time: &'a [&'a str],
    /// The label.
    pub(super) label: Column<'a>,
    /// How long a stamp lasts.
    pub(super) duration: Column<'a>,
    /// When a stamp ends, if no duration is told; it moves along.
    pub(super) end: &'a [&'a str],
    /// Other times in seconds, from the start of a file, which move along.
    pub(super) along: &'a [&'a str],
    /// The same as numbers of samples.
    pub(super) samples: &'a [SampleColumns<'a>],
    /// A number of the stamp: rows that share it and the time are one stamp.
    pub(super) identity: Option<&'a str>,
    /// The recording that a stamp is of.
    pub(super) recording: &'a [&'a str],
}

/// A column that a table may have.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Column<'a> {
    /// Its name if the user gave one, which makes it required.
    pub(super) given: Option<&'a str>,
    /// Else any of these.
    pub(super) usual: &'a [&'a str],
}

/// The places of columns in a table.
#[derive(Debug)]
struct Places {
    time: usize,
    label: Option<usize>,
    duration: Option<usize>,
    end: Option<usize>,
    along: Vec<usize>,
    samples: Vec<Samples>,
    identity: Option<usize>,
    others: Vec<usize>,
}

pub(super) fn read(path: &Path, options: &ReadOptions) -> Result<Read> {
    let text = Text::load(path, options.encoding.as_deref())?;
    let time = options.time.as_deref().unwrap_or("time");
    let layout = Layout {
        delimiters: DELIMITERS,
        time: &[time],
        label: Column { given: options.label.as_deref(), usual: &["label"] },
        duration: Column { given: options.duration.as_deref(), usual: &["duration"] },
        ..Layout::default()
    };
    read_table(text, layout, options.origin)
}

/// Reads a table of that layout.
pub(super) fn read_table(text: Text, layout: Layout<'_>, origin: Option<Origin>) -> Result<Read> {
    let (delimiter, names) = read_header(&text, &layout)?;
    let places = Places::find(&text, &names, &layout)?;
    let facts = places.others.iter().map(|&column| names[column].as_str());
    let mut found = Found::with_facts(facts);
    let is_recording = |fact: &str| layout.recording.contains(&fact);
    found.recording = found.facts.iter().position(|fact| is_recording(&fact.name));
    let (mut own, mut times, mut lines) = (Vec::new(), Vec::new(), Vec::new());
    let mut known: HashMap<(String, String), usize> = HashMap::new();
    let mut evidence = Evidence::default();
    for row in rows(&text, delimiter).skip(1) {
        let row = row?;
        if row.text.trim().is_empty() {
            continue;
        }
        let Some(time) = row.value(places.time) else {
            let least = places.time + 1;
            let expected = format!("{least} fields or more, the time in the last of them");
            return Err(text.bad(row.line, row.text, &expected));
        };
        if MISSING.contains(&time.as_str()) {
            continue;
        }
        let mut stamp = found.len();
        if let Some(identity) = places.identity.and_then(|column| row.value(column)) {
            stamp = *known.entry((identity, time.clone())).or_insert(stamp);
        }
        own.push(Row { stamp, at: row.at.clone(), next: row.next });
        if stamp < found.len() {
            continue;
        }
        let label =
            places.label.and_then(|column| row.value(column)).filter(|label| label != "n/a");
        let lasting = duration(&text, &row, &places, &time)?;
        for samples in &places.samples {
            evidence.add(samples, &row);
        }
        let others: Vec<_> =
            places.others.iter().map(|&k| row.value(k).unwrap_or_default()).collect();
        let others = others.iter().map(String::as_str);
        found.push(&text.file, 0.0, lasting, label.unwrap_or_default(), others)?;
        times.push(time);
        lines.push(row.line);
    }
    let clock = read_times(&text, &times, &lines, origin, &mut found)?;
    let Places { time, duration, end, along, samples, .. } = places;
    let rows = Rows::new(text, own);
    let table = Table { rows, delimiter, time, duration, end, along, samples, evidence, clock };
    Ok((found, Box::new(table)))
}

/// What separates columns, and their names: whichever gives one with the name of the time.
fn read_header(text: &Text, layout: &Layout<'_>) -> Result<(char, Vec<String>)> {
    let mut most: Vec<String> = Vec::new();
    for &delimiter in layout.delimiters {
        let Some(header) = rows(text, delimiter).next() else {
            let problem = "found an empty file, expected a table with a header";
            return Err(wrong(&text.file, problem));
        };
        let names = header?.values();
        if layout.time.iter().any(|time| names.iter().any(|name| name == time)) {
            return Ok((delimiter, names));
        }
        if names.len() > most.len() {
            most = names;
        }
    }
    let time = quoted(layout.time[0]);
    Err(text.bad(1, &most.join(", "), &format!("a header with a column {time}")))
}

impl Places {
    fn find(text: &Text, names: &[String], layout: &Layout<'_>) -> Result<Self> {
        let first =
            |known: &[&str]| known.iter().find_map(|one| names.iter().position(|name| name == one));
        let one = |name: &str| match names.iter().filter(|known| *known == name).count() {
            1 => Ok(names.iter().position(|known| known == name)),
            _ => Err(text.bad(1, &names.join(", "), &format!("one column {}", quoted(name)))),
        };
        let optional = |column: &Column<'_>| match column.given {
            Some(name) => one(name),
            None => Ok(first(column.usual)),
        };
        let time = first(layout.time).map_or(layout.time[0], |k| names[k].as_str());
        let time = one(time)?.unwrap_or_default();
        let (label, duration) = (optional(&layout.label)?, optional(&layout.duration)?);
        let end = first(layout.end);
        // The label stays among the facts too, under the name that the format has for it.
        let used = [Some(time), duration, end];
        Ok(Self {
            time,
            label,
            duration,
            end,
            along: layout.along.iter().filter_map(|name| first(&[name])).collect(),
            samples: layout.samples.iter().filter_map(|own| own.find(names)).collect(),
            identity: layout.identity.and_then(|name| first(&[name])),
            others: (0..names.len()).filter(|&k| !used.contains(&Some(k))).collect(),
        })
    }
}

/// How long the stamp of a row lasts; 0 if that is missing.
fn duration(text: &Text, row: &delimited::Row<'_>, places: &Places, time: &str) -> Result<f64> {
    let present = |column: Option<usize>| {
        column
            .and_then(|column| row.value(column))
            .filter(|value| !MISSING.contains(&value.as_str()))
    };
    if let Some(value) = present(places.duration) {
        let lasting = parse_number(&value).filter(|lasting| *lasting >= 0.0);
        let bad = || text.bad(row.line, &value, "a duration in seconds, 0 or more");
        return lasting.ok_or_else(bad);
    }
    let Some(value) = present(places.end) else { return Ok(0.0) };
    let start = parse_number(time).unwrap_or_default();
    let end = parse_number(&value).filter(|end| *end >= start);
    let end =
        end.ok_or_else(|| text.bad(row.line, &value, &format!("an end not before {time}")))?;
    Ok(end - start)
}

/// Times in seconds into what was found, and how to spell others; the first tells the form.
fn read_times(
    text: &Text,
    times: &[String],
    lines: &[usize],
    origin: Option<Origin>,
    found: &mut Found,
) -> Result<Clock> {
    if times.first().is_some_and(|first| dates::parse(first).is_some()) {
        return read_dates(text, times, lines, origin, found);
    }
    for ((time, &line), slot) in times.iter().zip(lines).zip(&mut found.times) {
        let expected = "a time in seconds, or a date like 2024-05-31T14:03:27 in every row";
        *slot = parse_number(time).ok_or_else(|| text.bad(line, time, expected))?;
    }
    found.origin = origin;
    Ok(Clock::Seconds)
}

/// Dates as seconds from the origin, or from the first of them.
fn read_dates(
    text: &Text,
    times: &[String],
    lines: &[usize],
    origin: Option<Origin>,
    found: &mut Found,
) -> Result<Clock> {
    let mut instants: Vec<i128> = Vec::new();
    let mut spellings: Vec<Spelling> = Vec::new();
    for (time, &line) in times.iter().zip(lines) {
        let expected = "a date like 2024-05-31T14:03:27, as in the rows before";
        let (instant, spelling) =
            dates::parse(time).ok_or_else(|| text.bad(line, time, expected))?;
        let is_alike = |first: &Spelling| first.zone.is_empty() == spelling.zone.is_empty();
        if !spellings.first().is_none_or(is_alike) {
            return Err(text.bad(line, time, "a zone in every row, or in none"));
        }
        instants.push(instant);
        spellings.push(spelling);
    }
    let first = (0..instants.len()).min_by_key(|&k| instants[k]).unwrap_or_default();
    let own = spellings[first].origin(instants[first]).cut();
    found.origin_is_guess = origin.is_none();
    let origin = origin.unwrap_or(own);
    if origin.offset.is_some() != own.offset.is_some() {
        let origin = origin.text().unwrap_or_default();
        let expected = format!("a zone if and only if the origin {origin} has one");
        return Err(text.bad(lines[0], &times[0], &expected));
    }
    for (slot, instant) in found.times.iter_mut().zip(&instants) {
        *slot = (instant - origin.nanoseconds) as f64 / SECOND as f64;
    }
    found.origin = Some(origin);
    Ok(Clock::Dates { origin: origin.nanoseconds, spellings })
}

/// A table of these stamps. Their origin is lost unless times are written as dates; durations and labels are
/// left out if there are none.
pub(super) fn compose(stamps: &Found, options: &WriteOptions) -> Result<Vec<u8>> {
    let clock = match (options.dates, stamps.origin) {
        (false, _) => Clock::Seconds,
        (true, Some(origin)) => Clock::Dates {
            origin: origin.nanoseconds,
            spellings: vec![origin.spelling(); stamps.len()],
        },
        (true, None) => {
            return Err(wrong("dates", "the stamps need an origin to be written as dates"));
        }
    };
    let named = |given: &Option<String>, usual: &str| given.as_deref().unwrap_or(usual).to_owned();
    let lasting = stamps.durations.iter().any(|&lasting| lasting != 0.0);
    let labelled = stamps.labels.iter().any(|label| !label.is_empty());
    let mut header = vec![named(&options.time, "time")];
    header.extend(lasting.then(|| named(&options.duration, "duration")));
    header.extend(labelled.then(|| named(&options.label, "label")));
    let mut table = vec![header];
    for (k, &time) in stamps.times.iter().enumerate() {
        let mut row = vec![clock.spell(k, time)?];
        row.extend(lasting.then(|| number_text(stamps.durations[k])));
        row.extend(labelled.then(|| stamps.labels[k].clone()));
        table.push(row);
    }
    let mut delimiter = options.delimiter.as_deref().unwrap_or(",").chars();
    match (delimiter.next(), delimiter.next()) {
        (Some(one), None) => Ok(table_text(table, one).into_bytes()),
        _ => Err(wrong("delimiter", "expected one character")),
    }
}

/// Events of the Brain Imaging Data Structure: `*_events.tsv` with onset, duration and trial_type, in which a
/// missing value is `n/a`.
pub(super) mod bids {
    use super::*;

    pub(in crate::stamps) fn read(path: &Path, options: &ReadOptions) -> Result<Read> {
        let text = Text::load(path, options.encoding.as_deref())?;
        let layout = Layout {
            delimiters: &['\t'],
            time: &["onset"],
            label: Column { given: options.label.as_deref(), usual: &["trial_type"] },
            duration: Column { given: None, usual: &["duration"] },
            ..Layout::default()
        };
        read_table(text, layout, options.origin)
    }

    /// An events file of these stamps.
    pub(in crate::stamps) fn compose(stamps: &Found, _: &WriteOptions) -> Result<Vec<u8>> {
        let header = ["onset", "duration", "trial_type"].map(str::to_owned).to_vec();
        let row = |k: usize| {
            let label = if stamps.labels[k].is_empty() { "n/a" } else { &stamps.labels[k] };
            vec![number_text(stamps.times[k]), number_text(stamps.durations[k]), label.to_owned()]
        };
        let table = std::iter::once(header).chain((0..stamps.len()).map(row));
        Ok(table_text(table, '\t').into_bytes())
    }
}
