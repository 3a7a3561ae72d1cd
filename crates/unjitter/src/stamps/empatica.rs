//! Tags of the Empatica E4: `tags.csv`, one UNIX time for each press of the button.
//!
//! UNIX times are kept as whole nanoseconds; seconds count from the start of the recording, which is in the
//! first line of the sensor files beside (`ACC.csv` and so on). A file of tags alone counts from its first
//! tag, which is marked as a guess. Tags have no labels or durations.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use super::dates::{Origin, SECOND};
use super::format::{ReadOptions, WriteOptions};
use super::found::{Found, MOST, Moved, Read, Sink, Source, check_room};
use super::numerals::{decimals_of, parse_number};
use super::problem::{bad, latin, with_option, wrong};
use super::rows::{Row, Rows, lines};
use super::text::Text;
use crate::{Error, Result};

const DECIMALS: usize = 2;
/// Decimals of a nanosecond.
const FINEST: usize = 9;

/// All begin with the start of the recording; HR.csv does not, it starts ten seconds later.
const SENSORS: [&str; 4] = ["ACC.csv", "BVP.csv", "EDA.csv", "TEMP.csv"];

/// Later than any recording, and its nanoseconds still fit into 64 bits.
const LATEST: f64 = 9e9;

/// A file of tags, and the nanoseconds at second 0.
#[derive(Debug)]
struct Tags {
    rows: Rows,
    start: i128,
}

impl Source for Tags {
    fn render(&self, moved: Moved<'_>, sink: Sink<'_>) -> Result<()> {
        self.rows.render(moved, sink, |_, row, time| {
            let text = row.trim();
            check_time(self.start, time)?;
            let tag = unix_text(self.start, time, DECIMALS.max(decimals_of(text)));
            Ok(row.replace(text, &tag))
        })
    }
}

pub(super) fn read(path: &Path, options: &ReadOptions) -> Result<Read> {
    let text = Text::load(path, None)?;
    let (tags, rows) = read_tags(&text, MOST)?;
    let beside = match options.origin {
        Some(origin) => Some(unix(origin)?),
        None => start_beside(path)?,
    };
    let start = beside.or(tags.iter().min().copied()).unwrap_or(0);
    let mut found = Found::default();
    for tag in &tags {
        found.push(&text.file, (tag - start) as f64 / SECOND as f64, 0.0, "", [])?;
    }
    found.origin = (!tags.is_empty() || start != 0).then(|| Origin::utc(start).cut());
    found.origin_is_guess = beside.is_none();
    Ok((found, Box::new(Tags { rows: Rows::new(text, rows), start })))
}

/// The nanoseconds since 1970 of so many tags at most, and their rows.
fn read_tags(text: &Text, most: usize) -> Result<(Vec<i128>, Vec<Row>)> {
    let (mut tags, mut rows) = (Vec::new(), Vec::new());
    for line in lines(&text.body) {
        let row = &text.body[line.at.clone()];
        if !row.trim().is_empty() {
            check_room(&text.file, tags.len(), most)?;
            tags.push(parse_tag(&text.file, line.number, row)?);
            rows.push(Row { stamp: rows.len(), at: line.at, next: line.next });
        }
    }
    Ok((tags, rows))
}

/// The nanoseconds since 1970 that a line spells.
fn parse_tag(file: &str, line: usize, row: &str) -> Result<i128> {
    let text = row.trim();
    let is_time = |seconds: &f64| (0.0..=LATEST).contains(seconds);
    let nanoseconds = parse_number(text).filter(is_time).and_then(|_| nanoseconds(text));
    nanoseconds.ok_or_else(|| bad(file, format!("line {line}"), row, "a UNIX time in seconds"))
}

/// Seconds as nanoseconds without a detour by binary fractions, which have fewer digits.
fn nanoseconds(text: &str) -> Option<i128> {
    if text.contains(['e', 'E']) {
        return Some((text.parse::<f64>().ok()? * SECOND as f64) as i128);
    }
    let (whole, fraction) =
        text.strip_prefix('+').unwrap_or(text).split_once('.').unwrap_or((text, ""));
    let whole: i128 = whole.trim_start_matches(['+', '-']).parse().unwrap_or(0);
    let digits = fraction.bytes().chain([b'0'; FINEST]).take(FINEST);
    Some(digits.fold(whole, |sum, digit| 10 * sum + i128::from(digit - b'0')))
}

