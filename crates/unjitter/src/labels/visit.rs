//! The sum over all ways in which one rider gives its stamps, given what all others say.
//!
//! A state before an edge is a label and how many stamps are decided: given to an event, or to the background. With F the
//! weight of an edge without a stamp of this rider, B that of an event which is given one, and d the density of stamp f,
//!
//! ```text
//! A'(f, y) = Σ_z A(f, z)·F(z, y) + Σ_z X(f−1, z)·B(z, y)·d_{f−1}          X(f) = A(f) + ρ·X(f−1)
//! ```
//!
//! where X lets stamps before the given one come from nowhere; so may those that leave their window undecided. Backward
//! likewise. What the rider says is the most exact of what can be said edge by edge: the probability of each edge given the
//! label before it, over the same without its stamps. A rider that knows nothing then says 1, however often it is asked;
//! without the denominator, what riders say would be as right, but drift apart by a factor in every round.
//! O(edges × open stamps).

use std::ops::Range;

use super::count::Any;
use super::lone::beyond;
use super::path::normalise;
use super::riders::{Press, Rider};
use super::scene::{Habit, Occurrence};
use super::told::Told;

/// Where a rider is.
pub(super) struct Ride<'a> {
    pub(super) told: &'a Told<'a>,
    pub(super) rider: &'a Rider,
    /// Its stamps.
    pub(super) presses: &'a [Press],
    pub(super) densities: &'a [f64],
    /// Weights of the labels before its first edge.
    pub(super) before: &'a [f64],
    /// What weighs behind its last edge, by the label that this leads to.
    pub(super) behind: &'a [f64],
}

/// What a visit changes: slices for this rider alone.
pub(super) struct Said<'a> {
    /// What it says, edge by edge.
    pub(super) message: &'a mut [f64],
    /// Probabilities of the edges at which each stamp was given, by cell.
    pub(super) shares: &'a mut [f64],
    /// Probabilities that each stamp was given to an event of a class, by stamp and class.
    pub(super) classes: &'a mut [f64],
    /// What it said before, if messages are damped; otherwise empty.
    pub(super) old: &'a [f64],
}

impl Said<'_> {
    /// Makes what is said the geometric mean of it and what was said before.
    pub(super) fn damp(&mut self) {
        let both = self.message.iter_mut().zip(self.old);
        both.for_each(|(new, old)| *new = (*new * old).sqrt());
    }
}

/// Shares of a stamp that have less left to move, in sum, have settled. The evidence is then right to the square of it,
/// since it is stationary in what is said.
const SETTLED: f64 = 1e-6;
/// The largest ratio of two moves from which what is left is told: those that hardly shrink must be small themselves.
const SLOWEST: f64 = 0.999;

/// What a visit comes to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Visited {
    /// log of the sum over all ways, less that of all by what the rider says.
    pub(super) log_gain: f64,
    /// By how much the shares of a stamp moved at most, in sum.
    pub(super) moved: f64,
}

impl Visited {
    /// Before the first visit.
    pub(super) const NONE: Self = Self { log_gain: 0.0, moved: 0.0 };

    /// Whether little is left to move, if visits go on as from the last one to this. NaN has not settled.
    pub(super) fn has_settled(&self, last: &Self) -> bool {
        // The rest of a geometric series. A first visit, which has no last one, is no sign of any.
        let ratio = (self.moved / last.moved).min(SLOWEST);
        self.moved * ratio < SETTLED * (1.0 - ratio)
    }
}

/// Buffers of one thread.
#[derive(Debug, Default)]
pub(super) struct Visit {
    /// F by edge.
    free: Vec<f64>,
    /// B by edge and occurrence.
    giving: Vec<f64>,
    /// The stamps that are open at each edge, by place among those of the rider.
    open: Vec<Range<usize>>,
    /// Where the states before each edge begin.
    offsets: Vec<usize>,
    /// A before each edge, by stamps decided and label.
    before: Vec<f64>,
    /// The weight of all stamps from f on if none of them is given.
    nowhere: Vec<f64>,
    /// What weighs behind an edge, by stamps decided and label.
    behind: Vec<f64>,
    /// What weighs behind an edge, and before it, without the stamps.
    without: Vec<f64>,
    room: Room,
}

