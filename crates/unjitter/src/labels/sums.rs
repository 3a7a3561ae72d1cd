//! The sum over all labels and all ways in which stamps were given.
//!
//! A session is cut into stretches ([`stretch`](super::stretch)). First each of them sums what leads through it, from label
//! to label; then all know what lies before and behind them, and tell what they expect. Where riders have to agree they do
//! so between these, again and again until no border moves. Without stamps the same is done beside it. Stretches are worked
//! on in parallel and added in order.

use std::ops::Range;

use rayon::prelude::*;

use super::agreed::{Agreed, Kept, MOST_ROUNDS};
use super::chain::Base;
use super::exact::{Exact, Room, Transfer, Voices};
use super::expected::{Expected, Rated};
use super::path::{Paths, normalise};
use super::riders::Riders;
use super::scene::{Scene, Source};
use super::spare::Spare;
use super::stretch::{Stretch, stretches};
use crate::inference::Impossible;
use crate::memory::{hold, is_little, memory_limit};

/// What is asked of a sum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// Derivatives of the log evidence.
    Slopes,
    /// What labels and events are.
    Posterior,
}

/// What stamps say of labels, and where they belong.
#[derive(Debug)]
pub(crate) struct Summed {
    /// log p(stamps, known labels | features), without what the background gives nothing of.
    pub(crate) log_evidence: f64,
    /// p(y_i = k | stamps), by instance and class; if slopes are wanted, less the same without stamps.
    pub(crate) presence: Vec<f64>,
    /// Derivatives in log onset rate and log offset rate.
    pub(crate) d_rates: [f64; 2],
    /// By stream.
    pub(crate) streams: Vec<SummedStream>,
    /// p(a stamp came from an instance), for all stamps and the instances in their windows.
    shares: Vec<f64>,
    /// p(a stamp came from an event of a class), by stamp and class.
    classes: Vec<f64>,
}

impl Summed {
    /// p(it came from this instance) from its first instance on.
    pub(crate) fn shares(&self, stamp: &SummedStamp) -> &[f64] {
        &self.shares[stamp.cells.clone()]
    }

    /// Leaves its room to the next sum.
    pub(crate) fn leave(self, spare: &mut Spare) {
        [self.presence, self.shares, self.classes].into_iter().for_each(|own| spare.keep(own));
    }

    /// p(it came from an event of this class).
    pub(crate) fn classes(&self, stamp: &SummedStamp) -> &[f64] {
        let classes = self.streams[0].counts.len();
        &self.classes[stamp.number * classes..(stamp.number + 1) * classes]
    }
}

/// The same of one stream.
#[derive(Debug)]
pub(crate) struct SummedStream {
    /// Expected events and those without a stamp, by class.
    pub(crate) counts: Vec<[f64; 2]>,
    /// p(an event of a class is at an instance), and that it is and has no stamp, by instance and class; empty if slopes
    /// are wanted.
    pub(crate) events: Vec<[f64; 2]>,
    /// Its stamps, by source and place there.
    pub(crate) stamps: Vec<Vec<SummedStamp>>,
}

/// The place of a stamp in a [`Summed`].
#[derive(Debug, Clone, Default)]
pub(crate) struct SummedStamp {
    /// The first instance that it may have come from.
    pub(crate) first: usize,
    cells: Range<usize>,
    number: usize,
}

/// When riders have to agree, and how.
#[derive(Debug, Clone, Copy)]
pub(super) struct Effort {
    /// Most states of an exact sum before an edge: labels times sets of open stamps.
    pub(super) most_states: usize,
    /// Rounds before messages become geometric means of the last two.
    pub(super) damped_after: usize,
    /// Edges from which an exact stretch may end: few enough that threads share a long session, and many beside those after
    /// which a chain has forgotten how it began.
    pub(super) long: usize,
}

impl Effort {
    pub(super) const USUAL: Self = Self { most_states: 512, damped_after: 40, long: 8192 };
}

/// Weights of labels before and behind stretches that move by less, as shares, have settled.
const SETTLED: f64 = 1e-9;

