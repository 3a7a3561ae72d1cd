//! Saved models come back to the bit, and no bytes make loading panic, hang or hoard memory.

mod disk;
mod hostile;
#[path = "../common/peak.rs"]
mod memory;
mod refusals;
mod round_trip;

use ndarray::Array2;
use serde_json::json;
use unjitter::learning::LbfgsOptions;
use unjitter::math::Random;
use unjitter::model::noise::Kind;
use unjitter::{
    Activation, ClassifierSpec, Control, Counts, FitOptions, Fitted, Model, Noise, Session,
};

/// A recording with an event at every eighth instance, pressed late by about 0.4; the fifth event
/// has no stamp.
fn session(name: &str, seed: u64) -> Session<'static> {
    let mut random = Random::new(seed);
    let is_event = |i: usize| i % 8 == 5;
    let features = Array2::from_shape_fn((64, 2), |(i, j)| {
        random.normal() + if is_event(i) && j == 0 { 3.0 } else { 0.0 }
    });
    let times: Vec<f64> = (0..64).map(|i| 0.5 * i as f64).collect();
    let events = (0..64).filter(|&i| is_event(i) && i != 37);
    let stamps = events.map(|i| times[i] + 0.4 + 0.1 * random.uniform()).collect();
    Session::new(name, features, times, stamps).unwrap()
}

/// A short fit: these tests ask for any parameters, not for good ones.
fn fit(model: &Model) -> Fitted {
    let optimiser = LbfgsOptions { max_iterations: 4, ..LbfgsOptions::default() };
    let options = FitOptions { restarts: 0, threads: Some(1), optimiser, ..FitOptions::default() };
    model.fit(&[session("a", 1), session("b", 2)], &options, Control::default()).unwrap()
}

/// Every classifier, count model and noise model at least once, with a rate frozen at zero.
fn models() -> Vec<Model> {
    let network = |hidden, activation| ClassifierSpec::Mlp { hidden, activation };
    let kernel = |landmarks| ClassifierSpec::Kernel { length_scale: Some(1.5), landmarks };
    let parts = [
        (ClassifierSpec::Logistic, Counts::Bernoulli),
        (kernel(Some(9)), Counts::Categorical { max_count: 3 }),
        (network(vec![3, 2], Activation::Tanh), Counts::Poisson),
        (network(vec![], Activation::Relu), Counts::Geometric),
        (ClassifierSpec::Logistic, Counts::Categorical { max_count: 1 }),
        (kernel(None), Counts::Bernoulli),
    ];
    let model = |(kind, (classifier, counts)): (&Kind, _)| {
        let noise = kind.example();
        Model { classifier, counts, noise, ..Model::default() }.freeze("counts.false_rate", &[0.0])
    };
    // At least as many noise models as other parts: none is left out.
    assert!(Noise::kinds().len() >= parts.len());
    Noise::kinds().iter().zip(parts.into_iter().cycle()).map(model).collect()
}

/// The files that are spoilt below, one for each of the models.
fn files() -> Vec<String> {
    let noted = |model: &Model| fit(model).with_metadata("note", json!([1, {"x": null}])).unwrap();
    models().iter().map(|model| noted(model).to_json()).collect()
}
