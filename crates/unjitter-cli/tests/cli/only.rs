//! Some events of a larger table.

use crate::folder::{Folder, small};

/// The small data with a column for the kind of event, every second one a sneeze far from any
/// cough, and columns that the events call otherwise.
fn with_classes() -> Folder {
    let folder = Folder::with_small_data();
    let mut events = String::from("rec,at,class,note\n");
    for (k, line) in folder.read("events.csv").lines().skip(1).enumerate() {
        let cells: Vec<&str> = line.rsplit(',').collect();
        let (session, time) = (cells[2], cells[1]);
        events += &format!("{session},{time},cough,n{k}\n{session},13.5,sneeze,m{k}\n");
    }
    folder.write("events.csv", &events);
    folder
}

/// Names of the events' columns.
const COLUMNS: [&str; 4] = ["--event-session-column", "rec", "--event-time-column", "at"];

fn words<'a>(verb: &'a str, further: &[&'a str]) -> Vec<&'a str> {
    small(verb, &[&COLUMNS[..], further].concat())
}

#[test]
fn every_verb_that_reads_events_takes_some() {
    let folder = with_classes();
    let stamps = |only: &[&str]| {
        let words = words("inspect", &[&["--json"], only].concat());
        folder.ok_json(&words)["summary"]["stamps"].as_u64().unwrap()
    };
    assert_eq!(stamps(&[]), 48);
    assert_eq!(stamps(&["--only", "class=cough"]), 24);
    // Who has chosen one kind is not told that there are several.
    let told = |only: &[&str]| folder.ok(&words("inspect", only)).contains("kinds apart");
    assert!(told(&[]) && !told(&["--only", "class=cough"]));
    assert_eq!(stamps(&["--only", "class=cough,sneeze"]), 48);
    assert_eq!(stamps(&["--only", "class=cough", "--only", "class=sneeze"]), 48);
    assert_eq!(stamps(&["--only", "class=cough", "--only", "note=n0,m0"]), 1);
    let fit = words("fit", &["--only", "class=cough", "--restarts", "0", "--json"]);
    assert_eq!(folder.ok_json(&fit)["stamps"], 24);
    folder.ok(&words("evaluate", &["--only", "class=cough", "--folds", "2", "--learners", "LR-N"]));
    folder.ok(&words("report", &["--only", "class=cough"]));
}

#[test]
fn a_model_knows_which_events_it_is_for() {
    let folder = with_classes();
    folder.ok(&words("fit", &["--only", "class=cough", "--restarts", "0"]));
    // Neither the names nor the class are said again.
    let align = ["align", "--instances", "instances.csv", "--events", "events.csv"];
    let run = folder.run(&align);
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(
        run.err.contains("only events with class=cough, as the model was fitted"),
        "{}",
        run.err
    );
    let (given, aligned) = (folder.read("events.csv"), folder.read("aligned.csv"));
    assert_eq!(
        aligned.lines().next(),
        Some("rec,at,class,note,stamp,low,high,instance_time,p_spurious")
    );
    let cells = |line: &str| line.split(',').map(str::to_owned).collect::<Vec<String>>();
    for (before, after) in given.lines().zip(aligned.lines()).skip(1) {
        let (before, after) = (cells(before), cells(after));
        assert_eq!(after[4], before[1], "the stamp is what was pressed");
        match before[2].as_str() {
            "sneeze" => {
                assert_eq!((&after[..4], after[5..].concat()), (&before[..], String::new()))
            }
            _ => assert!(after[5..].iter().all(|cell| !cell.is_empty()), "{after:?}"),
        }
    }
    let further = ["--only", "", "--json", "-o", "all.csv", "--missed", "m.csv"];
    let all = folder.ok_json(&[&align[..], &further].concat());
    assert_eq!(all["stamps"], 48);
    // Aligned a second time for the others, the first keep their values.
    let table = ["--events", "aligned.csv", "--event-time-column", "stamp"];
    let further = ["--only", "class=sneeze", "-o", "both.csv", "--missed", "n.csv"];
    folder.ok(&[&align[..3], &table, &further].concat());
    let both = folder.read("both.csv");
    assert_eq!(both.lines().next(), aligned.lines().next());
    for (first, second) in aligned.lines().zip(both.lines()).skip(1) {
        assert!(cells(second).iter().all(|cell| !cell.is_empty()), "{second}");
        assert_eq!(first == second, first.contains("cough"), "{first} became {second}");
    }
}

#[test]
fn what_is_not_there_is_told() {
    let folder = with_classes();
    for (code, only, expected) in [
        (
            3,
            "class=caugh",
            "events.csv: no event has `caugh` in column `class`; it has `cough`, `sneeze`",
        ),
        (3, "clas=cough", "events.csv: it has no column `clas`; did you mean `class`?"),
        (2, "cough", "--only cough: expected COLUMN=VALUE, such as class=cough"),
    ] {
        for verb in ["fit", "inspect", "evaluate"] {
            let err = folder.fails(code, &words(verb, &["--only", only]));
            assert!(err.contains(expected), "{err}");
        }
    }
    let err = folder.fails(2, &["inspect", "instances.csv", "--only", "class=cough"]);
    assert!(err.contains("--only chooses events, and there is no table of them"), "{err}");
}

#[test]
fn a_file_of_options_chooses_too() {
    let folder = with_classes();
    for text in ["only = \"class=cough\"\n", "[only]\nclass = [\"cough\"]\nnote = \"n0\"\n"] {
        folder.write("options.toml", text);
        let found = folder.ok_json(&words("inspect", &["--json", "--config", "options.toml"]));
        let expected = if text.contains("n0") { 1 } else { 24 };
        assert_eq!(found["summary"]["stamps"], expected, "{text}");
    }
    // The command line wins.
    let all = ["--json", "--config", "options.toml", "--only", ""];
    assert_eq!(folder.ok_json(&words("inspect", &all))["summary"]["stamps"], 48);
}
