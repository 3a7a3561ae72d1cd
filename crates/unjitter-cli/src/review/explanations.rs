//! The explanations of the stamps that a fit found, and what decisions say of them.
//!
//! A decision is a measurement: each explanation had said, before anybody decided anything, how likely it is. So
//! the share of an explanation is in proportion to
//!
//! ```text
//! its share at first · Π_decisions (0.99 · p(decision | explanation) + 0.01 · 1/20)
//! ```
//!
//! with a slip of the hand in one of a hundred decisions, to one of some twenty places. These are probabilities
//! under the model as it was at first, so a share depends on the decisions alone, not on their order nor on when
//! the model was learned again; and it is known at once.
//!
//! The shares at first are those that the fit's own doubts leave. Where sessions were left out, the odds of a rival
//! are those that it is better on other sessions, Φ(mean / standard error). Elsewhere they shrink with the log
//! posterior that it lacks, on the scale on which the fit calls optima rivals (a tenth for every stamp, and ten):
//! evidence is not exact to better than that. A rival never begins ahead of the fit's choice. An explanation that
//! was found where answers pointed begins with odds of e⁻³, as the least of rivals.

use std::collections::BTreeMap;
use std::sync::Arc;

use unjitter::Fitted;
use unjitter::model::Mode;

use super::item::{Action, Decision, Item};
use super::posteriors::{Known, Places, places};

/// Share of decisions that are slips, and places that these may be at.
const SLIPS: f64 = 0.01;
const ELSEWHERE: f64 = 20.0;
/// Explanations with a smaller share at first are not looked at, nor more than so many.
const LEAST: f64 = 1e-3;
const MOST: usize = 6;
/// Log posterior that a rival may lack, per stamp and in all, until its odds are e⁻³.
const RIVAL: (f64, f64) = (0.1, 10.0);
/// Below this share, an explanation is ruled out.
pub(crate) const RULED_OUT: f64 = 0.01;

/// An explanation as it was at first.
#[derive(Debug)]
pub(crate) struct Explanation {
    pub(crate) fitted: Fitted,
    log_weight: f64,
    /// Without any decision.
    pub(crate) places: Vec<Places>,
}

impl Explanation {
    /// One that was found later, from the stamps alone.
    pub(crate) fn later(fitted: Fitted, places: Vec<Places>) -> Self {
        Self { fitted, log_weight: -3.0, places }
    }

    /// Whether it tells the same of the annotator as a fit.
    pub(crate) fn tells(&self, other: &Fitted) -> bool {
        let (own, other) = (self.fitted.learned(), other.learned());
        (own.delay - other.delay).abs() <= 0.2 * own.spread.min(other.spread)
    }
}

/// Those of a fit, the one in use first.
pub(crate) fn explanations(
    fitted: &Fitted,
    known: &[Known],
    draws: usize,
) -> anyhow::Result<Vec<Arc<Explanation>>> {
    let stamps: usize = known.iter().map(|own| own.session.stamps().len()).sum();
    let mut found = Vec::new();
    for k in 0..fitted.modes().len().max(1) {
        let log_weight =
            fitted.modes().get(k).map_or(0.0, |_| log_weight(fitted.modes(), k, stamps));
        if k > 0 && (log_weight < LEAST.ln() || found.len() == MOST) {
            continue;
        }
        let own = if k == 0 { fitted.clone() } else { fitted.clone().use_mode(k)? };
        // An explanation that is impossible here explains nothing.
        let places = match places(&own, known, if k == 0 { draws } else { 0 }) {
            Err(error) if k == 0 => return Err(error.into()),
            Err(_) => continue,
            Ok(places) => places,
        };
        found.push(Arc::new(Explanation { fitted: own, log_weight, places }));
    }
    Ok(found)
}

fn log_weight(modes: &[Mode], k: usize, stamps: usize) -> f64 {
    if k == 0 {
        return 0.0;
    }
    match modes[k].held_out {
        Some(held_out) if held_out.standard_error > 0.0 => {
            let better = normal(held_out.mean / held_out.standard_error);
            (better / (1.0 - better)).ln().min(0.0)
        }
        _ => {
            let lacking = (modes[0].log_posterior - modes[k].log_posterior).max(0.0);
            -3.0 * lacking / (RIVAL.0 * stamps as f64 + RIVAL.1)
        }
    }
}

/// The standard normal distribution function, to 1e-7 (Abramowitz and Stegun 7.1.26).
fn normal(x: f64) -> f64 {
    let t = 1.0 / (1.0 + 0.327_591_1 * x.abs() / std::f64::consts::SQRT_2);
    let poly = t
        * (0.254_829_592
            + t * (-0.284_496_736
                + t * (1.421_413_741 + t * (-1.453_152_027 + t * 1.061_405_429))));
    let tail = 0.5 * poly * (-0.5 * x * x).exp();
    if x > 0.0 { 1.0 - tail } else { tail }
}

/// Shares of explanations, given decisions.
pub(crate) fn shares(
    explanations: &[Arc<Explanation>],
    decisions: &BTreeMap<Item, Decision>,
) -> Vec<f64> {
    let told = |own: &Arc<Explanation>| -> f64 {
        let each =
            decisions.iter().filter_map(|(&item, &decision)| probability(own, item, decision));
        own.log_weight + each.map(|p| ((1.0 - SLIPS) * p + SLIPS / ELSEWHERE).ln()).sum::<f64>()
    };
    let logs: Vec<f64> = explanations.iter().map(told).collect();
    let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = logs.iter().map(|log| (log - most).exp()).sum();
    logs.iter().map(|log| (log - most).exp() / sum).collect()
}

/// How likely a decision was by an explanation; none if it says nothing.
fn probability(
    own: &Explanation,
    item: Item,
    Decision { action, instance }: Decision,
) -> Option<f64> {
    let places = own.places.get(item.session())?;
    match (item, action) {
        (_, Action::Skip) => None,
        (Item::Stamp(_, stamp), Action::Reject) => Some(places.stamps[stamp].p_spurious),
        (Item::Stamp(_, stamp), _) => Some(places.stamps[stamp].at(instance?)),
        (Item::Missed(_, instance), Action::Reject) => {
            Some(1.0 - places.instances[instance].p_positive)
        }
        (Item::Missed(_, instance), _) => Some(places.instances[instance].p_positive),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_normal_distribution_function_is_right() {
        for (x, expected) in
            [(0.0, 0.5), (1.0, 0.841_344_746), (-1.959_964, 0.025), (3.0, 0.998_650_102)]
        {
            assert!((normal(x) - expected).abs() < 1e-6, "{x}: {}", normal(x));
        }
    }
}
