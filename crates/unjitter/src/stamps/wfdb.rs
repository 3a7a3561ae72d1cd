//! Annotations of WFDB records, such as `100.atr`: the extension is the annotator.
//!
//! The label of a stamp is the symbol of the annotation, `N` for a normal beat and so on. Its subtype,
//! channel, number and note stay with it. An annotation is at a sample, so a moved one is rounded to the
//! nearest. Definitions at the head of a file, notes at sample 0 and codes without a symbol are kept, which
//! packages that write the format drop.

use std::path::{Path, PathBuf};

use super::dates::{self, Origin};
use super::format::{ReadOptions, WriteOptions};
use super::found::{Found, Moved, Read, Sink, Source};
use super::numerals::{number_text, parse_number};
use super::problem::{bad, latin, quoted, with_option, wrong};
use super::text::load;
use super::wfdb_words::{Annotation, LONGEST_NOTE, NOTE, decode, encode};
use crate::Result;

/// Symbols by code, https://www.physionet.org/physiotools/wag/annot-5.htm; spaces where none is.
const SYMBOLS: &[u8] = b" NLRaVFJASEj/Q~ | sT*D\"=pB^t+u?![]en@xf()r";

/// Annotators that PhysioNet's databases use; any other is known by the header beside the file.
const ANNOTATORS: &str = "al alh alm ann ao apn arf ari at atr blh blm bph bpm ecg edr gqrs man oea pu pu0 pu1 pwave \
                          q1c q1t q2c q2t qrs qrsc sqrs st sta stb stc stf wabp wqrs xws";

/// Beyond it a double cannot tell samples apart.
const LAST_SAMPLE: f64 = (1_u64 << 53) as f64;
/// Of a header that gives none, by the WFDB library.
const DEFAULT_FREQUENCY: &str = "250";

/// An annotation file: definitions at its head, then annotations.
#[derive(Debug)]
struct Annotations {
    content: Vec<u8>,
    head: Vec<Annotation>,
    annotations: Vec<Annotation>,
    frequency: f64,
}

impl Source for Annotations {
    fn render(&self, moved: Moved<'_>, sink: Sink<'_>) -> Result<()> {
        if moved.is_nothing() {
            return sink(&self.content);
        }
        let mut placed = Vec::new();
        for stamp in moved.stamps() {
            let mut annotation = self.annotations[stamp].clone();
            if let Some(time) = moved.to(stamp) {
                annotation.sample = to_sample(time, self.frequency)?;
            }
            placed.push(annotation);
        }
        // Again by sample: a moved stamp may have been rounded past one that stayed.
        placed.sort_by_key(|annotation| annotation.sample);
        sink(&encode(self.head.iter().chain(&placed))?)
    }
}

/// Whether a name tells this format.
pub(super) fn tells(name: &str) -> bool {
    let ending = name.rsplit_once('.').map(|(_, ending)| ending);
    ending.is_some_and(|ending| ANNOTATORS.split(' ').any(|annotator| annotator == ending))
}

/// The header that would be beside an annotation file.
pub(super) fn header_beside(path: &Path) -> PathBuf {
    path.with_extension("hea")
}

