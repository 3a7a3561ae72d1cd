use crate::folder::Folder;

#[test]
fn breaths_are_found_in_a_packed_signal() {
    let folder = Folder::with_data();
    let result =
        folder.ok_json(&["featurize", "data/signal.csv.gz", "--method", "cycles", "--json"]);
    assert_eq!(result["features"], 30);
    // The instances of the simulated dataset were found in the same signal, kept to fewer digits.
    let simulated = folder.read("data/instances.csv").lines().count();
    assert_eq!(folder.read("instances.csv").lines().count(), simulated);
}

#[test]
fn channels_become_windows() {
    let folder = Folder::new();
    let mut text = String::from("t,a,b,note\n");
    for k in 0..200 {
        let t = f64::from(k) * 0.1;
        text += &format!(
            "{},{},{},n\n",
            1000.0 * t,
            t.sin(),
            if k == 50 { String::new() } else { t.cos().to_string() }
        );
    }
    folder.write("imu.csv", &text);
    let base =
        ["featurize", "imu.csv", "--time-column", "t", "--times-in", "ms", "--channels", "a,b"];
    folder.ok(&[&base[..], &["--length", "4", "--step", "2", "--bands", "0.1-0.5,0.5-2"]].concat());
    let table = folder.read("instances.csv");
    let mut lines = table.lines();
    let header = lines.next().unwrap();
    assert!(
        header.starts_with("session,time,a_mean") && header.contains("b_power_0.5_2_hz"),
        "{header}"
    );
    // 20 s in windows of 4 s: starts at 0, 2, …, 14 and at 16 one sample short; in milliseconds.
    let times: Vec<&str> = lines.map(|line| line.split(',').nth(1).unwrap()).collect();
    assert_eq!(&times[..3], ["2000", "4000", "6000"]);
    assert!(table.contains("\nimu,2000,"), "{table}");
    let err = folder.fails(2, &[&base[..], &["--bands", "fast", "-o", "x"]].concat());
    assert!(err.contains("--bands fast: expected FROM-TO in Hz"), "{err}");
    let err = folder.fails(2, &[&base[..], &["--method", "cycles", "-o", "x"]].concat());
    assert!(err.contains("cycles need one channel, there are a, b"), "{err}");
}

#[test]
fn tables_without_a_header_are_named_by_number() {
    let folder = Folder::new();
    let rows: String = (0..100)
        .map(|k| format!("{},{}\n", 1_480_453_825_000_000_u64 + 50_000 * k, k % 7))
        .collect();
    folder.write("raw.csv", &rows);
    let err = folder.fails(3, &["featurize", "raw.csv", "-o", "x"]);
    assert!(err.contains("the header has numbers for names"), "{err}");
    folder.ok(&["featurize", "raw.csv", "--no-header", "--time-column", "1", "--times-in", "us"]);
    let table = folder.read("instances.csv");
    assert!(table.lines().nth(1).unwrap().starts_with("raw,1480453826000000,"), "{table}");
}

#[test]
fn nothing_left_is_an_error() {
    let folder = Folder::new();
    folder.write("empty.csv", "time,a\n");
    let err = folder.fails(3, &["featurize", "empty.csv"]);
    assert!(err.contains("empty.csv: it has a header and no samples"), "{err}");
    let rows: String = (0..400).map(|k| format!("{},1\n", 0.1 * f64::from(k))).collect();
    folder.write("short.csv", &format!("time,a\n{rows}"));
    let err = folder.fails(3, &["featurize", "short.csv", "--length", "1000"]);
    assert!(err.contains("short.csv: no instances, 0 left out; a window takes 1000 s"), "{err}");
    assert!(err.contains("see --length and --min-share"), "{err}");
}
