//! Cross-validation without leaks, which can be cut off at any moment and ends with the same numbers.

use std::collections::HashSet;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ndarray::Array2;
use unjitter::baselines::{AlignmentLearner, HandAligned, Learner, Naive, TrainedModel};
use unjitter::evaluation::{
    Comparison, Contender, ContenderResult, Criterion, CrossValidation, GroupBy, Threshold,
    expected_f1_threshold, folds, is_equal,
};
use unjitter::learning::Supervised;
use unjitter::math::Random;
use unjitter::simulation::Annotator;
use unjitter::{Control, Error, FitOptions, Model, Priors, Progress, Recording, Result, Session};

/// Sessions of 60 instances one second apart, a quarter of them events that two features tell,
/// annotated with a spread of one second; two sessions per subject.
fn recordings(sessions: usize) -> Vec<Recording<'static>> {
    let mut random = Random::new(5);
    (0..sessions)
        .map(|k| {
            let truth: Vec<bool> = (0..60).map(|_| random.uniform() < 0.25).collect();
            let features = Array2::from_shape_fn((60, 2), |(i, j)| {
                let shift = if truth[i] { [2.0, -1.0][j] } else { 0.0 };
                shift + random.normal()
            });
            let times = (0..60).map(f64::from).collect();
            let session = Session::new(format!("s{k}"), features, times, vec![]).unwrap();
            let session = session.with_subject(format!("p{}", k / 2));
            let recording = Recording { session, truth: Some(truth) };
            Annotator::gaussian(0.3, 1.0).annotate(&recording, k as u64).unwrap()
        })
        .collect()
}

fn ridge(weight_precision: f64) -> Supervised {
    let priors = Priors { weight_precision, ..Priors::default() };
    Supervised { priors, ..Supervised::default() }
}

fn contenders() -> Vec<Contender> {
    let naive = [0.1, 1.0, 10.0].map(|precision| Naive { supervised: ridge(precision) });
    vec![Contender::grid(naive), Contender::single(HandAligned::default())]
}

fn options() -> CrossValidation {
    CrossValidation { folds: 4, inner_folds: 3, ..CrossValidation::default() }
}

fn stopped_by(stop: &AtomicBool) -> Control<'_> {
    Control { stop: Some(stop), ..Control::default() }
}

fn run(data: &[Recording], journal: Option<&Path>) -> Result<Comparison> {
    options().run(data, &contenders(), journal, Control::default())
}

#[test]
fn folds_split_neither_sessions_nor_subjects() {
    let data = recordings(12);
    let all: Vec<&Recording> = data.iter().collect();
    for seed in 0..20 {
        for (group_by, count) in [(GroupBy::Session, 5), (GroupBy::Subject, 4)] {
            let folds = folds(&all, count, group_by, seed).unwrap();
            let mut seen: Vec<usize> = folds.iter().flatten().copied().collect();
            seen.sort_unstable();
            assert_eq!(seen, (0..12).collect::<Vec<_>>());
            if group_by == GroupBy::Subject {
                for k in 0..6 {
                    let of = |i: usize| folds.iter().position(|fold| fold.contains(&i));
                    assert_eq!(of(2 * k), of(2 * k + 1), "subject {k} is split");
                }
            }
        }
    }
    let one = folds(&all, 6, GroupBy::Subject, 1).unwrap();
    assert_eq!(one, folds(&all, 6, GroupBy::Subject, 1).unwrap());
    assert_ne!(one, folds(&all, 6, GroupBy::Subject, 2).unwrap());
    assert_eq!(folds(&all, 50, GroupBy::Subject, 1).unwrap().len(), 6);
    let error = folds(&all[..2], 10, GroupBy::Subject, 1).unwrap_err().to_string();
    assert!(error.contains("1 sessions or subjects cannot be split into 10 folds"), "{error}");
}

/// Records its training data.
#[derive(Debug)]
struct Spy {
    precision: f64,
    seen: Arc<Mutex<Vec<Vec<String>>>>,
}

impl Learner for Spy {
    fn name(&self) -> String {
        "spy".to_owned()
    }
    fn options(&self) -> serde_json::Value {
        serde_json::json!(self.precision)
    }
    fn fit(
        &self,
        recordings: &[&Recording],
        seed: u64,
        control: Control<'_>,
    ) -> Result<TrainedModel> {
        let names = recordings.iter().map(|r| r.session.name().to_owned()).collect();
        self.seen.lock().unwrap().push(names);
        Naive { supervised: ridge(self.precision) }.fit(recordings, seed, control)
    }
}

