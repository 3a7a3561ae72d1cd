//! Bad input: where, what, and what was expected; nothing is lost and nothing is left behind.

use crate::folder::{Folder, small};

#[test]
fn bad_cells_are_named() {
    let folder = Folder::with_small_data();
    folder.ok(&small("fit", &[]));
    let (instances, events) = (folder.read("instances.csv"), folder.read("events.csv"));
    let cases = [
        (
            "instances.csv",
            "p0,2.5,0.2,2,0",
            "p0,2.5,abc,2,0",
            "instances.csv, line 3, column `x`: `abc` is not a finite number",
        ),
        (
            "instances.csv",
            "p0,2.5,0.2,2,0",
            "p0,2.5,,2,0",
            "line 3, column `x`: `` is not a finite number; fill in or drop",
        ),
        (
            "instances.csv",
            "p0,2.5,0.2,2,0",
            "p0,2.5,0.2,2,yes",
            "column `label`: `yes` is not a label: 0 or 1",
        ),
        (
            "instances.csv",
            "p0,2.5,0.2,2,0",
            "p0,noon,0.2,2,0",
            "column `when`: `noon` is not a number",
        ),
        (
            "instances.csv",
            "p0,2.5,0.2,2,0",
            "p0,0.25,0.2,2,0",
            "`0.25` is not at or after 0.5, the time before it in session p0",
        ),
        (
            "instances.csv",
            "p0,2.5,0.2,2,0",
            "p0,2.5,0.2,2",
            "instances.csv, line 3: 4 cells, expected 5",
        ),
        (
            "instances.csv",
            "who,when",
            "who,wen",
            "instances.csv: it has no column `when`; did you mean `wen`?",
        ),
        (
            "events.csv",
            "p0,9.25",
            "q0,9.25",
            "events.csv, line 2, column `who`: `q0` is not a session of instances.csv",
        ),
        ("events.csv", "p0,9.25", "p0,2024-01-01T00:00:00", "events.csv, line 2, column `when`"),
    ];
    for (file, from, to, expected) in cases {
        folder.write("instances.csv", &instances);
        folder.write("events.csv", &events);
        let broken = folder.read(file).replacen(from, to, 1);
        assert_ne!(broken, folder.read(file), "{from} is not there");
        folder.write(file, &broken);
        for verb in [
            small("fit", &["-o", "x.json"]),
            small("align", &["-o", "x.csv", "--missed", "y.csv"]),
            small("evaluate", &["-o", "x.json"]),
            small("report", &["-o", "x.html"]),
        ] {
            // Align and report do not evaluate, but still find mistakes in labels.
            let err = folder.fails(3, &verb);
            assert!(err.contains(expected), "{}: {err}", verb[0]);
        }
    }
}

#[test]
fn missing_data_and_models_are_explained() {
    let folder = Folder::with_data();
    let cases: [(i32, &[&str], &str); 7] = [
        (2, &["fit"], "no data: name a folder"),
        (1, &["fit", "nowhere"], "nowhere"),
        (2, &["align", "data"], "there is no model model.json; make one with `unjitter fit`"),
        (2, &["fit", "data", "--instances", "data/instances.csv"], "not both"),
        (2, &["fit", "--instances", "data/instances.csv"], "name one with --events"),
        (
            3,
            &["fit", "--instances", "data", "--events", "data/events.csv"],
            "it is a folder, expected a table",
        ),
        (1, &["evaluate", "data", "--events", "gone.csv"], "gone.csv"),
    ];
    for (code, arguments, expected) in cases {
        let err = folder.fails(code, arguments);
        assert!(err.contains(expected), "{arguments:?}: {err}");
    }
    std::fs::create_dir(folder.path("empty")).unwrap();
    let err = folder.fails(3, &["inspect", "empty"]);
    assert!(
        err.contains("there is no instances.csv or instances.tsv (.gz); the folder is empty"),
        "{err}"
    );
}

