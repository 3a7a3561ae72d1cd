//! What was learned of each group of stamps.

use serde::Serialize;

use super::fitted::{Fitted, check_level};
use super::groups::{Variation, Varying};
use super::quantity::Quantity;
use super::uncertainty::{Estimate, Scale};
use crate::Result;

/// A number that differs between groups, for one of them, in the unit of the data.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GroupEstimate {
    /// What differs, and between what.
    pub variation: Variation,
    /// The group.
    pub group: String,
    /// The group's own number: its delay, spread or rate, the offset of its clock, or what that gains per unit of
    /// time.
    pub value: f64,
    /// Its standard error and interval, if the fit knows how sure it is.
    pub estimate: Option<Estimate>,
}

impl Fitted {
    /// What was learned of each group of stamps, with intervals at a level: all groups of the first thing that
    /// varies, in order of their names, then all of the next.
    pub fn group_estimates(&self, level: f64) -> Result<Vec<GroupEstimate>> {
        check_level(level)?;
        let (groups, first) = (&self.parts.stamps.groups, self.parts.deviations().start);
        let sure = self.uncertainty();
        let posteriors = sure.map(|sure| sure.groups_by_place()).unwrap_or_default();
        let mut estimates = Vec::with_capacity(groups.dim());
        for (k, effect) in groups.effects().iter().enumerate() {
            let variation = effect.variation;
            let (scale, quantity) = told_as(variation.what);
            for (at, group) in groups.range(k).zip(&effect.names) {
                let place = first + at;
                let value_of = |params: &[f64]| match quantity {
                    Some(quantity) => quantity.of(&self.learned_of(params, k, at)),
                    None if variation.what == Varying::Offset => params[place] * self.time_unit,
                    None => params[place],
                };
                let posterior = posteriors.get(&place).copied();
                let params = &self.params;
                let estimate = sure
                    .and_then(|sure| sure.estimate_in(posterior, params, level, scale, value_of));
                let (value, group) = (value_of(params), group.clone());
                estimates.push(GroupEstimate { variation, group, value, estimate });
            }
        }
        Ok(estimates)
    }

    /// The annotator of stamps that deviate by one number alone.
    fn learned_of(&self, params: &[f64], effect: usize, deviation: usize) -> super::Learned {
        let groups = &self.parts.stamps.groups;
        let mut members = vec![None; groups.effects().len()];
        members[effect] = Some(deviation);
        let (annotator, deviations) =
            (&params[self.parts.annotator()], &params[self.parts.deviations()]);
        let own = groups.applied(annotator, deviations, &members).0;
        self.parts.stamps.model.learned(&own).in_units_of(1.0 / self.time_unit)
    }
}

/// The scale on which a group's number is about normal, and which number of the annotator it is; none for those of
/// a clock, which are told by themselves.
fn told_as(what: Varying) -> (Scale, Option<Quantity>) {
    let quantity = match what {
        Varying::Delay => Quantity::Delay,
        Varying::Offset | Varying::Drift => return (Scale::Plain, None),
        Varying::Spread => Quantity::Spread,
        Varying::MissRate => Quantity::MissRate,
        Varying::FalseRate => Quantity::FalseRate,
        Varying::BackgroundRate => Quantity::BackgroundRate,
    };
    (quantity.scale(), Some(quantity))
}
