//! Stamps rounded to the minute or so, though instances lie closer.

use super::finding::Finding;
use super::view::View;

/// Intervals that people round to, in seconds, the longest first.
const GRIDS: [f64; 8] = [3600.0, 1800.0, 900.0, 300.0, 60.0, 30.0, 10.0, 1.0];
/// A stamp this close to a whole multiple, in seconds, counts as rounded.
const CLOSE: f64 = 2e-3;
/// Share of stamps on the grid; the rest may be written otherwise.
const MOST: f64 = 0.95;
/// Fewer stamps than this, or fewer different ones, lie on a grid by chance.
const LEAST: usize = 10;

pub(super) fn check(view: &View<'_>) -> Option<Finding> {
    let of = view.stamps();
    let spacing = view.spacing;
    if of < LEAST || spacing <= 0.0 || view.are_between() {
        return None;
    }
    let on = |grid: f64| -> usize {
        let of_session = |session: &super::view::Stamped<'_>| {
            let clock = session.clock.unwrap_or_default();
            let is_on = |stamp: &&f64| {
                let rest = clock.past_the_hour(**stamp).rem_euclid(grid);
                rest.min(grid - rest) <= CLOSE
            };
            session.stamps.iter().filter(is_on).count()
        };
        view.sessions.iter().map(of_session).sum()
    };
    let coarser = GRIDS.into_iter().filter(|&grid| grid > spacing);
    let (grid, stamps) = coarser
        .map(|grid| (grid, on(grid)))
        .find(|&(_, stamps)| stamps as f64 >= MOST * of as f64)?;
    Some(Finding::RoundedStamps { stamps, of, grid, spacing })
}
