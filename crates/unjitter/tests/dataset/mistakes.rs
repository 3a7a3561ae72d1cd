//! Every mistake is named with its file, line, column, value and what was expected.

use unjitter::io::{Chunk, Columns, InstanceChunks, TimeUnit};

use super::{Folder, gzip, read};

fn message(files: &[(&str, &[u8])], columns: &Columns) -> String {
    match Folder::with(files).read_with(columns, false) {
        Ok(dataset) => panic!("{files:?} was read as {dataset:?}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn cells() {
    let instances = "session,time,x,label,subject\n";
    let events = "session,time\na,1\n";
    let good = "a,1,2,0,p\n";
    let date = "a,2024-05-31T10:00:00,2,0,p\n";
    for (rows, events, expected) in [
        (
            "a,1,2,0,p\na,0.5,2,0,p\n",
            events,
            "instances.csv, line 3, column `time`: `0.5` is not at or after 1, the time before it in session a; sort the table by time",
        ),
        ("a,soon,2,0,p\n", events, "instances.csv, line 2, column `time`: `soon` is not a time"),
        ("a,,2,0,p\n", events, "instances.csv, line 2, column `time`: `` is not a time"),
        ("a,inf,2,0,p\n", events, "column `time`: `inf` is not a time"),
        (",1,2,0,p\n", events, "line 2, column `session`: `` is not the name of a session"),
        ("a,1,,0,p\n", events, "column `x`: `` is not a finite number; fill in or drop"),
        ("a,1,nan,0,p\n", events, "column `x`: `nan` is not a finite number; fill in or drop"),
        ("a,1,inf,0,p\n", events, "column `x`: `inf` is not a finite number"),
        ("a,1,1e999,0,p\n", events, "column `x`: `1e999` is not a finite number"),
        ("a,1,male,0,p\n", events, "`male` is not a finite number; if `x` is no feature, ignore"),
        (
            "a,1,2,2,p\n",
            events,
            "column `label`: `2` is not a label: 0 or 1, false or true, or nothing",
        ),
        ("a,1,2,0,p\na,2,2,0,q\n", events, "line 3, column `subject`: `q` is not the subject of"),
        ("a,1,2,0\n", events, "instances.csv, line 2: 4 cells, expected 5 as in the header"),
        ("a,1,2,0,p,\n", events, "instances.csv, line 2: 6 cells, expected 5"),
        (
            good,
            "session,time\nA1,1\n",
            "events.csv, line 2, column `session`: `A1` is not a session of",
        ),
        (
            good,
            "session,time\na,1\n\na,x\n",
            "events.csv, line 4, column `time`: `x` is not a number, as the times of its session are",
        ),
        (good, "session,time\na,2024-05-31T10:00:00\n", "is not a number, as the times"),
        (date, "session,time\na,3\n", "`3` is not a date and time without a zone"),
        (date, "session,time\na,2024-05-31T10:00:00Z\n", "is not a date and time without a zone"),
        (
            &date.replace(":00,", ":00Z,"),
            "session,time\na,2024-05-31T10:00:00\n",
            "is not a date and time with Z",
        ),
        (
            "a,1700000000,2,0,p\n",
            "session,time\na,\n",
            "events.csv, line 2, column `time`: `` is not a number",
        ),
        (good, "session,tme\na,1\n", "events.csv: it has no column `time`; did you mean `tme`?"),
        (good, "", "events.csv: it is empty"),
        (
            "a,2024-10-27T02:59:58,2,0,p\na,2024-10-27T02:00:01,2,0,p\n",
            events,
            "the time before it in session a; the clock was put back, as where summer time ends",
        ),
        (
            "a,23:59:58,2,0,p\na,00:00:01,2,0,p\n",
            events,
            "the time before it in session a; at midnight, hours begin anew",
        ),
        (
            "a,23:59:58,2,0,p\n",
            "session,time\na,0:00:01\n",
            "events.csv, line 2, column `time`: `0:00:01` is not near its session, which lasts from 23:59:58 to 23:59:58; past midnight",
        ),
        (
            "a,12:30,2,0,p\n",
            events,
            "`12:30` is not a time that can be read; it may be hours and minutes, or minutes and seconds",
        ),
        (date, "session,time\na,31.05.2024 10:00\n", "write 2024-05-31T10:00:00"),
        (
            date,
            "session,time\na,45443.585764\n",
            "without a zone, as its session has them; it looks like days, as spreadsheets count",
        ),
        (
            "a,45443.585764,2,0,p\na,45443.585799,2,0,p\n",
            events,
            "instances.csv: session a: times such as 45443.585799 look like days, as spreadsheets",
        ),
        ("a,1,2,5,0,p\n", events, "6 cells, expected 5 as in the header; decimals need a point"),
        (
            "a,1,\"2,5\",0,p\n",
            events,
            "`2,5` is not a finite number; decimals need a point: write 2.5",
        ),
        ("", events, "instances.csv: it has a header and no instances"),
    ] {
        let error = read(&format!("{instances}{rows}"), events).unwrap_err().to_string();
        assert!(error.contains(expected), "{rows:?}, {events:?}: {error}");
    }
}

#[test]
fn tables_as_a_whole() {
    let good: (&str, &[u8]) = ("instances.csv", b"session,time,x\na,1,2\n");
    let packed = gzip(&[b"session,time,x\n".to_vec(), b"a,1,2\n".repeat(1000)].concat());
    let half = &packed[..packed.len() / 2];
    for (files, expected) in [
        (
            vec![("events.csv", &b"session,time\n"[..])],
            "there is no instances.csv or instances.tsv (.gz); there are events.csv",
        ),
        (vec![], "the folder is empty"),
        (vec![("instances.csv", &b"session,time\na,1\n"[..])], "no column left for a feature"),
        (
            vec![("instances.csv", b"session,x\na,1\n")],
            "it has no column `time`; it has `session`, `x`",
        ),
        (vec![("instances.csv", b"time,x,x\n1,2,3\n")], "line 1: the header has two columns `x`"),
        (
            vec![("instances.csv", b"time,x,\n1,2,3\n")],
            "line 1: column 3 of the header has no name",
        ),
        (
            vec![("instances.csv", b"time,x\n1,\xe9\n")],
            "instances.csv, line 2: bytes that are not UTF-8",
        ),
        (vec![("instances.csv", b"\xff\xfet\0i\0")], "UTF-16"),
        (vec![("instances.csv", b"t\0i\0m\0e\0")], "zero bytes"),
        (vec![("instances.csv", b"PAR1xxxx")], "Parquet"),
        (vec![("instances.csv", b"time,x\r1,2\r")], "carriage returns alone"),
        (vec![("instances.csv", half)], "instances.csv: the gzip file is cut short or damaged"),
        (
            vec![("instances.csv", b"time,x\n1,\"2\n2,3\n3,4\n")],
            "line 2, column `x`: `2\\n2,3\\n3,4` is not",
        ),
        (
            vec![good, ("sessions.csv", b"session,sex\na,f\n")],
            "sessions.csv: it has no column `subject`",
        ),
        (
            vec![good, ("sessions.csv", b"session,group\na,p\na,q\n")],
            "sessions.csv, line 3, column `group`: `q` is not p, the subject given before",
        ),
        (
            vec![good, ("observed.csv", b"session,start,end\nb,1,2\n")],
            "observed.csv, line 2, column `session`: `b` is not a session that has instances",
        ),
        (
            vec![good, ("observed.csv", b"session,start,end\na,1,noon\n")],
            "observed.csv, line 2, column `end`: `noon` is not a number",
        ),
        (
            vec![good, ("observed.csv", b"session,start,stop\na,1,2\n")],
            "observed.csv: it has no column `end`",
        ),
        (vec![good, ("observed.csv", b"session,start,end\n")], "observed.csv: it has no intervals"),
        (
            vec![good, ("sessions.csv", b"session,subject\nA,p\n")],
            "sessions.csv: it names no session of",
        ),
        (
            vec![good, ("instances.csv.gz", b"")],
            "instances.csv.gz are both there; which one is meant?",
        ),
        (
            vec![good, ("events.tsv", b"session\ttime\n"), ("events.csv", b"session,time\n")],
            "events.tsv are both there; which one is meant?",
        ),
        (
            vec![("instances.csv", b"a,1,2\na,2,2\n")],
            "instances.csv, line 1: the header has numbers for names (a, 1, 2)",
        ),
    ] {
        let error = message(&files, &Columns::default());
        assert!(error.contains(expected), "{expected}: {error}");
    }
}

#[test]
fn columns_that_were_asked_for() {
    let table: (&str, &[u8]) = ("instances.csv", b"rec,time,x,label\na,1,2,0\n");
    let owned = |name: &str| name.to_owned();
    let usual = Columns::default;
    for (columns, expected) in [
        (Columns { session: owned("recs"), ..usual() }, "no column `recs`; did you mean `rec`?"),
        (
            Columns { label: owned("truth"), ..usual() },
            "no column `truth`; it has `rec`, `time`, `x`, `label`",
        ),
        (Columns { ignore: vec![owned("z")], ..usual() }, "no column `z`"),
        (Columns { features: Some(vec![owned("q")]), ..usual() }, "no column `q`"),
        (Columns { features: Some(vec![]), ..usual() }, "no column left for a feature"),
        (
            Columns { features: Some(vec![owned("x"), owned("label")]), ..usual() },
            "its label is listed among the features",
        ),
    ] {
        let error = message(&[table], &columns);
        assert!(error.contains(expected), "{expected}: {error}");
    }
}

#[test]
fn columns_without_names_are_asked_for_by_number() {
    let owned = |name: &str| name.to_owned();
    let unnamed = Columns { has_header: false, ..Columns::default() };
    let text: (&str, &[u8]) = ("instances.csv", b"a,1,2\na,2,2\nb,1,2\n");
    let error = message(&[text], &unnamed);
    assert!(
        error.ends_with("there is no header, so that its 3 columns are called by their numbers"),
        "{error}"
    );
    let timed = Columns { time: owned("2"), ..unnamed };
    let error = message(&[text], &timed);
    assert!(error.contains("if column 1 is no feature but the session, say so"), "{error}");
    let named = Columns { session: owned("1"), ..timed };
    let error = message(&[text, ("events.csv", b"1\n")], &named);
    assert!(error.contains("events.csv: it has no column `2`; there is no header"), "{error}");
    // Tables beside have their columns in the usual order.
    let tables =
        [text, ("sessions.csv", &b"b,eve\na,adam\n"[..]), ("observed.csv", &b"a,0,1\n"[..])];
    let dataset = Folder::with(&tables).read_with(&named, false).unwrap();
    assert_eq!(dataset.recordings[1].session.subject(), Some("eve"));
    assert_eq!(dataset.recordings[0].session.observed(), Some(&[(0.0, 1.0)][..]));
    for (name, bytes, expected) in [
        ("sessions.csv", &b"a,adam,7\n"[..], "3 columns, expected two: session and subject"),
        ("observed.csv", &b"1,2\n"[..], "2 columns, expected three: session, start and end"),
    ] {
        let error = message(&[text, (name, bytes)], &named);
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn a_table_that_is_read_in_pieces_has_instances_too() {
    let folder = Folder::with(&[("instances.csv", b"time,x\n")]);
    let path = folder.0.path().join("instances.csv");
    let mut chunks = InstanceChunks::open(&path, &Columns::default()).unwrap();
    let error = chunks.next(&mut Chunk::default(), 10).unwrap_err().to_string();
    assert!(error.ends_with("it has a header and no instances"), "{error}");
}

#[test]
fn several_sessions_need_names() {
    let error = read("session,time,x\na,1,2\nb,1,2\n", "time\n1\n").unwrap_err().to_string();
    assert!(error.contains("there are 2 sessions that an event may belong to"), "{error}");
}

#[test]
fn wild_names_and_values_do_not_reach_the_terminal() {
    let wild = "\u{1b}[2J".to_owned() + &"w".repeat(5000);
    let tables = [
        (format!("time,{wild}\n1,b\u{7}ad\n"), Columns::default()),
        (format!("session,time,x\n{wild},2,1\n{wild},1,1\n"), Columns::default()),
        (format!("time,{wild}\n"), Columns { label: "truth".to_owned(), ..Columns::default() }),
        (format!("time,x\n{wild},1\n"), Columns { times_in: TimeUnit::Ns, ..Columns::default() }),
    ];
    for (text, columns) in tables {
        let error = message(&[("instances.csv", text.as_bytes())], &columns);
        assert!(!error.contains(char::is_control) && error.len() < 1000, "{error:?}");
    }
}
