//! The events of an aligned session whose labels form runs: each is told once, however many instances it covers.
//!
//! An event is a run of instances that are more likely positive than not, given everything. Where it begins and ends is
//! known to some instances, and stamps may belong to those before and behind it: the *flanks*, over which the probability
//! falls. Stamps of an event exclude each other where it has one at most, so that
//!
//! ```text
//! p(missed) ≥ p(positive) − Σ over its instances and flanks of p(a stamp came from here)
//! ```
//!
//! with equality there; where stamps share events it is a lower bound.

use std::ops::Range;

use super::AlignedInstance;
use crate::labels::Variable;

/// From here on an instance is of an event.
const LIKELY: f64 = 0.5;

/// An event that covers several instances.
#[derive(Debug, Clone, PartialEq)]
pub struct AlignedRun {
    /// Its first instance, by position in the session.
    pub first: usize,
    /// Its last one.
    pub last: usize,
    /// The time of its first instance.
    pub begin: f64,
    /// The time of its last one.
    pub end: f64,
    /// Its instances and those around it, whose stamps are for it.
    pub reach: Range<usize>,
    /// Probability that it is there: that of its surest instance.
    pub p_positive: f64,
    /// The same from features alone.
    pub p_detector: f64,
    /// Probability that it is there and nobody stamped it.
    pub p_missed: f64,
}

/// The events among instances, given the expected number of stamps that each gave.
pub(super) fn runs(instances: &[AlignedInstance], stamps: &[f64]) -> Vec<AlignedRun> {
    let p = |i: usize| instances[i].p_positive;
    let is_within = |i: &usize| instances[*i].observed && p(*i) >= LIKELY;
    let mut runs = Vec::new();
    let mut next = 0;
    while let Some(first) = (next..instances.len()).find(is_within) {
        let end = (first..instances.len()).find(|i| !is_within(i)).unwrap_or(instances.len());
        let falls = |from: usize, to: usize| instances[to].observed && p(to) <= p(from);
        let mut reach = first..end;
        while reach.start > next && falls(reach.start, reach.start - 1) {
            reach.start -= 1;
        }
        while reach.end < instances.len()
            && p(reach.end) < LIKELY
            && falls(reach.end - 1, reach.end)
        {
            reach.end += 1;
        }
        let highest = |value: fn(&AlignedInstance) -> f64| {
            instances[first..end].iter().map(value).fold(0.0, f64::max)
        };
        let p_positive = highest(|one| one.p_positive);
        let seen: f64 = stamps[reach.clone()].iter().sum();
        next = reach.end;
        runs.push(AlignedRun {
            first,
            last: end - 1,
            begin: instances[first].time,
            end: instances[end - 1].time,
            reach,
            p_positive,
            p_detector: highest(|one| one.p_detector),
            p_missed: (p_positive - seen).max(0.0),
        });
    }
    runs
}

/// Tells of each missed event at the one instance that stamps would be about.
pub(super) fn tell_once(instances: &mut [AlignedInstance], runs: &[AlignedRun], about: Variable) {
    instances.iter_mut().for_each(|one| one.p_missed = 0.0);
    for run in runs {
        let at = if about == Variable::End { run.last } else { run.first };
        instances[at].p_missed = run.p_missed;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn instances(p: &[f64]) -> Vec<AlignedInstance> {
        let one = |(i, &p): (usize, &f64)| AlignedInstance {
            time: i as f64,
            p_detector: p / 2.0,
            p_positive: p,
            p_missed: 0.1,
            observed: true,
        };
        p.iter().enumerate().map(one).collect()
    }

    #[test]
    fn an_event_has_the_stamps_of_its_instances_and_flanks() {
        let p = [0.1, 0.3, 0.8, 0.9, 0.6, 0.2, 0.3, 0.7, 0.1];
        let mut all = instances(&p);
        // One stamp between the first run and its flank; one of an event that is hardly there.
        let mut stamps = [0.0; 9];
        (stamps[1], stamps[2]) = (0.25, 0.5);
        let found = runs(&all, &stamps);
        let places: Vec<_> =
            found.iter().map(|run| (run.first, run.last, run.reach.clone())).collect();
        assert_eq!(places, [(2, 4, 0..6), (7, 7, 6..9)]);
        // Sums of two numbers with few digits: roundings of 1e-16.
        assert!((found[0].p_missed - 0.15).abs() < 1e-12, "{found:?}");
        assert_eq!((found[0].p_positive, found[0].p_detector, found[1].p_missed), (0.9, 0.45, 0.7));
        tell_once(&mut all, &found, Variable::Onset);
        let told = |all: &[AlignedInstance]| {
            (0..9).filter(|&i| all[i].p_missed > 0.0).collect::<Vec<usize>>()
        };
        assert_eq!(told(&all), [2, 7]);
        tell_once(&mut all, &found, Variable::End);
        assert_eq!(told(&all), [4, 7]);
    }

    #[test]
    fn nobody_looked_between_two_events() {
        let mut all = instances(&[0.9, 0.9, 0.9, 0.9]);
        all[1].observed = false;
        let found = runs(&all, &[0.0; 4]);
        assert_eq!(
            found.iter().map(|run| (run.first, run.last)).collect::<Vec<_>>(),
            [(0, 0), (2, 3)]
        );
    }
}
