//! Every mistake a user can make is named, with the place, the value and the limit.

use ndarray::{Array2, array};
use unjitter::learning::{Supervised, Target};
use unjitter::model::{BoundCounts, BoundNoise};
use unjitter::prior::{Beta, InverseGamma, Normal};
use unjitter::{
    Activation, ClassifierSpec, Control, Counts, Features, FitOptions, Fitted, Model, Noise,
    PosteriorOptions, Priors, Result, Session, posterior,
};

const NAN: f64 = f64::NAN;
const INFINITY: f64 = f64::INFINITY;

/// The error and its whole message.
type Mistake = (Result<()>, &'static str);

fn assert_messages(mistakes: impl IntoIterator<Item = Mistake>) {
    for (result, want) in mistakes {
        match result {
            Ok(()) => panic!("no error, expected: {want}"),
            Err(error) => assert_eq!(error.to_string(), want, "{error:?}"),
        }
    }
}

fn fails<T>(result: Result<T>) -> Result<()> {
    result.map(|_| ())
}

/// Four instances, one unit apart, with two features.
fn session(name: &str, stamps: &[f64]) -> Session<'static> {
    let features = array![[0.0, 1.0], [1.0, -1.0], [2.0, 0.5], [-1.0, 0.0]];
    Session::new(name, features, vec![0.0, 1.0, 2.0, 3.0], stamps.to_vec()).unwrap()
}

fn bernoulli() -> BoundCounts {
    Counts::Bernoulli.with(&[("false_rate", &[0.1]), ("hit_rate", &[0.9])]).unwrap()
}

fn gaussian() -> BoundNoise {
    Noise::Gaussian.with(&[("delay", &[0.0]), ("spread", &[1.0])]).unwrap()
}

fn fit(model: &Model, sessions: &[Session]) -> Result<()> {
    fails(model.fit(sessions, &FitOptions::default(), Control::default()))
}

fn fitted(model: &Model) -> Fitted {
    model.fit(&[session("training", &[1.2])], &FitOptions::default(), Control::default()).unwrap()
}

#[test]
fn sessions_are_checked_at_the_door() {
    let new = |features: Array2<f64>, times: &[f64], stamps: &[f64]| {
        fails(Session::new("night 3", features, times.to_vec(), stamps.to_vec()))
    };
    let two = || array![[1.0], [2.0]];
    assert_messages([
        (new(Array2::<f64>::zeros((0, 2)), &[], &[]), "session night 3: it has no instances"),
        (new(two(), &[0.0], &[]), "session night 3: 1 times for 2 instances"),
        (
            new(array![[1.0, 2.0], [3.0, NAN]], &[0.0, 1.0], &[]),
            "session night 3: feature 1 of instance 1 is NaN, expected a finite number",
        ),
        (
            new(array![[INFINITY]], &[0.0], &[]),
            "session night 3: feature 0 of instance 0 is inf, expected a finite number",
        ),
        (
            new(two(), &[0.0, INFINITY], &[]),
            "session night 3: time 1 is inf, expected a finite time",
        ),
        (
            new(two(), &[0.0, 1.0], &[0.5, 0.75, NAN]),
            "session night 3: stamp 2 is NaN, expected a finite time",
        ),
        (
            new(two(), &[2.5, 2.25], &[]),
            "session night 3: time 1 at 2.25 precedes the one before it at 2.5",
        ),
        (
            new(two(), &[0.0, 1.0], &[0.5, 0.75, 0.25]),
            "session night 3: stamp 2 at 0.25 precedes the one before it at 0.75",
        ),
    ]);
}

