//! Clocks that are off.

use crate::folder::{Folder, small};
use crate::stamped::{PEOPLE, by_people, move_sessions, stamped};

/// How far the clocks of eight sessions are ahead.
const OFFSETS: [f64; 8] = [0.0, 12.0, -15.0, 40.0, -38.0, 25.0, -20.0, 10.0];

/// Looks for the clocks of all sessions.
const SYNC: [&str; 6] = ["sync", "data", "--by", "session", "--range", "90s"];

fn with<'a>(further: &[&'a str]) -> Vec<&'a str> {
    [&SYNC[..], further].concat()
}

/// Sessions whose clocks are off, and a model of as many others by clocks that are right.
fn with_model() -> Folder {
    let offsets: Vec<f64> = [0.0; 6].into_iter().chain(OFFSETS).collect();
    let folder = stamped(&PEOPLE[..1], &offsets);
    move_sessions(&folder, "known", &["s0", "s1", "s2", "s3", "s4", "s5"]);
    folder.ok(&["fit", "known", "--restarts", "0", "--quiet"]);
    folder
}

/// Cells of a table of which only the first column has commas.
fn cells(line: &str) -> Vec<&str> {
    let mut cells: Vec<&str> = line.rsplitn(5, ',').collect();
    cells.reverse();
    cells
}

#[test]
fn clocks_are_found_under_a_model_and_stamps_put_back() {
    let folder = with_model();
    let words = with(&["-m", "model.json", "-o", "synced.csv", "--clocks", "clocks.csv"]);
    let run = folder.run(&words);
    assert_eq!(run.code, 0, "{}", run.err);
    for expected in [
        "Clocks by session\n",
        " session   verdict   stamps ",
        "8 of 8 clocks with ",
        " Offset: how far stamps are late",
    ] {
        assert!(run.out.contains(expected), "{expected} is missing from {}", run.out);
    }
    let table = folder.read("clocks.csv");
    let mut lines = table.lines();
    let header = "name,stamps,verdict,offset,low,high,drift_ppm,probability,others";
    assert_eq!(lines.next(), Some(header));
    assert_eq!(table.lines().count(), 9);
    for line in lines {
        let row: Vec<&str> = line.split(',').collect();
        let truth = OFFSETS[row[0][1..].parse::<usize>().unwrap() - 6];
        let [offset, low, high] = [3, 4, 5].map(|k| row[k].parse::<f64>().unwrap());
        assert_eq!(row[2], "found", "{line}");
        // A dozen stamps that scatter by 0.8 s, and 5 % to drift by.
        assert!((offset - truth).abs() < 1.5 && low < offset && offset < high, "{truth}: {line}");
    }
    // Every line comes back, with its note, at most 1.5 s from where its clock would have had it.
    let (given, synced) = (folder.read("data/events.csv"), folder.read("synced.csv"));
    assert!(synced.starts_with("note,session,time,annotator,before_sync\n"), "{synced}");
    assert_eq!(given.lines().count(), synced.lines().count());
    for (before, after) in given.lines().zip(synced.lines()).skip(1) {
        let cells = cells(after);
        let line = format!("{},{},{},{}", cells[0], cells[1], cells[4], cells[3]);
        assert_eq!(line, before);
        let offset = OFFSETS[cells[1][1..].parse::<usize>().unwrap() - 6];
        let [time, stamp] = [2, 4].map(|k| cells[k].parse::<f64>().unwrap());
        assert!((stamp - offset - time).abs() < 1.5, "{after}");
    }
    // What was written is aligned, and not looked through again.
    folder.ok(&["align", "data", "--events", "synced.csv", "--quiet"]);
    let again = [&with(&["-m", "model.json"])[..], &["--events", "synced.csv"]].concat();
    let err = folder.fails(3, &again);
    assert!(err.contains("synced.csv: it has a column `before_sync`"), "{err}");
    let err = folder.fails(4, &words);
    assert!(err.contains("synced.csv exists already"), "{err}");
    let result = folder.ok_json(&[&words[..], &["--force", "--json"]].concat());
    assert_eq!(result["by"], "session");
    assert_eq!(result["moved"], given.lines().count() - 1);
    let profile = result["clocks"][0]["profile"].as_array().unwrap();
    let ends = [&profile[0], &profile[profile.len() - 1]].map(|own| own[0].as_f64().unwrap());
    assert!(ends[0] < -89.0 && ends[0] > -92.0 && ends[1] > 89.0 && ends[1] < 92.0, "{ends:?}");
}

