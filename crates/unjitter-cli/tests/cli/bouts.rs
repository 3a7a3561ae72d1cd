//! Events that begin and end, from the table to its aligned copy.

use crate::folder::Folder;

/// Runs of six to nine in every forty instances, half a second apart, in four sessions, pressed at both ends.
fn bouts() -> Folder {
    let folder = Folder::new();
    let mut instances = String::from("session,time,x,label\n");
    let mut state = 7_u32;
    let mut noise = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(state >> 8) / f64::from(1 << 24) - 0.5
    };
    for session in 0..4 {
        for i in 0..480 {
            let (bout, at) = (i / 40, i % 40);
            let length = 6 + (bout * 7 + session) % 4;
            let first = 8 + (bout * 5 + session * 3) % 11;
            let label = u8::from((first..first + length).contains(&at));
            let x = f64::from(label) + 1.6 * (noise() + noise());
            instances += &format!("s{session},{},{x:.4},{label}\n", 0.5 * f64::from(i));
        }
    }
    std::fs::create_dir(folder.path("raw")).unwrap();
    folder.write("raw/instances.csv", &instances);
    let pressed = ["--delay", "1", "--spread", "1.5", "--end-delay", "-1", "--end-spread", "2.5"];
    let some = ["--pressed", "0.9", "--seed", "5"];
    folder.ok(&[&["simulate", "--from", "raw", "-o", "data"], &pressed[..], &some].concat());
    folder
}

fn cells(table: &str, separator: char) -> Vec<Vec<String>> {
    table.lines().map(|line| line.split(separator).map(str::to_owned).collect()).collect()
}

fn column(table: &[Vec<String>], name: &str) -> Vec<f64> {
    let at = table[0].iter().position(|column| column == name).unwrap();
    table[1..].iter().map(|row| row[at].parse().unwrap()).collect()
}

#[test]
fn both_ends_are_learned_and_put_right() {
    let folder = bouts();
    let events = folder.read("data/events.csv");
    assert!(events.starts_with("session,start,end\n"), "{events}");
    assert!(folder.read("data/true_events.csv").starts_with("session,start,end\ns0,4,"));
    let fit = folder.ok_json(&["fit", "data", "--restarts", "2", "--json"]);
    // In seconds: half a second late, and half a second early.
    let of = |value: &serde_json::Value| value.as_f64().unwrap();
    let (starts, ends) = (&fit["learned"], &fit["ends"]["learned"]);
    // Some 43 bouts: three standard errors.
    assert!((of(&starts["delay"]) - 0.5).abs() < 0.4, "{fit}");
    assert!((of(&ends["delay"]) + 0.5).abs() < 0.6, "{fit}");
    assert!(of(&ends["spread"]) > of(&starts["spread"]), "{fit}");
    let words = folder.ok(&["fit", "data", "--restarts", "0", "-o", "again.json"]);
    assert!(words.contains("The end of an event is pressed"), "{words}");
    folder.ok(&["align", "data"]);
    let aligned = cells(&folder.read("aligned.csv"), ',');
    let header = "session start end stamp low high instance_time p_spurious end_stamp end_low \
                  end_high end_p_spurious";
    assert_eq!(aligned[0].join(" "), header);
    let [start, end, stamp, end_stamp] =
        ["start", "end", "stamp", "end_stamp"].map(|name| column(&aligned, name));
    assert!(start.iter().zip(&end).all(|(start, end)| start <= end));
    let before = cells(&events, ',');
    assert_eq!((stamp, end_stamp), (column(&before, "start"), column(&before, "end")));
    let missed = folder.read("missed.csv");
    assert!(missed.starts_with("session,start,end,p_missed,p_detector\n"), "{missed}");
    // One in ten of 48 was not pressed.
    assert!((2..12).contains(&missed.lines().count()), "{missed}");
    let again = folder.fails(
        3,
        &[
            "align",
            "--instances",
            "data/instances.csv",
            "--events",
            "aligned.csv",
            "-o",
            "b.csv",
            "--missed",
            "m.csv",
        ],
    );
    assert!(again.contains("it was aligned already"), "{again}");
}

