//! Matching against brute force, and the edges of its window.

use proptest::collection::vec;
use proptest::prelude::*;
use unjitter::evaluation::{Pair, Tolerance, match_events};

/// The most pairs and, among those matchings, the least total error, by trying every one.
fn brute_force(detections: &[f64], truths: &[f64], tolerance: &Tolerance) -> (usize, f64) {
    let Some((&detection, rest)) = detections.split_first() else { return (0, 0.0) };
    let mut best = brute_force(rest, truths, tolerance);
    for (k, &truth) in truths.iter().enumerate() {
        let delay = detection - truth;
        if -tolerance.before <= delay && delay <= tolerance.after {
            let others: Vec<f64> = [&truths[..k], &truths[k + 1..]].concat();
            let (pairs, error) = brute_force(rest, &others, tolerance);
            let with = (pairs + 1, error + delay.abs());
            if with.0 > best.0 || (with.0 == best.0 && with.1 < best.1) {
                best = with;
            }
        }
    }
    best
}

/// The size of a largest matching by augmenting paths, for lists too long for brute force.
fn largest_matching(detections: &[f64], truths: &[f64], tolerance: &Tolerance) -> usize {
    fn grow(
        detection: usize,
        allowed: &[Vec<usize>],
        owner: &mut [Option<usize>],
        seen: &mut [bool],
    ) -> bool {
        for &truth in &allowed[detection] {
            if std::mem::replace(&mut seen[truth], true) {
                continue;
            }
            if owner[truth].is_none_or(|other| grow(other, allowed, owner, seen)) {
                owner[truth] = Some(detection);
                return true;
            }
        }
        false
    }
    let is_allowed = |d: f64, e: f64| -tolerance.before <= d - e && d - e <= tolerance.after;
    let reached = |&d: &f64| (0..truths.len()).filter(|&k| is_allowed(d, truths[k])).collect();
    let allowed: Vec<Vec<usize>> = detections.iter().map(reached).collect();
    let mut owner = vec![None; truths.len()];
    (0..detections.len())
        .filter(|&d| grow(d, &allowed, &mut owner, &mut vec![false; truths.len()]))
        .count()
}

fn assert_one_to_one(pairs: &[Pair]) {
    for (k, pair) in pairs.iter().enumerate() {
        for other in &pairs[..k] {
            assert!(pair.detection != other.detection && pair.truth != other.truth, "{pairs:?}");
        }
    }
}

/// Times on a grid of quarters, where every sum and difference is exact and ties are common.
fn quarters(seconds: u32, count: usize) -> impl Strategy<Value = Vec<f64>> {
    vec((0..4 * seconds).prop_map(|k| f64::from(k) / 4.0), 0..=count)
}

fn tolerances() -> impl Strategy<Value = Tolerance> {
    (0..12u32, 0..12u32).prop_map(|(before, after)| Tolerance {
        before: f64::from(before) / 8.0,
        after: f64::from(after) / 8.0,
    })
}

#[test]
fn the_oracles_know_a_case_by_hand() {
    let tolerance = Tolerance { before: 1.0, after: 1.0 };
    assert_eq!(brute_force(&[2.0, 3.0], &[1.0, 2.25], &tolerance), (2, 1.75));
    assert_eq!(largest_matching(&[2.0, 3.0], &[1.0, 2.25], &tolerance), 2);
    assert_eq!(brute_force(&[2.0, 3.0], &[2.25], &tolerance), (1, 0.25));
    assert_eq!(largest_matching(&[2.0, 3.0], &[2.25], &tolerance), 1);
}

proptest! {
    #![proptest_config(super::cases(2000))]

    #[test]
    fn matching_is_the_best_of_all(
        detections in quarters(5, 6), truths in quarters(5, 6), tolerance in tolerances(),
    ) {
        let pairs = match_events(&detections, &truths, &tolerance).unwrap();
        assert_one_to_one(&pairs);
        let delays: Vec<f64> =
            pairs.iter().map(|pair| detections[pair.detection] - truths[pair.truth]).collect();
        for delay in &delays {
            prop_assert!((-tolerance.before..=tolerance.after).contains(delay));
        }
        let error = delays.iter().map(|delay| delay.abs()).sum::<f64>();
        let want = brute_force(&detections, &truths, &tolerance);
        prop_assert_eq!((pairs.len(), error), want); // multiples of a quarter: exact
    }

    #[test]
    fn long_lists_are_matched_as_fully_as_can_be(
        detections in quarters(30, 60), truths in quarters(30, 60), tolerance in tolerances(),
    ) {
        let pairs = match_events(&detections, &truths, &tolerance).unwrap();
        assert_one_to_one(&pairs);
        prop_assert_eq!(pairs.len(), largest_matching(&detections, &truths, &tolerance));
    }

    /// Decimal times, as people write them, rounded on reading and once more by the sum.
    #[test]
    fn a_hit_exactly_at_the_tolerance_counts(
        event_ms in 0..86_400_000i64,
        width_ms in 1..10_000i64,
        origin in prop::sample::select(vec![0.0, 1e-3, 3600.0, 86_400.0, 1.7e9, -1.7e9]),
    ) {
        let at = |ms: i64| origin + ms as f64 / 1000.0;
        let width = width_ms as f64 / 1000.0;
        let (early, late) = (at(event_ms - width_ms), at(event_ms + width_ms));
        let hits = |detection: f64, tolerance: Tolerance| {
            match_events(&[detection], &[at(event_ms)], &tolerance).unwrap().len()
        };
        prop_assert_eq!(hits(late, Tolerance { before: 0.0, after: width }), 1);
        prop_assert_eq!(hits(early, Tolerance { before: width, after: 0.0 }), 1);
        // Summed once more.
        prop_assert_eq!(hits(at(event_ms) + width, Tolerance { before: 0.0, after: width }), 1);
        // A hundredth of a millisecond beyond is a miss, even in epoch seconds.
        prop_assert_eq!(hits(late + 1e-5, Tolerance { before: 0.0, after: width }), 0);
        prop_assert_eq!(hits(early - 1e-5, Tolerance { before: width, after: 0.0 }), 0);
    }
}
