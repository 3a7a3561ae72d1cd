//! Curvature from the last steps: the two-loop recursion of L-BFGS.
//!
//! For each step s and the change y of the gradient along it, the Hessian maps s to y. The inverse
//! Hessian that agrees with the last few such pairs is never formed; only its product with the gradient
//! is, in O(pairs · dim). Nocedal & Wright, *Numerical Optimization* (2006), Algorithm 7.4.

use std::collections::VecDeque;

use super::objective::Curvature;

/// A pair is kept only if sᵀy exceeds this share of ‖s‖‖y‖. The approximation stays positive
/// definite only for sᵀy > 0, and a smaller share is mostly rounding.
const MIN_CURVATURE: f64 = 1e-10;

/// Parameters, with the value and the gradient there.
#[derive(Debug, Clone)]
pub(super) struct Point {
    pub(super) params: Vec<f64>,
    pub(super) value: f64,
    pub(super) gradient: Vec<f64>,
}

/// The newest curvature pairs, oldest first.
#[derive(Debug)]
pub(super) struct CurvatureMemory {
    capacity: usize,
    /// A guess made beforehand, up to a factor.
    guess: Option<Box<dyn Curvature>>,
    pairs: VecDeque<Pair>,
    /// Buffers of dropped pairs, to be filled again.
    spare: Vec<Pair>,
    /// Coefficients of the first loop, needed by the second.
    coefficients: Vec<f64>,
}

#[derive(Debug)]
struct Pair {
    /// s: the step in the parameters.
    step: Vec<f64>,
    /// y: the change of the gradient.
    change: Vec<f64>,
    /// sᵀy.
    curvature: f64,
}

impl CurvatureMemory {
    pub(super) fn new(capacity: usize) -> Self {
        let (pairs, spare) = (VecDeque::with_capacity(capacity), Vec::with_capacity(capacity + 1));
        Self { capacity, guess: None, pairs, spare, coefficients: vec![0.0; capacity] }
    }

    /// Takes a guess of the curvature in place of an earlier one.
    pub(super) fn guess(&mut self, guess: Box<dyn Curvature>) {
        self.guess = Some(guess);
    }

