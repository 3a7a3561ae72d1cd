//! How well instances suit stamps, one by one and all together.
//!
//! Each stamp has a best instance. If more stamps meet than instances can give, later ones move on. O(stamps).

use super::seek::{mean_rate, seek};
use crate::inference::vocabulary::{Stamp, Stamped};

/// Stamps are near an instance whose density lies within this drop of the peak.
pub(in crate::inference) const NEAR: f64 = 1.0;

/// Places of stamps, estimated before any sum.
#[derive(Debug)]
pub(in crate::inference) struct Suitability {
    /// How far below the peak the density of each stamp's best instance may lie: exact or too large,
    /// never too small.
    pub(in crate::inference) drops: Vec<f64>,
    /// Whether a stamp is near its instance in one alignment of all stamps that respects `max_count`.
    pub(in crate::inference) near: Vec<bool>,
}

impl Suitability {
    /// For instances that give at most `max_count` stamps. On failure names a stamp that no instance can
    /// have given.
    pub(in crate::inference) fn new(
        stamped: &Stamped<'_>,
        max_count: usize,
    ) -> Result<Self, usize> {
        let Stamped { times, stamps, .. } = *stamped;
        if times.is_empty() {
            let none = Self { drops: Vec::new(), near: Vec::new() };
            return if stamps.is_empty() { Ok(none) } else { Err(0) };
        }
        let (mut places, drops) = either_side(stamped);
        let mut best = Vec::with_capacity(stamps.len());
        for (place, pair) in places.iter_mut().zip(drops.as_chunks().0) {
            let [before, after]: [f64; 2] = *pair;
            // The last instance, if the middle of the density is past it.
            let nearer = if before <= after { place.saturating_sub(1) } else { *place };
            *place = nearer.min(times.len() - 1);
            best.push(before.min(after));
        }
        if let Some(stamp) = best.iter().position(|&drop| drop == f64::INFINITY) {
            return Err(stamp);
        }
        let mut near: Vec<bool> = best.iter().map(|&drop| drop <= NEAR).collect();
        let moved = move_on(&places, max_count, times.len());
        let delay =
            |&(stamp, place): &(usize, usize)| (stamps[stamp].time - times[place]) / stamped.unit;
        let stamps: Vec<usize> = moved.iter().map(|own| own.0).collect();
        let drops = drops_of(stamped, &stamps, &moved.iter().map(delay).collect::<Vec<_>>());
        for ((stamp, _), drop) in moved.iter().zip(drops) {
            near[*stamp] = drop <= NEAR;
        }
        Ok(Self { drops: best, near })
    }
}

/// Drops below the peak at these delays, each of a stamp.
fn drops_of(stamped: &Stamped<'_>, stamps: &[usize], delays: &[f64]) -> Vec<f64> {
    let mut drops = vec![0.0; delays.len()];
    stamped.log_densities(stamps, delays, &mut drops);
    let peak = stamped.density.log_peak();
    drops.iter_mut().for_each(|value| *value = (peak - *value).max(0.0));
    drops
}

/// For each stamp, the first instance past the middle of its density; and the drops below the peak at the
/// instance before and at this one.
fn either_side(stamped: &Stamped<'_>) -> (Vec<usize>, Vec<f64>) {
    let Stamped { times, stamps, unit, density, .. } = *stamped;
    let (low, high) = density.reach(0.5);
    let middle = 0.5 * (low + high) * unit;
    let rate = mean_rate(times);
    let mut places = Vec::with_capacity(stamps.len());
    let mut delays = Vec::with_capacity(2 * stamps.len());
    let twice: Vec<usize> = (0..2 * stamps.len()).map(|k| k / 2).collect();
    let (per_unit, last) = (1.0 / unit, times.len() - 1);
    let mut cursor = 0;
    for &Stamp { time: stamp, .. } in stamps {
        let place = stamp - middle;
        cursor = seek(times, cursor, rate, place, |t| t <= place);
        places.push(cursor);
        let sides = [cursor.saturating_sub(1), cursor.min(last)];
        delays.extend(sides.map(|i| (stamp - times[i]) * per_unit));
    }
    (places, drops_of(stamped, &twice, &delays))
}

/// Stamps that cannot have these places, in order and at most `max_count` on one instance, with the first
/// free place.
fn move_on(places: &[usize], max_count: usize, instances: usize) -> Vec<(usize, usize)> {
    let mut moved = Vec::new();
    let (mut free, mut given) = (0, 0);
    for (stamp, &place) in places.iter().enumerate() {
        if place > free {
            (free, given) = (place, 0);
        } else if given == max_count {
            (free, given) = (free + 1, 0);
        }
        given += 1;
        if place < free {
            moved.push((stamp, free.min(instances - 1)));
        }
    }
    moved
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_comes_later_moves_on() {
        assert_eq!(move_on(&[0, 2, 4], 1, 9), []);
        assert_eq!(move_on(&[5, 5, 5, 9], 1, 20), [(1, 6), (2, 7)]);
        assert_eq!(move_on(&[5, 5, 5, 6, 6, 9], 2, 20), [(2, 6), (4, 7)]);
        assert_eq!(move_on(&[3, 2, 7], usize::MAX, 10), [(1, 3)]);
        assert_eq!(move_on(&[8, 8, 8], 1, 9), [(1, 8), (2, 8)]);
    }
}
