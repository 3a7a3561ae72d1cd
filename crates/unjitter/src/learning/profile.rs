//! Follows the profile of a parameter: it is moved away from its estimate, and all others are learned anew.
//!
//! The others begin where the curvature says that they follow, in coordinates in which it is one in every
//! direction. The gradient there bounds what they have yet to gain, so that one or two evaluations mostly
//! suffice.

use super::information::known_or_measured;
use super::lbfgs::{LbfgsOptions, minimise};
use super::map::MapObjective;
use super::objective::Objective;
use super::problem::Problem;
use super::tilted::Tilted;
use super::watcher::quiet;
use crate::math::{factorise, inverse, solve_lower, solve_upper};
use crate::model::{Fitted, Profile, Uncertainty};
use crate::{Control, Result, Session};

/// How well a profile is to be known.
pub(super) struct Precision {
    /// Roots of twice the fall at which it is followed.
    roots: &'static [f64],
    /// Error of the fall there.
    error: f64,
}

/// The end of an interval of 95 % is then within 3 % of a standard error.
pub(super) const ROUGHLY: Precision = Precision { roots: &[1.1, 2.1], error: 0.05 };
/// Within 0.3 %, and intervals of 99.7 % are known too.
const CLOSELY: Precision = Precision { roots: &[1.0, 2.1, 3.0], error: 0.005 };

/// Length of a trial step along the gradient: one is right where the curvature is one.
const TRIAL: f64 = 0.25;
/// Longest step in the root of one place: beyond, the others have not been seen to follow.
const LONGEST: f64 = 4.0;
/// A gradient in coordinates of curvature one: the value is then within 0.001 per parameter of its minimum.
const CLOSE: LbfgsOptions =
    LbfgsOptions { memory: 10, max_iterations: 30, gradient_tolerance: 0.05, value_tolerance: 0.0 };

/// How sure a fit is, with the profiles of all numbers of the annotator; none if it cannot tell.
pub(crate) fn with_profiles(
    fitted: &Fitted,
    sessions: &[Session<'_>],
    control: Control<'_>,
) -> Result<Option<Uncertainty>> {
    let problem = Problem::of_fitted(fitted, &fitted.model.noise, sessions, control)?;
    let objective = problem.objective()?;
    let free = objective.free(&fitted.params);
    let sure = known_or_measured(fitted, &objective, sessions, &free);
    let found = sure.map(|sure| {
        // Deviations of groups are held, but would have to follow.
        let end = if fitted.groups().is_empty() { free.len() } else { objective.detector_dim() };
        let numbers: Vec<usize> = (objective.detector_dim()..end).collect();
        let profiles = profiles(&objective, &sure.posterior, &free, &numbers, &CLOSELY);
        Uncertainty { profiles, ..sure }
    });
    control.stop_if_requested()?;
    Ok(found)
}

/// Profiles of the free parameters at these numbers, around a place with this inverse information.
pub(super) fn profiles(
    objective: &MapObjective<'_>,
    covariance: &[f64],
    free: &[f64],
    numbers: &[usize],
    precision: &Precision,
) -> Vec<Profile> {
    let Some(tilted) = Tilted::new(objective, free).filter(|_| !numbers.is_empty()) else {
        return Vec::new();
    };
    numbers.iter().filter_map(|&at| profile(&tilted, covariance, at, precision)).collect()
}

/// The profile of the free parameter number `at`; none if the log posterior is higher elsewhere, or the stamps
/// are impossible nearby. `covariance` is the inverse of the information.
fn profile(
    tilted: &Tilted<'_>,
    covariance: &[f64],
    at: usize,
    precision: &Precision,
) -> Option<Profile> {
    let size = tilted.dim();
    let own = covariance[at * (size + 1)];
    let standard_error = own.sqrt();
    let tangent = (0..size).map(|k| covariance[at * size + k] / own).collect();
    let factor = others(covariance, size, at)?;
    let followed = Followed { tilted, at, tangent, factor, precision };
    let [below, above] = [-1.0, 1.0].map(|sign| followed.side(sign, standard_error));
    let (below, above) = (below?, above?);
    let nodes = below.into_iter().rev().chain(above).collect();
    let place = tilted.objective.places()[at];
    Some(Profile { place, standard_error, nodes }).filter(Profile::is_sound)
}

/// The Cholesky factor of the information of all parameters but one.
fn others(covariance: &[f64], size: usize, at: usize) -> Option<Vec<f64>> {
    let mut factor = covariance.to_vec();
    if !factorise(&mut factor, size) {
        return None;
    }
    let information = inverse(&factor, size);
    let is_kept = |k: &usize| k / size != at && k % size != at;
    let mut rest: Vec<f64> = (0..size * size).filter(is_kept).map(|k| information[k]).collect();
    factorise(&mut rest, size - 1).then_some(rest)
}

struct Followed<'a> {
    tilted: &'a Tilted<'a>,
    at: usize,
    /// How all parameters follow this one, near the optimum.
    tangent: Vec<f64>,
    /// Of the information of the others.
    factor: Vec<f64>,
    precision: &'a Precision,
}