/// Numbers of one edge.
#[derive(Debug, Default)]
struct Room {
    /// States behind the edge, or before it.
    next: Vec<f64>,
    /// X by label, and the weight with a stamp given here by occurrence.
    undecided: Vec<f64>,
    passed: Vec<f64>,
    /// What weighs if a stamp is given here, and if it or a later one is, by stamp and occurrence.
    gives: Vec<f64>,
    later: Vec<f64>,
    /// Weight of all ways, by the label before the edge.
    single: Vec<f64>,
}

impl Ride<'_> {
    fn labels(&self) -> usize {
        self.told.form.labels
    }

    pub(super) fn occurrences(&self) -> &[Occurrence] {
        &self.told.form.streams[self.rider.stream].occurrences
    }

    /// By occurrence.
    fn habits(&self) -> &[Habit] {
        &self.told.form.streams[self.rider.stream].habits
    }

    /// The weight of a stamp that an event of a class gives at an edge.
    fn density(&self, stamp: usize, edge: usize, class: usize) -> f64 {
        let press = &self.presses[stamp];
        let recorded = &self.told.scene.streams[self.rider.stream].sources[press.source].recorded;
        recorded[class] * self.densities[press.cells.start + edge - press.edges.start]
    }

    /// Calls `each` with every open stamp and occurrence, and the weight of all ways to come there and give it, but for B.
    fn each_given(
        &self,
        edge: usize,
        open: &Range<usize>,
        before: &[f64],
        (undecided, passed): (&mut Vec<f64>, &mut Vec<f64>),
        mut each: impl FnMut(usize, usize, f64),
    ) {
        let (labels, occurrences, habits) = (self.labels(), self.occurrences(), self.habits());
        undecided.clear();
        undecided.resize(labels, 0.0);
        passed.clear();
        passed.resize(occurrences.len(), 0.0);
        for (stamp, before) in open.clone().zip(before.chunks_exact(labels)) {
            undecided.iter_mut().zip(before).for_each(|(own, before)| *own += before);
            for (o, (occurrence, passed)) in occurrences.iter().zip(passed.iter_mut()).enumerate() {
                let ways = undecided[occurrence.from] + habits[o].further * *passed;
                let given = ways * self.density(stamp, edge, occurrence.class);
                each(stamp, o, given);
                *passed = given + self.presses[stamp].nowhere * *passed;
            }
            undecided.iter_mut().for_each(|own| *own *= self.presses[stamp].nowhere);
        }
    }
}

impl Visit {
    /// Sums over all ways of a rider and overwrites what it says. `tallies` are those of its edges, without it.
    pub(super) fn visit(
        &mut self,
        ride: &Ride<'_>,
        tallies: &[f64],
        said: &mut Said<'_>,
    ) -> Visited {
        self.prepare(ride, tallies);
        let log_total = self.forward(ride);
        let moved = self.backward(ride, said);
        said.damp();
        Visited { log_gain: log_total - self.log_said(ride, said.message), moved }
    }

    /// Weights of edges with what all others say.
    fn prepare(&mut self, ride: &Ride<'_>, tallies: &[f64]) {
        let Ride { told, rider, presses, .. } = *ride;
        let (form, occurrences) = (&told.form, ride.occurrences());
        let squared = form.labels * form.labels;
        self.free.resize(rider.edges.len() * squared, 0.0);
        self.giving.resize(rider.edges.len() * occurrences.len(), 0.0);
        self.open.clear();
        self.offsets.clear();
        let (mut offset, mut open) = (0, 0..0);
        let all = rider.edges.clone().zip(tallies.chunks_exact(form.tally));
        for (j, (edge, tally)) in all.enumerate() {
            let free = &mut self.free[j * squared..(j + 1) * squared];
            told.weigh_but(Some(rider.stream), edge, tally, free);
            for (o, occurrence) in occurrences.iter().enumerate() {
                let giving = form.streams[rider.stream].giving(o, tally);
                self.giving[j * occurrences.len() + o] = free[form.edge(occurrence)] * giving;
            }
            told.weigh_events(rider.stream, tally, free);
            while presses[open.start].edges.end <= edge {
                open.start += 1;
            }
            while presses.get(open.end).is_some_and(|press| press.edges.start <= edge) {
                open.end += 1;
            }
            self.offsets.push(offset);
            offset += (open.len() + 1) * form.labels;
            self.open.push(open.clone());
        }
        self.offsets.push(offset);
        self.nowhere.clear();
        self.nowhere.resize(presses.len() + 1, 1.0);
        for f in (0..presses.len()).rev() {
            self.nowhere[f] = self.nowhere[f + 1] * presses[f].nowhere;
        }
    }