#[test]
fn labels_and_intervals_are_checked_when_they_are_added() {
    let labels =
        |labels: &[Option<bool>]| fails(session("b", &[1.0, 2.5]).with_labels(labels.to_vec()));
    let features = |rows: usize, value: f64| {
        let features = Features::new(vec![value; 2 * rows], rows, 2).unwrap();
        fails(session("b", &[1.0, 2.5]).with_features(features))
    };
    let times = |times: &[f64]| fails(session("b", &[1.0, 2.5]).with_times(times.to_vec()));
    let observed = |intervals: &[(f64, f64)]| {
        fails(session("b", &[1.0, 2.5]).with_observed(intervals.to_vec()))
    };
    assert_messages([
        (labels(&[Some(true), None]), "session b: 2 labels for 4 instances"),
        (features(3, 0.0), "session b: 3 rows of features for 4 instances"),
        (
            features(4, f64::NAN),
            "session b: feature 0 of instance 0 is NaN, expected a finite number",
        ),
        (times(&[0.0, 1.0]), "session b: 2 times for 4 instances"),
        (
            fails(Features::new(vec![0.0; 5], 3, 2)),
            "5 numbers for 3 rows of 2 features, expected 6",
        ),
        (
            observed(&[(0.0, 3.0), (2.0, 4.0)]),
            "session b: observed interval 1 runs from 2 to 4, expected start < end, both finite, \
             after the interval before it",
        ),
        (
            observed(&[(1.0, 1.0)]),
            "session b: observed interval 0 runs from 1 to 1, expected start < end, both finite, \
             after the interval before it",
        ),
        (
            observed(&[(0.0, INFINITY)]),
            "session b: observed interval 0 runs from 0 to inf, expected start < end, both finite, \
             after the interval before it",
        ),
        (
            observed(&[(NAN, 3.0)]),
            "session b: observed interval 0 runs from NaN to 3, expected start < end, both finite, \
             after the interval before it",
        ),
        (
            observed(&[(0.0, 2.0), (2.75, 9.0)]),
            "session b: stamp 1 at 2.5 lies outside every observed interval",
        ),
        (observed(&[]), "session b: stamp 0 at 1 lies outside every observed interval"),
    ]);
    assert!(observed(&[(0.0, 1.0), (1.0, 2.5)]).is_ok(), "closed intervals that touch");
}

#[test]
fn sessions_are_checked_together() {
    let wide =
        Session::new("wide", Array2::<f64>::zeros((2, 3)), vec![0.0, 1.0], vec![0.5]).unwrap();
    let crowded = session("crowded", &[0.0, 0.5, 1.0, 1.5, 2.0]);
    let half = session("half", &[0.0, 0.5]).with_observed(vec![(-0.5, 0.5)]).unwrap();
    let twice = Model { counts: Counts::Categorical { max_count: 2 }, ..Model::paper() };
    let nine = session("nine", &[1.0; 9]);
    let plain = Model::paper();
    assert_messages([
        (fit(&plain, &[]), "no sessions were given"),
        (
            fit(&plain, &[session("a", &[]), session("b", &[])]),
            "none of the 2 sessions has a stamp to learn from",
        ),
        (
            fit(&plain, &[session("a", &[1.0]), session("b", &[]), session("a", &[])]),
            "session a: sessions 0 and 2 both have this name",
        ),
        (fit(&plain, &[session("a", &[1.0]), wide]), "session wide: 3 features, expected 2"),
        (
            fit(&plain, &[session("a", &[1.0]), crowded]),
            "session crowded: 5 stamps, but 4 observed instances with at most 1 stamps each \
             explain at most 4",
        ),
        (
            fit(&plain, &[half]),
            "session half: 2 stamps, but 1 observed instances with at most 1 stamps each explain \
             at most 1",
        ),
        (
            fit(&twice, &[nine]),
            "session nine: 9 stamps, but 4 observed instances with at most 2 stamps each explain \
             at most 8",
        ),
    ]);
}

