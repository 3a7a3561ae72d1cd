//! Weights by the set of open stamps that have found their events.
//!
//! A block has 2ᵏ weights for k open stamps: bit b of the place of a weight says whether stamp b was given. With c_b for what
//! a stamp weighs at an event and u for an event without one, an event turns weights v into
//!
//! ```text
//! one stamp at most    v'(T) = u·v(T) + Σ_{b∈T} c_b·v(T∖b)
//! any number           v'(T) = u·Π_b (1 + (c_b/u)·S_b) v,    S_b v(T) = v(T∖b) if b ∈ T, else 0
//! ```
//!
//! Operators of `Any number` commute, and S_b² = 0. All slices may hold several blocks, one after the other.

/// How many stamps are open, and weights of a label there are; known to the compiler where these are few.
pub(super) trait Sets: Copy {
    /// Open stamps.
    fn bits(self) -> usize;

    /// Weights: one or more blocks.
    fn len(self) -> usize;
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Few<const BITS: usize, const LEN: usize>;

impl<const BITS: usize, const LEN: usize> Sets for Few<BITS, LEN> {
    #[inline(always)]
    fn bits(self) -> usize {
        BITS
    }

    #[inline(always)]
    fn len(self) -> usize {
        LEN
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Many {
    pub(super) bits: usize,
    pub(super) len: usize,
}

impl Sets for Many {
    #[inline(always)]
    fn bits(self) -> usize {
        self.bits
    }

    #[inline(always)]
    fn len(self) -> usize {
        self.len
    }
}

/// What an event weighs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Event<'a> {
    /// Without a stamp.
    pub(super) silent: f64,
    /// With each of the open stamps.
    pub(super) given: &'a [f64],
    /// Whether it may have several.
    pub(super) shares: bool,
}

/// Adds `factor` times the weights without a stamp to those with it.
#[inline(always)]
fn add_given(sets: impl Sets, bit: usize, factor: f64, from: &[f64], to: &mut [f64]) {
    let half = 1 << bit;
    for start in (0..sets.len()).step_by(2 * half) {
        for t in start..start + half {
            to[t + half] += factor * from[t];
        }
    }
}

/// The same within one slice.
#[inline(always)]
fn give_more(sets: impl Sets, bit: usize, factor: f64, weights: &mut [f64]) {
    let half = 1 << bit;
    for start in (0..sets.len()).step_by(2 * half) {
        for t in start..start + half {
            weights[t + half] += factor * weights[t];
        }
    }
}

/// Overwrites `to` by weights behind an event, from those before it.
#[inline(always)]
pub(super) fn give(sets: impl Sets, event: &Event<'_>, from: &[f64], to: &mut [f64]) {
    for t in 0..sets.len() {
        to[t] = event.silent * from[t];
    }
    for bit in 0..sets.bits() {
        match event.shares {
            false => add_given(sets, bit, event.given[bit], from, to),
            true => give_more(sets, bit, event.given[bit] / event.silent, to),
        }
    }
}

/// Overwrites `to` by what weighs before an event, from what weighs behind it: the transpose of [`give`].
#[inline(always)]
pub(super) fn take(sets: impl Sets, event: &Event<'_>, from: &[f64], to: &mut [f64]) {
    for t in 0..sets.len() {
        to[t] = event.silent * from[t];
    }
    for bit in 0..sets.bits() {
        let half = 1 << bit;
        let factor = if event.shares { event.given[bit] / event.silent } else { event.given[bit] };
        for start in (0..sets.len()).step_by(2 * half) {
            for t in start..start + half {
                to[t] += factor * if event.shares { to[t + half] } else { from[t + half] };
            }
        }
    }
}

/// What ways weigh in which an event is given a stamp, from weights before it, those behind it, and these as [`take`]
/// makes them.
#[inline(always)]
pub(super) fn given_there(
    sets: impl Sets,
    event: &Event<'_>,
    bit: usize,
    before: &[f64],
    behind: &[f64],
    taken: &[f64],
) -> f64 {
    let half = 1 << bit;
    // Where others share it, they have to be in what lies behind, too: S_b² = 0 leaves this one out.
    let (after, factor) = match event.shares {
        true => (taken, event.given[bit] / event.silent),
        false => (behind, event.given[bit]),
    };
    let mut ways = 0.0;
    for start in (0..sets.len()).step_by(2 * half) {
        for t in start..start + half {
            ways += before[t] * after[t + half];
        }
    }
    factor * ways
}

/// Blocks of so many open stamps, with one more that was not given.
pub(super) fn open(bits: usize, weights: &mut Vec<f64>) {
    let block = 1 << bits;
    let blocks = weights.len() / block;
    weights.resize(2 * weights.len(), 0.0);
    for k in (0..blocks).rev() {
        weights.copy_within(k * block..(k + 1) * block, 2 * k * block);
        weights[(2 * k + 1) * block..2 * (k + 1) * block].fill(0.0);
    }
}

/// Blocks without one of so many open stamps, which came from nowhere if it was not given.
pub(super) fn close(bits: usize, bit: usize, nowhere: f64, weights: &mut Vec<f64>) {
    let (half, len) = (1 << bit, weights.len());
    debug_assert!(bit < bits && len % (1 << bits) == 0);
    let mut to = 0;
    for start in (0..len).step_by(2 * half) {
        for t in start..start + half {
            weights[to] = nowhere * weights[t] + weights[t + half];
            to += 1;
        }
    }
    weights.truncate(to);
}

/// The transpose of [`open`]: what weighs before a stamp opens.
pub(super) fn unopen(bits: usize, weights: &mut Vec<f64>) {
    let block = 1 << bits;
    let blocks = weights.len() / block;
    for k in 1..blocks / 2 {
        weights.copy_within(2 * k * block..(2 * k + 1) * block, k * block);
    }
    weights.truncate(blocks / 2 * block);
}

/// The transpose of [`close`]; `bits` is how many stamps are open behind it.
pub(super) fn unclose(bits: usize, bit: usize, nowhere: f64, weights: &mut Vec<f64>) {
    debug_assert!(bit <= bits);
    let half = 1 << bit;
    let mut from = weights.len();
    weights.resize(2 * from, 0.0);
    for start in (0..2 * from).step_by(2 * half).rev() {
        for t in (start..start + half).rev() {
            from -= 1;
            let own = weights[from];
            weights[t + half] = own;
            weights[t] = nowhere * own;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Random;

    fn drawn(random: &mut Random, count: usize) -> Vec<f64> {
        (0..count).map(|_| random.uniform()).collect()
    }

    fn dot(a: &[f64], b: &[f64]) -> f64 {
        assert_eq!(a.len(), b.len());
        a.iter().zip(b).map(|(a, b)| a * b).sum()
    }

    #[test]
    fn an_event_takes_sets_of_stamps() {
        // Two stamps of weights 3 and 5, an event without one 2.
        let (from, sets) = ([1.0, 0.0, 0.0, 0.0], Few::<2, 4>);
        for (shares, both) in [(false, 0.0), (true, 3.0 * 5.0 / 2.0)] {
            let event = Event { silent: 2.0, given: &[3.0, 5.0], shares };
            let mut to = [0.0; 4];
            give(sets, &event, &from, &mut to);
            assert_eq!(to, [2.0, 3.0, 5.0, both]);
        }
    }

    #[test]
    fn the_way_back_is_the_transpose() {
        let random = &mut Random::new(1);
        for bits in 0..5 {
            for shares in [false, true] {
                let sets = Many { bits, len: 3 << bits };
                let (silent, given) = (random.uniform(), drawn(random, bits));
                let event = Event { silent, given: &given, shares };
                let (before, behind) = (drawn(random, sets.len()), drawn(random, sets.len()));
                let (mut given_to, mut taken) = (before.clone(), before.clone());
                give(sets, &event, &before, &mut given_to);
                take(sets, &event, &behind, &mut taken);
                let (ways, back) = (dot(&given_to, &behind), dot(&before, &taken));
                assert!((ways - back).abs() < 1e-12 * ways); // some hundred terms
                // What all ways weigh is linear in that of every stamp, and in the event without one.
                let more = |change: &dyn Fn(&mut Vec<f64>)| {
                    let mut given = given.clone();
                    change(&mut given);
                    let mut to = before.clone();
                    give(sets, &Event { given: &given, ..event }, &before, &mut to);
                    dot(&to, &behind) - ways
                };
                for bit in 0..bits {
                    let own = given_there(sets, &event, bit, &before, &behind, &taken);
                    let twice = more(&|given| given[bit] *= 2.0);
                    assert!((own - twice).abs() < 1e-12 * ways, "{bits} {bit} {shares}"); // likewise
                }
            }
        }
    }

    #[test]
    fn windows_open_and_close_both_ways() {
        let random = &mut Random::new(2);
        for bits in 0..4 {
            let before = drawn(random, 3 << bits);
            let mut opened = before.clone();
            open(bits, &mut opened);
            let behind = drawn(random, opened.len());
            let mut back = behind.clone();
            unopen(bits, &mut back);
            assert_eq!(dot(&opened, &behind), dot(&before, &back));
            for bit in 0..=bits {
                let mut closed = behind.clone();
                close(bits + 1, bit, 0.3, &mut closed);
                let after = drawn(random, closed.len());
                let mut back = after.clone();
                unclose(bits, bit, 0.3, &mut back);
                // Some dozen terms.
                assert!((dot(&closed, &after) - dot(&behind, &back)).abs() < 1e-13);
            }
            // Whoever opens and closes came from nowhere.
            close(bits + 1, bits, 0.3, &mut opened);
            assert_eq!(opened, before.iter().map(|own| 0.3 * own).collect::<Vec<f64>>());
        }
    }
}
