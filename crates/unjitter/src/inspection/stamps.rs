//! Too few stamps, too many, or double presses.

use super::finding::Finding;
use super::view::View;
use super::{pairs, rounding};
use crate::math::quantile;

/// With fewer, the annotator's spread and rates are little more than their priors.
const FEW: usize = 20;
/// Stamps closer than this share of the usual spacing of instances cannot belong to two events.
const CLOSE: f64 = 0.25;
/// Double presses are this many times as common as gaps of once to twice the length, which chance makes
/// equally common; they are also at least `LEAST_DOUBLES`, and at least this share of the stamps.
const EXCESS: usize = 4;
const LEAST_DOUBLES: usize = 8;
const SHARE: f64 = 0.05;
/// Beyond this share of the gap between stamps, their order is a guess.
const WIDE: f64 = 0.75;
/// Standard deviation of a normal variable over its median absolute deviation.
const DEVIATION: f64 = 1.4826;

pub(super) fn check(view: &View<'_>, has_table: bool) -> Vec<Finding> {
    let (stamps, features) = (view.stamps(), view.features.len());
    if !has_table {
        return vec![Finding::NoEventsTable];
    }
    if stamps == 0 {
        return vec![Finding::NoStamps];
    }
    let mut findings = Vec::new();
    if stamps < FEW {
        findings.push(Finding::FewStamps { stamps });
    } else if stamps < features {
        findings.push(Finding::FewerThanFeatures { stamps, features });
    }
    let sessions = view
        .names(|session| session.streams.values().any(|stamps| stamps.len() > session.times.len()));
    if !sessions.is_empty() {
        findings.push(Finding::MoreThanInstances { sessions });
    }
    findings.extend(unstamped(view));
    let same = view.stamp_gaps().partition_point(|&gap| gap <= 0.0);
    // Rounding brings stamps together.
    if same > 0 && !view.are_between() {
        findings.push(Finding::SameTime { stamps: same, of: stamps });
    }
    findings
}

/// Findings that need stamps on the right clock.
pub(super) fn beside_instances(view: &View<'_>) -> Vec<Finding> {
    too_close(view).into_iter().chain(rounding::check(view)).chain(wide(view)).collect()
}

/// Stamps too close together to belong to one event each.
pub(super) fn too_close(view: &View<'_>) -> Option<Finding> {
    double_presses(view).or_else(|| pairs::check(view))
}

/// Sessions without stamps, except those whose labels have no positive.
fn unstamped(view: &View<'_>) -> Option<Finding> {
    let is_positive = |labels: &[Option<bool>]| labels.contains(&Some(true));
    let is_negative = |labels: &[Option<bool>]| labels.iter().all(|&label| label == Some(false));
    let without = |session: &&super::view::Stamped<'_>| {
        session.stamps.is_empty() && !is_negative(&session.labels)
    };
    let positive = view.sessions.iter().filter(without);
    let positive = positive.filter(|session| is_positive(&session.labels)).count();
    let sessions = view.names(|session| without(&session));
    let of = view.sessions.len();
    (!sessions.is_empty()).then_some(Finding::Unstamped { sessions, of, positive })
}

fn double_presses(view: &View<'_>) -> Option<Finding> {
    let gaps = view.stamp_gaps();
    let within = CLOSE * view.spacing;
    let same = gaps.partition_point(|&gap| gap <= 0.0);
    let close = gaps[same..].partition_point(|&gap| gap < within);
    let next = gaps[same + close..].partition_point(|&gap| gap < 2.0 * within);
    let least = (SHARE * view.stamps() as f64).max(LEAST_DOUBLES as f64);
    let is_excess = close as f64 >= least && close > EXCESS * next;
    is_excess.then(|| Finding::DoublePresses { stamps: close, of: view.stamps(), within })
}

/// Whether stamps scatter about positives as widely as they follow each other.
fn wide(view: &View<'_>) -> Option<Finding> {
    let delays = view.delays(super::view::Stamped::positives);
    let gaps = view.stamp_gaps();
    // Gaps of double presses are not gaps between events.
    let gaps = &gaps[gaps.partition_point(|&gap| gap < CLOSE * view.spacing)..];
    if delays.len() < FEW || gaps.len() < FEW {
        return None;
    }
    let middle = quantile(&delays, 0.5);
    let mut distances: Vec<f64> = delays.iter().map(|delay| (delay - middle).abs()).collect();
    distances.sort_by(f64::total_cmp);
    let (spread, gap) = (DEVIATION * quantile(&distances, 0.5), quantile(gaps, 0.5));
    (spread > WIDE * gap).then_some(Finding::WideBesideGap { spread, gap })
}
