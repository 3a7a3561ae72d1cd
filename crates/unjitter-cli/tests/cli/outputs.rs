//! Outputs are never lost, mixed up or written over data.

use std::process::Stdio;

use crate::folder::{Folder, Run, small};

#[test]
fn two_outputs_never_share_a_place() {
    let folder = Folder::with_model();
    for arguments in [
        &["align", "data", "-o", "same", "--missed", "same"][..],
        &["align", "data", "-o", "-", "--missed", "-"],
        &["predict", "data", "-o", "same", "--detected", "same"],
    ] {
        let err = folder.fails(2, arguments);
        assert!(err.contains("two outputs go to"), "{err}");
    }
}

#[test]
fn inputs_are_not_written_over_even_by_force() {
    let folder = Folder::with_model();
    folder.write("taps.csv", "error\n0.5\n");
    folder.write("options.toml", "seed = 1\n");
    folder.write("ev.json", "{}");
    let read = ["data/instances.csv", "data/events.csv", "model.json", "taps.csv", "options.toml"];
    let before = read.map(|name| folder.bytes(name));
    std::fs::create_dir(folder.path("figures")).unwrap();
    std::fs::hard_link(folder.path("model.json"), folder.path("figures/delays.svg")).unwrap();
    std::fs::hard_link(folder.path("data/events.csv"), folder.path("hard.csv")).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink("data/instances.csv", folder.path("soft.csv")).unwrap();
    let simulate = ["simulate", "--from", "data", "--errors", "taps.csv"];
    for arguments in [
        &["fit", "data", "-o", "data/instances.csv"][..],
        &["fit", "data", "-o", "soft.csv"],
        &["fit", "data", "-o", "hard.csv"],
        &["fit", "data", "--config", "options.toml", "-o", "options.toml"],
        &["predict", "data", "-o", "data/instances.csv"],
        &["predict", "data", "-o", "-", "--detected", "data/events.csv"],
        &["align", "data", "-o", "model.json"],
        &["align", "data", "--missed", "./data/../model.json"],
        &["report", "data", "-o", "data/../model.json"],
        &["report", "data", "--figures", "figures"],
        &["report", "data", "--evaluation", "ev.json", "-o", "ev.json"],
        &["evaluate", "data", "-o", "data/events.csv"],
        &["evaluate", "data", "--journal", "hard.csv"],
        &["evaluate", "data", "--config", "options.toml", "--journal", "options.toml"],
        &["featurize", "data/signal.csv.gz", "-o", "data/signal.csv.gz"],
        &["featurize", "soft.csv", "-o", "./data/instances.csv"],
        &[&simulate[..], &["-o", "data"]].concat(),
        &[&simulate[..], &["-o", "./data/."]].concat(),
    ] {
        let err = folder.fails(2, &[arguments, &["--force"]].concat());
        assert!(err.contains("is an input, not an output"), "{arguments:?}: {err}");
        // Without force, no message suggests it.
        let err = folder.fails(2, arguments);
        assert!(err.contains("is an input, not an output"), "{arguments:?}: {err}");
    }
    assert_eq!(read.map(|name| folder.bytes(name)), before);
}

#[cfg(unix)]
#[test]
fn a_table_on_standard_input_is_an_input_too() {
    let folder = Folder::new();
    let rows: String = (0..50).map(|k| format!("{k},{}\n", k % 7)).collect();
    folder.write("s.csv", &format!("time,a\n{rows}"));
    let before = folder.read("s.csv");
    let mut command = folder.command(&["featurize", "-", "-o", "s.csv", "--force"]);
    command.stdin(std::fs::File::open(folder.path("s.csv")).unwrap());
    let run = Run::of(command.output().unwrap());
    assert_eq!(run.code, 2, "{}", run.err);
    assert!(run.err.contains("s.csv is an input, not an output"), "{}", run.err);
    assert_eq!(folder.read("s.csv"), before);
}

