//! L-BFGS: minimisation of a smooth function by its gradient.
//!
//! Written here because our objectives are +∞ where the data are infeasible. That must shorten the step,
//! not end the fit.
//! - A failed line search drops the remembered curvature and tries steepest descent once.
//! - The point returned is the best one evaluated, however the run ends.
//! - No randomness and no threads: the same objective and start give the same bits.
//!
//! One iteration takes one or two evaluations and O(memory · dim) besides; space is
//! O(memory · dim). Liu & Nocedal (1989), *On the limited memory BFGS method for large scale
//! optimization*.

use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

use super::Objective;
use super::curvature::{CurvatureMemory, Point, dot, norm};
use super::line_search::{self, Trial, rounding};
use crate::outcome::StopReason;

/// Iterations over which [`LbfgsOptions::value_tolerance`] measures the decrease: one short step, as
/// after a restart or along a bend, does not mean the end, but ten in a row do.
const VALUE_WINDOW: usize = 10;

/// Iterations before which the objective is asked for its curvature: at the start, and then ever more
/// rarely, since the curvature changes on the way.
const GUESSED_AT: [usize; 4] = [0, 4, 16, 64];

/// When to stop, and how many steps to remember.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LbfgsOptions {
    /// Number of past steps that shape the next one; 0 is steepest descent.
    pub memory: usize,
    /// Number of iterations after which to stop in any case.
    pub max_iterations: usize,
    /// Stop when max |g| ≤ tolerance · max(1, √|f|).
    ///
    /// The objective is a sum over instances. If its curvature is at least one, as a prior makes it, the
    /// value is then within tolerance² · |f| / 2 of the minimum per parameter: the same relative error
    /// for a hundred instances as for a million.
    pub gradient_tolerance: f64,
    /// Stop when the last ten iterations together lowered the value by no more than
    /// tolerance · max(1, |f|); 0 switches this off.
    pub value_tolerance: f64,
}

impl Default for LbfgsOptions {
    fn default() -> Self {
        Self { memory: 10, max_iterations: 500, gradient_tolerance: 1e-5, value_tolerance: 1e-9 }
    }
}

/// Where a run ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Minimum {
    /// The best parameters evaluated.
    pub params: Vec<f64>,
    /// The value there.
    pub value: f64,
    /// The largest absolute entry of the gradient there.
    pub gradient_norm: f64,
    /// Number of steps taken.
    pub iterations: usize,
    /// Number of evaluations of the objective, the start included.
    pub evaluations: usize,
    /// Why the run ended.
    pub stop: StopReason,
}

/// The state after an iteration, as a watcher sees it.
#[derive(Debug, Clone, Copy)]
pub struct Step<'a> {
    /// Number of steps taken; 0 at the start.
    pub iteration: usize,
    /// The value here.
    pub value: f64,
    /// The largest absolute entry of the gradient here.
    pub gradient_norm: f64,
    /// The parameters here.
    pub params: &'a [f64],
}

/// Minimises `objective` from `start`, whose length is `objective.dim()`.
///
/// `watch` is called at the start and after every iteration; when it breaks, the run ends at once.
/// `None` if the value or the gradient at the start is not finite.
pub fn minimise(
    objective: &dyn Objective,
    start: &[f64],
    options: &LbfgsOptions,
    watch: &mut dyn FnMut(&Step) -> ControlFlow<()>,
) -> Option<Minimum> {
    debug_assert_eq!(start.len(), objective.dim());
    let mut run = Run::new(objective, start, options)?;
    let stop = loop {
        if let Some(stop) = run.stop(watch) {
            break stop;
        }
        if !run.advance() {
            break StopReason::LineSearchFailed;
        }
    };
    Some(run.finish(stop))
}

struct Run<'a> {
    objective: &'a dyn Objective,
    options: &'a LbfgsOptions,
    memory: CurvatureMemory,
    here: Point,
    /// The point of the newest trial.
    there: Point,
    direction: Vec<f64>,
    best: Point,
    /// The values of the last iterations, in a ring.
    values: [f64; VALUE_WINDOW],
    iterations: usize,
    evaluations: usize,
}

