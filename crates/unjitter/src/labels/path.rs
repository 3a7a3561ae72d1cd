//! Sums over all paths through the labels of a session.
//!
//! Edge i leads to instance i; the first comes from before the recording and the last leads behind it, where there is no
//! event. One pass forward and one back (Rabiner 1989) give the normaliser and the marginals of every edge. Time O(n·S²)
//! for S labels.

use std::ops::Range;

use super::count::{Count, counted};
use super::recur::{recur, renew};
use super::weight::Weight;

/// Edges from which threads are worth it.
const WORTH: usize = 4096;

/// The edges of a session: one more than instances.
pub(super) trait Edges<W>: Sync {
    /// Labels of an instance.
    fn labels(&self) -> usize;

    /// How many edges.
    fn edges(&self) -> usize;

    /// Overwrites `out` with the weight of an edge, by the label before it and the one that it leads to.
    fn weigh(&self, count: impl Count, edge: usize, out: &mut [W]);
}

/// All paths, summed.
#[derive(Debug, Clone)]
pub(super) struct Paths<W> {
    labels: usize,
    /// Edges up to one, by the label that it leads to, normalised, and what that was divided by.
    forward: Vec<W>,
    /// Edges behind one, by the label that it leads to, likewise; the last edge comes first.
    backward: Vec<W>,
    /// Before the first edge.
    outside: Vec<W>,
    /// Behind the last one.
    inside: Vec<W>,
}

impl<W: Weight> Paths<W> {
    pub(super) fn new(edges: &impl Edges<W>, in_parallel: bool) -> Self {
        let mut outside = vec![W::ZERO; edges.labels()];
        outside[0] = W::ONE;
        Self::between((&outside, &vec![W::ONE; edges.labels()]), edges, in_parallel)
    }

    /// Between weights of labels before the first edge and behind the last one.
    pub(super) fn between(
        (outside, inside): (&[W], &[W]),
        edges: &impl Edges<W>,
        in_parallel: bool,
    ) -> Self {
        let labels = edges.labels();
        let with_scale = |weights: &[W]| weights.iter().copied().chain([W::ONE]).collect();
        let (outside, inside): (Vec<W>, Vec<W>) = (with_scale(outside), with_scale(inside));
        let count = edges.edges();
        let (forward, backward) = counted!(labels, n => both(
            in_parallel && count > WORTH,
            || recur(count, &outside, in_parallel, forward(n, edges)),
            || recur(count, &inside, in_parallel, backward(n, edges)),
        ));
        Self { labels, forward, backward, outside, inside }
    }

    /// What all paths weigh behind the last edge, by label, from weights before the first, and the logarithm that this was
    /// divided by.
    pub(super) fn behind_all(edges: &impl Edges<W>, before: &[W]) -> (f64, Vec<W>) {
        let (mut here, mut next, mut scales) = (before.to_vec(), before.to_vec(), Vec::new());
        here.push(W::ONE);
        next.push(W::ONE);
        counted!(edges.labels(), n => {
            let step = forward(n, edges);
            for edge in 0..edges.edges() {
                step(edge, &here, &mut next);
                std::mem::swap(&mut here, &mut next);
                scales.push(here[n.get()]);
            }
        });
        here.pop();
        (W::ln_of_product(scales.into_iter()), here)
    }

    /// Sums again where edges have changed, ranges of them in order.
    pub(super) fn renew(
        &mut self,
        edges: &impl Edges<W>,
        changed: &[Range<usize>],
        in_parallel: bool,
    ) {
        let count = edges.edges();
        // The state behind an edge changes with the edges from the next one on.
        let behind = changed.iter().rev().map(|own| count - own.end.min(count)..count - own.start);
        let behind = behind.map(|own| own.start + 1..own.end + 1);
        let behind = behind.map(|own| own.start.min(count)..own.end.min(count));
        let behind: Vec<Range<usize>> = behind.collect();
        let Self { forward: to, backward: from, outside, inside, .. } = self;
        counted!(self.labels, n => both(
            in_parallel && count > WORTH,
            || renew(to, outside, changed, in_parallel, forward(n, edges)),
            || renew(from, inside, &behind, in_parallel, backward(n, edges)),
        ));
    }

