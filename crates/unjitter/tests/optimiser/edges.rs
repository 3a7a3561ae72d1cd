//! Where optimisers break: infinite values, flat directions, rounding, limits, cancellation.

use std::cell::Cell;
use std::ops::ControlFlow;

use unjitter::learning::{LbfgsOptions, Objective, Step, StopReason, minimise};

use super::problems::rosenbrock;
use super::{Formula, run, until_gradient};

#[test]
fn a_first_step_into_infinity_is_shortened() {
    // 10x − log x is minimal at 0.1. The first step from 0.5 has length one and leaves its domain,
    // where the value and the gradient hold anything.
    let undefined = [(f64::INFINITY, f64::NAN), (f64::INFINITY, 0.0), (f64::NAN, 1.0)];
    // A value without a gradient is of no use either, however low.
    for (value, slope) in undefined.into_iter().chain([(-99.0, f64::NAN)]) {
        let crossings = Cell::new(0);
        let objective = Formula::new(1, |x, gradient| {
            if x[0] > 0.0 {
                gradient[0] = 10.0 - 1.0 / x[0];
                return 10.0 * x[0] - x[0].ln();
            }
            crossings.set(crossings.get() + 1);
            gradient[0] = slope;
            value
        });
        let got = run(&objective, &[0.5], &until_gradient(1e-9));
        assert!(crossings.get() > 0);
        assert_eq!(got.stop, StopReason::GradientTolerance);
        // The curvature is 100: the error is a hundredth of the gradient.
        assert!((got.params[0] - 0.1).abs() <= 1e-10, "{got:?}");
    }
}

#[test]
fn an_undefined_start_is_refused() {
    for (value, slope) in [(f64::INFINITY, 0.0), (f64::NAN, 0.0), (1.0, f64::NAN)] {
        let objective = Formula::new(2, |_, gradient| {
            gradient.copy_from_slice(&[0.0, slope]);
            value
        });
        let watch = &mut |_: &Step| panic!("nothing to watch");
        assert!(minimise(&objective, &[0.0; 2], &LbfgsOptions::default(), watch).is_none());
    }
}

#[test]
fn nothing_to_learn_ends_at_once() {
    let got = run(&Formula::new(0, |_, _| 3.0), &[], &LbfgsOptions::default());
    assert_eq!((got.stop, got.iterations, got.evaluations), (StopReason::GradientTolerance, 0, 1));
    assert_eq!((got.value, got.gradient_norm), (3.0, 0.0));
}

#[test]
fn watchers_see_every_iteration_and_can_stop_the_run() {
    let mut seen = Vec::new();
    let got = minimise(&rosenbrock(2), &[-1.2, 1.0], &LbfgsOptions::default(), &mut |step| {
        seen.push((step.iteration, step.value, step.params.to_vec()));
        if step.iteration == 7 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })
    .unwrap();
    assert_eq!((got.stop, got.iterations), (StopReason::Cancelled, 7));
    assert!(seen.iter().map(|s| s.0).eq(0..=7));
    // Steps that fall enough are the best points seen, and rounding plays no part this early.
    assert!(seen.windows(2).all(|w| w[1].1 < w[0].1));
    assert_eq!((got.value, &got.params), (seen[7].1, &seen[7].2));

    let stop = &mut |_: &Step| ControlFlow::Break(());
    let got = minimise(&rosenbrock(2), &[-1.2, 1.0], &LbfgsOptions::default(), stop).unwrap();
    assert_eq!((got.stop, got.evaluations), (StopReason::Cancelled, 1));
    assert_eq!(got.params, [-1.2, 1.0]);
}

#[test]
fn iterations_are_limited() {
    for max_iterations in [0, 1, 5] {
        let options = LbfgsOptions { max_iterations, ..LbfgsOptions::default() };
        let got = run(&rosenbrock(20), &[0.0; 20], &options);
        assert_eq!((got.stop, got.iterations), (StopReason::IterationLimit, max_iterations));
    }
}

#[test]
fn the_best_point_is_returned_after_a_failed_search() {
    // Beyond −0.5 the value rises again though the slope denies it; it was lowest in between, by
    // less than the slope promised.
    let objective = Formula::new(1, |x, gradient| {
        gradient[0] = 1.0;
        if x[0] <= -1e-3 { -1e-9 - 1e-12 * x[0] } else { x[0].abs() }
    });
    let lowest = Cell::new(f64::INFINITY);
    let watched = Formula::new(1, |x, gradient| {
        let value = objective.evaluate(x, gradient);
        lowest.set(lowest.get().min(value));
        value
    });
    let got = run(&watched, &[0.0], &LbfgsOptions::default());
    assert_eq!(got.stop, StopReason::LineSearchFailed);
    assert!(got.value < 0.0);
    assert_eq!(got.value, lowest.get());
}

#[test]
fn directions_without_effect_are_left_alone() {
    // Only the sum of the first two matters, and the third not at all.
    let objective = Formula::new(3, |x, gradient| {
        let gap = x[0] + x[1] - 1.0;
        gradient.copy_from_slice(&[4.0 * gap.powi(3), 4.0 * gap.powi(3), 0.0]);
        gap.powi(4)
    });
    let got = run(&objective, &[3.0, -1.0, 7.0], &until_gradient(1e-9));
    assert_eq!(got.stop, StopReason::GradientTolerance);
    // g = 4 gap³ ≤ 1e-9.
    assert!((got.params[0] + got.params[1] - 1.0).abs() < 1e-3, "{got:?}");
    // The start is as far from the line on both sides: 3 − t and −1 − t.
    assert!((got.params[0] - got.params[1] - 4.0).abs() < 1e-12, "{got:?}"); // rounding only
    assert_eq!(got.params[2], 7.0);
}