    /// Fills the states before each edge; returns the log total.
    fn forward(&mut self, ride: &Ride<'_>) -> f64 {
        let (labels, edges) = (ride.labels(), self.open.len());
        let (squared, occurrences) = (labels * labels, ride.occurrences());
        self.before.clear();
        self.before.resize(self.offsets[edges], 0.0);
        self.before[..labels].copy_from_slice(ride.before);
        let Room { next, undecided, passed, .. } = &mut self.room;
        let mut log_total = 0.0;
        for (j, open) in self.open.iter().enumerate() {
            let here = &self.before[self.offsets[j]..self.offsets[j + 1]];
            let free = &self.free[j * squared..(j + 1) * squared];
            let giving = &self.giving[j * occurrences.len()..];
            next.clear();
            next.resize(here.len(), 0.0);
            for (next, here) in next.chunks_exact_mut(labels).zip(here.chunks_exact(labels)) {
                for (here, free) in here.iter().zip(free.chunks_exact(labels)) {
                    next.iter_mut().zip(free).for_each(|(next, free)| *next += here * free);
                }
            }
            let edge = ride.rider.edges.start + j;
            ride.each_given(edge, open, here, (undecided, passed), |stamp, o, given| {
                let decided = stamp + 1 - open.start;
                next[decided * labels + occurrences[o].to] += given * giving[o];
            });
            log_total += normalise(next).ln();
            if let Some(later) = self.open.get(j + 1) {
                let gone = later.start - open.start;
                leave(&ride.presses[open.start..later.start], labels, next);
                let kept = &next[gone * labels..];
                self.before[self.offsets[j + 1]..][..kept.len()].copy_from_slice(kept);
            }
        }
        let first = self.open[edges - 1].start;
        let ends = next.chunks_exact(labels).zip(&self.nowhere[first..]);
        let weigh = |(next, nowhere): (&[f64], &f64)| {
            nowhere * next.iter().zip(ride.behind).map(|(a, b)| a * b).sum::<f64>()
        };
        log_total + ends.map(weigh).sum::<f64>().ln()
    }

    /// Fills what is said; returns by how much the shares moved.
    fn backward(&mut self, ride: &Ride<'_>, said: &mut Said<'_>) -> f64 {
        let (labels, edges) = (ride.labels(), self.open.len());
        let last = &self.open[edges - 1];
        self.behind.clear();
        for nowhere in &self.nowhere[last.start..=last.end] {
            self.behind.extend(std::iter::repeat_n(*nowhere, labels));
        }
        said.classes.fill(0.0);
        self.without.clear();
        self.without.extend_from_slice(&ride.behind[..labels]);
        self.without.resize(2 * labels, 0.0);
        let ones = vec![1.0; labels];
        let mut moved = vec![0.0; ride.presses.len()];
        for j in (0..edges).rev() {
            // What lies behind the window is not this rider's to say.
            let tail = if j + 1 == edges { ride.behind } else { &ones };
            self.weigh(ride, j, tail);
            let total: f64 = self.room.single.iter().sum();
            self.share(ride, j, tail, 1.0 / total, said, &mut moved);
            let free = &self.free[j * labels * labels..(j + 1) * labels * labels];
            let (behind, here) = self.without.split_at_mut(labels);
            beyond(Any(labels), free, behind, here);
            self.say(ride, j, said);
            self.without.copy_within(labels.., 0);
            let Some(before) = j.checked_sub(1) else { break };
            let gone = self.open[j].start - self.open[before].start;
            let kept = self.open[before].len() + 1 - gone;
            self.behind.clear();
            self.behind.resize(gone * labels, 0.0);
            self.behind.extend(self.room.next[..kept * labels].iter().map(|next| next / total));
            for f in (0..gone).rev() {
                let nowhere = ride.presses[self.open[before].start + f].nowhere;
                for y in 0..labels {
                    self.behind[f * labels + y] = nowhere * self.behind[(f + 1) * labels + y];
                }
            }
        }
        moved.into_iter().fold(0.0, f64::max)
    }

