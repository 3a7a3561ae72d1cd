//! Detected against true bouts: how much of both is the same stretch of time.
//!
//! Three questions, of which none answers the others (`docs/model.md`). How many bouts were found, each once: a detection
//! is credited with a bout if what both cover is at least a share of what either covers. How much of the found is there,
//! in any number of pieces: the criteria of PSDS, by which a detection counts if enough of it lies in true bouts, and a
//! bout is found if such detections cover enough of it. And in how many stretches of a fixed length there is something.
//!
//! Bouts of one list do not overlap, so that those which meet are a path through both lists: the first pair that may be
//! credited shares a bout with at most one pair of any best matching, and taking it loses nothing. All three are linear
//! in the number of bouts, after a sort.

use std::cmp::Ordering;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::events::Detection;
use super::matching::Pair;
use super::rounding::slack;
use super::scores::Scores;
use crate::error::require;
use crate::{Error, Result};

/// Stretches of a session whose numbers are exact.
const MOST_STRETCHES: f64 = (1u64 << 53) as f64;

/// A stretch of time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Bout {
    /// When it begins, in the unit of time.
    pub start: f64,
    /// When it ends: not before it begins.
    pub end: f64,
}

/// Runs of instances in order of time as bouts: a last instance lasts for `spacing`, as long as instances usually are
/// apart, but not beyond the next run.
pub fn lasting(runs: &[Detection], spacing: f64) -> Vec<Bout> {
    let until = |k: usize| runs.get(k + 1).map_or(f64::INFINITY, |next| next.time);
    let bout = |(k, run): (usize, &Detection)| Bout {
        start: run.time,
        end: (run.end + spacing).min(until(k)),
    };
    runs.iter().enumerate().map(bout).collect()
}

/// What counts.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BoutOptions {
    /// Least share that a detection and a bout must have in common of what they cover together, above 0.
    pub overlap: f64,
    /// Least share of a detection that must lie in true bouts.
    pub detection: f64,
    /// Least share of a true bout that such detections must cover.
    pub truth: f64,
    /// Length of a stretch, in the unit of time, counted from the beginning of the session.
    pub stretch: f64,
}

impl Default for BoutOptions {
    /// Half in common, seven tenths of either, stretches of one unit.
    fn default() -> Self {
        Self { overlap: 0.5, detection: 0.7, truth: 0.7, stretch: 1.0 }
    }
}

impl BoutOptions {
    fn check(&self) -> Result<()> {
        let shares =
            [("overlap", self.overlap), ("detection", self.detection), ("truth", self.truth)];
        for (name, share) in shares {
            require(name, share, share > 0.0 && share <= 1.0, "a share above 0, at most 1")?;
        }
        require("stretch", self.stretch, self.stretch > 0.0, "a time above 0")
    }
}

/// Bouts of one session, in any order.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SessionBouts<'a> {
    /// Those detected.
    pub detections: &'a [Bout],
    /// The true ones.
    pub truths: &'a [Bout],
    /// When the session begins.
    pub begins: f64,
}

/// How well bouts were found, over sessions.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct BoutMetrics {
    /// True bouts.
    pub bouts: usize,
    /// Detected ones.
    pub detections: usize,
    /// Of bouts, each credited once for a detection that has enough in common with it.
    pub overlap: Scores,
    /// Mean absolute error of the beginning, and of the end, of those; none without any.
    pub errors: Option<(f64, f64)>,
    /// Of bouts that are covered enough, and detections that lie in them enough.
    pub intersection: Scores,
    /// Of stretches in which there is something.
    pub stretches: Scores,
    /// Stretches that were missed or wrong, for each in which there is something; none if there is nothing anywhere.
    pub error_rate: Option<f64>,
}

/// Matches detected with true bouts that have at least this share in common of what they cover together: as many pairs as
/// possible, by position in the slices given, in order of time.
pub fn match_bouts(detections: &[Bout], truths: &[Bout], overlap: f64) -> Result<Vec<Pair>> {
    BoutOptions { overlap, ..BoutOptions::default() }.check()?;
    let detected = in_order("detected bout", detections)?;
    let present = in_order("true bout", truths)?;
    let (mut pairs, mut i, mut j) = (Vec::new(), 0, 0);
    while let (Some(&detection), Some(&truth)) = (detected.get(i), present.get(j)) {
        let (found, bout) = (detections[detection], truths[truth]);
        if is_shared(found, bout, overlap) {
            pairs.push(Pair { detection, truth });
            (i, j) = (i + 1, j + 1);
        } else if found.end <= bout.end {
            i += 1;
        } else {
            j += 1;
        }
    }
    Ok(pairs)
}

