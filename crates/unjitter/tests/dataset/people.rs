//! Who gave each stamp, and what sessions have in common.

use unjitter::io::{Columns, Dataset};
use unjitter::{Result, Session};

use super::{Folder, gzip};

const INSTANCES: &[u8] = b"session,time,x\na,0,1\na,10,2\nb,0,3\nc,0,3\n";
const EVENTS: &[u8] = b"session,time,annotator,class\n\
    a,5,ben,cough\na,1,ada,cough\nb,2, ben ,sneeze\na,5,ada,sneeze\n";
const SESSIONS: &[u8] = b"session,annotators\na,ben;ada\nb,ada; ben\nc,ada\n";

fn read(files: &[(&str, &[u8])], columns: &Columns) -> Result<Dataset> {
    let mut all = vec![("instances.csv", INSTANCES)];
    all.extend(files);
    Folder::with(&all).read_with(columns, false)
}

fn session(dataset: &Dataset, k: usize) -> &Session<'static> {
    &dataset.recordings[k].session
}

/// The streams of a session.
fn streams(session: &Session<'_>) -> Vec<(String, Vec<f64>)> {
    let name = |name: Option<&str>| name.unwrap_or("nobody").to_owned();
    session.streams().into_iter().map(|(who, stamps)| (name(who), stamps)).collect()
}

fn stream(name: &str, stamps: &[f64]) -> (String, Vec<f64>) {
    (name.to_owned(), stamps.to_vec())
}

#[test]
fn stamps_of_each_annotator_are_a_stream() {
    let dataset = read(&[("events.csv", EVENTS)], &Columns::default()).unwrap();
    let a = session(&dataset, 0);
    assert_eq!(a.annotators(), ["ada", "ben"]);
    assert_eq!(streams(a), [stream("ada", &[1.0, 5.0]), stream("ben", &[5.0])]);
    // Stamps at one time keep the order of their lines, and each its annotator.
    assert_eq!((a.stamps(), &dataset.stamp_rows[0][..]), (&[1.0, 5.0, 5.0][..], &[1, 0, 3][..]));
    assert_eq!((0..3).map(|l| a.annotator_of(l)).collect::<Vec<_>>(), [0, 1, 0].map(Some));
    assert_eq!(streams(session(&dataset, 1)), [stream("ben", &[2.0])]);
    assert_eq!(streams(session(&dataset, 2)), [stream("nobody", &[])]);
}

#[test]
fn a_column_with_another_name_must_be_there() {
    let renamed = String::from_utf8(EVENTS.to_vec()).unwrap().replace("annotator", "rater");
    let events = [("events.csv", renamed.as_bytes())];
    let unknown = read(&events, &Columns::default()).unwrap();
    assert_eq!(streams(session(&unknown, 0)), [stream("nobody", &[1.0, 5.0, 5.0])]);
    let columns = |name: &str| Columns { annotator: name.to_owned(), ..Columns::default() };
    let known = read(&events, &columns("rater")).unwrap();
    assert_eq!(session(&known, 0).annotators(), ["ada", "ben"]);
    let error = read(&events, &columns("raters")).unwrap_err().to_string();
    assert!(
        error.contains("events.csv: it has no column `raters`; did you mean `rater`?"),
        "{error}"
    );
}

#[test]
fn a_table_of_sessions_tells_what_they_share_and_who_annotated_them() {
    let sessions: &[u8] = b"session\tclock\tdevice\tsubject\tannotators\n\
        b\tphone\twatch 2\teve\tada; ben\na\tphone\t\tadam\t\nelse\tx\tx\tx\tx\na\tphone\twatch 1\t\t\nc\t\t\t\tada;cy\n";
    for (name, bytes) in [("sessions.tsv", sessions.to_vec()), ("sessions.tsv.gz", gzip(sessions))]
    {
        let dataset = read(&[("events.csv", EVENTS), (name, &bytes)], &Columns::default()).unwrap();
        let [a, b, c] = [0, 1, 2].map(|k| session(&dataset, k));
        assert_eq!(
            (a.subject(), a.device(), a.clock()),
            (Some("adam"), Some("watch 1"), Some("phone"))
        );
        assert_eq!(
            (b.subject(), b.device(), b.clock()),
            (Some("eve"), Some("watch 2"), Some("phone"))
        );
        assert_eq!((c.subject(), c.device(), c.clock()), (None, None, None));
        assert_eq!(streams(a), [stream("ada", &[1.0, 5.0]), stream("ben", &[5.0])]);
        assert_eq!(streams(b), [stream("ada", &[]), stream("ben", &[2.0])]);
        assert_eq!(streams(c), [stream("ada", &[]), stream("cy", &[])]);
    }
    let renamed: &[u8] = b"session,who,phone,raters\na,watch,p1,ada;ben\n";
    let columns = Columns {
        device: "who".to_owned(),
        clock: "phone".to_owned(),
        annotators: "raters".to_owned(),
        ..Columns::default()
    };
    let dataset = read(&[("events.csv", EVENTS), ("sessions.csv", renamed)], &columns).unwrap();
    assert_eq!(
        (session(&dataset, 0).device(), session(&dataset, 0).clock()),
        (Some("watch"), Some("p1"))
    );
    let unnamed =
        Columns { session: "1".to_owned(), time: "2".to_owned(), has_header: false, ..columns };
    let unnamed = Columns {
        device: "3".to_owned(),
        clock: "4".to_owned(),
        annotators: "5".to_owned(),
        ..unnamed
    };
    let folder = Folder::with(&[
        ("instances.csv", b"a,0,1\n"),
        ("events.csv", b"a,5,ben\n"),
        ("sessions.csv", b"a,adam,watch,p1,ben;ada\n"),
    ]);
    let unnamed = Columns { annotator: "3".to_owned(), ..unnamed };
    let dataset = folder.read_with(&unnamed, false).unwrap();
    let a = session(&dataset, 0);
    assert_eq!((a.subject(), a.device(), a.clock()), (Some("adam"), Some("watch"), Some("p1")));
    assert_eq!(streams(a), [stream("ada", &[]), stream("ben", &[5.0])]);
}