    /// What weighs from before an edge on, and there by label; what each stamp weighs if it is given there.
    fn weigh(&mut self, ride: &Ride<'_>, j: usize, tail: &[f64]) {
        let (labels, occurrences) = (ride.labels(), ride.occurrences());
        let (open, edge) = (self.open[j].clone(), ride.rider.edges.start + j);
        let Room { next, gives, later, single, .. } = &mut self.room;
        let count = occurrences.len();
        later.clear();
        later.resize((open.len() + 1) * count, 0.0);
        gives.clear();
        gives.resize(open.len() * count, 0.0);
        for f in (0..open.len()).rev() {
            let stamp = open.start + f;
            for (o, occurrence) in occurrences.iter().enumerate() {
                let after = later[(f + 1) * count + o];
                let done = self.behind[(f + 1) * labels + occurrence.to];
                let further = ride.habits()[o].further * after;
                gives[f * count + o] =
                    ride.density(stamp, edge, occurrence.class) * (done + further);
                later[f * count + o] = gives[f * count + o] + ride.presses[stamp].nowhere * after;
            }
        }
        let free = &self.free[j * labels * labels..(j + 1) * labels * labels];
        let giving = &self.giving[j * count..(j + 1) * count];
        next.clear();
        for behind in self.behind.chunks_exact(labels) {
            next.extend(free.chunks_exact(labels).map(|free| {
                let ways = free.iter().zip(behind).zip(tail);
                ways.map(|((free, behind), tail)| free * behind * tail).sum::<f64>()
            }));
        }
        for (f, later) in later.chunks_exact(count).enumerate() {
            for ((occurrence, later), giving) in occurrences.iter().zip(later).zip(giving) {
                next[f * labels + occurrence.from] += giving * later * tail[occurrence.to];
            }
        }
        let before = &self.before[self.offsets[j]..self.offsets[j + 1]];
        single.clear();
        single.resize(labels, 0.0);
        for (before, next) in before.chunks_exact(labels).zip(next.chunks_exact(labels)) {
            let ways = single.iter_mut().zip(before).zip(next);
            ways.for_each(|((single, before), next)| *single += before * next);
        }
    }

    /// The probability that each stamp was given at an edge.
    fn share(
        &mut self,
        ride: &Ride<'_>,
        j: usize,
        tail: &[f64],
        scale: f64,
        said: &mut Said<'_>,
        moved: &mut [f64],
    ) {
        let (occurrences, classes) = (ride.occurrences(), ride.labels() - 1);
        let (open, edge) = (self.open[j].clone(), ride.rider.edges.start + j);
        let Room { undecided, passed, gives, .. } = &mut self.room;
        let giving = &self.giving[j * occurrences.len()..];
        let first = ride.presses[0].cells.start;
        let cell = |stamp: usize| {
            let press = &ride.presses[stamp];
            press.cells.start - first + edge - press.edges.start
        };
        let old: Vec<f64> = open.clone().map(|stamp| said.shares[cell(stamp)]).collect();
        open.clone().for_each(|stamp| said.shares[cell(stamp)] = 0.0);
        let before = &self.before[self.offsets[j]..self.offsets[j + 1]];
        // Ways to give it, and to go on behind it; its density is in both.
        ride.each_given(edge, &open, before, (undecided, passed), |stamp, o, given| {
            let occurrence = &occurrences[o];
            let density = ride.density(stamp, edge, occurrence.class);
            if density > 0.0 {
                let on = gives[(stamp - open.start) * occurrences.len() + o] / density;
                let share = given * giving[o] * on * tail[occurrence.to] * scale;
                said.shares[cell(stamp)] += share;
                said.classes[stamp * classes + occurrence.class] += share;
            }
        });
        for (stamp, old) in open.zip(old) {
            moved[stamp] += (said.shares[cell(stamp)] - old).abs();
        }
    }

