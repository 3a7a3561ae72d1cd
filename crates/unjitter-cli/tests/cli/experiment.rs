use crate::folder::Folder;

pub(crate) const TINY: &str = r#"
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

#[test]
fn results_have_tables_intervals_command_and_figure() {
    let folder = Folder::with_data();
    folder.write("tiny.toml", TINY);
    let base = ["experiment", "tiny.toml", "--quiet", "-o", "out", "--commit", "abc"];
    folder.ok(&[&base[..], &["--data", "data"]].concat());
    let page = folder.read("out/RESULTS.md");
    for expected in [
        "tiny: data",
        "| 0.5 |",
        "LR-M",
        "LR-N",
        "`unjitter experiment tiny.toml --data data`",
        "abc",
        "seeds 0",
    ] {
        assert!(page.contains(expected), "{expected} is missing from {page}");
    }
    assert!(folder.read("out/results/tiny.data.svg").starts_with("<svg"));
    // A second dataset adds its section and leaves the first.
    std::fs::rename(folder.path("data"), folder.path("other")).unwrap();
    folder.ok(&[&base[..], &["--data", "other", "--no-figure"]].concat());
    let both = folder.read("out/RESULTS.md");
    assert!(both.contains("tiny: data") && both.contains("tiny: other"), "{both}");
    assert!(!folder.path("out/results/tiny.other.svg").exists());
}

#[test]
fn mistakes_in_a_file_are_named_with_their_line() {
    let folder = Folder::with_data();
    for (from, to, expected) in [
        ("title =", "titel =", "unknown field `titel`"),
        ("\"naive\"", "\"nave\"", "unknown variant `nave`"),
        ("values = [0.5, 2.0]", "values = []", "tiny.toml, line 12"),
    ] {
        folder.write("tiny.toml", &TINY.replacen(from, to, 1));
        let err = folder.fails(2, &["experiment", "tiny.toml"]);
        assert!(err.contains("tiny.toml, line") && err.contains(expected), "{err}");
    }
    folder.write("tiny.toml", TINY);
    folder.fails(1, &["experiment", "gone.toml"]);
    let err =
        folder.fails(3, &["experiment", "tiny.toml", "--data", "data", "--label-column", "lable"]);
    assert!(err.contains("it has no column `lable`; did you mean `label`?"), "{err}");
    let err = folder.fails(3, &["experiment", "tiny.toml", "--errors", "data/events.csv"]);
    assert!(err.contains("it has no column `error`"), "{err}");
}
