//! One-to-one matching of detections and events: as many pairs as possible, as near as possible.
//!
//! A pair is allowed if the detection lies in the tolerance window of the event. Among all
//! one-to-one matchings we want one with the most pairs, and among those one with the smallest
//! total |d − e|.
//!
//! **Matchings without crossings suffice.** Take detections d ≤ d′ and events e ≤ e′, paired
//! crosswise (d with e′, d′ with e). Both straight differences lie between the crossed ones,
//!
//! ```text
//! d − e′  ≤  d − e, d′ − e′  ≤  d′ − e
//! ```
//!
//! so the straight pairs are allowed whenever the crossed ones are; and because |·| is convex,
//!
//! ```text
//! |d − e| + |d′ − e′|  ≤  |d − e′| + |d′ − e|
//! ```
//!
//! Uncrossing keeps the number of pairs, never adds error, and strictly lowers the number of
//! crossings; so some best matching has none.
//!
//! The recursion of sequence alignment over the two sorted lists finds such matchings. A detection reaches only
//! the events of its window, and the windows move forward, so a row of the recursion is as wide as one window:
//! time O(n log n + cells) and one byte of memory per cell, where the cells are the summed window sizes.

use std::ops::Range;

use super::events::check_times;
use super::tolerance::Tolerance;
use crate::Result;

/// A detection and the event that it is credited with, as positions in the slices given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pair {
    /// Position of the detection.
    pub detection: usize,
    /// Position of the true event.
    pub truth: usize,
}

/// Matches detections with true events, in order of time: as many pairs as possible, and among those
/// matchings one of least total |d − e| (up to the rounding of that sum).
///
/// No detection and no event is used twice. Among equally good matchings the choice is fixed,
/// towards earlier events and detections. Both lists may come in any order.
pub fn match_events(
    detections: &[f64],
    truths: &[f64],
    tolerance: &Tolerance,
) -> Result<Vec<Pair>> {
    tolerance.check()?;
    check_times("detection", detections)?;
    check_times("true event", truths)?;
    let (detection_order, detections) = sorted(detections);
    let (truth_order, truths) = sorted(truths);
    let windows = tolerance.windows(&detections, &truths);
    let pair =
        |(i, j): (usize, usize)| Pair { detection: detection_order[i], truth: truth_order[j] };
    Ok(trace(&windows, &decide(&detections, &truths, &windows)).into_iter().map(pair).collect())
}

/// Positions in order of time, and the times in that order.
pub(super) fn sorted(times: &[f64]) -> (Vec<usize>, Vec<f64>) {
    let mut order: Vec<usize> = (0..times.len()).collect();
    order.sort_by(|&a, &b| times[a].total_cmp(&times[b]));
    let times = order.iter().map(|&k| times[k]).collect();
    (order, times)
}

/// What the best matching of the first detections and events does with the last of each.
#[derive(Debug, Clone, Copy)]
enum Choice {
    LeaveTruth,
    LeaveDetection,
    Pair,
}

/// How good a matching is.
#[derive(Debug, Clone, Copy)]
struct Worth {
    pairs: usize,
    error: f64,
}

impl Worth {
    fn with_pair(self, error: f64) -> Self {
        Self { pairs: self.pairs + 1, error: self.error + error }
    }

    fn beats(self, other: Self) -> bool {
        self.pairs > other.pairs || (self.pairs == other.pairs && self.error < other.error)
    }
}

/// best(i, j), the best over the first i detections and the first j events, for the j that matter to
/// detection i and later ones: from the start of its window to its end.
struct Row {
    start: usize,
    best: Vec<Worth>,
}

impl Row {
    /// Beyond the window the value is constant: no detection so far reaches there.
    fn best(&self, events: usize) -> Worth {
        self.best[(events - self.start).min(self.best.len() - 1)]
    }
}

/// The choice in every cell, window by window.
///
/// ```text
/// best(i, j) = max { best(i, j−1), best(i−1, j), best(i−1, j−1) + pair(i, j) }
/// ```
fn decide(detections: &[f64], truths: &[f64], windows: &[Range<usize>]) -> Vec<Vec<Choice>> {
    let mut above = Row { start: 0, best: vec![Worth { pairs: 0, error: 0.0 }] };
    let mut choices = Vec::with_capacity(detections.len());
    for (detection, window) in detections.iter().zip(windows) {
        let mut here = above.best(window.start);
        let mut row = Row { start: window.start, best: vec![here] };
        let decide_cell = |j: usize| {
            let mut choice = Choice::LeaveTruth;
            let left = above.best(j + 1);
            if left.beats(here) {
                (choice, here) = (Choice::LeaveDetection, left);
            }
            let paired = above.best(j).with_pair((detection - truths[j]).abs());
            if paired.beats(here) {
                (choice, here) = (Choice::Pair, paired);
            }
            row.best.push(here);
            choice
        };
        choices.push(window.clone().map(decide_cell).collect());
        above = row;
    }
    choices
}

/// Follows the choices back from the last detection and event; pairs in order of time.
fn trace(windows: &[Range<usize>], choices: &[Vec<Choice>]) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    let mut events = windows.last().map_or(0, |window| window.end);
    for (i, (window, choices)) in windows.iter().zip(choices).enumerate().rev() {
        events = events.min(window.end);
        while events > window.start {
            match choices[events - 1 - window.start] {
                Choice::LeaveTruth => events -= 1,
                Choice::LeaveDetection => break,
                Choice::Pair => {
                    events -= 1;
                    pairs.push((i, events));
                    break;
                }
            }
        }
    }
    pairs.reverse();
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matched(detections: &[f64], truths: &[f64], width: f64) -> Vec<(usize, usize)> {
        let pairs = match_events(detections, truths, &Tolerance::symmetric(width)).unwrap();
        pairs.iter().map(|pair| (pair.detection, pair.truth)).collect()
    }

    #[test]
    fn number_comes_before_nearness() {
        // 2 is nearest to 2.1, but taking it would leave 3 alone.
        assert_eq!(matched(&[2.0, 3.0], &[1.0, 2.1], 1.0), [(0, 0), (1, 1)]);
        // Both could take the event; the nearer does.
        assert_eq!(matched(&[1.0, 2.0, 3.5], &[2.25], 1.5), [(1, 0)]);
    }

    #[test]
    fn ties_go_to_the_earlier() {
        assert_eq!(matched(&[10.0], &[9.0, 11.0], 1.0), [(0, 0)]);
        assert_eq!(matched(&[9.0, 11.0], &[10.0], 1.0), [(0, 0)]);
        assert_eq!(matched(&[5.0, 5.0], &[5.0], 1.0), [(0, 0)]);
    }

    #[test]
    fn positions_are_those_of_the_slices_given() {
        assert_eq!(matched(&[8.0, 1.0], &[1.5, 8.5, 4.0], 1.0), [(1, 0), (0, 1)]);
    }

    #[test]
    fn empty_lists_match_nothing() {
        assert_eq!(matched(&[], &[1.0], 1.0), []);
        assert_eq!(matched(&[1.0], &[], 1.0), []);
        assert_eq!(matched(&[1.0], &[3.0], 1.0), []);
    }

    #[test]
    fn bad_times_are_named() {
        let tolerance = Tolerance::symmetric(1.0);
        let message =
            |d: &[f64], e: &[f64]| match_events(d, e, &tolerance).unwrap_err().to_string();
        assert_eq!(message(&[0.0, f64::NAN], &[]), "detection 1 is NaN, expected a finite time");
        assert_eq!(message(&[], &[f64::INFINITY]), "true event 0 is inf, expected a finite time");
    }
}