#[cfg(unix)]
#[test]
fn devices_and_pipes_are_written_to() {
    let folder = Folder::with_model();
    for arguments in [
        &["fit", "data", "--restarts", "0", "-o", "/dev/null"][..],
        &["align", "data", "-o", "/dev/null", "--missed", "/dev/null"],
        &["predict", "data", "-o", "/dev/null", "--detected", "/dev/null"],
        &["report", "data", "-o", "/dev/null"],
        &["featurize", "data/signal.csv.gz", "-o", "/dev/null"],
    ] {
        folder.ok(arguments);
    }
    let made = std::process::Command::new("mkfifo").arg(folder.path("pipe")).status().unwrap();
    assert!(made.success());
    let mut running =
        folder.command(&["predict", "data", "-o", "pipe"]).stdout(Stdio::null()).spawn().unwrap();
    let table = folder.read("pipe");
    assert!(running.wait().unwrap().success());
    assert!(table.starts_with("session,time,probability\n") && table.lines().count() > 100);
}

#[test]
fn what_is_recorded_has_names_of_columns_and_no_paths() {
    let folder = Folder::with_small_data();
    let secret = |name: &str| folder.path(name).display().to_string();
    for (from, to) in [("instances.csv", "secret-i.csv"), ("events.csv", "secret-e.csv")] {
        std::fs::rename(folder.path(from), folder.path(to)).unwrap();
    }
    folder.write("secret.toml", "seed = 3\n");
    let (instances, events, config) =
        (secret("secret-i.csv"), secret("secret-e.csv"), secret("secret.toml"));
    let tables = [
        "--instances",
        &instances,
        "--events",
        &events,
        "--config",
        &config,
        "--session-column",
        "who",
        "--time-column",
        "when",
        "--quiet",
    ];
    let (model, evaluation, journal) =
        (secret("secret.json"), secret("secret-evaluation.json"), secret("secret-journal"));
    folder.ok(&[&["fit"], &tables[..], &["-o", &model]].concat());
    let work = ["--folds", "2", "--learners", "LR-N", "-o", &evaluation, "--journal", &journal];
    folder.ok(&[&["evaluate"], &tables[..], &work].concat());
    for name in ["secret.json", "secret-evaluation.json"] {
        let text = folder.read(name);
        assert!(!text.contains("secret"), "{name} has a path: {text}");
        assert!(text.contains("\"session_column\"") && text.contains("\"who\""), "{text}");
    }
}

#[test]
fn standard_output_carries_one_thing() {
    let folder = Folder::with_model();
    for verb in ["fit", "align", "evaluate", "report", "predict"] {
        let err = folder.fails(2, &[verb, "data", "-o", "-", "--json"]);
        assert!(err.contains("both go to standard output"), "{verb}: {err}");
    }
    let model = folder.ok(&["fit", "data", "--restarts", "0", "-o", "-", "--quiet"]);
    assert!(serde_json::from_str::<serde_json::Value>(&model).is_ok(), "{model}");
    let page = folder.ok(&["report", "data", "-o", "-"]);
    assert!(page.trim_end().ends_with("</html>"), "{}", &page[page.len() - 200..]);
    let table = folder.ok(&["align", "data", "-o", "-", "--missed", "m.csv"]);
    assert!(table.lines().all(|line| line.split(',').count() == 7), "{table}");
}

#[test]
fn existing_figures_are_seen_before_the_work() {
    let folder = Folder::with_model();
    std::fs::create_dir(folder.path("figures")).unwrap();
    folder.write("figures/delays.svg", "precious");
    let err = folder.fails(4, &["report", "data", "--figures", "figures"]);
    assert!(err.contains("delays.svg exists already"), "{err}");
}

