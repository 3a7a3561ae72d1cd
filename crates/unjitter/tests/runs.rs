//! Labels that form runs, through the public API: learned from stamps and from labels, predicted, judged.

use std::sync::LazyLock;

use ndarray::Array2;
use unjitter::baselines::{
    AlignmentLearner, DropNear, HandAligned, Learner, MultipleInstance, Naive, Smear, TrainedModel,
};
use unjitter::diagnosis::{DiagnosisOptions, diagnose};
use unjitter::evaluation::{
    Contender, CrossValidation, EventOptions, EventScoring, SummaryOptions, Threshold,
    detect_events, events_in, expected_f1_threshold,
};
use unjitter::labels::{Labels, Variable};
use unjitter::learning::{Supervised, Target};
use unjitter::math::Random;
use unjitter::model::Runs;
use unjitter::planning::PlanOptions;
use unjitter::{
    AlignOptions, Control, Counts, Error, FitOptions, Fitted, Model, Recording, Session,
};

const SPACING: f64 = 0.5;
const LENGTH: f64 = 4.0;
const GAP: f64 = 20.0;

/// Windows twice a second, of which weak features tell runs of four seconds, stamped once, a second late.
fn recording(k: usize, about: Variable) -> Recording<'static> {
    let mut random = Random::new(k as u64);
    let times: Vec<f64> = (0..600).map(|i| SPACING * f64::from(i)).collect();
    let mut truth = vec![false; times.len()];
    let mut stamps = Vec::new();
    let mut begin = 5.0;
    while begin < 290.0 {
        let end = begin - LENGTH * (1.0 - random.uniform()).ln();
        let inside: Vec<usize> =
            (0..times.len()).filter(|&i| (begin..=end).contains(&times[i])).collect();
        if let (Some(&first), Some(&last)) = (inside.first(), inside.last()) {
            inside.iter().for_each(|&i| truth[i] = true);
            let at = if about == Variable::End { times[last] } else { times[first] };
            if random.uniform() < 0.9 {
                stamps.push(at + 1.0 + 0.8 * random.normal());
            }
        }
        begin = end + 2.0 - (GAP - 2.0) * (1.0 - random.uniform()).ln();
    }
    stamps.sort_by(f64::total_cmp);
    let mut feature =
        |i: usize, weight: f64| (if truth[i] { weight } else { 0.0 }) + random.normal();
    let rows = (0..times.len()).flat_map(|i| [feature(i, 1.5), feature(i, -1.0)]).collect();
    let features = Array2::from_shape_vec((times.len(), 2), rows).unwrap();
    let session = Session::new(format!("walk-{k}"), features, times, stamps).unwrap();
    Recording { session, truth: Some(truth) }
}

fn chain(stamps: Variable) -> Model {
    Model { labels: Labels::Chain, stamps, ..Model::default() }
}