/// The nanoseconds of an origin, which must be those of UTC.
fn unix(origin: Origin) -> Result<i128> {
    let text = origin.text().unwrap_or_default();
    match origin.offset {
        Some(_) => Ok(origin.nanoseconds),
        None => Err(wrong("origin", format!("found {text}, expected a time with a zone"))),
    }
}

/// The start of the recording by the first sensor file in the same folder.
fn start_beside(path: &Path) -> Result<Option<i128>> {
    let beside = SENSORS.iter().map(|name| path.with_file_name(name));
    let Some(sensor) = beside.into_iter().find(|sensor| sensor.is_file()) else { return Ok(None) };
    let failed = |source| Error::Io { path: sensor.clone(), source };
    let mut start = Vec::new();
    File::open(&sensor).map_err(failed)?.take(100).read_to_end(&mut start).map_err(failed)?;
    let start = latin(&start);
    let first = start.split(['\n', ',']).next().unwrap_or_default();
    let parsed = parse_tag(&sensor.display().to_string(), 1, first);
    parsed.map(Some).map_err(|error| with_option(error, "origin"))
}

/// Tags of these stamps; their labels and durations have no place in the file.
pub(super) fn compose(stamps: &Found, _: &WriteOptions) -> Result<Vec<u8>> {
    let needs = || wrong("Empatica tags", "they are UNIX times: the stamps need an origin");
    let start = unix(stamps.origin.ok_or_else(needs)?)?;
    let line = |&time: &f64| {
        check_time(start, time)?;
        Ok(unix_text(start, time, DECIMALS) + "\n")
    };
    Ok(stamps.times.iter().map(line).collect::<Result<String>>()?.into_bytes())
}

/// Refuses a time that would be no tag when it is read.
fn check_time(start: i128, time: f64) -> Result<()> {
    match (0.0..=LATEST).contains(&(start as f64 / SECOND as f64 + time)) {
        true => Ok(()),
        false => {
            let problem = format!("tags are 0 to {LATEST} s after 1970");
            Err(wrong(&format!("time {time} s"), problem))
        }
    }
}

/// The UNIX time of a stamp, as text, rounded to so many decimals.
fn unix_text(start: i128, time: f64, decimals: usize) -> String {
    let decimals = decimals.min(FINEST);
    let nanoseconds = start.saturating_add((time * SECOND as f64).round_ties_even() as i128);
    let unit = 10_i128.pow((FINEST - decimals) as u32);
    let (mut units, rest) = (nanoseconds.div_euclid(unit), nanoseconds.rem_euclid(unit));
    if 2 * rest > unit || (2 * rest == unit && units % 2 != 0) {
        units += 1;
    }
    let (sign, units) = (if units < 0 { "-" } else { "" }, units.unsigned_abs());
    let scale = 10_u128.pow(decimals as u32);
    match decimals {
        0 => format!("{sign}{units}"),
        _ => format!("{sign}{}.{:0decimals$}", units / scale, units % scale),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_many_are_refused_before_the_rest_is_read() {
        let text = Text::decode("f", b"1\n2\nnoon\n", None).unwrap();
        let error = |most| read_tags(&text, most).unwrap_err().to_string();
        assert_eq!(error(2), "f: expected at most 2 stamps");
        assert!(error(3).starts_with("f, line 3: found 'noon'"), "{}", error(3));
    }

    #[test]
    fn unix_times_are_exact() {
        assert_eq!(nanoseconds("1544027337.11"), Some(1_544_027_337_110_000_000));
        assert_eq!(nanoseconds("+.5"), Some(500_000_000));
        assert_eq!(nanoseconds("1.0000000019"), Some(1_000_000_001));
        assert_eq!(unix_text(1_544_027_337_110_000_000, 1e-6, 6), "1544027337.110001");
        // Halves go to the even neighbour.
        assert_eq!(unix_text(0, 0.125, 2), "0.12");
        assert_eq!(unix_text(0, 0.375, 2), "0.38");
        assert_eq!(unix_text(0, -0.25, 2), "-0.25");
    }
}