#[test]
fn clocks_are_found_without_a_model_too() {
    let folder = stamped(&PEOPLE[..1], &OFFSETS);
    let result = folder.ok_json(&with(&["--drift", "0", "--json", "--quiet"]));
    let offset = |k: usize| result["clocks"][k]["offset"].as_f64().unwrap();
    for (k, truth) in OFFSETS.iter().enumerate() {
        // Only their differences can be known.
        let (found, truth) = (offset(k) - offset(0), truth - OFFSETS[0]);
        assert!((found - truth).abs() < 1.5, "s{k}: {found} {truth}");
        assert_eq!(result["clocks"][k]["drift"], 0.0);
    }
    assert_eq!(folder.names(), ["data"], "nothing was asked to be written");
    let out = folder.ok(&with(&["--drift", "0", "--quiet"]));
    assert!(!out.contains("ppm") && out.contains("of 8 clocks"), "{out}");
}

#[test]
fn a_clock_that_runs_fast_is_found() {
    let folder = with_model();
    let faster = |line: &str| match line.contains(",s7,") {
        true => {
            let cells =
                cells(&format!("{line},")).into_iter().map(str::to_owned).collect::<Vec<_>>();
            let time = 1.02 * (cells[2].parse::<f64>().unwrap() - 240.0) + 240.0;
            format!("{},s7,{time},{}\n", cells[0], cells[3])
        }
        false => format!("{line}\n"),
    };
    let events: String = folder.read("data/events.csv").lines().map(faster).collect();
    folder.write("data/events.csv", &events);
    let drift = |further: &[&str]| {
        let words = with(&["-m", "model.json", "--json"]);
        let result = folder.ok_json(&[&words[..], further].concat());
        let clocks = result["clocks"].as_array().unwrap();
        let own = clocks.iter().find(|own| own["name"] == "s7").unwrap();
        own["drift"].as_f64().unwrap()
    };
    // A dozen stamps that scatter by 0.8 s over 480 s tell 0.2 %.
    assert!((drift(&[]) - 0.02).abs() < 0.006, "{}", drift(&[]));
    assert!(drift(&["--drift", "100ppm"]).abs() <= 1e-4);
    let out = folder.ok(&with(&["-m", "model.json"]));
    let row = out.lines().find(|line| line.starts_with(" s7 ")).unwrap();
    let ppm = row.split_whitespace().rev().nth(1).unwrap().parse::<f64>().unwrap();
    assert!((14_000.0..26_000.0).contains(&ppm), "{out}");
}

