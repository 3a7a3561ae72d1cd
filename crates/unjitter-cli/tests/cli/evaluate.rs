use crate::folder::{Folder, small};

#[test]
fn learners_are_compared_on_held_out_sessions() {
    let folder = Folder::with_small_data();
    let out = folder.ok(&small("evaluate", &["--folds", "3"]));
    for learner in ["LR-M", "LR-H", "MI", "LR-N"] {
        assert!(out.contains(learner), "{out}");
    }
    let file = folder.json("evaluation.json");
    assert_eq!(file["folds"].as_array().unwrap().len(), 3);
    assert_eq!(file["learners"][0]["summary"]["labelled"]["scores"]["f1"], 1.0);
    assert_eq!(file["options"]["folds"]["folds"], 3);
    let again = folder.ok_json(&small("evaluate", &["--folds", "3", "--json", "-o", "again.json"]));
    assert_eq!(again[0], file["learners"][0]["summary"]);
    let learners = |name: &str| folder.json(name)["learners"].clone();
    assert_eq!(learners("evaluation.json"), learners("again.json"));
}

#[test]
fn learners_and_grids_can_be_chosen() {
    let folder = Folder::with_small_data();
    let arguments = ["--folds", "2", "--inner-folds", "2", "--learners", "nn-m,klr-h,lr-s"];
    let grid = ["--precisions", "0.1,10", "--hidden", "2", "--restarts", "0", "--json"];
    let result = folder.ok_json(&small("evaluate", &[&arguments[..], &grid].concat()));
    let names: Vec<&str> =
        result.as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["NN-M", "KLR-H", "LR-S"]);
    let err = folder.fails(2, &small("evaluate", &["--learners", "lr-x", "-o", "x"]));
    assert!(err.contains("there is no learner `lr-x`"), "{err}");
    let err = folder.fails(2, &small("evaluate", &["--threshold", "much", "-o", "x"]));
    assert!(err.contains("--threshold much: expected a number, best-f1 or expected-f1"), "{err}");
}

#[test]
fn without_labels_the_evidence_of_stamps_decides() {
    let folder = Folder::with_small_data();
    let bare = folder.read("instances.csv").replacen("label", "other", 1);
    folder.write("instances.csv", &bare);
    let arguments = ["--ignore", "other", "--folds", "2", "--inner-folds", "2"];
    let out = folder.ok(&small("evaluate", &[&arguments[..], &["--precisions", "0.1,1"]].concat()));
    assert!(out.contains("log evidence per stamp") && !out.contains("LR-H"), "{out}");
    for expected in
        ["behind the best", "best\n", " \u{b1} ", "weight_precision 0.1", "the simplest is"]
    {
        assert!(out.contains(expected), "{expected} is missing from {out}");
    }
    let arguments = [&arguments[..], &["--learners", "lr-h", "-o", "x"]].concat();
    let err = folder.fails(3, &small("evaluate", &arguments));
    assert!(err.contains("it has no hand-aligned labels"), "{err}");
}

#[test]
fn a_journal_is_gone_on_with_and_not_mixed_up() {
    let folder = Folder::with_small_data();
    let base = ["--folds", "2", "--learners", "lr-m,lr-n", "--journal", "journal.jsonl"];
    folder.ok(&small("evaluate", &base));
    let first = folder.json("evaluation.json");
    folder.ok(&small("evaluate", &[&base[..], &["-o", "again.json"]].concat()));
    assert_eq!(folder.json("again.json")["learners"], first["learners"]);
    let other = [&base[..], &["--seed", "1", "-o", "x.json"]].concat();
    let err = folder.fails(3, &small("evaluate", &other));
    assert!(err.contains("journal.jsonl"), "{err}");
}

#[test]
fn subjects_are_not_split() {
    let folder = Folder::with_small_data();
    folder.write("sessions.csv", "who,group\np0,a\np1,a\np2,a\np3,b\np4,b\np5,b\n");
    let arguments = ["--sessions", "sessions.csv", "--group-by", "subject", "--learners", "lr-m"];
    folder.ok(&small("evaluate", &arguments));
    let folds = folder.json("evaluation.json")["folds"].clone();
    let mut folds: Vec<Vec<String>> = serde_json::from_value(folds).unwrap();
    folds.sort();
    assert_eq!(folds, [["p0", "p1", "p2"], ["p3", "p4", "p5"]]);
}

#[test]
fn events_are_scored_within_a_tolerance() {
    let folder = Folder::with_small_data();
    let learners = ["--folds", "3", "--learners", "lr-h,lr-n"];
    let out = folder.ok(&small("evaluate", &learners));
    assert!(out.contains("event F1") && out.contains("false alarms per hour"), "{out}");
    // Instances are 2 s apart, events 20.
    assert!(out.contains("An event is found by a detection within 4 s of it."), "{out}");
    let events = |name: &str, learner: usize| {
        folder.json(name)["learners"][learner]["summary"]["labelled"]["events"].clone()
    };
    let found = events("evaluation.json", 0);
    assert_eq!((&found["hits"], &found["misses"]), (&24.into(), &0.into()));
    assert_eq!((&found["f1"], &found["false_alarms_per_hour"]), (&1.0.into(), &0.0.into()));
    assert_eq!((&found["tolerance"], &found["min_separation"]), (&4.0.into(), &0.0.into()));
    // No two events of a session are 100 s apart, so one is found in each, and nothing is exact to 0 s
    // but an instance itself.
    let strict = ["--tolerance", "0", "--min-separation", "100", "-o", "strict.json", "--json"];
    let result = folder.ok_json(&small("evaluate", &[&learners[..], &strict].concat()));
    let found = events("strict.json", 0);
    assert_eq!(result[0]["labelled"]["events"], found);
    assert_eq!((&found["hits"], &found["misses"]), (&6.into(), &18.into()));
    assert_eq!((&found["tolerance"], &found["min_separation"]), (&0.0.into(), &100.0.into()));
}

#[test]
fn folds_that_say_little_are_warned_of() {
    let folder = Folder::with_small_data();
    let run = folder.run(&small("evaluate", &["--learners", "lr-m,lr-n"]));
    assert_eq!(run.code, 0, "{}", run.err);
    let fewer = "warning: 6 folds instead of 10: there are only 6 sessions";
    assert!(run.err.contains(fewer), "{}", run.err);
    // All events of one session, and all but one of another, are forgotten.
    let mut kept = 0;
    let forgotten = folder.read("instances.csv").lines().fold(String::new(), |text, line| {
        let is_event = line.ends_with(",1");
        kept += usize::from(is_event && line.starts_with("p4"));
        let gone = line.starts_with("p3") || line.starts_with("p4") && kept > 1;
        let line = if is_event && gone { line.replace(",1", ",0") } else { line.to_owned() };
        format!("{text}{line}\n")
    });
    folder.write("instances.csv", &forgotten);
    let arguments = ["--learners", "lr-m,lr-n", "--folds", "6", "--force"];
    let run = folder.run(&small("evaluate", &arguments));
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(!run.err.contains("instead of"), "{}", run.err);
    for expected in ["1 of 6 folds have no positive", "1 of 6 folds have a single positive"] {
        assert!(run.err.contains(expected), "{}", run.err);
    }
    // Who reads the report learns of it too.
    folder.ok(&small("fit", &[]));
    folder.ok(&small("report", &["--evaluation", "evaluation.json"]));
    let page = folder.read("report.html");
    assert!(page.contains("1 of 6 folds have no positive instance"));
    assert!(page.contains("event F1") && page.contains("false alarms / h"));
}