fn fit(model: &Model, recordings: &[Recording<'static>]) -> Fitted {
    let sessions: Vec<Session<'_>> = recordings.iter().map(|one| one.session.clone()).collect();
    let options = FitOptions { restarts: 2, ..FitOptions::default() };
    model.fit(&sessions, &options, Control::default()).unwrap()
}

static RECORDINGS: LazyLock<Vec<Recording<'static>>> =
    LazyLock::new(|| (0..6).map(|k| recording(k, Variable::Onset)).collect());
static FITTED: LazyLock<Fitted> = LazyLock::new(|| fit(&chain(Variable::Onset), &RECORDINGS[..4]));

/// Of how many instances a probability is on the right side of one half.
fn accuracy(p: &[f64], truth: &[bool]) -> f64 {
    let right = p.iter().zip(truth).filter(|(p, truth)| (**p >= 0.5) == **truth);
    right.count() as f64 / truth.len() as f64
}

#[test]
fn runs_are_learned_from_stamps_and_have_a_begin_and_an_end() {
    let learned = FITTED.learned();
    // A hundred stamps of one second's scatter: standard errors of a tenth, and some more.
    assert!((learned.delay - 1.0).abs() < 0.5, "{learned:?}");
    assert!((learned.spread - 0.8).abs() < 0.4, "{learned:?}");
    assert_eq!(learned.false_rate, 0.0);
    let sessions: Vec<Session<'_>> = RECORDINGS.iter().map(|one| one.session.clone()).collect();
    let expected = FITTED.expected_runs(&sessions).unwrap().unwrap();
    // The mean of what was drawn is off by a tenth, and features hide short runs.
    assert!((expected.length / LENGTH - 1.0).abs() < 0.35, "{expected:?}");
    assert!((expected.gap / GAP - 1.0).abs() < 0.35, "{expected:?}");
    for Recording { session, truth } in &RECORDINGS[4..] {
        let truth = truth.as_ref().unwrap();
        let p = FITTED.predict_session(session).unwrap();
        let alone: Vec<f64> = FITTED
            .log_odds(session.features())
            .unwrap()
            .iter()
            .map(|f| 1.0 / (1.0 + (-f).exp()))
            .collect();
        assert!(accuracy(&p, truth) > accuracy(&alone, truth) + 0.02, "smoothing helps");
        let found = events_in(&FITTED, session, 0.0).unwrap();
        let options = EventOptions { labels: Labels::Chain, ..EventOptions::default() };
        assert_eq!(found, detect_events(session.times(), &p, &options).unwrap());
        let true_runs = truth.windows(2).filter(|pair| !pair[0] && pair[1]).count();
        let ratio = found.len() as f64 / true_runs as f64;
        assert!((0.6..1.4).contains(&ratio), "{} for {true_runs}", found.len());
        assert!(found.iter().any(|event| event.end > event.time + 2.0 * SPACING));
    }
}

#[test]
fn a_detector_keeps_the_chain_and_a_file_too() {
    let session = &RECORDINGS[5].session;
    let p = FITTED.predict_session(session).unwrap();
    let again = Fitted::from_json(FITTED.to_json().as_bytes()).unwrap();
    assert_eq!(again.predict_session(session).unwrap(), p);
    assert_eq!(again.runs(), FITTED.runs());
    let detector = again.detector();
    let text = serde_json::to_string(&detector).unwrap();
    let detector: unjitter::Detector = serde_json::from_str(&text).unwrap();
    assert_eq!(detector.predict_session(session).unwrap(), p);
    let damaged = text.replace("\"stamps\":\"onset\"", "\"stamps\":\"middle\"");
    assert!(serde_json::from_str::<unjitter::Detector>(&damaged).is_err());
    let Runs { onset_rate, .. } = detector.runs().unwrap();
    let negative = text.replace(&format!("{onset_rate}"), "-1.0");
    assert_ne!(negative, text);
    assert!(serde_json::from_str::<unjitter::Detector>(&negative).is_err());
}

#[test]
fn rows_alone_and_what_supposes_independence_are_refused() {
    let sessions: Vec<Session<'_>> = RECORDINGS.iter().map(|one| one.session.clone()).collect();
    let session = &sessions[0];
    assert!(matches!(FITTED.predict(session.features()), Err(Error::RowsOfChain)));
    assert!(matches!(FITTED.predict_stamped(session.features()), Err(Error::RowsOfChain)));
    let asked = diagnose(&FITTED, &sessions, &DiagnosisOptions::default(), Control::default());
    assert!(matches!(asked, Err(Error::NotOfChain { .. })));
    let plan = FITTED.plan(&sessions, &PlanOptions::default(), Control::default());
    assert!(matches!(plan, Err(Error::NotOfChain { .. })));
    let fit = |model: &Model| {
        model.fit(&sessions, &FitOptions::default(), Control::default()).unwrap_err().to_string()
    };
    let ends = Model { stamps: Variable::End, ..Model::default() };
    assert_eq!(
        fit(&ends),
        "stamps are about ends, but labels are independent: let them form a chain"
    );
    let false_rate = chain(Variable::Onset).freeze("counts.false_rate", 0.01);
    assert!(fit(&false_rate).starts_with("a false rate: it supposes independent labels"));
    let counts = Model { counts: Counts::Geometric, ..chain(Variable::Onset) };
    assert!(fit(&counts).contains("of one stamp at most (bernoulli), or of any number (poisson)"));
    let silent = chain(Variable::Onset).freeze("background.rate", 0.0);
    assert!(fit(&silent).starts_with("a background.rate held at 0: it supposes"));
}

#[test]
fn missed_events_are_told_once_and_events_of_stamps_are_runs() {
    let recording = &RECORDINGS[5];
    // Every other stamp is lost.
    let session = recording.session.clone().keeping_stamps(|l| l % 2 == 0);
    let aligned = FITTED.align_with(&session, &AlignOptions::default()).unwrap();
    let runs = aligned.runs.as_ref().unwrap();
    let missed: Vec<_> = runs.iter().filter(|run| run.p_missed > 0.5).collect();
    let told: Vec<usize> =
        (0..session.len()).filter(|&i| aligned.instances[i].p_missed > 0.5).collect();
    assert_eq!(told, missed.iter().map(|run| run.first).collect::<Vec<_>>());
    let lost = recording.session.stamps().len() - session.stamps().len();
    let some = lost as f64 * 0.6..lost as f64 * 2.0;
    assert!(some.contains(&(missed.len() as f64)), "{} of {lost}", missed.len());
    let events = aligned.events(&session);
    assert!(events.len() <= session.stamps().len());
    let is_run = |event: &&unjitter::SeenEvent| {
        runs.iter().any(|run| run.first == event.instance && run.end == event.end)
    };
    assert!(events.iter().filter(is_run).count() * 10 >= events.len() * 8, "{events:?}");
}

#[test]
fn labels_teach_the_chain_that_they_were_drawn_from() {
    let training: Vec<&Recording<'_>> = RECORDINGS.iter().collect();
    let supervised = Supervised { labels: Labels::Chain, ..Supervised::default() };
    let fit = |learner: &dyn Learner| learner.fit(&training, 0, Control::default()).unwrap();
    let by_hand = fit(&HandAligned { supervised: supervised.clone() });
    let TrainedModel::Detector(detector) = &by_hand else { panic!("a bare detector") };
    let Runs { onset_rate, offset_rate, .. } = detector.runs().unwrap();
    // Some 75 runs: a standard error of 0.12 in either logarithm if labels were all that told, which they are not at
    // equal spacing; the prior on the onset rate does.
    assert!((onset_rate * GAP).ln().abs() < 0.7, "{onset_rate}");
    assert!((offset_rate * LENGTH).ln().abs() < 0.7, "{offset_rate}");
    let score = |trained: &TrainedModel| {
        let of = |one: &&Recording<'_>| {
            let p = trained.predict_session(&one.session).unwrap();
            accuracy(&p, one.truth.as_ref().unwrap())
        };
        training.iter().map(of).sum::<f64>() / training.len() as f64
    };
    let alone = fit(&HandAligned { supervised: Supervised::default() });
    assert!(score(&by_hand) > score(&alone) + 0.03, "{} {}", score(&by_hand), score(&alone));
    // All labels but those of a few instances: a chain over what is left.
    let dropped = fit(&DropNear { supervised: supervised.clone(), radius: 3.0 });
    let smeared = fit(&Smear { supervised: supervised.clone(), width: 2.0 });
    let naive = fit(&Naive { supervised: supervised.clone() });
    for trained in [&dropped, &smeared, &naive] {
        let TrainedModel::Detector(detector) = trained else { panic!("a bare detector") };
        assert!(detector.runs().is_some());
    }
    // Soft labels around stamps are runs; the nearest instances alone are not.
    let length = |trained: &TrainedModel| match trained {
        TrainedModel::Detector(detector) => 1.0 / detector.runs().unwrap().offset_rate,
        TrainedModel::Fitted(_) => panic!("a bare detector"),
    };
    assert!(length(&smeared) > 2.0 * length(&naive), "{} {}", length(&smeared), length(&naive));
    let witnesses = MultipleInstance { supervised, bag_size: 4 };
    let refused = witnesses.fit(&training, 0, Control::default());
    assert!(matches!(refused, Err(Error::NotOfChain { .. })));
}

