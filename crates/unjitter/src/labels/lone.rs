//! The sum over all ways in which a stamp that rides alone was given: that of `visit`, for the one state that it needs.
//!
//! Given or not yet, there are two numbers for every label before an edge. In crowded stretches nearly all time is spent here.

use super::count::Count;
use super::visit::{Ride, Said, Visited};

/// Totals beyond this range are divided out, so that no product of weights leaves that of numbers: weights of transitions
/// are above one where labels stay.
const ORDINARY: std::ops::Range<f64> = 1e-100..1e100;

/// Buffers of one thread.
#[derive(Debug, Default)]
pub(super) struct Lone {
    /// Weights of each edge without the stamp, of each event there that is given one, and with the density of this one.
    free: Vec<f64>,
    giving: Vec<f64>,
    given: Vec<f64>,
    /// Before each edge: not given, by label, then given.
    before: Vec<f64>,
    /// The same behind an edge, and before it.
    behind: Vec<f64>,
    here: Vec<f64>,
    /// Before an edge, relative to all ways by its label.
    arrived: Vec<f64>,
    /// What weighs behind an edge, and before it, without the stamp.
    without: Vec<f64>,
}

impl Lone {
    /// Sums over all ways and overwrites what is said. `tallies` are those of its edges, without it.
    pub(super) fn visit<N: Count>(
        &mut self,
        n: N,
        ride: &Ride<'_>,
        tallies: &[f64],
        said: &mut Said<'_>,
    ) -> Visited {
        self.prepare(n, ride, tallies);
        let log_total = self.forward(n, ride);
        let moved = self.backward(n, ride, said);
        said.damp();
        Visited { log_gain: log_total - self.log_said(n, ride, said.message), moved }
    }

    fn prepare<N: Count>(&mut self, n: N, ride: &Ride<'_>, tallies: &[f64]) {
        let (labels, squared) = (n.get(), n.get() * n.get());
        let (form, edges) = (&ride.told.form, ride.rider.edges.clone());
        let own = &form.streams[ride.rider.stream];
        let occurrences = own.occurrences.as_slice();
        let alone = form.streams.len() == 1;
        self.free.resize(edges.len() * squared, 0.0);
        self.giving.resize(edges.len() * occurrences.len(), 0.0);
        self.given.resize(edges.len() * occurrences.len(), 0.0);
        let first = ride.presses[0].cells.start;
        let sources = &ride.told.scene.streams[ride.rider.stream].sources;
        let recorded = &sources[ride.presses[0].source].recorded;
        let all = edges.zip(tallies.chunks_exact(form.tally));
        let room = self.free.chunks_exact_mut(squared);
        for (j, ((edge, tally), free)) in all.zip(room).enumerate() {
            ride.told.base(n, edge, free);
            for k in 0..squared {
                free[k] *= tally[k];
            }
            if !alone {
                let others = (0..form.streams.len()).filter(|&s| s != ride.rider.stream);
                others.for_each(|stream| ride.told.weigh_events(stream, tally, free));
            }
            let density = ride.densities[first + j];
            for (o, occurrence) in occurrences.iter().enumerate() {
                let at = occurrence.from * labels + occurrence.to;
                let giving = free[at] * own.giving(o, tally);
                self.giving[j * occurrences.len() + o] = giving;
                self.given[j * occurrences.len() + o] =
                    giving * recorded[occurrence.class] * density;
                free[at] *= own.weigh(o, tally).0;
            }
        }
    }

