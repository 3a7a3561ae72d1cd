//! How sure is what was learned of the annotator, by every way of asking?
//!
//! Intervals from the curvature of the log posterior suppose that it is a parabola and that the model holds.
//! Profiles do not suppose the first, differences between clusters not the second, and a bootstrap over
//! clusters neither. Where they disagree, the wider one is the safer.

use serde::Serialize;

use crate::learning::{bootstrap, with_profiles};
use crate::math::{normal_quantile, quantile};
use crate::model::{Estimate, Fitted, Quantity, Uncertainty};
use crate::{Control, Result, Session};

/// The level of all intervals.
const LEVEL: f64 = 0.95;
/// Draws without which a percentile interval is not told.
const FEWEST: usize = 40;
/// Roots at which a profile is told: to beyond the ends of an interval of 99 %.
const ROOTS: std::ops::RangeInclusive<i32> = -30..=30;

/// One number that was learned, with intervals at 95 %; ends in the unit of the data.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Intervals {
    /// "delay", "spread", "miss_rate", "false_rate" or "background_rate".
    pub name: &'static str,
    /// As learned.
    pub value: f64,
    /// From the curvature of the log posterior.
    pub information: (f64, f64),
    /// From how much sessions or subjects differ, if there are many.
    pub clusters: Option<(f64, f64)>,
    /// Where the log posterior has fallen by 1.92, if it was followed.
    pub profile: Option<(f64, f64)>,
    /// 95 % of what other draws of the sessions teach, if there were any.
    pub bootstrap: Option<(f64, f64)>,
    /// The profile: values, and how far the log posterior has fallen there. Empty if it was not followed.
    pub curve: Vec<(f64, f64)>,
    /// The same if the log posterior were a parabola, as the interval of the information supposes.
    pub parabola: Vec<(f64, f64)>,
}

/// All that was learned of the annotator, with so many draws of a bootstrap; none if the fit does not know
/// how sure it is.
pub(super) fn intervals(
    fitted: &Fitted,
    sessions: &[Session<'_>],
    draws: usize,
    control: Control<'_>,
) -> Result<Option<Vec<Intervals>>> {
    let Some(sure) = with_profiles(fitted, sessions, control)? else { return Ok(None) };
    let drawn = bootstrap(fitted, sessions, draws, control)?;
    let by_profiles = Uncertainty { sandwich: None, ..sure.clone() };
    let by_clusters = Uncertainty { profiles: Vec::new(), ..sure.clone() };
    let by_information = Uncertainty { sandwich: None, ..by_clusters.clone() };
    let told = |quantity: Quantity| {
        let by = |sure| fitted.estimate_by(sure, quantity, LEVEL);
        let ends = |own: Estimate| (own.low, own.high);
        let value_of = |params: &[f64]| quantity.of(&fitted.learned_at(params));
        let profile = sure.profile_of(&sure.slopes(&fitted.params, value_of));
        let own = by(&by_information)?;
        Some(Intervals {
            name: quantity.name(),
            value: own.value,
            information: ends(own),
            clusters: sure.sandwich.as_ref().and_then(|_| by(&by_clusters)).map(ends),
            profile: profile.and_then(|_| by(&by_profiles)).map(ends),
            bootstrap: percentiles(drawn.iter().map(|params| value_of(params)).collect()),
            curve: profile.map_or(Vec::new(), |own| {
                falling(|root| value_of(&own.moved(&fitted.params, root)))
            }),
            parabola: falling(|root| {
                let (middle, scale) = (quantity.scale().on(own.value), quantity.scale());
                let reach = scale.on(own.high) - middle;
                scale.back(middle + reach * root / normal_quantile(0.5 + LEVEL / 2.0))
            }),
        })
    };
    Ok(Some(Quantity::ALL.into_iter().filter_map(told).collect()))
}

/// Values by root, and how far the log posterior has fallen there.
fn falling(value_at: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
    let roots = ROOTS.map(|tenth| f64::from(tenth) / 10.0);
    roots.map(|root| (value_at(root), 0.5 * root * root)).collect()
}

/// Where the inner 95 % of the values lie; none if there are few.
fn percentiles(mut values: Vec<f64>) -> Option<(f64, f64)> {
    values.sort_by(f64::total_cmp);
    let at = |share: f64| quantile(&values, share);
    (values.len() >= FEWEST).then(|| (at(0.5 - LEVEL / 2.0), at(0.5 + LEVEL / 2.0)))
}
