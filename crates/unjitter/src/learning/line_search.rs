//! The step length along a direction, by the strong Wolfe conditions.
//!
//! ```text
//! φ(t) ≤ φ(0) + c₁ t φ'(0)      the value falls enough,
//! |φ'(t)| ≤ c₂ |φ'(0)|          and the slope has flattened
//! ```
//! The search keeps an interval. One end, `low`, is the best step so far; the other, if there is one, is
//! known to be too far. Cubic interpolation shrinks the interval. Two things differ from the textbook:
//! - A trial without a finite value is too far. The interval shrinks towards `low`.
//! - Near a minimum the decrease drowns in the rounding of the value long before the slope does. Values
//!   within [`rounding`] of each other count as equal and slopes decide alone; without this a sum over
//!   10⁶ instances could not be brought below a gradient of about 10⁻².
//!
//! One or two evaluations per search are usual, [`MAX_TRIALS`] + 1 the most.
//! Nocedal & Wright, *Numerical Optimization* (2006), Algorithms 3.5 and 3.6; safeguards of Moré &
//! Thuente (1994); equal values as in the approximate Wolfe conditions of Hager & Zhang (2005).

/// c₁: the share of the predicted decrease that must be reached.
const DECREASE: f64 = 1e-4;
/// c₂: the share of the slope that may remain.
const FLATTENING: f64 = 0.9;
/// Evaluations before giving up: enough to come back from a first step 10⁹ times too long.
const MAX_TRIALS: usize = 20;
/// Relative error allowed for a value: a sum of 10⁶ terms is off by about 10⁻¹³.
const ROUNDING: f64 = 1e-12;
/// A trial inside the interval keeps this share of its width away from both ends.
const MARGIN: f64 = 0.1;
/// Bisect when two trials together leave more than this share of the interval.
const SLOW: f64 = 0.66;
/// Position of the next trial between a good step and one without a finite value: nearer the good one,
/// since the distance of the bad one beyond the edge is unknown.
const RETREAT: f64 = 0.25;
/// Without an upper end, the next step lies this many last increments further.
const EXPANSION: (f64, f64) = (1.1, 4.0);

/// A point on the line.
#[derive(Debug, Clone, Copy)]
pub(super) struct Trial {
    /// How far along the direction.
    pub(super) step: f64,
    /// The value there.
    pub(super) value: f64,
    /// The derivative of the value along the direction.
    pub(super) slope: f64,
}

impl Trial {
    /// Whether the function is defined here, with a gradient.
    pub(super) fn is_defined(&self) -> bool {
        self.value.is_finite() && self.slope.is_finite()
    }
}

/// By how much two values near `value` may differ through rounding alone.
pub(super) fn rounding(value: f64) -> f64 {
    ROUNDING * value.abs()
}

/// Looks for an acceptable step, trying `first_step` first. `start` is at step 0 and its slope is
/// negative. The accepted trial is always the last one evaluated; `None` if no trial lowered the value.
pub(super) fn search(
    start: Trial,
    first_step: f64,
    evaluate: &mut dyn FnMut(f64) -> Trial,
) -> Option<Trial> {
    let mut interval = Interval { low: start, high: None, previous: start, widths: [f64::MAX; 2] };
    let mut step = first_step;
    for _ in 0..MAX_TRIALS {
        let trial = evaluate(step);
        if falls_enough(&start, &trial) && trial.slope.abs() <= FLATTENING * start.slope.abs() {
            return Some(trial);
        }
        interval.update(&start, trial);
        step = interval.next_step();
    }
    // No step met both conditions, but a lower value is still progress.
    let low = interval.low;
    (low.value < start.value).then(|| evaluate(low.step))
}

fn falls_enough(start: &Trial, trial: &Trial) -> bool {
    trial.is_defined()
        && (trial.value <= start.value + DECREASE * trial.step * start.slope
            || (trial.value - start.value).abs() <= rounding(start.value))
}

/// An interval that contains an acceptable step.
#[derive(Debug)]
struct Interval {
    /// The best step so far; the value falls from here towards `high`.
    low: Trial,
    /// An end known to be too far, on either side of `low`; `None` while the value keeps falling.
    high: Option<Trial>,
    /// The `low` before this one.
    previous: Trial,
    /// The last two widths, the newest last.
    widths: [f64; 2],
}

