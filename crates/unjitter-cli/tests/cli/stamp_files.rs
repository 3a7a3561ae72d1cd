//! Stamp files of other programs where a table of events may be: read by every verb, and written back by align.

use std::path::Path;

use unjitter::stamps::{Format, Found, ReadOptions, StampFile, WriteOptions, compose};

use crate::folder::Folder;
use crate::stamped::stamped;

const SESSIONS: usize = 3;

/// Instances and stamps of three sessions.
fn folder() -> Folder {
    stamped(&[("ada", 1.0, 0.05)], &[0.0; SESSIONS])
}

/// The stamps of a session in the table of events; every fifth is called something else, and is an hour later.
fn stamps_of(folder: &Folder, session: usize) -> Found {
    let mut found = Found::default();
    let events = folder.read("data/events.csv");
    let of_session = format!(",s{session},");
    for line in events.lines().filter(|line| line.contains(&of_session)) {
        let time: f64 = line.rsplit(',').nth(1).unwrap().parse().unwrap();
        found.times.push(time);
        found.labels.push("V".to_owned());
        found.durations.push(0.25);
        if found.times.len() % 5 == 0 {
            found.times.push(time + 3600.0);
            found.labels.push("N".to_owned());
            found.durations.push(0.25);
        }
    }
    let mut order: Vec<usize> = (0..found.len()).collect();
    order.sort_by(|&a, &b| found.times[a].total_cmp(&found.times[b]));
    let times = order.iter().map(|&k| found.times[k]).collect();
    let labels = order.iter().map(|&k| found.labels[k].clone()).collect();
    Found { times, labels, ..found }
}

/// Writes the stamps of a session to a file in the format of that name.
fn write_stamps(folder: &Folder, session: usize, path: &str, format: &str) {
    let options = WriteOptions { fs: Some(1000.0), ..WriteOptions::default() };
    let content = compose(Format::named(format).unwrap(), &stamps_of(folder, session), &options);
    std::fs::write(folder.path(path), content.unwrap()).unwrap();
}

/// What a stamp file holds.
fn found(path: &Path) -> Found {
    StampFile::read(path, None, &ReadOptions::default()).unwrap().found().clone()
}

/// A verb on the instances and these files.
fn words<'a>(verb: &'a str, files: &[&'a str], further: &[&'a str]) -> Vec<&'a str> {
    let events = files.iter().flat_map(|&file| ["--events", file]);
    let words = [verb, "--instances", "data/instances.csv"].into_iter().chain(events);
    words.chain(further.iter().copied()).collect()
}

#[test]
fn every_format_is_read_where_a_table_of_events_is() {
    let folder = folder();
    let want: usize = (0..SESSIONS).map(|k| stamps_of(&folder, k).len()).sum();
    let chosen = |found: &Found| found.labels.iter().filter(|label| *label == "V").count();
    let want_chosen: usize = (0..SESSIONS).map(|k| chosen(&stamps_of(&folder, k))).sum();
    for (ending, format) in [
        (".atr", "wfdb"),
        (".txt", "audacity"),
        ("_task-x_events.tsv", "bids"),
        (".edf", "edf"),
        (".TextGrid", "textgrid"),
        (".Table.1.selections.txt", "raven"),
        (".dcase.tsv", "dcase"),
        (".rttm", "rttm"),
        (".eaf", "elan"),
    ] {
        let names: Vec<String> = (0..SESSIONS).map(|k| format!("s{k}{ending}")).collect();
        names.iter().enumerate().for_each(|(k, name)| write_stamps(&folder, k, name, format));
        let files: Vec<&str> = names.iter().map(String::as_str).collect();
        let stamps = |further: &[&str]| {
            let told = folder.ok_json(&words("inspect", &files, &[&["--json"], further].concat()));
            told["summary"]["stamps"].as_u64().unwrap() as usize
        };
        assert_eq!(stamps(&[]), want, "{format}");
        assert_eq!(stamps(&["--only", "label=V"]), want_chosen, "{format}");
    }
}