    /// Weights of the labels before an edge.
    pub(super) fn before(&self, edge: usize) -> &[W] {
        match edge.checked_sub(1) {
            Some(last) => &self.forward[last * (self.labels + 1)..][..self.labels],
            None => &self.outside[..self.labels],
        }
    }

    /// What weighs behind an edge, by the label that it leads to.
    pub(super) fn behind(&self, edge: usize) -> &[W] {
        let width = self.labels + 1;
        &self.backward[self.backward.len() - (edge + 1) * width..][..self.labels]
    }

    /// The logarithm of the sum of all paths; −∞ if there is none.
    pub(super) fn log_normaliser(&self) -> f64 {
        let states = self.forward.chunks_exact(self.labels + 1);
        let last = self.before(self.forward.len() / (self.labels + 1)).iter().zip(&self.inside);
        let ways = last.fold(W::ZERO, |sum, (&own, &behind)| sum.plus(own.times(behind)));
        W::ln_of_product(states.map(|own| own[self.labels])) + ways.ln()
    }

    /// Overwrites the weights of an edge with the probabilities that a path takes it.
    pub(super) fn weigh(&self, count: impl Count, edge: usize, weights: &mut [W]) {
        let (before, behind) = (self.before(edge), self.behind(edge));
        for z in 0..count.get() {
            for y in 0..count.get() {
                let own = &mut weights[z * count.get() + y];
                *own = own.times(before[z]).times(behind[y]);
            }
        }
        normalise(weights);
    }

    /// Probabilities of the labels of an instance.
    pub(super) fn labels_of(&self, instance: usize, out: &mut [f64]) {
        let (up_to, behind) = (self.before(instance + 1), self.behind(instance));
        let weights = up_to.iter().zip(behind).map(|(&a, &b)| a.times(b));
        let total = weights.clone().fold(W::ZERO, W::plus);
        out.iter_mut().zip(weights).for_each(|(out, weight)| *out = weight.over(total).number());
    }
}

/// Does both, in parallel if it is worth it.
fn both<A: Send, B: Send>(
    in_parallel: bool,
    one: impl FnOnce() -> A + Send,
    other: impl FnOnce() -> B + Send,
) -> (A, B) {
    if in_parallel { rayon::join(one, other) } else { (one(), other()) }
}

/// The state after an edge.
fn forward<W: Weight, N: Count>(
    n: N,
    edges: &impl Edges<W>,
) -> impl Fn(usize, &[W], &mut [W]) + Sync {
    move |edge, before, next| {
        let labels = n.get();
        with_weights(n, edges, edge, |weights| {
            for y in 0..labels {
                let mut sum = before[0].times(weights[y]);
                for z in 1..labels {
                    sum = sum.plus(before[z].times(weights[z * labels + y]));
                }
                next[y] = sum;
            }
        });
        next[labels] = normalise(&mut next[..labels]);
    }
}

/// The state behind edge count − 1 − k.
fn backward<W: Weight, N: Count>(
    n: N,
    edges: &impl Edges<W>,
) -> impl Fn(usize, &[W], &mut [W]) + Sync {
    move |k, after, next| {
        let labels = n.get();
        if k == 0 {
            next.copy_from_slice(after);
            return;
        }
        with_weights(n, edges, edges.edges() - k, |weights| {
            for z in 0..labels {
                let mut sum = weights[z * labels].times(after[0]);
                for y in 1..labels {
                    sum = sum.plus(weights[z * labels + y].times(after[y]));
                }
                next[z] = sum;
            }
        });
        next[labels] = normalise(&mut next[..labels]);
    }
}

/// Most labels for which the weights of an edge are on the stack.
const FEW: usize = 4;

#[inline(always)]
fn with_weights<W: Weight>(
    n: impl Count,
    edges: &impl Edges<W>,
    edge: usize,
    work: impl FnOnce(&[W]),
) {
    let squared = n.get() * n.get();
    if n.get() <= FEW {
        let mut room = [W::ZERO; FEW * FEW];
        edges.weigh(n, edge, &mut room[..squared]);
        work(&room[..squared]);
    } else {
        let mut room = vec![W::ZERO; squared];
        edges.weigh(n, edge, &mut room);
        work(&room);
    }
}

