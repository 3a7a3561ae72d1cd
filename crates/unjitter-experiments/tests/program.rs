//! The real program, run in a temporary folder.

use std::process::{Command, Output};

use tempfile::TempDir;

const TINY: &str = r#"
name = "tiny"
title = "Two learners"
datasets = ["mpuff"]
seeds = [0]

[cross_validation]
folds = 2

[sweep]
over = "spread"
values = [0.5, 2.0]

[[learners]]
kind = "imprecise"
restarts = 0

[[learners]]
kind = "naive"
"#;

/// A folder with an experiment, and with recordings in `data` of which one feature gives the events
/// away.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut instances = String::from("session,time,x,noise,label\n");
    for session in 0..4 {
        for i in 0..60 {
            let label = u8::from((i + session) % 9 == 4);
            let noise = f64::from((7 * i + session) % 5);
            let x = f64::from(label) + 0.1 * noise;
            instances += &format!("s{session},{},{x},{noise},{label}\n", 2 * i);
        }
    }
    std::fs::create_dir(folder.path().join("data")).unwrap();
    write(&folder, "data/instances.csv", &instances);
    write(&folder, "tiny.toml", TINY);
    folder
}

fn write(folder: &TempDir, name: &str, text: &str) {
    std::fs::write(folder.path().join(name), text).unwrap();
}

fn read(folder: &TempDir, name: &str) -> String {
    std::fs::read_to_string(folder.path().join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

fn run(folder: &TempDir, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_unjitter-experiments"));
    command.args(arguments).current_dir(folder.path()).output().unwrap()
}

/// Runs what must succeed; its standard output.
fn ok(folder: &TempDir, arguments: &[&str]) -> String {
    let Output { status, stdout, stderr } = run(folder, arguments);
    assert!(status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&stderr));
    String::from_utf8(stdout).unwrap()
}

/// Runs what must fail with this code; its standard error. No result may be left behind.
fn fails(folder: &TempDir, code: i32, arguments: &[&str]) -> String {
    let Output { status, stderr, .. } = run(folder, arguments);
    let error = String::from_utf8(stderr).unwrap();
    assert_eq!(status.code(), Some(code), "{arguments:?}: {error}");
    assert!(!folder.path().join("experiments").exists(), "{arguments:?} left something behind");
    error
}

#[test]
fn the_help_names_options_and_exit_codes() {
    let help = ok(&folder(), &["--help"]);
    for expected in ["Usage: unjitter-experiments", "--quick", "--commit", "--json", "130"] {
        assert!(help.contains(expected), "{expected} is missing from {help}");
    }
}

#[test]
fn results_have_tables_intervals_command_and_figure() {
    let folder = folder();
    let base = ["tiny.toml", "--quiet", "-o", "out", "--commit", "abc"];
    ok(&folder, &[&base[..], &["--data", "data"]].concat());
    let page = read(&folder, "out/RESULTS.md");
    for expected in [
        "tiny: data",
        "| 0.5 |",
        "LR-M",
        "LR-N",
        "`cargo run --release -p unjitter-experiments -- tiny.toml --data data`",
        "abc",
        "seeds 0",
    ] {
        assert!(page.contains(expected), "{expected} is missing from {page}");
    }
    assert!(read(&folder, "out/results/tiny.data.svg").starts_with("<svg"));
    // A second dataset adds its section and leaves the first.
    std::fs::rename(folder.path().join("data"), folder.path().join("other")).unwrap();
    ok(&folder, &[&base[..], &["--data", "other", "--no-figure"]].concat());
    let both = read(&folder, "out/RESULTS.md");
    assert!(both.contains("tiny: data") && both.contains("tiny: other"), "{both}");
    assert!(!folder.path().join("out/results/tiny.other.svg").exists());
}

#[test]
fn mistakes_in_a_file_are_named_with_their_line() {
    let folder = folder();
    for (from, to, expected) in [
        ("title =", "titel =", "unknown field `titel`"),
        ("\"naive\"", "\"nave\"", "unknown variant `nave`"),
        ("values = [0.5, 2.0]", "values = []", "tiny.toml, line 12"),
    ] {
        write(&folder, "tiny.toml", &TINY.replacen(from, to, 1));
        let error = fails(&folder, 2, &["tiny.toml"]);
        assert!(error.contains("tiny.toml, line") && error.contains(expected), "{error}");
    }
    write(&folder, "tiny.toml", TINY);
    fails(&folder, 1, &["gone.toml"]);
    let error = fails(&folder, 3, &["tiny.toml", "--data", "data", "--label-column", "lable"]);
    assert!(error.contains("it has no column `lable`; did you mean `label`?"), "{error}");
    let error = fails(&folder, 3, &["tiny.toml", "--errors", "data/instances.csv"]);
    assert!(error.contains("it has no column `error`"), "{error}");
    let error = fails(&folder, 2, &["tiny.toml", "--max-memory", "-1"]);
    assert!(error.contains("--max-memory -1: expected a number above 0"), "{error}");
}

#[test]
fn what_is_read_is_spared() {
    let folder = folder();
    write(&folder, "RESULTS.md", "error\n0.5\n");
    let error = fails(&folder, 2, &["tiny.toml", "--errors", "RESULTS.md", "--output", "."]);
    assert!(error.contains("RESULTS.md is an input, not an output"), "{error}");
    assert_eq!(read(&folder, "RESULTS.md"), "error\n0.5\n");
}