#[test]
fn spoilt_models_are_refused() {
    let folder = Folder::with_model();
    let model = folder.read("model.json");
    for (spoilt, expected) in [
        ("not json".to_owned(), "model file: spoilt.json: line 1"),
        (model[..model.len() / 2].to_owned(), "model file: spoilt.json: line"),
        (String::new(), "model file: spoilt.json: line 1"),
        (model.replacen("\"version\": 2", "\"version\": 9", 1), "spoilt.json: version: it is 9"),
    ] {
        folder.write("spoilt.json", &spoilt);
        let err = folder.fails(3, &["predict", "data", "--model", "spoilt.json"]);
        assert!(err.contains(expected), "{err}");
        assert_eq!(err.matches("spoilt.json").count(), 1, "{err}");
    }
}

#[test]
fn no_stamps_is_no_data() {
    let folder = Folder::with_small_data();
    folder.write("events.csv", "note,who,when,button\n");
    let err = folder.fails(3, &small("fit", &[]));
    assert!(err.contains("none of the 6 sessions has a stamp to learn from"), "{err}");
}

#[test]
fn the_option_that_helps_is_named() {
    let folder = Folder::new();
    folder.write("i.csv", "session,when,x\na,1,2\na,2,3\n");
    folder.write("v.csv", "rec,at\na,1\n");
    folder.write("bare.csv", "a,1,2\na,2,3\n");
    folder.write("numbers.csv", "1.5,2\n3,4\n");
    let (i, v) = (["fit", "--instances", "i.csv", "--events"], "--event-time-column");
    for (arguments, expected) in [
        (
            &["inspect", "i.csv"][..],
            "no column `time`; it has `session`, `when`, `x` (it may be named with --time-column)",
        ),
        (
            &[&i[..], &["v.csv", "--time-column", "when"]].concat(),
            "v.csv: it has no column `when`; it has `rec`, `at` (it may be named with --event-time-column)",
        ),
        (
            &[
                &i[..],
                &["v.csv", "--time-column", "when", v, "at", "--event-session-column", "who"],
            ]
            .concat(),
            "it has no column `who`",
        ),
        (
            &["inspect", "numbers.csv"],
            "numbers for names (1.5, 2); if there is no header, say --no-header",
        ),
        (
            &["inspect", "bare.csv"],
            "numbers for names (a, 1, 2); if there is no header, say --no-header",
        ),
        (
            &["inspect", "bare.csv", "--no-header"],
            "no column `time`; there is no header, so that its 3 columns are called by their numbers; name it by its number, as in --time-column 2",
        ),
        (&["inspect", "i.csv", "--time-column", "when", "--ignore", "y"], "no column `y`; it has"),
    ] {
        let err = folder.fails(3, arguments);
        assert!(err.contains(expected), "{arguments:?}: {err}");
    }
    folder.ok(&[
        "inspect",
        "bare.csv",
        "--no-header",
        "--time-column",
        "2",
        "--session-column",
        "1",
    ]);
}

#[test]
fn a_table_that_is_there_twice_must_be_named() {
    let folder = Folder::with_data();
    std::fs::copy(folder.path("data/events.csv"), folder.path("data/events.tsv")).unwrap();
    let err = folder.fails(3, &["fit", "data"]);
    assert!(
        err.contains("events.csv and data/events.tsv are both there; which one is meant?"),
        "{err}"
    );
    folder.ok(&["inspect", "data", "--events", "data/events.tsv"]);
}

#[test]
fn tables_without_lines_are_told() {
    let folder = Folder::with_model();
    let header = folder.read("data/instances.csv").lines().next().unwrap().to_owned();
    folder.write("i.csv", &header);
    let i = ["--instances", "i.csv"];
    for arguments in [
        &[&["predict"], &i[..], &["-o", "x"]].concat()[..],
        &[&["align"], &i[..], &["--events", "data/events.csv"]].concat(),
        &[&["inspect"], &i[..]].concat(),
    ] {
        let err = folder.fails(3, arguments);
        assert!(err.contains("i.csv: it has a header and no instances"), "{err}");
    }
}

#[test]
fn memory_has_a_limit_that_is_told() {
    let folder = Folder::with_small_data();
    let run = folder.run(&small("fit", &["--max-memory", "0.0000001"]));
    assert_eq!(run.code, 3, "{}", run.err);
    assert!(run.err.contains("most likely the stamps have another clock or unit"), "{}", run.err);
    let run = folder.run(&small("fit", &["--max-memory", "-1"]));
    assert_eq!(run.code, 2, "{}", run.err);
    folder.ok(&small("fit", &["--max-memory", "1"]));
}