#[test]
fn align_writes_files_back_with_the_chosen_stamps_moved() {
    let folder = folder();
    std::fs::create_dir(folder.path("records")).unwrap();
    (0..SESSIONS).for_each(|k| write_stamps(&folder, k, &format!("records/s{k}.atr"), "wfdb"));
    folder.write("records/s0.hea", "s0 1 1000 600000\n");
    folder.ok(&words("fit", &["records"], &["--only", "label=V", "--restarts", "0"]));
    folder.ok(&words("align", &["records"], &["-o", "aligned.csv"]));
    folder.ok(&words("align", &["records"], &["-o", "fixed/", "--missed", "m.csv"]));
    let table = folder.read("aligned.csv");
    let header =
        "session,time,label,subtype,channel,number,note,stamp,low,high,instance_time,p_spurious";
    assert_eq!(table.lines().next(), Some(header), "nothing lasts in these files");
    for k in 0..SESSIONS {
        let before = found(&folder.path(&format!("records/s{k}.atr")));
        let after = found(&folder.path(&format!("fixed/s{k}.atr")));
        let mut want: Vec<(f64, &str)> = Vec::new();
        for line in table.lines().filter(|line| line.starts_with(&format!("s{k},"))) {
            let cells: Vec<&str> = line.split(',').collect();
            let time: f64 = cells[1].parse().unwrap();
            // Annotations are at samples, a thousand a second.
            want.push(((time * 1000.0).round_ties_even() / 1000.0, cells[2]));
        }
        want.sort_by(|a, b| a.0.total_cmp(&b.0));
        let got: Vec<(f64, &str)> =
            after.times.iter().copied().zip(after.labels.iter().map(String::as_str)).collect();
        assert_eq!(got, want);
        let others = |found: &Found| -> Vec<f64> {
            let of = |&(_, label): &(&f64, &String)| label == "N";
            found.times.iter().zip(&found.labels).filter(of).map(|(&time, _)| time).collect()
        };
        assert_eq!(others(&before), others(&after), "what was not chosen stays");
        assert_ne!(before.times, after.times);
    }
}

#[test]
fn one_file_becomes_a_file_of_its_kind_and_keeps_all_else() {
    let folder = folder();
    let head = "onset\tduration\ttrial_type\tby\n";
    let stamps = stamps_of(&folder, 1);
    let rows = stamps.times.iter().zip(&stamps.labels).enumerate();
    let rows: String =
        rows.map(|(k, (time, label))| format!("{time}\t0.5\t{label}\tAnn {k}\n")).collect();
    folder.write("s1_events.tsv", &(head.to_owned() + &rows + "n/a\tn/a\trest\tBo\n"));
    folder.ok(&["fit", "data", "--restarts", "0"]);
    // The model knows beginnings alone.
    let given = ["--only", "trial_type=V", "--event-end-column", ""];
    folder.ok(&words(
        "align",
        &["s1_events.tsv"],
        &[&given[..], &["-o", "s1_fixed_events.tsv"]].concat(),
    ));
    let (before, after) = (folder.read("s1_events.tsv"), folder.read("s1_fixed_events.tsv"));
    let others = |text: &str| -> Vec<String> {
        let mut lines: Vec<String> =
            text.lines().map(|line| line.split_once('\t').unwrap().1.to_owned()).collect();
        lines.sort();
        lines
    };
    assert_eq!(others(&before), others(&after));
    assert!(after.ends_with("n/a\tn/a\trest\tBo\n"));
    // The name of a table makes a table, whatever was read.
    folder.ok(&words(
        "align",
        &["s1_events.tsv"],
        &[&given[..], &["-o", "t.csv", "--force"]].concat(),
    ));
    assert!(
        folder.read("t.csv").starts_with("session,time,duration,label,trial_type,by,stamp,low")
    );
    let message = folder.fails(
        2,
        &words(
            "align",
            &["s1_events.tsv"],
            &["-o", "s1.TextGrid", "--missed", "n.csv", "--event-end-column", ""],
        ),
    );
    assert!(
        message.contains("s1_events.tsv is written back as what it is, bids, or as a table (.csv)"),
        "{message}"
    );
}