impl Scene<'_> {
    /// Sums over everything. Messages of a similar sum, if there are any, shorten it, and are overwritten.
    pub(crate) fn sum(
        &self,
        wanted: Wanted,
        kept: Option<&Kept>,
        spare: &mut Spare,
    ) -> Result<Summed, Impossible> {
        self.sum_with(wanted, Effort::USUAL, kept, spare)
    }

    pub(super) fn sum_with(
        &self,
        wanted: Wanted,
        effort: Effort,
        kept: Option<&Kept>,
        spare: &mut Spare,
    ) -> Result<Summed, Impossible> {
        let mut riders = Riders::place(self);
        let stretches = stretches(&riders, self.chain, effort);
        let bytes = self.bytes(&riders, &stretches, kept.map_or(0, Kept::numbers));
        if bytes > memory_limit() {
            return Err(Impossible::TooLarge(bytes));
        }
        let is_much = !is_little(bytes);
        let held = is_much.then(|| hold(bytes));
        // Who holds memory hands no work to others.
        let in_parallel = self.chain.runs_in_parallel() && !is_much;
        riders.weigh(self, spare.zeros(riders.cells), in_parallel);
        let voices = Voices::new(self);
        let work = Work { scene: self, riders: &riders, voices: &voices, wanted, in_parallel };
        let summed = work.summed(stretches, effort.damped_after, kept, spare);
        spare.keep(riders.densities);
        match summed {
            // Where stamps together leave the range of numbers, one at a time may not.
            Err(Impossible::Together) if effort.most_states > 0 && !riders.riders.is_empty() => {
                drop(held);
                self.sum_with(wanted, Effort { most_states: 0, ..effort }, kept, spare)
            }
            summed => summed,
        }
    }
}

struct Work<'a> {
    scene: &'a Scene<'a>,
    riders: &'a Riders,
    voices: &'a Voices<'a>,
    wanted: Wanted,
    in_parallel: bool,
}

/// What is known of a stretch before it is summed.
struct Known<'a> {
    stretch: Stretch,
    /// None if it is crowded.
    exact: Option<Exact<'a>>,
    bare: Exact<'a>,
}

/// What lies before each stretch and behind it, by state, as shares, and the logarithm that this was divided by.
#[derive(Clone)]
struct Borders {
    before: Vec<Vec<f64>>,
    behind: Vec<Vec<f64>>,
    /// Of what lies behind the first one.
    log_behind: f64,
}

impl Borders {
    /// Of neighbours that weigh this from state to state.
    fn between(transfers: &[Transfer], labels: usize) -> Self {
        let (mut first, last) = (vec![0.0; labels], vec![1.0; labels]);
        first[0] = 1.0;
        let (mut before, mut behind, mut log_behind) = (vec![first], vec![last], 0.0);
        for own in &transfers[..transfers.len() - 1] {
            let here = &before[before.len() - 1];
            let width = own.weights.len() / own.before;
            let mut next = vec![0.0; width];
            for (row, here) in own.weights.chunks_exact(width).zip(here) {
                next.iter_mut().zip(row).for_each(|(next, weight)| *next += here * weight);
            }
            normalise(&mut next);
            before.push(next);
        }
        for own in transfers[1..].iter().rev() {
            let here = &behind[behind.len() - 1];
            let weight = |row: &[f64]| row.iter().zip(here).map(|(a, b)| a * b).sum();
            let mut next: Vec<f64> = own.weights.chunks_exact(here.len()).map(weight).collect();
            log_behind += own.log_scale + normalise(&mut next).ln();
            behind.push(next);
        }
        behind.reverse();
        Self { before, behind, log_behind }
    }

    fn of(&self, stretch: usize) -> (&[f64], &[f64]) {
        (&self.before[stretch], &self.behind[stretch])
    }
}

/// What a stretch comes to, with stamps or without.
#[derive(Debug, Clone, Copy, Default)]
struct Finished {
    /// log of all ways, between what lies before and behind.
    log_total: f64,
    /// What weights of labels were divided by.
    scales: f64,
    d_rates: [f64; 2],
}

/// Expectations of a session.
struct All {
    presence: Vec<f64>,
    /// By stream, edge and class; empty if they are not wanted.
    events: Vec<Vec<[f64; 2]>>,
    /// By stream and class.
    counts: Vec<[f64; 2]>,
    /// By cell, and by stamp and class.
    shares: Vec<f64>,
    classes: Vec<f64>,
}

