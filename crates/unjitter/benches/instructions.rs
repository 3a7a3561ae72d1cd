//! Instruction counts of the core kernels, compared with those in `instructions.txt`.
//!
//! Times are noisy on a busy machine; a count under callgrind is reproducible.
//! `cargo bench --bench instructions` runs each kernel under valgrind, if it is installed, says where a
//! count is off by more than [`MARGIN`], and fails if it grew. A gain does not fail: the compiler lays out the
//! loop of categorical counts in one of two ways, 14 % apart, after changes far from it, and the written count
//! is that of the slower. `-- --bless` writes the new counts. In test mode every kernel runs once, uncounted.
//!
//! valgrind does not support AVX-512, so counts are always those of the AVX2 versions.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::process::{Command, ExitCode};
use std::{env, fs};

use ndarray::Array2;
use unjitter::inference::Order;
use unjitter::learning::{Objective, Problem};
use unjitter::math::{Random, exp_in_place, ln_in_place};
use unjitter::model::Annotator;
use unjitter::model::classifier::{Activation, ClassifierSpec};
use unjitter::{Control, Counts, Model, Noise, Session};

/// Room for another compiler and another C library.
const MARGIN: f64 = 0.05;

const COUNTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/instructions.txt");

/// Instances of a session.
const INSTANCES: usize = 10_000;

/// Something to count.
type Kernel = Box<dyn FnMut()>;
/// Its name, and how it is prepared.
type Named = (&'static str, fn() -> Kernel);

fn kernels() -> Vec<Named> {
    vec![
        ("exponentials", || slice(exp_in_place)),
        ("logarithms", || slice(ln_in_place)),
        ("inference, spread 0.5", || inference(Counts::Bernoulli, Noise::Gaussian, 0.5)),
        ("inference, spread 2", || inference(Counts::Bernoulli, Noise::Gaussian, 2.0)),
        ("inference, spread 8", || inference(Counts::Bernoulli, Noise::Gaussian, 8.0)),
        ("inference, Poisson", || inference(Counts::Poisson, Noise::Gaussian, 2.0)),
        ("inference, categorical", || {
            inference(Counts::Categorical { max_count: 3 }, Noise::Gaussian, 2.0)
        }),
        ("inference, mixture", || {
            inference(Counts::Bernoulli, Noise::GaussianMixture { components: 2 }, 2.0)
        }),
        ("inference, Student-t", || inference(Counts::Bernoulli, Noise::StudentT, 2.0)),
        ("inference, Laplace", || inference(Counts::Bernoulli, Noise::Laplace, 2.0)),
        ("objective, 50 features", || objective(ClassifierSpec::Logistic)),
        ("objective, network", || {
            objective(ClassifierSpec::Mlp { hidden: vec![32], activation: Activation::Tanh })
        }),
        ("kernel of 100 landmarks", kernel_map),
    ]
}

fn slice(function: fn(&mut [f64])) -> Kernel {
    let mut random = Random::new(1);
    let mut values: Vec<f64> = (0..INSTANCES).map(|_| 10.0 * random.uniform()).collect();
    Box::new(move || function(black_box(&mut values)))
}

/// Times, and 5 % as many stamps, off by `spread`.
fn stamped(spread: f64) -> (Vec<f64>, Vec<f64>) {
    let mut random = Random::new(2);
    let times: Vec<f64> = (0..INSTANCES).map(|i| i as f64).collect();
    let mut stamps: Vec<f64> = (0..INSTANCES / 20)
        .map(|_| random.below(INSTANCES) as f64 + spread * random.normal())
        .collect();
    stamps.sort_by(f64::total_cmp);
    (times, stamps)
}

fn inference(counts: Counts, noise: Noise, spread: f64) -> Kernel {
    let evidence = Annotator::new(&counts, &noise, Order::Ordered, 1.0).expect("valid settings");
    let rates: [(&str, &[f64]); 3] =
        [("counts.false_rate", &[1e-3]), ("counts.hit_rate", &[0.95]), ("background.rate", &[0.0])];
    let mut params = evidence.start(&rates).expect("valid rates");
    for parameter in evidence.layout().parameters() {
        if ["noise.spread", "noise.spreads", "noise.scale"].contains(&parameter.name.as_str()) {
            params[parameter.range.clone()].fill(spread.ln());
        }
    }
    let (times, stamps) = stamped(spread);
    let mut random = Random::new(3);
    let log_odds: Vec<f64> = times.iter().map(|_| -4.0 + random.normal()).collect();
    Box::new(move || {
        let gradient = evidence.gradient("kernel", &params, &times, &stamps, &log_odds);
        black_box(gradient.expect("an alignment exists"));
    })
}

/// A problem with 50 features. It borrows its model and its session; the process ends with the kernel.
fn problem(classifier: ClassifierSpec) -> Problem<'static> {
    let (times, stamps) = stamped(1.0);
    let mut random = Random::new(4);
    let features = Array2::from_shape_simple_fn((INSTANCES, 50), || random.normal());
    let model: &'static Model = Box::leak(Box::new(Model { classifier, ..Model::default() }));
    let session = Session::new("kernel", features, times, stamps).expect("a session");
    let sessions: &'static [Session<'static>] = Box::leak(Box::new([session]));
    Problem::new(model, sessions, 0, Control::default()).expect("a problem")
}

