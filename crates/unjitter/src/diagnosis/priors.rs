//! How much do the priors on the annotator matter?

use serde::Serialize;

use crate::learning::sensitivity;
use crate::model::{Fitted, Uncertainty};
use crate::params::Transform;
use crate::{Control, Result, Session};

/// Standard errors from which on a parameter counts as moved.
const MOVED: f64 = 1.0;

/// What a prior of another strength would change.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PriorSensitivity {
    /// The parameter whose prior it is.
    pub prior: String,
    /// Its strength over the present one.
    pub strength: f64,
    /// The most that any parameter moves, in standard errors.
    pub most: f64,
    /// Parameters that move by more than a standard error.
    pub moved: Vec<MovedParameter>,
}

/// A parameter that moves.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MovedParameter {
    /// Its name.
    pub parameter: String,
    /// Its natural value as learned, in the unit of the data.
    pub from: f64,
    /// And then.
    pub to: f64,
    /// How many standard errors that is, on the unconstrained scale.
    pub standard_errors: f64,
}

/// Each of the annotator's priors at half and at twice its strength; none if the fit cannot tell how sure
/// it is.
pub(super) fn priors(
    fitted: &Fitted,
    sessions: &[Session<'_>],
    control: Control<'_>,
) -> Result<Option<Vec<PriorSensitivity>>> {
    let Some((sure, all)) = sensitivity(fitted, sessions, control)? else { return Ok(None) };
    let told = |(prior, strength, params): (String, f64, Vec<f64>)| {
        let moved = moved(fitted, &sure, &params);
        let most = moved.iter().map(|own| own.standard_errors.abs()).fold(0.0, f64::max);
        let moved = moved.into_iter().filter(|own| own.standard_errors.abs() > MOVED).collect();
        PriorSensitivity { prior, strength, most, moved }
    };
    Ok(Some(all.into_iter().map(|own| told((own.prior, own.power, own.params))).collect()))
}

/// All learned parameters and how far they moved.
fn moved(fitted: &Fitted, sure: &Uncertainty, params: &[f64]) -> Vec<MovedParameter> {
    let errors = sure.standard_errors();
    let mut all = Vec::new();
    for (&at, error) in sure.places.iter().zip(errors) {
        let Some(parameter) = fitted.parts.layout.at(at) else { continue };
        let k = at - parameter.range.start;
        let value = |params: &[f64]| parameter.natural(params, fitted.time_unit)[k];
        let is_list = parameter.spec.len > 1 || parameter.spec.transform == Transform::Simplex;
        let name = &parameter.name;
        all.push(MovedParameter {
            parameter: if is_list { format!("{name}[{k}]") } else { name.clone() },
            from: value(&fitted.params),
            to: value(params),
            standard_errors: (params[at] - fitted.params[at]) / error,
        });
    }
    all
}