#[test]
fn same_start_same_bits() {
    let twice = [0, 1].map(|_| run(&rosenbrock(20), &[0.0; 20], &until_gradient(1e-8)));
    assert_eq!(twice[0], twice[1]);
}

/// Rosenbrock plus one, with a relative error of the value of up to 1e-14 that jumps about, and with
/// an error of the gradient of up to `gradient_noise`.
fn noisy(gradient_noise: f64) -> Formula<'static> {
    let exact = rosenbrock(4);
    Formula::new(4, move |x, gradient| {
        let value = 1.0 + exact.evaluate(x, gradient);
        let mix = |hash: u64, x: &f64| (hash ^ x.to_bits()).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let noise = (x.iter().fold(0, mix) >> 40) as f64 / (1 << 23) as f64 - 1.0;
        gradient[0] += gradient_noise * noise;
        value * (1.0 + 1e-14 * noise)
    })
}

#[test]
fn a_value_with_noise_does_not_stop_the_descent() {
    let got = run(&noisy(0.0), &[0.0; 4], &until_gradient(1e-9));
    assert_eq!(got.stop, StopReason::GradientTolerance);
    assert!(got.evaluations < 150, "{got:?}");
    // The smallest curvature is near 0.5 and the gradient below 1e-9.
    assert!(got.params.iter().all(|x| (x - 1.0).abs() < 1e-8), "{got:?}");
}

#[test]
fn an_unreachable_tolerance_still_ends() {
    let options = LbfgsOptions { gradient_tolerance: 1e-13, ..LbfgsOptions::default() };
    let got = run(&noisy(1e-10), &[0.0; 4], &options);
    assert_eq!(got.stop, StopReason::ValueTolerance);
    assert!((got.value - 1.0).abs() < 2e-14, "{got:?}"); // the noise and one rounding

    let options = LbfgsOptions { value_tolerance: 0.0, ..options };
    let got = run(&noisy(1e-10), &[0.0; 4], &options);
    assert!(matches!(got.stop, StopReason::IterationLimit | StopReason::LineSearchFailed));
    assert!((got.value - 1.0).abs() < 2e-12, "{got:?}"); // values closer than 1e-12 count as equal
}

#[test]
fn a_failed_search_is_repeated_from_steepest_descent() {
    // After six evaluations all twenty trials of one search are undefined.
    for (undefined, stop) in
        [(6..26, StopReason::GradientTolerance), (6..46, StopReason::LineSearchFailed)]
    {
        let (count, exact) = (Cell::new(0), rosenbrock(2));
        let objective = Formula::new(2, |x, gradient| {
            count.set(count.get() + 1);
            let value = exact.evaluate(x, gradient);
            if undefined.contains(&(count.get() - 1)) { f64::INFINITY } else { value }
        });
        let got = run(&objective, &[-1.2, 1.0], &LbfgsOptions::default());
        assert_eq!(got.stop, stop);
        assert_eq!(got.evaluations, count.get());
    }
}

#[test]
fn a_slope_lost_to_underflow_ends_the_run() {
    let objective = Formula::new(1, |x, gradient| {
        gradient[0] = 1e-200;
        1e-200 * x[0]
    });
    let got = run(&objective, &[1.0], &until_gradient(0.0));
    assert_eq!((got.stop, got.evaluations), (StopReason::LineSearchFailed, 1));
}

#[test]
fn the_gradient_is_judged_by_the_root_of_the_value() {
    let objective = Formula::new(1, |x, gradient| {
        gradient[0] = x[0];
        1e6 + 0.5 * x[0] * x[0]
    });
    // The limit is 1e-5 · √1e6 = 1e-2.
    for (start, is_end) in [(0.009, true), (0.011, false)] {
        let got = run(&objective, &[start], &LbfgsOptions::default());
        assert_eq!((got.stop, got.iterations == 0), (StopReason::GradientTolerance, is_end));
    }
}

#[test]
fn sums_over_a_million_instances_end_as_documented() {
    // Curvatures from 1 (a prior) to a million, and a value of a million at the minimum.
    let objective = Formula::new(10, |x, gradient| {
        let mut value = 1e6;
        for (j, (x, g)) in x.iter().zip(gradient).enumerate() {
            let count = 10f64.powf(6.0 * j as f64 / 9.0);
            let z = x - 0.1 * j as f64;
            *g = count * z.sinh();
            value += count * (z.cosh() - 1.0);
        }
        value
    });
    let options = LbfgsOptions { value_tolerance: 0.0, ..LbfgsOptions::default() };
    let got = run(&objective, &[0.5; 10], &options);
    assert_eq!(got.stop, StopReason::GradientTolerance);
    // max |g| ≤ 1e-5 · √1e6
    assert!(got.gradient_norm <= 1e-2, "{got:?}");
    // Tolerance² · |f| / 2 for each of ten parameters, and 1e-9 of rounding.
    assert!(got.value - 1e6 <= 10.0 * 1e-10 * 1e6 / 2.0, "{got:?}");
}

#[test]
fn stop_reasons_are_written_in_snake_case() {
    let text = serde_json::to_string(&StopReason::LineSearchFailed).unwrap();
    assert_eq!(text, "\"line_search_failed\"");
    let options: LbfgsOptions = serde_json::from_str("{\"memory\": 3}").unwrap();
    assert_eq!(options, LbfgsOptions { memory: 3, ..LbfgsOptions::default() });
}
