//! Stamps that are rounded, or known to lie between two times.

use unjitter::inspection::{Finding, inspect_files};
use unjitter::io::{Columns, DatasetFiles};

use super::Folder;

const INSTANCES: &[u8] = b"session,time,x\na,0,1\na,10,2\na,20,1\na,30,2\n";

/// Times and widths of the stamps of a table.
fn read(events: &str, columns: &Columns) -> Result<Vec<(f64, f64)>, String> {
    let files = [("instances.csv", INSTANCES), ("events.csv", events.as_bytes())];
    let dataset = Folder::with(&files).read_with(columns, false).map_err(|e| e.to_string())?;
    let session = &dataset.recordings[0].session;
    Ok(session.stamps().iter().enumerate().map(|(l, &t)| (t, session.width_of(l))).collect())
}

#[test]
fn stamps_lie_between_two_times_where_a_line_says_so() {
    let usual = Columns::default();
    let both = "session,time,earliest,latest\na,9,,\na,3,4,8\na,1,1,1\n";
    assert_eq!(read(both, &usual).unwrap(), [(1.0, 0.0), (6.0, 4.0), (9.0, 0.0)]);
    let alone = "session,earliest,latest\na,4,8\na,2,3\n";
    assert_eq!(read(alone, &usual).unwrap(), [(2.5, 1.0), (6.0, 4.0)]);
    let renamed = Columns {
        earliest: "from".to_owned(),
        latest: "to".to_owned(),
        rounded: Some(2.0),
        ..Columns::default()
    };
    let named = "session,time,from,to\na,3,4,8\na,9,,\n";
    assert_eq!(read(named, &renamed).unwrap(), [(6.0, 4.0), (9.0, 2.0)]);
    // One column alone may be anything.
    assert_eq!(read("session,time,latest\na,3,no\n", &usual).unwrap(), [(3.0, 0.0)]);
}

#[test]
fn what_tells_no_interval_is_named() {
    let renamed = |earliest: &str, latest: &str| Columns {
        earliest: earliest.to_owned(),
        latest: latest.to_owned(),
        ..Columns::default()
    };
    for (events, columns, expected) in [
        ("earliest,latest\n4,3\n", Columns::default(), "line 2, column `latest`: `3`"),
        ("earliest,latest\n4,3\n", Columns::default(), "a time not before 4"),
        ("earliest,latest\n4,\n", Columns::default(), "line 2, column `latest`"),
        ("time,earliest,latest\n4,3,\n", Columns::default(), "line 2, column `latest`"),
        ("earliest,latest\n,\n", Columns::default(), "line 2, column `earliest`"),
        ("latest\n4\n", Columns::default(), "no column `time`"),
        ("time,from\n4,3\n", renamed("from", "latest"), "no column `latest`"),
        ("time,to\n4,3\n", renamed("earliest", "to"), "no column `earliest`"),
        ("time,to\n4,3\n", renamed("from", "to"), "no column `from`"),
        ("time\n4\n", Columns { rounded: Some(-1.0), ..Columns::default() }, "is -1, expected"),
    ] {
        let error = read(events, &columns).unwrap_err();
        assert!(error.contains(expected), "{events:?}: {error}");
    }
}

#[test]
fn rounding_is_found_unless_it_was_said() {
    let line = |k: usize| format!("a,{}\n", 60 * k);
    let events: String = (0..12).map(line).collect();
    let instances: String = (0..200).map(|k| format!("a,{},{}\n", 3.7 * f64::from(k), k)).collect();
    let folder = Folder::with(&[
        ("instances.csv", format!("session,time,x\n{instances}").as_bytes()),
        ("events.csv", format!("session,time\n{events}a,60\n").as_bytes()),
    ]);
    let files = DatasetFiles::in_folder(folder.0.path()).unwrap();
    let found = |rounded: Option<f64>| {
        let columns = Columns { rounded, ..Columns::default() };
        inspect_files(&files, &columns).unwrap().findings
    };
    let is_about = |finding: &Finding| {
        matches!(finding, Finding::RoundedStamps { .. } | Finding::SameTime { .. })
    };
    assert_eq!(found(None).into_iter().filter(is_about).count(), 2);
    assert_eq!(found(Some(60.0)).into_iter().filter(is_about).count(), 0);
}
