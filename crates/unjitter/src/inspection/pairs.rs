//! Stamps in pairs: pressed twice, or by two people.
//!
//! A gap is that of a pair if it is much shorter than both of its neighbours. Of random stamps, one gap
//! in seven is so short; if everything is pressed twice, every second.

use super::finding::Finding;
use super::view::View;
use crate::math::median;

/// A pair is this many times closer than its neighbours on either side.
const CLOSER: f64 = 3.0;
/// Share of such short gaps by chance.
const BY_CHANCE: f64 = 1.0 / 7.0;
/// Share of gaps from which most stamps belong to a pair, and its least number of standard deviations
/// above chance.
const SHARE: f64 = 0.3;
const DEVIATIONS: f64 = 5.0;

pub(super) fn check(view: &View<'_>) -> Option<Finding> {
    let (mut pairs, mut gaps) = (Vec::new(), 0);
    for stamps in view.streams() {
        let own: Vec<f64> = stamps.windows(2).map(|pair| pair[1] - pair[0]).collect();
        for (k, &gap) in own.iter().enumerate() {
            let before = if k > 0 { own[k - 1] } else { f64::INFINITY };
            let after = own.get(k + 1).copied().unwrap_or(f64::INFINITY);
            let neighbour = before.min(after);
            // Stamps at the same time are reported separately.
            if gap > 0.0 && neighbour.is_finite() {
                gaps += 1;
                pairs.extend((CLOSER * gap < neighbour).then_some(gap));
            }
        }
    }
    let expected = BY_CHANCE * gaps as f64;
    let found = pairs.len() as f64;
    if found < SHARE * gaps as f64 || found < expected + DEVIATIONS * expected.sqrt() {
        return None;
    }
    Some(Finding::Pairs { pairs: pairs.len(), of: view.stamps(), apart: median(pairs)? })
}