/// Makes weights sum to one, and returns their sum.
#[inline(always)]
pub(super) fn normalise<W: Weight>(weights: &mut [W]) -> W {
    let total = weights.iter().copied().fold(W::ZERO, W::plus);
    if !total.is_zero() {
        weights.iter_mut().for_each(|weight| *weight = weight.over(total));
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::labels::count::Two;
    use crate::math::Random;

    /// Runs of some hundred instances, with weak evidence.
    struct Given(Vec<[f64; 4]>);

    impl Given {
        fn draw(count: usize) -> Self {
            let mut random = Random::new(3);
            let mut edge = || {
                let [rest, run] = [(); 2].map(|()| (0.3 * random.normal()).exp());
                [rest, 0.01 * run, 0.004 * rest, run]
            };
            Self((0..count).map(|_| edge()).collect())
        }
    }

    impl Edges<f64> for Given {
        fn labels(&self) -> usize {
            2
        }

        fn edges(&self) -> usize {
            self.0.len()
        }

        fn weigh(&self, _: impl Count, edge: usize, out: &mut [f64]) {
            out.copy_from_slice(&self.0[edge]);
        }
    }

    fn assert_same(one: &Paths<f64>, other: &Paths<f64>) {
        let all = |own: &Paths<f64>| [own.forward.clone(), own.backward.clone()].concat();
        for (one, other) in all(one).into_iter().zip(all(other)) {
            // Where stretches meet, states agree to 1e-13 and go on forgetting.
            assert!((one - other).abs() <= 1e-12 * other, "{one} {other}");
        }
        let off = one.log_normaliser() - other.log_normaliser();
        assert!(off.abs() < 1e-8, "{off}"); // twenty thousand steps
    }

    /// All states one after the other.
    fn whole(edges: &Given) -> Paths<f64> {
        let mut paths = Paths::new(&Given(Vec::new()), false);
        let mut here = paths.outside.clone();
        for edge in 0..edges.edges() {
            let mut next = vec![0.0; 3];
            forward(Two, edges)(edge, &here, &mut next);
            paths.forward.extend(&next);
            here = next;
        }
        here = paths.inside.clone();
        for k in 0..edges.edges() {
            let mut next = vec![0.0; 3];
            backward(Two, edges)(k, &here, &mut next);
            paths.backward.extend(&next);
            here = next;
        }
        paths
    }

    #[test]
    fn stretches_are_the_whole() {
        let edges = Given::draw(20_000);
        assert_same(&Paths::new(&edges, false), &whole(&edges));
    }

    #[test]
    fn threads_change_no_bit() {
        let mut edges = Given::draw(20_000);
        let mut paths = [false, true].map(|in_parallel| Paths::new(&edges, in_parallel));
        assert_eq!(paths[0].forward, paths[1].forward);
        assert_eq!(paths[0].backward, paths[1].backward);
        let changed = [0..3, 4000..4200, 8192..8193, 12_287..12_288, 19_990..20_000];
        for edge in changed.iter().cloned().flatten() {
            edges.0[edge][1] *= 7.0;
            edges.0[edge][3] *= 0.5;
        }
        for (paths, in_parallel) in paths.iter_mut().zip([false, true]) {
            paths.renew(&edges, &changed, in_parallel);
        }
        assert_eq!(paths[0].forward, paths[1].forward);
        assert_eq!(paths[0].backward, paths[1].backward);
        assert_same(&paths[1], &whole(&edges));
    }

    #[test]
    fn what_changes_is_summed_again() {
        let mut edges = Given::draw(3000);
        let mut paths = Paths::new(&edges, false);
        let changed = [0..3, 700..701, 705..900, 2990..3000];
        for edge in changed.iter().cloned().flatten() {
            edges.0[edge][1] *= 7.0;
            edges.0[edge][3] *= 0.5;
        }
        paths.renew(&edges, &changed, false);
        assert_same(&paths, &Paths::new(&edges, false));
    }
}
