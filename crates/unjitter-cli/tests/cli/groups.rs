//! Annotators, subjects and clocks that differ.

use crate::folder::Folder;
use crate::stamped::{PEOPLE, by_people, move_sessions, stamped};

/// Fits that begin at the naive start alone.
fn fit<'a>(further: &[&'a str]) -> Vec<&'a str> {
    [&["fit", "data", "--restarts", "0", "--quiet"], further].concat()
}

#[test]
fn what_differs_between_annotators_is_learned_and_told() {
    let folder = by_people();
    let words = fit(&["--varies", "delay=annotator", "--varies", "miss-rate=annotator"]);
    let out = folder.ok(&[&words[..], &["--groups", "groups.csv"]].concat());
    for expected in [
        "An annotator in the middle of all groups\n",
        "\nDelay by annotator\n",
        "\n annotator    delay",
        "\n ada ",
        "\nEvents missed by annotator\n",
        " In the middle of all: ",
    ] {
        assert!(out.contains(expected), "{expected} is missing from {out}");
    }
    let table = folder.read("groups.csv");
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows[0].join(","), "what,by,group,value,standard_error,low,high,unit", "{table}");
    assert_eq!(rows.len(), 5, "{table}");
    for (row, (what, unit, truth)) in rows[1..].iter().zip([
        ("delay", "s", PEOPLE[0].1),
        ("delay", "s", PEOPLE[1].1),
        ("miss_rate", "%", 100.0 * PEOPLE[0].2),
        ("miss_rate", "%", 100.0 * PEOPLE[1].2),
    ]) {
        assert_eq!((row[0], row[1], row[7]), (what, "annotator", unit), "{table}");
        let [value, error, low, high] = [3, 4, 5, 6].map(|k| row[k].parse::<f64>().unwrap());
        assert!(low < value && value < high, "{table}");
        // Some seventy events: within four standard errors.
        assert!((value - truth).abs() < 4.0 * error, "{truth}: {table}");
    }
    let result = folder.ok_json(&[&words[..], &["--force", "--json"]].concat());
    assert_eq!(result["groups"].as_array().unwrap().len(), 4);
    assert_eq!(result["groups"][1]["group"], "ben");
    assert!(result["groups"][1]["estimate"]["low"].is_number(), "{result}");
    let options = &folder.json("model.json")["metadata"]["options"]["model"];
    assert_eq!(options["varies"], serde_json::json!(["delay=annotator", "miss_rate=annotator"]));
}

#[test]
fn a_file_of_options_says_what_differs() {
    let folder = by_people();
    folder.write(
        "fit.toml",
        "clock = \"device\"\nclock_range = \"20s\"\n\n[varies]\nspread = \"subject\"\n",
    );
    folder.ok(&fit(&["--config", "fit.toml"]));
    let model = folder.json("model.json")["model"].clone();
    let varies: Vec<String> = model["varies"]
        .as_array()
        .unwrap()
        .iter()
        .map(|own| format!("{} {}", own["what"].as_str().unwrap(), own["by"].as_str().unwrap()))
        .collect();
    assert_eq!(varies, ["spread subject", "offset device", "drift device"]);
    assert_eq!(model["clock_range"], 20.0);
}

#[test]
fn many_groups_are_not_all_printed() {
    let folder = stamped(&PEOPLE[..1], &[0.0; 14]);
    let out = folder.ok(&fit(&["--varies", "spread=session", "--groups", "all.csv"]));
    assert!(out.contains("And 2 sessions that differ less."), "{out}");
    assert_eq!(out.lines().filter(|line| line.starts_with(" s")).count(), 13, "{out}");
    assert_eq!(folder.read("all.csv").lines().count(), 15);
}

