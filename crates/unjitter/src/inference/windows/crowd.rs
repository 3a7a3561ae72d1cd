//! Windows of crowded stamps.
//!
//! If more stamps meet than the instances in their windows can give, as past the end of a recording, some
//! have to leave. To find the crowds, all stamps are packed as early as their windows allow, and again as
//! late: a crowd is a chain of stamps that push each other beyond the end of a window. No stamp of a
//! crowd need leave its window by more instances than the crowd needs, and from there on as far again as
//! its density falls by the drop.

use std::ops::Range;

use super::placing::{LogDrop, RING, Windows, log_density_outside};
use crate::inference::vocabulary::{Stamped, Window};

/// Most rounds; a round lets crowds meet others.
const ROUNDS: usize = 16;

impl Windows {
    /// Widens the windows of stamps that have no room.
    pub(in crate::inference) fn make_room(&mut self, stamped: &Stamped<'_>, drop: LogDrop) {
        for _ in 0..ROUNDS {
            let crowds = crowds(&self.outer, drop.max_count);
            if crowds.is_empty() {
                return;
            }
            self.outside.resize(self.outer.len(), f64::NEG_INFINITY);
            for crowd in crowds {
                let instances = crowd.len().div_ceil(drop.max_count);
                crowd.for_each(|l| self.stretch(stamped, drop, l, instances));
            }
            self.make_monotone(stamped.times.len());
        }
    }

    /// Widens the window of a stamp by so many instances on either side, and from there by the drop.
    fn stretch(&mut self, stamped: &Stamped<'_>, drop: LogDrop, l: usize, instances: usize) {
        let Stamped { times, stamps, unit, density, .. } = *stamped;
        let first = self.outer[l].first.saturating_sub(instances);
        let end = (self.outer[l].end + instances).min(times.len());
        let mut far = [0.0; 2];
        let delays = [first, end - 1].map(|i| (stamps[l].time - times[i]) / unit);
        stamped.log_densities_of(l, &delays, &mut far);
        // Beyond the support there is nothing to add.
        let far = far.map(|at| if at == f64::NEG_INFINITY { 0.0 } else { density.log_peak() - at });
        let within = |drop: f64| {
            let low = stamps[l].time - stamped.reach(drop + far[0].max(0.0)).1 * unit;
            let high = stamps[l].time - stamped.reach(drop + far[1].max(0.0)).0 * unit;
            Window {
                first: first.min(times.partition_point(|&t| t < low)),
                end: end.max(times.partition_point(|&t| t <= high)),
            }
        };
        self.outer[l] = within(drop.alone());
        self.inner[l] = within(drop.less(RING).alone());
        let Window { first, end } = self.outer[l];
        self.outside[l] = log_density_outside(stamped, l, first, end);
    }
}

/// The crowds, as ranges of stamps.
fn crowds(windows: &[Window], max_count: usize) -> Vec<Range<usize>> {
    let early = packed(windows.iter().map(|w| (w.first as isize, w.end as isize)), max_count);
    if early.is_empty() {
        return early;
    }
    let mirrored = windows.iter().rev().map(|w| (1 - w.end as isize, 1 - w.first as isize));
    let late = packed(mirrored, max_count);
    let mut all = early;
    all.extend(late.into_iter().map(|run| windows.len() - run.end..windows.len() - run.start));
    all.sort_by_key(|run| run.start);
    let mut merged: Vec<Range<usize>> = Vec::new();
    for run in all {
        match merged.last_mut() {
            Some(last) if run.start < last.end => last.end = last.end.max(run.end),
            _ => merged.push(run),
        }
    }
    merged
}

/// Puts each stamp as early as possible into its window, given as first and end. Returns the chains of
/// stamps that push each other, if they push one out.
fn packed(windows: impl Iterator<Item = (isize, isize)>, max_count: usize) -> Vec<Range<usize>> {
    let mut runs = Vec::new();
    let (mut place, mut given) = (isize::MIN, 0);
    let (mut run, mut is_crowded) = (0..0, false);
    for (l, (first, end)) in windows.enumerate() {
        if given == max_count {
            (place, given) = (place + 1, 0);
        }
        if place < first {
            (place, given) = (first, 0);
            if is_crowded {
                runs.push(run);
            }
            (run, is_crowded) = (l..l, false);
        }
        given += 1;
        run.end = l + 1;
        is_crowded |= place >= end;
    }
    if is_crowded {
        runs.push(run);
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(windows: &[Window], max_count: usize) -> Vec<(usize, usize)> {
        crowds(windows, max_count).into_iter().map(|crowd| (crowd.start, crowd.end)).collect()
    }

    fn window(first: usize, end: usize) -> Window {
        Window { first, end }
    }

    #[test]
    fn a_crowd_is_all_that_push_each_other() {
        let three = [window(2, 4); 3];
        assert_eq!(found(&three, 1), [(0, 3)]);
        assert_eq!(found(&three, 2), []);
        assert_eq!(found(&[window(2, 4), window(2, 4), window(3, 5)], 1), []);
        // The first has room to the right but blocks those that go left.
        let both_ways = [window(0, 2), window(2, 3), window(2, 3), window(8, 9)];
        assert_eq!(found(&both_ways, 1), [(0, 3)]);
        assert_eq!(found(&[window(9, 10); 7], 2), [(0, 7)]);
        let apart = [window(1, 2), window(1, 2), window(5, 6), window(9, 10), window(9, 10)];
        assert_eq!(found(&apart, 1), [(0, 2), (3, 5)]);
    }
}
