//! One number for detections at all score thresholds.
//!
//! The curve is the natural one: at each distinct score, keep the detections at or above it, match each
//! session as well as possible, and take precision and recall. The area under its steps, without
//! interpolation, is the average precision.
//!
//! It needs no new matching at each threshold. Taking detections from the surest down, one more detection
//! raises the size of the largest matching by one or not at all, and it does so exactly if there is an
//! augmenting path from it. The size at a threshold does not depend on the order of equal scores, so
//! neither does the area. The usual greedy rule (each detection takes the nearest free event) may call a
//! detection false only because a surer one took its event and left another free. This matching never
//! does, and has at least as many hits at every threshold.
//!
//! Cost per session: O(n log n + events · cells), cells as in the matching, and in practice a few steps
//! per detection. A failed search has reached events that no later search can use: they are owned by
//! detections that reach nothing else, so they stay closed.

use std::ops::Range;

use super::detection::{SessionEvents, check_sessions};
use super::matching::sorted;
use super::ranking::{area, steps};
use super::tolerance::Tolerance;
use crate::{Error, Result};

/// Area under the steps of precision over recall as the score threshold falls, sessions pooled:
///
/// ```text
/// Σ_n (R_n − R_{n−1}) · P_n    over distinct scores, highest first, R_0 = 0
/// ```
///
/// P_n and R_n are those of [`event_metrics`](super::event_metrics) for the detections of score n or
/// more. 0 if there is no true event. Events that no detection reaches count as never found: give
/// detections at a low threshold.
pub fn event_average_precision(
    sessions: &[SessionEvents<'_>],
    tolerance: &Tolerance,
) -> Result<f64> {
    tolerance.check()?;
    check_sessions(sessions)?;
    let scored = sessions.iter().flat_map(|session| credit(session, tolerance)).collect();
    let truths = sessions.iter().map(|session| session.truths.len()).sum();
    Ok(area(&steps(scored), truths))
}

/// Mean of [`event_average_precision`] over a grid of at least one tolerance.
pub fn mean_event_average_precision(
    sessions: &[SessionEvents<'_>],
    tolerances: &[Tolerance],
) -> Result<f64> {
    if tolerances.is_empty() {
        return Err(Error::TooFew { what: "tolerances", found: 0, least: 1 });
    }
    let mut total = 0.0;
    for tolerance in tolerances {
        total += event_average_precision(sessions, tolerance)?;
    }
    Ok(total / tolerances.len() as f64)
}

/// The score of each detection, and whether it enlarges the matching of the surer ones.
fn credit(session: &SessionEvents<'_>, tolerance: &Tolerance) -> Vec<(f64, bool)> {
    let times: Vec<f64> = session.detections.iter().map(|detection| detection.time).collect();
    let (order, times) = sorted(&times);
    let (_, truths) = sorted(session.truths);
    let score = |k: usize| session.detections[order[k]].score;
    let mut surest_first: Vec<usize> = (0..times.len()).collect();
    surest_first.sort_by(|&a, &b| score(b).total_cmp(&score(a)));
    let mut matching = Growing::new(tolerance.windows(&times, &truths), truths.len());
    surest_first.into_iter().map(|k| (score(k), matching.add(k))).collect()
}

/// A largest matching of the detections added so far.
struct Growing {
    windows: Vec<Range<usize>>,
    event_of: Vec<Option<usize>>,
    owner_of: Vec<Option<usize>>,
    /// The detection from which a search reached an event; it stays set after a failed search.
    reached_from: Vec<Option<usize>>,
}

impl Growing {
    fn new(windows: Vec<Range<usize>>, events: usize) -> Self {
        Self {
            event_of: vec![None; windows.len()],
            owner_of: vec![None; events],
            reached_from: vec![None; events],
            windows,
        }
    }

    /// Adds a detection; returns whether the matching grew.
    fn add(&mut self, detection: usize) -> bool {
        let mut reached = Vec::new();
        let mut queue = vec![detection];
        let mut next = 0;
        while next < queue.len() {
            let from = queue[next];
            next += 1;
            for event in self.windows[from].clone() {
                if self.reached_from[event].is_some() {
                    continue;
                }
                self.reached_from[event] = Some(from);
                reached.push(event);
                match self.owner_of[event] {
                    Some(owner) => queue.push(owner),
                    None => {
                        self.hand_over(event);
                        reached.iter().for_each(|&event| self.reached_from[event] = None);
                        return true;
                    }
                }
            }
        }
        false
    }

    /// Gives a free event to the detection that reached it, passes that detection's own event to the one
    /// before, and so on back to the new detection, which had none.
    fn hand_over(&mut self, free: usize) {
        let mut given = Some(free);
        while let Some(event) = given {
            let taker = self.reached_from[event].expect("the search came this way");
            given = self.event_of[taker].replace(event);
            self.owner_of[event] = Some(taker);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::{Detection, event_metrics};
    use crate::math::Random;

    fn area_of(detections: &[(f64, f64)], truths: &[f64], width: f64) -> f64 {
        let detections: Vec<Detection> =
            detections.iter().map(|&(time, score)| Detection::at(time, score)).collect();
        let sessions = [SessionEvents { detections: &detections, truths, observed: 1.0 }];
        event_average_precision(&sessions, &Tolerance::symmetric(width)).unwrap()
    }

    #[test]
    fn areas_by_hand() {
        assert_eq!(area_of(&[(1.0, 0.9), (5.0, 0.8)], &[1.0, 5.0], 0.5), 1.0);
        // A second detection of the same event is a false alarm: ½ · 1 + ½ · ⅔, two roundings.
        let doubled = area_of(&[(1.0, 0.9), (1.1, 0.8), (5.0, 0.7)], &[1.0, 5.0], 0.5);
        assert!((doubled - 5.0 / 6.0).abs() < 1e-15);
        assert_eq!(area_of(&[(1.0, 0.9)], &[1.0, 5.0], 0.5), 0.5);
        assert_eq!(area_of(&[(1.0, 0.9)], &[], 0.5), 0.0);
        assert_eq!(area_of(&[], &[1.0], 0.5), 0.0);
    }

    #[test]
    fn a_surer_detection_makes_room() {
        // 2 is nearest to 2.1, which would leave nothing for 3.
        assert_eq!(area_of(&[(2.0, 0.9), (3.0, 0.8)], &[1.0, 2.1], 1.0), 1.0);
    }

    #[test]
    fn every_point_is_that_of_the_optimal_matching() {
        let mut random = Random::new(7);
        for _ in 0..300 {
            // Coarse grids make ties in time and in score.
            let mut place = || random.below(24) as f64 / 4.0;
            let truths: Vec<f64> = (0..8).map(|_| place()).collect();
            let detections: Vec<Detection> =
                (0..14).map(|_| Detection::at(place(), (place() * 4.0).rem_euclid(5.0))).collect();
            let tolerance = Tolerance { before: 0.25, after: 0.5 };
            let session = SessionEvents { detections: &detections, truths: &truths, observed: 1.0 };
            for step in steps(credit(&session, &tolerance)) {
                let kept: Vec<Detection> =
                    detections.iter().copied().filter(|d| d.score >= step.threshold).collect();
                let session = SessionEvents { detections: &kept, ..session };
                let want = event_metrics(&[session], &tolerance, 1.0).unwrap();
                assert_eq!((step.hits, step.false_alarms), (want.hits, want.false_alarms));
            }
        }
    }

    #[test]
    fn a_grid_needs_a_tolerance() {
        let message = mean_event_average_precision(&[], &[]).unwrap_err().to_string();
        assert_eq!(message, "0 tolerances, expected at least 1");
    }
}
