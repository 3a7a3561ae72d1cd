//! The narrow waist between what is learned and how it is optimised.

use std::fmt::Debug;

/// What any optimiser sees: a function to be made small, with its gradient.
pub trait Objective {
    /// Length of the parameter vector.
    fn dim(&self) -> usize;

    /// Overwrites `gradient` and returns the value; +∞ where the function is not defined, the
    /// gradient then being ignored, whatever it holds.
    fn evaluate(&self, params: &[f64], gradient: &mut [f64]) -> f64;

    /// About the curvature at `params`, after so many steps, if it is known: it speeds minimisation up.
    fn curvature(&self, params: &[f64], steps: usize) -> Option<Box<dyn Curvature>> {
        let _ = (params, steps);
        None
    }
}

/// A guess of the Hessian H, which need be neither exact nor in scale, but positive definite. One
/// that is not costs a few evaluations and is dropped.
pub trait Curvature: Debug {
    /// Replaces a gradient by H⁻¹·gradient.
    fn solve(&self, gradient: &mut [f64]);
}