#[test]
fn labels_that_no_chain_allows_are_refused() {
    let supervised = Supervised { labels: Labels::Chain, ..Supervised::default() };
    let features = Array2::<f64>::zeros((3, 1));
    let session = Session::new("walk", features, vec![0.0, 1.0, 1.0], vec![]).unwrap();
    let fit = |targets: &[Target]| {
        let found = supervised.fit_sessions(&[(&session, targets)], 0, Control::default());
        found.map(|_| ()).unwrap_err().to_string()
    };
    let clash = fit(&[false, true, false].map(Target::from));
    assert!(clash.starts_with("session walk: instances 1 and 2 are both at 1"), "{clash}");
    let half = Target { positive: 1.0, weight: 0.5 };
    let weighed = fit(&[half, Target::from(true), Target::from(false)]);
    assert!(weighed.contains("weight of instance 0 of session walk is 0.5"), "{weighed}");
    let rows = [(session.features(), &[Target::from(true); 3][..])];
    assert!(matches!(supervised.fit(&rows, 0, Control::default()), Err(Error::RowsOfChain)));
}

#[test]
fn a_comparison_judges_runs_by_their_begin() {
    let supervised = Supervised { labels: Labels::Chain, ..Supervised::default() };
    let model = chain(Variable::Onset);
    let options = FitOptions { restarts: 2, standard_errors: false, ..FitOptions::default() };
    let contenders = [
        Contender::single(AlignmentLearner { model, fit: options }),
        Contender::single(HandAligned { supervised: supervised.clone() }),
        Contender::single(Naive { supervised }),
    ];
    let folds = CrossValidation {
        folds: 2,
        threshold: Some(Threshold::ExpectedF1),
        ..CrossValidation::default()
    };
    let recordings = &RECORDINGS[..4];
    let comparison = folds.run(recordings, &contenders, None, Control::default()).unwrap();
    let events =
        EventScoring { tolerance: Some(2.0), labels: Labels::Chain, ..EventScoring::default() };
    let options = SummaryOptions { events, ..SummaryOptions::default() };
    let lines = comparison.summary(recordings, 0, &options, Control::default()).unwrap();
    let f1 = |k: usize| lines[k].labelled.as_ref().unwrap().events.metrics.scores.f1;
    // Half the stamps of four sessions teach a good detector.
    assert!(f1(0) > 0.6 && f1(1) > 0.6, "{} {}", f1(0), f1(1));
    assert!(f1(2) < f1(0), "a stamp that is late marks the wrong instance: {}", f1(2));
}

