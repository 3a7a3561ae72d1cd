//! Runs from end to end: interrupted, continued, quick.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use unjitter::evaluation::{MeanInterval, mean_interval};
use unjitter::{Control, Progress};

use super::{TINY, dataset, parse};
use crate::datasets::Dataset;
use crate::outcome::Outcome;
use crate::results::write;
use crate::run::{RunOptions, run};
use crate::spec::Spec;

fn options(work: Option<&std::path::Path>) -> RunOptions {
    RunOptions {
        work: work.map(Into::into),
        command: "c".into(),
        commit: "v".into(),
        ..Default::default()
    }
}

fn go(spec: &Spec, datasets: &[Dataset], options: &RunOptions) -> anyhow::Result<Vec<Outcome>> {
    run(spec, datasets, options, &|_| {}, Control::default())
}

fn outcome(work: Option<&std::path::Path>) -> Outcome {
    let found = go(&parse(TINY).unwrap(), &[dataset(4)], &options(work)).unwrap();
    found.into_iter().next().unwrap()
}

#[test]
fn interrupted_work_goes_on_and_ends_the_same() {
    let whole = outcome(None);
    let folder = tempfile::tempdir().unwrap();
    let work = folder.path().join("work");
    let (spec, data) = (parse(TINY).unwrap(), [dataset(4)]);
    // One fit at a time: the last one must not end on another thread before it sees the request.
    let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    // 2 folds × (2 candidates × 2 inner folds + 1) at two spreads, and 2 fits of LR-H.
    for stop_after in [1, 7, 15, 21] {
        let stop = AtomicBool::new(false);
        let watch = |progress: Progress| {
            assert!(progress.done <= progress.total && progress.total == 22, "{progress:?}");
            stop.fetch_or(progress.done >= stop_after, Ordering::Relaxed);
        };
        let control = Control { stop: Some(&stop), watch: Some(&watch) };
        let begin = |label: &str| assert!(label.starts_with("tiny, made up: LR-"), "{label}");
        let options = options(Some(&work));
        let stopped = alone.install(|| run(&spec, &data, &options, &begin, control));
        let error = stopped.unwrap_err();
        let cause = error.downcast_ref::<unjitter::Error>();
        assert!(matches!(cause, Some(unjitter::Error::Interrupted { .. })), "{error:?}");
    }
    assert_eq!(std::fs::read_dir(&work).unwrap().count(), 3);
    assert_eq!(outcome(Some(&work)), whole);
}

#[test]
fn tests_are_paired_by_fold_and_corrected_for_their_number() {
    let outcome = outcome(None);
    let [ours, ceiling] = &outcome.series[..] else { panic!("{outcome:?}") };
    assert_eq!(outcome.tests.len(), 2);
    for (k, test) in outcome.tests.iter().enumerate() {
        let (a, b) = (&ours.points[k].folds, &ceiling.points[k].folds);
        let plain = unjitter::evaluation::paired_t_test(a, b).unwrap();
        assert_eq!((test.x, test.comparisons), (ours.points[k].x, 2));
        assert_eq!(test.p_value, (2.0 * plain.p_value).min(1.0));
        assert_eq!(test.difference, plain.mean_difference);
    }
}

#[test]
fn intervals_end_where_scores_do() {
    let text = TINY.replacen("2.0]", "2.0, 9.0]", 1);
    let found = go(&parse(&text).unwrap(), &[dataset(4)], &options(None)).unwrap();
    let kept = text.split("[[learners]]").next().unwrap();
    let kept = kept.replacen("compare = \"LR-M\"", "measure = \"kept\"", 1);
    let kept = go(&parse(&kept).unwrap(), &[dataset(4)], &options(None)).unwrap();
    let (mut below, mut above) = (0, 0);
    for point in [found, kept].iter().flatten().flat_map(|o| &o.series).flat_map(|s| &s.points) {
        let whole = mean_interval(&point.folds, 0.95).unwrap();
        let (low, high) = (whole.low.max(0.0), whole.high.min(1.0));
        assert_eq!(point.mean, MeanInterval { low, high, ..whole });
        below += usize::from(whole.low < 0.0);
        above += usize::from(whole.high > 1.0);
    }
    assert!(below > 0 && above > 0, "{below} and {above} intervals reach too far");
}

