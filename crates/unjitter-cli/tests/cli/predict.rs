use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use crate::folder::{Folder, Run, SMALL, small};
#[cfg(unix)]
use crate::signals::{BY_DEFAULT, send, start};

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

/// A prediction of a table that is still written.
struct Following {
    child: Child,
    input: Option<ChildStdin>,
    printed: Receiver<String>,
    lines: Vec<String>,
}

impl Following {
    fn start(folder: &Folder, arguments: &[&str]) -> Self {
        let all = [&["predict", "--follow", "--instances", "-"], arguments].concat();
        let mut command = folder.command(&all);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Self::of(command.spawn().unwrap())
    }

    fn of(mut child: Child) -> Self {
        let output = BufReader::new(child.stdout.take().unwrap());
        let (send, printed) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            output.lines().map_while(Result::ok).try_for_each(|line| send.send(line))
        });
        let input = child.stdin.take();
        Self { child, input, printed, lines: Vec::new() }
    }

    fn write(&mut self, text: &str) {
        // A program that has ended reads no more; then what it printed tells why.
        let _ = self.input.as_mut().unwrap().write_all(text.as_bytes());
    }

    /// Waits until so many lines have been printed.
    fn wait_for(&mut self, lines: usize) {
        while self.lines.len() < lines {
            let line = self.printed.recv_timeout(Duration::from_secs(60));
            self.lines.push(line.unwrap_or_else(|_| panic!("only {:?}", self.lines)));
        }
    }

    /// The table is not written on; returns all that was printed.
    fn end(mut self) -> Run {
        drop(self.input.take());
        self.ended()
    }

    fn ended(mut self) -> Run {
        let run = Run::of(self.child.wait_with_output().unwrap());
        self.lines.extend(self.printed.iter());
        Run { out: self.lines.iter().map(|line| format!("{line}\n")).collect(), ..run }
    }
}

/// Follows a table that ends.
fn followed(folder: &Folder, arguments: &[&str], table: &str) -> Run {
    let mut following = Following::start(folder, arguments);
    following.write(table);
    following.end()
}

#[test]
fn lines_are_told_while_the_table_is_written() {
    let folder = Folder::with_model();
    let table = folder.read("data/instances.csv");
    let want = folder.ok(&["predict", "--instances", "data/instances.csv"]);
    let mut following = Following::start(&folder, &[]);
    for (k, line) in table.split_inclusive('\n').enumerate() {
        following.write(line);
        if k < 3 {
            following.wait_for(k + 1);
        }
    }
    let run = following.end();
    assert_eq!((run.code, run.out, run.err), (0, want, String::new()));
    let err = folder.fails(2, &["predict", "--follow", "--instances", "-", "-o", "file.csv"]);
    assert!(err.contains("written whole or not at all"), "{err}");
}

#[test]
fn a_file_as_it_stands_is_not_followed() {
    let folder = Folder::with_model();
    let arguments = ["predict", "--follow", "--instances", "data/instances.csv"];
    let err = folder.fails(2, &arguments);
    assert!(err.contains("tail -n +1 -f data/instances.csv | unjitter predict --follow"), "{err}");
    // A folder stands for its table.
    assert!(folder.fails(2, &["predict", "--follow", "data"]).contains("tail -n +1 -f"));
}

/// Lines of three recordings in turn, with runs of six instances that weak features tell, and a model of their stamps.
fn with_recordings(labels: &str) -> Folder {
    let folder = Folder::new();
    let mut instances = "session,time,x\n".to_owned();
    let mut events = "session,time\n".to_owned();
    for i in 0..200 {
        for (k, session) in ["a", "b", "c"].into_iter().enumerate() {
            let at = i + 7 * k;
            let positive = at % 25 >= 15 && at % 25 < 21;
            let noise = (1.7 * (at * at) as f64 + k as f64).sin();
            let x = f64::from(u8::from(positive)) + noise;
            instances += &format!("{session},{:.1},{x:.4}\n", i as f64 / 2.0);
            if at % 25 == 15 {
                let late = 1.0 + 0.4 * (9.1 * at as f64).cos();
                events += &format!("{session},{:.3}\n", i as f64 / 2.0 + late);
            }
        }
    }
    folder.write("instances.csv", &instances);
    folder.write("events.csv", &events);
    folder.ok(&["fit", ".", "--labels", labels, "--restarts", "0", "--quiet"]);
    folder
}

/// Rows of a table by session, each in order, with its header.
fn by_session(table: &str) -> Vec<Vec<&str>> {
    let mut rows: Vec<Vec<&str>> = table.lines().map(|line| line.split(',').collect()).collect();
    rows[1..].sort_by(|a, b| a[0].cmp(b[0]));
    rows
}

/// Asserts that tables are the same, but for rounding of the last column.
fn assert_same(found: &str, want: &str, rounding: f64) {
    let (found, want) = (by_session(found), by_session(want));
    assert_eq!(found.len(), want.len());
    assert_eq!(found[0], want[0]);
    for (found, want) in found[1..].iter().zip(&want[1..]) {
        let last = found.len() - 1;
        assert_eq!(found[..last], want[..last]);
        let p = [found[last], want[last]].map(|text| text.parse::<f64>().unwrap());
        assert!((p[0] - p[1]).abs() <= rounding, "{found:?} {want:?}");
    }
}

