//! Times in the wrong unit.
//!
//! Checks use the numbers as written. Dates have no unit and are skipped.

use super::finding::Finding;
use super::view::{Stamped, View};
use crate::io::TimeUnit;
use crate::math::median;

/// Units differ by thousands, or by sixty.
const FACTORS: [f64; 8] = [1e-3, 1e3, 1e-6, 1e6, 1e-9, 1e9, 60.0, 1.0 / 60.0];
/// Fewer stamps may lie anywhere by chance; fewer than the second, in a small part of their sessions.
const LEAST_STAMPS: usize = 5;
const LEAST_SQUEEZED: usize = 10;
/// Stamps that cover less of their sessions than this may be squeezed by a unit too large.
const SQUEEZED: f64 = 0.03;
/// In the right unit, stamps cover at least this much of their sessions: a wrong one can also move them
/// all to one point inside.
const REACH: f64 = 0.1;
/// The same without other evidence, since people may press at the beginning only.
const REACH_SQUEEZED: f64 = 0.5;
/// Stamps with gaps below this share of the usual spacing of instances cannot belong to one event each.
const TOO_FAST: f64 = 0.5;
/// Share of stamps that the right unit moves inside; the rest are slips.
const MOST: f64 = 0.95;
/// How far outside its session a stamp still counts as inside, as a share of the session.
const MARGIN: f64 = 0.05;
/// Seconds since 1970 in the years 2000 and 2100, between which recordings are made.
const CALENDAR: std::ops::Range<f64> = 9.4e8..4.1e9;
/// Instances are beats, breaths, steps or windows. From this many seconds apart, they are rare.
const RARE_SPACING: f64 = 100.0;
/// From this many on (three hours), they are hardly instances of anything.
pub(super) const ABSURD_SPACING: f64 = 1e4;

/// How well stamps fit their sessions.
struct Fit {
    stamps: usize,
    /// Share of stamps inside.
    inside: f64,
    /// Share of their sessions that they cover.
    reach: f64,
}

/// Whether events and instances are in different units.
pub(super) fn between_tables(view: &View<'_>) -> Vec<Finding> {
    let Some(as_is) = fit(view, 1.0) else { return Vec::new() };
    let is_inside = as_is.inside >= 0.5;
    if is_inside && (as_is.reach >= SQUEEZED || as_is.stamps < LEAST_SQUEEZED) {
        return Vec::new();
    }
    let doubtless = !is_inside || are_too_fast(view);
    let reach = if doubtless { REACH } else { REACH_SQUEEZED };
    let fits = |factor: &f64| {
        fit(view, *factor).is_some_and(|fit| fit.inside >= MOST && fit.reach >= reach)
    };
    let factor = FACTORS.into_iter().find(fits);
    factor.map(|factor| Finding::UnitMismatch { factor, doubtless }).into_iter().collect()
}

/// Whether stamps follow each other faster than instances.
fn are_too_fast(view: &View<'_>) -> bool {
    median(view.stamp_gaps()).is_some_and(|gap| gap < TOO_FAST * view.spacing)
}

fn fit(view: &View<'_>, factor: f64) -> Option<Fit> {
    let (mut stamps, mut inside, mut reached, mut length) = (0, 0, 0.0, 0.0);
    for session in &view.sessions {
        let Some((start, end, numbers)) = numbers(session) else { continue };
        let margin = MARGIN * (end - start);
        let is_inside =
            |number: &&f64| (start - margin..=end + margin).contains(&(**number * factor));
        stamps += numbers.len();
        inside += numbers.iter().filter(is_inside).count();
        reached += factor * (numbers[numbers.len() - 1] - numbers[0]);
        length += end - start;
    }
    let fit = Fit { stamps, inside: inside as f64 / stamps as f64, reach: reached / length };
    (stamps >= LEAST_STAMPS && length > 0.0).then_some(fit)
}

/// The session's ends and stamps as written, if there are at least two stamps.
fn numbers(session: &Stamped<'_>) -> Option<(f64, f64, Vec<f64>)> {
    let (start, end) = session.span();
    let numbers: Option<Vec<f64>> = session.stamps.iter().map(|&z| session.written(z)).collect();
    let numbers = numbers.filter(|numbers| numbers.len() > 1)?;
    Some((session.written(start)?, session.written(end)?, numbers))
}

/// Whether the times of instances make more sense in another unit.
pub(super) fn of_instances(view: &View<'_>) -> Vec<Finding> {
    let spacing = view.spacing;
    let finding = |unit, since_1970| vec![Finding::OtherUnit { unit, spacing, since_1970 }];
    let first = &view.sessions[0];
    let unit = first.clock.and_then(|clock| clock.unit());
    let (Some(now), Some(start)) = (unit, first.written(first.span().0)) else {
        return Vec::new();
    };
    let smaller = [TimeUnit::Ms, TimeUnit::Us, TimeUnit::Ns];
    if start / now.per_second() >= CALENDAR.end {
        let fits = |unit: &TimeUnit| CALENDAR.contains(&(start / unit.per_second()));
        if let Some(unit) = smaller.into_iter().find(fits) {
            return finding(unit, true);
        }
    }
    if now == TimeUnit::S && spacing >= RARE_SPACING {
        let fits = |unit: &TimeUnit| spacing / unit.per_second() < RARE_SPACING;
        return finding(smaller.into_iter().find(fits).unwrap_or(TimeUnit::Ns), false);
    }
    Vec::new()
}