#[test]
fn files_are_of_the_sessions_that_their_names_or_the_user_say() {
    let folder = folder();
    write_stamps(&folder, 0, "night.txt", "audacity");
    write_stamps(&folder, 1, "day.txt", "audacity");
    let message = folder.fails(3, &words("fit", &["night.txt"], &[]));
    assert!(
        message.contains("column `session`: `night` is not a session of data/instances.csv"),
        "{message}"
    );
    let both = ["night.txt", "day.txt"];
    let message = folder.fails(3, &words("fit", &both, &["--session", "s0"]));
    assert!(
        message.contains("1 sessions for 2 files of events, expected one for each"),
        "{message}"
    );
    let told =
        folder.ok_json(&words("inspect", &both, &["--session", "s0", "--session", "s1", "--json"]));
    let want = stamps_of(&folder, 0).len() + stamps_of(&folder, 1).len();
    assert_eq!(told["summary"]["stamps"].as_u64(), Some(want as u64));
    // A file of several recordings names them itself.
    let rttm = "SPEAKER s0 1 10 1 <NA> <NA> a <NA> <NA>\nSPEAKER talks/s2.wav 1 20 1 <NA> <NA> b <NA> <NA>\n";
    folder.write("all.rttm", rttm);
    let table = folder.ok_json(&words("inspect", &["all.rttm"], &["--json"]));
    assert_eq!(table["summary"]["stamps"], 2);
    folder.write("all.rttm", &rttm.replace("s2", "s9"));
    let message = folder.fails(3, &words("fit", &["all.rttm"], &[]));
    assert!(message.contains("`talks/s9.wav` is not a session"), "{message}");
}

#[test]
fn dates_of_instances_need_the_origin_of_a_file() {
    let folder = Folder::new();
    let mut instances = String::from("session,time,x\n");
    for second in 0..50 {
        instances +=
            &format!("a,2024-05-31T12:00:{second:02}+02:00,{}\n", u8::from(second % 10 == 0));
    }
    folder.write("i.csv", &instances);
    folder.write("labels.txt", "10.5\t10.5\tx\n20.25\t20.25\tx\n");
    let given = ["--instances", "i.csv", "--events", "labels.txt"];
    let message = folder.fails(3, &[&["inspect"], &given[..]].concat());
    assert!(
        message
            .contains("nothing says when its second 0 was, and session a has dates; say --origin"),
        "{message}"
    );
    let origin = ["--origin", "2024-05-31T10:00:01Z"];
    folder.ok(&[&["fit", "--restarts", "0"], &given[..], &origin].concat());
    folder.ok(&[&["align", "-o", "fixed.txt"], &given[..], &origin].concat());
    folder.ok(&[&["align", "-o", "fixed.csv", "--missed", "n.csv"], &given[..], &origin].concat());
    let table = folder.read("fixed.csv");
    assert!(table.contains(",2024-05-31T12:00:11.5+02:00,"), "{table}");
    // What is written back counts from the origin again: a second less than the dates.
    let (_, cells) = table.split_once('\n').unwrap();
    let second: f64 =
        cells.split(',').nth(1).unwrap()[17..].trim_end_matches("+02:00").parse().unwrap();
    let label = folder.read("fixed.txt");
    let moved: f64 = label.split('\t').next().unwrap().parse().unwrap();
    // Six decimals.
    assert!((moved - (second - 1.0)).abs() < 1e-6, "{moved} {second}");
    let message =
        folder.fails(3, &[&["inspect"], &given[..], &["--origin", "2024-05-31T10:00"]].concat());
    assert!(message.contains("but the dates of session a have a zone"), "{message}");
}