impl Interval {
    fn update(&mut self, start: &Trial, trial: Trial) {
        if !falls_enough(start, &trial) || trial.value > self.low.value + rounding(start.value) {
            self.high = Some(trial);
            return;
        }
        let towards_high = self.high.map_or(1.0, |high| high.step - self.low.step);
        if trial.slope * towards_high >= 0.0 {
            self.high = Some(self.low);
        }
        self.previous = std::mem::replace(&mut self.low, trial);
    }

    fn next_step(&mut self) -> f64 {
        match self.high {
            None => self.beyond(),
            Some(high) => self.between(high),
        }
    }

    fn beyond(&self) -> f64 {
        let Trial { step, .. } = self.low;
        let increment = step - self.previous.step;
        let nearest = step + EXPANSION.0 * increment;
        let furthest = step + EXPANSION.1 * increment;
        let guess = stationary_step(&self.previous, &self.low);
        if guess > step { guess.clamp(nearest, furthest) } else { furthest }
    }

    fn between(&mut self, high: Trial) -> f64 {
        let low = self.low.step;
        let width = high.step - low;
        let is_slow = width.abs() > SLOW * self.widths[0];
        self.widths = [self.widths[1], width.abs()];
        if !high.is_defined() {
            return low + RETREAT * width;
        }
        let share = (stationary_step(&self.low, &high) - low) / width;
        if is_slow || share.is_nan() {
            low + 0.5 * width
        } else {
            low + share.clamp(MARGIN, 1.0 - MARGIN) * width
        }
    }
}

