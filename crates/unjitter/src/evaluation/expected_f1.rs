//! The threshold with the best expected F1, which needs no labels.
//!
//! Labels are uncertain: each is positive with a probability q, given the stamps. A threshold on the
//! detector's scores finds k instances, and its expected F1 is taken as the ratio of expectations
//! (Lewis 1995, *Evaluating and optimizing autonomous text classification systems*):
//!
//! ```text
//! E[2·hits / (k + positives)] ≈ 2·Σ_{found} q / (k + Σ q)
//! ```
//!
//! It is exact for labels that are certain. Against enumeration of up to ten independent labels it is off
//! by at most 3 − 2√2 = 0.172, which a single instance reaches, and less the more positives there are. The
//! threshold is affected less: it loses 0.001 of the expected F1 on average, and 0.08 in the worst case
//! that a search found, one certain instance and some with q about 0.35. O(n log n) for n instances.
//!
//! The probabilities are those given the stamps and not the detector's own. A strong prior on its weights
//! shrinks the detector's own towards the mean, where the best threshold by them alone finds nearly
//! everything; the stamps still tell how its ranking does.

use crate::{AlignOptions, Control, Fitted, Result, Session};

/// The threshold with the best expected F1 of a fitted model on sessions, usually those of its training;
/// instances at or above it are positive. It is 0.5 if no instance can be positive.
pub fn expected_f1_threshold(
    fitted: &Fitted,
    sessions: &[Session],
    control: Control<'_>,
) -> Result<f64> {
    let mut scored = Vec::new();
    for (k, session) in sessions.iter().enumerate() {
        control.stop_if_requested()?;
        let aligned =
            fitted.align_with(session, &AlignOptions { draws: 0, ..AlignOptions::default() })?;
        scored.extend(aligned.instances.iter().map(|one| (one.p_detector, one.p_positive)));
        control.tell(k + 1, sessions.len(), None);
    }
    Ok(best_threshold(scored))
}

/// The threshold with the best expected F1 for scores, each with the probability that its label is
/// positive; of equals the highest, and 0.5 if all probabilities are zero.
pub(super) fn best_threshold(mut scored: Vec<(f64, f64)>) -> f64 {
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    let positives: f64 = scored.iter().map(|(_, probability)| probability).sum();
    let (mut best_f1, mut threshold, mut hits) = (0.0, 0.5, 0.0);
    for (k, &(score, probability)) in scored.iter().enumerate() {
        hits += probability;
        let next = scored.get(k + 1).map_or(0.0, |next| next.0);
        // Equal scores fall on the same side.
        if k + 1 < scored.len() && next == score {
            continue;
        }
        let f1 = 2.0 * hits / ((k + 1) as f64 + positives);
        if f1 > best_f1 {
            (best_f1, threshold) = (f1, between(next, score));
        }
    }
    threshold
}

/// The expected F1 of a threshold for scores, each with the probability that its label is positive; 0 if
/// nothing is found.
pub(crate) fn expected_f1(scored: impl Iterator<Item = (f64, f64)>, threshold: f64) -> f64 {
    let (mut hits, mut found, mut positives) = (0.0, 0.0, 0.0);
    for (score, probability) in scored {
        positives += probability;
        if score >= threshold {
            (hits, found) = (hits + probability, found + 1.0);
        }
    }
    if hits > 0.0 { 2.0 * hits / (found + positives) } else { 0.0 }
}

