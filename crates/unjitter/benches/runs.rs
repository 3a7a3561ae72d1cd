//! Evaluations of a chain over labels beside those of independent labels, on the same sessions.
//!
//! `chain`: value and gradient of both at 10⁴, 10⁵ and 10⁶ instances in one session on one thread, a run and a stamp
//! every 25 instances. The claim: both grow linearly; how much more a chain costs is stated in `docs/model.md`, section 26.
//! `threads`: one long session of a chain on one thread and on two.

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use ndarray::Array2;
use unjitter::labels::Labels;
use unjitter::learning::{Objective, Problem};
use unjitter::math::Random;
use unjitter::{Control, Model, Session};

/// Instances between runs, about, and in one.
const APART: usize = 25;
const RUN: usize = 5;

/// A session with spacing one whose runs show in its features.
fn session(instances: usize, columns: usize) -> Session<'static> {
    let mut random = Random::new(7);
    let begins = |i: usize| i % APART < RUN;
    let features = Array2::from_shape_fn((instances, columns), |(i, _)| {
        random.normal() + if begins(i) { 1.0 } else { 0.0 }
    });
    let times: Vec<f64> = (0..instances).map(|i| i as f64).collect();
    let mut stamps: Vec<f64> =
        (0..instances / APART).map(|k| (k * APART) as f64 + 0.3 + random.normal()).collect();
    stamps.sort_by(f64::total_cmp);
    Session::new("bench", features, times, stamps).unwrap()
}

fn models() -> [(&'static str, Model); 2] {
    let chain = Model { labels: Labels::Chain, ..Model::default() };
    [("independent", Model::default()), ("chain", chain)]
}

/// Measures an evaluation at the place where a fit begins to know something.
fn evaluation(c: &mut Criterion, group: &str, threads: usize, sizes: &[usize], columns: usize) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let mut group = c.benchmark_group(group);
    group
        .sample_size(10)
        .warm_up_time(Duration::from_secs(1))
        .measurement_time(Duration::from_secs(4));
    for &instances in sizes {
        let sessions = [session(instances, columns)];
        group.throughput(Throughput::Elements(instances as u64));
        for (name, model) in models() {
            let problem = Problem::new(&model, &sessions, 0, Control::default()).unwrap();
            let objective = problem.objective().unwrap();
            let start = problem.start(&objective, 0, 0).expect("a start");
            let mut gradient = vec![0.0; objective.dim()];
            let id = BenchmarkId::new(format!("{name}, {threads} threads"), instances);
            group.bench_function(id, |b| {
                pool.install(|| {
                    b.iter(|| objective.evaluate(black_box(&start), &mut gradient));
                });
            });
        }
    }
    group.finish();
}

fn chain(c: &mut Criterion) {
    evaluation(c, "chain", 1, &[10_000, 100_000, 1_000_000], 8);
}

fn threads(c: &mut Criterion) {
    evaluation(c, "threads", 1, &[1_000_000], 8);
    evaluation(c, "threads", 2, &[1_000_000], 8);
}

criterion_group!(benches, chain, threads);
criterion_main!(benches);
