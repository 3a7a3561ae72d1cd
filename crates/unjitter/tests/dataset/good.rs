//! Tables as people have them.

use unjitter::io::{Columns, Dataset, TimeUnit};

use super::{Folder, gzip, read};

const INSTANCES: &str = "session,time,x,y,label\na,1,0.5,-2,0\na,2,1.5,3e2,1\nb,1,7,8,\n";
const EVENTS: &str = "session,time\na,1.5\nb,0.25\na,0.5\n";

/// The dataset above, however it was written.
fn assert_read(dataset: &Dataset, what: &str) {
    assert_eq!(dataset.features, ["x", "y"], "{what}");
    let [a, b] = &dataset.recordings[..] else { panic!("{what}: {dataset:?}") };
    assert_eq!((a.session.name(), b.session.name()), ("a", "b"), "{what}");
    assert_eq!((a.session.times(), b.session.times()), (&[1.0, 2.0][..], &[1.0][..]), "{what}");
    assert_eq!(a.session.features().row(1), [1.5, 300.0], "{what}");
    assert_eq!(a.session.stamps(), [0.5, 1.5], "{what}");
    assert_eq!(b.session.stamps(), [0.25], "{what}");
    assert_eq!(dataset.stamp_rows, [vec![2, 0], vec![1]], "{what}");
    assert_eq!(a.truth.as_deref(), Some(&[false, true][..]), "{what}");
    assert_eq!(b.truth, None, "{what}");
}

#[test]
fn the_same_table_in_any_dress() {
    let dressed = |change: &dyn Fn(&str) -> Vec<u8>, ending: &str| {
        let folder = Folder::new();
        folder.write(&format!("instances.{ending}"), &change(INSTANCES));
        folder.write(&format!("events.{ending}"), &change(EVENTS));
        folder.read().unwrap()
    };
    let plain = |text: &str| text.as_bytes().to_vec();
    let separated = |by: &'static str| move |text: &str| text.replace(',', by).into_bytes();
    assert_read(&dressed(&plain, "csv"), "plain");
    assert_read(&dressed(&separated("\t"), "tsv"), "tabs");
    assert_read(&dressed(&separated("\t"), "csv"), "tabs in a file called csv");
    assert_read(&dressed(&separated(";"), "csv"), "semicolons");
    assert_read(&dressed(&separated(" , "), "csv"), "blanks");
    assert_read(&dressed(&|text| text.replace('\n', "\r\n").into(), "csv"), "line ends");
    assert_read(&dressed(&|text| format!("\u{feff}{text}").into(), "csv"), "byte order mark");
    assert_read(&dressed(&|text| text.trim_end().into(), "csv"), "no last line end");
    assert_read(&dressed(&|text| text.replace('\n', "\n\n").into(), "csv"), "blank lines");
    assert_read(&dressed(&|text| gzip(text.as_bytes()), "csv.gz"), "packed");
    assert_read(&dressed(&|text| gzip(text.as_bytes()), "csv"), "packed, not called so");
    let halves = |text: &str| {
        let (one, two) = text.as_bytes().split_at(20);
        [gzip(one), gzip(two)].concat()
    };
    assert_read(&dressed(&halves, "csv.gz"), "packed in two members");
    let quoted = |text: &str| {
        let cell = |cell: &str| format!("\"{cell}\"");
        let line = |line: &str| line.split(',').map(cell).collect::<Vec<_>>().join(",") + "\r\n";
        text.lines().map(line).collect::<String>().into_bytes()
    };
    assert_read(&dressed(&quoted, "csv"), "all quoted");
}

#[test]
fn mixed_rows_and_names_with_anything_in_them() {
    let dataset = read(
        "session,time,x\n\"b, \"\"the\nsecond\",1,1\na,5,2\n\"b, \"\"the\nsecond\",3,3\n",
        "note,session,time\n\"x,y\",a,6\n,\"b, \"\"the\nsecond\",2\n",
    )
    .unwrap();
    let names: Vec<&str> = dataset.recordings.iter().map(|r| r.session.name()).collect();
    assert_eq!(names, ["b, \"the\nsecond", "a"]);
    assert_eq!(dataset.recordings[0].session.times(), [1.0, 3.0]);
    assert_eq!(dataset.recordings[0].session.stamps(), [2.0]);
    assert_eq!(dataset.position("a"), Some(1));
    assert_eq!(dataset.position("c"), None);
}

