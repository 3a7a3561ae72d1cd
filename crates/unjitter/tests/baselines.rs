//! Each learner trains on its declared data.

use ndarray::{Array2, array};
use unjitter::baselines::{
    AlignmentLearner, DropNear, HandAligned, Learner, MultipleInstance, Naive, Smear, TrainedModel,
};
use unjitter::evaluation::confusion;
use unjitter::learning::{Supervised, Target};
use unjitter::math::Random;
use unjitter::simulation::Annotator;
use unjitter::{Activation, ClassifierSpec, Control, Detector, Recording, Session};

/// Ten sessions of 100 instances one second apart; 15 % events, two telling features.
fn recordings(spread: f64) -> Vec<Recording<'static>> {
    let mut random = Random::new(11);
    (0..10)
        .map(|k| {
            let truth: Vec<bool> = (0..100).map(|_| random.uniform() < 0.15).collect();
            let features = Array2::from_shape_fn((100, 2), |(i, _)| {
                random.normal() + if truth[i] { 2.5 } else { 0.0 }
            });
            let times = (0..100).map(f64::from).collect();
            let session = Session::new(format!("s{k}"), features, times, vec![]).unwrap();
            let recording = Recording { session, truth: Some(truth) };
            Annotator::paper_spread(spread).annotate(&recording, k as u64).unwrap()
        })
        .collect()
}

fn f1(trained: &TrainedModel, data: &[Recording]) -> f64 {
    let judge = |recording: &Recording| {
        let found = trained.predict(recording.session.features()).unwrap();
        confusion(&found, recording.truth.as_ref().unwrap(), 0.5).unwrap()
    };
    data.iter().map(judge).reduce(|a, b| a + b).unwrap().scores().f1
}

#[test]
fn exact_stamps_make_naive_and_hand_aligned_the_same() {
    let data = recordings(1e-6);
    let training: Vec<&Recording> = data.iter().collect();
    let hand = HandAligned::default().fit(&training, 0, Control::default()).unwrap();
    let naive = Naive::default().fit(&training, 0, Control::default()).unwrap();
    for recording in &data {
        let features = recording.session.features();
        // The same targets, the same fit: the same bits.
        assert_eq!(hand.predict(features).unwrap(), naive.predict(features).unwrap());
    }
}

#[test]
fn sloppy_stamps_hurt_the_naive_and_not_ours() {
    let data = recordings(2.0);
    let training: Vec<&Recording> = data.iter().collect();
    let of =
        |learner: &dyn Learner| f1(&learner.fit(&training, 0, Control::default()).unwrap(), &data);
    let hand = of(&HandAligned::default());
    let ours = of(&AlignmentLearner::default());
    let naive = of(&Naive::default());
    let witnesses = of(&MultipleInstance::default());
    assert!(ours > 0.93 * hand, "ours {ours}, hand-aligned {hand}");
    assert!(ours > witnesses, "ours {ours}, multiple instances {witnesses}");
    assert!(ours > naive + 0.1, "ours {ours}, naive {naive}");
}

#[test]
fn names_are_the_papers() {
    use unjitter::learning::Supervised;
    use unjitter::{Activation, ClassifierSpec, Model};
    let mlp = ClassifierSpec::Mlp { hidden: vec![3], activation: Activation::Tanh };
    let network = Supervised { classifier: mlp.clone(), ..Supervised::default() };
    let kernel = ClassifierSpec::Kernel { length_scale: None, landmarks: None };
    let kernel = Model { classifier: kernel, ..Model::default() };
    assert_eq!(HandAligned::default().name(), "LR-H");
    assert_eq!(HandAligned { supervised: network.clone() }.name(), "NN-H");
    assert_eq!(Naive { supervised: network }.name(), "NN-N");
    assert_eq!(MultipleInstance::default().name(), "MI");
    assert_eq!(AlignmentLearner { model: kernel, ..AlignmentLearner::default() }.name(), "KLR-M");
}

