//! One evaluation of the objective, beside a plain logistic loss over the same features.
//!
//! `cost`: value + gradient at paper size and at 10⁴, 10⁵ and 10⁶ instances in one session (4 % as
//! many stamps, spread of one spacing; a single session runs on one thread), and the fused logistic
//! loss beside each.
//! The extra memory per instance is printed first. `growth`: the same with a single feature, so that
//! inference grows and not the traffic of features through the caches. `parts`: count and noise models
//! side by side. `fits`: a whole fit with Gaussian noise and with Student-t noise.

#[path = "peer/fused.rs"]
mod fused;

use std::alloc::{GlobalAlloc, Layout, System};
use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use fused::fused_logistic;
use ndarray::Array2;
use unjitter::learning::{Objective, Problem};
use unjitter::math::Random;
use unjitter::{Control, Counts, FitOptions, Model, Noise, Session};

/// Counts allocations, for the extra memory of an evaluation.
struct Counting;
static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

#[expect(unsafe_code, reason = "an allocator that counts has to implement GlobalAlloc")]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let live = LIVE.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        PEAK.fetch_max(live, Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// A session with spacing one and stamps one spacing off on average.
fn session(instances: usize, stamps: usize, columns: usize) -> Session<'static> {
    let mut random = Random::new(7);
    let features = Array2::from_shape_simple_fn((instances, columns), || random.normal());
    let times: Vec<f64> = (0..instances).map(|i| i as f64).collect();
    let mut z: Vec<f64> =
        (0..stamps).map(|_| random.below(instances) as f64 + 0.3 + random.normal()).collect();
    z.sort_by(f64::total_cmp);
    Session::new("bench", features, times, z).unwrap()
}

/// Parameters like those of a finished fit: weights of order one tenth, rates of 0.1 % and 95 %.
fn params(dim: usize) -> Vec<f64> {
    let mut random = Random::new(8);
    let mut params: Vec<f64> = (0..dim - 5).map(|_| 0.2 * random.normal()).collect();
    params.extend([-4.0, -7.0, 3.0, 0.3, 0.0]);
    params
}

fn cost(c: &mut Criterion) {
    let mut group = c.benchmark_group("cost");
    group
        .sample_size(20)
        .warm_up_time(Duration::from_secs(1))
        .measurement_time(Duration::from_secs(4));
    for (instances, stamps) in [(260, 10), (10_000, 400), (100_000, 4_000), (1_000_000, 40_000)] {
        let session = session(instances, stamps, 50);
        let labels: Vec<f64> = (0..instances).map(|i| f64::from(i % 25 == 0)).collect();
        group.throughput(Throughput::Elements(instances as u64));
        let mut gradient = vec![0.0; 51];
        let w = params(55)[..51].to_vec();
        group.bench_function(BenchmarkId::new("fused logistic", instances), |b| {
            let features = session.features().to_f64();
            let features = features.as_slice().unwrap();
            b.iter(|| fused_logistic(black_box(features), &labels, &w, &mut gradient));
        });
        let model = Model::default();
        let sessions = [session];
        let problem = Problem::new(&model, &sessions, 0, Control::default()).unwrap();
        let before = LIVE.load(Ordering::Relaxed);
        PEAK.store(before, Ordering::Relaxed);
        let objective = problem.objective().unwrap();
        let params = params(objective.dim());
        let mut gradient = vec![0.0; objective.dim()];
        objective.evaluate(&params, &mut gradient);
        let extra = PEAK.load(Ordering::Relaxed) - before;
        println!(
            "L = {instances}: {:.1} bytes per instance beyond the session",
            extra as f64 / instances as f64
        );
        group.bench_function(BenchmarkId::new("objective", instances), |b| {
            b.iter(|| objective.evaluate(black_box(&params), &mut gradient));
        });
    }
    group.finish();
}

/// One feature only: time per instance must not depend on the length of the session.
fn growth(c: &mut Criterion) {
    let mut group = c.benchmark_group("growth");
    group
        .sample_size(20)
        .warm_up_time(Duration::from_secs(1))
        .measurement_time(Duration::from_secs(3));
    let model = Model::default();
    for (instances, stamps) in [(10_000, 400), (100_000, 4_000), (1_000_000, 40_000)] {
        let sessions = [session(instances, stamps, 1)];
        let problem = Problem::new(&model, &sessions, 0, Control::default()).unwrap();
        let objective = problem.objective().unwrap();
        let params = params(objective.dim());
        let mut gradient = vec![0.0; objective.dim()];
        group.throughput(Throughput::Elements(instances as u64));
        group.bench_function(BenchmarkId::new("objective", instances), |b| {
            b.iter(|| objective.evaluate(black_box(&params), &mut gradient));
        });
    }
    group.finish();
}

