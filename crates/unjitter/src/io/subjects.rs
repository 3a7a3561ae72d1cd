//! The table of sessions: whose they are.

use std::path::Path;

use super::dataset::Columns;
use super::instances::InstancesTable;
use super::table::{Row, Table, shown};
use crate::Result;

/// Another usual name of the column, where what must not be split is more than a person.
const GROUP: &str = "group";

/// Gives sessions their subjects. Sessions that have no instances are passed over: such a table
/// often lists more than was kept.
pub(super) fn add(instances: &mut InstancesTable, path: &Path, columns: &Columns) -> Result<()> {
    let mut table = Table::open(path, columns.has_header)?;
    let session = table.column(&columns.session)?;
    let subject = match table.find(&columns.subject).or_else(|| table.find(GROUP)) {
        Some(column) => column,
        None => table.column(&columns.subject)?,
    };
    let mut row = Row::default();
    while table.next(&mut row)? {
        let Some(at) = instances.position(row.cell(session)) else { continue };
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
    Ok(())
}