impl Followed<'_> {
    /// Roots and distances on one side; none if a higher log posterior was found.
    fn side(&self, sign: f64, standard_error: f64) -> Option<Vec<(f64, f64)>> {
        let mut nodes: Vec<(f64, f64)> = Vec::new();
        let mut direction = self.tangent.clone();
        for &target in self.precision.roots {
            let (root, distance) = nodes.last().copied().unwrap_or((1.0, standard_error));
            // Straight on to the next root, but not further than what has been seen allows.
            let distance = distance.abs() * (target / root.abs()).min(LONGEST);
            let Some((fall, there)) = self.learn_others(sign * distance, &direction) else { break };
            if fall < 0.0 {
                return None;
            }
            let root = sign * (2.0 * fall).sqrt();
            if nodes.last().is_some_and(|last| root.abs() <= last.0.abs()) || root == 0.0 {
                break;
            }
            let moved = there.iter().zip(&self.tilted.place).map(|(there, here)| there - here);
            direction = moved.map(|step| step / (sign * distance)).collect();
            nodes.push((root, sign * distance));
        }
        Some(nodes)
    }

    /// How far the log posterior falls if the parameter is this far away, and where all parameters are then.
    fn learn_others(&self, distance: f64, direction: &[f64]) -> Option<(f64, Vec<f64>)> {
        let place = &self.tilted.place;
        let from = place.iter().zip(direction).map(|(x, d)| x + distance * d).collect();
        let slice = Slice { followed: self, from };
        let (start, error) = (vec![0.0; slice.dim()], self.precision.error);
        let mut gradient = start.clone();
        let value = slice.evaluate(&start, &mut gradient);
        let likely = half_gain(&gradient);
        if value.is_finite() && likely <= error {
            return Some((value - likely, slice.from));
        }
        // The lowest place along the gradient, by a trial that tells its curvature.
        let step = |length: f64| gradient.iter().map(|slope| -length * slope).collect::<Vec<f64>>();
        let mut near = start.clone();
        if slice.evaluate(&step(TRIAL), &mut near).is_finite() {
            let squared = 4.0 * likely;
            let along: f64 = gradient.iter().zip(&near).map(|(a, b)| a * b).sum();
            let curvature = (squared - along) / (TRIAL * squared);
            let length = 1.0 / curvature;
            let changed = gradient.iter().zip(&near).map(|(a, b)| a + (b - a) * length / TRIAL);
            let left = half_gain(&changed.collect::<Vec<f64>>());
            if length > 0.0 && left <= error {
                let value = value - 0.5 * squared * length - left;
                return Some((value, slice.params(&step(length))));
            }
        }
        let mut watch = quiet(self.tilted.objective.control());
        let found = minimise(&slice, &start, &CLOSE, &mut watch)?;
        Some((found.value, slice.params(&found.params)))
    }
}

/// Half of what can be gained, with this gradient, where curvatures are one; they are more elsewhere, where
/// less is gained. So it is off by as much again at most.
fn half_gain(gradient: &[f64]) -> f64 {
    0.25 * gradient.iter().map(|slope| slope * slope).sum::<f64>()
}

/// The objective with one parameter held, as a function of steps of the others in which its curvature is about
/// one.
struct Slice<'a> {
    followed: &'a Followed<'a>,
    from: Vec<f64>,
}

impl Slice<'_> {
    fn params(&self, steps: &[f64]) -> Vec<f64> {
        let mut steps = steps.to_vec();
        solve_upper(&self.followed.factor, &mut steps);
        steps.insert(self.followed.at, 0.0);
        self.from.iter().zip(steps).map(|(from, step)| from + step).collect()
    }
}

impl Objective for Slice<'_> {
    fn dim(&self) -> usize {
        self.from.len() - 1
    }

    fn evaluate(&self, steps: &[f64], gradient: &mut [f64]) -> f64 {
        let mut slopes = vec![0.0; self.from.len()];
        let value = self.followed.tilted.evaluate(&self.params(steps), &mut slopes);
        slopes.remove(self.followed.at);
        solve_lower(&self.followed.factor, &mut slopes);
        gradient.copy_from_slice(&slopes);
        value
    }
}