/// Half way from `below`, which is excluded, to `score`, so that rounding of scores has no effect.
fn between(below: f64, score: f64) -> f64 {
    let middle = 0.5 * (below + score);
    // Of neighbouring numbers the middle may be rounded to the lower one.
    if middle > below { middle } else { score }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Random;

    /// The expected F1 of a threshold: as the ratio of expectations, and over all 2ⁿ labels.
    fn both_f1(scored: &[(f64, f64)], threshold: f64) -> (f64, f64) {
        let found: Vec<bool> = scored.iter().map(|(score, _)| *score >= threshold).collect();
        let k = found.iter().filter(|found| **found).count() as f64;
        let of = |labels: usize, i: usize| labels >> i & 1 == 1;
        let mut exact = 0.0;
        for labels in 0..1 << scored.len() {
            let (mut weight, mut hits, mut positives) = (1.0, 0.0, 0.0);
            for (i, &(_, probability)) in scored.iter().enumerate() {
                weight *= if of(labels, i) { probability } else { 1.0 - probability };
                positives += f64::from(u8::from(of(labels, i)));
                hits += f64::from(u8::from(of(labels, i) && found[i]));
            }
            // Nothing found and nothing to find is no hit either.
            exact += if hits > 0.0 { weight * 2.0 * hits / (k + positives) } else { 0.0 };
        }
        (expected_f1(scored.iter().copied(), threshold), exact)
    }

    /// Scores with ties that rank labels roughly: rare ones, certain ones, or any.
    fn draw(random: &mut Random, n: usize) -> Vec<(f64, f64)> {
        let power = 3.0 * random.uniform();
        let mut one = || {
            let probability = match random.uniform() {
                u if u < 0.1 => (10.0 * u).round(),
                u => u.powf(power),
            };
            let score = 0.7 * probability + 0.3 * random.uniform();
            ((8.0 * score).round() / 8.0, probability)
        };
        (0..n).map(|_| one()).collect()
    }

    #[test]
    fn no_threshold_has_a_better_ratio_of_expectations() {
        let mut random = Random::new(1);
        for n in (1..=6).cycle().take(600) {
            let scored = draw(&mut random, n);
            let chosen = both_f1(&scored, best_threshold(scored.clone())).0;
            for (score, _) in &scored {
                let other = both_f1(&scored, *score).0;
                // Rounding of sums in different orders.
                assert!(chosen >= other - 1e-15, "{scored:?}: {chosen} but {other} at {score}");
            }
        }
    }

    #[test]
    fn the_ratio_of_expectations_is_near_the_expected_f1() {
        let mut random = Random::new(2);
        let (mut loss, mut cases) = (0.0, 0.0);
        for n in (1..=10).cycle().take(1000) {
            let scored = draw(&mut random, n);
            let exact = scored.iter().map(|(score, _)| {
                let (plugged_in, exact) = both_f1(&scored, *score);
                // The supremum for one instance, of 2q/(1 + q) − q, plus rounding.
                let most = 3.0 - 2.0 * 2f64.sqrt() + 1e-12;
                assert!((plugged_in - exact).abs() <= most, "{scored:?} at {score}");
                exact
            });
            let best = exact.fold(0.0, f64::max);
            let lost = best - both_f1(&scored, best_threshold(scored.clone())).1;
            // The worst case that a search found.
            assert!(lost < 0.08, "{scored:?} loses {lost}");
            (loss, cases) = (loss + lost, cases + 1.0);
        }
        // 0.001 when this was written, for any seed.
        assert!(loss / cases < 0.0015, "{} on average", loss / cases);
    }

    #[test]
    fn certain_labels_give_the_exact_f1() {
        let scored = [(0.9, 1.0), (0.6, 0.0), (0.5, 1.0), (0.1, 0.0), (0.1, 1.0)];
        for (score, _) in scored {
            let (plugged_in, exact) = both_f1(&scored, score);
            // One rounding.
            assert!((plugged_in - exact).abs() < 1e-15);
        }
        assert_eq!(best_threshold(scored.to_vec()), 0.05);
        assert_eq!(best_threshold(scored[..4].to_vec()), 0.3);
    }

    #[test]
    fn edges_have_a_threshold_too() {
        assert_eq!(best_threshold(Vec::new()), 0.5);
        assert_eq!(best_threshold(vec![(0.2, 0.0), (0.7, 0.0)]), 0.5);
        assert_eq!(best_threshold(vec![(0.0, 1.0)]), 0.0);
        assert_eq!(best_threshold(vec![(0.4, 1.0); 3]), 0.2);
        // Neighbouring numbers, whose middle is rounded to the even one of them, can be separated.
        for low in [0.3f64, 0.3f64.next_up()] {
            let high = low.next_up();
            assert_eq!(best_threshold(vec![(low, 0.0), (high, 1.0)]), high);
        }
    }
}
