//! The table of sessions and their subjects.

use std::path::Path;

use super::dataset::Columns;
use super::instances::InstancesTable;
use super::table::{Row, Table, shown};
use crate::Result;

/// Another usual name of the column, if the unit that must not be split is more than a person.
const GROUP: &str = "group";

/// Adds subjects to sessions. Skips sessions without instances: such a table often lists more than was kept.
pub(super) fn add(instances: &mut InstancesTable, path: &Path, columns: &Columns) -> Result<()> {
    let mut table = Table::open(path, columns.has_header)?;
    let (session, subject) = match columns.has_header {
        true => by_name(&table, columns)?,
        false => by_place(&table)?,
    };
    let (mut row, mut is_known) = (Row::default(), false);
    while table.next(&mut row)? {
        let Some(at) = instances.position(row.cell(session)) else { continue };
        is_known = true;
        let found = row.cell(subject);
        if found.is_empty() {
            continue;
        }
        match &mut instances.sessions[at].subject {
            Some(known) if known != found => {
                let expected = format!("{}, the subject given before", shown(known));
                return Err(table.wrong_cell(&row, subject, expected));
            }
            known => *known = Some(found.to_owned()),
        }
    }
    match is_known {
        true => Ok(()),
        false => Err(table.wrong(format!("it names no session of {}", instances.file))),
    }
}

fn by_name(table: &Table, columns: &Columns) -> Result<(usize, usize)> {
    let subject = match table.find(&columns.subject).or_else(|| table.find(GROUP)) {
        Some(column) => column,
        None => table.column_of(Some("subject"), &columns.subject)?,
    };
    Ok((table.column_of(Some("session"), &columns.session)?, subject))
}

/// Without a header, the columns are session and subject.
fn by_place(table: &Table) -> Result<(usize, usize)> {
    match table.header().len() {
        2 => Ok((0, 1)),
        found => Err(table.wrong(format!("{found} columns, expected two: session and subject"))),
    }
}
