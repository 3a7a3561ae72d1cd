//! The table of annotated intervals.

use std::path::Path;

use super::dataset::{Columns, Dataset};
use super::table::{Row, Table};
use crate::Result;

/// Adds observed intervals to sessions; a session without a line is observed throughout.
pub(super) fn add(dataset: &mut Dataset, path: &Path, columns: &Columns) -> Result<()> {
    let mut table = Table::open(path, columns.has_header)?;
    let (session, ends) = match columns.has_header {
        true => by_name(&table, columns, dataset.recordings.len())?,
        false => by_place(&table, dataset.recordings.len())?,
    };
    let mut intervals: Vec<Vec<(f64, f64)>> = vec![Vec::new(); dataset.recordings.len()];
    let mut row = Row::default();
    while table.next(&mut row)? {
        let at = match session {
            None => 0,
            Some(column) => dataset
                .position(row.cell(column))
                .ok_or_else(|| table.wrong_cell(&row, column, "a session that has instances"))?,
        };
        let mut moments = [0.0; 2];
        for (moment, column) in moments.iter_mut().zip(ends) {
            let times = dataset.recordings[at].session.times();
            *moment = dataset.clocks[at]
                .seconds_beside(row.cell(column), times[0], times[times.len() - 1])
                .map_err(|expected| table.wrong_cell(&row, column, expected))?;
        }
        if moments[0] >= moments[1] {
            return Err(table.wrong_cell(&row, ends[1], "later than the start of its interval"));
        }
        intervals[at].push((moments[0], moments[1]));
    }
    if intervals.iter().all(Vec::is_empty) {
        return Err(
            table.wrong("it has no intervals; without the table, all times count as observed")
        );
    }
    for (recording, mut intervals) in dataset.recordings.iter_mut().zip(intervals) {
        // A session whose annotators are not chosen was observed by nobody, whatever the table says.
        if !intervals.is_empty() && recording.session.observed().is_none() {
            intervals.sort_by(|a, b| a.0.total_cmp(&b.0));
            // Intervals that overlap, or stamps outside all of them: the tables contradict each other.
            let session = recording.session.clone().with_observed(intervals);
            recording.session = session.map_err(|error| table.wrong(error.to_string()))?;
        }
    }
    Ok(())
}

fn by_name(
    table: &Table,
    columns: &Columns,
    sessions: usize,
) -> Result<(Option<usize>, [usize; 2])> {
    let session = match sessions {
        1 => table.find(&columns.session),
        _ => Some(table.column_of(Some("session"), &columns.session)?),
    };
    Ok((session, [table.column("start")?, table.column("end")?]))
}

/// Without a header, the columns are session, start and end.
fn by_place(table: &Table, sessions: usize) -> Result<(Option<usize>, [usize; 2])> {
    match table.header().len() {
        2 if sessions == 1 => Ok((None, [0, 1])),
        3 => Ok((Some(0), [1, 2])),
        found => {
            Err(table.wrong(format!("{found} columns, expected three: session, start and end")))
        }
    }
}
