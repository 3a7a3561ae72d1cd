//! A fitted model and its sessions as a problem again, begun where the fit ended.
//!
//! No starts are searched: the question is what a small change would do to this fit.

use super::fit::{Problem, check};
use super::lbfgs::{LbfgsOptions, minimise};
use super::modes::left_out;
use super::watcher::quiet;
use crate::model::{Fitted, Model};
use crate::outcome::StopReason;
use crate::session::check_columns;
use crate::{Control, Noise, Result, Session};

/// What noise parameters are called.
const NOISE: &str = "noise.";

impl<'a> Problem<'a> {
    /// The problem that a fit solved, on these sessions and with this noise.
    pub(super) fn of_fitted(
        fitted: &Fitted,
        noise: &Noise,
        sessions: &'a [Session<'a>],
        control: Control<'a>,
    ) -> Result<Self> {
        check(&fitted.model, sessions)?;
        for session in sessions {
            check_columns(session.name(), session.features().ncols(), fitted.features())?;
        }
        let mut model = Model { noise: noise.clone(), ..fitted.model.clone() };
        if *noise != fitted.model.noise {
            // What was held of one noise model need not be a parameter of another.
            model.frozen.retain(|frozen| !frozen.name.starts_with(NOISE));
        }
        let parts = fitted.parts.with_stamp_model(model.stamp_model(fitted.time_unit)?);
        Self::with_parts(&model, sessions, parts, fitted.time_unit, control)
    }

    /// All parameters at which a fit ended, as far as this problem has them; other noise has about its
    /// delay and spread.
    fn beginning_at(&self, fitted: &Fitted) -> Vec<f64> {
        let (old, layout) = (&fitted.parts.layout, &self.parts().layout);
        let learned = fitted.learned().in_units_of(fitted.time_unit);
        let annotator = self.parts().stamp_model.start(&learned);
        let mut params = [vec![0.0; layout.dim() - annotator.len()], annotator].concat();
        let same_noise = old.part("noise").len() == layout.part("noise").len();
        for parameter in layout.parameters() {
            let is_known = same_noise || !parameter.name.starts_with(NOISE);
            let known = old.parameter(&parameter.name).ok().filter(|_| is_known);
            if let Some(known) = known.filter(|known| known.spec == parameter.spec) {
                params[parameter.range.clone()]
                    .copy_from_slice(&fitted.params[known.range.clone()]);
            }
        }
        params
    }
}

/// Log evidence of each session when it was left out of learning, with this noise; nothing if there is one
/// session, or if the stamps are impossible with it. Times are in units of the model.
pub(crate) fn held_out_evidence(
    fitted: &Fitted,
    noise: &Noise,
    sessions: &[Session<'_>],
    control: Control<'_>,
) -> Result<Option<Vec<f64>>> {
    let problem = Problem::of_fitted(fitted, noise, sessions, control)?;
    let objective = problem.objective()?;
    let start = objective.free(&problem.beginning_at(fitted));
    let mut watch = quiet(control);
    let found = minimise(&objective, &start, &LbfgsOptions::default(), &mut watch);
    control.stop_if_requested()?;
    let found = found.filter(|found| found.stop != StopReason::Cancelled);
    let evidence = found.and_then(|found| left_out(&objective, &found.params));
    control.stop_if_requested()?;
    Ok(evidence)
}