#[test]
fn the_column_of_annotators_may_have_another_name_and_the_model_remembers_it() {
    let folder = by_people();
    let rename = |file: &str, from: &str, to: &str| {
        folder.write(file, &folder.read(file).replacen(from, to, 1));
    };
    rename("data/events.csv", "annotator", "rater");
    rename("data/sessions.csv", "annotators", "raters");
    let words = ["--annotator-column", "rater", "--annotators-column", "raters"];
    let out = folder.ok(&["inspect", "data"]);
    assert!(out.replace("\n          ", "").contains("(--annotator-column rater)"), "{out}");
    let out = folder.ok(&[&["inspect", "data"], &words[..]].concat());
    assert!(out.contains("annotators 2\ndevices    2\n") && !out.contains("people"), "{out}");
    folder.ok(&[&fit(&["--varies", "delay=annotator"]), &words[..]].concat());
    folder.ok(&["align", "data", "--quiet"]);
    // The table comes back with all columns of the user.
    let (given, aligned) = (folder.read("data/events.csv"), folder.read("aligned.csv"));
    assert!(aligned.starts_with("note,session,time,rater,stamp,low,"), "{aligned}");
    assert_eq!(given.lines().count(), aligned.lines().count());
    for (before, after) in given.lines().zip(aligned.lines()).skip(1) {
        assert_eq!(before.rsplit(',').next(), after.rsplit(',').nth(5), "{after}");
    }
    // Together, as those of one.
    let result =
        folder.ok_json(&[&fit(&["--json", "--force"])[..], &["--annotator-column", ""]].concat());
    assert_eq!(result["groups"], serde_json::json!([]));
}

#[test]
fn who_annotates_alike_is_told_that_they_may_differ() {
    let folder = by_people();
    let told = |further: &[&str]| {
        let run = folder.run(&[&["fit", "data", "--restarts", "0", "--force"], further].concat());
        assert_eq!(run.code, 0, "{}", run.err);
        run.err.contains("2 annotators are taken to be alike: --varies delay=annotator")
    };
    assert!(told(&[]) && !told(&["--varies", "spread=annotator"]));
    assert!(!told(&["--only", "annotator=ada"]));
}

#[test]
fn clocks_that_are_learned_are_not_refused() {
    // Off by more than the recording lasts: that is a problem, unless it is learned.
    let offsets = [0.0, 600.0, -700.0, 40.0, 800.0, 0.0, -650.0, 900.0];
    let folder = stamped(&PEOPLE[..1], &offsets);
    let err = folder.fails(3, &fit(&[]));
    assert!(err.contains("`unjitter sync` looks for clocks"), "{err}");
    let learned = folder.ok_json(&fit(&[
        "--clock",
        "session",
        "--clock-range",
        "1000s",
        "--json",
        "--force",
    ]));
    let offset = |k: usize| learned["groups"][k]["value"].as_f64().unwrap();
    for k in 1..offsets.len() {
        let (found, truth) = (offset(k) - offset(0), offsets[k] - offsets[0]);
        // A dozen stamps tell an offset to 0.3 s.
        assert!((found - truth).abs() < 1.5, "s{k}: {found} {truth}");
    }
}

#[test]
fn mistakes_in_what_differs_are_told() {
    let folder = by_people();
    for (code, words, expected) in [
        (2, &["--varies", "delay"][..], "expected WHAT=BY, such as delay=annotator"),
        (2, &["--varies", "dealy=annotator"], "`dealy`; did you mean `delay`?"),
        (2, &["--varies", "delay=sujbect"], "`sujbect`; did you mean `subject`?"),
        (2, &["--clock", "wall"], "no kind of group `wall`; there are annotator, session"),
        (2, &["--clock-range", "3s"], "--clock-range has no effect here"),
        (2, &["--clock", "session", "--clock-range=-3s"], "expected a time above 0, like 180s"),
        (2, &["--clock", "session", "--varies", "drift=session"], "--clock says so already"),
        (
            2,
            &["--varies", "delay=device", "--varies", "delay=device"],
            "delay=device: it is given twice",
        ),
        (2, &["--groups", "g.csv"], "--groups has no effect here"),
        (
            3,
            &["--varies", "delay=annotator", "--annotator-column", ""],
            "no session says which group it is of",
        ),
        (
            2,
            &["--clock", "session", "--groups", "data/events.csv", "--force"],
            "is an input, not an output",
        ),
        (2, &["--clock", "session", "--groups", "model.json"], "two outputs go to model.json"),
    ] {
        let err = folder.fails(code, &fit(words));
        assert!(err.contains(expected), "{words:?}: {err}");
    }
    folder.write("data/sessions.csv", "session,annotators\ns0,ada;Ben\n");
    let err = folder.fails(3, &fit(&[]));
    assert!(
        err.contains("`ben` is not one of those who annotated session s0: `ada`, `Ben`"),
        "{err}"
    );
}

