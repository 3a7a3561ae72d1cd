use crate::folder::Folder;

#[test]
fn more_sessions_and_labels_are_planned_and_drawn() {
    let folder = Folder::with_data();
    let err = folder.fails(2, &["plan", "data"]);
    assert!(err.contains("make one with `unjitter fit`"), "{err}");
    folder.ok(&["fit", "data"]);
    let out = folder.ok(&["plan", "data", "--more", "4,12", "--figures", "figures"]);
    for expected in ["4 sessions with", "A stamp of this annotator is worth 0.", "as good as"] {
        assert!(out.contains(expected), "{expected} is missing from {out}");
    }
    let drawn = folder.read("figures/plan.svg");
    assert!(drawn.contains("What more sessions would bring"), "{drawn}");
    assert!(folder.fails(4, &["plan", "data", "--figures", "figures"]).contains("plan.svg"));

    let words = ["plan", "data", "--more", "4,12", "--labelled", "2", "--json"];
    let result = folder.ok_json(&words);
    assert_eq!(result["sessions"], 4);
    assert_eq!(result["more"][1]["sessions"], 16);
    assert_eq!((&result["labelled"][0]["labelled"], &result["refits"]), (&2.into(), &().into()));
    let width = |row: &serde_json::Value| row["widths"]["delay"].as_f64().unwrap();
    let (now, then) = (width(&result["now"]), width(&result["more"][1]));
    // Four times the sessions, and a prior that hardly matters to the delay.
    assert!((then / now - 0.5).abs() < 0.05, "{now} becomes {then}");
    assert_eq!(result, folder.ok_json(&words), "the same data, the same plan");
    assert!(result["labelled"][0]["as_good_as"].as_f64().unwrap() > 0.0, "{result}");
}

#[test]
fn refits_are_a_column() {
    let folder = Folder::with_data();
    folder.ok(&["fit", "data"]);
    let out = folder.ok(&["plan", "data", "--more", "4", "--refits", "1"]);
    assert!(out.contains("F1 by refits"), "{out}");
}

#[test]
fn mistakes_are_named_before_the_work() {
    let folder = Folder::with_data();
    folder.ok(&["fit", "data"]);
    let err = folder.fails(2, &["plan", "data", "--labelled", "5"]);
    assert!(err.contains("number of sessions to label is 5, expected a number from 1 to"), "{err}");
    let err = folder.fails(2, &["plan", "data", "--more", "x"]);
    assert!(err.contains("--more"), "{err}");
    folder.ok(&["simulate", "-o", "other", "--seed", "9"]);
    let run = folder.run(&["plan", "other"]);
    assert!(run.code == 0 && run.err.contains("fitted to other data"), "{}", run.err);
}