impl<'a> Run<'a> {
    fn new(objective: &'a dyn Objective, start: &[f64], options: &'a LbfgsOptions) -> Option<Self> {
        let mut gradient = vec![0.0; start.len()];
        let value = objective.evaluate(start, &mut gradient);
        if !value.is_finite() || gradient.iter().any(|g| !g.is_finite()) {
            return None;
        }
        let here = Point { params: start.to_vec(), value, gradient };
        Some(Self {
            objective,
            options,
            memory: CurvatureMemory::new(options.memory),
            there: here.clone(),
            direction: vec![0.0; start.len()],
            best: here.clone(),
            here,
            values: [f64::INFINITY; VALUE_WINDOW],
            iterations: 0,
            evaluations: 1,
        })
    }

    /// Shows the current point to `watch` and decides whether the run ends here.
    fn stop(&mut self, watch: &mut dyn FnMut(&Step) -> ControlFlow<()>) -> Option<StopReason> {
        let Point { params, value, gradient } = &self.here;
        let gradient_norm = largest(gradient);
        let step = Step { iteration: self.iterations, value: *value, gradient_norm, params };
        if watch(&step).is_break() {
            return Some(StopReason::Cancelled);
        }
        let LbfgsOptions { gradient_tolerance, value_tolerance, .. } = *self.options;
        if gradient_norm <= gradient_tolerance * value.abs().sqrt().max(1.0) {
            return Some(StopReason::GradientTolerance);
        }
        let slot = &mut self.values[self.iterations % VALUE_WINDOW];
        let decrease = std::mem::replace(slot, *value) - value;
        if value_tolerance > 0.0 && decrease <= value_tolerance * value.abs().max(1.0) {
            return Some(StopReason::ValueTolerance);
        }
        (self.iterations >= self.options.max_iterations).then_some(StopReason::IterationLimit)
    }

    /// Takes one step; false if none lowers the value.
    fn advance(&mut self) -> bool {
        if GUESSED_AT.contains(&self.iterations) {
            let Point { params, gradient, .. } = &self.here;
            let guess = self.objective.curvature(params, gradient, self.iterations);
            guess.into_iter().for_each(|guess| self.memory.guess(guess));
        }
        let mut found = self.search();
        if !found && self.memory.has_scale() {
            self.memory.clear();
            found = self.search();
        }
        if found {
            self.memory.remember(&self.here, &self.there);
            std::mem::swap(&mut self.here, &mut self.there);
            self.iterations += 1;
        }
        found
    }

    /// Searches along the direction from the memory; leaves the accepted point in `there`.
    fn search(&mut self) -> bool {
        self.memory.direction(&self.here.gradient, &mut self.direction);
        let slope = dot(&self.here.gradient, &self.direction);
        // Rounding can turn the direction uphill or level, and huge gradients overflow.
        if !slope.is_finite() || slope >= 0.0 {
            return false;
        }
        // A bare gradient has no scale: go at most one unit of length.
        let first_step =
            if self.memory.has_scale() { 1.0 } else { 1.0 / norm(&self.here.gradient).max(1.0) };
        let start = Trial { step: 0.0, value: self.here.value, slope };
        line_search::search(start, first_step, &mut |step| self.evaluate(step)).is_some()
    }

    fn evaluate(&mut self, step: f64) -> Trial {
        let there = &mut self.there;
        for ((to, from), d) in there.params.iter_mut().zip(&self.here.params).zip(&self.direction) {
            *to = from + step * d;
        }
        there.value = self.objective.evaluate(&there.params, &mut there.gradient);
        self.evaluations += 1;
        let slope = dot(&there.gradient, &self.direction);
        let trial = Trial { step, value: there.value, slope };
        if trial.is_defined() && trial.value < self.best.value {
            self.best.clone_from(there);
        }
        trial
    }

    /// The best point; of points equal up to rounding the last, whose gradient was tested.
    fn finish(self, stop: StopReason) -> Minimum {
        let is_best = self.here.value <= self.best.value + rounding(self.best.value);
        let Point { params, value, gradient } = if is_best { self.here } else { self.best };
        let Self { iterations, evaluations, .. } = self;
        Minimum { params, value, gradient_norm: largest(&gradient), iterations, evaluations, stop }
    }
}

/// The largest absolute entry; 0 if there is none.
fn largest(gradient: &[f64]) -> f64 {
    gradient.iter().fold(0.0, |high: f64, g| high.max(g.abs()))
}