#[test]
fn columns_by_other_names() {
    let folder = Folder::with(&[
        ("instances.csv", b"when,who,rec,y,b,a,junk,label\n10,p,r1,1,2,3,zzz,high\n"),
        ("events.csv", b"rec,when\nr1,20\n"),
    ]);
    let owned = |name: &str| name.to_owned();
    let mut columns = Columns {
        session: owned("rec"),
        time: owned("when"),
        label: owned("y"),
        subject: owned("who"),
        ignore: vec![owned("junk"), owned("label")],
        times_in: TimeUnit::Ms,
        ..Columns::default()
    };
    let dataset = folder.read_with(&columns, false).unwrap();
    assert_eq!(dataset.features, ["b", "a"]);
    let recording = &dataset.recordings[0];
    assert_eq!(recording.session.subject(), Some("p"));
    assert_eq!(recording.session.times(), [0.01]);
    assert_eq!(recording.session.stamps(), [0.02]);
    assert_eq!(recording.truth.as_deref(), Some(&[true][..]));
    columns.features = Some(vec![owned("a"), owned("b")]);
    let chosen = folder.read_with(&columns, false).unwrap();
    assert_eq!(chosen.recordings[0].session.features().row(0), [3.0, 2.0]);
}

#[test]
fn a_table_without_sessions_is_one() {
    let dataset = read("time,x\n1,2\n2,3\n", "time\r\n1.5\r\n\r\n").unwrap();
    assert_eq!(dataset.recordings.len(), 1);
    assert_eq!(dataset.recordings[0].session.name(), "instances");
    assert_eq!(dataset.recordings[0].session.stamps(), [1.5]);
}

#[test]
fn an_ignored_label_is_not_read() {
    let folder = Folder::with(&[("instances.csv", b"time,x,label\n1,2,high\n")]);
    assert!(folder.read().is_err());
    let columns = Columns { ignore: vec!["label".to_owned()], ..Columns::default() };
    let dataset = folder.read_with(&columns, false).unwrap();
    assert_eq!((dataset.features.len(), &dataset.recordings[0].truth), (1, &None));
}

#[test]
fn times_in_every_form() {
    for (first, second, stamp, [time, pressed]) in [
        ("0", "2.5", "1e0", [2.5, 1.0]),
        ("0:00:00", "0:00:02.5", "0:00:01", [2.5, 1.0]),
        ("23:59:59", "24:00:01.5", "24:00:00", [86_401.5, 86_400.0]),
        ("1700000000.000000001", "1700000002.500000001", "1700000001.000000001", [2.5, 1.0]),
        ("2024-05-31T14:03:27", "2024-05-31T14:03:29.5", "2024-05-31 14:03:28", [2.5, 1.0]),
        ("2024-05-31T14:03:27Z", "2024-05-31T14:03:29.5Z", "2024-05-31T16:03:28+02:00", [2.5, 1.0]),
        (
            "2024-12-31T23:59:59+01:00",
            "2025-01-01T00:00:00+01:00",
            "2024-12-31T23:00:00Z",
            [1.0, 1.0],
        ),
    ] {
        let instances = format!("time,x\n{first},1\n{second},2\n");
        let dataset = read(&instances, &format!("time\n{stamp}\n")).unwrap();
        let session = &dataset.recordings[0].session;
        assert_eq!(session.times()[1], time, "{second}");
        assert_eq!(session.stamps(), [pressed], "{stamp}");
    }
}

#[test]
fn labels_are_truth_where_they_are_whole_and_known_where_they_are_asked_for() {
    let text = b"session,time,x,label\na,1,0,1\na,2,0,\na,3,0,0\nb,1,0,True\nc,1,0,NA\n";
    let folder = Folder::with(&[("instances.csv", text)]);
    let shy = folder.read().unwrap();
    let truth: Vec<_> = shy.recordings.iter().map(|r| r.truth.clone()).collect();
    assert_eq!(truth, [None, Some(vec![true]), None]);
    assert!(shy.recordings.iter().all(|recording| recording.session.labels().is_none()));
    let told = folder.read_with(&Columns::default(), true).unwrap();
    let labels = told.recordings[0].session.labels();
    assert_eq!(labels, Some(&[Some(true), None, Some(false)][..]));
    assert_eq!(told.recordings[2].session.labels(), None);
}

#[test]
fn subjects_and_observed_intervals_lie_beside() {
    let tables: [(&str, &[u8]); 4] = [
        ("instances.csv", b"session,time,x\na,0,1\na,9,1\nb,0,1\n"),
        ("events.csv", b"session,time\na,3\n"),
        ("sessions.csv", b"session,n,group\nb,7,eve\nnot kept,1,adam\na,2,\na,2,adam\na,2,adam\n"),
        ("observed.csv", b"session,start,end\na,5,8\na,2,4\n"),
    ];
    let dataset = Folder::with(&tables).read().unwrap();
    let subjects: Vec<_> = dataset.recordings.iter().map(|r| r.session.subject()).collect();
    assert_eq!(subjects, [Some("adam"), Some("eve")]);
    assert_eq!(dataset.recordings[0].session.observed(), Some(&[(2.0, 4.0), (5.0, 8.0)][..]));
    assert_eq!(dataset.recordings[1].session.observed(), None);
    assert!(dataset.recordings[0].session.observed_instances().is_empty());
}