#[test]
fn impossible_stamps_say_why() {
    let narrow = Noise::Uniform { earliest: -0.25, latest: 0.5 };
    let model = Model { noise: narrow.clone(), ..Model::paper() };
    let noise = narrow.with(&[]).unwrap();
    let silent = Counts::Bernoulli.with(&[("false_rate", &[0.0]), ("hit_rate", &[1.0])]).unwrap();
    let counts = bernoulli();
    let bare = |stamps: &[f64], log_odds: &[f64], counts: &BoundCounts| {
        fails(posterior(
            &[0.0, 1.0, 2.0, 3.0],
            stamps,
            log_odds,
            counts,
            &noise,
            &PosteriorOptions::default(),
        ))
    };
    let even = [0.0; 4];
    let watched = |stamps: &[f64]| session("c", stamps).with_observed(vec![(0.9, 2.2)]).unwrap();
    let two_people = |name: &str| {
        let people = ["ann", "bob"].map(str::to_owned);
        session(name, &[1.25, 2.625]).with_annotators(&people, &[]).unwrap()
    };
    let of_bob = "no instance can have given stamp 1 at 2.625: every delay lies outside the support \
                 of the noise model";
    let crowded = "the stamps are packed too closely for the counts and delays that are possible, \
                   or an instance must give a stamp that is not there";
    let message = |instances: usize, session: &str| {
        format!(
            "session {session}: no alignment of its 2 stamps to its {instances} observed instances \
             has positive probability; {crowded}"
        )
    };
    let cases: Vec<(Result<()>, String)> = vec![
        (
            bare(&[1.0, 2.625], &even, &counts),
            "session posterior: no alignment of its 2 stamps to its 4 observed instances has \
             positive probability; no instance can have given stamp 1 at 2.625: every delay lies \
             outside the support of the noise model"
                .to_owned(),
        ),
        (bare(&[1.0, 1.25], &even, &counts), message(4, "posterior")),
        // Both stamps fit, but a third instance is known to be positive and never missed.
        (bare(&[1.0, 2.0], &[INFINITY, 1.0, 1.0, -1.0], &silent), message(4, "posterior")),
        (
            fit(&model, &[session("a", &[1.0]), watched(&[1.625, 2.125])]),
            message(2, "c").replace(
                crowded,
                "no instance can have given stamp 0 at 1.625: every delay lies outside the support \
                 of the noise model",
            ),
        ),
        (fit(&model, &[session("a", &[1.0]), watched(&[1.0, 1.25])]), message(2, "c")),
        (fails(fitted(&model).align(&watched(&[1.0, 1.25]))), message(2, "c")),
        // The first stamp of bob is the second of the session.
        (fit(&model, &[two_people("d")]), message(4, "d").replace(crowded, of_bob)),
        (fails(fitted(&model).align(&two_people("e"))), message(4, "e").replace(crowded, of_bob)),
    ];
    for (k, (result, want)) in cases.into_iter().enumerate() {
        assert_eq!(result.unwrap_err().to_string(), want, "case {k}");
    }
}

#[test]
fn new_data_must_suit_the_detector() {
    let model = fitted(&Model::paper());
    let wide =
        Session::new("wide", Array2::<f64>::zeros((2, 3)), vec![0.0, 1.0], vec![0.5]).unwrap();
    assert_messages([
        (
            fails(model.predict(Array2::<f64>::zeros((2, 5)).view())),
            "session to predict: 5 features, expected 2",
        ),
        (
            fails(model.log_odds(array![[0.0, 1.0], [NAN, 0.0]].view())),
            "session to predict: feature 0 of instance 1 is NaN, expected a finite number",
        ),
        (fails(model.align(&wide)), "session wide: 3 features, expected 2"),
        (fails(model.log_evidence(&wide)), "session wide: 3 features, expected 2"),
        (
            fails(model.align(&session("new", &[1.0; 5]))),
            "session new: 5 stamps, but 4 observed instances with at most 1 stamps each explain at \
             most 4",
        ),
        (
            fails(model.parameter("noise.width")),
            "there is no parameter noise.width; the model has classifier.weights, \
             classifier.intercept, counts.false_rate, counts.hit_rate, noise.delay, noise.spread, background.rate",
        ),
        (
            fails(model.detector().predict(Array2::<f64>::zeros((2, 1)).view())),
            "session to predict: 1 features, expected 2",
        ),
    ]);
}

#[test]
fn bare_inference_checks_its_input() {
    let (counts, noise) = (bernoulli(), gaussian());
    let bare = |times: &[f64], stamps: &[f64], log_odds: &[f64]| {
        fails(posterior(times, stamps, log_odds, &counts, &noise, &PosteriorOptions::default()))
    };
    let with_rate = |background_rate: f64| {
        let options = PosteriorOptions { background_rate, ..PosteriorOptions::default() };
        fails(posterior(&[0.0], &[0.5], &[0.0], &counts, &noise, &options))
    };
    assert_messages([
        (with_rate(-0.5), "background_rate is -0.5, expected a number of at least 0"),
        (with_rate(NAN), "background_rate is NaN, expected a number of at least 0"),
        (bare(&[0.0, NAN], &[], &[0.0; 2]), "time 1 is NaN, expected a finite time"),
        (bare(&[0.0], &[INFINITY], &[0.0]), "stamp 0 is inf, expected a finite time"),
        (
            bare(&[1.0, 0.5], &[], &[0.0; 2]),
            "time 1 is 0.5, expected a time no earlier than the one before it",
        ),
        (
            bare(&[0.0; 3], &[2.0, 1.0], &[0.0; 3]),
            "stamp 1 is 1, expected a time no earlier than the one before it",
        ),
        (bare(&[0.0; 3], &[], &[0.0; 2]), "session posterior: 2 log-odds for 3 instances"),
        (
            bare(&[0.0; 3], &[], &[0.0, INFINITY, NAN]),
            "log-odds 2 is NaN, expected a number or ±infinity",
        ),
        (
            bare(&[0.0; 2], &[1.0; 3], &[0.0; 2]),
            "session posterior: 3 stamps, but 2 observed instances with at most 1 stamps each \
             explain at most 2",
        ),
    ]);
}