    fn forward<N: Count>(&mut self, n: N, ride: &Ride<'_>) -> f64 {
        let (labels, edges) = (n.get(), ride.rider.edges.len());
        let occurrences = ride.occurrences();
        self.before.resize((edges + 1) * 2 * labels, 0.0);
        self.before[..labels].copy_from_slice(&ride.before[..labels]);
        self.before[labels..2 * labels].fill(0.0);
        let mut log_scale = 0.0;
        let weights = self.free.chunks_exact(labels * labels);
        let weights = weights.zip(self.given.chunks_exact(occurrences.len()));
        for (j, (free, giving)) in weights.enumerate() {
            let (before, next) = self.before.split_at_mut((j + 1) * 2 * labels);
            let (before, next) = (&before[j * 2 * labels..], &mut next[..2 * labels]);
            let mut total = 0.0;
            for y in 0..labels {
                let (mut not_yet, mut given) = (0.0, 0.0);
                for z in 0..labels {
                    not_yet += before[z] * free[z * labels + y];
                    given += before[labels + z] * free[z * labels + y];
                }
                (next[y], next[labels + y]) = (not_yet, given);
                total += not_yet + given;
            }
            for (occurrence, giving) in occurrences.iter().zip(giving) {
                let given = before[occurrence.from] * giving;
                next[labels + occurrence.to] += given;
                total += given;
            }
            if !ORDINARY.contains(&total) {
                next.iter_mut().for_each(|next| *next /= total);
                log_scale += total.ln();
            }
        }
        let last = &self.before[edges * 2 * labels..];
        let nowhere = ride.presses[0].nowhere;
        let ways = (0..labels).map(|y| (last[y] * nowhere + last[labels + y]) * ride.behind[y]);
        log_scale + ways.sum::<f64>().ln()
    }

    fn backward<N: Count>(&mut self, n: N, ride: &Ride<'_>, said: &mut Said<'_>) -> f64 {
        let (labels, edges) = (n.get(), ride.rider.edges.len());
        let (squared, occurrences) = (labels * labels, ride.occurrences());
        let (form, nowhere) = (&ride.told.form, ride.presses[0].nowhere);
        let own = &form.streams[ride.rider.stream];
        let first = ride.presses[0].cells.start;
        let sources = &ride.told.scene.streams[ride.rider.stream].sources;
        let recorded = &sources[ride.presses[0].source].recorded;
        self.behind.resize(2 * labels, 0.0);
        self.here.resize(2 * labels, 0.0);
        self.arrived.resize(2 * labels, 0.0);
        self.without.resize(2 * labels, 0.0);
        self.without[..labels].copy_from_slice(&ride.behind[..labels]);
        for y in 0..labels {
            self.behind[y] = nowhere * ride.behind[y];
            self.behind[labels + y] = ride.behind[y];
        }
        said.classes.fill(0.0);
        let mut moved = 0.0;
        for j in (0..edges).rev() {
            let free = &self.free[j * squared..(j + 1) * squared];
            let giving = &self.given[j * occurrences.len()..(j + 1) * occurrences.len()];
            let before = &self.before[j * 2 * labels..(j + 1) * 2 * labels];
            let (behind, here) = (&self.behind[..2 * labels], &mut self.here[..2 * labels]);
            for z in 0..labels {
                let (mut not_yet, mut given) = (0.0, 0.0);
                for y in 0..labels {
                    not_yet += free[z * labels + y] * behind[y];
                    given += free[z * labels + y] * behind[labels + y];
                }
                (here[z], here[labels + z]) = (not_yet, given);
            }
            for (occurrence, giving) in occurrences.iter().zip(giving) {
                here[occurrence.from] += giving * behind[labels + occurrence.to];
            }
            // What lies before the window, and behind it, is not this rider's to say.
            let is_last = j + 1 == edges;
            let mut total = 0.0;
            for z in 0..labels {
                let single = before[z] * here[z] + before[labels + z] * here[labels + z];
                total += single;
                let inverse = if single > 0.0 { 1.0 / single } else { 0.0 };
                self.arrived[z] = if j == 0 { 1.0 } else { before[z] * inverse };
                self.arrived[labels + z] = if j == 0 { 0.0 } else { before[labels + z] * inverse };
            }
            let arrived = &self.arrived[..2 * labels];
            let rest = |y: usize| match is_last {
                true => (nowhere, 1.0),
                false => (behind[y], behind[labels + y]),
            };
            let (mut share, inverse) = (0.0, 1.0 / total);
            for (occurrence, giving) in occurrences.iter().zip(giving) {
                let ways = before[occurrence.from] * giving * behind[labels + occurrence.to];
                said.classes[occurrence.class] += ways * inverse;
                share += ways * inverse;
            }
            moved += f64::abs(share - said.shares[j]);
            said.shares[j] = share;

            let (behind_without, here_without) = self.without.split_at_mut(labels);
            beyond(n, free, behind_without, here_without);
            let beside = |z: usize, y: usize| {
                let before = if j == 0 { 1.0 } else { here_without[z] };
                if is_last { before } else { before / behind_without[y] }
            };
            let message = &mut said.message[j * form.message..(j + 1) * form.message];
            let mut largest: f64 = 0.0;
            for z in 0..labels {
                for y in 0..labels {
                    let (after_none, after_one) = rest(y);
                    let ways = arrived[z] * after_none + arrived[labels + z] * after_one;
                    let ways = ways * beside(z, y);
                    // Where no path leads nothing can be said.
                    message[z * labels + y] = if free[z * labels + y] > 0.0 { ways } else { 0.0 };
                    largest = largest.max(message[z * labels + y]);
                }
            }
            let density = ride.densities[first + j];
            for (o, occurrence) in occurrences.iter().enumerate() {
                let weight = arrived[occurrence.from] * rest(occurrence.to).1;
                let weight = weight * beside(occurrence.from, occurrence.to);
                let weight = weight * recorded[occurrence.class] * density;
                message[squared + o] = weight;
                largest = largest.max(own.ratio(o).map_or(0.0, |ratio| ratio * weight));
            }
            // With events that always have a stamp there may be no way without one.
            let inverse = if largest > 0.0 { 1.0 / largest } else { 1.0 };
            message[squared..].iter_mut().for_each(|event| *event *= inverse);
            for own in &mut message[..squared] {
                *own = if *own > 0.0 { *own * inverse } else { 1.0 };
            }
            behind_without.copy_from_slice(here_without);
            std::mem::swap(&mut self.behind, &mut self.here);
            let total: f64 = self.behind.iter().sum();
            if !ORDINARY.contains(&total) {
                self.behind.iter_mut().for_each(|behind| *behind /= total);
            }
        }
        moved
    }

