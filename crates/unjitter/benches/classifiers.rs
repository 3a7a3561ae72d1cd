//! Classifiers and noise models alone, at realistic sizes.
//!
//! `kernel`: landmarks chosen and features mapped, exact and on landmarks, then one evaluation on the
//! mapped features. `mlp`: one evaluation of a small network. `noise`: densities of delays and their
//! pull-backs. An evaluation is log-odds and pull-back. Threads: `RAYON_NUM_THREADS`.
//! In test mode everything is small.

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main};
use criterion::{SamplingMode, measurement::WallTime};
use ndarray::Array2;
use unjitter::math::Random;
use unjitter::model::classifier::Classifier;
use unjitter::model::noise::Kind;
use unjitter::{Activation, ClassifierSpec, Control, FeatureView, Features, Noise};

/// `size` when timed, `small` when only tried.
fn sized(size: usize, small: usize) -> usize {
    if std::env::args().any(|argument| argument == "--bench") { size } else { small }
}

/// Normal features around `mean`.
fn normal(rows: usize, columns: usize, mean: f64) -> Features<'static> {
    let mut random = Random::new(7);
    Array2::from_shape_simple_fn((rows, columns), || mean + random.normal()).into()
}

fn fit(spec: &ClassifierSpec, features: FeatureView<'_>) -> Box<dyn Classifier> {
    spec.fit(&[features], 1, Control::default()).unwrap()
}

/// Times log-odds and pull-back over features that are prepared.
fn evaluation(
    group: &mut BenchmarkGroup<'_, WallTime>,
    name: &str,
    classifier: &dyn Classifier,
    features: FeatureView<'_>,
) {
    let prepared = classifier.prepare(features.into(), Control::default());
    let params: Vec<f64> = classifier.start(3).iter().map(|start| start + 0.1).collect();
    let (mut log_odds, mut gradient) = (vec![0.0; features.nrows()], vec![0.0; params.len()]);
    // Log-odds and pull-back take turns over spans that fit the cache, as in a fit.
    let span = (1 << 17) / prepared.view().ncols().max(1) + 1;
    group.throughput(Throughput::Elements(features.nrows() as u64));
    group.bench_function(name, |b| {
        b.iter(|| {
            for (rows, out) in prepared.view().chunks(span).zip(log_odds.chunks_mut(span)) {
                classifier.log_odds(black_box(&params), rows, out);
                classifier.pull_back(&params, rows, out, &mut gradient);
            }
        });
    });
}

fn kernel(c: &mut Criterion) {
    let mut group = c.benchmark_group("kernel");
    group
        .sample_size(10)
        .sampling_mode(SamplingMode::Flat)
        .warm_up_time(Duration::from_millis(1))
        .measurement_time(Duration::from_secs(1));
    let sizes = [
        ("exact", sized(2_000, 100), None),
        ("exact", sized(8_000, 120), None),
        ("landmarks", sized(100_000, 200), Some(sized(500, 20))),
    ];
    for (kind, rows, landmarks) in sizes {
        let features = normal(rows, 50, 0.0);
        let spec = ClassifierSpec::Kernel { length_scale: None, landmarks };
        group.throughput(Throughput::Elements(rows as u64));
        group.bench_function(format!("fit {kind} {rows}"), |b| {
            b.iter(|| fit(&spec, black_box(features.view())));
        });
        let classifier = fit(&spec, features.view());
        group.bench_function(format!("prepare {kind} {rows}"), |b| {
            b.iter(|| classifier.prepare(black_box(features.view()).into(), Control::default()));
        });
        let new = normal(rows, 50, 1e-3);
        group.bench_function(format!("prepare new {kind} {rows}"), |b| {
            b.iter(|| classifier.prepare(black_box(new.view()).into(), Control::default()));
        });
        let name = format!("evaluate {kind} {rows}");
        evaluation(&mut group, &name, &*classifier, features.view());
    }
    group.finish();
}

fn mlp(c: &mut Criterion) {
    let mut group = c.benchmark_group("mlp");
    group
        .sample_size(10)
        .warm_up_time(Duration::from_millis(100))
        .measurement_time(Duration::from_secs(2));
    let features = normal(sized(100_000, 300), 50, 0.0);
    for activation in [Activation::Tanh, Activation::Relu] {
        let classifier =
            fit(&ClassifierSpec::Mlp { hidden: vec![32], activation }, features.view());
        evaluation(&mut group, &format!("{activation:?} 32"), &*classifier, features.view());
    }
    group.finish();
}

fn noise(c: &mut Criterion) {
    let mut group = c.benchmark_group("noise");
    group.warm_up_time(Duration::from_millis(100)).measurement_time(Duration::from_secs(1));
    let mut random = Random::new(9);
    let delays: Vec<f64> = (0..sized(4_000, 100)).map(|_| 3.0 * random.normal()).collect();
    let responsibilities: Vec<f64> = delays.iter().map(|_| random.uniform()).collect();
    let mut out = vec![0.0; delays.len()];
    group.throughput(Throughput::Elements(delays.len() as u64));
    let learned = Noise::kinds().iter().filter(|kind| !kind.parameters.is_empty());
    let four = Noise::GaussianMixture { components: 4 };
    for noise in learned.map(Kind::example).chain([four]) {
        let model = noise.build(1.0).unwrap();
        // A Gamma shifted by more than any delay, so that all of them are in its support.
        let params = model.start(if noise == Noise::ShiftedGamma { 40.0 } else { 0.5 }, 3.0);
        let shift = if noise == Noise::ShiftedGamma { 50.0 } else { 0.0 };
        let delays: Vec<f64> = delays.iter().map(|delay| delay + shift).collect();
        let components = match noise {
            Noise::GaussianMixture { components } => format!(" {components}"),
            _ => String::new(),
        };
        let name = format!("{}{components}", noise.name());
        group.bench_function(format!("{name} density"), |b| {
            b.iter(|| model.log_density(black_box(&params), &delays, &mut out));
        });
        let mut d_params = vec![0.0; params.len()];
        group.bench_function(format!("{name} pull-back"), |b| {
            b.iter(|| {
                model.pull_back(black_box(&params), &delays, &responsibilities, &mut d_params)
            });
        });
    }
    group.finish();
}

criterion_group!(benches, noise, mlp, kernel);
criterion_main!(benches);
