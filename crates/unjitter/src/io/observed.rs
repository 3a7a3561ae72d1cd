//! The table of intervals in which somebody was annotating.

use std::path::Path;

use super::dataset::{Columns, Dataset};
use super::table::{Row, Table};
use crate::Result;

/// Gives sessions their observed intervals; a session without a line is observed throughout.
pub(super) fn add(dataset: &mut Dataset, path: &Path, columns: &Columns) -> Result<()> {
    let mut table = Table::open(path, columns.has_header)?;
    let session = table.column(&columns.session)?;
    let ends = [table.column("start")?, table.column("end")?];
    let mut intervals: Vec<Vec<(f64, f64)>> = vec![Vec::new(); dataset.recordings.len()];
    let mut row = Row::default();
    while table.next(&mut row)? {
        let Some(at) = dataset.position(row.cell(session)) else {
            return Err(table.wrong_cell(&row, session, "a session that has instances"));
        };
        let mut moments = [0.0; 2];
        for (moment, column) in moments.iter_mut().zip(ends) {
            *moment = dataset.clocks[at]
                .seconds(row.cell(column))
                .map_err(|expected| table.wrong_cell(&row, column, expected))?;
        }
        intervals[at].push((moments[0], moments[1]));
    }
    for (recording, mut intervals) in dataset.recordings.iter_mut().zip(intervals) {
        if !intervals.is_empty() {
            intervals.sort_by(|a, b| a.0.total_cmp(&b.0));
            recording.session = recording.session.clone().with_observed(intervals)?;
        }
    }
    Ok(())
}
