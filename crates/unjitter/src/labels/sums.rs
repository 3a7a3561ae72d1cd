//! The sum over all labels and all ways in which stamps were given.
//!
//! Stamps and labels agree by expectation propagation: each rider in turn is summed exactly, given what all others say of
//! the edges, and says what it knows beyond that (`visit`). Once nothing moves,
//!
//! ```text
//! log Z ≈ log Z_all + Σ_k (log T_k − log Q_k)
//! ```
//!
//! with Z_all the sum over all labels by what everybody says, T_k that over the window of rider k in which it is summed, and
//! Q_k the same in which it only says. It is exact for one rider, and for any number whose windows do not overlap. At the
//! fixed point it is stationary in the messages, so its derivatives are expectations. Three to ten rounds are usual. Only
//! riders near those that move are visited again, but the last round visits all, and none may move in it.
//!
//! Riders of a run of some thousand edges are visited one after the other, and runs in parallel; the data alone decide
//! where runs begin.

use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rayon::prelude::*;

use super::count::counted;
use super::lone::Lone;
use super::memory::RUN;
use super::moments::Moments;
use super::path::{Paths, normalise};
use super::riders::{Riders, together};
use super::scene::{Scene, Source};
use super::told::{Form, Told};
use super::visit::{Ride, Said, Visit, Visited};
use crate::inference::Impossible;
use crate::memory::{hold, is_little, memory_limit};

/// Rounds before messages become geometric means of the last two, and before the session fails.
const PLAIN_ROUNDS: usize = 40;
const MOST_ROUNDS: usize = 400;

/// Messages of a session, kept from one evaluation to the next: those of each rider's edges.
#[derive(Debug, Default)]
pub(crate) struct Kept(Mutex<(Vec<Range<usize>>, Vec<f64>)>);

impl Clone for Kept {
    fn clone(&self) -> Self {
        Self(Mutex::new(self.lock().clone()))
    }
}

impl Kept {
    fn lock(&self) -> MutexGuard<'_, (Vec<Range<usize>>, Vec<f64>)> {
        // A panic elsewhere leaves messages that are as good as any to begin with.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What stamps say of labels, and where they belong.
#[derive(Debug)]
pub(crate) struct Summed {
    /// log p(stamps, known labels | features), without what the background gives nothing of.
    pub(crate) log_evidence: f64,
    /// p(y_i = k | stamps), by instance and class.
    pub(crate) presence: Vec<f64>,
    /// The same without stamps.
    pub(crate) prior: Vec<f64>,
    /// Derivatives in log onset rate and log offset rate.
    pub(crate) d_rates: [f64; 2],
    /// By stream.
    pub(crate) streams: Vec<SummedStream>,
}

/// The same of one stream.
#[derive(Debug)]
pub(crate) struct SummedStream {
    /// Expected events without a stamp, by class.
    pub(crate) missed: Vec<f64>,
    /// p(an event of a class is at an instance and has no stamp), by instance and class.
    pub(crate) silent: Vec<f64>,
    /// p(an event of a class is at an instance), by instance and class.
    pub(crate) events: Vec<f64>,
    /// Its stamps, by source and place there.
    pub(crate) stamps: Vec<Vec<SummedStamp>>,
}

/// The same of one stamp.
#[derive(Debug, Clone, Default)]
pub(crate) struct SummedStamp {
    /// The first instance that it may have come from.
    pub(crate) first: usize,
    /// p(it came from this instance) from there on.
    pub(crate) shares: Vec<f64>,
    /// p(it came from an event of this class).
    pub(crate) classes: Vec<f64>,
}

impl Scene<'_> {
    /// Sums over everything. Messages of a similar sum, if there are any, shorten it, and are overwritten.
    pub(crate) fn sum(&self, kept: Option<&Kept>) -> Result<Summed, Impossible> {
        self.sum_damped(PLAIN_ROUNDS, kept)
    }