    /// log of what all ways weigh by what is said, relative to the weights before and behind.
    fn log_said<N: Count>(&mut self, n: N, ride: &Ride<'_>, message: &[f64]) -> f64 {
        let (labels, form) = (n.get(), &ride.told.form);
        let (squared, occurrences) = (labels * labels, ride.occurrences());
        let (here, next) = (&mut self.here[..labels], &mut self.behind[..labels]);
        here.copy_from_slice(&ride.before[..labels]);
        let mut log_scale = 0.0;
        for (j, message) in message.chunks_exact(form.message).enumerate() {
            let free = &self.free[j * squared..(j + 1) * squared];
            let mut total = 0.0;
            for y in 0..labels {
                let ways =
                    (0..labels).map(|z| here[z] * free[z * labels + y] * message[z * labels + y]);
                next[y] = ways.sum();
                total += next[y];
            }
            for (o, occurrence) in occurrences.iter().enumerate() {
                let giving = self.giving[j * occurrences.len() + o];
                let given = here[occurrence.from] * giving * message[squared + o];
                next[occurrence.to] += given;
                total += given;
            }
            if !ORDINARY.contains(&total) {
                next.iter_mut().for_each(|next| *next /= total);
                log_scale += total.ln();
            }
            here.copy_from_slice(next);
        }
        let ways = here.iter().zip(ride.behind).map(|(a, b)| a * b);
        log_scale + ways.sum::<f64>().ln()
    }
}

/// Overwrites what weighs before an edge by what weighs behind it, as shares. Where a stamp is needed and none is there, a
/// label weighs nothing, and one is as good as any other number.
#[inline(always)]
pub(super) fn beyond(n: impl Count, free: &[f64], behind: &[f64], here: &mut [f64]) {
    let labels = n.get();
    for (here, free) in here.iter_mut().zip(free.chunks_exact(labels)) {
        *here = free.iter().zip(behind).map(|(free, behind)| free * behind).sum();
    }
    let total: f64 = here.iter().sum();
    here.iter_mut().for_each(|here| *here = if *here > 0.0 { *here / total } else { 1.0 });
}
