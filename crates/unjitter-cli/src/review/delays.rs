//! The delays of stamps that were confirmed, and whether they are those of an explanation.
//!
//! A fit finds some of the explanations that there are. If answers are unlike all of them, the right one was not
//! among them: the delays of confirmed stamps say where to look for it.

use std::collections::BTreeMap;

use unjitter::Session;
use unjitter::math::median;

use super::explanations::Explanation;
use super::item::{Decision, Item};

/// Confirmed stamps before anything is said of them all.
const ENOUGH: usize = 2;
/// Answers are surprising if their probability is this much below what was to be expected of it.
const SURPRISING: f64 = 0.5;
/// The standard deviation of a normal distribution, by its median absolute deviation.
const NORMAL: f64 = 1.4826;

/// Stamps that belong to an instance by decision.
fn owners(decisions: &BTreeMap<Item, Decision>) -> impl Iterator<Item = (usize, usize, usize)> {
    decisions.iter().filter_map(|(item, decision)| match (item, decision.instance) {
        (Item::Stamp(k, l), Some(instance)) => Some((*k, *l, instance)),
        _ => None,
    })
}

/// How many stamps are confirmed.
pub(crate) fn confirmed(decisions: &BTreeMap<Item, Decision>) -> usize {
    owners(decisions).count()
}

/// Whether an explanation did not expect what was confirmed. If it were right, the probability that it gave to an
/// answer would be Σ p² on average, over what it held possible.
pub(crate) fn is_surprising(own: &Explanation, decisions: &BTreeMap<Item, Decision>) -> bool {
    let (mut count, mut found, mut expected) = (0, 0.0, 0.0);
    for (k, l, instance) in owners(decisions) {
        let place = &own.places[k].stamps[l];
        count += 1;
        found += place.at(instance);
        expected += place.candidates.iter().map(|one| one.p * one.p).sum::<f64>();
    }
    count >= ENOUGH && found < SURPRISING * expected
}

/// A range that the delay is in, by the stamps that were confirmed: two standard errors around their median, as if they
/// scattered by at least the spacing of instances. None without any.
pub(crate) fn range(
    sessions: &[&Session<'static>],
    spacing: f64,
    decisions: &BTreeMap<Item, Decision>,
) -> Option<(f64, f64)> {
    let delay = |(k, l, i): (usize, usize, usize)| sessions[k].stamps()[l] - sessions[k].times()[i];
    let delays: Vec<f64> = owners(decisions).map(delay).collect();
    let middle = median(delays.clone())?;
    let off = median(delays.iter().map(|delay| (delay - middle).abs()).collect())?;
    // Twice the standard error of the middle; a few stamps say little of how far they scatter.
    let reach = 2.0 * (NORMAL * off).max(spacing) / (delays.len() as f64).sqrt();
    Some((middle - reach, middle + reach))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::review::item::Action;

    #[test]
    fn the_range_is_around_what_was_confirmed() {
        let features = unjitter::Features::new(vec![0.0; 50], 50, 1).unwrap();
        let times = (0..50).map(f64::from).collect();
        let stamps = vec![6.0, 16.5, 26.0, 45.0];
        let session = Session::new("walk", features, times, stamps).unwrap();
        let at = |instance| Decision { action: Action::Move, instance: Some(instance) };
        let mut decisions = BTreeMap::from([
            (Item::Stamp(0, 0), at(0)),
            (Item::Stamp(0, 1), at(10)),
            (Item::Stamp(0, 2), at(20)),
            (Item::Missed(0, 7), at(7)),
        ]);
        assert_eq!(confirmed(&decisions), 3);
        let reach = 2.0 / 3f64.sqrt();
        assert_eq!(range(&[&session], 1.0, &decisions), Some((6.0 - reach, 6.0 + reach)));
        // One that is far off changes little.
        decisions.insert(Item::Stamp(0, 3), at(5));
        let (low, high) = range(&[&session], 1.0, &decisions).unwrap();
        assert!(low > 3.0 && high < 9.0, "{low} {high}");
        assert_eq!(range(&[&session], 1.0, &BTreeMap::new()), None);
    }
}
