//! A table that was read, written again with its stamps elsewhere: a row keeps all text but its times.

use super::dates::{SECOND, Spelling};
use super::delimited;
use super::found::{Moved, Sink, Source, rounded};
use super::numerals::{number_text, parse_number};
use super::problem::{quoted, wrong};
use super::rows::Rows;
use super::samples::{Evidence, Samples};
use crate::Result;

/// A table.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) rows: Rows,
    pub(super) delimiter: char,
    pub(super) time: usize,
    pub(super) duration: Option<usize>,
    pub(super) end: Option<usize>,
    pub(super) along: Vec<usize>,
    pub(super) samples: Vec<Samples>,
    pub(super) evidence: Evidence,
    pub(super) clock: Clock,
}

/// How times are spelled.
#[derive(Debug)]
pub(super) enum Clock {
    /// Seconds, as numbers.
    Seconds,
    /// Dates, counted from an origin, in the spelling of each stamp.
    Dates { origin: i128, spellings: Vec<Spelling> },
}

impl Clock {
    /// The text of a time in the form of a stamp's own.
    pub(super) fn spell(&self, stamp: usize, time: f64) -> Result<String> {
        match self {
            Self::Seconds => Ok(number_text(time)),
            Self::Dates { origin, spellings } => {
                let since = (time * SECOND as f64).round_ties_even() as i128;
                spellings[stamp].text(origin.saturating_add(since))
            }
        }
    }
}

impl Source for Table {
    fn holds_ends(&self) -> bool {
        self.duration.or(self.end).is_some()
    }

    fn render(&self, moved: Moved<'_>, sink: Sink<'_>) -> Result<()> {
        self.rows.render(moved, sink, |row, text, time| {
            let fields = delimited::Row::again(text, self.delimiter);
            let mut changes = vec![(self.time, self.clock.spell(row.stamp, time)?)];
            changes.extend(self.moved_end(&fields, row.stamp, moved)?);
            changes.extend(self.moved_along(&fields, row.stamp, moved)?);
            changes.sort_by_key(|(column, _)| *column);
            let (mut written, mut at) = (String::new(), 0);
            for (column, value) in changes {
                let place = fields.inside(column).unwrap_or(at..at);
                written.push_str(&text[at..place.start]);
                written.push_str(&value);
                at = place.end;
            }
            Ok(written + &text[at..])
        })
    }
}

impl Table {
    /// The duration of a stamp if it changed, or its end.
    fn moved_end(
        &self,
        fields: &delimited::Row<'_>,
        stamp: usize,
        moved: Moved<'_>,
    ) -> Result<Option<(usize, String)>> {
        let number = |column: usize| fields.value(column).and_then(|value| parse_number(&value));
        let told =
            |column: Option<usize>| column.and_then(|column| Some((column, number(column)?)));
        // A duration counts before an end, as it was read.
        if let Some((column, _)) = told(self.duration) {
            let is_other = moved.end(stamp).is_some();
            return Ok(is_other.then(|| (column, number_text(moved.lasts(stamp)))));
        }
        match (told(self.end), moved.end(stamp)) {
            (Some((column, _)), Some(end)) => Ok(Some((column, number_text(end)))),
            (Some((column, before)), None) => {
                let end = rounded(before + moved.now(stamp) - moved.before(stamp));
                Ok(Some((column, number_text(end))))
            }
            (None, None) => Ok(None),
            (None, Some(end)) => {
                let problem = format!(
                    "the row {} tells no end, so none can be moved to {end} s",
                    quoted(fields.text)
                );
                Err(wrong(&self.rows.text.file, problem))
            }
        }
    }

    /// What moves along with a stamp.
    fn moved_along(
        &self,
        fields: &delimited::Row<'_>,
        stamp: usize,
        moved: Moved<'_>,
    ) -> Result<Vec<(usize, String)>> {
        let shift = moved.now(stamp) - moved.before(stamp);
        let mut changes = Vec::new();
        for &column in &self.along {
            let before = fields.value(column).and_then(|value| parse_number(&value));
            changes.extend(before.map(|value| (column, number_text(rounded(value + shift)))));
        }
        let end_shift = shift + moved.end(stamp).map_or(0.0, |_| moved.lengthened(stamp));
        for samples in &self.samples {
            let file = &self.rows.text.file;
            changes.extend(samples.moved(file, fields, [shift, end_shift], &self.evidence)?);
        }
        Ok(changes)
    }
}