/// Inference alone, no features to speak of, over parts and spreads.
fn parts(c: &mut Criterion) {
    let mut group = c.benchmark_group("parts");
    group
        .sample_size(10)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2));
    let instances = 100_000;
    let mut random = Random::new(9);
    let features = Array2::from_shape_simple_fn((instances, 1), || random.normal());
    let times: Vec<f64> = (0..instances).map(|i| i as f64).collect();
    let stamps: Vec<f64> = (0..4000).map(|l| 25.0 * f64::from(l) + random.normal()).collect();
    let mut stamps = stamps;
    stamps.sort_by(f64::total_cmp);
    let sessions = [Session::new("bench", features, times, stamps).unwrap()];
    group.throughput(Throughput::Elements(instances as u64));
    for counts in [Counts::Bernoulli, Counts::Categorical { max_count: 3 }, Counts::Poisson] {
        for (noise, spread) in
            [(Noise::Gaussian, 0.5), (Noise::Gaussian, 2.0), (Noise::Laplace, 0.5)]
        {
            let model = Model { counts: counts.clone(), noise: noise.clone(), ..Model::default() }
                .freeze("noise.spread", &[spread])
                .freeze("noise.delay", &[0.0])
                .freeze("counts.false_rate", &[1e-3])
                .freeze("counts.hit_rate", &[0.95]);
            let problem = Problem::new(&model, &sessions, 0, Control::default()).unwrap();
            let objective = problem.objective().unwrap();
            let params = problem.start(&objective, 0, 0).expect("the naive start");
            let mut gradient = vec![0.0; objective.dim()];
            let name = format!("{} {} {spread}", counts.name(), noise.name());
            group.bench_function(name, |b| {
                b.iter(|| objective.evaluate(black_box(&params), &mut gradient));
            });
        }
    }
    group.finish();
}

/// Presses off by two spacings, 5 % as many as instances: 30 sessions of paper size, and a long one.
fn fits(c: &mut Criterion) {
    let mut group = c.benchmark_group("fits");
    group.sample_size(10).measurement_time(Duration::from_secs(10));
    let presses = [(30, 264, f64::INFINITY), (1, 100_000, f64::INFINITY), (1, 10_000, 3.0)];
    for (sessions, instances, degrees) in presses {
        let data: Vec<Session<'static>> =
            (0..sessions).map(|k| pressed(k, instances, degrees)).collect();
        for noise in [Noise::Gaussian, Noise::StudentT] {
            let model = Model { noise: noise.clone(), ..Model::default() };
            let options =
                FitOptions { threads: Some(1), standard_errors: false, ..FitOptions::default() };
            let tails = if degrees.is_finite() { ", heavy tails" } else { "" };
            let name = BenchmarkId::new(noise.name(), format!("{sessions} x {instances}{tails}"));
            group.bench_function(name, |b| {
                b.iter(|| model.fit(black_box(&data), &options, Control::default()).unwrap());
            });
        }
    }
    group.finish();
}

/// A session whose events show in half of its eight features. Delays have a Student-t density; with
/// infinitely many degrees of freedom that is a Gaussian one.
fn pressed(seed: u64, instances: usize, degrees: f64) -> Session<'static> {
    let mut random = Random::new(seed);
    let events: Vec<bool> = (0..instances).map(|_| random.uniform() < 0.05).collect();
    let features = Array2::from_shape_fn((instances, 8), |(i, column)| {
        random.normal() + if events[i] && column < 4 { 1.5 } else { 0.0 }
    });
    let mut stamps = Vec::new();
    for i in (0..instances).filter(|&i| events[i]) {
        if random.uniform() < 0.9 {
            let half = 0.5 * degrees;
            let precision = if half.is_finite() { random.gamma(half) / half } else { 1.0 };
            let spread = if half.is_finite() { 1.0 } else { 2.0 };
            stamps.push(i as f64 + 0.5 + spread * random.normal() / precision.sqrt());
        }
    }
    stamps.sort_by(f64::total_cmp);
    let times = (0..instances).map(|i| i as f64).collect();
    Session::new(format!("bench {seed}"), features, times, stamps).unwrap()
}

criterion_group!(benches, cost, growth, parts, fits);
criterion_main!(benches);