#[test]
fn nothing_held_out_is_trained_on() {
    let data = recordings(8);
    let seen = Arc::new(Mutex::new(Vec::new()));
    let spies = [0.1, 10.0].map(|precision| Spy { precision, seen: seen.clone() });
    let options = CrossValidation { group_by: GroupBy::Subject, ..options() };
    let result = options.run(&data, &[Contender::grid(spies)], None, Control::default()).unwrap();
    let seen = seen.lock().unwrap();
    let names = |fold: &Vec<usize>| -> HashSet<String> {
        fold.iter().map(|&k| data[k].session.name().to_owned()).collect()
    };
    // Four outer folds of one subject; three inner folds of one subject; two candidates: 24 inner
    // fits on two subjects, 4 final ones on three.
    let by_size = |size: usize| seen.iter().filter(|names| names.len() == size).count();
    assert_eq!((seen.len(), by_size(4), by_size(6)), (28, 24, 4));
    for fold in &result.folds {
        let held_out = names(fold);
        let without = seen.iter().filter(|names| names.iter().all(|n| !held_out.contains(n)));
        // Its own six inner fits and one final one, and the inner fits of others that hold the same
        // subject out: three other folds, two candidates each.
        assert_eq!(without.count(), 6 + 1 + 6);
    }
}

#[test]
fn threads_do_not_change_the_numbers() {
    let data = recordings(8);
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| run(&data, None).unwrap())
    };
    assert_eq!(on(1), on(2));
}

#[test]
fn interrupted_work_goes_on_and_ends_the_same() {
    let data = recordings(8);
    let folder = tempfile::tempdir().unwrap();
    let journal = folder.path().join("journal");
    let whole = run(&data, None).unwrap();
    let total = 4 * 3 * 3 + 8;
    for stop_after in [1, 7, 20, 38] {
        let stop = AtomicBool::new(false);
        let watch = |cells: Progress| {
            assert_eq!((cells.total, cells.iteration), (total, None));
            stop.fetch_or(cells.done >= stop_after, Ordering::Relaxed);
        };
        let control = Control { stop: Some(&stop), watch: Some(&watch) };
        let error = options().run(&data, &contenders(), Some(&journal), control).unwrap_err();
        assert!(error.to_string().contains(&format!("of {total} cells")), "{error}");
    }
    let lines = std::fs::read_to_string(&journal).unwrap().lines().count();
    assert!(lines > 38, "{lines} lines: the journal has the header and what was done");
    let fits = AtomicUsize::new(0);
    let count = |_| {
        fits.fetch_add(1, Ordering::Relaxed);
    };
    let control = Control { watch: Some(&count), ..Control::default() };
    assert_eq!(options().run(&data, &contenders(), Some(&journal), control).unwrap(), whole);
    assert_eq!(fits.into_inner(), total);
    // A second run finds everything.
    let before = std::fs::read(&journal).unwrap();
    assert_eq!(run(&data, Some(&journal)).unwrap(), whole);
    assert_eq!(std::fs::read(&journal).unwrap(), before);
}

#[test]
fn a_torn_line_is_done_again() {
    let data = recordings(8);
    let folder = tempfile::tempdir().unwrap();
    let journal = folder.path().join("journal");
    let whole = run(&data, Some(&journal)).unwrap();
    let bytes = std::fs::read(&journal).unwrap();
    for cut in [1, 10, bytes.len() / 2, bytes.len() - 3] {
        std::fs::write(&journal, &bytes[..bytes.len() - cut]).unwrap();
        assert_eq!(run(&data, Some(&journal)).unwrap(), whole, "{cut} bytes lost");
    }
}

#[test]
fn a_key_changes_with_whatever_decides_the_numbers() {
    let (data, learners) = (recordings(6), contenders());
    let key = options().key(&data, &learners);
    assert_eq!(key, options().key(&recordings(6), &contenders()));
    assert!(key.len() == 32 && key.bytes().all(|byte| byte.is_ascii_hexdigit()), "{key}");
    assert_ne!(key, CrossValidation { seed: 99, ..options() }.key(&data, &learners));
    assert_ne!(key, options().key(&data[1..], &learners));
    assert_ne!(key, options().key(&data, &learners[1..]));
}

#[test]
fn cells_are_counted_beforehand() {
    let data = recordings(6);
    let told = std::sync::Mutex::new(0);
    let watch = |cells: Progress| *told.lock().unwrap() = cells.total;
    let control = Control { watch: Some(&watch), ..Control::default() };
    options().run(&data, &contenders(), None, control).unwrap();
    assert_eq!(options().cells(&data, &contenders()).unwrap(), told.into_inner().unwrap());
}

