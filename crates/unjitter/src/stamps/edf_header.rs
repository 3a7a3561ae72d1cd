//! The header of EDF and BDF files: where in each record the annotations are.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use super::dates::{self, Origin, SECOND};
use super::edf_lists::Decimal;
use super::problem::{bad, latin, wrong};
use crate::{Error, Result};

/// Bytes before the signals, and for each of them.
const FIXED: usize = 256;
const LABEL_WIDTH: usize = 16;
const SAMPLES_OFFSET: usize = 216;
const SAMPLES_WIDTH: usize = 8;
/// Most bytes of annotations in a record; the standard asks for no more than 61440.
const MOST_ANNOTATIONS: u64 = 1 << 24;
const MONTHS: [&str; 12] =
    ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
/// Of the century that two digits of a year stand for.
const FIRST_YEAR: i16 = 1985;

/// A signal that holds annotations: its index, and its bytes in every record.
#[derive(Debug, Clone, Copy)]
pub(super) struct AnnotationSignal {
    index: usize,
    pub(super) start: usize,
    pub(super) size: usize,
}

/// The header of a recording; sizes in bytes.
#[derive(Debug)]
pub(super) struct Header {
    raw: Vec<u8>,
    sample_size: usize,
    pub(super) records: usize,
    pub(super) record_size: usize,
    pub(super) annotation_signals: Vec<AnnotationSignal>,
}

impl Header {
    /// How long the header is.
    pub(super) fn size(&self) -> u64 {
        self.raw.len() as u64
    }

    /// Where a record begins.
    pub(super) fn record_at(&self, record: usize) -> u64 {
        self.size() + record as u64 * self.record_size as u64
    }

    /// The least size in whole samples that is not below.
    pub(super) fn whole_samples(&self, size: usize) -> usize {
        size.div_ceil(self.sample_size) * self.sample_size
    }

    /// The header with other sizes of the annotation signals.
    pub(super) fn resized(&self, sizes: &[usize]) -> Result<Vec<u8>> {
        let mut raw = self.raw.clone();
        let count = raw.len() / FIXED - 1;
        for (signal, &size) in self.annotation_signals.iter().zip(sizes) {
            if size == signal.size {
                continue;
            }
            let samples = self.whole_samples(size) / self.sample_size;
            let at = FIXED + count * SAMPLES_OFFSET + signal.index * SAMPLES_WIDTH;
            raw[at..at + SAMPLES_WIDTH]
                .copy_from_slice(&field(&samples.to_string(), SAMPLES_WIDTH)?);
        }
        Ok(raw)
    }

    /// When the first sample was, `offset` after the start; none without a date. EDF gives no zone.
    pub(super) fn origin(&self, offset: Decimal) -> Option<Origin> {
        let text = std::str::from_utf8(&self.raw[168..184]).ok()?;
        let numbers = |text: &str| -> Option<[i16; 3]> {
            let parts: Vec<i16> =
                text.split('.').map(|part| part.trim().parse().ok()).collect::<Option<_>>()?;
            parts.try_into().ok()
        };
        let (date, time) = text.split_at_checked(8)?;
        let time = numbers(time)?.map(|part| i8::try_from(part).unwrap_or(-1));
        let day = match self.full_date() {
            Some(day) => day?,
            None => {
                let [day, month, year] = numbers(date)?;
                let century = if year >= FIRST_YEAR % 100 { 1900 } else { 2000 };
                [century + year, month, day]
            }
        };
        let start = dates::instant(day, time)?;
        Some(Origin { nanoseconds: start + offset.micros() * 1000, offset: None })
    }

    /// The date with four digits of the year, where EDF+ has it.
    fn full_date(&self) -> Option<Option<[i16; 3]>> {
        let text = latin(&self.raw[88..168]);
        let text = text.strip_prefix("Startdate ")?;
        let date =
            text.get(..11).filter(|_| matches!(text.as_bytes().get(11), None | Some(b' ')))?;
        let [day, month, year] = date.split('-').collect::<Vec<_>>().try_into().ok()?;
        let (day, year) = (day.parse().ok()?, year.parse().ok()?);
        let is_name = month.len() == 3 && month.bytes().all(|byte| byte.is_ascii_uppercase());
        let month = MONTHS.iter().position(|known| *known == month);
        is_name.then(|| Some([year, month? as i16 + 1, day]))
    }
}