#[test]
fn the_witness_objective_never_rises_and_witnesses_settle() {
    for bag_size in [1, 2, 4, 7] {
        let data = recordings(2.0);
        let training: Vec<&Recording> = data.iter().collect();
        let learner = MultipleInstance { bag_size, ..MultipleInstance::default() };
        let witnesses = learner.alternate(&training, 0, Control::default()).unwrap();
        assert!(witnesses.settled);
        for pair in witnesses.objective.windows(2) {
            // The optimiser's own tolerance, relative.
            assert!(pair[1] <= pair[0] * (1.0 + 1e-8), "{:?}", witnesses.objective);
        }
        for (recording, chosen) in data.iter().zip(&witnesses.instances) {
            let mut bags: Vec<usize> = chosen.iter().map(|i| i / bag_size).collect();
            let count = bags.len();
            bags.dedup();
            assert_eq!(bags.len(), count, "one witness per bag");
            let stamped = |bag: usize| {
                let (from, to) = ((bag * bag_size) as f64, ((bag + 1) * bag_size) as f64);
                let naive = |z: &f64| z.clamp(0.0, 99.0).round();
                recording.session.stamps().iter().any(|z| (from..to).contains(&naive(z)))
            };
            assert!(bags.iter().all(|&bag| stamped(bag)), "only stamped bags have witnesses");
        }
    }
}

#[test]
fn what_lies_near_a_stamp_is_left_out_or_softened() {
    // One feature that is the instance's own number, so that the fit shows the targets.
    let session = Session::new(
        "one",
        array![[0.0], [0.0], [1.0], [0.0], [0.0], [0.0]],
        vec![0.0, 1.0, 2.0, 3.0, 4.0, 5.0],
        vec![2.2],
    )
    .unwrap();
    let recording = Recording { session, truth: None };
    let of = |learner: &dyn Learner| {
        let trained = learner.fit(&[&recording], 0, Control::default()).unwrap();
        trained.predict(recording.session.features()).unwrap()
    };
    let naive = of(&Naive::default());
    // Fewer negatives pull the positive down less.
    let near = of(&DropNear { radius: 1.3, ..DropNear::default() });
    assert!(near[2] > naive[2] && near[0] > naive[0], "{near:?} {naive:?}");
    // Soft labels lift the neighbours.
    let soft = of(&Smear { width: 1.0, ..Smear::default() });
    assert!(soft[0] > naive[0], "{soft:?} {naive:?}");
}

#[test]
fn learners_refuse_what_they_cannot_use() {
    let data = recordings(1.0);
    let training: Vec<&Recording> = data.iter().collect();
    let message = |learner: &dyn Learner, data: &[&Recording]| {
        learner.fit(data, 0, Control::default()).unwrap_err().to_string()
    };
    let blind = Recording { truth: None, ..data[0].clone() };
    assert_eq!(
        message(&HandAligned::default(), &[&blind]),
        "session s0: it has no hand-aligned labels, which this learner or score needs"
    );
    let zero = MultipleInstance { bag_size: 0, ..MultipleInstance::default() };
    assert_eq!(message(&zero, &training), "bag_size is 0, expected at least 1");
    let negative = DropNear { radius: -1.0, ..DropNear::default() };
    assert_eq!(message(&negative, &training), "radius is -1, expected a finite time of at least 0");
    let flat = Smear { width: 0.0, ..Smear::default() };
    assert_eq!(message(&flat, &training), "width is 0, expected a finite time above 0");
}

#[test]
fn a_detector_that_was_written_and_read_gives_the_same_bits() {
    let data = recordings(1.0);
    let rows: Vec<Vec<Target>> = data
        .iter()
        .map(|recording| recording.truth.iter().flatten().map(|&y| Target::from(y)).collect())
        .collect();
    let training: Vec<_> = data.iter().map(|r| r.session.features()).zip(&rows).collect();
    let training: Vec<_> = training.iter().map(|(x, y)| (*x, y.as_slice())).collect();
    let classifiers = [
        ClassifierSpec::Logistic,
        ClassifierSpec::Kernel { length_scale: None, landmarks: Some(50) },
        ClassifierSpec::Mlp { hidden: vec![4], activation: Activation::Tanh },
    ];
    for classifier in classifiers {
        let supervised = Supervised { classifier, ..Supervised::default() };
        let (detector, _) = supervised.fit(&training, 0, Control::default()).unwrap();
        let text = serde_json::to_string(&detector).unwrap();
        let read: Detector = serde_json::from_str(&text).unwrap();
        let features = data[0].session.features();
        assert_eq!(read.log_odds(features).unwrap(), detector.log_odds(features).unwrap());
        assert_eq!(read.linear(), detector.linear());

        let mut short: serde_json::Value = serde_json::from_str(&text).unwrap();
        short["params"].as_array_mut().unwrap().pop();
        let refused = serde_json::from_value::<Detector>(short).unwrap_err().to_string();
        assert!(refused.contains("parameters of the classifier, expected"), "{refused}");
    }
}
