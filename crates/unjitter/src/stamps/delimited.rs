//! Rows and fields of delimited text, by position, so that all else can be kept as it was.
//!
//! The `csv` crate gives values, but not where they stand. Quotes are as in RFC 4180: they count at the
//! beginning of a field, and a doubled one stands for itself. Time O(length of the text).

use std::ops::Range;

use super::text::Text;
use crate::Result;

/// Most columns of a table: more are no columns, and every stamp has a value in each.
const MOST_COLUMNS: usize = 10_000;

/// A row: the number of its first line, its text, where it stands, and where the next begins.
#[derive(Debug, Clone)]
pub(super) struct Row<'a> {
    pub(super) line: usize,
    pub(super) text: &'a str,
    pub(super) at: Range<usize>,
    pub(super) next: usize,
    fields: Vec<Range<usize>>,
}

impl<'a> Row<'a> {
    /// A row from its text alone, which was read before.
    pub(super) fn again(text: &'a str, delimiter: char) -> Self {
        let fields = match split_fields(text, 0, delimiter) {
            Ok((fields, _)) => fields,
            Err(_) => Vec::new(),
        };
        Self { line: 0, text, at: 0..text.len(), next: text.len(), fields }
    }

    /// How many fields it has.
    pub(super) fn len(&self) -> usize {
        self.fields.len()
    }

    /// Where the text of a field stands in the row, without quotes and surrounding spaces.
    pub(super) fn inside(&self, column: usize) -> Option<Range<usize>> {
        let field = self.fields.get(column)?.clone();
        let text = &self.text[field.clone()];
        let (inner, start) = match text.strip_prefix('"') {
            Some(rest) => (rest.strip_suffix('"').unwrap_or(rest), field.start + 1),
            None => (text, field.start),
        };
        let start = start + inner.len() - inner.trim_start().len();
        Some(start..start + inner.trim().len())
    }

    /// The value in a column, without quotes and surrounding spaces; none if the row ends before it.
    pub(super) fn value(&self, column: usize) -> Option<String> {
        let value = &self.text[self.inside(column)?];
        let is_quoted = self.text[self.fields[column].clone()].starts_with('"');
        Some(if is_quoted { value.replace("\"\"", "\"") } else { value.to_owned() })
    }

    /// All values.
    pub(super) fn values(&self) -> Vec<String> {
        (0..self.len()).filter_map(|column| self.value(column)).collect()
    }
}

/// All rows of a text.
pub(super) fn rows(text: &Text, delimiter: char) -> impl Iterator<Item = Result<Row<'_>>> {
    rows_from(text, delimiter, 0, 1)
}

/// The rows from where a line begins.
pub(super) fn rows_from(
    text: &Text,
    delimiter: char,
    start: usize,
    line: usize,
) -> impl Iterator<Item = Result<Row<'_>>> {
    let body = text.body.as_str();
    let (mut start, mut line) = (start, line);
    std::iter::from_fn(move || {
        if start >= body.len() {
            return None;
        }
        let (fields, end) = match split_fields(body, start, delimiter) {
            Ok(split) => split,
            Err(Broken { found, expected }) => {
                let error = text.bad(line, found, &expected);
                start = body.len();
                return Some(Err(error));
            }
        };
        let next = body[end..].find('\n').map_or(body.len(), |at| end + at + 1);
        let row = Row { line, text: &body[start..end], at: start..end, next, fields };
        line += row.text.matches('\n').count() + 1;
        start = next;
        Some(Ok(row))
    })
}

/// A row whose quotes are wrong, or that has too many fields.
struct Broken<'a> {
    found: &'a str,
    expected: String,
}