impl<'a> Work<'a> {
    fn summed(
        &self,
        stretches: Vec<Stretch>,
        damped_after: usize,
        kept: Option<&Kept>,
        spare: &mut Spare,
    ) -> Result<Summed, Impossible> {
        let (chain, silence) = (self.scene.chain, Voices::none(self.scene.chain.classes()));
        let know = |stretch: Stretch, _: &mut Room| Known {
            exact: stretch.states.is_some().then(|| Exact::new(self.voices, self.riders, &stretch)),
            bare: Exact::bare(&silence, stretch.edges.clone()),
            stretch,
        };
        let known = self.each(stretches, know);
        let mut agreed = Vec::new();
        for (k, own) in known.iter().enumerate().filter(|(_, own)| own.exact.is_none()) {
            let (scene, riders) = (self.scene, self.riders);
            agreed.push((k, Agreed::new(scene, riders, &own.stretch, kept, self.in_parallel)));
        }
        let (mut with, without): (Vec<Transfer>, Vec<Transfer>) = self.transfers(&known);
        let without = Borders::between(&without, self.labels());
        let (with, paths) = self.settle(&mut agreed, &mut with, damped_after)?;
        let mut all = All::nothing(self, spare);
        let finished = self.finish(&known, [&with, &without], &agreed, &paths, &mut all);
        let total = |k: usize, borders: &Borders| {
            let mut total = Finished { log_total: borders.log_behind, ..finished[0][k] };
            total.log_total += finished[0][k].log_total;
            for own in &finished[1..] {
                total.scales += own[k].scales;
                (0..2).for_each(|r| total.d_rates[r] += own[k].d_rates[r]);
            }
            total
        };
        let (with, mut without) = (total(0, &with), total(1, &without));
        if chain.needs_logs() {
            let (log_total, prior, d_rates) = chain.in_logs(self.in_parallel);
            let both = all.presence.iter_mut().zip(prior).filter(|_| self.wanted == Wanted::Slopes);
            both.for_each(|(own, prior)| *own -= prior);
            without = Finished { log_total, scales: 0.0, d_rates };
        }
        let gains: f64 = agreed.iter().map(|(_, own)| own.log_gain).sum();
        let log_all = with.log_total + with.scales - without.log_total - without.scales;
        let log_evidence = log_all + gains + self.riders.log_scale;
        if !log_evidence.is_finite() {
            return Err(Impossible::Together);
        }
        if let Some(kept) = kept {
            kept.keep(agreed.into_iter().map(|(_, own)| own).collect());
        }
        let d_rates = [0, 1].map(|r| with.d_rates[r] - without.d_rates[r]);
        Ok(all.told(self, log_evidence, d_rates))
    }

    fn labels(&self) -> usize {
        self.scene.chain.classes() + 1
    }

    /// Works on all, in parallel if it is worth it, each in the room of its thread.
    fn each<T: Send, R: Send>(
        &self,
        all: Vec<T>,
        work: impl Fn(T, &mut Room) -> R + Sync,
    ) -> Vec<R> {
        let work = |own| Room::with(|room| work(own, room));
        match self.in_parallel && all.len() > 1 {
            true => all.into_par_iter().map(work).collect(),
            false => all.into_iter().map(work).collect(),
        }
    }

    /// The weights of labels of a stretch, with what is known of them and without.
    fn bases(&self, stretch: &Stretch) -> (Base<f64>, Option<Base<f64>>) {
        let (chain, known) = (self.scene.chain, self.scene.known);
        let instances = stretch.edges.start..stretch.edges.end.min(known.len());
        let is_any_known = known.get(instances).is_some_and(|own| own.iter().any(Option::is_some));
        let bare = Base::of(chain, &[], stretch.edges.clone());
        (bare, is_any_known.then(|| Base::of(chain, known, stretch.edges.clone())))
    }

    /// What each stretch weighs from state to state with stamps, if it is not crowded, and without. Nobody asks for that of
    /// a single one.
    fn transfers(&self, known: &[Known<'_>]) -> (Vec<Transfer>, Vec<Transfer>) {
        let nothing = || {
            let before = self.labels();
            Transfer { weights: vec![1.0; before * before], before, log_scale: 0.0 }
        };
        if known.len() == 1 {
            return (vec![nothing()], vec![nothing()]);
        }
        let transfer = |own: &Known<'_>, room: &mut Room| {
            let (bare, with_known) = self.bases(&own.stretch);
            let exact = own.exact.as_ref();
            let with = exact.map_or_else(nothing, |exact| {
                exact.transfer(with_known.as_ref().unwrap_or(&bare), room)
            });
            (with, own.bare.transfer(&bare, room))
        };
        self.each(known.iter().collect(), transfer).into_iter().unzip()
    }

