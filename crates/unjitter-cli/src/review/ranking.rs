//! The order in which to ask: first what tells most.
//!
//! The score of an item is the uncertainty, in nats, that its answer is expected to remove from all items together:
//!
//! ```text
//! score = H · E + D / H(explanations) · Σ_items D
//! ```
//!
//! H is the entropy of where the stamp belongs, over its candidates and "for nothing", averaged over explanations:
//! what the answer says of the item itself. E weighs it by what the answer tells the fit beyond that: V/(1 + V),
//! where V is the variance of the delay over the candidates in units of the learned variance. Candidates side by
//! side have about the same delay, and knowing which it was changes little; for an event that was missed there is
//! no delay, and E is 1/2.
//!
//! D is the information that the answer has of the explanation: the entropy of the average less the average of the
//! entropies by explanation (the Jensen–Shannon divergence). Knowing the explanation would remove Σ D from all
//! items; an answer that tells D of the H(explanations) nats that are missing removes that part of it. There are
//! thousands of items and an answer about one of them, so items on which explanations disagree come first, until
//! one explanation is left. Then D is zero.
//!
//! Linear in the number of candidates: ten thousand stamps take some milliseconds.

use std::collections::BTreeMap;

use unjitter::Session;

use super::item::{Decision, Item};
use super::posteriors::{Place, Places};

/// Probability from which an event counts as probably missed.
const MISSED: f64 = 0.3;
/// The weight of an answer that tells no delay.
const NO_DELAY: f64 = 0.5;

/// An item in the queue.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Ranked {
    pub(crate) item: Item,
    /// When it was pressed, or the time of the instance.
    pub(crate) time: f64,
    /// The probability that what is proposed is right.
    pub(crate) probability: f64,
    /// The probability that the likeliest answer of all is wrong.
    pub(crate) doubt: f64,
    /// What the answer is expected to tell.
    pub(crate) score: f64,
}

/// What the items are made of.
pub(crate) struct Asked<'a> {
    pub(crate) sessions: Vec<&'a Session<'static>>,
    /// The average of all explanations.
    pub(crate) mixed: &'a [Places],
    /// Each of them, and its share.
    pub(crate) explanations: Vec<&'a [Places]>,
    pub(crate) shares: &'a [f64],
    /// The learned standard deviation of the delay.
    pub(crate) spread: f64,
    pub(crate) decisions: &'a BTreeMap<Item, Decision>,
}

impl Asked<'_> {
    /// All items, the most informative first, and those that are decided in their place.
    pub(crate) fn ranked(&self) -> Vec<Ranked> {
        let items = self.items();
        let told: Vec<[f64; 2]> = items.iter().map(|own| self.told(own.item)).collect();
        let all: f64 = told.iter().map(|[_, disagreement]| disagreement).sum();
        let of_explanations: f64 = self.shares.iter().map(|share| -x_log_x(*share)).sum();
        let each = if of_explanations > 1e-9 { all / of_explanations } else { 0.0 };
        let mut ranked: Vec<Ranked> = items
            .into_iter()
            .zip(told)
            .map(|(own, [itself, disagreement])| Ranked {
                score: itself + each * disagreement,
                ..own
            })
            .collect();
        ranked.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.item.cmp(&b.item)));
        ranked
    }

    fn items(&self) -> Vec<Ranked> {
        let mut items = Vec::new();
        for (k, (session, places)) in self.sessions.iter().zip(self.mixed).enumerate() {
            for (l, place) in places.stamps.iter().enumerate() {
                let best = place.best().map_or(0.0, |best| best.p);
                items.push(Ranked {
                    item: Item::Stamp(k, l),
                    time: session.stamps()[l],
                    probability: best,
                    doubt: (1.0 - best.max(place.p_spurious)).max(0.0),
                    score: 0.0,
                });
            }
            let missed = |i: usize| Ranked {
                item: Item::Missed(k, i),
                time: session.times()[i],
                probability: places.instances[i].p_missed,
                doubt: places.instances[i].p_missed.min(1.0 - places.instances[i].p_missed),
                score: 0.0,
            };
            let is_decided = |i: usize| self.decisions.contains_key(&Item::Missed(k, i));
            let asked = |i: &usize| places.instances[*i].p_missed > MISSED || is_decided(*i);
            items.extend((0..places.instances.len()).filter(asked).map(missed));
        }
        items
    }

    /// What an answer tells: of the item itself, weighted, and of the explanation.
    fn told(&self, item: Item) -> [f64; 2] {
        let averaged = |entropy: &dyn Fn(&Places) -> f64| -> (f64, f64) {
            let k = item.session();
            let own = self.explanations.iter().zip(self.shares);
            let mean: f64 = own.map(|(own, share)| share * entropy(&own[k])).sum();
            (mean, (entropy(&self.mixed[k]) - mean).max(0.0))
        };
        match item {
            Item::Stamp(k, l) => {
                let (itself, disagreement) = averaged(&|places| entropy(&places.stamps[l]));
                let session = self.sessions[k];
                let variance = delay_variance(&self.mixed[k].stamps[l], session.times());
                let relative = variance / (self.spread * self.spread);
                [itself * relative / (1.0 + relative), disagreement]
            }
            Item::Missed(_, i) => {
                let (itself, disagreement) = averaged(&|places| {
                    let p = places.instances[i].p_missed.clamp(0.0, 1.0);
                    -x_log_x(p) - x_log_x(1.0 - p)
                });
                [NO_DELAY * itself, disagreement]
            }
        }
    }
}

