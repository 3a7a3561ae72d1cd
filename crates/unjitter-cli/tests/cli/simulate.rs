use crate::folder::Folder;

#[test]
fn the_same_seed_gives_the_same_files() {
    let folder = Folder::new();
    for (output, seed) in [("a", "3"), ("b", "3"), ("c", "4")] {
        folder.ok(&["simulate", "--sessions", "4", "--seed", seed, "-o", output]);
    }
    for file in ["instances.csv", "events.csv", "true_events.csv", "signal.csv.gz"] {
        let of = |output: &str| folder.bytes(&format!("{output}/{file}"));
        assert!(of("a") == of("b"), "{file} differs");
        assert!(of("a") != of("c"), "{file} does not depend on the seed");
    }
}

#[test]
fn stamps_can_be_pressed_for_a_labelled_dataset() {
    let folder = Folder::with_data();
    folder.ok(&["simulate", "--from", "data", "--spread", "0.001", "--delay", "-1", "-o", "again"]);
    assert_eq!(folder.read("again/instances.csv"), folder.read("data/instances.csv"));
    let times = |file: &str| -> Vec<f64> {
        folder
            .read(file)
            .lines()
            .skip(1)
            .map(|line| line.split(',').nth(1).unwrap().parse().unwrap())
            .collect()
    };
    let (stamps, truth) = (times("again/events.csv"), times("again/true_events.csv"));
    assert_eq!(stamps.len(), truth.len());
    // A whole spacing early, give or take a thousandth of one; breaths are some 4 s apart.
    let early =
        stamps.iter().zip(&truth).all(|(stamp, event)| (2.0..6.0).contains(&(event - stamp)));
    assert!(early, "{stamps:?} {truth:?}");
}

#[test]
fn errors_that_people_made_can_be_drawn_from() {
    let folder = Folder::with_data();
    folder.write("taps.csv", "id,error\n1,0.5\n2,\n3,0.5\n");
    let base = ["simulate", "--from", "data", "--errors", "taps.csv", "--spread", "2"];
    folder.ok(&[&base[..], &["-o", "taps"]].concat());
    // All errors are equal: every press is two spacings late, for any seed.
    folder.ok(&[&base[..], &["--seed", "9", "-o", "again"]].concat());
    assert_eq!(folder.read("taps/events.csv"), folder.read("again/events.csv"));
    assert_ne!(folder.read("taps/events.csv"), folder.read("taps/true_events.csv"));
    let wrong = ["--error-column", "eror", "-o", "x"];
    let err = folder.fails(3, &[&base[..], &wrong].concat());
    assert!(err.contains("taps.csv: it has no column `eror`; did you mean `error`?"), "{err}");
}

#[test]
fn impossible_annotators_are_refused() {
    let folder = Folder::new();
    for (option, value, expected) in [
        ("--spread", "0", "spread is 0, expected a finite number above 0"),
        ("--pressed", "1.5", "pressed is 1.5, expected a share from 0 to 1"),
        ("--sessions", "0", "0 is not in 1..=10000"),
        ("--spread", "-1", "spread is -1, expected a finite number above 0"),
    ] {
        let err = folder.fails(2, &["simulate", option, value, "-o", "x"]);
        assert!(err.contains(expected), "{err}");
    }
}

#[test]
fn the_times_of_a_given_dataset_are_written_as_they_came() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("given")).unwrap();
    let instances = "session,time,x,label\n\
                     s,2024-05-31T14:03:27+02:00,1,0\ns,2024-05-31T14:03:29.5+02:00,2,1\n\
                     s,2024-05-31T14:03:31+02:00,3,1\n";
    folder.write("given/instances.csv", instances);
    folder.write(
        "given/observed.csv",
        "session,start,end\ns,2024-05-31T14:03:28+02:00,2024-05-31T14:04:00+02:00\n",
    );
    folder.ok(&["simulate", "--from", "given", "--spread", "0.001", "-o", "made"]);
    let truth = "session,time\ns,2024-05-31T14:03:29.5+02:00\ns,2024-05-31T14:03:31+02:00\n";
    assert_eq!(folder.read("made/true_events.csv"), truth);
    assert_eq!(folder.read("made/observed.csv"), folder.read("given/observed.csv"));
    assert!(folder.read("made/events.csv").contains("2024-05-31T14:03:"));
}

#[test]
fn a_wearables_events_last_and_are_pressed_at_both_ends() {
    let folder = Folder::new();
    let base = ["simulate", "--preset", "wearable", "--sessions", "2", "--spread", "0.001"];
    let told = folder.ok(&[&base[..], &["-o", "made"]].concat());
    assert!(!folder.path("made/signal.csv.gz").exists());
    let table = |file: &str| -> Vec<Vec<f64>> {
        let numbers =
            |line: &str| line.split(',').skip(1).map(|cell| cell.parse().unwrap()).collect();
        folder.read(file).lines().skip(1).map(numbers).collect()
    };
    let (pressed, truth) = (table("made/events.csv"), table("made/true_events.csv"));
    // Bouts are counted, not the windows in them; ends scatter like beginnings if nothing else is said.
    assert!(told.contains(&format!("{} true events", truth.len())), "{told}");
    assert_eq!(pressed.len(), truth.len());
    for (pressed, truth) in pressed.iter().zip(&truth) {
        let off = (pressed[0] - truth[0]).abs().max((pressed[1] - truth[1]).abs());
        // Five standard deviations of a thousandth of a quarter of a second.
        assert!(off < 0.00125 && truth[1] > truth[0] + 1.0, "{pressed:?} {truth:?}");
    }
    folder.ok(&[&base[..], &["--end-delay", "8", "--end-spread", "0.001", "-o", "late"]].concat());
    let late = table("late/events.csv");
    let off = (late[0][1] - truth[0][1] - 2.0).abs();
    assert!((late[0][0] - truth[0][0]).abs() < 0.00125 && off < 0.00125, "{off}");
}
