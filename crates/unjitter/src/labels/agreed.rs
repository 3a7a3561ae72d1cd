//! A crowded stretch: riders agree by expectation propagation.
//!
//! Each rider in turn is summed exactly, given what all others say of the edges, and says what it knows beyond that
//! (`visit`). Once nothing moves,
//!
//! ```text
//! log Z ≈ log Z_all + Σ_k (log T_k − log Q_k)
//! ```
//!
//! with Z_all the sum over all labels by what everybody says, T_k that over the window of rider k in which it is summed, and
//! Q_k the same in which it only says. It is exact for one rider, and for any number that no label joins. At the
//! fixed point it is stationary in the messages, so its derivatives are expectations. Three to ten rounds are usual. Only
//! riders near those that move are visited again, but the last round visits all, and none may move in it.
//!
//! Riders of a run of some thousand edges are visited one after the other, and runs in parallel; the data alone decide
//! where runs begin. Edges, cells and stamps are counted from the first of the stretch.

use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rayon::prelude::*;

use super::count::{Count, counted};
use super::exact::Transfer;
use super::expected::{Expected, Rated};
use super::lone::Lone;
use super::memory::RUN;
use super::path::{Edges, Paths, normalise};
use super::riders::{Riders, together};
use super::scene::Scene;
use super::stretch::Stretch;
use super::told::{Form, Told};
use super::visit::{Ride, Said, Visit, Visited};
use crate::inference::Impossible;

/// Rounds before the session fails.
pub(super) const MOST_ROUNDS: usize = 400;

/// Messages of crowded stretches, kept from one evaluation to the next.
#[derive(Debug, Default)]
pub(crate) struct Kept(Mutex<Messages>);

#[derive(Debug, Clone, Default)]
struct Messages {
    /// By rider: its first stamp among all, its edges among all, and where its messages begin. The stamps come in order.
    riders: Vec<(usize, Range<usize>, usize)>,
    messages: Vec<f64>,
}

impl Clone for Kept {
    fn clone(&self) -> Self {
        Self(Mutex::new(self.lock().clone()))
    }
}

impl Kept {
    fn lock(&self) -> MutexGuard<'_, Messages> {
        // A panic elsewhere leaves messages that are as good as any to begin with.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many numbers they are.
    pub(super) fn numbers(&self) -> usize {
        self.lock().messages.len()
    }

    /// Keeps those of these stretches, and no others.
    pub(super) fn keep(&self, stretches: Vec<Agreed<'_>>) {
        let mut all = Messages::default();
        for own in stretches {
            let (first, before) = (own.stretch.edges.start, all.messages.len());
            let riders = own.riders.riders.iter().zip(&own.keys).map(|(rider, key)| {
                let edges = rider.edges.start + first..rider.edges.end + first;
                (*key, edges, before + rider.messages.start * own.told.form.message)
            });
            all.riders.extend(riders);
            all.messages.extend(own.messages);
        }
        all.riders.sort_by_key(|own| own.0);
        *self.lock() = all;
    }
}

/// Riders of a crowded stretch, and what they say.
pub(super) struct Agreed<'a> {
    /// Its place in the session.
    stretch: Stretch,
    /// The first stamp of each rider among all.
    keys: Vec<usize>,
    told: Told<'a>,
    riders: Riders,
    /// What each rider says, by edge of its window.
    messages: Vec<f64>,
    /// Where each stamp was given, by cell.
    shares: Vec<f64>,
    /// To an event of which class, by stamp in order of riders.
    classes: Vec<f64>,
    /// Σ (log T − log Q).
    pub(super) log_gain: f64,
}

impl<'a> Agreed<'a> {
    pub(super) fn new(
        scene: &'a Scene<'a>,
        all: &Riders,
        stretch: &Stretch,
        kept: Option<&Kept>,
        in_parallel: bool,
    ) -> Self {
        let (riders, keys) = all.of(stretch);
        let told = Told::nothing(scene, Form::new(scene), stretch.edges.clone(), in_parallel);
        let mut messages = vec![0.0; riders.messages * told.form.message];
        told.form.say_nothing(&mut messages);
        let shares = vec![0.0; riders.densities.len()];
        let classes = vec![0.0; riders.presses.len() * (told.form.labels - 1)];
        let (stretch, log_gain) = (stretch.clone(), 0.0);
        let mut own = Self { stretch, keys, told, riders, messages, shares, classes, log_gain };
        kept.into_iter().for_each(|kept| own.recall(kept));
        own
    }

