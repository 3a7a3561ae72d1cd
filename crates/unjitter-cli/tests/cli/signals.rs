//! Ctrl-C.
#![cfg(unix)]

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::folder::{Folder, Run};

/// Starts a program with signals at their default. Tests that are run in the background or under
/// nohup ignore some, which a child inherits and which a shell cannot undo.
pub(crate) const BY_DEFAULT: [&str; 3] = [
    "python3",
    "-c",
    "import os, signal, sys
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])",
];

/// Starts a program as nohup does, and a shell in the background.
const IGNORING: [&str; 4] = ["sh", "-c", "trap '' INT HUP; exec \"$@\"", "sh"];

/// Starts the program by way of another, in whose place it steps.
pub(crate) fn start(folder: &Folder, by: &[&str], arguments: &[&str]) -> Child {
    let program = folder.command(arguments);
    let mut command = Command::new(by[0]);
    command.args(&by[1..]).arg(program.get_program()).args(arguments);
    command.current_dir(folder.path("")).stdin(Stdio::piped());
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

pub(crate) fn send(signal: &str, child: &Child) {
    let status = Command::new("kill").args([signal, &child.id().to_string()]).status();
    assert!(status.unwrap().success());
}

fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < Duration::from_secs(60), "it never {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Waits for the end; a process still running after half a minute is ended and fails the test.
fn end(mut child: Child) -> Run {
    let asked = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if asked.elapsed() > Duration::from_secs(30) {
            child.kill().unwrap();
            panic!("it did not stop: {}", Run::of(child.wait_with_output().unwrap()).err);
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Run::of(child.wait_with_output().unwrap())
}

/// Runs a verb that would take minutes, sends it Ctrl-C once it is under way, and waits.
fn interrupted(folder: &Folder, arguments: &[&str], is_under_way: impl Fn() -> bool) -> Run {
    let child = start(folder, &BY_DEFAULT, arguments);
    wait_until("got under way", is_under_way);
    send("-INT", &child);
    end(child)
}

#[test]
fn a_fit_stops_and_writes_nothing() {
    let folder = Folder::with_data();
    let before = folder.names();
    let begun = Instant::now();
    let arguments =
        ["fit", "data", "--classifier", "mlp", "--hidden", "64,64", "--restarts", "1000"];
    let run = interrupted(&folder, &arguments, || begun.elapsed() > Duration::from_secs(3));
    assert_eq!(run.code, 130, "{}{}", run.out, run.err);
    assert!(run.err.contains("interrupted; no model was written"), "{}", run.err);
    assert_eq!(folder.names(), before);
}

#[test]
fn a_search_for_clocks_stops_and_writes_nothing() {
    let folder = Folder::with_model();
    let before = folder.names();
    let begun = Instant::now();
    let arguments = [
        "sync",
        "data",
        "-m",
        "model.json",
        "--range",
        "100h",
        "--drift",
        "50%",
        "-o",
        "synced.csv",
    ];
    let run = interrupted(&folder, &arguments, || begun.elapsed() > Duration::from_secs(1));
    assert_eq!(run.code, 130, "{}{}", run.out, run.err);
    assert!(run.err.contains("interrupted; nothing was written"), "{}", run.err);
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

/// A prediction of a table that never comes, with its output begun.
fn waiting(folder: &Folder, by: &[&str]) -> Child {
    let before = folder.names();
    let child = start(folder, by, &["predict", "--instances", "-", "-o", "p.csv"]);
    wait_until("began its output", || folder.names() != before);
    child
}

#[test]
fn what_cannot_be_gone_on_with_ends_at_once_and_leaves_nothing() {
    let folder = Folder::with_model();
    let before = folder.names();
    let mut child = waiting(&folder, &BY_DEFAULT);
    // Waiting for the child would close it, and the table would end.
    let _input = child.stdin.take();
    send("-TERM", &child);
    let run = end(child);
    assert_eq!(run.code, 130);
    assert!(run.err.contains("interrupted; nothing was written"), "{}", run.err);
    assert_eq!(folder.names(), before);
}

#[test]
fn what_was_printed_before_an_end_is_not_denied() {
    let folder = Folder::with_model();
    let mut child = start(&folder, &BY_DEFAULT, &["predict", "--instances", "-"]);
    // A table that never ends.
    let instances = folder.read("data/instances.csv");
    let mut input = child.stdin.take().unwrap();
    input.write_all(instances.as_bytes()).unwrap();
    let (mut line, mut printed) = (String::new(), BufReader::new(child.stdout.take().unwrap()));
    printed.read_line(&mut line).unwrap();
    assert_eq!(line, "session,time,probability\n");
    send("-INT", &child);
    let run = end(child);
    assert_eq!(run.code, 130);
    assert!(run.err.contains("interrupted; what was written may not be all"), "{}", run.err);
}

#[test]
fn signals_that_were_ignored_stay_so() {
    let folder = Folder::with_model();
    let mut child = waiting(&folder, &IGNORING);
    send("-INT", &child);
    send("-HUP", &child);
    // It is still there to be given a table.
    std::io::copy(
        &mut std::fs::File::open(folder.path("data/instances.csv")).unwrap(),
        &mut child.stdin.take().unwrap(),
    )
    .unwrap();
    let run = end(child);
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(folder.read("p.csv").lines().count() > 1);
}