#[test]
fn what_is_wrong_in_a_file_is_told_with_its_place() {
    let folder = folder();
    folder.write("s0.txt", "1\t2\ta\nsoon\n");
    let message = folder.fails(3, &words("fit", &["s0.txt"], &[]));
    assert!(message.contains("s0.txt, line 2: found 'soon', expected start"), "{message}");
    write_stamps(&folder, 0, "s0.TextGrid", "textgrid");
    let message = folder.fails(3, &words("fit", &["s0.TextGrid"], &["--tier", "beats"]));
    assert!(message.contains("expected one tier 'beats'"), "{message}");
    folder.write("s0.atr", "\u{1}\u{4}\0\0");
    let message = folder.fails(3, &words("fit", &["s0.atr"], &[]));
    assert!(
        message.contains("found no sampling frequency") && message.contains("; say --fs"),
        "{message}"
    );
    folder.ok(&words("inspect", &["s0.atr"], &["--fs", "10"]));
    let message = folder.fails(3, &words("fit", &["s0.TextGrid", "data/events.csv"], &[]));
    assert!(
        message.contains("events.csv: several files must be stamp files of a known format"),
        "{message}"
    );
    std::fs::create_dir(folder.path("empty")).unwrap();
    let message = folder.fails(2, &words("fit", &["empty"], &[]));
    assert!(message.contains("there is no stamp file in this folder"), "{message}");
}

#[test]
fn an_input_is_not_written_over() {
    let folder = folder();
    std::fs::create_dir(folder.path("records")).unwrap();
    (0..SESSIONS).for_each(|k| write_stamps(&folder, k, &format!("records/s{k}.txt"), "audacity"));
    folder.ok(&["fit", "data", "--restarts", "0"]);
    let message = folder.fails(2, &words("align", &["records"], &["-o", "records", "--force"]));
    assert!(message.contains("is an input, not an output"), "{message}");
    let message = folder.fails(2, &words("align", &["records"], &["-o", "fixed.txt"]));
    assert!(
        message.contains("the stamps are from 3 files; name a folder, such as aligned/"),
        "{message}"
    );
}

/// Runs of instances that last, in three sessions, and when somebody pressed their beginnings and ends.
fn bouts() -> Folder {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("data")).unwrap();
    let mut random = unjitter::math::Random::new(7);
    let mut instances = String::from("session,time,x\n");
    for session in 0..SESSIONS {
        let mut found = Found::default();
        for i in 0..400 {
            let at = i % 40;
            let is_event = (10..18).contains(&at);
            let x = f64::from(u8::from(is_event)) * 3.0 + random.normal();
            instances += &format!("s{session},{},{x:.4}\n", 0.5 * f64::from(i));
            if at == 10 {
                let start = 0.5 * f64::from(i) + 0.8 + 0.5 * random.normal();
                let end = start + 3.5 + 0.5 * random.normal();
                found.times.push((start * 100.0).round() / 100.0);
                found.durations.push(((end - start) * 100.0).round() / 100.0);
                found.labels.push("bout".to_owned());
            }
        }
        for (ending, format) in [("TextGrid", "textgrid"), ("eaf", "elan"), ("rttm", "rttm")] {
            let format = Format::named(format).unwrap();
            let options = WriteOptions { end: Some(250.0), ..WriteOptions::default() };
            let content = compose(format, &found, &options).unwrap();
            std::fs::write(folder.path(&format!("s{session}.{ending}")), content).unwrap();
        }
    }
    folder.write("data/instances.csv", &instances);
    folder
}

