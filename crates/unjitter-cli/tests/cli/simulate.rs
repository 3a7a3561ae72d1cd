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
    folder
        .ok(&["simulate", "--from", "data", "--errors", "taps.csv", "--spread", "2", "-o", "taps"]);
    let err = folder.fails(
        3,
        &[
            "simulate",
            "--from",
            "data",
            "--errors",
            "taps.csv",
            "--error-column",
            "eror",
            "-o",
            "x",
        ],
    );
    assert!(err.contains("taps.csv: it has no column `eror`; did you mean `error`?"), "{err}");
}

#[test]
fn impossible_annotators_are_refused() {
    let folder = Folder::new();
    for (option, value, expected) in [
        ("--spread", "0", "spread is 0, expected a finite number above 0"),
        ("--pressed", "1.5", "pressed is 1.5, expected a share from 0 to 1"),
        ("--sessions", "0", "expected at least"),
    ] {
        let err = folder.fails(2, &["simulate", option, value, "-o", "x"]);
        assert!(err.contains(expected), "{err}");
    }
}