#[test]
fn names_with_anything_in_them_do_not_reach_the_terminal() {
    let folder = by_people();
    let wild = "b\u{1b}[2J".to_owned() + &"é".repeat(500);
    let events = folder.read("data/events.csv").replace(",ben\n", &format!(",{wild}\n"));
    folder.write("data/events.csv", &events);
    std::fs::remove_file(folder.path("data/sessions.csv")).unwrap();
    let out = folder.ok(&fit(&["--varies", "delay=annotator", "--groups", "g.csv"]));
    assert!(!out.contains('\u{1b}') && out.lines().all(|line| line.chars().count() < 200), "{out}");
    assert!(folder.read("g.csv").contains(&wild), "the table has the name as it is");
}

#[test]
fn only_one_annotator() {
    let folder = by_people();
    let stamps = |folder: &Folder, name: &str| {
        let only = format!("annotator={name}");
        folder.ok_json(&fit(&["--only", &only, "--json", "--force"]))["stamps"].as_u64().unwrap()
    };
    let all = folder.read("data/events.csv").lines().count() as u64 - 1;
    assert_eq!(stamps(&folder, "ada") + stamps(&folder, "ben"), all);
}

#[test]
fn a_model_meets_clocks_that_it_has_not_seen() {
    let folder =
        stamped(&PEOPLE[..1], &[0.0, 12.0, -15.0, 20.0, -8.0, 5.0, -20.0, 10.0, 33.0, -27.0]);
    move_sessions(&folder, "new", &["s8", "s9"]);
    folder.ok(&fit(&["--clock", "session", "--clock-range", "60s"]));
    let run = folder.run(&["align", "new"]);
    assert_eq!(run.code, 0, "{}", run.err);
    let note = "learned 4 numbers of groups that the model had not seen";
    assert!(run.err.contains(note), "{}", run.err);
    // Nearly every stamp finds its event, which is half a minute away.
    let labels: Vec<(String, f64)> = folder
        .read("new/instances.csv")
        .lines()
        .map(|line| line.split(',').map(str::to_owned).collect::<Vec<_>>())
        .filter(|cells| cells[4] == "1")
        .map(|cells| (cells[0].clone(), cells[1].parse().unwrap()))
        .collect();
    let aligned = folder.read("aligned.csv");
    let places: Vec<(String, f64)> = aligned
        .lines()
        .skip(1)
        .map(|line| line.rsplit(',').map(str::to_owned).collect::<Vec<_>>())
        .map(|cells| (cells[7].clone(), cells[1].parse().unwrap()))
        .collect();
    let right = places.iter().filter(|place| labels.contains(place)).count();
    assert!(right * 10 >= places.len() * 9, "{right} of {}: {aligned}", places.len());
    for verb in ["diagnose", "plan", "report"] {
        let run = folder.run(&[verb, "new"]);
        assert!(run.code == 0 && run.err.contains(note), "{verb}: {}", run.err);
    }
    // Clocks that the model knows are not learned again.
    let run = folder.run(&["align", "data", "--force"]);
    assert!(run.code == 0 && !run.err.contains("not seen"), "{}", run.err);
}

#[test]
fn a_clock_that_is_not_found_is_told() {
    let folder = stamped(&PEOPLE[..1], &[0.0, 12.0, -15.0, 20.0, -8.0, 5.0, 3.0]);
    move_sessions(&folder, "new", &["s6"]);
    folder.ok(&fit(&["--clock", "session", "--clock-range", "60s"]));
    // One stamp may belong to any event.
    let events = folder.read("new/events.csv");
    let few: String = events.lines().take(2).map(|line| format!("{line}\n")).collect();
    folder.write("new/events.csv", &few);
    let run = folder.run(&["report", "new", "--anyway"]);
    let told = "clocks were not found, and are taken to be about as the others: for s6 ";
    assert!(run.code == 0 && run.err.contains(told), "{}", run.err);
    assert!(folder.read("report.html").contains(told), "{}", run.err);
}
