//! Same minima as SciPy, for no more than twice its evaluations.

use serde::Deserialize;
use unjitter::learning::{Objective, StopReason};

use super::problems::problem;
use super::{run, until_gradient};

#[derive(Deserialize)]
struct Golden {
    problems: Vec<Record>,
}

#[derive(Deserialize)]
struct Record {
    name: String,
    start: Vec<f64>,
    gradient_tolerance: f64,
    minimiser: Vec<f64>,
    value: f64,
    method: String,
    evaluations: usize,
}

fn golden() -> Vec<Record> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../reference/golden/scipy_minima.json");
    let text = std::fs::read_to_string(path).expect("the golden file is there");
    let golden: Golden = serde_json::from_str(&text).expect("the golden file is well formed");
    assert_eq!(golden.problems.len(), 6);
    golden.problems
}

#[test]
fn minima_and_evaluations_match() {
    for want in golden() {
        let Record { name, method, .. } = &want;
        // SciPy compares max |g| with the tolerance itself, we with its multiple by √|f|.
        let tolerance = want.gradient_tolerance / want.value.abs().sqrt().max(1.0);
        let got = run(&problem(name), &want.start, &until_gradient(tolerance));
        println!("{name}: {} evaluations, {method} {}", got.evaluations, want.evaluations);
        assert_eq!(got.stop, StopReason::GradientTolerance, "{name}");
        assert!(got.gradient_norm <= 1.001 * want.gradient_tolerance, "{name}"); // √|f| above √|f*|
        // Relative where the minimum is not zero.
        let excess = (got.value - want.value).abs();
        assert!(excess <= 1e-8 * want.value.abs().max(1.0), "{name}: value {}", got.value);
        // The error is g/λ with g ≤ 1e-6 and λ ≥ 0.1, but g^⅓ at Powell's singular Hessian.
        let slack = if name == "powell_singular" { 1e-2 } else { 1e-5 };
        for (x, y) in got.params.iter().zip(&want.minimiser) {
            assert!((x - y).abs() <= slack, "{name}: {x} is not {y}");
        }
        assert!(got.evaluations <= 2 * want.evaluations, "{name}: {}", got.evaluations);
    }
}

#[test]
fn gradients_match_central_differences() {
    for Record { name, start, .. } in golden() {
        let objective = problem(&name);
        let (mut gradient, mut ignored) = (start.clone(), start.clone());
        objective.evaluate(&start, &mut gradient);
        for j in 0..start.len() {
            let mut shifted = |by: f64| {
                let mut params = start.clone();
                params[j] += by;
                objective.evaluate(&params, &mut ignored)
            };
            let slope = (shifted(1e-5) - shifted(-1e-5)) / 2e-5;
            // Rounding ε|f|/h with |f| up to 1e6 (the quadratic): 1e-5; third derivatives less.
            let slack = 1e-4 * gradient[j].abs().max(1.0);
            assert!((slope - gradient[j]).abs() <= slack, "{name} {j}: {slope}");
        }
    }
}

#[test]
fn goes_on_where_differences_of_the_value_drown() {
    // L-BFGS-B gives up on this problem at a gradient of 8e-7.
    let want = golden().into_iter().find(|record| record.name == "ridge_logistic").unwrap();
    let got = run(&problem(&want.name), &want.start, &until_gradient(1e-13));
    assert_eq!(got.stop, StopReason::GradientTolerance);
    // tolerance · √40
    assert!(got.gradient_norm <= 1e-12, "{got:?}");
    assert!(got.evaluations <= 60, "{got:?}");
}