    /// The same with messages that are damped after so many rounds.
    pub(super) fn sum_damped(
        &self,
        after: usize,
        kept: Option<&Kept>,
    ) -> Result<Summed, Impossible> {
        let (form, mut riders) = (Form::new(self), Riders::place(self));
        let bytes = self.bytes(&form, &riders, kept.map_or(0, |kept| kept.lock().1.len()));
        if bytes > memory_limit() {
            return Err(Impossible::TooLarge(bytes));
        }
        let is_much = !is_little(bytes);
        let _held = is_much.then(|| hold(bytes));
        // Who holds memory hands no work to others.
        let in_parallel = self.chain.runs_in_parallel() && !is_much;
        riders.weigh(self, in_parallel);
        let mut work = Work::new(Told::nothing(self, form, in_parallel), riders);
        if let Some(kept) = kept {
            work.recall(kept);
        }
        let (paths, log_gain) = work.settle(after)?;
        let summed = work.summed(&paths, log_gain)?;
        if let Some(kept) = kept {
            work.keep(kept);
        }
        Ok(summed)
    }
}

struct Work<'a> {
    told: Told<'a>,
    riders: Riders,
    /// What each rider says, by edge of its window.
    messages: Vec<f64>,
    /// Where each stamp was given, by cell.
    shares: Vec<f64>,
    /// To an event of which class, by stamp in order of riders.
    classes: Vec<f64>,
}

/// Riders that are visited one after the other, and what they change.
struct Run<'a> {
    riders: Range<usize>,
    messages: &'a mut [f64],
    shares: &'a mut [f64],
    classes: &'a mut [f64],
}

impl<'a> Work<'a> {
    fn new(told: Told<'a>, riders: Riders) -> Self {
        let mut messages = vec![0.0; riders.messages * told.form.message];
        told.form.say_nothing(&mut messages);
        let shares = vec![0.0; riders.densities.len()];
        let classes = vec![0.0; riders.presses.len() * (told.form.labels - 1)];
        Self { told, riders, messages, shares, classes }
    }

    /// Visits riders until nothing is left to move, with messages that are damped after so many rounds; returns all
    /// paths by what they say, and Σ (log T − log Q).
    fn settle(&mut self, damped_after: usize) -> Result<(Paths<f64>, f64), Impossible> {
        let riders = &self.riders.riders;
        let (mut is_due, mut last) = (vec![true; riders.len()], vec![Visited::NONE; riders.len()]);
        let all = together(riders.iter().map(|rider| rider.edges.clone()));
        self.told.tell(&self.riders, &self.messages, &all);
        let mut paths = Paths::new(&self.told, self.told.in_parallel);
        for round in 0..MOST_ROUNDS {
            if !paths.log_normaliser().is_finite() {
                return Err(Impossible::Together);
            }
            let found = self.round(&paths, &is_due, round >= damped_after)?;
            let riders = self.riders.riders.iter().zip(&is_due).filter(|(_, is_due)| **is_due);
            let changed = together(riders.map(|(rider, _)| rider.edges.clone()));
            self.told.tell(&self.riders, &self.messages, &changed);
            paths.renew(&self.told, &changed, self.told.in_parallel);
            let mut moves = vec![false; is_due.len()];
            for (k, found) in found.into_iter().enumerate().filter(|(k, _)| is_due[*k]) {
                moves[k] = self.riders.riders.len() > 1 && !found.has_settled(&last[k]);
                last[k] = found;
            }
            is_due = match moves.contains(&true) {
                true => self.riders.near(&moves),
                // The certificate: labels carry what far riders say, so all have to stand still at once.
                false if is_due.contains(&false) => vec![true; is_due.len()],
                false => return Ok((paths, last.iter().map(|own| own.log_gain).sum())),
            };
        }
        Err(Impossible::Unsettled)
    }

    /// Visits the riders that are due.
    fn round(
        &mut self,
        paths: &Paths<f64>,
        is_due: &[bool],
        is_damped: bool,
    ) -> Result<Vec<Visited>, Impossible> {
        let (told, riders) = (&self.told, &self.riders);
        let runs = runs(told, riders, &mut self.messages, &mut self.shares, &mut self.classes);
        let work = |run: Run<'_>| visit_run(told, riders, paths, run, is_due, is_damped);
        let visited: Vec<Vec<Visited>> = match told.in_parallel {
            true => runs.into_par_iter().map(work).collect(),
            false => runs.into_iter().map(work).collect(),
        };
        let visited = visited.concat();
        match visited.iter().all(|own| own.log_gain.is_finite()) {
            true => Ok(visited),
            false => Err(Impossible::Together),
        }
    }

