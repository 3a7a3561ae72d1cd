//! Labels that form runs, from the table to the events.

use crate::folder::Folder;

/// Two recordings of 200 windows, twice a second, with runs of eight windows that are stamped a second late.
fn with_runs() -> Folder {
    let folder = Folder::new();
    let mut instances = "session,time,x,label\n".to_owned();
    let mut events = "session,time\n".to_owned();
    let mut state = 1_u64;
    let mut noise = || {
        // A small linear congruential generator: sums of four are about normal.
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 40) as f64 / f64::from(1 << 24) - 0.5
        };
        2.0 * (next() + next() + next() + next())
    };
    for session in ["a", "b", "c"] {
        for i in 0..300 {
            let positive = i % 37 >= 20 && i % 37 < 28;
            let x = noise() + if positive { 1.5 } else { 0.0 };
            instances +=
                &format!("{session},{:.1},{x:.4},{}\n", f64::from(i) / 2.0, u8::from(positive));
            if i % 37 == 20 {
                let late = 1.0 + 0.5 * noise();
                events += &format!("{session},{:.3}\n", f64::from(i) / 2.0 + late);
            }
        }
    }
    folder.write("instances.csv", &instances);
    folder.write("events.csv", &events);
    folder
}

const FIT: [&str; 6] = ["fit", ".", "--labels", "chain", "--restarts", "1"];

#[test]
fn runs_are_fitted_predicted_and_aligned() {
    let folder = with_runs();
    let out = folder.ok(&FIT);
    for expected in ["An event\n  is a run of instances", "is stamped when it begins", "per hour"] {
        assert!(out.contains(expected), "{expected} is missing from {out}");
    }
    assert!(!out.contains("of the other instances"), "{out}");
    let model = folder.json("model.json");
    assert_eq!(model["model"]["labels"], "chain");

    folder.ok(&["predict", ".", "-o", "p.csv", "--detected", "d.csv"]);
    let p = folder.read("p.csv");
    assert_eq!(p.lines().count(), 1 + 3 * 300);
    let detected = folder.read("d.csv");
    let rows: Vec<Vec<&str>> = detected.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows[0], ["session", "start", "end", "probability"]);
    // There are 24 runs; features hide a few, or show one more.
    assert!((20..=28).contains(&(rows.len() - 1)), "{detected}");
    let number = |text: &str| text.parse::<f64>().unwrap();
    let length = rows[1..].iter().map(|row| number(row[2]) - number(row[1])).sum::<f64>();
    let mean = length / (rows.len() - 1) as f64;
    // Eight windows are 3.5 s from the first to the last.
    assert!((mean - 3.5).abs() < 1.0, "{mean}: {detected}");

    // The order of lines does not matter, nor where they come from.
    let (header, lines) = folder.read("instances.csv").split_once('\n').map(own).unwrap();
    let mut reversed: Vec<&str> = lines.lines().collect();
    reversed.reverse();
    folder.write("reversed.csv", &format!("{header}\n{}\n", reversed.join("\n")));
    let again = folder.ok(&["predict", "--instances", "reversed.csv", "--quiet"]);
    let sorted = |text: &str| {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    assert_eq!(sorted(&again), sorted(&p));

    // One stamp less is one event missed, told once.
    let events = folder.read("events.csv");
    let fewer: Vec<&str> =
        events.lines().enumerate().filter(|(k, _)| *k != 5).map(|(_, line)| line).collect();
    folder.write("events.csv", &format!("{}\n", fewer.join("\n")));
    folder.ok(&["align", ".", "--merged", "merged.csv"]);
    let missed = folder.read("missed.csv");
    assert!(missed.starts_with("session,time,end,p_missed,p_detector\na,"), "{missed}");
    assert_eq!(missed.lines().count(), 2, "{missed}");
    let merged = folder.read("merged.csv");
    assert!(merged.starts_with("session,time,end,p_positive,stamps,seen_by\na,"), "{merged}");

    let report = folder.ok(&["report", "."]);
    assert!(report.contains("wrote report.html"), "{report}");
    let page = folder.read("report.html");
    assert!(page.contains("mean length of an event") && !page.contains("Sessions that fit worst"));
    assert!(page.contains("goodness of fit is not told of labels that form runs"), "{page}");
    for verb in ["diagnose", "plan"] {
        let err = folder.fails(2, &[verb, "."]);
        assert!(err.contains("it supposes independent labels, and these form a chain"), "{err}");
    }
    let err = folder.fails(2, &["review", ".", "--model", "model.json", "--no-open"]);
    assert!(err.contains("a review supposes independent labels"), "{err}");
}

/// Both parts as texts of their own.
fn own((a, b): (&str, &str)) -> (String, String) {
    (a.to_owned(), b.to_owned())
}

#[test]
fn runs_are_compared_by_their_begin() {
    let folder = with_runs();
    folder.write("evaluate.toml", "labels = \"chain\"\nfolds = 3\nrestarts = 0\n");
    let out = folder.ok(&["evaluate", ".", "--config", "evaluate.toml"]);
    assert!(out.contains("An event is a run of instances, and found by one that begins within"));
    assert!(out.contains("LR-M") && out.contains("LR-H") && !out.contains("LR-MI"), "{out}");
    let err =
        folder.fails(2, &["evaluate", ".", "--labels", "chain", "--learners", "MI", "--force"]);
    assert!(err.contains("MI supposes independent labels"), "{err}");
}

#[test]
fn options_of_runs_belong_together() {
    let folder = with_runs();
    let err = folder.fails(2, &["fit", ".", "--stamps", "end"]);
    assert!(err.contains("--stamps has no effect here: it belongs to --labels chain"), "{err}");
    let err = folder.fails(2, &[&FIT[..], &["--freeze", "counts.false_rate=0.1"]].concat());
    assert!(err.contains("stamps for nothing are those of the background"), "{err}");
    let out = folder.ok(&["inspect", "."]);
    assert!(out.contains("(--labels chain)") && out.contains("come in 24 runs"), "{out}");
}