#[test]
fn supervised_learning_checks_its_targets() {
    let features = Features::from(array![[0.0], [1.0], [2.0]]);
    let supervised = Supervised::default();
    let learn = |targets: &[Target]| {
        fails(supervised.fit(&[(features.view(), targets)], 0, Control::default()))
    };
    let yes = Target::from(true);
    let no = Target::from(false);
    let bad = |positive, weight| Target { positive, weight };
    assert_messages([
        (fails(supervised.fit(&[], 0, Control::default())), "no sessions were given"),
        (learn(&[yes, no]), "session #0: 2 targets for 3 instances"),
        (
            learn(&[yes, bad(1.5, 1.0), no]),
            "session #0: label of instance 1 is 1.5, expected 0, 1 or unknown",
        ),
        (
            learn(&[yes, no, bad(0.5, -1.0)]),
            "weight of instance 2 of session #0 is -1, expected a finite number of at least 0",
        ),
        (
            learn(&[yes, yes, bad(0.0, 0.0)]),
            "the labels have 2 positives and 0 negatives, expected some of each",
        ),
        (
            learn(&[no, no, no]),
            "the labels have 0 positives and 3 negatives, expected some of each",
        ),
    ]);
}

#[test]
fn parts_check_their_values() {
    let counts = |values: &[(&str, &[f64])]| fails(Counts::Bernoulli.with(values));
    let noise = |values: &[(&str, &[f64])]| fails(Noise::Gaussian.with(values));
    let three = Noise::GaussianMixture { components: 3 };
    let mixture = |weights: &[f64]| {
        fails(three.with(&[("weights", weights), ("delays", &[0.0; 3]), ("spreads", &[1.0; 3])]))
    };
    let gamma = [("shift", &[0.0][..]), ("shape", &[0.5]), ("spread", &[1.0])];
    let uniform = |earliest, latest| fails(Noise::Uniform { earliest, latest }.with(&[]));
    assert_messages([
        (
            counts(&[("false_rate", &[0.1]), ("hit_rate", &[1.5])]),
            "counts.hit_rate is 1.5, expected a probability from 0 to 1",
        ),
        (
            counts(&[("false_rate", &[NAN]), ("hit_rate", &[0.5])]),
            "counts.false_rate is NaN, expected a finite number",
        ),
        (counts(&[("false_rate", &[0.1])]), "counts.hit_rate takes 1 values, 0 were given"),
        (counts(&[("false_rate", &[0.1, 0.2])]), "counts.false_rate takes 1 values, 2 were given"),
        (
            counts(&[("miss_rate", &[0.1])]),
            "there is no parameter counts.miss_rate; the model has counts.false_rate, \
             counts.hit_rate",
        ),
        (
            noise(&[("delay", &[0.0]), ("spread", &[0.0])]),
            "noise.spread is 0, expected a number above 0",
        ),
        (mixture(&[0.5, 0.5]), "noise.weights takes 3 values, 2 were given"),
        (
            mixture(&[0.5, 0.5, 0.5]),
            "the sum of noise.weights is 1.5, expected weights of at least 0 that sum to 1",
        ),
        (
            mixture(&[0.75, -0.25, 0.5]),
            "noise.weights[1] is -0.25, expected weights of at least 0 that sum to 1",
        ),
        (mixture(&[0.5, 0.5, 0.0]), "noise.weights[2] is 0, expected a last weight above 0"),
        (
            fails(three.with(&[
                ("weights", &[0.5, 0.25, 0.25]),
                ("delays", &[0.0; 3]),
                ("spreads", &[1.0, -2.0, 1.0]),
            ])),
            "noise.spreads[1] is -2, expected a number above 0",
        ),
        (
            fails(Noise::ShiftedGamma.with(&gamma)),
            "noise.shape is 0.5, expected a number of at least 1",
        ),
        (
            fails(Counts::Categorical { max_count: 0 }.build()),
            "counts.max_count is 0, expected a largest count from 1 to 1000",
        ),
        (
            fails(Noise::GaussianMixture { components: 65 }.build(1.0)),
            "noise.components is 65, expected a number of components from 1 to 64",
        ),
        (uniform(NAN, 1.0), "noise.earliest is NaN, expected a finite time"),
        (uniform(1.0, 1.0), "noise.latest is 1, expected a finite time after noise.earliest"),
    ]);
}

