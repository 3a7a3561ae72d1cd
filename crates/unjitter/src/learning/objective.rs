//! The interface between objectives and optimisers.

use std::fmt::Debug;

/// A function to be minimised, with its gradient, as every optimiser sees it.
pub trait Objective {
    /// Length of the parameter vector.
    fn dim(&self) -> usize;

    /// Overwrites `gradient` and returns the value; +∞ where the function is not defined, with any
    /// gradient, which is then ignored.
    fn evaluate(&self, params: &[f64], gradient: &mut [f64]) -> f64;

    /// The approximate curvature at `params`, where the gradient is this, after so many steps, if known; it
    /// speeds up minimisation.
    fn curvature(
        &self,
        params: &[f64],
        gradient: &[f64],
        steps: usize,
    ) -> Option<Box<dyn Curvature>> {
        let _ = (params, gradient, steps);
        None
    }
}

/// A guess of the Hessian H. It need not be exact nor in scale, but positive definite; otherwise it costs
/// a few evaluations and is dropped.
pub trait Curvature: Debug {
    /// Replaces a gradient by H⁻¹·gradient.
    fn solve(&self, gradient: &mut [f64]);
}
