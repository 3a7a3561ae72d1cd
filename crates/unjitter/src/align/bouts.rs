//! Both ends of a bout together: it does not end before it begins.
//!
//! The sum over labels tells where each end belongs by itself. Given that the last instance j is not before the first, i,
//!
//! ```text
//! p(i, j) ∝ p(i)·p(j)·[j ≥ i]
//! ```
//!
//! and the end is later than any time with at least the probability of the beginning, so no quantile is out of order.
//! If no pair is possible, the end belongs to nothing that begins there: it is told as spurious, at the beginning.

use super::Place;

/// Where the beginning belongs, given the end. If nothing leaves the end a place, it stays where it is.
pub(super) fn before(start: &Place, end: &Place) -> Place {
    given_order(start, end).map_or_else(|| start.clone(), |(start, _)| start)
}

/// Where the end belongs, given the beginning; none if nothing leaves it a place.
pub(super) fn after(end: &Place, start: &Place) -> Option<Place> {
    given_order(start, end).map(|(_, end)| end)
}

/// Both ends, given their order.
fn given_order(start: &Place, end: &Place) -> Option<(Place, Place)> {
    // The larger share of each is taken as one, so that few products leave the range of numbers.
    let (start_scale, end_scale) = (largest(start)?, largest(end)?);
    // What is left of either side is added up, not subtracted from all: it may be tiny.
    let mut from: Vec<f64> = sums(end.shares.iter().rev(), end_scale);
    from.reverse();
    let up_to = sums(start.shares.iter(), start_scale);
    let (starts, ends) = (start.shares.len(), end.shares.len());
    let before = weighed(start, |i| from[i.saturating_sub(end.first).min(ends)] / start_scale);
    let after =
        weighed(end, |j| up_to[(j + 1).saturating_sub(start.first).min(starts)] / end_scale);
    before.zip(after)
}

/// The largest share; none if it is zero.
fn largest(place: &Place) -> Option<f64> {
    Some(place.shares.iter().copied().fold(0.0, f64::max)).filter(|most| *most > 0.0)
}

/// Sums of so many first shares, from none to all.
fn sums<'a>(shares: impl Iterator<Item = &'a f64>, scale: f64) -> Vec<f64> {
    let mut sum = 0.0;
    let sums = shares.map(|share| {
        sum += share / scale;
        sum
    });
    std::iter::once(0.0).chain(sums).collect()
}

/// A place with each instance weighed, and the same probability in all; none if nothing is left.
fn weighed(place: &Place, weight: impl Fn(usize) -> f64) -> Option<Place> {
    let instances = place.first..place.first + place.shares.len();
    let shares: Vec<f64> =
        place.shares.iter().zip(instances).map(|(share, i)| share * weight(i)).collect();
    let (own, left): (f64, f64) = (place.shares.iter().sum(), shares.iter().sum());
    if left <= f64::MIN_POSITIVE {
        return None;
    }
    let shares = shares.iter().map(|share| share / left * own).collect();
    Some(Place { shares, classes: place.classes.clone(), ..*place })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(first: usize, shares: &[f64]) -> Place {
        let positive = shares.iter().sum();
        Place { first, shares: shares.to_vec(), positive, ..Place::default() }
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
        let (given_end, given_start) = (before(&start, &end), after(&end, &start).unwrap());
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
    fn an_end_that_cannot_follow_has_no_place() {
        let (start, end) = (place(5, &[1.0]), place(2, &[0.5, 0.5]));
        assert_eq!(before(&start, &end).shares, [1.0]);
        assert!(after(&end, &start).is_none());
        let nowhere = place(2, &[0.0, 0.0]);
        assert!(after(&nowhere, &start).is_none());
        assert_eq!(before(&start, &nowhere).shares, [1.0]);
    }

    #[test]
    fn what_is_hardly_possible_keeps_its_digits() {
        let (start, end) = (place(5, &[1e-3, 1.0]), place(2, &[1.0, 1.0, 1.0, 3e-30, 1e-30]));
        // The pairs (5, 5), (5, 6) and (6, 6) weigh 3e-33, 1e-33 and 1e-30.
        let (given_end, given_start) = (before(&start, &end), after(&end, &start).unwrap());
        let want = [1.001 * 4e-3 / 1.004, 1.001 / 1.004];
        for (share, want) in given_end.shares.iter().zip(want) {
            assert!((share / want - 1.0).abs() < 1e-14, "{share} {want}"); // rounding
        }
        for (share, want) in given_start.shares[3..].iter().zip([3e-3 / 1.004, 1.001 / 1.004]) {
            assert!((share / want / 3.0 - 1.0).abs() < 1e-14, "{share} {want}"); // rounding
        }
        assert_eq!(given_start.shares[..3], [0.0; 3]);
    }
}
