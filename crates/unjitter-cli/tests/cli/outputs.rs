//! Outputs are never lost, mixed up or written over data.

use crate::folder::{Folder, small};

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
    let before = (folder.read("data/instances.csv"), folder.read("model.json"));
    for arguments in [
        &["fit", "data", "-o", "data/instances.csv"][..],
        &["predict", "data", "-o", "data/instances.csv"],
        &["align", "data", "-o", "model.json"],
        &["report", "data", "-o", "data/../model.json"],
    ] {
        let err = folder.fails(2, &[arguments, &["--force"]].concat());
        assert!(err.contains("is an input, not an output"), "{err}");
    }
    assert_eq!((folder.read("data/instances.csv"), folder.read("model.json")), before);
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
    folder.ok(&small("fit", &[]));
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
    let cases: [(&[&str], &str); 10] = [
        (&["align", "data", "--missed-above", "nan"], "expected a number from 0 to 1"),
        (&["evaluate", "data", "--folds", "1"], "--folds 1: expected at least 2"),
        (&["evaluate", "data", "--threshold", "-1"], "expected a number from 0 to 1"),
        (&["evaluate", "data", "--learners", "lr-m,lr-m"], "lr-m twice"),
        (&["predict", "data", "--threshold", "2", "-o", "x"], "expected a number from 0 to 1"),
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
