//! The page, from made-up outcomes.

use unjitter::evaluation::MeanInterval;

use crate::outcome::{DatasetSummary, How, Outcome, Point, Role, Series, Test};
use crate::results::write;
use crate::spec::Measure;

fn point(x: Option<f64>, mean: f64) -> Point {
    Point {
        x,
        folds: vec![mean - 0.1, mean + 0.1],
        mean: MeanInterval { mean, low: mean - 0.05, high: mean + 0.05 },
        pooled: mean + 0.001,
        precision: Some(0.75),
        recall: Some(0.5),
    }
}

fn series(learner: &str, role: Role, points: Vec<Point>) -> Series {
    Series { learner: learner.into(), role, points }
}

/// An outcome without a sweep.
fn compared(name: &str, dataset: &str) -> Outcome {
    let test = Test {
        x: None,
        learner: "LR-M".into(),
        against: "LR-N".into(),
        difference: 0.6,
        p_value: 0.0012,
        comparisons: 3,
    };
    Outcome {
        name: name.into(),
        panel: "d".into(),
        title: "Learners".into(),
        about: "About it.".into(),
        measure: Measure::F1,
        dataset: DatasetSummary {
            name: dataset.into(),
            sessions: 13,
            instances: 3360,
            positives: 179,
            unit: 3.9,
        },
        sweep: None,
        series: vec![
            series("LR-N", Role::Baseline, vec![point(None, 0.2)]),
            series("LR-M", Role::Ours, vec![point(None, 0.8)]),
        ],
        tests: vec![test],
        how: How {
            command: "unjitter-experiments x.toml".into(),
            commit: "abc1234".into(),
            quick: false,
            seeds: vec![0, 1],
            folds: 10,
            inner_folds: 5,
            figure: true,
            took: None,
        },
    }
}

/// The same over a sweep.
fn swept(ours: [f64; 2], naive: [f64; 2]) -> Outcome {
    let points = |means: [f64; 2]| vec![point(Some(0.5), means[0]), point(Some(5.0), means[1])];
    Outcome {
        panel: "a".into(),
        sweep: Some("spread of delays (median spacings)".into()),
        series: vec![
            series("LR-M", Role::Ours, points(ours)),
            series("LR-N", Role::Baseline, points(naive)),
        ],
        tests: vec![],
        ..compared("spread", "one")
    }
}

fn page(outcomes: &[Outcome]) -> String {
    let folder = tempfile::tempdir().unwrap();
    std::fs::read_to_string(write(outcomes, folder.path()).unwrap()).unwrap()
}

#[test]
fn a_comparison_has_its_table_its_verdict_and_its_origin() {
    let page = page(&[compared("human", "one")]);
    for expected in [
        "## (d) Learners\n\nAbout it.\n\n### human: one\n",
        "From best to worst by mean F1: LR-M 0.80, LR-N 0.20.",
        "LR-M is 0.600 above LR-N (p = 0.0012, significant)",
        "Bonferroni over 3",
        "| learner | mean F1 | pooled F1 | precision | recall | LR-M less this one |",
        "| LR-N | 0.200 [0.150, 0.250] | 0.201 | 0.750 | 0.500 | +0.600, p = 0.0012 |",
        "| LR-M | 0.800 [0.750, 0.850] | 0.801 | 0.750 | 0.500 | – |",
        "(results/human.one.svg)",
        "seeds 0 and 1, 10 outer and 5 inner folds; version abc1234: `unjitter-experiments x.toml`",
    ] {
        assert!(page.contains(expected), "{expected:?} is not in\n{page}");
    }
    assert!(!page.contains("Quick version"));
}

#[test]
fn sentences_follow_the_numbers() {
    let found = page(&[swept([0.9, 0.8], [0.7, 0.1])]);
    let story = "As the spread of delays goes from 0.5 to 5, F1 goes from 0.90 to 0.80 for LR-M; \
                 at 5 the scores are LR-M 0.80, LR-N 0.10. Ahead of LR-N: LR-M at 2 of 2 settings.";
    assert!(found.contains(story), "{found}");
    // The opposite is reported as well.
    let found = page(&[swept([0.6, 0.8], [0.7, 0.1])]);
    assert!(found.contains("at 0.5 the scores are LR-M 0.60, LR-N 0.70."), "{found}");
    assert!(found.contains("at 1 of 2 settings"), "{found}");
    // Each of ours has its own course and its own count.
    let mut both = swept([0.9, 0.8], [0.7, 0.1]);
    both.series.insert(1, swept([0.6, 0.8], [0.0; 2]).series.remove(0));
    both.series[1].learner = "LR-M (paper)".into();
    let found = page(&[both]);
    let story = "F1 goes from 0.90 to 0.80 for LR-M and from 0.60 to 0.80 for LR-M (paper); at 5";
    assert!(found.contains(story), "{found}");
    let story = "Ahead of LR-N: LR-M at 2 of 2 settings, LR-M (paper) at 1 of 2 settings.";
    assert!(found.contains(story), "{found}");
    let mut lost = compared("human", "one");
    lost.tests[0].difference = -0.01;
    lost.tests[0].p_value = 0.4;
    assert!(page(&[lost]).contains("LR-M is 0.010 below LR-N (p = 0.40, not significant)"));
    let kept = Outcome { measure: Measure::Kept, ..swept([0.96, 0.22], [0.0, 0.0]) };
    let story = "the share of true positives that naive alignment keeps goes from 96 % to 22 %.";
    assert!(page(&[kept]).contains(story));
}

#[test]
fn a_run_changes_its_own_sections_and_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let read = |outcomes: &[Outcome]| {
        std::fs::read_to_string(write(outcomes, folder.path()).unwrap()).unwrap()
    };
    let first = read(&[compared("human", "one"), compared("human", "two")]);
    let second = read(&[swept([0.9, 0.8], [0.7, 0.1])]);
    let sections = |page: &str| -> Vec<String> {
        page.split("\n### ")
            .skip(1)
            .map(|s| s.split("\n## ").next().unwrap().trim().to_owned())
            .collect()
    };
    assert_eq!(sections(&second)[1..], sections(&first)[..]);
    assert!(second.find("### spread").unwrap() < second.find("### human").unwrap(), "by panel");
    let mut changed = compared("human", "two");
    changed.series[1].points[0].mean.mean = 0.77;
    let third = read(&[changed]);
    assert_eq!(sections(&third)[..2], sections(&second)[..2]);
    assert!(sections(&third)[2].contains("LR-M 0.77"), "{third}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2, "nothing is left behind");
}

#[test]
fn names_cannot_break_the_page() {
    let mut hostile = compared("human", "a|b <script>");
    hostile.series[0].learner = "<script>|".into();
    let page = page(&[hostile]);
    assert!(!page.contains("<script"), "{page}");
    let row = page.lines().find(|line| line.starts_with("| &lt;script>\\|")).unwrap();
    assert_eq!(row.replace("\\|", "").matches('|').count(), 7, "{row}");
}

#[test]
fn a_foreign_file_is_named() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("results")).unwrap();
    std::fs::write(folder.path().join("results/old.json"), "{}").unwrap();
    let error = write(&[], folder.path()).unwrap_err().to_string();
    assert!(error.contains("old.json is no result of this version; delete it"), "{error}");
}
