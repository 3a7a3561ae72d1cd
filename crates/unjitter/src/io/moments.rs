//! When a stamp was pressed: at a time, perhaps rounded, or between two.

use super::dataset::Columns;
use super::ends::Ends;
use super::instances::{ReadSession, named};
use super::table::{Row, Table};
use crate::Result;

/// What the time is called where events have ends, if not otherwise.
const BEGINNINGS: [&str; 2] = ["start", "onset"];

/// The columns of moments.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moments {
    /// The time; the earliest if that is all there is.
    pub(super) time: usize,
    /// Earliest and latest.
    between: Option<(usize, usize)>,
    /// What times are rounded to, in seconds; 0 if they are not.
    rounded: f64,
}

/// A cell that tells no moment, and what was expected there.
pub(crate) type Wrong = (usize, String);

impl Moments {
    pub(super) fn find(table: &Table, columns: &Columns, ends: Option<&Ends>) -> Result<Self> {
        let usual = Columns::default();
        let earliest = named(table, "earliest", &columns.earliest, &usual.earliest)?;
        let latest = named(table, "latest", &columns.latest, &usual.latest)?;
        // One alone may be anything, unless it was asked for by name.
        let missing = match (earliest, latest) {
            (Some(_), None) if columns.earliest != usual.earliest => Some(&columns.latest),
            (None, Some(_)) if columns.latest != usual.latest => Some(&columns.earliest),
            _ => None,
        };
        missing.map_or(Ok(0), |name| table.column(name))?;
        let between = earliest.zip(latest);
        let name = columns.event_time.as_ref().unwrap_or(&columns.time);
        let beginning = ends
            .filter(|_| columns.event_time.is_none() && table.find(name).is_none())
            .and_then(|_| BEGINNINGS.iter().find_map(|beginning| table.find(beginning)));
        let time = match (between, &columns.event_time) {
            (Some((earliest, _)), None) => table.find(name).or(beginning).unwrap_or(earliest),
            _ => beginning.map_or_else(|| table.column_of(Some("event_time"), name), Ok)?,
        };
        Ok(Self { time, between, rounded: columns.rounded.unwrap_or(0.0) })
    }

    /// Whether there is no time beside earliest and latest.
    pub(super) fn is_between(&self) -> bool {
        self.between.is_some_and(|(earliest, _)| earliest == self.time)
    }

    /// Whether a column is read.
    pub(super) fn reads(&self, column: usize) -> bool {
        self.time == column || self.between.is_some_and(|(a, b)| a == column || b == column)
    }

    /// The columns that a stamp lies between, if its line says so.
    fn ends(&self, row: &Row) -> Option<(usize, usize)> {
        let is_told =
            |(a, b): &(usize, usize)| !(row.cell(*a).is_empty() && row.cell(*b).is_empty());
        self.between.filter(|both| self.is_between() || is_told(both))
    }

    /// The columns that stamps lie between, if the table has them.
    pub(super) fn between(&self) -> Option<(usize, usize)> {
        self.between
    }

    /// A moment as it is written.
    pub(super) fn text(&self, row: &Row) -> String {
        match self.ends(row) {
            Some((earliest, latest)) => format!("{}/{}", row.cell(earliest), row.cell(latest)),
            None => row.cell(self.time).to_owned(),
        }
    }

    /// The middle of where a stamp lies, and the width of that; 0 if its moment is known.
    pub(super) fn read(
        &self,
        row: &Row,
        session: &ReadSession,
    ) -> std::result::Result<(f64, f64), Wrong> {
        let seconds = |column: usize| {
            session.seconds(row.cell(column)).map_err(|expected| (column, expected))
        };
        let Some((earliest, latest)) = self.ends(row) else {
            return Ok((seconds(self.time)?, self.rounded));
        };
        let (from, to) = (seconds(earliest)?, seconds(latest)?);
        match from <= to {
            true => Ok((from + 0.5 * (to - from), to - from)),
            false => Err((latest, format!("a time not before {}", row.cell(earliest)))),
        }
    }
}