#[test]
fn bouts_come_back_with_both_ends_moved() {
    let folder = bouts();
    for (round, ending) in ["TextGrid", "eaf"].into_iter().enumerate() {
        let names: Vec<String> = (0..SESSIONS).map(|k| format!("s{k}.{ending}")).collect();
        let files: Vec<&str> = names.iter().map(String::as_str).collect();
        if round == 0 {
            folder.ok(&words("fit", &files, &["--restarts", "0"]));
        }
        folder.ok(&words("align", &files, &["-o", "aligned.csv", "--force"]));
        folder.ok(&words("align", &files, &["-o", "fixed/", "--force"]));
        let table = folder.read("aligned.csv");
        let mut lines = table.lines();
        let header: Vec<&str> = lines.next().unwrap().split(',').collect();
        let place = |name: &str| header.iter().position(|column| *column == name).unwrap();
        let columns = ["time", "duration"].map(place);
        let rows: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
        for k in 0..SESSIONS {
            let after = found(&folder.path(&format!("fixed/s{k}.{ending}")));
            let before = found(&folder.path(&format!("s{k}.{ending}")));
            let own = rows.iter().filter(|row| row[0] == format!("s{k}"));
            let want: Vec<[f64; 2]> =
                own.map(|row| columns.map(|column| row[column].parse().unwrap())).collect();
            assert_eq!((after.len(), after.labels), (want.len(), before.labels));
            let all = after.times.iter().zip(&after.durations).zip(want);
            for ((&time, &lasting), [start, length]) in all {
                // ELAN has whole milliseconds, of the beginning and of the end.
                assert!((time - start).abs() < 6e-4 && (lasting - length).abs() < 1.1e-3);
            }
            assert_ne!(before.durations, after.durations, "ends moved on their own");
        }
    }
}

#[test]
fn dates_are_not_put_on_a_clock_of_seconds_by_guess() {
    let folder = folder();
    folder.write("tags.csv", "1544027340.00\n1544027400.00\n");
    let given = ["--session", "s0"];
    let message = folder.fails(3, &words("inspect", &["tags.csv"], &given));
    let want = "tags.csv: its stamps are dates, the first at 2018-12-05T16:29:00+00:00, but session s0 counts seconds, \
                and nothing says when its second 0 was, such as 2018-12-05T16:29:00+00:00; say --origin";
    assert!(message.contains(want), "{message}");
    let origin = ["--origin", "2018-12-05T16:28:00Z"];
    let told = folder.ok_json(&words(
        "inspect",
        &["tags.csv"],
        &[&given[..], &origin, &["--json"]].concat(),
    ));
    assert_eq!(told["summary"]["stamps"], 2);
    // A sensor beside tells when the recording began.
    folder.write("EDA.csv", "1544027330.000000\n4.000000\n0.1\n");
    folder.ok(&words("inspect", &["tags.csv"], &given));
    folder.write("s0_events.tsv", "onset\tduration\n2018-12-05T16:29:00\t1\n");
    let message = folder.fails(3, &words("inspect", &["s0_events.tsv"], &[]));
    assert!(message.contains("the first at 2018-12-05T16:29:00, but session s0"), "{message}");
}

#[test]
fn two_files_of_one_session_are_not_mixed_without_a_word() {
    let folder = folder();
    std::fs::create_dir(folder.path("records")).unwrap();
    write_stamps(&folder, 0, "records/s0.atr", "wfdb");
    write_stamps(&folder, 0, "records/s0.qrs", "wfdb");
    let message = folder.fails(3, &words("inspect", &["records"], &[]));
    let want = "s0.qrs: by its name it is of session s0, and so is records/s0.atr; name one of them, or tell the \
                session of each; say --session";
    assert!(message.contains(want), "{message}");
    folder.ok(&words("inspect", &["records/s0.qrs"], &[]));
    let told = ["--session", "s0", "--session", "s0", "--json"];
    let told = folder.ok_json(&words("inspect", &["records"], &told));
    let want = 2 * stamps_of(&folder, 0).len();
    assert_eq!(told["summary"]["stamps"].as_u64(), Some(want as u64));
}
