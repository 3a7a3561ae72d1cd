//! Beginnings and ends of windows.
//!
//! Stamps keep their order. A path that puts stamp l on an instance far to the right pushes the stamps
//! after it there too, or further, and pays for all of them. So a window ends where n stamps together
//! lose too much, for the best n:
//!
//! ```text
//! end of window l = min_n  last t ≤ z_{l+n−1} − low_n        (low_n, high_n) = reach(paths/n + odds)
//! ```
//!
//! and begins likewise. With n = 1 alone, a density with heavy tails would reach over the session.
//! Section 5 of `docs/model.md` bounds the error.

use super::reference::{NEAR, Suitability};
use super::seek::{mean_rate, seek};
use crate::inference::vocabulary::{Stamped, Window};

/// The loss beyond which windows exclude paths.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::inference) struct LogDrop {
    /// How much lighter an excluded path is than one that is kept, in logarithms.
    pub(in crate::inference) paths: f64,
    /// Most that the odds of instances can make up for, per moved stamp.
    pub(in crate::inference) odds: f64,
    /// Most stamps of one instance.
    pub(in crate::inference) max_count: usize,
    /// Whether pushed stamps pay too.
    pub(in crate::inference) chains: bool,
    /// The log density below which a stamp comes from the background rather than from the likeliest
    /// instance, if there is a background: nothing else then decides where windows end.
    pub(in crate::inference) floor: Option<f64>,
}

impl LogDrop {
    /// The drop in log density, below that in a possible alignment, at which the window of a stamp ends
    /// if the stamp pushes no other.
    pub(in crate::inference) fn alone(&self) -> f64 {
        self.paths + self.odds
    }

    /// The same if n stamps share the loss of the path.
    fn shared(&self, stamps: usize) -> f64 {
        self.paths / stamps as f64 + self.odds
    }

    /// Twice as much.
    pub(in crate::inference) fn doubled(self) -> Self {
        Self { paths: 2.0 * self.paths, odds: 2.0 * self.odds, ..self }
    }

    /// With a smaller loss for paths.
    pub(in crate::inference) fn less(self, by: f64) -> Self {
        Self { paths: (self.paths - by).max(0.0), ..self }
    }
}

/// Width of the ring at the edge of a window, in the log weight of paths: a factor of 10⁴.
pub(in crate::inference) const RING: f64 = 9.2;

/// Numbers of stamps that may push each other.
const LENGTHS: [usize; 13] = [2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128];

/// The windows of a session's stamps.
#[derive(Debug, Default)]
pub(in crate::inference) struct Windows {
    pub(in crate::inference) outer: Vec<Window>,
    /// The windows without their rings; may be wider if nothing is excluded.
    pub(in crate::inference) inner: Vec<Window>,
    /// Log density of the likeliest instance outside its own window, for stamps that crowd or are far
    /// from every instance; −∞ for others. Empty if there are only others.
    pub(in crate::inference) outside: Vec<f64>,
}

impl Windows {
    /// Places the windows again. On failure names a stamp that no instance can have given.
    pub(in crate::inference) fn place(
        &mut self,
        stamped: &Stamped<'_>,
        drop: LogDrop,
    ) -> Result<(), usize> {
        if let Some(floor) = drop.floor {
            self.place_above(stamped, floor);
            return Ok(());
        }
        let suited = Suitability::new(stamped, drop.max_count)?;
        self.place_each(stamped, &suited, drop);
        self.note_outside(stamped, &suited, drop);
        self.make_monotone(stamped.times.len());
        Ok(())
    }

    /// Places windows that contain all instances whose density exceeds a floor; at least one instance.
    pub(super) fn place_above(&mut self, stamped: &Stamped<'_>, floor: f64) {
        let Stamped { times, stamps, unit, density, .. } = *stamped;
        let rate = mean_rate(times);
        let (earliest, latest) = stamped.reach((density.log_peak() - floor).max(0.0));
        self.outer.clear();
        self.outside.clear();
        let mut cursor = 0;
        for stamp in stamps {
            let (low, high) = (stamp.time - latest * unit, stamp.time - earliest * unit);
            let first = seek(times, cursor, rate, low, |t| t < low).min(times.len() - 1);
            let end = seek(times, first, rate, high, |t| t <= high).max(first + 1);
            self.outer.push(Window { first, end });
            cursor = first;
        }
        self.inner.clone_from(&self.outer);
    }

    /// Places each window, not minding the others.
    fn place_each(&mut self, stamped: &Stamped<'_>, suited: &Suitability, drop: LogDrop) {
        let Stamped { times, stamps, unit, .. } = *stamped;
        let rate = mean_rate(times);
        let mut early = Ends::<false>::new(stamped, suited, drop);
        let mut late = Ends::<true>::new(stamped, suited, drop);
        for windows in [&mut self.outer, &mut self.inner] {
            windows.clear();
            windows.reserve(stamps.len());
        }
        let mut cursor = 0;
        for (l, (stamp, &own)) in stamps.iter().zip(&suited.drops).enumerate() {
            let [(low, high), (inner_low, inner_high)] = if own <= NEAR {
                let (early, late) = (early.of(l), late.of(l));
                [(early[0], late[0]), (early[1], late[1])]
            } else {
                [drop, drop.less(RING)].map(|drop| {
                    let (earliest, latest) = stamped.reach(drop.alone() + own);
                    (stamp.time - latest * unit, stamp.time - earliest * unit)
                })
            };
            // A far stamp can reach back further than the one before it, but need not.
            let first = seek(times, cursor, rate, low, |t| t < low);
            let inner_first = seek(times, first, rate, inner_low, |t| t < inner_low);
            let inner_end = seek(times, inner_first, rate, inner_high, |t| t <= inner_high);
            let end = seek(times, inner_end, rate, high, |t| t <= high);
            self.outer.push(Window { first, end });
            self.inner.push(Window { first: inner_first, end: inner_end });
            cursor = first;
        }
    }