    /// What the rider says of an edge.
    fn say(&mut self, ride: &Ride<'_>, j: usize, said: &mut Said<'_>) {
        let form = &ride.told.form;
        let (labels, occurrences) = (form.labels, ride.occurrences());
        let Room { later, single, .. } = &self.room;
        let message = &mut said.message[j * form.message..(j + 1) * form.message];
        message.fill(0.0);
        let (edges, events) = message.split_at_mut(labels * labels);
        let is_last = j + 1 == self.open.len();
        let (behind_without, here_without) = self.without.split_at(labels);
        let beside = |z: usize, y: usize| {
            let before = if j == 0 { 1.0 } else { here_without[z] };
            if is_last { before } else { before / behind_without[y] }
        };
        let states = self.before[self.offsets[j]..self.offsets[j + 1]].chunks_exact(labels);
        for (f, (before, behind)) in states.zip(self.behind.chunks_exact(labels)).enumerate() {
            // By the label before it; before the window nothing is this rider's to say.
            let arrived = |z: usize| match (j, f) {
                (0, 0) => 1.0,
                (0, _) => 0.0,
                _ if single[z] > 0.0 => before[z] / single[z],
                _ => 0.0,
            };
            for (z, edges) in edges.chunks_exact_mut(labels).enumerate() {
                let arrived = arrived(z);
                for (y, (own, behind)) in edges.iter_mut().zip(behind).enumerate() {
                    *own += arrived * behind * beside(z, y);
                }
            }
            let later = &later[f * occurrences.len()..];
            for ((occurrence, later), event) in occurrences.iter().zip(later).zip(&mut *events) {
                *event += arrived(occurrence.from) * later * beside(occurrence.from, occurrence.to);
            }
        }
        // Where no path leads nothing can be said.
        let free = &self.free[j * edges.len()..(j + 1) * edges.len()];
        let possible = edges.iter().zip(free).filter(|(_, free)| **free > 0.0);
        let scale = possible.map(|(own, _)| *own).fold(0.0, f64::max);
        let stream = &form.streams[ride.rider.stream];
        let shared = events.iter().take(occurrences.len()).enumerate();
        let shared = shared.filter_map(|(o, event)| Some(stream.ratio(o)? * event));
        let scale = shared.fold(scale, f64::max);
        // With events that always have a stamp there may be no way without one.
        let scale = if scale > 0.0 { scale } else { 1.0 };
        for (own, free) in edges.iter_mut().zip(free) {
            *own = if *own > 0.0 && *free > 0.0 { *own / scale } else { 1.0 };
        }
        events.iter_mut().for_each(|event| *event /= scale);
    }

    /// log of what all ways of the rider weigh by what it says, relative to the weights before and behind.
    fn log_said(&mut self, ride: &Ride<'_>, message: &[f64]) -> f64 {
        let form = &ride.told.form;
        let (labels, occurrences) = (form.labels, ride.occurrences());
        let squared = labels * labels;
        let mut here = ride.before.to_vec();
        let mut log_total = 0.0;
        for (j, message) in message.chunks_exact(form.message).enumerate() {
            let next = &mut self.room.next;
            next.clear();
            next.resize(labels, 0.0);
            let weights = self.free[j * squared..(j + 1) * squared].chunks_exact(labels);
            let ways = here.iter().zip(weights).zip(message.chunks_exact(labels));
            for ((here, free), said) in ways {
                let edges = next.iter_mut().zip(free).zip(said);
                edges.for_each(|((next, free), said)| *next += here * free * said);
            }
            let giving = &self.giving[j * occurrences.len()..];
            let events = occurrences.iter().zip(giving).zip(&message[squared..]);
            for ((occurrence, giving), event) in events {
                next[occurrence.to] += here[occurrence.from] * giving * event;
            }
            log_total += normalise(next).ln();
            here.copy_from_slice(next);
        }
        log_total + here.iter().zip(ride.behind).map(|(a, b)| a * b).sum::<f64>().ln()
    }
}

/// Stamps that leave their windows undecided come from nowhere.
fn leave(presses: &[Press], labels: usize, states: &mut [f64]) {
    for (f, press) in presses.iter().enumerate() {
        for y in 0..labels {
            states[(f + 1) * labels + y] += press.nowhere * states[f * labels + y];
        }
    }
}