    fn recall(&mut self, kept: &Kept) {
        let kept = kept.lock();
        let (edges, messages) = &*kept;
        if edges.len() != self.riders.riders.len() {
            return;
        }
        let width = self.told.form.message;
        if edges.iter().eq(self.riders.riders.iter().map(|rider| &rider.edges)) {
            self.messages.copy_from_slice(messages);
            return;
        }
        let mut from = 0;
        for (rider, edges) in self.riders.riders.iter().zip(edges) {
            let first = rider.edges.start.max(edges.start);
            for edge in first..rider.edges.end.min(edges.end) {
                let own = (rider.messages.start + edge - rider.edges.start) * width;
                let old = (from + edge - edges.start) * width;
                self.messages[own..own + width].copy_from_slice(&messages[old..old + width]);
            }
            from += edges.len();
        }
    }

    fn keep(self, kept: &Kept) {
        let edges = self.riders.riders.iter().map(|rider| rider.edges.clone()).collect();
        *kept.lock() = (edges, self.messages);
    }

    /// What it came to.
    fn summed(&self, paths: &Paths<f64>, log_gain: f64) -> Result<Summed, Impossible> {
        let moments = Moments::new(&self.told, paths);
        let log_all = self.told.scales + paths.log_normaliser() - moments.log_normaliser;
        let log_evidence = log_all + log_gain + self.riders.log_scale;
        if !log_evidence.is_finite() {
            return Err(Impossible::Together);
        }
        let Moments { presence, prior, d_rates, mut events, mut silent, .. } = moments;
        let classes = self.told.form.labels - 1;
        for (k, stream) in self.told.scene.streams.iter().enumerate() {
            // Ends are at the edge behind their instance.
            let rest = stream.variable.edge(0) * classes;
            for by_edge in [&mut events[k], &mut silent[k]] {
                by_edge.drain(..rest);
                by_edge.truncate(presence.len());
            }
        }
        let streams = self.streams(events, silent);
        Ok(Summed { log_evidence, presence, prior, d_rates, streams })
    }

    fn streams(&self, events: Vec<Vec<f64>>, silent: Vec<Vec<f64>>) -> Vec<SummedStream> {
        let scene = self.told.scene;
        let classes = scene.chain.classes();
        let mut streams = Vec::with_capacity(scene.streams.len());
        for ((stream, events), silent) in scene.streams.iter().zip(events).zip(silent) {
            let mut missed = vec![0.0; classes];
            silent.iter().enumerate().for_each(|(at, p)| missed[at % classes] += p);
            let stamps = |own: &Source<'_>| vec![SummedStamp::default(); own.stamped.stamps.len()];
            let stamps = stream.sources.iter().map(stamps).collect();
            streams.push(SummedStream { missed, silent, events, stamps });
        }
        for rider in &self.riders.riders {
            let stream = &scene.streams[rider.stream];
            for (press, stamp) in rider.presses.clone().zip(rider.stamps.clone()) {
                let press = &self.riders.presses[press];
                streams[rider.stream].stamps[press.source][press.stamp] = SummedStamp {
                    first: stream.variable.instance(press.edges.start),
                    shares: self.shares[press.cells.clone()].to_vec(),
                    classes: self.classes[stamp * classes..(stamp + 1) * classes].to_vec(),
                };
            }
        }
        streams
    }
}

/// Neighbouring riders together, with the slices that are theirs.
fn runs<'a>(
    told: &Told<'_>,
    riders: &Riders,
    mut messages: &'a mut [f64],
    mut shares: &'a mut [f64],
    mut classes: &'a mut [f64],
) -> Vec<Run<'a>> {
    let mut runs = Vec::new();
    let (mut first, mut edges) = (0, 0);
    for (k, rider) in riders.riders.iter().enumerate() {
        edges += rider.edges.len();
        if edges < RUN && k + 1 < riders.riders.len() {
            continue;
        }
        let own = &riders.riders[first..=k];
        let stamps: usize = own.iter().map(|rider| rider.stamps.len()).sum();
        let cells: usize = own.iter().map(|rider| rider.cells(&riders.presses).len()).sum();
        runs.push(Run {
            riders: first..k + 1,
            messages: messages.split_off_mut(..edges * told.form.message).unwrap_or_default(),
            shares: shares.split_off_mut(..cells).unwrap_or_default(),
            classes: classes.split_off_mut(..stamps * (told.form.labels - 1)).unwrap_or_default(),
        });
        (first, edges) = (k + 1, 0);
    }
    runs
}