/// How well bouts were found. Each session is matched by itself, and counts are pooled.
pub fn bout_metrics(sessions: &[SessionBouts<'_>], options: &BoutOptions) -> Result<BoutMetrics> {
    options.check()?;
    if sessions.is_empty() {
        return Err(Error::NoSessions);
    }
    let (mut hits, mut detected, mut present, mut errors) = (0, 0, 0, (0.0, 0.0));
    let (mut covered, mut right) = (0, 0);
    let mut stretches = Stretches::default();
    for session in sessions {
        let SessionBouts { detections, truths, begins } = *session;
        require("begins", begins, true, "a finite time")?;
        for Pair { detection, truth } in match_bouts(detections, truths, options.overlap)? {
            let (found, bout) = (detections[detection], truths[truth]);
            hits += 1;
            errors.0 += (found.start - bout.start).abs();
            errors.1 += (found.end - bout.end).abs();
        }
        let bouts = detections.iter().chain(truths).flat_map(|own| [own.start, own.end]);
        let most = bouts.map(|time| (time - begins).abs() / options.stretch).fold(0.0, f64::max);
        let expected = "a time of which a session has 2^53 at most";
        require("stretch", options.stretch, most <= MOST_STRETCHES, expected)?;
        let (own_covered, own_right) = intersections(detections, truths, options);
        (covered, right) = (covered + own_covered, right + own_right);
        (detected, present) = (detected + detections.len(), present + truths.len());
        stretches.add(session, options.stretch);
    }
    let Stretches { both, found, missed } = stretches;
    let something = both + missed;
    Ok(BoutMetrics {
        bouts: present,
        detections: detected,
        overlap: Scores::from_counts(hits, detected - hits, present - hits),
        errors: (hits > 0).then(|| (errors.0 / hits as f64, errors.1 / hits as f64)),
        intersection: Scores::from_counts(covered, detected - right, present - covered),
        stretches: Scores::from_counts(both, found, missed),
        error_rate: (something > 0).then(|| (found + missed) as f64 / something as f64),
    })
}

/// Positions in order of time; an error if bouts overlap, or one is none.
fn in_order(what: &'static str, bouts: &[Bout]) -> Result<Vec<usize>> {
    let wrong =
        |index: usize, value: f64, expected| Err(Error::BadInput { what, index, value, expected });
    for (index, &Bout { start, end }) in bouts.iter().enumerate() {
        if !start.is_finite() {
            return wrong(index, start, "a finite beginning");
        }
        if !(end.is_finite() && end >= start) {
            return wrong(index, end, "a finite end, not before the beginning");
        }
    }
    let mut order: Vec<usize> = (0..bouts.len()).collect();
    order.sort_by(|&a, &b| by_time(&bouts[a], &bouts[b]));
    let limit = slack(bouts.iter().flat_map(|own| [own.start, own.end]));
    let overlaps = |pair: &&[usize]| bouts[pair[1]].start < bouts[pair[0]].end - limit;
    match order.windows(2).find(overlaps) {
        Some(pair) => {
            wrong(pair[1], bouts[pair[1]].start, "a beginning after the end of all bouts before")
        }
        None => Ok(order),
    }
}

/// The order of bouts that do not overlap: one that lasts no time may be where another begins, and comes before it.
fn by_time(a: &Bout, b: &Bout) -> Ordering {
    a.start.total_cmp(&b.start).then(a.end.total_cmp(&b.end))
}

/// Whether two bouts have at least this share in common of what they cover together.
fn is_shared(a: Bout, b: Bout, share: f64) -> bool {
    let both = common(a, b);
    let either = a.end.max(b.end) - a.start.min(b.start);
    a == b || both >= share * either - slack([a.start, a.end, b.start, b.end]) && both > 0.0
}

/// How long two bouts have in common.
fn common(a: Bout, b: Bout) -> f64 {
    (a.end.min(b.end) - a.start.max(b.start)).max(0.0)
}

/// How much of a bout lies in others.
fn covered_by(bout: Bout, others: impl Iterator<Item = Bout>) -> f64 {
    others.map(|other| common(bout, other)).sum()
}

/// Bouts that are covered enough, and detections that lie in bouts enough.
fn intersections(detections: &[Bout], truths: &[Bout], options: &BoutOptions) -> (usize, usize) {
    let is_enough = |bout: &Bout, inside: f64, share: f64| {
        inside >= share * (bout.end - bout.start) - slack([bout.start, bout.end]) && inside > 0.0
    };
    let mut truths = truths.to_vec();
    truths.sort_by(by_time);
    let is_right =
        |own: &&Bout| is_enough(own, covered_by(**own, near(&truths, **own)), options.detection);
    let mut right: Vec<Bout> = detections.iter().filter(is_right).copied().collect();
    right.sort_by(by_time);
    let is_covered =
        |own: &&Bout| is_enough(own, covered_by(**own, near(&right, **own)), options.truth);
    (truths.iter().filter(is_covered).count(), right.len())
}

/// Those of sorted bouts that may have something in common with another.
fn near(bouts: &[Bout], other: Bout) -> impl Iterator<Item = Bout> {
    let first = bouts.partition_point(|own| own.end <= other.start);
    bouts[first..].iter().take_while(move |own| own.start < other.end).copied()
}

/// Stretches of time: with something that was found, with something found where there is nothing, and with something
/// that was missed.
#[derive(Debug, Default)]
struct Stretches {
    both: usize,
    found: usize,
    missed: usize,
}

impl Stretches {
    fn add(&mut self, session: &SessionBouts<'_>, length: f64) {
        let detections = touched(session.detections, session.begins, length);
        let truths = touched(session.truths, session.begins, length);
        let all = |own: &[Range<i64>]| own.iter().map(count).sum::<usize>();
        let (mut both, mut i, mut j) = (0, 0, 0);
        while let (Some(a), Some(b)) = (detections.get(i), truths.get(j)) {
            both += count(&(a.start.max(b.start)..a.end.min(b.end)));
            if a.end <= b.end { i += 1 } else { j += 1 }
        }
        self.both += both;
        self.found += all(&detections) - both;
        self.missed += all(&truths) - both;
    }
}

/// How many stretches there are in a row.
fn count(own: &Range<i64>) -> usize {
    (own.end - own.start).max(0) as usize
}

/// The numbers of the stretches that bouts reach into, in order, each once.
fn touched(bouts: &[Bout], begins: f64, length: f64) -> Vec<Range<i64>> {
    let mut bouts = bouts.to_vec();
    bouts.sort_by(by_time);
    let mut all: Vec<Range<i64>> = Vec::with_capacity(bouts.len());
    for Bout { start, end } in bouts {
        let rounding = slack([start, end, begins]) / length;
        let first = ((start - begins) / length + rounding).floor() as i64;
        let last = ((end - begins) / length - rounding).ceil() as i64;
        let first = all.last().map_or(first, |before| first.max(before.end));
        all.push(first..last.max(first));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bouts(ends: &[(f64, f64)]) -> Vec<Bout> {
        ends.iter().map(|&(start, end)| Bout { start, end }).collect()
    }

    fn metrics(detections: &[Bout], truths: &[Bout], stretch: f64) -> Result<BoutMetrics> {
        let options = BoutOptions { stretch, ..BoutOptions::default() };
        bout_metrics(&[SessionBouts { detections, truths, begins: 0.0 }], &options)
    }

    #[test]
    fn the_order_of_a_list_does_not_matter() {
        // One that lasts no time is where another begins.
        let own = bouts(&[(1.0, 3.0), (1.0, 1.0), (3.0, 3.0), (5.0, 6.0)]);
        let truths = bouts(&[(1.0, 3.0), (5.0, 6.0)]);
        let want = metrics(&own, &truths, 1.0).unwrap();
        assert_eq!((want.overlap.recall, want.detections), (1.0, 4));
        for order in [[1, 0, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1]] {
            let shuffled: Vec<Bout> = order.iter().map(|&k| own[k]).collect();
            assert_eq!(metrics(&shuffled, &truths, 1.0).unwrap(), want, "{order:?}");
            let pairs = match_bouts(&shuffled, &truths, 0.5).unwrap();
            let times: Vec<f64> = pairs.iter().map(|own| shuffled[own.detection].end).collect();
            assert_eq!(times, [3.0, 6.0]);
        }
    }

    #[test]
    fn stretches_that_cannot_be_counted_are_refused() {
        let own = bouts(&[(1.0, 3.0), (5.0, 6.0)]);
        for stretch in [1e-16, 1e-300, 5e-324] {
            match metrics(&own, &own, stretch) {
                Err(Error::OutOfRange { name, value, .. }) => {
                    assert_eq!((name.as_str(), value), ("stretch", stretch));
                }
                other => panic!("{other:?}"),
            }
        }
        let found = metrics(&own, &own, 1e-15).unwrap();
        assert_eq!(found.error_rate, Some(0.0));
    }
}
