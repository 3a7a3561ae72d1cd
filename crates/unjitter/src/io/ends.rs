//! When what was stamped ended: a column of its own, or of how long it lasted.

use super::clock::TimeUnit;
use super::dataset::Columns;
use super::decimal::{number, write_number};
use super::instances::{ReadSession, named};
use super::moments::Wrong;
use super::table::{Row, Table};
use crate::Result;

/// What tables in the form of BIDS have where nothing is known.
const UNKNOWN: &str = "n/a";

/// The column that tells when stamps end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ends {
    pub(super) column: usize,
    is: Told,
}

/// What it tells.
#[derive(Debug, Clone, Copy)]
enum Told {
    /// The time of the end.
    End,
    /// How long it lasted, in numbers of this unit.
    Duration(TimeUnit),
}

impl Ends {
    /// The column, if there is one: that of ends before that of durations, unless only the latter was named.
    pub(super) fn find(table: &Table, columns: &Columns) -> Result<Option<Self>> {
        let usual = Columns::default();
        if columns.event_end.is_empty() {
            return Ok(None);
        }
        let told = |column: Option<usize>, is: Told| column.map(|column| Self { column, is });
        let duration = || -> Result<Option<Self>> {
            let column =
                named(table, "event_duration", &columns.event_duration, &usual.event_duration)?;
            Ok(told(column, Told::Duration(columns.times_in)))
        };
        if columns.event_end == usual.event_end && columns.event_duration != usual.event_duration {
            return duration();
        }
        let end = named(table, "event_end", &columns.event_end, &usual.event_end)?;
        Ok(told(end, Told::End).or(duration()?))
    }

    /// Whether the column has times, and not how long things lasted.
    pub(super) fn are_times(&self) -> bool {
        matches!(self.is, Told::End)
    }

    /// How long something lasted, in seconds, as the column has it: to the microsecond.
    pub(super) fn write_duration(&self, seconds: f64) -> String {
        let unit = if let Told::Duration(unit) = self.is { unit } else { TimeUnit::S };
        write_number((seconds * 1e6).round() / 1e6, unit)
    }

    /// The end of what began then, in seconds; none if the cell says nothing, or that it lasted no time.
    pub(super) fn read(
        &self,
        row: &Row,
        session: &ReadSession,
        start: f64,
    ) -> std::result::Result<Option<f64>, Wrong> {
        let text = row.cell(self.column);
        if text.is_empty() || text.eq_ignore_ascii_case(UNKNOWN) {
            return Ok(None);
        }
        let wrong = |expected: String| (self.column, expected);
        let end = match self.is {
            Told::End => session.seconds(text).map_err(wrong)?,
            Told::Duration(unit) => {
                let duration = number(text).filter(|own| *own >= 0.0 && own.is_finite());
                let expected =
                    || wrong(format!("a length of time in {unit}, at least 0, or nothing"));
                start + duration.ok_or_else(expected)? / unit.per_second()
            }
        };
        match end < start {
            true => Err(wrong(format!("a time not before {}", session.clock.write(start)))),
            false => Ok((end > start).then_some(end)),
        }
    }
}
