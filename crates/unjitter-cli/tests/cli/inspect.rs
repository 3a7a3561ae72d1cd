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
