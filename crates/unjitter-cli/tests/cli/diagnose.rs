use crate::folder::{Folder, small};
use crate::stamped::by_people;

#[test]
fn a_model_is_told_how_it_describes_its_data() {
    let folder = Folder::with_model();
    let out = folder.ok(&["diagnose", "data"]);
    for expected in [
        "stamps in 4 sessions",
        "gaps between stamps    distance ",
        "delay, over the day",
        "mended by",
        "session-01",
        "noise.spread",
        "at half its strength",
    ] {
        assert!(out.contains(expected), "{expected} is missing from\n{out}");
    }
    assert!(!out.contains("held-out"), "noise models are compared on request only:\n{out}");
    assert!(out.lines().all(|line| line.chars().count() <= 100), "{out}");
    let result = folder.ok_json(&["diagnose", "data", "--json"]);
    assert!(result["residuals"]["distance"].as_f64().unwrap() < 1.0, "{result}");
    assert_eq!(result["sessions"].as_array().unwrap().len(), 4);
    assert!(!result["remarks"].as_array().unwrap().is_empty(), "{result}");
    assert_eq!(result["families"], serde_json::Value::Null);
    assert!(result["priors"][0]["most"].is_number(), "{result}");
}

#[test]
fn figures_are_drawn_and_not_replaced_by_accident() {
    let folder = Folder::with_model();
    let words = ["diagnose", "data", "--figures", "figures"];
    folder.ok(&words);
    for (stem, title) in [
        ("residuals", "Do stamps come as expected?"),
        ("quantiles", "Are delays distributed as was learned?"),
        ("drift", "Do presses get later?"),
    ] {
        let drawn = folder.read(&format!("figures/{stem}.svg"));
        assert!(drawn.contains(title), "{drawn}");
    }
    let err = folder.fails(4, &words);
    assert!(err.contains("residuals.svg"), "{err}");
    folder.ok(&[&words[..], &["--force"]].concat());
}

#[test]
fn a_session_with_another_clock_is_named() {
    let folder = Folder::with_model();
    let moved: String = folder
        .read("data/events.csv")
        .lines()
        .map(|line| match line.split_once(',') {
            Some(("session-02", time)) => {
                format!("session-02,{}\n", time.parse::<f64>().unwrap() + 60.0)
            }
            _ => format!("{line}\n"),
        })
        .collect();
    folder.write("moved.csv", &moved);
    let words =
        ["diagnose", "--instances", "data/instances.csv", "--events", "moved.csv", "--anyway"];
    let run = folder.run(&words);
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.err.contains("fitted to other data"), "{}", run.err);
    let out = run.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(out.contains("session session-02 does not fit: its stamps are"), "{out}");
    assert!(out.contains("later than those of the others"), "{out}");
}

#[test]
fn noise_models_are_compared_on_request() {
    let folder = Folder::with_model();
    let out = folder.ok(&["diagnose", "data", "--families"]);
    assert!(out.contains("held-out log evidence") && out.contains("gaussian (in use)"), "{out}");
    assert!(out.contains("noise fits") || out.contains("cannot tell gaussian noise"), "{out}");
}

#[test]
fn times_of_the_day_are_known_from_dates() {
    let folder = Folder::new();
    let (mut instances, mut events) =
        (String::from("session,time,x\n"), String::from("session,time\n"));
    for session in 0..10 {
        for i in 0..40 {
            let is_event = i % 10 == 4;
            let x = f64::from(u8::from(is_event)) + 0.01 * f64::from((7 * i + session) % 5);
            let minute = |extra: i32| {
                format!("2024-05-{:02}T{:02}:{:02}:{extra:02}", session + 1, 8 + session, i)
            };
            instances += &format!("s{session},{},{x}\n", minute(0));
            if is_event {
                // Two seconds later with every hour, and a little scatter.
                events += &format!("s{session},{}\n", minute(3 + 2 * session + (i / 10) % 3));
            }
        }
    }
    folder.write("instances.csv", &instances);
    folder.write("events.csv", &events);
    folder.ok(&["fit", ".", "--restarts", "0", "--quiet"]);
    let out = folder.ok(&["diagnose", "."]);
    assert!(out.contains("delay, over the day    +1.99 s per hour"), "{out}");
    assert!(out.contains("with every hour of the day"), "{out}");
}

#[test]
fn mistakes_are_named() {
    let folder = Folder::with_small_data();
    let err = folder.fails(2, &small("diagnose", &[]));
    assert!(err.contains("there is no model model.json"), "{err}");
    folder.ok(&small("fit", &[]));
    folder.write("events.csv", "note,who,when,button\n");
    let run = folder.run(&small("diagnose", &[]));
    assert!(run.code == 3 && run.err.contains("stamp"), "{} {}", run.code, run.err);
}

#[test]
fn how_far_annotators_agree() {
    let folder = by_people();
    folder.ok(&["fit", "data", "--restarts", "0", "--varies", "delay=annotator", "--quiet"]);
    let out = folder.ok(&["diagnose", "data"]);
    for expected in [
        "Fit by annotator\n",
        "What annotators of the same sessions saw\n",
        "How far annotators agree\n",
        "ada and ben",
    ] {
        assert!(out.contains(expected), "{expected} is missing from\n{out}");
    }
    assert!(out.lines().all(|line| line.chars().count() <= 110), "{out}");
    let agreement = &folder.ok_json(&["diagnose", "data", "--json"])["agreement"];
    let pair = &agreement["pairs"][0];
    // Three seconds apart, where instances are three seconds apart.
    let (nearest, model) =
        (pair["kappa_nearest"].as_f64().unwrap(), pair["kappa"].as_f64().unwrap());
    assert!(nearest < 0.3 && model > 0.6, "{pair}");
    let seen = |k: usize| agreement["annotators"][k]["seen"].as_f64().unwrap();
    assert!(seen(1) < seen(0), "{agreement}");
    // Of one alone there is nothing to agree on.
    folder.ok(&[
        "fit",
        "data",
        "--restarts",
        "0",
        "--only",
        "annotator=ada",
        "-o",
        "a.json",
        "--quiet",
    ]);
    let out = folder.ok(&["diagnose", "data", "-m", "a.json", "--quiet"]);
    assert!(!out.contains("annotator"), "{out}");
}
