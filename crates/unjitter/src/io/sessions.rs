//! The table of sessions: whom and what they have in common, and who annotated them.
//!
//! It skips sessions without instances, since such a table often lists more than was kept. Several lines of one
//! session may say the same, or name one annotator each, but not contradict each other or the instances.

use std::path::Path;

use super::dataset::Columns;
use super::instances::{InstancesTable, ReadSession, named};
use super::table::{Row, Table, shown};
use crate::Result;

/// Another usual name of the subject, if the unit that must not be split is more than a person.
const GROUP: &str = "group";
/// What separates the annotators of a session.
const SEPARATOR: char = ';';

/// Where a session keeps a fact.
type Fact = fn(&mut ReadSession) -> &mut Option<String>;

/// Columns of what the table tells.
struct Places {
    session: usize,
    /// What each fact is called, and its column.
    facts: Vec<(&'static str, usize, Fact)>,
    annotators: Option<usize>,
}

/// Adds what the table tells of each session.
pub(super) fn add(instances: &mut InstancesTable, path: &Path, columns: &Columns) -> Result<()> {
    let mut table = Table::open(path, columns.has_header)?;
    let places = match columns.has_header {
        true => Places::by_name(&table, columns)?,
        false => Places::by_number(&table, columns)?,
    };
    let from_instances: Vec<bool> =
        instances.sessions.iter().map(|session| session.subject.is_some()).collect();
    let (mut row, mut is_known) = (Row::default(), false);
    while table.next(&mut row)? {
        let name = row.cell(places.session);
        if name.is_empty() {
            return Err(table.wrong_cell(&row, places.session, "the name of a session"));
        }
        let Some(at) = instances.position(name) else { continue };
        is_known = true;
        let session = &mut instances.sessions[at];
        for &(what, column, fact) in &places.facts {
            let found = row.cell(column);
            if found.is_empty() {
                continue;
            }
            match fact(session) {
                Some(known) if known != found => {
                    let source = match from_instances[at] && what == "subject" {
                        true => format!("of its instances in {}", instances.file),
                        false => "given before".to_owned(),
                    };
                    let expected = format!("{}, the {what} {source}", shown(known));
                    return Err(table.wrong_cell(&row, column, expected));
                }
                known => *known = Some(found.to_owned()),
            }
        }
        if let Some(column) = places.annotators.filter(|_| !columns.annotator.is_empty()) {
            add_annotators(&table, &row, column, &mut session.annotators)?;
        }
    }
    match is_known {
        true => Ok(()),
        false => Err(table.wrong(format!("it names no session of {}", instances.file))),
    }
}

/// Adds names like `Ada; Ben`; an empty cell says nothing.
fn add_annotators(
    table: &Table,
    row: &Row,
    column: usize,
    annotators: &mut Vec<String>,
) -> Result<()> {
    if row.cell(column).is_empty() {
        return Ok(());
    }
    for name in row.cell(column).split(SEPARATOR).map(str::trim) {
        if name.is_empty() {
            let expected = format!("names of annotators with `{SEPARATOR}` between them");
            return Err(table.wrong_cell(row, column, expected));
        }
        if !annotators.iter().any(|known| known == name) {
            annotators.push(name.to_owned());
        }
    }
    Ok(())
}

impl Places {
    fn by_name(table: &Table, columns: &Columns) -> Result<Self> {
        let session = table.column_of(Some("session"), &columns.session)?;
        let subject = table.find(&columns.subject).or_else(|| table.find(GROUP));
        let places = Self::others(table, columns, session, subject)?;
        if places.facts.is_empty() && places.annotators.is_none() {
            // A table that tells nothing is the wrong one, or its columns have other names.
            table.column_of(Some("subject"), &columns.subject)?;
        }
        Ok(places)
    }

    /// Without a header, the columns are session and subject, and others that are called by their numbers.
    fn by_number(table: &Table, columns: &Columns) -> Result<Self> {
        let found = table.header().len();
        let places = Self::others(table, columns, 0, (found > 1).then_some(1))?;
        let others = places.facts.iter().filter(|(_, place, _)| *place > 1).count()
            + usize::from(places.annotators.is_some());
        match found == 2 + others {
            true => Ok(places),
            false => {
                let problem = format!("{found} columns, expected two: session and subject");
                Err(table.wrong(problem))
            }
        }
    }

    fn others(
        table: &Table,
        columns: &Columns,
        session: usize,
        subject: Option<usize>,
    ) -> Result<Self> {
        let usual = Columns::default();
        let device = named(table, "device", &columns.device, &usual.device)?;
        let clock = named(table, "clock", &columns.clock, &usual.clock)?;
        let annotators = named(table, "annotators", &columns.annotators, &usual.annotators)?;
        let facts: [(_, _, Fact); 3] = [
            ("subject", subject, |session| &mut session.subject),
            ("device", device, |session| &mut session.device),
            ("clock", clock, |session| &mut session.shared_clock),
        ];
        let facts = facts.into_iter().filter_map(|(what, place, fact)| Some((what, place?, fact)));
        Ok(Self { session, facts: facts.collect(), annotators })
    }
}