#[test]
fn models_are_checked_before_they_learn() {
    let data = [session("a", &[1.2])];
    let with = |change: &dyn Fn(&mut Model)| {
        let mut model = Model::default();
        change(&mut model);
        fit(&model, &data)
    };
    let priors = |priors: Priors| with(&|model| model.priors = priors);
    let classifier = |spec: ClassifierSpec| with(&|model| model.classifier = spec.clone());
    let kernel = |length_scale, landmarks| ClassifierSpec::Kernel { length_scale, landmarks };
    let freeze = |name: &str, values: &[f64]| fit(&Model::default().freeze(name, values), &data);
    let base = Priors::default();
    assert_messages([
        (with(&|m| m.time_unit = Some(0.0)), "time_unit is 0, expected a finite number above 0"),
        (
            with(&|m| m.time_unit = Some(INFINITY)),
            "time_unit is inf, expected a finite number above 0",
        ),
        (
            priors(Priors { weight_precision: -1.0, ..base }),
            "prior weight_precision is -1, expected a number of at least 0",
        ),
        (
            priors(Priors { hit_rate: Beta { a: 5.0, b: 0.0 }, ..base }),
            "prior hit_rate.b is 0, expected a number above 0",
        ),
        (
            priors(Priors { variance: InverseGamma { shape: 1.0, scale: NAN }, ..base }),
            "prior variance.scale is NaN, expected a number above 0",
        ),
        (
            priors(Priors { delay: Some(Normal { mean: INFINITY, sd: 1.0 }), ..base }),
            "prior delay.mean is inf, expected a finite number",
        ),
        (
            classifier(kernel(Some(-1.0), None)),
            "length_scale is -1, expected a finite number above 0",
        ),
        (classifier(kernel(None, Some(0))), "landmarks is 0, expected at least 1"),
        (
            with(&|m| m.counts = Counts::Categorical { max_count: 1001 }),
            "counts.max_count is 1001, expected a largest count from 1 to 1000",
        ),
        (
            freeze("noise.width", &[1.0]),
            "there is no parameter noise.width; the model has classifier.weights, \
             classifier.intercept, counts.false_rate, counts.hit_rate, noise.delay, noise.spread, background.rate",
        ),
        (
            freeze("classifier.weights[2]", &[1.0]),
            "there is no parameter classifier.weights[2]; the model has classifier.weights, \
             classifier.intercept, counts.false_rate, counts.hit_rate, noise.delay, noise.spread, background.rate",
        ),
        (freeze("classifier.weights", &[1.0]), "classifier.weights takes 2 values, 1 were given"),
        (freeze("noise.spread", &[-1.0]), "noise.spread is -1, expected a number above 0"),
        (
            freeze("counts.hit_rate", &[2.0]),
            "counts.hit_rate is 2, expected a probability from 0 to 1",
        ),
    ]);
}

#[test]
fn sizes_beyond_reason_are_refused() {
    let many = Array2::from_shape_fn((20_001, 1), |(i, _)| i as f64);
    let times = (0..20_001).map(f64::from).collect();
    let long = [Session::new("long", many, times, vec![5.0]).unwrap()];
    let kernel = ClassifierSpec::Kernel { length_scale: None, landmarks: None };
    let network =
        ClassifierSpec::Mlp { hidden: vec![100_000, 100_000], activation: Activation::Tanh };
    let fit_with = |classifier| fit(&Model { classifier, ..Model::default() }, &long);
    assert_messages([
        (
            fit_with(kernel),
            "landmarks is 20001, expected at most 20000; without a number, every training instance \
             is one",
        ),
        (
            fit_with(network),
            "number of classifier parameters is 10000400001, expected at most 100000000",
        ),
    ]);
}