#[test]
fn bouts_are_drawn_with_both_ends() {
    let folder = bouts();
    folder.ok(&["fit", "data", "--restarts", "0", "--quiet"]);
    folder.ok(&["evaluate", "data", "--learners", "LR-H", "--folds", "2", "--quiet"]);
    folder.ok(&["report", "data", "--evaluation", "evaluation.json", "--figures", "figures"]);
    let page = folder.read("report.html");
    for expected in [
        "How late the presses of ends are",
        "Learners compared by runs",
        "segment F1",
        "goodness of fit is not told of labels that form runs",
    ] {
        assert!(page.contains(expected), "{expected}");
    }
    assert!(folder.read("figures/end-delays.svg").contains("from the end of an event"));
    let data = page.split_once("type=\"application/json\"").unwrap().1.split_once('>').unwrap().1;
    let data = data.split_once("</script>").unwrap().0;
    let sessions: serde_json::Value = serde_json::from_str(data).unwrap();
    for session in sessions.as_array().unwrap() {
        let lengths = |of: &str| session[of]["lengths"].as_array().map_or(0, Vec::len);
        // Twelve bouts, and about as many are found.
        assert_eq!(lengths("true_events"), 12, "{session}");
        assert!((8..17).contains(&lengths("detected")), "{session}");
        let (stamps, ends) = (session["stamps"].as_array(), session["ends"].as_array());
        assert_eq!(stamps.map(Vec::len), ends.map(Vec::len));
    }
}

#[test]
fn durations_stay_durations() {
    let folder = bouts();
    let events = cells(&folder.read("data/events.csv"), ',');
    let mut lasting = String::from("session\tonset\tduration\ttrial_type\n");
    for row in &events[1..] {
        let [start, end]: [f64; 2] = [1, 2].map(|k: usize| row[k].parse().unwrap());
        lasting += &format!("{}\t{start}\t{}\tcough\n", row[0], end - start);
    }
    folder.write("data/events.tsv", &lasting);
    std::fs::remove_file(folder.path("data/events.csv")).unwrap();
    folder.ok(&["fit", "data", "--restarts", "0"]);
    folder.ok(&["align", "data"]);
    let aligned = cells(&folder.read("aligned.csv"), '\t');
    assert_eq!(aligned[0][..4].join(" "), "session onset duration trial_type");
    assert!(column(&aligned, "duration").iter().all(|&own| own >= 0.0));
    let written = column(&cells(&lasting, '\t'), "duration");
    assert_eq!(column(&aligned, "duration_stamp"), written);
    assert!(aligned[1..].iter().all(|row| row[3] == "cough"));
    assert!(folder.read("missed.csv").starts_with("session\tonset\tduration\t"));
}

#[test]
fn learners_are_compared_by_what_bouts_have_in_common() {
    let folder = bouts();
    let some = ["--learners", "LR-M,LR-H", "--folds", "2", "--restarts", "0"];
    let told = folder.ok(&[&["evaluate", "data"], &some[..]].concat());
    assert!(told.contains("overlap F1") && told.contains("PSDS F1"), "{told}");
    let found = folder.json("evaluation.json");
    let bouts = &found["learners"][0]["summary"]["labelled"]["events"]["bouts"];
    assert_eq!(bouts["bouts"], 48);
    assert!(bouts["overlap"]["f1"].as_f64().unwrap() > 0.5, "{bouts}");
}

#[test]
fn the_usual_learners_know_that_bouts_form_runs() {
    let folder = bouts();
    let some = ["--folds", "2", "--restarts", "0"];
    let told = folder.ok(&[&["evaluate", "data"], &some[..]].concat());
    assert!(told.contains("LR-M") && told.contains("LR-N") && !told.contains("MI"), "{told}");
    let asked = folder.fails(2, &["evaluate", "data", "--force", "--learners", "LR-M,MI"]);
    assert!(asked.contains("MI supposes independent labels"), "{asked}");
}

