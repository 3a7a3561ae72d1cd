//! Events with an end, or with how long they lasted.

use unjitter::io::{Columns, TimeUnit};

use super::Folder;

const INSTANCES: &[u8] = b"session,time,x\na,0,1\na,10,2\na,20,1\na,30,2\n";

/// Beginnings and ends of the stamps of a table.
fn read(events: &str, columns: &Columns) -> Result<Vec<(f64, Option<f64>)>, String> {
    let files = [("instances.csv", INSTANCES), ("events.tsv", events.as_bytes())];
    let dataset = Folder::with(&files).read_with(columns, false).map_err(|e| e.to_string())?;
    let session = &dataset.recordings[0].session;
    Ok(session.stamps().iter().enumerate().map(|(l, &t)| (t, session.end_of(l))).collect())
}

#[test]
fn ends_and_durations_are_read_where_a_line_has_them() {
    let usual = Columns::default();
    let want = [(1.0, Some(4.0)), (6.0, None), (9.0, Some(9.5))];
    let ended = "start\tend\n9\t9.5\n1\t4\n6\t\n";
    assert_eq!(read(ended, &usual).unwrap(), want);
    // As BIDS has it; what lasted no time tells no end.
    let lasting = "onset\tduration\ttrial_type\n1\t3\tx\n6\tn/a\ty\n9\t0.5\tz\n2\t0\tz\n";
    let mut with_moment = want.to_vec();
    with_moment.insert(1, (2.0, None));
    assert_eq!(read(lasting, &usual).unwrap(), with_moment);
    // An end counts before a duration, and a time before a start.
    let both = "time\tstart\tend\tduration\n1\t0\t4\t7\n";
    assert_eq!(read(both, &usual).unwrap(), want[..1]);
    let named = |end: &str, duration: &str| Columns {
        event_end: end.to_owned(),
        event_duration: duration.to_owned(),
        ..Columns::default()
    };
    assert_eq!(read(both, &named("end", "start")).unwrap(), [(1.0, None)]);
    assert_eq!(read("time\tstop\n1\t4\n", &named("stop", "duration")).unwrap(), want[..1]);
    assert_eq!(read(both, &named("", "duration")).unwrap(), [(1.0, None)]);
    let milliseconds = Columns { times_in: TimeUnit::Ms, ..Columns::default() };
    assert_eq!(read("time\tduration\n1000\t3000\n", &milliseconds).unwrap(), want[..1]);
    // The files of BIDS are in seconds, in whatever unit the instances are.
    assert_eq!(read("onset\tduration\n1\t3\n", &milliseconds).unwrap(), want[..1]);
    // Without ends, a start is no time.
    let error = read("start\tlength\n1\t4\n", &usual).unwrap_err();
    assert!(error.contains("no column `time`"), "{error}");
}

#[test]
fn what_tells_no_end_is_named() {
    let named = |end: &str| Columns { event_end: end.to_owned(), ..Columns::default() };
    for (events, columns, expected) in [
        ("time\tend\n4\t3\n", Columns::default(), "line 2, column `end`: `3`"),
        ("time\tend\n4\t3\n", Columns::default(), "a time not before 4"),
        ("time\tend\n4\tsoon\n", Columns::default(), "line 2, column `end`: `soon`"),
        ("time\tduration\n4\t-1\n", Columns::default(), "a length of time in s, at least 0"),
        ("time\tduration\n4\tlong\n", Columns::default(), "column `duration`: `long`"),
        ("time\tend\n4\t5\n", named("stop"), "no column `stop`"),
    ] {
        let error = read(events, &columns).unwrap_err();
        assert!(error.contains(expected), "{events:?}: {error}");
    }
}
