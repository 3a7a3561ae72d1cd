//! The optimiser: against SciPy on the same problems, and at the edges where optimisers break.

mod edges;
mod hints;
mod problems;
mod scipy;

use std::ops::ControlFlow;

use unjitter::learning::{LbfgsOptions, Minimum, Objective, minimise};

/// Overwrites the gradient and returns the value.
type Evaluate<'a> = dyn Fn(&[f64], &mut [f64]) -> f64 + 'a;

/// An objective given by a closure.
struct Formula<'a> {
    dim: usize,
    evaluate: Box<Evaluate<'a>>,
}

impl<'a> Formula<'a> {
    fn new(dim: usize, evaluate: impl Fn(&[f64], &mut [f64]) -> f64 + 'a) -> Self {
        Self { dim, evaluate: Box::new(evaluate) }
    }
}

impl Objective for Formula<'_> {
    fn dim(&self) -> usize {
        self.dim
    }

    fn evaluate(&self, params: &[f64], gradient: &mut [f64]) -> f64 {
        (self.evaluate)(params, gradient)
    }
}

/// Options under which only the gradient ends a run.
fn until_gradient(gradient_tolerance: f64) -> LbfgsOptions {
    LbfgsOptions {
        gradient_tolerance,
        value_tolerance: 0.0,
        max_iterations: 100_000,
        ..LbfgsOptions::default()
    }
}

/// A run without a watcher, from a feasible start.
fn run(objective: &dyn Objective, start: &[f64], options: &LbfgsOptions) -> Minimum {
    minimise(objective, start, options, &mut |_| ControlFlow::Continue(())).expect("feasible start")
}
