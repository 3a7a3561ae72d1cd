//! Scores ranked from the highest down, equal scores in one step.
//!
//! No threshold can separate equal scores, so a curve has no point between them; taking them one at a
//! time would make the result depend on the order of the input.

use super::scores::share;

/// How many true and false entries have a score at or above a threshold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Step {
    pub(super) threshold: f64,
    pub(super) hits: usize,
    pub(super) false_alarms: usize,
}

/// One step for each distinct score, highest first. Scores are not NaN. O(n log n).
pub(super) fn steps(mut scored: Vec<(f64, bool)>) -> Vec<Step> {
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    let (mut hits, mut false_alarms) = (0, 0);
    let mut steps = Vec::new();
    // Grouped by `==`, for which 0 and −0 are one score.
    for equal in scored.chunk_by(|a, b| a.0 == b.0) {
        let positive = equal.iter().filter(|entry| entry.1).count();
        hits += positive;
        false_alarms += equal.len() - positive;
        steps.push(Step { threshold: equal[0].0, hits, false_alarms });
    }
    steps
}

/// Area under the steps of precision over recall, given the number of `positives`; 0 if there are none.
///
/// ```text
/// Σ_n (R_n − R_{n−1}) · P_n,    R_0 = 0
/// ```
pub(super) fn area(steps: &[Step], positives: usize) -> f64 {
    let (mut area, mut before) = (0.0, 0);
    for step in steps {
        let precision = share(step.hits, step.hits + step.false_alarms);
        area += share(step.hits - before, positives) * precision;
        before = step.hits;
    }
    area
}