pub(super) fn read(path: &Path, options: &ReadOptions) -> Result<Read> {
    let file = path.display().to_string();
    let by_note = match options.label.as_deref() {
        None | Some("symbol") => false,
        Some("note") => true,
        Some(other) => {
            let problem = format!("found {}, expected 'symbol' or 'note'", quoted(other));
            return Err(wrong("label", problem));
        }
    };
    let content = load(path)?;
    let mut head = decode(&file, &content)?;
    let annotations = head.split_off(count_definitions(&head));
    let beside = header_beside(path);
    let header = read_header(&beside)?;
    let frequency =
        options.fs.or_else(|| resolution(&head)).or(header.as_ref().map(|h| h.frequency));
    let Some(frequency) = frequency else {
        let problem = format!(
            "found no sampling frequency, neither in the file nor in a header beside it ({})",
            beside.display()
        );
        return Err(with_option(wrong(&file, problem), "fs"));
    };
    check_frequency(frequency)?;
    let symbols = Symbols::of(&head);
    let mut found = Found::with_facts(["subtype", "channel", "number", "note"]);
    for annotation in &annotations {
        let symbol = symbols.of_code(annotation.code);
        let note = String::from_utf8_lossy(trim_nul(&annotation.note)).into_owned();
        let [subtype, channel, number] = [
            annotation.subtype.to_string(),
            annotation.channel.to_string(),
            annotation.number.to_string(),
        ];
        let label = if by_note && !note.is_empty() { note.clone() } else { symbol };
        let time = annotation.sample as f64 / frequency;
        found.push(
            &file,
            time,
            0.0,
            label,
            [&subtype, &channel, &number, &note].map(|s| s.as_str()),
        )?;
    }
    found.origin = header.and_then(|header| header.origin);
    Ok((found, Box::new(Annotations { content, head, annotations, frequency })))
}

fn trim_nul(note: &[u8]) -> &[u8] {
    let end = note.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    &note[..end]
}

/// How many annotations at the head of a file define something: frequency, labels.
fn count_definitions(annotations: &[Annotation]) -> usize {
    let mut defining = false;
    for (k, annotation) in annotations.iter().enumerate() {
        if annotation.sample != 0 {
            return k;
        }
        if annotation.code == 0 {
            // A filler between the definitions and the rest.
            return k + 1;
        }
        let is_definition = defining || annotation.note.starts_with(b"## ");
        if annotation.code != NOTE || !is_definition {
            return k;
        }
        match &annotation.note[..] {
            b"## annotation type definitions" => defining = true,
            b"## end of definitions" => defining = false,
            _ => {}
        }
    }
    annotations.len()
}

/// The sampling frequency that the head of a file defines.
fn resolution(head: &[Annotation]) -> Option<f64> {
    let defined = head.iter().find_map(|annotation| {
        let note = latin(&annotation.note);
        let number = note.strip_prefix("## time resolution: ")?;
        let end = number.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(number.len());
        number.starts_with(|c: char| c.is_ascii_digit()).then(|| number[..end].to_owned())
    })?;
    parse_number(&defined).filter(|&frequency| frequency != 0.0)
}

/// Symbols that the head of a file defines, by code.
struct Symbols(Vec<Option<String>>);

impl Symbols {
    fn of(head: &[Annotation]) -> Self {
        let mut symbols = vec![None; 100];
        for annotation in head {
            let note = String::from_utf8_lossy(&annotation.note);
            let Some((code, rest)) = note.split_once(' ') else { continue };
            let symbol = rest.split(char::is_whitespace).next().unwrap_or_default();
            let is_code = code.len() < 3 && code.bytes().all(|byte| byte.is_ascii_digit());
            if let (true, Ok(code), false) = (is_code, code.parse::<usize>(), symbol.is_empty()) {
                symbols[code] = Some(symbol.to_owned());
            }
        }
        Self(symbols)
    }

    /// The symbol of a code, or the code in brackets, as the WFDB library shows it.
    fn of_code(&self, code: u8) -> String {
        if let Some(symbol) = &self.0[usize::from(code)] {
            return symbol.clone();
        }
        match SYMBOLS.get(usize::from(code)) {
            None | Some(b' ') => format!("[{code}]"),
            Some(&symbol) => char::from(symbol).to_string(),
        }
    }
}

/// What the header of a record says about time.
struct Header {
    frequency: f64,
    origin: Option<Origin>,
}

