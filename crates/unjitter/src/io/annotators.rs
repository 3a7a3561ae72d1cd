//! Who annotated a session: everybody who gave a stamp, and those whom the table of sessions names.

use super::dataset::Columns;
use super::events::{EventsTable, ReadStamp};
use super::instances::ReadSession;
use super::suggest::quoted;
use super::table::shown;
use crate::{Error, Result, Session};

/// The session with who gave each of its stamps, as far as that is known.
///
/// Of the annotators that the table of sessions names, only those count whose stamps are chosen. If none is left,
/// nobody looked for the chosen events.
pub(super) fn add(
    session: Session<'static>,
    read: &ReadSession,
    events: &EventsTable,
    stamps: &[ReadStamp],
) -> Result<Session<'static>> {
    let known = &read.annotators;
    let is_chosen = |name: &&String| events.chooses_annotator(name);
    let also: Vec<String> = known.iter().filter(is_chosen).cloned().collect();
    if also.is_empty() && !known.is_empty() && stamps.is_empty() {
        return session.with_observed(Vec::new());
    }
    let is_unnamed = |stamp: &ReadStamp| events.annotator_of(stamp.row).is_none();
    let of_stamps: Vec<String> = match &known[..] {
        [] if stamps.iter().all(is_unnamed) => return Ok(session),
        [only] if stamps.iter().all(is_unnamed) => vec![only.clone(); stamps.len()],
        _ => {
            let name = |stamp: &ReadStamp| match events.annotator_of(stamp.row) {
                Some(name) if known.is_empty() || known.iter().any(|one| one == name) => {
                    Ok(name.to_owned())
                }
                _ => Err(unknown(read, events, stamp.row)),
            };
            stamps.iter().map(name).collect::<Result<_>>()?
        }
    };
    session.with_annotators(&of_stamps, &also)
}

/// Nothing says whose a stamp is, or it is of somebody who did not annotate the session.
fn unknown(read: &ReadSession, events: &EventsTable, row: usize) -> Error {
    let session = shown(&read.name);
    let expected = match &read.annotators[..] {
        [] => format!("a name, as other stamps of session {session} have"),
        known => format!("one of those who annotated session {session}: {}", quoted(known)),
    };
    match events.annotator_column() {
        Some(column) => events.wrong_cell(row, column, expected),
        None => Error::NoColumn {
            file: events.file.clone(),
            column: Columns::default().annotator,
            hint: format!("the stamp in line {} must name {expected}", events.rows[row].line()),
            field: Some("annotator"),
        },
    }
}