#[test]
fn clocks_may_be_shared() {
    let folder = by_people();
    folder.ok(&["fit", "data", "--restarts", "0", "--quiet", "--varies", "delay=annotator"]);
    let names = |by: &str| -> Vec<String> {
        let words = ["sync", "data", "-m", "model.json", "--by", by, "--drift=0", "--json"];
        let result = folder.ok_json(&words);
        let clocks = result["clocks"].as_array().unwrap();
        clocks.iter().map(|own| own["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names("annotator"), ["ada", "ben"]);
    assert_eq!(names("device"), ["watch 0", "watch 1"]);
    assert_eq!(names("subject"), ["p0", "p1", "p2"]);
    assert_eq!(names("clock"), ["s0", "s1", "s2", "s3", "s4", "s5"]);
}

#[test]
fn stamps_of_a_clock_that_is_not_found_stay() {
    let folder = with_model();
    // Of the last session one stamp is left, which fits anywhere; of the one before none.
    let mut kept = 0;
    let is_kept = |line: &&str| {
        kept += usize::from(line.contains(",s13,"));
        !line.contains(",s12,") && (!line.contains(",s13,") || kept == 1)
    };
    let events = folder.read("data/events.csv");
    let left: String = events.lines().filter(is_kept).map(|line| format!("{line}\n")).collect();
    folder.write("data/events.csv", &left);
    let run = folder.run(&with(&["-m", "model.json", "-o", "synced.csv"]));
    assert_eq!(run.code, 0, "{}", run.err);
    let told = "clocks of s13 were not found, and their stamps stay where they are";
    assert!(run.err.contains(told), "{}", run.err);
    let row = |name: &str| {
        let start = format!(" {name} ");
        run.out.lines().find(|line| line.starts_with(&start)).unwrap().to_owned()
    };
    assert!(row("s12").contains("no stamps") && row("s12").contains('–'), "{}", run.out);
    assert!(row("s13").contains("several") || row("s13").contains("flat"), "{}", run.out);
    let synced = folder.read("synced.csv");
    let last = cells(synced.lines().find(|line| line.contains(",s13,")).unwrap());
    assert_eq!(last[2], last[4], "{synced}");
}

#[test]
fn evidence_is_drawn() {
    let folder = with_model();
    let words = with(&["-m", "model.json", "--figures", "drawn", "--quiet"]);
    folder.ok(&words);
    let drawn = folder.read("drawn/clocks.svg");
    for expected in ["Where the clocks are, by session", "s13", "found", "log evidence"] {
        assert!(drawn.contains(expected), "{expected}");
    }
    let err = folder.fails(4, &words);
    assert!(err.contains("clocks.svg exists already"), "{err}");
}

#[test]
fn mistakes_are_told() {
    let folder = with_model();
    for (code, words, expected) in [
        (2, &["--by", "wall"][..], "no kind of group `wall`; there are annotator, session"),
        (2, &["--by", "devise"], "did you mean `device`?"),
        (2, &["--range=-3s"], "expected a time above 0, like 180s"),
        (2, &["--range", "0"], "expected a time above 0, like 180s"),
        (2, &["--drift", "2"], "expected a share from 0 to below 1, like 0.05, 5% or 100ppm"),
        (2, &["--mode", "2"], "--model"),
        (2, &["-m", "gone.json"], "there is no model gone.json"),
        (2, &["-o", "data/events.csv", "--force"], "is an input, not an output"),
        (2, &["-o", "a.csv", "--clocks", "a.csv"], "two outputs go to a.csv"),
    ] {
        let err = folder.fails(code, &[&["sync", "data"], words].concat());
        assert!(err.contains(expected), "{words:?}: {err}");
    }
    // Nobody says the device, or only of some.
    let words = ["sync", "data", "-m", "model.json", "--by", "device", "--drift", "0"];
    folder.write("data/sessions.csv", "session,device\ns7,watch\ns8,watch\n");
    let run = folder.run(&words);
    let told = "no device is known of s6, s9, s10, s11, s12, s13: their clocks are not looked for";
    assert!(run.code == 0 && run.err.contains(told), "{}", run.err);
    folder.write("data/sessions.csv", "session,subject\ns7,p\n");
    let err = folder.fails(3, &words);
    let told = "--by device: no session says its device; expected a column `device` in the table of \
                sessions, or --device-column NAME";
    assert!(err.contains(told), "{err}");
    // A model of other features.
    let instances = folder.read("data/instances.csv");
    folder.write("data/instances.csv", &instances.replacen(",y,", ",z,", 1));
    let err = folder.fails(3, &with(&["-m", "model.json"]));
    assert!(err.contains("instances.csv") && err.contains("`y`"), "{err}");
    folder.write("data/instances.csv", &instances);
    // No stamps at all.
    folder.write("data/events.csv", "session,time\n");
    for words in [with(&[]), with(&["-m", "model.json"])] {
        let err = folder.fails(3, &words);
        assert!(err.contains("events.csv: it has no stamp of these sessions"), "{err}");
    }
}

#[test]
fn a_table_with_other_names_comes_back_as_it_is() {
    let folder = Folder::with_small_data();
    folder.ok(&small("fit", &["--restarts", "0"]));
    let out = folder.ok(&small("sync", &["-m", "model.json", "-o", "-", "--drift", "0"]));
    assert!(out.starts_with("note,who,when,button,before_sync\n\"late, 4\",p0,"), "{out}");
    assert_eq!(out.lines().count(), folder.read("events.csv").lines().count());
}

#[test]
fn both_ends_of_an_interval_are_moved() {
    let folder = with_model();
    let mut events = String::from("session,earliest,latest\n");
    for line in folder.read("data/events.csv").lines().skip(1) {
        // Notes have commas.
        let [_, time, session] = line.rsplitn(4, ',').collect::<Vec<_>>()[..3] else {
            panic!("{line}")
        };
        let time: f64 = time.parse().unwrap();
        events += &format!("{session},{:.3},{:.3}\n", time - 1.0, time + 2.0);
    }
    folder.write("data/events.csv", &events);
    folder.ok(&with(&["-m", "model.json", "-o", "synced.csv"]));
    let synced = folder.read("synced.csv");
    assert!(synced.starts_with("session,earliest,latest,before_sync\n"), "{synced}");
    for (before, after) in events.lines().zip(synced.lines()).skip(1) {
        let [before, after] = [before, after].map(|line| line.split(',').collect::<Vec<_>>());
        let number = |cell: &str| cell.parse::<f64>().unwrap();
        let moved = |k: usize| number(after[k]) - number(before[k]);
        let truth = OFFSETS[before[0][1..].parse::<usize>().unwrap() - 6];
        // The sloppiness that was taken off is that of the clock, and rounding of three digits.
        assert!((moved(1) - moved(2)).abs() < 0.002 && (moved(1) + truth).abs() < 12.0);
        assert_eq!(after[3], format!("{}/{}", before[1], before[2]));
    }
}
