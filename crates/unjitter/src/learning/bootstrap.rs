//! Other draws of the sessions, learned from: the slow check of standard errors.
//!
//! Clusters (subjects, else sessions) are drawn with replacement, as many as there are, and all parameters
//! are learned anew from where the fit ended. What is assumed is only that clusters are independent.

use super::information::clusters;
use super::lbfgs::{LbfgsOptions, minimise};
use super::problem::Problem;
use super::start::NEAR;
use super::tilted::Tilted;
use super::watcher::quiet;
use crate::error::require;
use crate::math::Random;
use crate::model::Fitted;
use crate::{Control, Error, Result, Session};

/// Most draws, which take minutes to hours.
const MOST: usize = 100_000;

/// All parameters as learned from each of so many draws of the sessions. Draws in which the stamps are
/// impossible are left out.
pub(crate) fn bootstrap(
    fitted: &Fitted,
    sessions: &[Session<'_>],
    draws: usize,
    control: Control<'_>,
) -> Result<Vec<Vec<f64>>> {
    require("bootstrap", draws as f64, draws <= MOST, "a number of draws up to 100000")?;
    if draws == 0 {
        return Ok(Vec::new());
    }
    let problem = Problem::of_fitted(fitted, &fitted.model.noise, sessions, control)?;
    let objective = problem.objective()?;
    let free = objective.free(&fitted.params);
    let tilted = Tilted::new(&objective, &free).ok_or(Error::NotInformative)?;
    let of_session = clusters(sessions);
    let count = of_session.iter().max().map_or(0, |last| last + 1);
    let options = LbfgsOptions { value_tolerance: 1e-6, ..NEAR };
    let draw = |number: usize| {
        let mut random = Random::new(number as u64);
        let mut times = vec![0.0; count];
        (0..count).for_each(|_| times[random.below(count)] += 1.0);
        let weights = of_session.iter().map(|&cluster| times[cluster]).collect();
        let drawn = objective.weighted(weights).settled_after(usize::MAX);
        let found = minimise(&tilted.on(&drawn), &free, &options, &mut quiet(control))?;
        Some(objective.full(&found.params))
    };
    // One after another: messages kept from one draw to the next are then always the same.
    let mut found = Vec::new();
    for number in 0..draws {
        found.extend(draw(number));
        control.stop_if_requested()?;
        control.tell(number + 1, draws, None);
    }
    Ok(found)
}