#[test]
fn what_is_followed_is_what_the_whole_table_says() {
    // A chain waits until 1e-9 is left, which may move the last of the six digits printed.
    for (labels, rounding) in [("independent", 0.0), ("chain", 1.01e-6)] {
        let folder = with_recordings(labels);
        let table = folder.read("instances.csv");
        for further in [
            &["--threshold", "0.1"][..],
            &["--threshold", "0.03", "--min-separation", "2"],
            &["--threshold", "0.3", "--min-separation", "20", "--within", "1000"],
        ] {
            let whole = further.iter().take_while(|word| **word != "--within").copied();
            let to = ["predict", ".", "-o", "p.csv", "--detected", "d.csv", "--force"];
            folder.ok(&to.into_iter().chain(whole).collect::<Vec<_>>());
            assert_same(&followed(&folder, further, &table).out, &folder.read("p.csv"), rounding);
            let events = followed(&folder, &[further, &["--detected", "-"]].concat(), &table).out;
            assert_same(&events, &folder.read("d.csv"), rounding);
            assert!(events.lines().count() > 3, "{labels} {further:?}: {events}");
        }
    }
}

#[test]
fn nobody_waits_longer_than_was_asked() {
    let folder = with_recordings("chain");
    let table = folder.read("instances.csv");
    // Lines 0.5 s apart of one recording: five wait.
    let own: Vec<&str> =
        table.split_inclusive('\n').filter(|line| !line.starts_with(['b', 'c'])).collect();
    let mut following = Following::start(&folder, &["--within", "2.5"]);
    following.write(&own[..101].concat());
    following.wait_for(96);
    assert!(following.lines[95].starts_with("a,47.0,"), "{:?}", following.lines[95]);
    assert_eq!(following.end().out.lines().count(), 101);

    // All are candidates, and each is closer than the distance to the next: an event leaves all the same.
    let folder = with_recordings("independent");
    let further =
        ["--detected", "-", "--threshold", "0", "--min-separation", "1.5", "--within", "4"];
    let mut following = Following::start(&folder, &further);
    following.write(&own[..101].concat());
    following.wait_for(10);
    assert!(following.end().out.lines().count() > 20);
}

#[test]
fn what_waits_is_told_before_a_bad_line_is() {
    let folder = with_recordings("chain");
    let table = folder.read("instances.csv");
    let good: String = table.split_inclusive('\n').take(100).collect();
    let want = followed(&folder, &[], &good);
    assert_eq!((want.code, want.out.lines().count()), (0, 100));
    for (bad, problem) in [
        ("a,17.5\n", "line 101: 2 cells, expected 3"),
        ("a,17.5,NaN\n", "line 101, column `x`: `NaN` is not a finite number"),
        ("b,1.5,0.3\n", "line 101, column `time`: `1.5` is not a time not before"),
    ] {
        let run = followed(&folder, &[], &format!("{good}{bad}a,90,0\n"));
        assert_eq!((run.code, &run.out), (3, &want.out), "{bad}: {}", run.err);
        assert!(run.err.contains(problem), "{bad}: {}", run.err);
    }
}

#[test]
fn half_a_line_is_no_instance() {
    let folder = with_recordings("independent");
    let table = folder.read("instances.csv");
    let good: String = table.split_inclusive('\n').take(100).collect();
    let want = followed(&folder, &[], &good).out;
    let run = followed(&folder, &[], &format!("{good}a,17.5,0.7"));
    assert_eq!((run.code, run.out), (0, want));
    assert!(
        run.err.contains("warning: standard input: the last line, `a,17.5,0.7`"),
        "{}",
        run.err
    );
}

#[cfg(unix)]
#[test]
fn what_waits_is_told_at_an_interruption() {
    let folder = with_recordings("chain");
    let table = folder.read("instances.csv");
    let mut lines: Vec<&str> = table.split_inclusive('\n').take(91).collect();
    // After so long a time nothing more can move the others, so that they leave, and these three wait.
    lines.extend(["a,9000.0,0.5\n", "b,9000.0,0.5\n", "c,9000.0,0.5\n"]);
    let want = followed(&folder, &[], &lines.concat()).out;
    for signal in ["-INT", "-TERM"] {
        let arguments = ["predict", "--follow", "--instances", "-"];
        let mut following = Following::of(start(&folder, &BY_DEFAULT, &arguments));
        following.write(&lines.concat());
        following.wait_for(91);
        send(signal, &following.child);
        let deadline = Instant::now() + Duration::from_secs(60);
        while following.child.try_wait().unwrap().is_none() {
            assert!(Instant::now() < deadline, "it did not stop");
            std::thread::sleep(Duration::from_millis(20));
        }
        // Its input is still open.
        let _input = following.input.take();
        let run = following.ended();
        assert_eq!((run.code, by_session(&run.out)), (0, by_session(&want)), "{}", run.err);
        assert!(run.err.contains("ended by Ctrl-C"), "{}", run.err);
    }
}
