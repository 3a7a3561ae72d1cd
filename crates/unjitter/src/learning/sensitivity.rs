//! Where the optimum goes if a prior counts for less or for more.
//!
//! A prior is raised to a power: halved or doubled in strength with its mode where it is (Kallioinen et al.
//! 2024, *Detecting and diagnosing prior and likelihood sensitivity with power-scaling*). Two Newton steps
//! from the optimum follow, with the curvature of the fit and the prior's own added; the second measures the
//! gradient anew. That is one evaluation of all sessions for each prior and power, and no search.

use super::information::known_or_measured;
use super::map::MapObjective;
use super::objective::Objective;
use super::problem::Problem;
use crate::math::{factorise, inverse, solve};
use crate::model::{Fitted, Uncertainty};
use crate::params::{CLASSIFIER, Parameter};
use crate::{Control, Result, Session};

/// Powers that priors are raised to.
const POWERS: [f64; 2] = [0.5, 2.0];
/// Step of differences of a prior's gradient.
const STEP: f64 = 1e-4;

/// A prior that was made weaker or stronger.
#[derive(Debug, Clone)]
pub(crate) struct Moved {
    /// The parameter whose prior it is.
    pub(crate) prior: String,
    /// Its power.
    pub(crate) power: f64,
    /// All parameters then.
    pub(crate) params: Vec<f64>,
}

/// How sure the fit is, and where the optimum goes with each of the annotator's priors at each power;
/// nothing if the fit cannot tell how sure it is.
pub(crate) fn sensitivity(
    fitted: &Fitted,
    sessions: &[Session<'_>],
    control: Control<'_>,
) -> Result<Option<(Uncertainty, Vec<Moved>)>> {
    let problem = Problem::of_fitted(fitted, &fitted.model.noise, sessions, control)?;
    let objective = problem.objective()?;
    let free = objective.free(&fitted.params);
    let Some(sure) = known_or_measured(fitted, &objective, sessions, &free) else {
        control.stop_if_requested()?;
        return Ok(None);
    };
    let size = free.len();
    let mut factor = sure.posterior.clone();
    if !factorise(&mut factor, size) {
        return Ok(None);
    }
    let information = inverse(&factor, size);
    let mut here = vec![0.0; size];
    objective.evaluate(&free, &mut here);
    let mut all = Vec::new();
    let of_annotator = |parameter: &&Parameter| !parameter.name.starts_with(CLASSIFIER);
    for parameter in problem.parts().layout.parameters().iter().filter(of_annotator) {
        let is_own = |at: &usize| parameter.range.contains(at);
        let own: Vec<usize> = (0..size).filter(|&k| is_own(&objective.places()[k])).collect();
        if own.is_empty() {
            continue;
        }
        for power in POWERS {
            control.stop_if_requested()?;
            let place = Place { objective: &objective, free: &free, gradient: &here };
            if let Some(moved) = place.moved(&information, &own, power) {
                let params = objective.full(&moved);
                all.push(Moved { prior: parameter.name.clone(), power, params });
            }
        }
    }
    Ok(Some((sure, all)))
}

/// The optimum, and the gradient that is left there.
struct Place<'a> {
    objective: &'a MapObjective<'a>,
    free: &'a [f64],
    gradient: &'a [f64],
}

impl Place<'_> {
    /// Where two steps lead if the prior of the parameters at `own` has this power.
    fn moved(&self, information: &[f64], own: &[usize], power: f64) -> Option<Vec<f64>> {
        let prior = |at: &[f64]| -> Vec<f64> {
            let gradient = self.objective.prior_gradient(at);
            own.iter().map(|&k| (power - 1.0) * gradient[k]).collect()
        };
        let step = newton(information, self.free, own, &prior)?;
        let first = step(self.free, &vec![0.0; self.free.len()]);
        // The information supposes that deviations of groups follow, and the objective holds them.
        if !self.objective.parts().stamps.groups.is_empty() {
            return Some(first);
        }
        let mut there = vec![0.0; self.free.len()];
        if !self.objective.evaluate(&first, &mut there).is_finite() {
            return Some(first);
        }
        // The change of the gradient, so that a fit that stopped a little early does not count.
        there.iter_mut().zip(self.gradient).for_each(|(there, here)| *there -= here);
        Some(step(&first, &there))
    }
}

/// A Newton step from a place with a gradient, to which that of the changed prior is added; none if the
/// curvature is not positive with it. The prior is that of the parameters at `own`.
fn newton<'a>(
    information: &[f64],
    free: &[f64],
    own: &'a [usize],
    prior: &'a dyn Fn(&[f64]) -> Vec<f64>,
) -> Option<impl Fn(&[f64], &[f64]) -> Vec<f64> + 'a> {
    let size = free.len();
    let (mut factor, here) = (information.to_vec(), prior(free));
    for &at in own {
        let mut near = free.to_vec();
        near[at] += STEP;
        for ((&k, there), here) in own.iter().zip(prior(&near)).zip(&here) {
            factor[at * size + k] += (there - here) / STEP;
        }
    }
    factorise(&mut factor, size).then_some(move |from: &[f64], gradient: &[f64]| {
        let mut step = gradient.to_vec();
        own.iter().zip(prior(from)).for_each(|(&k, d)| step[k] += d);
        solve(&factor, &mut step);
        from.iter().zip(step).map(|(from, step)| from - step).collect()
    })
}
