//! Ctrl-C.
#![cfg(unix)]

use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::folder::{Folder, Run};

/// Runs a verb that would take minutes, sends it Ctrl-C once it is under way, and waits.
fn interrupted(folder: &Folder, arguments: &[&str], is_under_way: impl Fn() -> bool) -> Run {
    let mut command = folder.command(arguments);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let start = Instant::now();
    while !is_under_way() {
        assert!(start.elapsed() < Duration::from_secs(60), "it never got under way");
        std::thread::sleep(Duration::from_millis(20));
    }
    let status =
        std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(status.unwrap().success());
    let sent = Instant::now();
    let run = Run::of(child.wait_with_output().unwrap());
    assert!(sent.elapsed() < Duration::from_secs(30), "it took {:?} to stop", sent.elapsed());
    run
}

#[test]
fn a_fit_stops_and_writes_nothing() {
    let folder = Folder::with_data();
    let before = folder.names();
    let start = Instant::now();
    let arguments =
        ["fit", "data", "--classifier", "mlp", "--hidden", "64,64", "--restarts", "1000"];
    let run = interrupted(&folder, &arguments, || start.elapsed() > Duration::from_secs(2));
    assert_eq!(run.code, 130, "{}{}", run.out, run.err);
    assert!(run.err.contains("interrupted; no model was written"), "{}", run.err);
    assert_eq!(folder.names(), before);
}

#[test]
fn a_comparison_goes_on_where_it_was() {
    let folder = Folder::with_data();
    let base =
        ["evaluate", "data", "--folds", "4", "--learners", "lr-m,mi", "--journal", "journal.jsonl"];
    let grid =
        ["--precisions", "0.01,0.1,1,10,100", "--inner-folds", "3", "--bag-sizes", "2,3,4,5"];
    let arguments = [&base[..], &grid].concat();
    let journal = folder.path("journal.jsonl");
    let lines = || std::fs::read_to_string(&journal).map_or(0, |text| text.lines().count());
    let run = interrupted(&folder, &arguments, || lines() > 5);
    assert_eq!(run.code, 130, "{}{}", run.out, run.err);
    assert!(
        run.err.contains("journal.jsonl has") && run.err.contains("run again to go on"),
        "{}",
        run.err
    );
    assert!(!folder.path("evaluation.json").exists());
    let kept = lines();
    folder.ok(&arguments);
    assert!(lines() > kept);
    // The same as in one go.
    let journal_apart =
        arguments.iter().map(|word| if *word == "journal.jsonl" { "other.jsonl" } else { word });
    let apart: Vec<&str> = journal_apart.chain(["-o", "apart.json"]).collect();
    folder.ok(&apart);
    assert_eq!(folder.json("evaluation.json")["learners"], folder.json("apart.json")["learners"]);
}

#[test]
fn what_cannot_be_gone_on_with_ends_at_once_and_leaves_nothing() {
    let folder = Folder::with_model();
    let before = folder.names();
    // Waits for a table that never comes, with its output begun.
    let mut command = folder.command(&["predict", "--instances", "-", "-o", "p.csv"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // Waiting for the child would close it, and the table would end.
    let _input = child.stdin.take();
    let start = Instant::now();
    while folder.names() == before {
        assert!(start.elapsed() < Duration::from_secs(60), "it never began its output");
        std::thread::sleep(Duration::from_millis(20));
    }
    let kill = std::process::Command::new("kill").args(["-TERM", &child.id().to_string()]).status();
    assert!(kill.unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(folder.names(), before);
}
