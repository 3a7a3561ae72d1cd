//! Stamps that are rounded, or known to lie between two times.

use crate::folder::Folder;
use crate::stamped::stamped;

/// Somebody who is 1 s late, on clocks that are right; each line of the events as `write` has it.
fn folder(header: &str, write: impl Fn(f64) -> String) -> Folder {
    let folder = stamped(&[("ada", 1.0, 0.05)], &[0.0; 6]);
    let mut events = format!("session,{header}\n");
    for line in folder.read("data/events.csv").lines().skip(1) {
        let cells: Vec<&str> = line.rsplit(',').collect();
        events += &format!("{},{}\n", cells[2], write(cells[1].parse().unwrap()));
    }
    folder.write("data/events.csv", &events);
    folder
}

/// The learned spread of a fit with these options.
fn spread(folder: &Folder, options: &[&str]) -> f64 {
    let mut all = vec!["fit", "data", "-o", "model.json", "--force", "--ignore", "label", "--json"];
    all.extend(options);
    folder.ok_json(&all)["learned"]["spread"].as_f64().unwrap()
}

#[test]
fn rounding_is_suggested_and_not_taken_for_sloppiness() {
    let folder = folder("time", |time| format!("{}", 10.0 * (time / 10.0).round()));
    let found = folder.ok(&["inspect", "data"]);
    assert!(found.contains("--rounded 10s"), "{found}");
    assert!(!folder.ok(&["inspect", "data", "--rounded", "10s"]).contains("were rounded"));
    let (sloppy, told) = (spread(&folder, &[]), spread(&folder, &["--rounded", "10s"]));
    // Simulated with 0.8 s; rounding adds 2.9 s, as the root of a mean square.
    assert!(told < 1.5 && sloppy > 2.0, "{told} {sloppy}");
    // What the model was fitted with holds for aligning too.
    let aligned = |options: &[&str]| {
        let mut all = vec!["align", "data", "-m", "model.json", "--force"];
        all.extend(options);
        folder.ok(&all);
        folder.read("aligned.csv")
    };
    assert_eq!(aligned(&[]), aligned(&["--rounded", "10s"]));
    assert_ne!(aligned(&[]), aligned(&["--rounded", "1ms"]));
    let error = folder.fails(2, &["inspect", "data", "--rounded", "0s"]);
    assert!(error.contains("like 180s or 3min"), "{error}");
}

#[test]
fn stamps_between_two_times_come_back_with_a_time() {
    let folder = folder("earliest,latest", |time| format!("{:.1},{:.1}", time - 2.0, time + 3.0));
    spread(&folder, &[]);
    folder.ok(&["align", "data", "-m", "model.json"]);
    let (before, after) = (folder.read("data/events.csv"), folder.read("aligned.csv"));
    let header = "session,earliest,latest,time,stamp,low,high,instance_time,p_spurious";
    assert_eq!(after.lines().next().unwrap(), header);
    assert!(folder.read("missed.csv").starts_with("session,time,p_missed"));
    for (before, after) in before.lines().zip(after.lines()).skip(1) {
        let cells: Vec<&str> = after.split(',').collect();
        assert_eq!(before, cells[..3].join(","));
        assert_eq!(cells[4], format!("{}/{}", cells[1], cells[2]));
    }
}
