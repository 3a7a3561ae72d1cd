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
            // Align and report judge nothing: what is wrong with labels is found all the same.
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
        ("not json".to_owned(), "spoilt.json: model file"),
        (model[..model.len() / 2].to_owned(), "spoilt.json: model file"),
        (String::new(), "spoilt.json: model file"),
    ] {
        folder.write("spoilt.json", &spoilt);
        let err = folder.fails(3, &["predict", "data", "--model", "spoilt.json"]);
        assert!(err.contains(expected), "{err}");
    }
}

#[test]
fn no_stamps_is_no_data() {
    let folder = Folder::with_small_data();
    folder.write("events.csv", "note,who,when,button\n");
    let err = folder.fails(3, &small("fit", &[]));
    assert!(err.contains("none of the 6 sessions has a stamp to learn from"), "{err}");
}
