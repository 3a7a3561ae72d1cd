//! An events table that is written back keeps its content, with columns added.

use unjitter::io::{Columns, EventsTable};

use super::Folder;

fn table(bytes: &[u8]) -> EventsTable {
    let folder = Folder::with(&[("events.csv", bytes)]);
    EventsTable::read(&folder.0.path().join("events.csv"), &Columns::default()).unwrap()
}

fn added(table: &EventsTable, tag: &str) -> String {
    let cells = |row: usize| [format!("{tag}{row}"), "p,q".to_owned()];
    String::from_utf8(table.with_columns(["at", "note 2"], cells)).unwrap()
}

#[test]
fn other_cells_are_kept_to_the_byte() {
    let owner =
        "time;who; text\n1.50; \"\"x;\"a;b\"\n0002;;\"two\nlines\"\n1e0;\"say \"\"hi\"\"\";-\n";
    let written = added(&table(owner.as_bytes()), "r");
    let expected = "time;who;text;at;note 2\n1.50;\" \"\"\"\"x\";\"a;b\";r0;p,q\n\
                    0002;;\"two\nlines\";r1;p,q\n1e0;\"say \"\"hi\"\"\";-;r2;p,q\n";
    assert_eq!(written, expected);
    // Quotes may come and go; cells do not.
    let again = table(written.as_bytes());
    let cells = |table: &EventsTable, row: usize| -> Vec<String> {
        table.rows[row].cells().take(3).map(str::to_owned).collect()
    };
    let first = table(owner.as_bytes());
    (0..3).for_each(|row| assert_eq!(cells(&again, row), cells(&first, row)));
}

#[test]
fn a_second_run_replaces_the_columns_of_the_first() {
    let once = added(&table(b"session,time,at,comment\r\na,1,old,fine\r\nb,2,,\r\n"), "r");
    assert_eq!(once, "session,time,at,comment,note 2\na,1,r0,fine,\"p,q\"\nb,2,r1,,\"p,q\"\n");
    let twice = added(&table(once.as_bytes()), "s");
    assert_eq!(twice, once.replace(",r", ",s"));
}
