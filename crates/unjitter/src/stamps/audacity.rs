//! Label tracks of Audacity: start, end and text, with tabs between.
//!
//! A line that begins with a backslash gives the frequencies of the label above it; it moves along. Times are
//! written with six decimals, as Audacity does.

use std::path::Path;

use super::format::{ReadOptions, WriteOptions};
use super::found::{Found, Moved, Read, Sink, Source};
use super::numerals::{decimals_of, fixed, parse_number};
use super::problem::{quoted, wrong};
use super::rows::{Row, Rows, lines};
use super::text::Text;
use crate::Result;

const DECIMALS: usize = 6;

/// A label track.
#[derive(Debug)]
struct Labels(Rows);

impl Source for Labels {
    fn holds_ends(&self) -> bool {
        true
    }

    fn render(&self, moved: Moved<'_>, sink: Sink<'_>) -> Result<()> {
        self.0.render(moved, sink, |row, text, time| {
            // Its lines of frequencies are below it; carriage returns inside a line are text.
            let line = text.split_once('\n').map_or(text, |(line, _)| line);
            let line = if line.len() < text.len() { line.trim_end_matches('\r') } else { line };
            let (label, frequencies) = text.split_at(line.len());
            let (start, rest) = label.split_once('\t').unwrap_or((label, ""));
            let decimals = DECIMALS.max(decimals_of(start));
            let (end, label) =
                rest.split_once('\t').map_or((rest, None), |(end, label)| (end, Some(label)));
            let mut written = fixed(time, decimals) + "\t";
            match parse_number(end.trim()) {
                Some(_) => written += &fixed(time + moved.lasts(row.stamp), decimals),
                None if moved.end(row.stamp).is_some() => {
                    // An instant of old versions, which has a text there.
                    let lasting = fixed(time + moved.lasts(row.stamp), decimals);
                    written += &format!("{lasting}\t{end}");
                }
                None => written += end,
            }
            if let Some(label) = label {
                written.push('\t');
                written += label;
            }
            Ok(written + frequencies)
        })
    }
}

pub(super) fn read(path: &Path, options: &ReadOptions) -> Result<Read> {
    let text = Text::load(path, options.encoding.as_deref())?;
    let mut found = Found::default();
    let mut rows: Vec<Row> = Vec::new();
    // Where the label ends that a line of frequencies would belong to.
    let mut after_label = None;
    for line in lines(&text.body) {
        let content = &text.body[line.at.clone()];
        if content.starts_with('\\') && after_label == Some(line.at.start) {
            let label = rows.last_mut().expect("a label is before");
            (label.at.end, label.next) = (line.at.end, line.next);
            after_label = Some(line.next);
        } else if !content.trim().is_empty() {
            let (start, end, label) = parse_label(&text, line.number, content)?;
            rows.push(Row { stamp: found.len(), at: line.at, next: line.next });
            found.push(&text.file, start, end - start, label, [])?;
            after_label = Some(line.next);
        }
    }
    Ok((found, Box::new(Labels(Rows::new(text, rows)))))
}

/// Start, end and text of a line. Old versions of Audacity leave out the end of an instant.
fn parse_label<'a>(text: &Text, line: usize, content: &'a str) -> Result<(f64, f64, &'a str)> {
    let expected = "start, end and text of a label, with tabs between";
    let bad = |expected: &str| text.bad(line, content, expected);
    let (start, rest) = content.split_once('\t').ok_or_else(|| bad(expected))?;
    let start = parse_number(start.trim()).ok_or_else(|| bad(expected))?;
    let (end, label) = match rest.split_once('\t') {
        Some((end, label)) => (parse_number(end.trim()), label),
        None => match parse_number(rest.trim()) {
            None => return Ok((start, start, rest)),
            end => (end, ""),
        },
    };
    match end.filter(|end| *end >= start) {
        Some(end) => Ok((start, end, label)),
        None => Err(bad(&format!("{expected}, and no end before its start"))),
    }
}

/// A label track of these stamps.
pub(super) fn compose(stamps: &Found, _: &WriteOptions) -> Result<Vec<u8>> {
    let mut written = String::new();
    for (k, label) in stamps.labels.iter().enumerate() {
        if label.contains(['\t', '\r', '\n']) {
            let problem = format!("{}: Audacity labels have no tabs or line breaks", quoted(label));
            return Err(wrong("label", problem));
        }
        let (start, end) = (stamps.times[k], stamps.times[k] + stamps.durations[k]);
        written += &format!("{}\t{}\t{label}\n", fixed(start, DECIMALS), fixed(end, DECIMALS));
    }
    Ok(written.into_bytes())
}