/// The header at the beginning of a file, checked against its size.
pub(super) fn read_header(path: &Path, file: &mut File) -> Result<Header> {
    let name = path.display().to_string();
    let failed = |source| Error::Io { path: path.to_owned(), source };
    let mut raw = Vec::new();
    file.take(FIXED as u64).read_to_end(&mut raw).map_err(failed)?;
    let (kind, sample_size) = match &raw[..] {
        [0xff, b'B', b'I', b'O', b'S', b'E', b'M', b'I', ..] => ("BDF", 3),
        start if start.starts_with(b"0       ") => ("EDF", 2),
        start => {
            let found = latin(&start[..start.len().min(8)]);
            return Err(bad(&name, "byte 0", &found, "the version of EDF or BDF"));
        }
    };
    let signals = whole_number(&name, &raw, 252, 4, "a number of signals")? as usize;
    let expected = FIXED * (signals + 1);
    file.take((FIXED * signals) as u64).read_to_end(&mut raw).map_err(failed)?;
    if raw.len() < expected {
        let found = format!("the end of the file after {} bytes", raw.len());
        return Err(bad(&name, "header", &found, &format!("{expected} bytes of header")));
    }
    if whole_number(&name, &raw, 184, 8, "the size of the header")? != expected as u64 {
        let expected = format!("{expected}, the size of the header");
        return Err(bad(&name, "byte 184", &latin(&raw[184..192]), &expected));
    }
    let mut annotation_signals = Vec::new();
    let mut record_size = 0;
    for index in 0..signals {
        let at = FIXED + signals * SAMPLES_OFFSET + index * SAMPLES_WIDTH;
        let samples = whole_number(&name, &raw, at, SAMPLES_WIDTH, "a number of samples")?;
        let size = sample_size * samples;
        let label = &raw[FIXED + index * LABEL_WIDTH..][..LABEL_WIDTH];
        if label.trim_ascii_end() == format!("{kind} Annotations").as_bytes() {
            if size > MOST_ANNOTATIONS {
                let expected =
                    format!("at most {MOST_ANNOTATIONS} bytes of annotations in a record");
                return Err(bad(&name, format!("byte {at}"), &samples.to_string(), &expected));
            }
            let (start, size) = (record_size as usize, size as usize);
            annotation_signals.push(AnnotationSignal { index, start, size });
        }
        record_size += size;
    }
    let available = file.metadata().map_err(failed)?.len().saturating_sub(expected as u64);
    let records = count_records(&name, &raw, record_size, available)? as usize;
    let (sample_size, record_size) = (sample_size as usize, record_size as usize);
    Ok(Header { raw, sample_size, records, record_size, annotation_signals })
}

/// How many records there are; a header written before the end of recording says -1.
fn count_records(file: &str, raw: &[u8], record_size: u64, available: u64) -> Result<u64> {
    if record_size == 0 {
        return Ok(0);
    }
    if raw[236..244].trim_ascii() == b"-1" {
        return Ok(available / record_size);
    }
    let records = whole_number(file, raw, 236, 8, "a number of records")?;
    if records.saturating_mul(record_size) > available {
        let found = format!("{available} bytes of data");
        let expected = format!("{records} records of {record_size} bytes");
        return Err(bad(file, "header", &found, &expected));
    }
    Ok(records)
}

/// A number in a field of the header.
fn whole_number(file: &str, raw: &[u8], at: usize, width: usize, expected: &str) -> Result<u64> {
    let text = raw.get(at..at + width).unwrap_or_default();
    let digits = std::str::from_utf8(text).unwrap_or_default().trim_end_matches(' ');
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let number = digits.parse().ok().filter(|_| is_number);
    number.ok_or_else(|| bad(file, format!("byte {at}"), &latin(text), expected))
}

/// A field of the header, filled with spaces.
fn field(text: &str, width: usize) -> Result<Vec<u8>> {
    if text.len() > width {
        let problem = format!("found '{text}', expected at most {width} characters for EDF");
        return Err(wrong("header", problem));
    }
    Ok(format!("{text:<width$}").into_bytes())
}

/// The header of a file of annotations alone, in one record without a duration. The origin is written as the
/// clock showed it there.
pub(super) fn annotations_header(origin: Option<Origin>, samples: usize) -> Result<Vec<u8>> {
    let start = origin.map_or_else(
        || dates::instant([FIRST_YEAR, 1, 1], [0; 3]),
        |origin| Some(local(origin).div_euclid(SECOND) * SECOND),
    );
    let start = start.unwrap_or_default();
    let text = Origin { nanoseconds: start, offset: None }.text();
    let text = text.ok_or_else(|| wrong("origin", "it is outside of the years 1 to 9999"))?;
    let (date, time) = text.split_once('T').unwrap_or_default();
    let [year, month, day] = [&date[..4], &date[5..7], &date[8..]];
    let name = MONTHS[month.parse::<usize>().map_or(0, |month| month - 1)];
    let full = origin.map_or("X".to_owned(), |_| format!("{day}-{name}-{year}"));
    let number: i16 = year.parse().unwrap_or_default();
    let in_century = (FIRST_YEAR..FIRST_YEAR + 100).contains(&number);
    let short = if in_century { &year[2..] } else { "yy" };
    let fields = [
        ("0", 8),
        ("X X X X", 80),
        (&format!("Startdate {full} X X X"), 80),
        (&format!("{day}.{month}.{short}"), 8),
        (&time.replace(':', "."), 8),
        (&(2 * FIXED).to_string(), 8),
        ("EDF+C", 44),
        ("1", 8),
        ("0", 8),
        ("1", 4),
        ("EDF Annotations", LABEL_WIDTH),
        ("", 80),
        ("", 8),
        ("-1", 8),
        ("1", 8),
        ("-32768", 8),
        ("32767", 8),
        ("", 80),
        (&samples.to_string(), SAMPLES_WIDTH),
        ("", 32),
    ];
    let fields = fields.into_iter().map(|(text, width)| field(text, width));
    Ok(fields.collect::<Result<Vec<_>>>()?.concat())
}

/// Nanoseconds of the clock on the wall.
pub(super) fn local(origin: Origin) -> i128 {
    origin.nanoseconds + i128::from(origin.offset.unwrap_or(0)) * SECOND
}
