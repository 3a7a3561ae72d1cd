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

use super::Place;

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
    Place { shares, classes: place.classes.clone(), ..*place }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(first: usize, shares: &[f64]) -> Place {
        let positive = shares.iter().sum();
        Place { first, shares: shares.to_vec(), positive, classes: Vec::new() }
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
    fn an_end_that_cannot_follow_stays_where_it_is() {
        let (start, end) = (place(5, &[1.0]), place(2, &[0.5, 0.5]));
        assert_eq!(before(&start, &end).shares, [1.0]);
        assert_eq!(after(&end, &start).shares, [0.5, 0.5]);
    }
}