    /// Lets riders of crowded stretches agree until nothing moves there, nor between them. Returns what lies between
    /// stretches, and all paths through those.
    fn settle(
        &self,
        agreed: &mut [(usize, Agreed<'_>)],
        transfers: &mut [Transfer],
        damped_after: usize,
    ) -> Result<(Borders, Vec<Paths<f64>>), Impossible> {
        let is_only = transfers.len() == 1;
        let mut weigh = |agreed: &mut [(usize, Agreed<'_>)]| {
            for (k, own) in agreed.iter_mut().filter(|_| !is_only) {
                transfers[*k] = own.transfer();
            }
            Borders::between(transfers, self.labels())
        };
        let mut borders = weigh(agreed);
        for _ in 0..MOST_ROUNDS {
            let visit =
                |(k, own): &mut (usize, Agreed<'_>)| own.settle(borders.of(*k), damped_after);
            let paths: Result<Vec<Paths<f64>>, Impossible> = match self.in_parallel {
                true => agreed.par_iter_mut().map(visit).collect(),
                false => agreed.iter_mut().map(visit).collect(),
            };
            let (paths, next) = (paths?, weigh(agreed));
            let moved = |(k, _): &(usize, Agreed<'_>)| {
                let both = [(&borders.before, &next.before), (&borders.behind, &next.behind)];
                let all = both.into_iter().flat_map(|(old, new)| old[*k].iter().zip(&new[*k]));
                all.map(|(old, new)| (old - new).abs()).fold(0.0, f64::max)
            };
            let has_settled = agreed.iter().all(|own| moved(own) < SETTLED);
            borders = next;
            if has_settled {
                return Ok((borders, paths));
            }
        }
        Err(Impossible::Unsettled)
    }

    /// Fills in all expectations; returns what each stretch comes to with stamps and without.
    fn finish(
        &self,
        known: &[Known<'_>],
        [with, without]: [&Borders; 2],
        agreed: &[(usize, Agreed<'_>)],
        paths: &[Paths<f64>],
        all: &mut All,
    ) -> Vec<[Finished; 2]> {
        let chain = self.scene.chain;
        // In logarithms, labels without stamps are summed by themselves.
        let sign = match self.wanted {
            Wanted::Slopes if !chain.needs_logs() => -1.0,
            _ => 0.0,
        };
        let mut counts = std::mem::take(&mut all.counts);
        let places = all.places(self, known, agreed).into_iter().zip(known).enumerate();
        let finished = self.each(places.collect(), |(k, (mut place, own)), room| {
            let (bare, with_known) = self.bases(&own.stretch);
            let base = with_known.as_ref().unwrap_or(&bare);
            let (log_total, d_rates) = match &own.exact {
                Some(exact) => exact.finish(Rated::new(chain), base, with.of(k), room, &mut place),
                None => {
                    let at = agreed.partition_point(|(crowded, _)| *crowded < k);
                    agreed[at].1.finish(&paths[at], &mut place)
                }
            };
            let with = Finished { log_total, scales: base.scales, d_rates };
            let mut of_labels = Expected { presence: place.presence, sign, ..Expected::default() };
            let (log_total, d_rates) = match sign {
                0.0 if k > 0 || chain.needs_logs() => Default::default(),
                0.0 => (own.bare.log_total(&bare, without.of(k), room), [0.0; 2]),
                _ => own.bare.finish(Rated::new(chain), &bare, without.of(k), room, &mut of_labels),
            };
            let Expected { counts, shares, classes, .. } = place;
            let of_stamps = [shares, classes];
            ([with, Finished { log_total, scales: bare.scales, d_rates }], counts, of_stamps)
        });
        for ((_, own, of_stamps), known) in finished.iter().zip(known) {
            let sums = counts.iter_mut().flatten().zip(own.iter().flatten());
            sums.for_each(|(all, own)| *all += own);
            all.gather(self.riders, known, of_stamps);
        }
        all.counts = counts;
        finished.into_iter().map(|(own, _, _)| own).collect()
    }
}

impl All {
    fn nothing(work: &Work<'_>, spare: &mut Spare) -> Self {
        let (chain, riders) = (work.scene.chain, work.riders);
        let (instances, classes) = (chain.instances(), chain.classes());
        let streams = work.scene.streams.len();
        let told = if work.wanted == Wanted::Posterior { streams } else { 0 };
        Self {
            presence: spare.zeros(instances * classes),
            events: vec![vec![[0.0; 2]; (instances + 1) * classes]; told],
            counts: vec![[0.0; 2]; streams * classes],
            shares: spare.zeros(riders.cells),
            classes: spare.zeros(riders.presses.len() * classes),
        }
    }

    /// Where each stretch tells what it expects.
    fn places(
        &mut self,
        work: &Work<'_>,
        known: &[Known<'_>],
        agreed: &[(usize, Agreed<'_>)],
    ) -> Vec<Expected<'_>> {
        let classes = work.scene.chain.classes();
        let mut rest = Expected {
            presence: &mut self.presence,
            sign: 1.0,
            counts: vec![[0.0; 2]; work.scene.streams.len() * classes],
            events: self.events.iter_mut().map(Vec::as_mut_slice).collect(),
            ..Expected::default()
        };
        let mut crowded = agreed.iter();
        let place = |own: &Known<'_>| {
            let (cells, stamps) = match &own.exact {
                Some(exact) => (exact.cells, exact.parts.len()),
                None => crowded.next().map_or((0, 0), |(_, own)| own.size()),
            };
            rest.split_off(own.stretch.edges.len() * classes, cells, stamps * classes)
        };
        known.iter().map(place).collect()
    }

    /// Puts what a stretch tells of stamps where it belongs.
    fn gather(&mut self, riders: &Riders, known: &Known<'_>, [shares, classes]: &[Vec<f64>; 2]) {
        let Some(exact) = &known.exact else {
            // All of these stamps are here as a whole.
            let first = &riders.riders[known.stretch.riders.start];
            let cells = first.cells(&riders.presses).start;
            let stamps = first.stamps.start * self.classes.len() / riders.presses.len();
            self.shares[cells..cells + shares.len()].copy_from_slice(shares);
            self.classes[stamps..stamps + classes.len()].copy_from_slice(classes);
            return;
        };
        let mut shares = shares.as_slice();
        let by_stamp = self.classes.len() / riders.presses.len().max(1);
        for (part, classes) in exact.parts.iter().zip(classes.chunks_exact(by_stamp.max(1))) {
            let rider = &riders.riders[part.rider];
            let first = rider.cells(&riders.presses).start + part.edges.start - rider.edges.start;
            let (own, rest) = shares.split_at(part.edges.len());
            self.shares[first..first + own.len()].copy_from_slice(own);
            shares = rest;
            let own = &mut self.classes[rider.stamps.start * by_stamp..][..by_stamp];
            own.iter_mut().zip(classes).for_each(|(all, own)| *all += own);
        }
    }

    fn told(self, work: &Work<'_>, log_evidence: f64, d_rates: [f64; 2]) -> Summed {
        let scene = work.scene;
        let classes = scene.chain.classes();
        let mut streams = Vec::with_capacity(scene.streams.len());
        let mut by_edge = self.events.into_iter();
        for (stream, counts) in scene.streams.iter().zip(self.counts.chunks_exact(classes)) {
            let mut events = by_edge.next().unwrap_or_default();
            if !events.is_empty() {
                // Ends are at the edge behind their instance.
                events.drain(..stream.variable.edge(0) * classes);
                events.truncate(self.presence.len());
            }
            let stamps = |own: &Source<'_>| vec![SummedStamp::default(); own.stamped.stamps.len()];
            let stamps = stream.sources.iter().map(stamps).collect();
            streams.push(SummedStream { counts: counts.to_vec(), events, stamps });
        }
        for rider in &work.riders.riders {
            let stream = &scene.streams[rider.stream];
            for (press, stamp) in rider.presses.clone().zip(rider.stamps.clone()) {
                let press = &work.riders.presses[press];
                streams[rider.stream].stamps[press.source][press.stamp] = SummedStamp {
                    first: stream.variable.instance(press.edges.start),
                    cells: press.cells.clone(),
                    number: stamp,
                };
            }
        }
        let Self { presence, shares, classes, .. } = self;
        Summed { log_evidence, presence, d_rates, streams, shares, classes }
    }
}