/// The fields of the row that begins at `start`, and where it ends; fields count from there.
fn split_fields(
    body: &str,
    start: usize,
    delimiter: char,
) -> std::result::Result<(Vec<Range<usize>>, usize), Broken<'_>> {
    let mut fields = Vec::new();
    let mut at = start;
    let mut line_end = end_of_line(body, start);
    loop {
        let end = if body[at..].starts_with('"') {
            let end = end_of_quotes(body, at)?;
            // Only a line break in quotes puts the end elsewhere; to look again after each field is quadratic.
            if end > line_end {
                line_end = end_of_line(body, end);
            }
            if end < line_end && !body[end..].starts_with(delimiter) {
                let after = body[end..].chars().next().map_or(0, char::len_utf8);
                return Err(Broken {
                    found: &body[at..end + after],
                    expected: format!(
                        "{} or the end of the line after a closing quote",
                        super::problem::quoted(&delimiter.to_string())
                    ),
                });
            }
            end
        } else {
            body[at..line_end].find(delimiter).map_or(line_end, |found| at + found)
        };
        if fields.len() == MOST_COLUMNS {
            let expected = format!("at most {MOST_COLUMNS} columns");
            return Err(Broken { found: &body[start..end], expected });
        }
        fields.push(at - start..end - start);
        if end == line_end {
            return Ok((fields, end));
        }
        at = end + delimiter.len_utf8();
    }
}

/// Where the line ending after `start` begins.
fn end_of_line(body: &str, start: usize) -> usize {
    let line = &body[start..];
    let line = line.split_once('\n').map_or(line, |(line, _)| line);
    start + line.strip_suffix('\r').unwrap_or(line).len()
}

/// Just after the quote that closes the one at `start`.
fn end_of_quotes(body: &str, start: usize) -> std::result::Result<usize, Broken<'_>> {
    let mut at = start + 1;
    loop {
        let Some(quote) = body[at..].find('"') else {
            let expected = "a closing quote somewhere after".to_owned();
            return Err(Broken { found: &body[start..], expected });
        };
        at += quote + 1;
        if !body[at..].starts_with('"') {
            return Ok(at);
        }
        at += 1;
    }
}

/// A value as a field, in quotes where it needs them.
pub(super) fn quoted(value: &str, delimiter: char) -> String {
    match value.contains([delimiter, '"', '\r', '\n']) {
        true => format!("\"{}\"", value.replace('"', "\"\"")),
        false => value.to_owned(),
    }
}

/// Rows of values as the text of a table.
pub(super) fn table_text<'a>(
    rows: impl IntoIterator<Item = Vec<String>> + 'a,
    delimiter: char,
) -> String {
    let line = |row: Vec<String>| {
        let fields: Vec<String> = row.iter().map(|value| quoted(value, delimiter)).collect();
        fields.join(&delimiter.to_string()) + "\n"
    };
    rows.into_iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Random;

    #[test]
    fn random_tables_hold_what_the_csv_crate_sees() {
        let pieces = ["\"", ",", "\n", "\r\n", "a", "é", "", "x y", "\t", ";"];
        let mut random = Random::new(7);
        let mut pick = |count: usize| (random.uniform() * count as f64) as usize;
        for _ in 0..300 {
            let table: Vec<Vec<String>> = (0..1 + pick(5))
                .map(|_| (0..3).map(|_| (0..3).map(|_| pieces[pick(10)]).collect()).collect())
                .collect();
            let mut writer = csv::Writer::from_writer(Vec::new());
            table.iter().for_each(|row| writer.write_record(row).unwrap());
            let text = Text::decode("f", &writer.into_inner().unwrap(), None).unwrap();
            let seen: Vec<_> = rows(&text, ',').map(|row| row.unwrap().values()).collect();
            let trimmed = |row: &Vec<String>| -> Vec<String> {
                row.iter().map(|value| value.trim().to_owned()).collect()
            };
            assert_eq!(seen, table.iter().map(trimmed).collect::<Vec<_>>());
            let ours = Text::decode("f", table_text(table.clone(), ',').as_bytes(), None).unwrap();
            let again: Vec<_> = rows(&ours, ',').map(|row| row.unwrap().values()).collect();
            assert_eq!(again, seen);
        }
    }
}