#[test]
fn a_journal_of_other_options_or_data_is_refused() {
    let data = recordings(8);
    let folder = tempfile::tempdir().unwrap();
    let journal = folder.path().join("journal");
    run(&data, Some(&journal)).unwrap();
    let before = std::fs::read(&journal).unwrap();
    let other = CrossValidation { seed: 1, ..options() };
    let error = other
        .run(&data, &contenders(), Some(&journal), Control::default())
        .unwrap_err()
        .to_string();
    assert!(error.contains("other options"), "{error}");
    let error =
        options().run(&data, &contenders()[..1], Some(&journal), Control::default()).unwrap_err();
    assert!(error.to_string().contains("other options"), "{error}");
    let mut changed = data.clone();
    changed[3].truth.as_mut().unwrap()[5] ^= true;
    let error = run(&changed, Some(&journal)).unwrap_err().to_string();
    assert!(error.contains("other data"), "{error}");
    assert_eq!(std::fs::read(&journal).unwrap(), before);
    for text in ["not a journal\n", "not a journal, and no line either", "{"] {
        std::fs::write(&journal, text).unwrap();
        match run(&data, Some(&journal)) {
            // All that was written of a journal before it was killed.
            Ok(_) => assert_eq!(text, "{"),
            Err(error) => {
                assert!(error.to_string().contains("does not begin like a journal"), "{error}");
                assert_eq!(std::fs::read_to_string(&journal).unwrap(), text);
            }
        }
    }
}

/// Naive, but slow enough to be killed on the way.
#[derive(Debug)]
struct Slow(f64);

impl Learner for Slow {
    fn name(&self) -> String {
        "slow".to_owned()
    }
    fn options(&self) -> serde_json::Value {
        serde_json::json!(self.0)
    }
    fn fit(
        &self,
        recordings: &[&Recording],
        seed: u64,
        control: Control<'_>,
    ) -> Result<TrainedModel> {
        if std::env::var_os("UNJITTER_TEST_JOURNAL").is_some() {
            std::thread::sleep(Duration::from_millis(30));
        }
        Naive { supervised: ridge(self.0) }.fit(recordings, seed, control)
    }
}

fn slow_run(journal: Option<&Path>) -> Comparison {
    let contenders = [Contender::grid([0.1, 1.0, 10.0].map(Slow))];
    options().run(&recordings(8), &contenders, journal, Control::default()).unwrap()
}

/// Not a test of its own: the process that `killed_work_goes_on_and_ends_the_same` kills.
#[test]
fn child_to_be_killed() {
    if let Some(journal) = std::env::var_os("UNJITTER_TEST_JOURNAL") {
        slow_run(Some(Path::new(&journal)));
    }
}

#[test]
fn killed_work_goes_on_and_ends_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let journal = folder.path().join("journal");
    let lines = || std::fs::read_to_string(&journal).map_or(0, |text| text.lines().count());
    for at_least in [4, 12] {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "child_to_be_killed"])
            .env("UNJITTER_TEST_JOURNAL", &journal)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        while lines() < at_least && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(2));
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let left = lines();
    assert!((12..41).contains(&left), "{left} lines when killed");
    assert_eq!(slow_run(Some(&journal)), slow_run(None));
}

#[test]
fn without_clean_labels_the_evidence_decides() {
    let mut data = recordings(8);
    data.iter_mut().for_each(|recording| recording.truth = None);
    let naive = [0.1, 1e4].map(|precision| Naive { supervised: ridge(precision) });
    let result = options().run(&data, &[Contender::grid(naive)], None, Control::default()).unwrap();
    let judged = &result.contenders[0];
    assert!(judged.f1().is_none() && judged.pooled().is_none());
    assert!(judged.folds.iter().all(|fold| fold.log_evidence().is_some()));
    let error = CrossValidation { criterion: Some(Criterion::F1), ..options() }
        .run(&data, &contenders()[..1], None, Control::default())
        .unwrap_err();
    assert!(error.to_string().contains("no hand-aligned labels"), "{error}");
}

#[test]
fn evidence_prefers_the_model_that_generated_the_stamps() {
    let data = recordings(8);
    let wide = |spread: f64| {
        let mut learner = AlignmentLearner::default();
        learner.model = learner.model.freeze("noise.spread", &[spread]);
        learner
    };
    let options = CrossValidation { criterion: Some(Criterion::LogEvidence), ..options() };
    let grid = Contender::grid([wide(0.05), wide(1.0), wide(20.0)]);
    let result = options.run(&data, &[grid], None, Control::default()).unwrap();
    assert!(result.contenders[0].folds.iter().all(|fold| fold.chosen == 1), "{result:?}");
}

