//! The gradient of the objective against central differences, for every combination of parts.

use ndarray::Array2;

use unjitter::inference::Order;
use unjitter::labels::{Labels, Variable};
use unjitter::learning::{Objective, Problem};
use unjitter::math::Random;
use unjitter::model::{Classes, Labelling, OneAnnotator, Parts};
use unjitter::params::Role;
use unjitter::{Activation, ClassifierSpec, Control, Counts, Model, Noise, Session};

/// Step of the differences. Small beside the distance of every delay from a kink or an edge of
/// support (checked below), large beside the rounding of a value of order 100.
const STEP: f64 = 1e-4;

/// Distance that every delay keeps from the kink or edge of its density.
const CLEARANCE: f64 = 0.02;

/// Seed of landmarks.
const SEED: u64 = 3;

/// Where a density has its kink or its edge, if it has one, at the point of evaluation.
const KINK: f64 = 0.31;

fn classifiers() -> Vec<ClassifierSpec> {
    let kernel = |landmarks| ClassifierSpec::Kernel { length_scale: None, landmarks };
    let network = |hidden, activation| ClassifierSpec::Mlp { hidden, activation };
    vec![
        ClassifierSpec::Logistic,
        kernel(None),
        kernel(Some(9)),
        network(vec![3], Activation::Tanh),
        network(vec![4, 2], Activation::Relu),
    ]
}

const COUNTS: [Counts; 4] =
    [Counts::Bernoulli, Counts::Categorical { max_count: 3 }, Counts::Poisson, Counts::Geometric];

/// Two sessions of 25 instances and four stamps. The second has known labels, and two observed
/// intervals with labelled and unlabelled instances outside them.
fn sessions() -> Vec<Session<'static>> {
    let mut random = Random::new(11);
    let mut session = |name: &str| {
        let features = Array2::from_shape_simple_fn((25, 2), || random.normal());
        let times: Vec<f64> = (0..25).map(|i| f64::from(i) + 0.2 * random.uniform()).collect();
        let off_kinks = |z: &f64| times.iter().all(|t| (z - t - KINK).abs() > CLEARANCE);
        let mut stamps: Vec<f64> = [3, 5, 10, 11]
            .iter()
            .map(|&i| {
                loop {
                    let z = times[i] + 0.7 + 0.6 * random.normal();
                    if off_kinks(&z) && z > times[i] + KINK {
                        break z;
                    }
                }
            })
            .collect();
        stamps.sort_by(f64::total_cmp);
        Session::new(name, features, times, stamps).unwrap()
    };
    let plain = session("plain");
    let partly = session("partly labelled");
    let label = |i| match i {
        3 | 20 => Some(true),
        0 | 4 | 14 | 23 => Some(false),
        _ => None,
    };
    let labels = (0..25).map(label).collect();
    // Instances from 17 on, some of them labelled, and 8 are outside.
    let observed = vec![(-1.0, 7.5), (8.5, 16.5)];
    vec![plain, partly.with_labels(labels).unwrap().with_observed(observed).unwrap()]
}

/// The layout of all parameters, found as the problem finds it.
fn parts(model: &Model, sessions: &[Session]) -> Parts {
    let features: Vec<_> = sessions.iter().map(Session::features).collect();
    Parts::new(
        model.classifier.fit(&features, SEED, Control::default()).unwrap(),
        Labelling { labels: model.labels, stamps: model.stamps, ends: false },
        Classes::default(),
        OneAnnotator::new(
            model.counts.build().unwrap().into(),
            model.noise.build(1.0).unwrap().into(),
        )
        .with_background(),
    )
}

/// Unconstrained parameters that are free: random for the classifier, known for the noise.
fn free_params(model: &Model, parts: &Parts) -> Vec<f64> {
    // Of this seed no rectifier is within two steps of its kink.
    let mut random = Random::new(6);
    let mut params: Vec<f64> = (0..parts.layout.dim()).map(|_| 0.5 * random.normal()).collect();
    let mut set = |name: &str, natural: &[f64]| {
        let (range, numbers) = parts.layout.resolve(name, natural, 1.0).unwrap();
        params[range].copy_from_slice(&numbers);
    };
    set("counts.false_rate", &[0.06]);
    set("counts.hit_rate", &[0.8]);
    set("background.rate", &[0.03]);
    if model.labels == Labels::Chain {
        set("labels.onset_rate", &[0.15]);
        set("labels.offset_rate", &[0.4]);
    }
    for (name, values) in model.noise.kind().example_values() {
        // One location alone is where a kink or an edge is; several are smooth, and as they came.
        match parts.layout.parameter(&format!("noise.{name}")).unwrap().spec.role {
            Role::Delay if values.len() == 1 => set(&format!("noise.{name}"), &[KINK]),
            Role::Delay => {}
            _ => set(&format!("noise.{name}"), values),
        }
    }
    let mut is_free = vec![true; params.len()];
    for held in &model.frozen {
        let (range, _) = parts.layout.resolve(&held.name, &held.values, 1.0).unwrap();
        is_free[range].fill(false);
    }
    params.into_iter().zip(is_free).filter_map(|(x, is_free)| is_free.then_some(x)).collect()
}