#[test]
fn stamps_may_be_about_ends_and_thresholds_are_of_smoothed_probabilities() {
    let recordings: Vec<Recording<'static>> =
        (10..13).map(|k| recording(k, Variable::End)).collect();
    let fitted = fit(&chain(Variable::End), &recordings);
    assert!((fitted.learned().delay - 1.0).abs() < 0.7, "{:?}", fitted.learned());
    let sessions: Vec<Session<'_>> = recordings.iter().map(|one| one.session.clone()).collect();
    let threshold = expected_f1_threshold(&fitted, &sessions, Control::default()).unwrap();
    assert!((0.1..0.9).contains(&threshold), "{threshold}");
    let aligned = fitted.align(&sessions[0]).unwrap();
    let p = fitted.predict_session(&sessions[0]).unwrap();
    let told: Vec<f64> = aligned.instances.iter().map(|one| one.p_detector).collect();
    assert_eq!(told, p);
    // An end is stamped where it is: the expected stamps of all instances are about as many as there are.
    let stamped: f64 = fitted.predict_stamped_session(&sessions[0]).unwrap().iter().sum();
    let ratio = stamped / sessions[0].stamps().len() as f64;
    assert!((0.5..2.0).contains(&ratio), "{stamped}");
}

/// Labels where nobody watched are not in the sum over stamps, but in the evidence: by the chain that they form.
#[test]
fn labels_that_nobody_watched_are_of_the_chain() {
    let watched = |own: &Recording<'static>| {
        let truth = own.truth.as_ref().unwrap();
        let known = |i: usize| Some(truth[i]).filter(|_| i > 500);
        let labels = (0..truth.len()).map(known).collect();
        let inside: Vec<bool> = own.session.stamps().iter().map(|&z| z <= 260.0).collect();
        let session = own.session.clone().keeping_stamps(|l| inside[l]);
        session.with_observed(vec![(-9.0, 260.0)]).unwrap().with_labels(labels).unwrap()
    };
    let sessions: Vec<Session<'_>> = RECORDINGS[..3].iter().map(watched).collect();
    let options = FitOptions { restarts: 0, standard_errors: false, ..FitOptions::default() };
    let fitted = chain(Variable::Onset).fit(&sessions, &options, Control::default()).unwrap();
    let each = sessions.iter().map(|session| fitted.log_evidence(session).unwrap());
    let (sum, told) = (each.sum::<f64>(), fitted.outcome().log_evidence);
    // Messages begin elsewhere, and have six digits.
    assert!((sum - told).abs() < 1e-4 * sum.abs(), "{sum} {told}");
}
