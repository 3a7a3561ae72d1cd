//! An objective with a slope taken off, so that a given place is its optimum.
//!
//! The place that a fit reports need not be the maximum of its posterior: the spread is stretched by what it
//! came out short (`unbiased`). What is asked about the surroundings of that place, a profile or other draws
//! of the sessions, is asked of this objective. Its curvature is the same.

use super::map::MapObjective;
use super::objective::{Curvature, Objective};

/// f(x) − f(x₀) − g·(x − x₀), with g the gradient at x₀.
pub(super) struct Tilted<'a> {
    pub(super) objective: &'a MapObjective<'a>,
    pub(super) place: Vec<f64>,
    value: f64,
    slope: Vec<f64>,
}

impl<'a> Tilted<'a> {
    /// With the optimum at `place`; none where the objective is not defined.
    pub(super) fn new(objective: &'a MapObjective<'a>, place: &[f64]) -> Option<Self> {
        let mut slope = vec![0.0; place.len()];
        let value = objective.evaluate(place, &mut slope);
        value.is_finite().then(|| Self { objective, place: place.to_vec(), value, slope })
    }

    /// With the slope of this one taken off another objective.
    pub(super) fn on<'b>(&self, objective: &'b MapObjective<'b>) -> Tilted<'b> {
        let (place, slope) = (self.place.clone(), self.slope.clone());
        Tilted { objective, place, value: self.value, slope }
    }
}

impl Objective for Tilted<'_> {
    fn dim(&self) -> usize {
        self.place.len()
    }

    fn evaluate(&self, params: &[f64], gradient: &mut [f64]) -> f64 {
        let value = self.objective.evaluate(params, gradient) - self.value;
        gradient.iter_mut().zip(&self.slope).for_each(|(g, slope)| *g -= slope);
        let moved = params.iter().zip(&self.place).map(|(there, here)| there - here);
        value - moved.zip(&self.slope).map(|(step, slope)| step * slope).sum::<f64>()
    }

    fn curvature(
        &self,
        params: &[f64],
        gradient: &[f64],
        steps: usize,
    ) -> Option<Box<dyn Curvature>> {
        self.objective.curvature(params, gradient, steps)
    }
}