/// Visits the riders of a run that are due, from the first to the last; each hears what those before it have just said.
/// The others did not move.
fn visit_run(
    told: &Told<'_>,
    riders: &Riders,
    paths: &Paths<f64>,
    run: Run<'_>,
    is_due: &[bool],
    is_damped: bool,
) -> Vec<Visited> {
    let Run { riders: numbers, mut messages, mut shares, mut classes } = run;
    let form = &told.form;
    let (tally, message, labels) = (form.tally, form.message, form.labels);
    let mut weights = vec![0.0; labels * labels];
    let (mut visit, mut lone) = (Visit::default(), Lone::default());
    let (mut all, mut old) = (Vec::with_capacity(numbers.len()), Vec::new());
    // Tallies from an edge on, as far as riders of this run have changed them, and the state before another edge.
    let (mut tallies, mut first) = (Vec::new(), 0);
    let (mut here, mut next, mut at) = (vec![0.0; labels], vec![0.0; labels], 0);
    for number in numbers {
        let rider = &riders.riders[number];
        let cells = rider.cells(&riders.presses).len();
        let own = messages.split_off_mut(..rider.edges.len() * message).unwrap_or_default();
        let shares = shares.split_off_mut(..cells).unwrap_or_default();
        let classes =
            classes.split_off_mut(..rider.stamps.len() * (labels - 1)).unwrap_or_default();
        if !is_due[number] {
            all.push(Visited::NONE);
            continue;
        }
        let Range { start, end } = rider.edges;
        if first + tallies.len() / tally <= start {
            // Nobody before has just said anything of these edges.
            tallies.clear();
            (first, at) = (start, start);
            here.copy_from_slice(paths.before(start));
        }
        let known = first + tallies.len() / tally;
        if known < end {
            tallies.extend_from_slice(&told.tallies[known * tally..end * tally]);
        }
        while at < start {
            let with = &tallies[(at - first) * tally..(at - first + 1) * tally];
            told.weigh_but(None, at, with, &mut weights);
            step(&mut here, &weights, &mut next);
            at += 1;
        }
        let tallies = &mut tallies[(start - first) * tally..(end - first) * tally];
        counted!(labels, n => {
            let edges = tallies.chunks_exact_mut(tally).zip(own.chunks_exact(message));
            edges.for_each(|(tally, own)| form.take(n, rider.stream, own, tally));
        });
        old.clear();
        old.extend(own.iter().filter(|_| is_damped));
        let said = &mut Said { message: own, shares, classes, old: &old };
        let ride = Ride {
            told,
            rider,
            presses: &riders.presses[rider.presses.clone()],
            densities: &riders.densities,
            before: &here,
            behind: paths.behind(end - 1),
        };
        let visited = match rider.presses.len() {
            1 => counted!(labels, n => lone.visit(n, &ride, tallies, said)),
            _ => visit.visit(&ride, tallies, said),
        };
        counted!(labels, n => {
            let edges = tallies.chunks_exact_mut(tally).zip(said.message.chunks_exact(message));
            edges.for_each(|(tally, own)| form.add(n, rider.stream, own, tally));
        });
        all.push(visited);
    }
    all
}

/// Weights of the labels behind an edge, with room for them.
fn step(here: &mut [f64], weights: &[f64], next: &mut [f64]) {
    next.fill(0.0);
    for (here, weights) in here.iter().zip(weights.chunks_exact(here.len())) {
        next.iter_mut().zip(weights).for_each(|(next, weight)| *next += here * weight);
    }
    normalise(next);
    here.copy_from_slice(next);
}