#[test]
fn the_only_annotator_of_a_session_gave_its_stamps() {
    let events: &[u8] = b"session,time\na,1\n";
    let sessions: &[u8] = b"session,annotators\na,ada\nb,ada;ben\n";
    let dataset =
        read(&[("events.csv", events), ("sessions.csv", sessions)], &Columns::default()).unwrap();
    assert_eq!(streams(session(&dataset, 0)), [stream("ada", &[1.0])]);
    assert_eq!(streams(session(&dataset, 1)), [stream("ada", &[]), stream("ben", &[])]);
}

#[test]
fn without_a_column_all_stamps_are_those_of_one() {
    let columns = Columns { annotator: String::new(), ..Columns::default() };
    let files = [("events.csv", EVENTS), ("sessions.csv", SESSIONS)];
    let dataset = read(&files, &columns).unwrap();
    assert_eq!(streams(session(&dataset, 0)), [stream("nobody", &[1.0, 5.0, 5.0])]);
}

#[test]
fn those_who_are_not_chosen_did_not_annotate() {
    let only = |column: &str, value: &str| Columns {
        only: [(column.to_owned(), vec![value.to_owned()])].into(),
        ..Columns::default()
    };
    let observed: &[u8] = b"session,start,end\nc,0,1\n";
    let files = [("events.csv", EVENTS), ("sessions.csv", SESSIONS), ("observed.csv", observed)];
    let coughs = read(&files, &only("class", "cough")).unwrap();
    assert_eq!(streams(session(&coughs, 1)), [stream("ada", &[]), stream("ben", &[])]);
    let of_ben = read(&files, &only("annotator", "ben")).unwrap();
    assert_eq!(streams(session(&of_ben, 0)), [stream("ben", &[5.0])]);
    assert_eq!(streams(session(&of_ben, 1)), [stream("ben", &[2.0])]);
    // Ada alone annotated c, so that nothing is known of Ben's events there.
    assert_eq!(session(&of_ben, 2).observed(), Some(&[][..]));
    assert_eq!(session(&coughs, 2).observed(), Some(&[(0.0, 1.0)][..]));
}

#[test]
fn contradictions_are_named() {
    let events = |text: &'static [u8]| ("events.csv", text);
    let sessions = |text: &'static [u8]| ("sessions.csv", text);
    for (files, expected) in [
        (
            vec![events(b"session,time,annotator\na,1,ada\na,2,\n")],
            "events.csv, line 3, column `annotator`: `` is not a name, as other stamps of session a have",
        ),
        (
            vec![events(b"session,time,annotator\na,1,Ada\n"), sessions(SESSIONS)],
            "events.csv, line 2, column `annotator`: `Ada` is not one of those who annotated session a: `ben`, `ada`",
        ),
        (
            vec![events(b"session,time,annotator\na,1,\n"), sessions(SESSIONS)],
            "events.csv, line 2, column `annotator`: `` is not one of those who annotated session a",
        ),
        (
            vec![events(b"session,time\nc,1\na,1\n"), sessions(SESSIONS)],
            "events.csv: it has no column `annotator`; the stamp in line 3 must name one of those who annotated session a: `ben`, `ada`",
        ),
        (
            vec![sessions(b"session,annotators\na,ada;;ben\n")],
            "sessions.csv, line 2, column `annotators`: `ada;;ben` is not names of annotators with `;` between",
        ),
        (
            vec![sessions(b"session,device\n,watch\n")],
            "sessions.csv, line 2, column `session`: `` is not the name of a session",
        ),
        (
            vec![sessions(b"session,clock\na,p1\na,p2\n")],
            "sessions.csv, line 3, column `clock`: `p2` is not p1, the clock given before",
        ),
        (vec![sessions(b"session,device\nA,watch\n")], "sessions.csv: it names no session of"),
        (
            vec![sessions(b"session,devise\na,watch\n")],
            "sessions.csv: it has no column `subject`; it has `session`, `devise`",
        ),
    ] {
        let error = read(&files, &Columns::default()).unwrap_err().to_string();
        assert!(error.contains(expected), "{expected}: {error}");
    }
    let both = Folder::with(&[
        ("instances.csv", b"session,time,x,subject\na,0,1,eve\n"),
        ("sessions.csv", b"session,subject\na,adam\n"),
    ]);
    let error = both.read().unwrap_err().to_string();
    assert!(error.contains("sessions.csv, line 2, column `subject`: `adam` is not eve, the subject of its instances in "), "{error}");
    assert!(error.ends_with("instances.csv"), "{error}");
}
