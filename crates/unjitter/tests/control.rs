//! All long work reports progress, and stops in the middle.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use ndarray::Array2;
use unjitter::baselines::{
    AlignmentLearner, DropNear, HandAligned, Learner, MultipleInstance, Naive, Smear,
};
use unjitter::evaluation::{
    BootstrapOptions, Contender, CrossValidation, SummaryOptions, Threshold, bootstrap_interval,
    expected_f1_threshold,
};
use unjitter::learning::StopReason;
use unjitter::math::Random;
use unjitter::simulation::{Annotator, Respiration};
use unjitter::{
    Control, Counts, Error, FitOptions, Model, Noise, PosteriorOptions, Progress, Recording,
    Result, Session, posterior,
};

/// Four sessions of 60 instances, a quarter of them events that two features tell.
fn recordings() -> Vec<Recording<'static>> {
    let mut random = Random::new(5);
    let recording = |k: u64| {
        let truth: Vec<bool> = (0..60).map(|_| random.uniform() < 0.25).collect();
        let features = Array2::from_shape_fn((60, 2), |(i, _)| {
            random.normal() + if truth[i] { 2.0 } else { 0.0 }
        });
        let times = (0..60).map(f64::from).collect();
        let session = Session::new(format!("s{k}"), features, times, vec![]).unwrap();
        let recording = Recording { session, truth: Some(truth) };
        Annotator::gaussian(0.3, 1.0).annotate(&recording, k).unwrap()
    };
    (0..4).map(recording).collect()
}

/// Fails unless `work` tells of ever more pieces, and stops before it begins and in the middle; on one
/// thread, so that no piece is finished meanwhile. Returns pieces done in the end, and all pieces.
fn check(what: &str, work: impl Fn(Control<'_>) -> Result<()> + Sync) -> (usize, usize) {
    let heard: Mutex<Vec<Progress>> = Mutex::default();
    let listen = |progress| heard.lock().unwrap().push(progress);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let work = |control: Control<'_>| pool.install(|| work(control));
    work(Control { watch: Some(&listen), ..Control::default() }).unwrap();
    let heard = heard.into_inner().unwrap();
    let (done, total) = heard.last().map(|last| (last.done, last.total)).expect(what);
    assert!(heard.is_sorted_by(|a, b| a.done < b.done), "{what} goes back");
    assert!(done <= total && heard.iter().all(|p| p.total == total), "{what} has another total");
    assert!(heard.len() > 1, "{what} has no middle");

    for (at_once, expected) in [(true, 0), (false, 1)] {
        let (stop, pieces) = (AtomicBool::new(at_once), AtomicUsize::new(0));
        let end = |_| {
            pieces.fetch_add(1, Ordering::Relaxed);
            stop.store(true, Ordering::Relaxed);
        };
        let ended = work(Control { stop: Some(&stop), watch: Some(&end) });
        let stopped = matches!(ended, Err(Error::Cancelled | Error::Interrupted { .. }));
        assert!(stopped, "{what}: {ended:?}");
        assert_eq!(pieces.into_inner(), expected, "{what}: pieces before the end");
    }
    (done, total)
}

#[test]
fn a_fit_stops() {
    let sessions: Vec<Session> = recordings().into_iter().map(|r| r.session).collect();
    check("Model::fit", |control| {
        let fitted = Model::default().fit(&sessions, &FitOptions::default(), control)?;
        // It may have found something; then it says that it was stopped.
        match fitted.outcome().stop {
            StopReason::Cancelled => Err(Error::Cancelled),
            _ => Ok(()),
        }
    });
}

#[test]
fn every_learner_stops() {
    let data = recordings();
    let training: Vec<&Recording> = data.iter().collect();
    let learners: [Box<dyn Learner>; 6] = [
        Box::new(HandAligned::default()),
        Box::new(Naive::default()),
        Box::new(DropNear::default()),
        Box::new(Smear::default()),
        Box::new(MultipleInstance::default()),
        Box::new(AlignmentLearner::default()),
    ];
    for learner in learners {
        check(&learner.name(), |control| learner.fit(&training, 0, control).map(|_| ()));
    }
}

#[test]
fn the_choice_of_a_threshold_stops() {
    let data = recordings();
    let training: Vec<&Recording> = data.iter().collect();
    let naive = Naive::default().fit(&training, 0, Control::default()).unwrap();
    check("Threshold::choose", |control| {
        Threshold::ExpectedF1.choose(&naive, &training, 0, control).map(|_| ())
    });
    let sessions: Vec<Session> = data.iter().map(|recording| recording.session.clone()).collect();
    let fitted = Model::default().fit(&sessions, &FitOptions::default(), Control::default());
    let fitted = fitted.unwrap();
    check("expected_f1_threshold", |control| {
        expected_f1_threshold(&fitted, &sessions, control).map(|_| ())
    });
}

#[test]
fn a_comparison_and_its_summary_stop() {
    let data = recordings();
    let contenders =
        [Contender::single(Naive::default()), Contender::single(HandAligned::default())];
    let options = CrossValidation { folds: 4, ..CrossValidation::default() };
    let run = |control: Control<'_>| options.run(&data, &contenders, None, control);
    assert_eq!(check("CrossValidation::run", |control| run(control).map(|_| ())), (8, 8));
    let compared = run(Control::default()).unwrap();
    let summary = |control: Control<'_>| {
        compared.summary(&data, 0, &SummaryOptions::default(), control).map(|_| ())
    };
    assert_eq!(check("Comparison::summary", summary), (2, 2));
}

#[test]
fn resampling_stops() {
    let options = BootstrapOptions::default();
    let resample =
        |control: Control<'_>| bootstrap_interval(3, &options, |_| 0.5, control).map(|_| ());
    assert_eq!(check("bootstrap_interval", resample), (2000, 2000));
}

#[test]
fn a_simulation_stops() {
    let study = Respiration::mpuff().with_sessions(3);
    let simulate = |control: Control<'_>| study.simulate(0, control).map(|_| ());
    assert_eq!(check("Respiration::simulate", simulate), (3, 3));
}

#[test]
fn draws_stop() {
    let counts = Counts::Bernoulli.with(&[("false_rate", &[0.01]), ("hit_rate", &[0.9])]).unwrap();
    let noise = Noise::Gaussian.with(&[("delay", &[0.0]), ("spread", &[1.0])]).unwrap();
    let times: Vec<f64> = (0..1000).map(f64::from).collect();
    // So far apart that each stamp is drawn for itself.
    let stamps = [100.0, 500.0, 900.0];
    let found =
        posterior(&times, &stamps, &[0.0; 1000], &counts, &noise, &PosteriorOptions::default())
            .unwrap();
    let sample = |control: Control<'_>| found.sample(10, 0, control).map(|_| ());
    assert_eq!(check("Posterior::sample", sample), (3, 3));
}