    /// The weights from label to label by what riders say.
    pub(super) fn transfer(&mut self) -> Transfer {
        self.tell_all();
        let labels = self.told.form.labels;
        let mut all =
            Transfer { weights: Vec::new(), before: labels, log_scale: f64::NEG_INFINITY };
        let rows: Vec<(f64, Vec<f64>)> = (0..labels)
            .map(|z| {
                let mut before = vec![0.0; labels];
                before[z] = 1.0;
                Paths::behind_all(&self.told, &before)
            })
            .collect();
        all.log_scale = rows.iter().map(|own| own.0).fold(f64::NEG_INFINITY, f64::max);
        for (log_scale, row) in rows {
            let scale = (log_scale - all.log_scale).exp();
            all.weights.extend(row.iter().map(|weight| scale * weight));
        }
        all
    }

    fn tell_all(&mut self) {
        let all = together(self.riders.riders.iter().map(|rider| rider.edges.clone()));
        self.told.tell(&self.riders, &self.messages, &all);
    }

    /// Visits riders until nothing is left to move, with messages that are damped after so many rounds, between weights
    /// of labels before the stretch and behind it; returns all paths by what they say.
    pub(super) fn settle(
        &mut self,
        border: (&[f64], &[f64]),
        damped_after: usize,
    ) -> Result<Paths<f64>, Impossible> {
        self.tell_all();
        let riders = &self.riders.riders;
        let (mut is_due, mut last) = (vec![true; riders.len()], vec![Visited::NONE; riders.len()]);
        let mut paths = Paths::between(border, &self.told, self.told.in_parallel);
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
                false => {
                    self.log_gain = last.iter().map(|own| own.log_gain).sum();
                    return Ok(paths);
                }
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
        let Messages { riders: known, messages } = &*kept.lock();
        let (width, first) = (self.told.form.message, self.stretch.edges.start);
        for (rider, key) in self.riders.riders.iter().zip(&self.keys) {
            let Ok(at) = known.binary_search_by_key(key, |own| own.0) else { continue };
            let (_, edges, from) = &known[at];
            let own = rider.edges.start + first..rider.edges.end + first;
            let (start, end) = (own.start.max(edges.start), own.end.min(edges.end));
            for edge in start..end {
                let to = (rider.messages.start + edge - own.start) * width;
                let from = from + (edge - edges.start) * width;
                self.messages[to..to + width].copy_from_slice(&messages[from..from + width]);
            }
        }
    }

    /// Its cells, and its stamps.
    pub(super) fn size(&self) -> (usize, usize) {
        (self.shares.len(), self.riders.presses.len())
    }

    /// Fills in what is expected by all paths. Returns the logarithm of what they weigh, and derivatives of it in log rates.
    pub(super) fn finish(&self, paths: &Paths<f64>, out: &mut Expected<'_>) -> (f64, [f64; 2]) {
        let told = &self.told;
        let mut rates = Rated::new(told.scene.chain);
        counted!(told.form.labels, n => {
            let mut p = vec![0.0; n.get() * n.get()];
            for edge in 0..told.edges() {
                told.weigh(n, edge, &mut p);
                paths.weigh(n, edge, &mut p);
                self.expect(n, edge, &p, &mut rates, out);
            }
        });
        out.shares.copy_from_slice(&self.shares);
        out.classes.copy_from_slice(&self.classes);
        (paths.log_normaliser(), rates.d_rates())
    }

    /// Tells of an edge whose labels have these probabilities.
    fn expect(
        &self,
        n: impl Count,
        edge: usize,
        p: &[f64],
        rates: &mut Rated<'_>,
        out: &mut Expected<'_>,
    ) {
        let (told, labels) = (&self.told, n.get());
        let gap = told.scene.chain.gap(self.stretch.edges.start + edge);
        out.add_labels(n, edge, p);
        rates.add(n, gap, told.transitions(edge), p);
        let tally = told.tally(edge);
        for (stream, own) in told.form.streams.iter().enumerate() {
            for (o, occurrence) in own.occurrences.iter().enumerate() {
                let p = p[occurrence.from * labels + occurrence.to];
                let (all, without) = own.weigh(o, tally);
                let silent = if p > 0.0 { p * without / all } else { 0.0 };
                out.count(n, stream, occurrence.class, [p, silent]);
                out.place(n, (stream, occurrence.class), edge, [p, silent]);
            }
        }
    }
}

/// Riders that are visited one after the other, and what they change.
struct Run<'a> {
    riders: Range<usize>,
    messages: &'a mut [f64],
    shares: &'a mut [f64],
    classes: &'a mut [f64],
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