/// Compares every free derivative of the objective of `model` with differences.
fn check(model: &Model) {
    let model = Model { time_unit: Some(1.0), alignment: Order::Ordered, ..model.clone() };
    let sessions = sessions();
    let problem = Problem::new(&model, &sessions, SEED, Control::default()).unwrap();
    let objective = problem.objective().unwrap();
    let here = free_params(&model, &parts(&model, &sessions));
    assert_eq!(objective.dim(), here.len());

    let what = format!(
        "{:?}, {:?}, {:?}, {:?}",
        model.classifier, model.counts, model.noise, model.frozen
    );
    let mut gradient = vec![f64::NAN; objective.dim()];
    let value = objective.evaluate(&here, &mut gradient);
    assert!(value.is_finite(), "{what}: {value}");
    let mut unused = vec![0.0; objective.dim()];
    for k in 0..here.len() {
        let mut at = |steps: f64| {
            let mut moved = here.clone();
            moved[k] += steps * STEP;
            objective.evaluate(&moved, &mut unused)
        };
        // Two central differences, extrapolated to a step of zero.
        let want = (8.0 * (at(1.0) - at(-1.0)) - (at(2.0) - at(-2.0))) / (12.0 * STEP);
        // Values near 100 round by 1e-14, over the step 1e-10, and inference promises 1e-10 of
        // them at worst: hence the floor.
        let allowed = 1e-6 * want.abs() + 1e-8;
        assert!((gradient[k] - want).abs() < allowed, "{what}: {k}: {} is not {want}", gradient[k]);
    }
}

#[test]
fn every_combination_of_parts() {
    for classifier in classifiers() {
        for counts in COUNTS {
            for kind in Noise::kinds() {
                let (classifier, noise) = (classifier.clone(), kind.example());
                check(&Model { classifier, counts: counts.clone(), noise, ..Model::default() });
            }
        }
    }
}

#[test]
fn labels_in_a_chain() {
    for stamps in [Variable::Onset, Variable::End, Variable::Presence] {
        for counts in [Counts::Bernoulli, Counts::Poisson] {
            for kind in Noise::kinds() {
                let (counts, noise) = (counts.clone(), kind.example());
                let model =
                    Model { counts, noise, labels: Labels::Chain, stamps, ..Model::default() };
                check(&model.freeze("counts.false_rate", &[0.0]));
            }
        }
    }
}

#[test]
fn with_one_parameter_held() {
    for counts in COUNTS {
        let model = || Model { counts: counts.clone(), ..Model::default() };
        check(&model().freeze("noise.delay", &[0.4]));
        check(&model().freeze("noise.spread", &[1.3]));
        check(&model().freeze("counts.hit_rate", &[0.6]));
        check(&model().freeze("background.rate", &[0.2]));
        check(&model().freeze("background.rate", &[0.0]));
        check(&model().freeze("classifier.weights[1]", &[-0.7]));
    }
}

#[test]
fn with_rates_held_at_their_bounds() {
    for counts in COUNTS {
        let model = || Model { counts: counts.clone(), ..Model::default() };
        check(&model().freeze("counts.false_rate", &[0.0]));
        // Counts without a limit would be infinite at a rate of one.
        if matches!(counts, Counts::Bernoulli | Counts::Categorical { .. }) {
            check(&model().freeze("counts.hit_rate", &[1.0]));
            let both = model().freeze("counts.hit_rate", &[1.0]);
            check(&both.freeze("counts.false_rate", &[0.0]));
        }
    }
}

#[test]
fn with_a_split_and_mixture_weights_held() {
    let model = Model {
        counts: Counts::Categorical { max_count: 3 },
        noise: Noise::GaussianMixture { components: 2 },
        ..Model::default()
    };
    check(&model.clone().freeze("counts.hit_split", &[0.5, 0.0, 0.5]));
    check(&model.freeze("noise.weights", &[0.0, 1.0]));
}
