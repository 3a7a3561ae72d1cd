//! A fitted model and its sessions as a problem again, begun where the fit ended.
//!
//! No starts are searched: the question is what a small change would do to this fit.

use super::fit::{FitOptions, in_pool};
use super::lbfgs::{LbfgsOptions, minimise};
use super::modes::left_out;
use super::problem::{Problem, check, impossible_session};
use super::search::Optimum;
use super::watcher::quiet;
use crate::model::{ENDS, Fitted, Groups, Mode, Model};
use crate::outcome::{StopReason, Warning};
use crate::session::check_columns;
use crate::{Control, Error, Noise, Result, Session};

/// What noise parameters are called.
const NOISE: &str = "noise.";

/// Whether a parameter is one of the noise, of beginnings or of ends.
fn is_of_noise(name: &str) -> bool {
    let of_ends = name.strip_prefix(ENDS).and_then(|own| own.strip_prefix('.'));
    of_ends.unwrap_or(name).starts_with(NOISE)
}

impl<'a> Problem<'a> {
    /// The problem that a fit solved, on these sessions and with this noise. What differs between groups is held as
    /// it was learned.
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
            model.frozen.retain(|frozen| !is_of_noise(&frozen.name));
        }
        let stamp_model = model.stamp_model(fitted.time_unit, fitted.stamp_rate)?;
        let effects = fitted.parts.stamps.groups.effects().to_vec();
        let parts = fitted.parts.with_stamp_model(stamp_model);
        let groups = Groups::new(effects, parts.stamps.model.as_ref())?;
        let parts = parts.with_groups(groups);
        let scales = (fitted.time_unit, fitted.stamp_rate);
        let problem = Self::with_parts(&model, sessions, parts, scales, control)?;
        let own = problem.parts().deviations();
        let deviations = fitted.params[fitted.parts.deviations()].iter().map(|&own| Some(own));
        Ok(problem.holding(std::iter::repeat_n(None, own.start).chain(deviations).collect()))
    }

    /// All parameters at which a fit ended, as far as this problem has them; other noise has about its
    /// delay and spread.
    fn beginning_at(&self, fitted: &Fitted) -> Vec<f64> {
        let (old, layout) = (&fitted.parts.layout, &self.parts().layout);
        let learned = fitted.learned().in_units_of(fitted.time_unit);
        let mut params = vec![0.0; layout.dim()];
        let annotator = self.parts().stamps.model.start(&learned);
        params[self.parts().annotator()].copy_from_slice(&annotator);
        if let Some(ends) = fitted.learned_ends() {
            let ends = self.parts().stamps.model.start(&ends.in_units_of(fitted.time_unit));
            params[self.parts().ends()].copy_from_slice(&ends);
        }
        let same_noise = old.part("noise").len() == layout.part("noise").len();
        for parameter in layout.parameters() {
            let is_known = same_noise || !is_of_noise(&parameter.name);
            let known = old.parameter(&parameter.name).ok().filter(|_| is_known);
            if let Some(known) = known.filter(|known| known.spec == parameter.spec) {
                params[parameter.range.clone()]
                    .copy_from_slice(&fitted.params[known.range.clone()]);
            }
        }
        params
    }
}

impl Fitted {
    /// The same model after a little more was learned of its sessions, such as labels: the optimum in use is
    /// followed from where it was. Its rivals are forgotten; [`use_mode`](Self::use_mode) first follows another.
    /// What differs between groups stays as it was learned. Of the options, restarts and sample are not used.
    pub fn refitted(
        &self,
        sessions: &[Session<'_>],
        options: &FitOptions,
        control: Control<'_>,
    ) -> Result<Self> {
        in_pool(options.threads, || self.refitted_here(sessions, options, control))
    }

    fn refitted_here(
        &self,
        sessions: &[Session<'_>],
        options: &FitOptions,
        control: Control<'_>,
    ) -> Result<Self> {
        let problem = Problem::of_fitted(self, &self.model.noise, sessions, control)?;
        let objective = problem.objective()?;
        let start = objective.free(&problem.beginning_at(self));
        let minimum = minimise(&objective, &start, &options.optimiser, &mut quiet(control));
        control.stop_if_requested()?;
        let minimum = minimum.ok_or_else(|| impossible_session(&problem, &objective, options))?;
        if minimum.stop == StopReason::Cancelled {
            return Err(Error::Cancelled);
        }
        let learned = problem.learned(&objective, &minimum.params);
        let best = Optimum { minimum, start: 0, learned };
        let mode = Mode {
            learned: self.learned(),
            log_posterior: -self.outcome.value,
            log_evidence: self.outcome.log_evidence,
            held_out: None,
            shift: 0,
            params: self.params.clone(),
        };
        let mut again = self.clone();
        (again.modes, again.uncertainty) = (vec![mode], None);
        again.warnings.retain(|warning| !matches!(warning, Warning::Modes { .. }));
        let again = problem.learned_again(best, again, options)?;
        control.stop_if_requested()?;
        Ok(again)
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
