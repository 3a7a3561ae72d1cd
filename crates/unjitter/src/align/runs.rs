//! The events of an aligned session whose labels form runs: each is told once, however many instances it covers.
//!
//! An event is a run of instances that are more likely positive than not, given everything, and likeliest of one class.
//! Where it begins and ends is known to some instances, and stamps may belong to those before and behind it: the *flanks*,
//! over which the probability falls. The stamps of one annotator exclude each other where an event has one at most, and
//! annotators are independent given the event, so that
//!
//! ```text
//! p(missed) ≥ p(positive) · Π over annotators of (1 − Σ over instances and flanks of p(a stamp came from here) / p(positive))
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

/// The events among instances, given the likeliest class of each if there are several, and the expected number of stamps
/// that each gave by annotator.
pub(super) fn runs(
    instances: &[AlignedInstance],
    classes: &[Option<usize>],
    stamps: &[Vec<f64>],
) -> Vec<AlignedRun> {
    let p = |i: usize| instances[i].p_positive;
    let is_within = |i: &usize| instances[*i].observed && p(*i) >= LIKELY;
    let mut runs = Vec::new();
    let mut next = 0;
    while let Some(first) = (next..instances.len()).find(is_within) {
        let goes_on = |i: &usize| is_within(i) && classes[*i] == classes[first];
        let end = (first..instances.len()).find(|i| !goes_on(i)).unwrap_or(instances.len());
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
        let seen = |own: &Vec<f64>| own[reach.clone()].iter().sum::<f64>() / p_positive;
        let unseen = stamps.iter().map(|own| (1.0 - seen(own)).max(0.0)).product::<f64>();
        next = reach.end;
        runs.push(AlignedRun {
            first,
            last: end - 1,
            begin: instances[first].time,
            end: instances[end - 1].time,
            reach,
            p_positive,
            p_detector: highest(|one| one.p_detector),
            p_missed: p_positive * unseen,
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
        let mut stamps = vec![0.0; 9];
        (stamps[1], stamps[2]) = (0.25, 0.5);
        let found = runs(&all, &[None; 9], &[stamps]);
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
    fn annotators_miss_an_event_independently() {
        let all = instances(&[0.1, 0.8, 0.8, 0.1]);
        let first = vec![0.0, 0.2, 0.2, 0.0];
        let second = vec![0.0, 0.6, 0.0, 0.0];
        let third = vec![0.0, 0.5, 0.5, 0.0];
        let missed = |stamps: &[Vec<f64>]| runs(&all, &[None; 4], stamps)[0].p_missed;
        // Of 0.8 the first saw a half, and the second three quarters.
        assert!((missed(&[first.clone(), second.clone()]) - 0.1).abs() < 1e-15); // rounding
        assert_eq!(missed(&[first, second, third]), 0.0);
        assert_eq!(missed(&[]), 0.8);
    }

    #[test]
    fn events_of_two_classes_may_touch() {
        let all = instances(&[0.9, 0.9, 0.9, 0.2, 0.9]);
        let classes = [Some(1), Some(0), Some(0), Some(1), Some(0)];
        let stamps = vec![0.0, 0.9, 0.0, 0.0, 0.0];
        let found = runs(&all, &classes, &[stamps]);
        let told: Vec<_> = found
            .iter()
            .map(|own| (own.first, own.last, own.reach.clone(), own.p_missed))
            .collect();
        assert_eq!(told, [(0, 0, 0..1, 0.9), (1, 2, 1..4, 0.0), (4, 4, 4..5, 0.9)]);
    }

    #[test]
    fn nobody_looked_between_two_events() {
        let mut all = instances(&[0.9, 0.9, 0.9, 0.9]);
        all[1].observed = false;
        let found = runs(&all, &[None; 4], &[]);
        assert_eq!(
            found.iter().map(|run| (run.first, run.last)).collect::<Vec<_>>(),
            [(0, 0), (2, 3)]
        );
    }
}
