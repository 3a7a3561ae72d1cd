//! A recursion along a chain, cut into stretches that threads work on at the same time.
//!
//! A chain forgets: whatever lies before, states that differ come together. So every stretch but the first begins as if
//! nothing were known, all at the same time. Then, from one stretch to the next, its head is computed again from where
//! the last one really ended, until it agrees with what is there. The data alone decide how a chain is cut, so threads
//! change no bit. Time O(n), twice at worst, if a chain never forgets. Where only some steps change, the same is done from
//! each of them on, in every stretch from where the one before it ended until then.

use std::ops::Range;

use rayon::prelude::*;

use super::weight::Weight;

/// Steps of a stretch.
const STRETCH: usize = 4096;
/// Weights that agree to this share of themselves are the same from there on: the rest is rounding, which a chain that
/// hardly forgets adds up over a thousand steps.
const AGREED: f64 = 1e-13;

/// States of so many numbers after each of `count` steps, from the state before the first. A step takes its number, the
/// state before it and the next one, which it normalises. Threads work on it if asked to and worth it.
pub(super) fn recur<W: Weight>(
    count: usize,
    begin: &[W],
    in_parallel: bool,
    step: impl Fn(usize, &[W], &mut [W]) + Sync,
) -> Vec<W> {
    let width = begin.len();
    let mut states = vec![W::ZERO; count * width];
    let unknown = vec![W::ONE; width];
    in_stretches(&mut states, width, in_parallel, |first, own| {
        follow(first, if first == 0 { begin } else { &unknown }, own, &step);
    });
    join(&mut states, begin, &step);
    states
}

/// Computes the states of these steps again, which are ranges in order, and of those behind each until they are as they
/// were.
pub(super) fn renew<W: Weight>(
    states: &mut [W],
    begin: &[W],
    changed: &[Range<usize>],
    in_parallel: bool,
    step: impl Fn(usize, &[W], &mut [W]) + Sync,
) {
    let width = begin.len();
    let last = |own: &[W]| own[own.len() - width..].to_vec();
    let before: Vec<Vec<W>> = states.chunks(STRETCH * width).map(last).collect();
    in_stretches(states, width, in_parallel, |first, own| {
        let begin = first.checked_sub(STRETCH).map_or(begin, |last| &before[last / STRETCH]);
        let (end, mut done) = (own.len() / width, 0);
        let next = changed.partition_point(|range| range.end <= first);
        for range in changed[next..].iter().take_while(|range| range.start < first + end) {
            let range = range.start.saturating_sub(first).max(done)..(range.end - first).min(end);
            if range.end > done {
                let step = |k: usize, before: &[W], next: &mut [W]| step(first + k, before, next);
                done = correct(own, begin, range.start.min(range.end)..range.end, end, &step);
            }
        }
    });
    join(states, begin, &step);
}

/// Works on stretches of states, each with the number of its first step.
fn in_stretches<W: Weight>(
    states: &mut [W],
    width: usize,
    in_parallel: bool,
    work: impl Fn(usize, &mut [W]) + Sync,
) {
    let stretches = states.chunks_mut(STRETCH * width).enumerate();
    if in_parallel && stretches.len() > 1 {
        let stretches: Vec<(usize, &mut [W])> = stretches.collect();
        stretches.into_par_iter().for_each(|(k, own)| work(k * STRETCH, own));
    } else {
        stretches.for_each(|(k, own)| work(k * STRETCH, own));
    }
}

/// Lets every stretch but the first begin where the one before it really ended.
fn join<W: Weight>(states: &mut [W], begin: &[W], step: &impl Fn(usize, &[W], &mut [W])) {
    let count = states.len() / begin.len();
    for first in (STRETCH..count).step_by(STRETCH) {
        correct(states, begin, first..first, count.min(first + STRETCH), step);
    }
}

/// Fills states from the one before the first.
fn follow<W: Weight>(
    first: usize,
    from: &[W],
    states: &mut [W],
    step: &impl Fn(usize, &[W], &mut [W]),
) {
    let width = from.len();
    if states.is_empty() {
        return;
    }
    step(first, from, &mut states[..width]);
    for k in 1..states.len() / width {
        let (before, next) = states.split_at_mut(k * width);
        step(first + k, &before[(k - 1) * width..], &mut next[..width]);
    }
}

/// Computes the states of some steps again, and then until they are as they were, or to the end. Returns where it stopped.
fn correct<W: Weight>(
    states: &mut [W],
    begin: &[W],
    range: Range<usize>,
    end: usize,
    step: &impl Fn(usize, &[W], &mut [W]),
) -> usize {
    let width = begin.len();
    let mut next = begin.to_vec();
    for k in range.start..end {
        let before = if k == 0 { begin } else { &states[(k - 1) * width..k * width] };
        step(k, before, &mut next);
        let own = &mut states[k * width..(k + 1) * width];
        let agrees = k >= range.end && agree(own, &next);
        own.copy_from_slice(&next);
        if agrees {
            return k + 1;
        }
    }
    end
}

fn agree<W: Weight>(old: &[W], new: &[W]) -> bool {
    old.iter().zip(new).all(|(old, new)| old.agrees(*new, AGREED))
}