#[test]
fn columns_of_the_users_own_are_not_taken_for_ours() {
    let folder = Folder::with_small_data();
    folder.ok(&small("fit", &[]));
    let events = folder.read("events.csv");
    for name in ["stamp", "low", "high", "instance_time", "p_spurious"] {
        folder.write("events.csv", &events.replacen("button", name, 1));
        let err = folder.fails(3, &small("align", &[]));
        let expected = format!("its column `{name}` would be overwritten; rename it");
        assert!(err.contains(&expected), "{err}");
    }
}

#[test]
fn a_model_knows_how_its_data_were_written() {
    let folder = Folder::with_small_data();
    folder.ok(&small("fit", &["--times-in", "ms"]));
    folder.ok(&small("align", &["--times-in", "ms"]));
    // Neither names nor unit are said again.
    let tables = ["--instances", "instances.csv", "--events", "events.csv", "--quiet"];
    folder.ok(&[&["align", "-o", "b.csv", "--missed", "c.csv"], &tables[..]].concat());
    assert_eq!(folder.read("aligned.csv"), folder.read("b.csv"));
}

#[test]
fn stamps_far_from_everything_are_warned_of() {
    let folder = Folder::with_small_data();
    folder.ok(&small("fit", &["--freeze", "background.rate=0"]));
    folder.write("events.csv", &(folder.read("events.csv") + "far,p5,99999,A\n"));
    let run = folder.run(&small("align", &[]));
    assert_eq!(run.code, 0);
    assert!(run.err.contains("session p5: 1 stamps lie far from every instance"), "{}", run.err);
    folder.ok(&small("report", &[]));
    assert!(folder.read("report.html").contains("lie far from every instance"));
}

#[test]
fn options_out_of_range_are_told() {
    let folder = Folder::with_model();
    let cases: [(&[&str], &str); 13] = [
        (&["align", "data", "--draws", "18446744073709551615"], "expected at most 100000"),
        (&["align", "data", "--missed-above", "nan"], "expected a number from 0 to 1"),
        (&["evaluate", "data", "--folds", "1"], "--folds 1: expected at least 2"),
        (&["evaluate", "data", "--threshold", "-1"], "expected a number from 0 to 1"),
        (&["evaluate", "data", "--learners", "lr-m,lr-m"], "lr-m twice"),
        (&["predict", "data", "--threshold", "2", "-o", "x"], "expected a number from 0 to 1"),
        (&["fit", "data", "--threshold", "2", "-o", "x"], "expected a number from 0 to 1"),
        (
            &["fit", "data", "--threshold", "best-f1", "-o", "x"],
            "best-f1: expected a number or expected-f1",
        ),
        (&["fit", "data", "--threads", "0", "-o", "x"], "0 is not in 1..=1024"),
        (&["fit", "data", "--seed", "-1", "-o", "x"], "invalid value '-1' for '--seed"),
        (&["fit", "--instances", "-", "--events", "-", "-o", "x"], "only one table can be"),
        (&["evaluate", "data", "--tolerance", "-1"], "tolerance before is -1, expected a finite"),
        (&["evaluate", "data", "--min-separation", "inf"], "min_separation is inf, expected a"),
    ];
    for (arguments, expected) in cases {
        let err = folder.fails(2, arguments);
        assert!(err.contains(expected), "{arguments:?}: {err}");
    }
    for (option, value) in [("--step", "1e-9"), ("--length", "1e9")] {
        let err = folder.fails(2, &["featurize", "data/signal.csv.gz", option, value, "-o", "x"]);
        assert!(err.contains("at most 10 million"), "{err}");
    }
}

#[test]
fn names_of_features_that_a_model_cannot_keep_are_told_before_learning() {
    let folder = Folder::new();
    // Each letter takes six bytes as JSON.
    let name = "\u{1}".repeat(6 << 20);
    folder.write("instances.csv", &format!("time,{name}\n0,1\n1,2\n"));
    // Learning would find no stamp.
    folder.write("events.csv", "time\n");
    let err = folder.fails(2, &["fit", "--instances", "instances.csv", "--events", "events.csv"]);
    assert!(err.contains("size of metadata is") && err.contains("at most 33554432"), "{err}");
}
