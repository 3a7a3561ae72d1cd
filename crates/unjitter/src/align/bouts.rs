//! Both ends of a bout together: it does not end before it begins.
//!
//! The sum over labels tells where each end belongs by itself. Given that the last instance j is not before the first, i,
//!
//! ```text
//! p(i, j) ∝ p(i)·p(j)·[j ≥ i]
//! ```
//!
//! and the end is later than any time with at least the probability of the beginning, so no quantile is out of order.
//! If that leaves nothing, both are taken as they are.

use super::{AlignedInstance, MissedBout, Place};

/// Instances before a bout that are positive with this probability may be its first.
const PERHAPS: f64 = 0.05;

/// The bouts of a session, each with the probability that its beginning has no stamp.
pub(super) fn missed(instances: &[AlignedInstance]) -> Vec<MissedBout> {
    let is_inside = |own: &AlignedInstance| own.observed && own.p_positive >= 0.5;
    let (mut bouts, mut behind, mut first) = (Vec::new(), 0, 0);
    for run in instances.chunk_by(|a, b| is_inside(a) == is_inside(b)) {
        let own = first..first + run.len();
        first = own.end;
        if !is_inside(&run[0]) {
            continue;
        }
        let before = instances[behind..own.start].iter().rev();
        let perhaps = before.take_while(|one| one.p_positive >= PERHAPS);
        let p_missed: f64 = perhaps.chain(run).map(|one| one.p_missed).sum();
        let p_detector = run.iter().map(|one| one.p_detector).fold(0.0, f64::max);
        behind = own.end;
        let (first, last) = (own.start, own.end - 1);
        bouts.push(MissedBout { first, last, p_missed: p_missed.min(1.0), p_detector });
    }
    bouts
}

/// Where the beginning belongs, given the end.
pub(super) fn before(start: &Place, end: &Place) -> Place {
    let below = below(end);
    let all = below[end.shares.len()];
    weighed(start, |i| all - below[i.saturating_sub(end.first).min(end.shares.len())])
}

/// Where the end belongs, given the beginning.
pub(super) fn after(end: &Place, start: &Place) -> Place {
    let below = below(start);
    weighed(end, |j| below[(j + 1).saturating_sub(start.first).min(start.shares.len())])
}

/// Sums of the shares before each instance, and of all.
fn below(place: &Place) -> Vec<f64> {
    let mut sum = 0.0;
    let sums = place.shares.iter().map(|share| {
        sum += share;
        sum
    });
    std::iter::once(0.0).chain(sums).collect()
}

/// A place with each instance weighed, and the same probability in all.
fn weighed(place: &Place, weight: impl Fn(usize) -> f64) -> Place {
    let instances = place.first..place.first + place.shares.len();
    let shares: Vec<f64> =
        place.shares.iter().zip(instances).map(|(share, i)| share * weight(i)).collect();
    let (own, left): (f64, f64) = (place.shares.iter().sum(), shares.iter().sum());
    if left <= f64::MIN_POSITIVE {
        return place.clone();
    }
    let shares = shares.iter().map(|share| share * (own / left)).collect();
    Place { shares, ..*place }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(first: usize, shares: &[f64]) -> Place {
        Place { first, shares: shares.to_vec(), positive: shares.iter().sum() }
    }

    #[test]
    fn ends_that_may_cross_are_those_of_all_pairs_that_do_not() {
        let (start, end) = (place(2, &[0.2, 0.3, 0.1, 0.2]), place(1, &[0.1, 0.2, 0.3, 0.3]));
        let mut pairs = vec![[0.0; 8]; 8];
        for (i, p) in (2..).zip(&start.shares) {
            for (j, q) in (1..).zip(&end.shares).filter(|(j, _)| *j >= i) {
                pairs[i][j] = p * q;
            }
        }
        let all: f64 = pairs.iter().flatten().sum();
        let (given_end, given_start) = (before(&start, &end), after(&end, &start));
        for (k, share) in given_end.shares.iter().enumerate() {
            let want = 0.8 * pairs[k + 2].iter().sum::<f64>() / all;
            assert!((share - want).abs() < 1e-15, "{k}: {share} {want}"); // rounding
        }
        for (k, share) in given_start.shares.iter().enumerate() {
            let want = 0.9 * pairs.iter().map(|row| row[k + 1]).sum::<f64>() / all;
            assert!((share - want).abs() < 1e-15, "{k}: {share} {want}"); // rounding
        }
        assert_eq!((given_end.first, given_start.first), (2, 1));
    }

    #[test]
    fn a_missed_bout_has_all_that_is_missed_where_it_may_begin() {
        let instance = |p_positive: f64, p_missed: f64| AlignedInstance {
            time: 0.0,
            p_detector: 0.5 * p_positive,
            p_positive,
            p_missed,
            observed: true,
        };
        let all = [(0.01, 0.01), (0.4, 0.3), (0.9, 0.4), (0.7, 0.0), (0.2, 0.05), (0.8, 0.1)];
        let found = missed(&all.map(|(p, missed)| instance(p, missed)));
        let told: Vec<_> = found.iter().map(|own| (own.first, own.last, own.p_detector)).collect();
        assert_eq!(told, [(2, 3, 0.45), (5, 5, 0.4)]);
        // Two sums of two numbers.
        assert!(
            (found[0].p_missed - 0.7).abs() < 1e-15 && (found[1].p_missed - 0.15).abs() < 1e-15
        );
    }

    #[test]
    fn an_end_that_cannot_follow_stays_where_it_is() {
        let (start, end) = (place(5, &[1.0]), place(2, &[0.5, 0.5]));
        assert_eq!(before(&start, &end).shares, [1.0]);
        assert_eq!(after(&end, &start).shares, [0.5, 0.5]);
    }
}