/// The minimum of the cubic through two trials, or, if their values are equal up to rounding, the zero of
/// the straight line through their slopes. NaN if there is neither.
fn stationary_step(a: &Trial, b: &Trial) -> f64 {
    let width = b.step - a.step;
    if (a.value - b.value).abs() <= rounding(a.value) {
        return a.step - a.slope * width / (b.slope - a.slope);
    }
    let mean = a.slope + b.slope - 3.0 * (b.value - a.value) / width;
    let root = width.signum() * (mean * mean - a.slope * b.slope).sqrt();
    b.step - width * (b.slope + root - mean) / (b.slope - a.slope + 2.0 * root)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{sigmoid, softplus};

    /// Searches along φ and returns the accepted trial with the number of evaluations.
    fn along(phi: impl Fn(f64) -> (f64, f64), first_step: f64) -> (Option<Trial>, usize) {
        let (mut count, mut last) = (0, 0.0);
        let at = |step| {
            let (value, slope) = phi(step);
            Trial { step, value, slope }
        };
        let found = search(at(0.0), first_step, &mut |step| {
            (count, last) = (count + 1, step);
            at(step)
        });
        assert!(found.is_none_or(|trial| trial.step == last), "the caller keeps the last gradient");
        (found, count)
    }

    /// The conditions, stated independently.
    fn assert_strong_wolfe(phi: impl Fn(f64) -> (f64, f64), first_step: f64) {
        let (value, slope) = phi(0.0);
        let trial = along(phi, first_step).0.expect("a step exists");
        assert!(trial.step > 0.0);
        assert!(trial.value <= value + 1e-4 * trial.step * slope, "{trial:?}");
        assert!(trial.slope.abs() <= 0.9 * slope.abs(), "{trial:?}");
    }

    #[test]
    fn conditions_hold_from_first_steps_far_too_short_and_far_too_long() {
        for first_step in [1e-6, 1e-3, 0.1, 1.0, 10.0, 1e3, 1e6] {
            assert_strong_wolfe(|t| ((t - 1.0).powi(2), 2.0 * (t - 1.0)), first_step);
            // Moré and Thuente's first function: it levels off far out.
            let level = |t: f64| {
                let d = t * t + 2.0;
                (-t / d, (t * t - 2.0) / (d * d))
            };
            assert_strong_wolfe(level, first_step);
            // Falls like a line, then turns sharply near 1.
            let corner = |t: f64| {
                let r = ((t - 1.0).powi(2) + 1e-4).sqrt();
                (r, (t - 1.0) / r)
            };
            assert_strong_wolfe(corner, first_step);
            // Many local minima.
            assert_strong_wolfe(
                |t| (0.05 * t * t - (3.0 * t).sin(), 0.1 * t - 3.0 * (3.0 * t).cos()),
                first_step,
            );
        }
    }

    #[test]
    fn a_cubic_is_minimised_by_one_interpolation() {
        // t³ − 3t has its minimum at 1; the first trial at 2 is too far.
        let (found, count) = along(|t| (t * t * t - 3.0 * t, 3.0 * t * t - 3.0), 2.0);
        assert_eq!(count, 2);
        // A handful of operations on numbers of order one.
        assert!((found.unwrap().step - 1.0).abs() < 1e-14);
    }

    #[test]
    fn undefined_trials_are_backed_away_from() {
        let undefined = [(f64::INFINITY, f64::NAN), (f64::NAN, 0.0), (f64::NEG_INFINITY, -1.0)];
        // A finite value without a slope is no use either.
        for beyond in undefined.into_iter().chain([(-9.0, f64::NAN)]) {
            // Steep against an edge: −log(1 − t) − 5t, minimal at 0.8.
            let barrier = |t: f64| {
                if t < 1.0 { (-(-t).ln_1p() - 5.0 * t, 1.0 / (1.0 - t) - 5.0) } else { beyond }
            };
            for first_step in [1.0, 2.0, 1e3, 1e8] {
                assert_strong_wolfe(barrier, first_step);
            }
        }
    }

    #[test]
    fn interpolation_also_looks_beyond_the_last_step() {
        // t³/3 − t: at 0.25 the slope has not flattened, and the cubic knows the minimum at 1.
        let (found, count) = along(|t| (t * t * t / 3.0 - t, t * t - 1.0), 0.25);
        assert_eq!(count, 2);
        // The decrease cancels two digits.
        assert!((found.unwrap().step - 1.0).abs() < 1e-13);
    }

    #[test]
    fn a_steep_wall_does_not_make_the_interval_creep() {
        // Falls with slope −1 up to a wall of slope 10⁴, which draws every cubic to its other end.
        let wall = |t: f64| {
            let u = (t - 0.9) / 1e-4;
            (softplus(u) - t, 1e4 * sigmoid(u) - 1.0)
        };
        let (found, count) = along(wall, 0.95);
        assert!(found.is_some());
        // Cubics alone take 19 trials.
        assert!(count <= 10, "{count}");
    }

    #[test]
    fn slopes_decide_where_values_drown() {
        // The decrease of 1e-16 is lost in a value near 1, which even rises by the last bit.
        let slope = |t: f64| 1e-16 * (t - 3.0);
        let phi = |t: f64| (if t > 0.0 { 1.0 + f64::EPSILON } else { 1.0 }, slope(t));
        for first_step in [10.0, 0.1] {
            let (found, count) = along(phi, first_step);
            let found = found.expect("the slope shows the way");
            assert!(found.slope.abs() <= 0.9 * slope(0.0).abs());
            assert_eq!(count, 2);
        }
        // The slope is linear: a secant from both sides finds its zero up to rounding.
        assert!((along(phi, 10.0).0.unwrap().step - 3.0).abs() < 1e-14);
    }

    #[test]
    fn a_line_that_never_falls_gives_nothing() {
        // The slope lies: the value rises.
        let (found, count) = along(|t| (1.0 + t, -1.0), 1.0);
        assert!(found.is_none());
        assert_eq!(count, MAX_TRIALS);
    }

    #[test]
    fn a_fall_without_end_is_progress() {
        let (found, _) = along(|t| (-t, -1.0), 1.0);
        assert!(found.expect("lower than the start").value < -1e6);
        let edge = |t: f64| if t < 1.0 { (-t, -1.0) } else { (f64::INFINITY, f64::NAN) };
        let (found, count) = along(edge, 5.0);
        assert!(found.expect("lower than the start").value < -0.9);
        assert_eq!(count, MAX_TRIALS + 1);
    }
}