/// The header of a record, if it is there.
fn read_header(path: &Path) -> Result<Option<Header>> {
    if !path.is_file() {
        return Ok(None);
    }
    let (file, text) = (path.display().to_string(), latin(&load(path)?));
    for (k, line) in text.lines().enumerate() {
        let fields: Vec<&str> = line.split_whitespace().collect();
        if fields.is_empty() || line.starts_with('#') {
            continue;
        }
        let frequency = fields.get(2).copied().unwrap_or(DEFAULT_FREQUENCY);
        let frequency = frequency.split(['/', '(']).next().and_then(parse_number);
        let Some(frequency) = frequency.filter(|&frequency| frequency > 0.0) else {
            let expected = "a sampling frequency in field 3";
            return Err(bad(&file, format!("line {}", k + 1), line, expected));
        };
        let origin = match fields.get(4..6) {
            Some([time, day]) => header_origin(time, day),
            _ => None,
        };
        return Ok(Some(Header { frequency, origin }));
    }
    Err(wrong(&file, "found no line, expected the name of the record and its signals"))
}

/// The start by a header like `10:20:30.5 31/05/2024`, which gives no zone.
fn header_origin(time: &str, day: &str) -> Option<Origin> {
    let numbers = |text: &str, sign| -> Option<[i16; 3]> {
        let parts: Vec<i16> =
            text.split(sign).map(|part| part.parse().ok()).collect::<Option<_>>()?;
        parts.try_into().ok()
    };
    let [day, month, year] = numbers(day, '/')?;
    let (clock, fraction) = time.split_once('.').unwrap_or((time, ""));
    let clock = numbers(clock, ':')?.map(|part| i8::try_from(part).unwrap_or(-1));
    let is_fraction = fraction.len() <= 6 && fraction.bytes().all(|byte| byte.is_ascii_digit());
    let micros: i128 = format!("{fraction:0<6}").parse().ok().filter(|_| is_fraction)?;
    let whole = dates::instant([year, month, day], clock)?;
    Some(Origin { nanoseconds: whole + micros * 1000, offset: None })
}

/// Refuses what samples cannot be a second.
fn check_frequency(frequency: f64) -> Result<()> {
    match frequency.is_finite() && frequency > 0.0 {
        true => Ok(()),
        false => {
            let problem =
                format!("found {frequency}, expected a number of samples above 0 a second");
            Err(wrong("fs", problem))
        }
    }
}

/// The sample nearest to a time.
fn to_sample(time: f64, frequency: f64) -> Result<i64> {
    let sample = (time * frequency).round_ties_even();
    match (0.0..=LAST_SAMPLE).contains(&sample) {
        true => Ok(sample as i64),
        false => {
            let problem = format!("WFDB annotations are at samples 0 to {LAST_SAMPLE}");
            Err(wrong(&format!("time {time} s"), problem))
        }
    }
}

/// An annotation file of these stamps. A label that is the symbol of an annotation becomes one; any other
/// becomes the note of a comment. Durations and origin have no place in the file.
pub(super) fn compose(stamps: &Found, options: &WriteOptions) -> Result<Vec<u8>> {
    let frequency = options.fs.unwrap_or(f64::NAN);
    check_frequency(frequency)?;
    let note = format!("## time resolution: {}", number_text(frequency)).into_bytes();
    let mut annotations =
        vec![Annotation { code: NOTE, note, ..Annotation::default() }, Annotation::default()];
    for (&time, label) in stamps.times.iter().zip(&stamps.labels) {
        let sample = to_sample(time, frequency)?;
        let code = match label.as_bytes() {
            [symbol] if *symbol != b' ' => SYMBOLS.iter().position(|known| known == symbol),
            _ => None,
        };
        let (code, note) = match code {
            Some(code) => (code as u8, Vec::new()),
            None => (NOTE, label.clone().into_bytes()),
        };
        if note.len() > LONGEST_NOTE {
            let label = quoted(label);
            let problem = format!("{label}: a WFDB note has {LONGEST_NOTE} bytes at most");
            return Err(wrong("label", problem));
        }
        annotations.push(Annotation { sample, code, note, ..Annotation::default() });
    }
    encode(&annotations)
}