    /// Whether a direction has a scale, so that its whole length is a step to try.
    pub(super) fn has_scale(&self) -> bool {
        self.guess.is_some() || !self.is_empty()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    pub(super) fn clear(&mut self) {
        self.spare.extend(self.pairs.drain(..));
        self.guess = None;
    }

    /// Stores the step between two points, in place of the oldest one if there are too many; skips a step
    /// along which the gradient did not clearly rise.
    pub(super) fn remember(&mut self, from: &Point, to: &Point) {
        if self.capacity == 0 {
            return;
        }
        let mut pair = self.spare.pop().unwrap_or_else(|| {
            let empty = || vec![0.0; from.params.len()];
            Pair { step: empty(), change: empty(), curvature: 0.0 }
        });
        subtract(&to.params, &from.params, &mut pair.step);
        subtract(&to.gradient, &from.gradient, &mut pair.change);
        pair.curvature = dot(&pair.step, &pair.change);
        if pair.curvature > MIN_CURVATURE * norm(&pair.step) * norm(&pair.change) {
            if self.pairs.len() == self.capacity {
                self.spare.extend(self.pairs.pop_front());
            }
            self.pairs.push_back(pair);
        } else {
            self.spare.push(pair);
        }
    }

    /// yᵀGy of a change of the gradient, with G the inverse of the guess; yᵀy without a guess.
    fn size(&self, change: &[f64]) -> f64 {
        let mut solved = change.to_vec();
        if let Some(guess) = &self.guess {
            guess.solve(&mut solved);
        }
        dot(change, &solved)
    }

    /// Overwrites `direction` with −H·gradient, where H is the approximate inverse Hessian; −gradient
    /// without stored steps and without a guess.
    pub(super) fn direction(&mut self, gradient: &[f64], direction: &mut [f64]) {
        for (d, g) in direction.iter_mut().zip(gradient) {
            *d = -g;
        }
        for (pair, coefficient) in self.pairs.iter().zip(&mut self.coefficients).rev() {
            *coefficient = dot(&pair.step, direction) / pair.curvature;
            add(direction, -*coefficient, &pair.change);
        }
        if let Some(guess) = &self.guess {
            guess.solve(direction);
        }
        if let Some(newest) = self.pairs.back() {
            let scale = newest.curvature / self.size(&newest.change);
            direction.iter_mut().for_each(|d| *d *= scale);
        }
        for (pair, coefficient) in self.pairs.iter().zip(&self.coefficients) {
            let correction = dot(&pair.change, direction) / pair.curvature;
            add(direction, coefficient - correction, &pair.step);
        }
    }
}

/// Σ a_j b_j.
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// Euclidean length.
pub(super) fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

/// target += factor · a.
fn add(target: &mut [f64], factor: f64, a: &[f64]) {
    for (t, x) in target.iter_mut().zip(a) {
        *t += factor * x;
    }
}

/// out = a − b.
fn subtract(a: &[f64], b: &[f64], out: &mut [f64]) {
    for ((o, x), y) in out.iter_mut().zip(a).zip(b) {
        *o = x - y;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A point of a quadratic whose Hessian has the rows (4, 1, 0), (1, 3, 1), (0, 1, 2).
    fn point(params: [f64; 3]) -> Point {
        let [a, b, c] = params;
        let gradient = vec![4.0 * a + b, a + 3.0 * b + c, b + 2.0 * c];
        Point { params: params.to_vec(), value: 0.0, gradient }
    }

    fn direction(memory: &mut CurvatureMemory, gradient: &[f64]) -> Vec<f64> {
        let mut direction = vec![f64::NAN; gradient.len()];
        memory.direction(gradient, &mut direction);
        direction
    }

    /// The BFGS update of a dense inverse Hessian: H ← (I − syᵀ/sᵀy) H (I − ysᵀ/sᵀy) + ssᵀ/sᵀy.
    fn dense_update(inverse: &mut [[f64; 3]; 3], step: &[f64], change: &[f64]) {
        let rho = 1.0 / dot(step, change);
        let one = |i: usize, j: usize| f64::from(u8::from(i == j));
        let old = *inverse;
        for i in 0..3 {
            for j in 0..3 {
                inverse[i][j] = rho * step[i] * step[j];
                for k in 0..3 {
                    for l in 0..3 {
                        let left = one(i, k) - rho * step[i] * change[k];
                        let right = one(l, j) - rho * change[l] * step[j];
                        inverse[i][j] += left * old[k][l] * right;
                    }
                }
            }
        }
    }

    #[test]
    fn two_loops_equal_the_dense_update() {
        let path =
            [[0.0, 0.0, 0.0], [1.0, 0.5, -0.2], [0.3, 0.9, 0.4], [0.1, -0.6, 1.0]].map(point);
        let mut memory = CurvatureMemory::new(2);
        path.windows(2).for_each(|w| memory.remember(&w[0], &w[1]));

        // Only the last two of the three pairs fit; the newest sets the scale.
        let pair = |w: &[Point]| {
            let mut both = [vec![0.0; 3], vec![0.0; 3]];
            subtract(&w[1].params, &w[0].params, &mut both[0]);
            subtract(&w[1].gradient, &w[0].gradient, &mut both[1]);
            both
        };
        let [step, change] = pair(&path[2..4]);
        let scale = dot(&step, &change) / dot(&change, &change);
        let mut inverse = [[scale, 0.0, 0.0], [0.0, scale, 0.0], [0.0, 0.0, scale]];
        for window in path[1..].windows(2) {
            let [step, change] = pair(window);
            dense_update(&mut inverse, &step, &change);
        }

        let gradient = [0.7, -1.3, 2.1];
        for (got, row) in direction(&mut memory, &gradient).iter().zip(inverse) {
            // Some fifty operations on numbers of order one: rounding only.
            assert!((got + dot(&row, &gradient)).abs() < 1e-13, "{got}");
        }
    }

    #[test]
    fn steps_without_curvature_are_passed_over() {
        let mut memory = CurvatureMemory::new(3);
        let (from, mut to) = (point([0.0; 3]), point([1.0, 0.0, 0.0]));
        memory.remember(&from, &from);
        to.gradient = vec![0.0, 5.0, 0.0];
        memory.remember(&from, &to);
        to.gradient = vec![-1.0, 0.0, 0.0];
        memory.remember(&from, &to);
        assert!(memory.is_empty());
        assert_eq!(direction(&mut memory, &[1.0, -2.0, 3.0]), [-1.0, 2.0, -3.0]);
    }

    #[test]
    fn clearing_leaves_steepest_descent() {
        let mut memory = CurvatureMemory::new(3);
        memory.remember(&point([0.0; 3]), &point([1.0, 2.0, 3.0]));
        assert_ne!(direction(&mut memory, &[1.0, 1.0, 1.0]), [-1.0; 3]);
        memory.clear();
        assert_eq!(direction(&mut memory, &[1.0, 1.0, 1.0]), [-1.0; 3]);
    }
}
