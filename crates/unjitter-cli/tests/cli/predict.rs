use std::io::{Read, Write};
use std::process::Stdio;

use crate::folder::{Folder, Run, SMALL, small};

fn predict<'a>(further: &[&'a str]) -> Vec<&'a str> {
    let columns = [&SMALL[4..8], &["--quiet"]].concat();
    [&["predict"], &columns[..], further].concat()
}

#[test]
fn features_are_found_by_name_in_any_order() {
    let folder = Folder::with_small_data();
    folder.ok(&small("fit", &[]));
    let out = folder.ok(&predict(&["instances.csv"]));
    assert!(out.starts_with("session,time,probability\np0,0.5,0.0"), "{out}");
    assert_eq!(out.lines().count(), 241);
    let swapped: String = folder
        .read("instances.csv")
        .lines()
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            format!("{},{},{},{},other\n", cells[3], cells[2], cells[1], cells[0])
        })
        .collect();
    folder.write("swapped.csv", &swapped.replacen("who,other", "who,text", 1));
    assert_eq!(folder.ok(&predict(&["swapped.csv"])), out);
    folder.write("renamed.csv", &folder.read("instances.csv").replacen("noise", "nois", 1));
    let err = folder.fails(3, &predict(&["renamed.csv"]));
    assert!(err.contains("renamed.csv: it has no column `noise`; did you mean `nois`?"), "{err}");
}

#[test]
fn tables_come_from_standard_input_and_packed() {
    let folder = Folder::with_model();
    let plain = folder.ok(&["predict", "--instances", "data/instances.csv"]);
    let run = |bytes: &[u8]| {
        let mut command = folder.command(&["predict", "--instances", "-"]);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        let bytes = bytes.to_vec();
        let writer = std::thread::spawn(move || input.write_all(&bytes).unwrap());
        let run = Run::of(child.wait_with_output().unwrap());
        writer.join().unwrap();
        run
    };
    let bytes = folder.bytes("data/instances.csv");
    for run in [run(&bytes), run(&unjitter::io::compress(&bytes))] {
        assert_eq!((run.code, &run.out), (0, &plain), "{}", run.err);
    }
}

#[test]
fn a_broken_pipe_is_quiet() {
    let folder = Folder::with_model();
    let line = folder.read("data/instances.csv");
    let (header, lines) = line.split_once('\n').unwrap();
    // More than any pipe holds.
    folder.write("long.csv", &format!("{header}\n{}", lines.repeat(20)));
    let mut child = folder
        .command(&["predict", "--instances", "long.csv"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut some = [0; 100];
    child.stdout.take().unwrap().read_exact(&mut some).unwrap();
    let run = Run::of(child.wait_with_output().unwrap());
    assert_eq!((run.code, run.err.as_str()), (0, ""));
}

#[test]
fn a_table_without_instances_is_no_recording() {
    let folder = Folder::with_small_data();
    folder.ok(&small("fit", &[]));
    folder.write("none.csv", "who,when,x,noise,label\n");
    let err = folder.fails(3, &predict(&["none.csv"]));
    assert!(err.contains("none.csv: it has a header and no instances"), "{err}");
}

#[test]
fn events_are_detected_and_kept_apart() {
    let folder = Folder::with_small_data();
    folder.ok(&small("fit", &[]));
    let result = folder.ok_json(&predict(&[
        "instances.csv",
        "--json",
        "-o",
        "p.csv",
        "--detected",
        "d.csv",
        "--min-separation",
        "3",
    ]));
    assert_eq!(result["detected"], 24);
    assert!(folder.read("d.csv").starts_with("session,time,probability\np0,8.5,0.9"));
    let err = folder.fails(2, &predict(&["instances.csv", "--json"]));
    assert!(err.contains("both go to standard output"), "{err}");
    let err = folder
        .fails(2, &predict(&["instances.csv", "-o", "x", "--detected", "y", "--threshold", "2"]));
    assert!(err.contains("threshold is 2, expected a number from 0 to 1"), "{err}");
}

#[test]
fn the_threshold_of_the_model_is_used_unless_another_is_given() {
    let folder = Folder::with_small_data();
    // So strong a prior that no probability reaches one half.
    let strong = ["--weight-precision", "1e4"];
    let arguments = [&strong[..], &["--threshold", "expected-f1", "--json"]].concat();
    let threshold = folder.ok_json(&small("fit", &arguments))["threshold"].clone();
    assert_eq!(folder.json("model.json")["threshold"], threshold);
    assert!(threshold.as_f64().unwrap() < 0.5);
    let positive = |further: &[&str]| {
        let to = ["instances.csv", "-o", "p.csv", "--detected", "d.csv", "--json", "--force"];
        let result = folder.ok_json(&predict(&[&to[..], further].concat()));
        assert_eq!(result["positive"], result["detected"]);
        (result["threshold"].clone(), result["positive"].as_u64().unwrap())
    };
    assert_eq!(positive(&[]), (threshold, 24));
    assert_eq!(positive(&["--threshold", "0.5"]), (0.5.into(), 0));
    let out =
        folder.ok(&small("fit", &[&strong[..], &["--threshold", "0.25", "--force"]].concat()));
    assert!(out.contains("An event is found from a probability of 0.25"), "{out}");
    folder.ok(&small("fit", &["--force"]));
    assert_eq!(positive(&[]), (0.5.into(), 24));
}

/// Follows a table that is written line by line, and returns what was printed after each of some lines.
fn followed(folder: &Folder, arguments: &[&str], table: &str, pauses: &[usize]) -> Vec<String> {
    let all = [&["predict", "--follow", "--instances", "-"], arguments].concat();
    let mut command = folder.command(&all);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut input, mut output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let (send, printed) = std::sync::mpsc::channel();
    let reader = std::thread::spawn(move || {
        let mut some = [0; 4096];
        while let Ok(count @ 1..) = output.read(&mut some) {
            send.send(String::from_utf8(some[..count].to_vec()).unwrap()).unwrap();
        }
    });
    let mut found = Vec::new();
    for (k, line) in table.lines().enumerate() {
        input.write_all(format!("{line}\n").as_bytes()).unwrap();
        if pauses.contains(&k) {
            // Nothing more comes until this has been printed: otherwise the test would wait for ever.
            let mut text = printed.recv_timeout(std::time::Duration::from_secs(60)).unwrap();
            while let Ok(more) = printed.recv_timeout(std::time::Duration::from_millis(200)) {
                text.push_str(&more);
            }
            found.push(text);
        }
    }
    drop(input);
    reader.join().unwrap();
    assert!(child.wait().unwrap().success());
    found.push(printed.try_iter().collect());
    found
}

#[test]
fn lines_are_told_while_the_table_is_written() {
    let folder = Folder::with_model();
    let table = folder.read("data/instances.csv");
    let want = folder.ok(&["predict", "--instances", "data/instances.csv"]);
    let found = followed(&folder, &[], &table, &[1, 2]);
    // The header and the first line, the second line, the rest.
    let lines: Vec<&str> = want.split_inclusive('\n').collect();
    assert_eq!(found[0], lines[..2].concat());
    assert_eq!(found[1], lines[2]);
    assert_eq!(found.concat(), want);
    folder.ok(&[
        "predict",
        "--instances",
        "data/instances.csv",
        "-o",
        "p.csv",
        "--detected",
        "d.csv",
    ]);
    assert_eq!(followed(&folder, &["--detected", "-"], &table, &[]).concat(), folder.read("d.csv"));
    let err = folder.fails(2, &["predict", "--follow", "--instances", "-", "-o", "file.csv"]);
    assert!(err.contains("written whole or not at all"), "{err}");
}