#[test]
fn finished_cells_are_not_fitted_again() {
    let folder = tempfile::tempdir().unwrap();
    outcome(Some(folder.path()));
    let sizes = || -> Vec<u64> {
        let files = std::fs::read_dir(folder.path()).unwrap();
        files.map(|file| file.unwrap().metadata().unwrap().len()).collect()
    };
    let before = sizes();
    let steps = AtomicUsize::new(0);
    let count = |_| {
        steps.fetch_add(1, Ordering::Relaxed);
    };
    let control = Control { watch: Some(&count), ..Control::default() };
    let options = options(Some(folder.path()));
    run(&parse(TINY).unwrap(), &[dataset(4)], &options, &|_| {}, control).unwrap();
    assert_eq!((sizes(), steps.into_inner()), (before, 22));
}

#[test]
fn a_spoiled_journal_says_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    outcome(Some(folder.path()));
    for file in std::fs::read_dir(folder.path()).unwrap() {
        std::fs::write(file.unwrap().path(), "something else\n").unwrap();
    }
    let error = go(&parse(TINY).unwrap(), &[dataset(4)], &options(Some(folder.path())));
    let error = format!("{:#}", error.unwrap_err());
    assert!(error.contains("delete it, or choose another work folder"), "{error}");
    assert!(error.contains(".jsonl"), "{error}");
}

#[test]
fn quick_runs_end_to_end() {
    let folder = tempfile::tempdir().unwrap();
    let spec = parse(TINY).unwrap();
    let options = RunOptions { quick: true, figure: true, ..options(None) };
    let found = go(&spec, &[dataset(4)], &options).unwrap();
    let page = std::fs::read_to_string(write(&found, folder.path()).unwrap()).unwrap();
    assert!(page.contains("Quick version. 4 sessions, 240 instances, 28 positive"), "{page}");
    assert!(page.contains("results/tiny.made-up.quick.svg"), "{page}");
    assert!(folder.path().join("results/tiny.made-up.quick.svg").is_file());
    let [ours, ceiling] = &found[0].series[..] else { panic!("{found:?}") };
    assert_eq!((ours.points.len(), ours.points[0].x), (1, Some(1.0)));
    // The feature reveals events: both learn it, from stamps or from labels.
    assert!(ours.points[0].pooled > 0.9 && ceiling.points[0].pooled > 0.9, "{found:?}");
}

#[test]
fn quick_takes_the_first_sessions() {
    let text = TINY.replacen("[quick]", "[quick]\nsessions = 2", 1);
    let options = RunOptions { quick: true, ..options(None) };
    let found = go(&parse(&text).unwrap(), &[dataset(4)], &options).unwrap();
    assert_eq!(found[0].dataset.sessions, 2);
}

#[test]
fn positives_are_lost_as_delays_spread() {
    let text = TINY.split("[[learners]]").next().unwrap();
    let text = text.replacen("compare = \"LR-M\"", "measure = \"kept\"", 1);
    let text = text.replacen("0.5, 2.0", "0.01, 0.5, 3.0", 1);
    let found = go(&parse(&text).unwrap(), &[dataset(4)], &options(None)).unwrap();
    let points = &found[0].series[0].points;
    let kept: Vec<f64> = points.iter().map(|point| point.pooled).collect();
    assert_eq!(kept[0], 1.0);
    assert!(kept[0] > kept[1] && kept[1] > kept[2], "{kept:?}");
    assert_eq!(points[0].folds.len(), 4);
}

#[test]
fn recorded_errors_replace_the_tails() {
    let text = TINY.split("[[learners]]").next().unwrap();
    let text = text.replacen("compare = \"LR-M\"", "measure = \"kept\"", 1);
    // Errors of exactly one spread: half a spacing to either side leaves nothing in place.
    let errors = Some(vec![0.2, -0.2]);
    let options = RunOptions { errors, ..options(None) };
    let found = go(&parse(&text).unwrap(), &[dataset(4)], &options).unwrap();
    assert_eq!(found[0].series[0].points[1].pooled, 0.0);
    assert_eq!(found[0].name, "tiny-recorded");
    assert!(found[0].about.contains("drawn from 2 recorded errors"), "{}", found[0].about);
}

#[test]
fn the_score_of_a_fold_is_its_mean_over_seeds() {
    let alone = |seeds: &str| {
        let text = TINY.replacen("seeds = [0]", seeds, 1);
        let found = go(&parse(&text).unwrap(), &[dataset(4)], &options(None)).unwrap();
        found[0].series[0].points[1].folds.clone()
    };
    let (first, second, both) =
        (alone("seeds = [0]"), alone("seeds = [5]"), alone("seeds = [0, 5]"));
    assert_ne!(first, second, "other stamps, other scores");
    let mean: Vec<f64> = first.iter().zip(&second).map(|(a, b)| (a + b) / 2.0).collect();
    assert_eq!(both, mean);
}