fn objective(classifier: ClassifierSpec) -> Kernel {
    let problem: &'static Problem<'static> = Box::leak(Box::new(problem(classifier)));
    let objective = problem.objective().expect("an objective");
    let mut random = Random::new(5);
    let mut params: Vec<f64> = (0..objective.dim() - 5).map(|_| 0.2 * random.normal()).collect();
    params.extend([-4.0, -7.0, 3.0, 0.3, 0.0]);
    let mut gradient = vec![0.0; objective.dim()];
    Box::new(move || {
        objective.evaluate(black_box(&params), &mut gradient);
    })
}

/// Features to kernel functions, once per fit.
fn kernel_map() -> Kernel {
    let problem = problem(ClassifierSpec::Kernel { length_scale: None, landmarks: Some(100) });
    Box::new(move || {
        black_box(problem.objective().expect("an objective"));
    })
}

/// The function that callgrind collects: nothing outside it counts.
#[inline(never)]
fn measured(kernel: &mut Kernel) {
    kernel();
}

fn main() -> ExitCode {
    let args: Vec<String> = env::args().collect();
    let after = |flag: &str| args.iter().position(|arg| arg == flag).map(|at| at + 1);
    if let Some(name) = after("--kernel").and_then(|at| args.get(at)) {
        let (_, make) = kernels().into_iter().find(|(known, _)| known == name).expect("a kernel");
        // In a pool of one thread, so that all of it runs where it is counted.
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
        pool.scope(|_| {
            let mut kernel = make();
            kernel(); // buffers and dispatch
            measured(&mut kernel);
        });
        return ExitCode::SUCCESS;
    }
    if after("--bench").is_none() {
        kernels().into_iter().for_each(|(_, make)| measured(&mut make()));
        return ExitCode::SUCCESS;
    }
    let Some(counts) = count_all() else {
        println!("no valgrind here: instructions are not counted");
        return ExitCode::SUCCESS;
    };
    if after("--bless").is_some() {
        let lines = counts.iter().map(|(name, count)| format!("{count:>12}  {name}\n"));
        fs::write(COUNTS, lines.collect::<String>()).expect("counts can be written");
        return ExitCode::SUCCESS;
    }
    if compare(&counts) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Instructions of every kernel; `None` without valgrind.
fn count_all() -> Option<Vec<(&'static str, u64)>> {
    Command::new("valgrind").arg("--version").output().ok()?;
    Some(kernels().into_iter().map(|(name, _)| (name, count(name))).collect())
}

fn count(kernel: &str) -> u64 {
    let program = env::current_exe().expect("this program");
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg("--toggle-collect=instructions::measured")
        .arg(program)
        .args(["--kernel", kernel])
        .output()
        .expect("valgrind runs");
    let said = String::from_utf8_lossy(&output.stderr);
    let collected = said.lines().find_map(|line| line.split("Collected : ").nth(1));
    collected.and_then(|count| count.trim().parse().ok()).unwrap_or_else(|| panic!("{said}"))
}

/// Says how the counts compare with the written ones; whether none grew past the margin.
fn compare(counts: &[(&'static str, u64)]) -> bool {
    let written = fs::read_to_string(COUNTS).unwrap_or_default();
    let written: BTreeMap<&str, u64> = written
        .lines()
        .filter_map(|line| line.trim().split_once("  "))
        .filter_map(|(count, name)| Some((name, count.parse().ok()?)))
        .collect();
    let mut good = true;
    for (name, count) in counts {
        let change = written.get(name).map(|&want| *count as f64 / want as f64 - 1.0);
        let within = change.is_some_and(|change| change.abs() <= MARGIN);
        let said = change.map_or("not written down".to_owned(), |c| format!("{:+.2} %", 100.0 * c));
        println!("{count:>12}  {name}: {said}{}", if within { "" } else { "  <-- look here" });
        good &= change.is_some_and(|change| change <= MARGIN);
    }
    if !good {
        println!("after a change that is meant: cargo bench --bench instructions -- --bless");
    }
    good
}