    fn note_outside(&mut self, stamped: &Stamped<'_>, suited: &Suitability, drop: LogDrop) {
        self.outside.clear();
        if suited.near.iter().all(|&near| near) {
            return;
        }
        for (l, (&near, &own)) in suited.near.iter().zip(&suited.drops).enumerate() {
            let outside = if near {
                f64::NEG_INFINITY
            } else {
                let reach = stamped.reach(drop.alone() + own.max(NEAR));
                let Stamped { times, stamps, unit, .. } = *stamped;
                let (low, high) =
                    (stamps[l].time - reach.1 * unit, stamps[l].time - reach.0 * unit);
                let first = times.partition_point(|&t| t < low);
                log_density_outside(stamped, l, first, times.partition_point(|&t| t <= high))
            };
            self.outside.push(outside);
        }
    }

    /// Narrows windows so that both ends move forward with the stamps: a stamp cannot come before the
    /// first instance of the one before it, nor after the last of the one after it. A window left empty
    /// by rounding, or by a crowd outside the support, gets the instance at its beginning.
    pub(in crate::inference) fn make_monotone(&mut self, instances: usize) {
        let mut first = 0;
        for window in &mut self.outer {
            first = first.max(window.first).min(instances - 1);
            window.first = first;
        }
        let mut end = usize::MAX;
        for window in self.outer.iter_mut().rev() {
            end = end.min(window.end);
            window.end = end.max(window.first + 1);
        }
    }
}

/// The highest log density of a stamp at the instances next to a window.
pub(in crate::inference) fn log_density_outside(
    stamped: &Stamped<'_>,
    l: usize,
    first: usize,
    end: usize,
) -> f64 {
    let Stamped { times, stamps, unit, .. } = *stamped;
    let mut highest = f64::NEG_INFINITY;
    let next = [first.checked_sub(1), (end < times.len()).then_some(end)];
    for instance in next.into_iter().flatten() {
        let mut log_density = [0.0];
        let delay = (stamps[l].time - times[instance]) / unit;
        stamped.log_densities_of(l, &[delay], &mut log_density);
        highest = highest.max(log_density[0]);
    }
    highest
}

/// Ends of the windows of near stamps, on the late or the early side, with and without their rings.
struct Ends<'a, const LATE: bool> {
    stamped: &'a Stamped<'a>,
    suited: &'a Suitability,
    drop: LogDrop,
    /// Distance from a stamp that pushes no other.
    alone: [f64; 2],
    /// Distances from the last of so many stamps that push each other, computed on demand.
    shared: Vec<[f64; 2]>,
    /// A lower bound of all of them.
    narrowest: f64,
}

impl<'a, const LATE: bool> Ends<'a, LATE> {
    fn new(stamped: &'a Stamped<'a>, suited: &'a Suitability, drop: LogDrop) -> Self {
        let offset = |log_drop| offset::<LATE>(stamped, log_drop);
        let alone = [drop, drop.less(RING)].map(|drop| offset(drop.alone()));
        let narrowest = if drop.chains { offset(drop.odds) } else { alone[0] };
        Self { stamped, suited, drop, alone, shared: Vec::new(), narrowest }
    }

    #[inline(always)]
    fn of(&mut self, l: usize) -> [f64; 2] {
        let stamp = self.stamped.stamps[l].time;
        let alone = self.alone.map(|offset| stamp + offset);
        match self.next(l) {
            Some(next) if self.may_cut(next, alone[0]) => self.pushed(l, alone),
            _ => alone,
        }
    }

    /// The same or nearer, since other stamps are pushed.
    fn pushed(&mut self, l: usize, alone: [f64; 2]) -> [f64; 2] {
        let mut ends = alone;
        let (mut last, mut count) = (l, 1);
        if !self.suited.near[l] {
            return ends;
        }
        for (which, &length) in LENGTHS.iter().enumerate() {
            while count < length {
                let Some(next) = self.next(last).filter(|&next| self.suited.near[next]) else {
                    return ends;
                };
                (last, count) = (next, count + 1);
            }
            if !self.may_cut(last, ends[0]) {
                break;
            }
            if self.shared.len() == which {
                let both = [self.drop, self.drop.less(RING)];
                let offset = |drop: LogDrop| offset::<LATE>(self.stamped, drop.shared(length));
                self.shared.push(both.map(offset));
            }
            let own = self.shared[which].map(|offset| self.stamped.stamps[last].time + offset);
            if nearer::<LATE>(own[0], ends[0]) {
                ends = own;
            }
        }
        ends
    }

    /// Whether an end could be nearer because this stamp is pushed.
    #[inline(always)]
    fn may_cut(&self, stamp: usize, end: f64) -> bool {
        nearer::<LATE>(self.stamped.stamps[stamp].time + self.narrowest, end)
    }

    /// The stamp that is pushed next.
    #[inline(always)]
    fn next(&self, stamp: usize) -> Option<usize> {
        if LATE {
            Some(stamp + 1).filter(|&next| next < self.stamped.stamps.len())
        } else {
            stamp.checked_sub(1)
        }
    }
}

#[inline(always)]
fn nearer<const LATE: bool>(a: f64, b: f64) -> bool {
    if LATE { a < b } else { a > b }
}

/// Distance from a near stamp at which the density has fallen by a drop.
fn offset<const LATE: bool>(stamped: &Stamped<'_>, log_drop: f64) -> f64 {
    let (earliest, latest) = stamped.reach(log_drop + NEAR);
    -stamped.unit * if LATE { earliest } else { latest }
}
