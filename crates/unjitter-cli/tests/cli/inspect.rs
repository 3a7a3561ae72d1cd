use crate::folder::{Folder, small};

#[test]
fn healthy_data_are_summed_up() {
    let folder = Folder::with_data();
    let out = folder.ok(&["inspect", "data", "--strict"]);
    for expected in
        ["sessions   4", "spacing", "positives", "Delay of stamps", "│", "Nothing looks wrong"]
    {
        assert!(out.contains(expected), "{expected} is missing from {out}");
    }
    let result = folder.ok_json(&["inspect", "data", "--json"]);
    assert_eq!(result["summary"]["sessions"], 4);
    // Without events there is something to say about instances all the same.
    let out = folder.ok(&["inspect", "--instances", "data/instances.csv"]);
    assert!(out.contains("instances"), "{out}");
}

#[test]
fn the_change_of_the_features_is_drawn() {
    let folder = Folder::with_data();
    let out = folder.ok(&["inspect", "data", "--figures", "figures"]);
    assert!(out.contains("\nchanges    features differ most "), "{out}");
    let drawn = folder.read("figures/changes.svg");
    assert!(drawn.contains("Where around the presses do the features change?"), "{drawn}");
    let words = ["inspect", "data", "--figures", "figures"];
    let err = folder.fails(4, &words);
    assert!(err.contains("changes.svg"), "{err}");
    folder.ok(&[&words[..], &["--force"]].concat());
    let result = folder.ok_json(&["inspect", "data", "--json"]);
    assert!(result["changes"]["peaks"][0]["lag"].is_number(), "{result}");
    // Nothing to draw without stamps.
    let words = ["inspect", "--instances", "data/instances.csv", "--figures", "none"];
    let out = folder.ok(&words);
    assert!(!out.contains("changes") && !folder.path("none/changes.svg").exists(), "{out}");
}

#[test]
fn what_looks_wrong_is_said_and_fails_when_strict() {
    let folder = Folder::with_small_data();
    let events = folder.read("events.csv");
    let shifted: String = events
        .lines()
        .map(|line| match line.rsplitn(3, ',').collect::<Vec<_>>()[..] {
            [button, time, rest] => match time.parse::<f64>() {
                Ok(seconds) => format!("{rest},{},{button}\n", seconds + 7200.0),
                Err(_) => format!("{line}\n"),
            },
            _ => unreachable!("every line has four cells"),
        })
        .collect();
    folder.write("events.csv", &shifted);
    let out = folder.ok(&small("inspect", &[]));
    assert!(out.contains("2 h"), "the clock is off by two hours: {out}");
    let result = folder.ok_json(&small("inspect", &["--json"]));
    assert_eq!(result["findings"][0]["kind"], "shifted_clock");
    assert_eq!(result["findings"][0]["severity"], "problem");
    assert!(result["findings"][0]["message"].as_str().unwrap().contains("2 h"), "{result}");
    let run = folder.run(&small("inspect", &["--strict"]));
    assert_eq!(run.code, 3, "{}", run.err);
    folder.write("events.csv", &events.replace(",p3,", ",P3x,"));
    let out = folder.ok(&small("inspect", &[]));
    assert!(out.contains("P3x"), "{out}");
}

#[test]
fn times_in_another_unit_are_told_with_the_option_that_helps() {
    let folder = Folder::new();
    let row = |k: u64| format!("{},{}\n", 1_700_000_000_000 + 1000 * k, (k as f64).sin());
    folder.write("walk.csv", &("time,x\n".to_owned() + &(0..50).map(row).collect::<String>()));
    let words = ["inspect", "--instances", "walk.csv"];
    let option = "milliseconds since 1970; if so, read them as such (--times-in ms)";
    let out = folder.ok(&words).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(out.contains(option), "{out}");
    let result = folder.ok_json(&[&words[..], &["--json"]].concat());
    assert!(result["findings"][0]["message"].as_str().unwrap().contains(option), "{result}");
}

/// The events of `data` with their times changed, in `wrong` beside its instances.
fn with_other_times(folder: &Folder, change: impl Fn(f64) -> f64) {
    let events: String = folder
        .read("data/events.csv")
        .lines()
        .map(|line| match line.split_once(',').map(|(session, time)| (session, time.parse())) {
            Some((session, Ok(time))) => format!("{session},{}\n", change(time)),
            _ => format!("{line}\n"),
        })
        .collect();
    folder.write("wrong.csv", &events);
}

#[test]
fn wrong_units_and_clocks_are_refused_before_any_work() {
    let folder = Folder::with_model();
    folder.ok(&["evaluate", "data", "--folds", "2", "--learners", "LR-N", "--quiet"]);
    let wrong = ["--instances", "data/instances.csv", "--events", "wrong.csv", "--quiet"];
    let verbs: [&[&str]; 4] = [
        &["fit", "-o", "new.json"],
        &["align", "-o", "new.csv", "--missed", "missed.csv"],
        &["evaluate", "--folds", "2", "--learners", "LR-N", "-o", "new.json"],
        &["report", "-o", "new.html"],
    ];
    for (words, factor, shift) in [("multiplied by 0.001", 1e3, 0.0), ("by -1 h", 1.0, 3600.0)] {
        with_other_times(&folder, |z| factor * z + shift);
        for verb in verbs {
            let err = folder.fails(3, &[verb, &wrong[..]].concat());
            assert!(err.contains(words) && err.contains("--anyway"), "{verb:?}: {err}");
        }
    }
    // With `--anyway` it goes on, with the same message as a warning.
    let run = folder.run(&[verbs[1], &wrong[..], &["--anyway"]].concat());
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.err.contains("warning: the stamps of 4 sessions"), "{}", run.err);
}

#[test]
fn fit_names_its_features_and_warns_of_those_that_tell_too_much() {
    let folder = Folder::with_small_data();
    let run = folder.run(&small("fit", &["--restarts", "0", "-o", "a.json"]));
    assert!(run.code == 0 && run.out.contains("2 features (x, noise)"), "{}{}", run.out, run.err);
    assert!(!run.err.contains("label"), "{}", run.err);
    let instances = folder.read("instances.csv").replacen(",label", ",smoking", 1);
    folder.write("instances.csv", &instances);
    let run = folder.run(&small("fit", &["--restarts", "0", "-o", "b.json", "--json"]));
    assert!(run.err.contains("warning: `smoking` goes with the stamps one to one"), "{}", run.err);
    let result: serde_json::Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!(result["features"], serde_json::json!(["x", "noise", "smoking"]));
    let instances = instances.replacen(",smoking", ",Label", 1);
    folder.write("instances.csv", &instances);
    let err = folder.fails(3, &small("fit", &["--restarts", "0", "-o", "c.json"]));
    assert!(err.contains("`Label` goes with the stamps"), "{err}");
}
