//! Text files in which a stamp is a row: rows are kept as text and rewritten only where their stamp moved.
//!
//! Whatever stands between the rows of stamps (a header, blank lines, a row without a time) keeps its place.
//! If stamps change order, their rows change places among themselves. Line endings stay with the place, so
//! that a last row without one can move up.

use std::ops::Range;

use super::found::{Moved, Sink};
use super::text::Text;
use crate::Result;

/// A text file, of which some rows hold a stamp each.
#[derive(Debug)]
pub(super) struct Rows {
    pub(super) text: Text,
    rows: Vec<Row>,
}

/// The row of a stamp.
#[derive(Debug, Clone)]
pub(super) struct Row {
    /// Several rows may be of one stamp.
    pub(super) stamp: usize,
    /// Where its text stands.
    pub(super) at: Range<usize>,
    /// Where the next line begins, after the line ending.
    pub(super) next: usize,
}

impl Rows {
    /// Rows in the order of the text.
    pub(super) fn new(text: Text, rows: Vec<Row>) -> Self {
        Self { text, rows }
    }

    /// The file; `rewritten` gives the text of a row whose stamp, or its end, moved; with where it begins now.
    pub(super) fn render(
        &self,
        moved: Moved<'_>,
        sink: Sink<'_>,
        rewritten: impl Fn(&Row, &str, f64) -> Result<String>,
    ) -> Result<()> {
        let body = &self.text.body;
        let mut order = moved.order(self.rows.iter().map(|row| row.stamp)).into_iter();
        let (mut written, mut at) = (String::with_capacity(body.len()), 0);
        for place in &self.rows {
            written.push_str(&body[at..place.at.start]);
            at = place.next;
            if !moved.keeps(place.stamp) {
                continue;
            }
            let (row, stamp) = order.next().expect("as many rows as places");
            let row = &self.rows[row];
            let text = &body[row.at.clone()];
            match moved.to(stamp) {
                None => written.push_str(text),
                Some(time) => written.push_str(&rewritten(row, text, time)?),
            }
            written.push_str(&body[place.at.end..place.next]);
        }
        written.push_str(&body[at..]);
        sink(&self.text.encode(written)?)
    }
}

/// A line of a text: its number from 1, where its text stands, and where the next begins.
#[derive(Debug, Clone)]
pub(super) struct Line {
    pub(super) number: usize,
    pub(super) at: Range<usize>,
    pub(super) next: usize,
}

/// The lines of a text, which end at LF and CR LF alone.
pub(super) fn lines(body: &str) -> impl Iterator<Item = Line> {
    let (mut start, mut number) = (0, 0);
    std::iter::from_fn(move || {
        if start == body.len() {
            return None;
        }
        let next = body[start..].find('\n').map_or(body.len(), |at| start + at + 1);
        let text = body[start..next].strip_suffix('\n').unwrap_or(&body[start..next]);
        let text = text.strip_suffix('\r').unwrap_or(text);
        number += 1;
        let line = Line { number, at: start..start + text.len(), next };
        start = next;
        Some(line)
    })
}

#[cfg(test)]
mod tests {
    use super::super::found::Found;
    use super::*;

    #[test]
    fn lines_are_all_of_the_text() {
        for (body, want) in [
            ("", vec![]),
            ("a", vec!["a"]),
            ("a\n", vec!["a"]),
            ("a\r\n\r\nb\rc\u{2028}", vec!["a", "", "b\rc\u{2028}"]),
            ("\n\n", vec!["", ""]),
        ] {
            let found: Vec<_> = lines(body).collect();
            assert_eq!(found.iter().map(|line| &body[line.at.clone()]).collect::<Vec<_>>(), want);
            assert_eq!(found.last().map_or(0, |line| line.next), body.len());
        }
    }

    #[test]
    fn rows_change_places_among_themselves_and_leave_all_else() {
        let text = Text::decode("f", b"head\n1\r\n\n2\n3", None).unwrap();
        let places = [(5..6, 8), (9..10, 11), (11..12, 12)].into_iter().enumerate();
        let row = |(stamp, (at, next)): (usize, (Range<usize>, usize))| Row { stamp, at, next };
        let rows = Rows::new(text, places.map(row).collect());
        for (now, kept, want) in [
            ([1.0, 2.0, 3.0], [true; 3], "head\n1\r\n\n2\n3"),
            ([9.0, 2.0, 3.0], [true; 3], "head\n2\r\n\n3\n9"),
            ([9.0, 2.0, 1.0], [true, false, true], "head\n1\r\n\n9"),
            ([1.0, 2.0, 3.0], [false; 3], "head\n\n"),
        ] {
            let mut written = Vec::new();
            let mut sink = |bytes: &[u8]| {
                written.extend_from_slice(bytes);
                Ok(())
            };
            let (times, durations) = (vec![1.0, 2.0, 3.0], vec![0.0; 3]);
            let found = Found { times, durations, ..Found::default() };
            let moved = Moved::new(&found, &now, &[], &kept);
            rows.render(moved, &mut sink, |_, _, time| Ok(time.to_string())).unwrap();
            assert_eq!(String::from_utf8(written).unwrap(), want);
        }
    }
}
