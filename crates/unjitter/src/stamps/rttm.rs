//! Rich Transcription Time Marked files (RTTM): who spoke when, in lines of ten fields with spaces between.
//!
//! ```text
//! SPEAKER meeting1 1 12.340 2.500 <NA> <NA> Ann <NA> <NA>
//! type    file  channel onset duration orthography subtype name confidence lookahead
//! ```
//!
//! The label of a stamp is the name of its speaker. A file may be of several recordings. Lines without an
//! onset, and comments after `;;`, are kept.

use std::path::Path;

use super::format::{ReadOptions, WriteOptions};
use super::found::{Found, Moved, Read, Sink, Source};
use super::numerals::{decimals_of, fixed, number_text, parse_number};
use super::problem::{quoted, wrong};
use super::rows::{Row, Rows, lines};
use super::text::Text;
use crate::Result;

/// Decimals of a moved onset, where it had no more.
const DECIMALS: usize = 3;
const NONE: &str = "<NA>";
const ONSET: usize = 3;
const DURATION: usize = 4;
const NAME: usize = 7;
/// Fields besides onset, duration and name, by their place.
const FACTS: [(usize, &str); 6] = [
    (1, "file"),
    (0, "type"),
    (2, "channel"),
    (5, "orthography"),
    (6, "subtype"),
    (8, "confidence"),
];

#[derive(Debug)]
struct Marks(Rows);

impl Source for Marks {
    fn holds_ends(&self) -> bool {
        true
    }

    fn render(&self, moved: Moved<'_>, sink: Sink<'_>) -> Result<()> {
        self.0.render(moved, sink, |row, text, time| {
            let mut fields = fields(text).skip(ONSET);
            let (onset, lasting) = (fields.next().unwrap_or_default(), fields.next());
            let like = |number, text| fixed(number, DECIMALS.max(decimals_of(text)));
            let mut changes = vec![(onset, like(time, onset))];
            match (moved.end(row.stamp), lasting) {
                (Some(_), Some(field)) => {
                    changes.push((field, like(moved.lasts(row.stamp), field)))
                }
                (Some(_), None) => {
                    let problem = format!("{}: it has no field for a duration", quoted(text));
                    return Err(wrong(&self.0.text.file, problem));
                }
                (None, _) => {}
            }
            let (mut written, mut at) = (String::new(), 0);
            for (field, value) in changes {
                // Where the field stands in the line, which is not elsewhere in memory.
                let start = field.as_ptr() as usize - text.as_ptr() as usize;
                written += &text[at..start];
                written += &value;
                at = start + field.len();
            }
            Ok(written + &text[at..])
        })
    }
}

fn fields(line: &str) -> impl Iterator<Item = &str> {
    line.split_ascii_whitespace()
}

pub(super) fn read(path: &Path, options: &ReadOptions) -> Result<Read> {
    let text = Text::load(path, options.encoding.as_deref())?;
    let mut found = Found::with_facts(FACTS.map(|(_, name)| name));
    found.recording = Some(0);
    let mut rows = Vec::new();
    for line in lines(&text.body) {
        let content = &text.body[line.at.clone()];
        let all: Vec<&str> = fields(content).take(FACTS.len() + 4).collect();
        let told = |place: usize| all.get(place).copied().filter(|value| *value != NONE);
        if all.is_empty()
            || content.trim_start().starts_with(";;")
            || (told(ONSET).is_none() && all.len() > ONSET)
        {
            continue;
        }
        let expected = "type, file, channel, onset and duration in seconds";
        let bad = || text.bad(line.number, content, expected);
        let onset = told(ONSET).and_then(parse_number).ok_or_else(bad)?;
        let lasting = match told(DURATION) {
            None => 0.0,
            Some(lasting) => {
                parse_number(lasting).filter(|&lasting| lasting >= 0.0).ok_or_else(bad)?
            }
        };
        rows.push(Row { stamp: found.len(), at: line.at, next: line.next });
        let facts = FACTS.map(|(place, _)| told(place).unwrap_or_default());
        found.push(&text.file, onset, lasting, told(NAME).unwrap_or_default(), facts)?;
    }
    Ok((found, Box::new(Marks(Rows::new(text, rows)))))
}

/// A file of these stamps, of one recording without a name.
pub(super) fn compose(stamps: &Found, _: &WriteOptions) -> Result<Vec<u8>> {
    let mut written = String::new();
    for (k, label) in stamps.labels.iter().enumerate() {
        if label.contains(char::is_whitespace) {
            let problem = format!("{}: RTTM names have no spaces", quoted(label));
            return Err(wrong("label", problem));
        }
        let name = if label.is_empty() { NONE } else { label };
        let (onset, lasting) = (number_text(stamps.times[k]), number_text(stamps.durations[k]));
        written +=
            &format!("SPEAKER {NONE} 1 {onset} {lasting} {NONE} {NONE} {name} {NONE} {NONE}\n");
    }
    Ok(written.into_bytes())
}