#[test]
fn of_equal_options_the_simplest_is_taken() {
    let data = recordings(8);
    let with = |precision: f64| {
        let mut learner = AlignmentLearner::default();
        learner.model.priors.weight_precision = precision;
        learner
    };
    let options = CrossValidation { criterion: Some(Criterion::LogEvidence), ..options() };
    // The first two hardly differ; the last learns no weights at all.
    let grid = Contender::grid([0.999, 1.0, 1e7].map(with));
    let result = options.run(&data, &[grid], None, Control::default()).unwrap();
    let judged = &result.contenders[0];
    assert!(judged.folds.iter().all(|fold| fold.chosen == 1), "{:?}", judged.candidates);
    let behind: Vec<_> = judged.candidates.iter().map(|own| own.behind.unwrap()).collect();
    assert!(is_equal(&behind[0]) && is_equal(&behind[1]) && !is_equal(&behind[2]), "{behind:?}");
    assert_eq!(judged.candidates[1].chosen, judged.folds.len());
    let [a, b] = [0, 2].map(|k| judged.candidates[k].simplicity);
    assert_eq!((a.parameters, b.weight_precision), (b.parameters, 1e7));
    // A parameter that is held is not learned.
    let mut held = with(1.0);
    held.model = held.model.freeze("noise.delay", &[0.0]);
    let grid = Contender::grid([with(1.0), held]);
    let result = options.run(&data, &[grid], None, Control::default()).unwrap();
    let [free, held] = [0, 1].map(|k| result.contenders[0].candidates[k].simplicity.parameters);
    assert_eq!(held + 1, free);
}

#[test]
fn thresholds_follow_their_rule() {
    let data = recordings(8);
    let training: Vec<&Recording> = data.iter().collect();
    let trained = AlignmentLearner::default().fit(&training, 0, Control::default()).unwrap();
    assert_eq!(
        Threshold::Fixed(0.5).choose(&trained, &training, 0, Control::default()).unwrap(),
        0.5
    );
    let error = Threshold::Fixed(1.5)
        .choose(&trained, &training, 0, Control::default())
        .unwrap_err()
        .to_string();
    assert_eq!(error, "threshold is 1.5, expected a probability from 0 to 1");
    let f1 = |threshold: f64| {
        let judge = |recording: &Recording| {
            let found = trained.predict(recording.session.features()).unwrap();
            unjitter::evaluation::confusion(&found, recording.truth.as_ref().unwrap(), threshold)
        };
        let all = data.iter().map(|recording| judge(recording).unwrap());
        all.reduce(|a, b| a + b).unwrap().scores().f1
    };
    let best = Threshold::BestF1.choose(&trained, &training, 0, Control::default()).unwrap();
    for k in 1..100 {
        assert!(f1(best) >= f1(f64::from(k) / 100.0), "{best} is not the best: {k} % is better");
    }
    let expected =
        Threshold::ExpectedF1.choose(&trained, &training, 0, Control::default()).unwrap();
    let TrainedModel::Fitted(fitted) = &trained else { panic!("a model of the annotator") };
    let sessions: Vec<Session> = data.iter().map(|recording| recording.session.clone()).collect();
    let again = expected_f1_threshold(fitted, &sessions, Control::default()).unwrap();
    assert_eq!(again, expected);
    // Without a clean label, within a few hundredths of the best that labels give.
    assert!(
        f1(expected) > f1(best) - 0.05,
        "{} at {expected}, {} at {best}",
        f1(expected),
        f1(best)
    );
}

#[test]
fn where_the_evidence_chose_thresholds_are_found() {
    let data = recordings(8);
    // So strong priors that no probability reaches one half.
    let strong = [1e4, 2e4].map(|weight_precision| {
        let priors = Priors { weight_precision, ..Priors::default() };
        AlignmentLearner {
            model: Model { priors, ..Model::default() },
            ..AlignmentLearner::default()
        }
    });
    let naive = [1.0, 10.0].map(|precision| Naive { supervised: ridge(precision) });
    let contenders = [
        Contender::grid(strong.clone()),
        Contender::single(strong[0].clone()),
        Contender::grid(naive),
    ];
    let run = |criterion, threshold| {
        let options = CrossValidation { criterion: Some(criterion), threshold, ..options() };
        options.run(&data, &contenders, None, Control::default()).unwrap().contenders
    };
    let found = run(Criterion::LogEvidence, None);
    let is_usual = |judged: &ContenderResult| judged.folds.iter().all(|f| f.threshold == 0.5);
    assert_eq!([0, 1, 2].map(|k| is_usual(&found[k])), [false, true, true]);
    let f1 = |judged: &ContenderResult| judged.pooled().unwrap().scores().f1;
    assert!(f1(&found[0]) > 0.5 && f1(&found[1]) == 0.0, "{} {}", f1(&found[0]), f1(&found[1]));
    assert!(run(Criterion::F1, None).iter().all(is_usual));
    assert!(run(Criterion::LogEvidence, Some(Threshold::Fixed(0.5))).iter().all(is_usual));
}