#[test]
fn a_clock_that_is_put_right_changes_no_length() {
    let folder = bouts();
    folder.ok(&["fit", "data", "--restarts", "0"]);
    let given = folder.read("data/events.csv");
    // One session's clock is 7 s ahead; bouts are some 20 s apart.
    let ahead = |line: &str| match line.split(',').collect::<Vec<_>>()[..] {
        ["s1", start, end] => {
            let [start, end] = [start, end].map(|text| match text.parse::<f64>() {
                Ok(time) => (time + 7.0).to_string(),
                Err(_) => text.to_owned(),
            });
            format!("s1,{start},{end}\n")
        }
        _ => format!("{line}\n"),
    };
    let off: String = given.lines().map(ahead).collect();
    folder.write("data/events.csv", &off);
    let found = ["sync", "data", "-m", "model.json", "--by", "session", "--range", "9s"];
    folder.ok(&[&found[..], &["--drift", "0", "-o", "synced.csv"]].concat());
    let synced = cells(&folder.read("synced.csv"), ',');
    assert_eq!(synced[0].join(","), "session,start,end,before_sync");
    let given = cells(&given, ',');
    let mut moved = 0;
    for (was, now) in cells(&off, ',').iter().zip(&synced).skip(1) {
        let of = |row: &[String], k: usize| row[k].parse::<f64>();
        let (Ok(was_end), Ok(now_end)) = (of(was, 2), of(now, 2)) else {
            assert_eq!(was[2], now[2]);
            continue;
        };
        let [was_start, now_start] = [was, now].map(|row| of(row, 1).unwrap());
        moved += usize::from(was_start != now_start);
        // Times are written to the microsecond.
        let length = now_end - now_start - (was_end - was_start);
        assert!(length.abs() < 1e-5, "{was:?} {now:?}");
    }
    assert!(moved >= 9, "{moved}");
    let late = |rows: &[Vec<String>]| column(rows, "start");
    for (k, (before, after)) in late(&given).iter().zip(late(&synced)).enumerate() {
        // A dozen stamps of either end that scatter by some 2 s.
        assert!((before - after).abs() < 3.0, "{:?} {:?}", given[k + 1], synced[k + 1]);
    }
    // What was written is read again: no end comes before its beginning.
    folder.ok(&["align", "data", "--events", "synced.csv", "--quiet"]);
}

#[test]
fn ends_are_not_reviewed() {
    let folder = bouts();
    let err = folder.fails(2, &["review", "data", "--export", "out"]);
    assert!(err.contains("a review supposes independent labels"), "{err}");
    assert!(err.contains("say --event-end-column '' --event-time-column start"), "{err}");
    folder.ok(&["fit", "data", "--restarts", "0", "--quiet"]);
    let asked = folder.fails(2, &["review", "data", "-m", "model.json", "--export", "out"]);
    assert!(asked.contains("fit a model of beginnings alone"), "{asked}");
    // What it asks for.
    let alone = ["--event-end-column", "", "--event-time-column", "start"];
    folder.ok(&[&["review", "data", "--export", "out", "--quiet"], &alone[..]].concat());
}

#[test]
fn columns_of_ends_are_named_in_mistakes() {
    let folder = bouts();
    let err = folder.fails(3, &["fit", "data", "--event-end-column", "stop"]);
    assert!(err.contains("it has no column `stop`") && err.contains("--event-end-column"), "{err}");
    let err = folder.fails(3, &["fit", "data", "--stamps", "presence", "--labels", "chain"]);
    assert!(err.contains("stamps with an end tell when something began and ended"), "{err}");
    folder.fails(2, &["simulate", "--from", "raw", "--end-delay", "1", "-o", "x"]);
}
