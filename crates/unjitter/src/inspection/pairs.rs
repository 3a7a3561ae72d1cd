//! Stamps that come in pairs: pressed twice, or by two people.
//!
//! A gap is that of a pair if it is much shorter than both of its neighbours. Where stamps come at
//! random, one gap in seven is so short; where everything is pressed twice, every second.

use super::finding::Finding;
use super::view::View;
use crate::math::median;

/// A pair is this many times closer than what lies on either side of it.
const CLOSER: f64 = 3.0;
/// Share of gaps that are so short by chance.
const BY_CHANCE: f64 = 1.0 / 7.0;
/// Share of gaps from which most stamps are of a pair, and how many standard deviations above
/// chance that is at least.
const SHARE: f64 = 0.3;
const DEVIATIONS: f64 = 5.0;

pub(super) fn check(view: &View<'_>) -> Option<Finding> {
    let (mut pairs, mut gaps) = (Vec::new(), 0);
    for session in &view.sessions {
        let own: Vec<f64> = session.stamps.windows(2).map(|pair| pair[1] - pair[0]).collect();
        for (k, &gap) in own.iter().enumerate() {
            let before = if k > 0 { own[k - 1] } else { f64::INFINITY };
            let after = own.get(k + 1).copied().unwrap_or(f64::INFINITY);
            let neighbour = before.min(after);
            // Stamps at the very same time are told apart from pairs.
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