#[test]
fn a_request_to_stop_ends_a_cell() {
    let (data, stop) = (recordings(8), AtomicBool::new(true));
    let result = options().run(&data, &contenders(), None, stopped_by(&stop));
    assert!(matches!(result, Err(Error::Interrupted { done: 0, .. })));

    /// Asks for an end while it learns.
    #[derive(Debug)]
    struct Impatient(Arc<AtomicBool>);
    impl Learner for Impatient {
        fn name(&self) -> String {
            "impatient".to_owned()
        }
        fn options(&self) -> serde_json::Value {
            serde_json::json!(null)
        }
        fn fit(
            &self,
            recordings: &[&Recording],
            seed: u64,
            control: Control<'_>,
        ) -> Result<TrainedModel> {
            self.0.store(true, Ordering::Relaxed);
            Naive::default().fit(recordings, seed, control)
        }
    }
    let stop = Arc::new(AtomicBool::new(false));
    let contenders = [Contender::single(Impatient(Arc::clone(&stop)))];
    let result = options().run(&data, &contenders, None, stopped_by(&stop));
    // No cell is finished: each was given up in its middle, not between two cells.
    assert!(matches!(result, Err(Error::Interrupted { done: 0, .. })), "{result:?}");
}

#[test]
fn a_request_to_stop_ends_the_fit_of_an_annotator_too() {
    /// Asks for an end once it has learned.
    #[derive(Debug)]
    struct Done(Arc<AtomicBool>);
    impl Learner for Done {
        fn name(&self) -> String {
            "done".to_owned()
        }
        fn options(&self) -> serde_json::Value {
            serde_json::json!(null)
        }
        fn fit(
            &self,
            recordings: &[&Recording],
            seed: u64,
            control: Control<'_>,
        ) -> Result<TrainedModel> {
            let trained = Naive::default().fit(recordings, seed, control);
            self.0.store(true, Ordering::Relaxed);
            trained
        }
    }
    let (data, stop) = (recordings(8), Arc::new(AtomicBool::new(false)));
    let contenders = [Contender::single(Done(Arc::clone(&stop)))];
    let by_evidence = CrossValidation { criterion: Some(Criterion::LogEvidence), ..options() };
    let result = by_evidence.run(&data, &contenders, None, stopped_by(&stop));
    assert!(matches!(result, Err(Error::Interrupted { done: 0, .. })), "{result:?}");
}

/// Sessions whose stamps are recorded as one of two classes, the second in one session only.
fn with_rare_class() -> Vec<Recording<'static>> {
    let mut data = recordings(4);
    for (k, recording) in data.iter_mut().enumerate() {
        let name = |l: usize| if k == 2 && l % 2 == 1 { "sneeze" } else { "cough" };
        let classes: Vec<String> =
            (0..recording.session.stamps().len()).map(|l| name(l).to_owned()).collect();
        recording.session = recording.session.clone().with_classes(&classes).unwrap();
    }
    data
}

#[test]
fn a_class_of_one_session_alone_is_known_where_that_is_held_out() {
    let data = with_rare_class();
    let fit = FitOptions { restarts: 2, ..FitOptions::default() };
    let ours = AlignmentLearner { fit, ..AlignmentLearner::default() };
    let contenders = [Contender::single(ours), Contender::single(Naive::default())];
    let options = CrossValidation {
        folds: 4,
        criterion: Some(Criterion::LogEvidence),
        ..CrossValidation::default()
    };
    let found = options.run(&data, &contenders, None, Control::default()).unwrap();
    let [ours, naive] = &found.contenders[..] else { panic!("two contenders") };
    assert!(ours.folds.iter().all(|fold| fold.evidence.is_some()));
    // A bare detector says nothing of what a stamp is recorded as.
    assert!(naive.folds.iter().all(|fold| fold.evidence.is_none()));
}
