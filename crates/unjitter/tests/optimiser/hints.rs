//! Custom objectives with a hint at their curvature.

use unjitter::learning::{Curvature, Minimum, Objective, StopReason};

use super::problems::rosenbrock;
use super::{Formula, run, until_gradient};

/// The diagonal of a Hessian, or a guess of it.
type Guess = fn(params: &[f64]) -> Vec<f64>;

/// A function with the diagonal of its Hessian.
struct Hinted {
    function: Formula<'static>,
    diagonal: Guess,
}

impl Objective for Hinted {
    fn dim(&self) -> usize {
        self.function.dim()
    }

    fn evaluate(&self, params: &[f64], gradient: &mut [f64]) -> f64 {
        self.function.evaluate(params, gradient)
    }

    fn curvature(&self, params: &[f64], _: &[f64], _: usize) -> Option<Box<dyn Curvature>> {
        Some(Box::new(Diagonal((self.diagonal)(params))))
    }
}

#[derive(Debug)]
struct Diagonal(Vec<f64>);

impl Curvature for Diagonal {
    fn solve(&self, gradient: &mut [f64]) {
        gradient.iter_mut().zip(&self.0).for_each(|(g, curvature)| *g /= curvature);
    }
}

/// The minimum, which is at ones.
fn at_ones(objective: &dyn Objective, start: &[f64]) -> Minimum {
    let got = run(objective, start, &until_gradient(1e-8));
    assert_eq!(got.stop, StopReason::GradientTolerance);
    // No curvature here is below 0.4: the error is at most 2.5 gradients.
    assert!(got.params.iter().all(|x| (x - 1.0).abs() < 1e-7), "{got:?}");
    got
}

#[test]
fn a_hint_spares_finding_the_curvature_out() {
    /// From 1 to a million.
    fn curvatures(params: &[f64]) -> Vec<f64> {
        (0..params.len()).map(|k| 1e6_f64.powf(k as f64 / 19.0)).collect()
    }
    let bowl = || {
        Formula::new(20, |x, gradient| {
            let mut value = 0.0;
            for ((g, x), curvature) in gradient.iter_mut().zip(x).zip(curvatures(x)) {
                *g = curvature * (x - 1.0);
                value += 0.5 * *g * (x - 1.0);
            }
            value
        })
    };
    let plain = at_ones(&bowl(), &[0.0; 20]);
    let hinted = at_ones(&Hinted { function: bowl(), diagonal: curvatures }, &[0.0; 20]);
    assert!(plain.evaluations > 50, "{plain:?}");
    // The start, and the step from the hint; one more because of rounding.
    assert!(hinted.evaluations <= 3, "{hinted:?}");
}

#[test]
fn a_hint_that_is_wrong_does_no_harm() {
    let wrong: [Guess; 4] =
        [|_| vec![-1.0, 1.0], |_| vec![0.0; 2], |_| vec![f64::NAN; 2], |_| vec![f64::INFINITY; 2]];
    for diagonal in wrong {
        at_ones(&Hinted { function: rosenbrock(2), diagonal }, &[-1.2, 1.0]);
    }
}