/// Entropy of where a stamp belongs.
fn entropy(place: &Place) -> f64 {
    let candidates = place.candidates.iter().map(|candidate| candidate.p);
    candidates.chain([place.p_spurious]).map(|p| -x_log_x(p)).sum()
}

/// Variance of the delay over the candidates.
fn delay_variance(place: &Place, times: &[f64]) -> f64 {
    let all: f64 = place.candidates.iter().map(|candidate| candidate.p).sum();
    if all <= 0.0 {
        return 0.0;
    }
    let average = |of: &dyn Fn(f64) -> f64| -> f64 {
        place.candidates.iter().map(|one| one.p * of(times[one.instance])).sum::<f64>() / all
    };
    let mean = average(&|time| time);
    average(&|time| (time - mean) * (time - mean))
}

fn x_log_x(p: f64) -> f64 {
    if p > 0.0 { p * p.ln() } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use unjitter::Candidate;

    use super::*;
    use crate::review::posteriors::{InstancePlace, mixed};

    fn session(instances: usize, stamps: usize) -> Session<'static> {
        let features = unjitter::Features::new(vec![0.0; instances], instances, 1).unwrap();
        let times = (0..instances).map(|i| i as f64).collect();
        let gap = instances as f64 / stamps as f64;
        let stamps = (0..stamps).map(|l| l as f64 * gap).collect();
        Session::new("night", features, times, stamps).unwrap()
    }

    fn place(candidates: &[(usize, f64)]) -> Place {
        let candidates: Vec<Candidate> =
            candidates.iter().map(|&(instance, p)| Candidate { instance, p }).collect();
        let all: f64 = candidates.iter().map(|candidate| candidate.p).sum();
        Place { candidates, p_spurious: 1.0 - all, low: 0.0, high: 0.0 }
    }

    fn order(explanations: &[Places], shares: &[f64]) -> Vec<Item> {
        let session = session(12, explanations[0].stamps.len());
        let each: Vec<Vec<Places>> = explanations.iter().map(|own| vec![own.clone()]).collect();
        let each: Vec<&[Places]> = each.iter().map(Vec::as_slice).collect();
        let mixed = mixed(&each, shares);
        let asked = Asked {
            sessions: vec![&session],
            mixed: &mixed,
            explanations: each,
            shares,
            spread: 1.0,
            decisions: &BTreeMap::new(),
        };
        asked.ranked().iter().map(|ranked| ranked.item).collect()
    }

    fn places(stamps: Vec<Place>, missed: &[(usize, f64)]) -> Places {
        let mut instances = vec![InstancePlace::default(); 12];
        missed.iter().for_each(|&(i, p_missed)| instances[i].p_missed = p_missed);
        Places { stamps, instances }
    }

    #[test]
    fn what_is_uncertain_and_tells_a_delay_comes_first() {
        let stamps = vec![
            place(&[(1, 0.99)]),
            place(&[(3, 0.5), (4, 0.5)]),
            place(&[(5, 0.5), (9, 0.5)]),
            place(&[(2, 0.9), (3, 0.1)]),
        ];
        let found = order(&[places(stamps, &[(7, 0.5), (8, 0.1)])], &[1.0]);
        let expected = [
            Item::Stamp(0, 2),
            Item::Missed(0, 7),
            Item::Stamp(0, 1),
            Item::Stamp(0, 3),
            Item::Stamp(0, 0),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn explanations_that_disagree_come_before_doubts_of_each() {
        let uncertain = || place(&[(5, 0.5), (9, 0.5)]);
        let (one, other) = (place(&[(1, 0.95)]), place(&[(4, 0.95)]));
        let first = places(vec![uncertain(), one.clone(), uncertain(), one], &[]);
        let second = places(vec![uncertain(), other.clone(), uncertain(), other], &[]);
        let both = [first.clone(), second];
        assert_eq!(order(&both, &[0.6, 0.4])[..2], [Item::Stamp(0, 1), Item::Stamp(0, 3)]);
        // With one left, its own doubts count.
        assert_eq!(order(&both, &[1.0, 0.0])[..2], [Item::Stamp(0, 0), Item::Stamp(0, 2)]);
    }

    #[test]
    fn ten_thousand_stamps_are_ranked_at_once() {
        let session = session(200_000, 10_000);
        let stamps: Vec<Place> = (0..10_000)
            .map(|l| place(&(0..40).map(|i| (20 * l + i % 20, 0.02)).collect::<Vec<_>>()))
            .collect();
        let own = vec![Places { stamps, instances: vec![InstancePlace::default(); 200_000] }];
        let asked = Asked {
            sessions: vec![&session],
            mixed: &own,
            explanations: vec![&own, &own],
            shares: &[0.5, 0.5],
            spread: 1.0,
            decisions: &BTreeMap::new(),
        };
        let begun = Instant::now();
        assert_eq!(asked.ranked().len(), 10_000);
        // Milliseconds, but tests share the machine.
        assert!(begun.elapsed() < Duration::from_millis(500), "{:?}", begun.elapsed());
    }
}
