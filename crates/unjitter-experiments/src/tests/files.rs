//! Experiment files, and messages about their mistakes.

use std::path::Path;

use super::{TINY, parse};
use crate::spec::{Over, Spec};

fn message(text: &str) -> String {
    parse(text).unwrap_err().to_string()
}

#[test]
fn what_is_left_out_has_its_default() {
    let spec = parse("name = \"x\"\ntitle = \"X\"\n[[learners]]\nkind = \"naive\"\n").unwrap();
    assert_eq!((spec.seeds.len(), spec.datasets.len()), (2, 2));
    assert_eq!((spec.cross_validation.folds, spec.cross_validation.inner_folds), (10, 10));
    assert_eq!((spec.annotator.spread, spec.annotator.pressed), (1.0, 1.0));
    assert_eq!(spec.learners[0].weight_precision, [1.0]);
    assert!(spec.sweep.is_none());
}

#[test]
fn everything_said_is_heard() {
    let spec = parse(TINY).unwrap();
    let sweep = spec.sweep.as_ref().unwrap();
    assert_eq!((sweep.over, &sweep.values[..]), (Over::Spread, &[0.5, 2.0][..]));
    let names: Vec<String> = spec.learners.iter().map(|learner| learner.name()).collect();
    assert_eq!(names, ["LR-M", "LR-H"]);
    let quick = spec.quick(true);
    assert_eq!(quick.sweep.unwrap().values, [1.0]);
    assert!(quick.learners.iter().all(|learner| learner.weight_precision == [1.0]));
    assert_eq!(spec.quick(false), spec);
}

#[test]
fn mistakes_name_file_line_and_what_was_expected() {
    let table = [
        ("seeds = [0]", "seed = [0]", "line 4, column 1: unknown field `seed`, expected one of"),
        ("folds = 2", "folds = \"two\"", "line 8, column 9: invalid type: string \"two\""),
        ("over = \"spread\"", "over = \"noise\"", "line 12, column 8: unknown variant `noise`"),
        ("kind = \"imprecise\"", "kind = \"ours\"", "line 16, column 8: unknown variant `ours`"),
        ("restarts = 0", "bag_size = [2]", "line 18: learners.0.bag_size has no meaning"),
        ("restarts = 0", "model = \"ours\"", "line 18, column 9: unknown variant `ours`"),
        (
            "kind = \"hand_aligned\"",
            "kind = \"hand_aligned\"\nmodel = \"paper\"",
            "line 22: learners.1.model has no meaning",
        ),
        ("restarts = 0", "alignment = \"any\"", "line 18, column 13: unknown variant `any`"),
        (
            "kind = \"hand_aligned\"",
            "kind = \"hand_aligned\"\nalignment = \"free\"",
            "line 22: learners.1.alignment has no meaning",
        ),
        ("restarts = 0", "noise = {kind = \"gaussian\", k = 2}", "line 18"),
        ("restarts = 0", "optimiser = {tolerance = 1}", "line 18"),
        (
            "restarts = 0",
            "classifier = {kind = \"logistic\", hidden = [2]}",
            "line 18, column 14: unknown field `hidden`",
        ),
        ("restarts = 0", "classifier = {kind = \"kernel\", landmark = 2}", "field `landmark`"),
        ("seeds = [0]", "seeds = []", "line 4: seeds is empty, expected at least one"),
        ("values = [0.5, 2.0]", "values = [2.0, 0.5]", "line 13: sweep.values.1 is 0.5, expected"),
        ("compare = \"LR-M\"", "compare = \"MI\"", "line 5: compare is \"MI\", expected one of"),
        ("\"hand_aligned\"", "\"imprecise\"", "line 20: learners.1 is a second LR-M, expected"),
        ("name = \"tiny\"", "name = \"a/b\"", "line 2: name is \"a/b\", expected letters"),
        ("[1.0, 10.0]", "[1.0, -1.0]", "line 17: learners.0.weight_precision holds -1"),
        ("values = [1.0]", "values = []", "quick is no experiment: sweep.values is empty"),
    ];
    for (good, bad, expected) in table {
        assert!(TINY.contains(good), "{good}");
        let found = message(&TINY.replacen(good, bad, 1));
        assert!(found.starts_with("some/tiny.toml, line"), "{bad}: {found}");
        assert!(found.contains(expected), "{bad}: {found}");
    }
}

#[test]
fn measures_without_learners_have_none() {
    let kept = TINY.replacen("seeds = [0]", "seeds = [0]\nmeasure = \"kept\"", 1);
    assert!(message(&kept).contains("learners has no meaning where measure is \"kept\""));
    let none = TINY.split("[[learners]]").next().unwrap();
    assert!(message(none).contains("learners is missing, expected at least one"));
}

#[test]
fn every_shipped_experiment_is_in_order() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments");
    let mut panels = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            let spec = Spec::read(&path).unwrap();
            assert_eq!(Some(spec.name.as_str()), path.file_stem().unwrap().to_str());
            // The names in their comments.
            let text = std::fs::read_to_string(&path).unwrap();
            for learner in &spec.learners {
                assert!(text.contains(&format!("# {}", learner.name())), "{}", learner.name());
            }
            panels.push(spec.panel);
        }
    }
    panels.sort();
    assert_eq!(panels, ["a", "b", "c", "d", "e", "f", "g"]);
}
