//! Stamps on their way along the labels.
//!
//! A *rider* passes the edges of its window and gives its stamps to events there, or to the background. Without order every
//! stamp rides alone; stamps in order whose windows overlap ride together. Within a rider the sum is exact.

use std::ops::Range;

use rayon::prelude::*;

use super::scene::{Habit, Scene, Stream};
use super::stretch::Stretch;
use crate::inference::Order;
use crate::math::exp_in_place;

/// Riders that a thread weighs at a time.
const TOGETHER: usize = 256;

/// A stamp.
#[derive(Debug, Clone)]
pub(super) struct Press {
    /// Its source in the stream, and its place there.
    pub(super) source: usize,
    pub(super) stamp: usize,
    /// The edges at which it may have been given.
    pub(super) edges: Range<usize>,
    /// Its place among the densities.
    pub(super) cells: Range<usize>,
    /// Its weight if it comes from nowhere.
    pub(super) nowhere: f64,
}

/// Stamps that ride together.
#[derive(Debug, Clone)]
pub(super) struct Rider {
    pub(super) stream: usize,
    pub(super) presses: Range<usize>,
    /// From the first edge of its first stamp to the last of its last one.
    pub(super) edges: Range<usize>,
    /// Its place among the messages, in edges.
    pub(super) messages: Range<usize>,
    /// Its place among all stamps if these are counted by rider.
    pub(super) stamps: Range<usize>,
}

/// All riders of a session, in order of their first edges.
#[derive(Debug, Default)]
pub(super) struct Riders {
    pub(super) presses: Vec<Press>,
    pub(super) riders: Vec<Rider>,
    /// Densities of stamps relative to the background, scaled, by cell.
    pub(super) densities: Vec<f64>,
    /// Sum of the logarithms that these, and those of the background, were divided by.
    pub(super) log_scale: f64,
    /// Edges of all messages.
    pub(super) messages: usize,
    /// Edges of the windows of all stamps.
    pub(super) cells: usize,
    /// How far a rider reaches, or one before it.
    ends: Vec<usize>,
}

impl Rider {
    /// The cells of its stamps.
    pub(super) fn cells(&self, presses: &[Press]) -> Range<usize> {
        presses[self.presses.start].cells.start..presses[self.presses.end - 1].cells.end
    }
}

impl Riders {
    /// No riders.
    pub(super) const NONE: Self = Self {
        presses: Vec::new(),
        riders: Vec::new(),
        densities: Vec::new(),
        log_scale: 0.0,
        messages: 0,
        cells: 0,
        ends: Vec::new(),
    };

    /// Those of a stretch by themselves, with edges, cells, messages and stamps counted from its first, and the first stamp
    /// of each among all.
    pub(super) fn of(&self, stretch: &Stretch) -> (Self, Vec<usize>) {
        let (mut own, mut keys) = (Self::NONE, Vec::new());
        let shift = |edges: &Range<usize>| {
            edges.start - stretch.edges.start..edges.end - stretch.edges.start
        };
        for rider in &self.riders[stretch.riders.clone()] {
            keys.push(rider.presses.start);
            let first = own.presses.len();
            own.presses.extend_from_slice(&self.presses[rider.presses.clone()]);
            for press in &mut own.presses[first..] {
                press.edges = shift(&press.edges);
                let cells = press.cells.clone();
                press.cells = own.densities.len()..own.densities.len() + cells.len();
                own.densities.extend_from_slice(&self.densities[cells]);
            }
            let (stream, edges, presses) =
                (rider.stream, shift(&rider.edges), first..own.presses.len());
            let (messages, stamps) = (0..0, 0..0);
            own.riders.push(Rider { stream, presses, edges, messages, stamps });
        }
        own.number();
        (own, keys)
    }

    /// Places all stamps, without their densities.
    pub(super) fn place(scene: &Scene<'_>) -> Self {
        let mut all = Self::default();
        for (k, stream) in scene.streams.iter().enumerate() {
            all.place_stream(k, stream);
        }
        all.riders.sort_by_key(|rider| (rider.edges.start, rider.edges.end));
        all.number();
        all
    }

    /// Counts cells, messages and stamps in the order of riders.
    fn number(&mut self) {
        let mut stamps = 0;
        for rider in &mut self.riders {
            rider.stamps = stamps..stamps + rider.presses.len();
            stamps = rider.stamps.end;
            rider.messages = self.messages..self.messages + rider.edges.len();
            self.messages += rider.edges.len();
            for press in &mut self.presses[rider.presses.clone()] {
                press.cells = self.cells..self.cells + press.edges.len();
                self.cells += press.edges.len();
            }
        }
        let mut end = 0;
        self.ends.extend(self.riders.iter().map(|rider| {
            end = end.max(rider.edges.end);
            end
        }));
    }

    /// The riders from the first to the last whose windows overlap with these edges.
    pub(super) fn around(&self, edges: &Range<usize>) -> Range<usize> {
        let first = self.ends.partition_point(|end| *end <= edges.start);
        let last = self.riders.partition_point(|rider| rider.edges.start < edges.end);
        first..last.max(first)
    }

    /// Those riders, and all whose windows overlap with theirs.
    pub(super) fn near(&self, those: &[bool]) -> Vec<bool> {
        let own = self.riders.iter().zip(those).filter(|(_, is_one)| **is_one);
        let all = together(own.map(|(rider, _)| rider.edges.clone()));
        let is_near = |rider: &Rider| {
            let next = all.partition_point(|own| own.end <= rider.edges.start);
            all.get(next).is_some_and(|own| own.start < rider.edges.end)
        };
        self.riders.iter().map(is_near).collect()
    }

    /// The stamps of a stream, and who rides together.
    fn place_stream(&mut self, number: usize, stream: &Stream<'_>) {
        let most = |habit: &Habit| (habit.given / habit.silent).max(habit.further).ln();
        let log_odds = stream.habits.iter().map(most).fold(0.0, f64::max);
        let mut placed = Vec::new();
        for (source, own) in stream.sources.iter().enumerate() {
            for (stamp, window) in own.stamped.reachable(log_odds).into_iter().enumerate() {
                let edge = |instance| stream.variable.edge(instance);
                let edges = edge(window.start)..edge(window.end - 1) + 1;
                let press = Press { source, stamp, edges, cells: 0..0, nowhere: 1.0 };
                placed.push((own.stamped.stamps[stamp].time, press));
            }
        }
        placed.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut presses: Vec<Press> = placed.into_iter().map(|(_, press)| press).collect();
        if stream.order == Order::Ordered {
            widen(&mut presses);
        }
        for press in presses {
            let (at, edges) = (self.presses.len(), press.edges.clone());
            self.presses.push(press);
            match self.riders.last_mut() {
                Some(last) if last.stream == number && last.takes(&edges, stream.order) => {
                    last.presses.end = at + 1;
                    last.edges.end = edges.end;
                }
                _ => {
                    let presses = at..at + 1;
                    let (messages, stamps) = (0..0, 0..0);
                    self.riders.push(Rider { stream: number, presses, edges, messages, stamps });
                }
            }
        }
    }

    /// Densities relative to the background, the larger of both at most one, in room for them.
    pub(super) fn weigh(&mut self, scene: &Scene<'_>, mut densities: Vec<f64>, in_parallel: bool) {
        let (mut rest, mut pieces) = (densities.as_mut_slice(), Vec::new());
        for riders in self.riders.chunks(TOGETHER) {
            let cells = riders.iter().map(|rider| rider.cells(&self.presses).len()).sum();
            pieces.push((riders, rest.split_off_mut(..cells).unwrap_or_default()));
        }
        let weigh = |(riders, densities)| self.weigh_piece(scene, riders, densities);
        let weighed: Vec<(Vec<f64>, f64)> = match in_parallel {
            true => pieces.into_par_iter().map(weigh).collect(),
            false => pieces.into_iter().map(weigh).collect(),
        };
        self.log_scale = weighed.iter().map(|(_, log_scale)| log_scale).sum();
        let nowheres = weighed.into_iter().flat_map(|(nowheres, _)| nowheres);
        let presses = self.riders.iter().flat_map(|rider| rider.presses.clone());
        presses.zip(nowheres).for_each(|(press, nowhere)| self.presses[press].nowhere = nowhere);
        self.densities = densities;
    }

    /// Overwrites the densities of the stamps of some riders; returns the weight of each if it comes from nowhere, and the
    /// sum of the logarithms that all were divided by.
    fn weigh_piece(
        &self,
        scene: &Scene<'_>,
        riders: &[Rider],
        mut densities: &mut [f64],
    ) -> (Vec<f64>, f64) {
        let (mut nowheres, mut log_scale, mut delays) = (Vec::new(), 0.0, Vec::new());
        for rider in riders {
            let stream = &scene.streams[rider.stream];
            for press in &self.presses[rider.presses.clone()] {
                let stamped = &stream.sources[press.source].stamped;
                let instances = press.edges.clone().map(|edge| stream.variable.instance(edge));
                let time = stamped.stamps[press.stamp].time;
                delays.clear();
                delays.extend(instances.map(|i| (time - stamped.times[i]) / stamped.unit));
                let own = densities.split_off_mut(..delays.len()).unwrap_or_default();
                stamped.log_densities_of(press.stamp, &delays, own);
                let scale = own.iter().copied().fold(stamped.log_background, f64::max);
                own.iter_mut().for_each(|log_density| *log_density -= scale);
                exp_in_place(own);
                nowheres.push((stamped.log_background - scale).exp());
                log_scale += scale;
            }
        }
        (nowheres, log_scale)
    }
}

impl Rider {
    /// Whether a later stamp of the same stream rides with these.
    fn takes(&self, edges: &Range<usize>, order: Order) -> bool {
        order == Order::Ordered && edges.start < self.edges.end
    }
}

/// Lets windows begin and end in the order of their stamps, though some have other densities than others.
fn widen(presses: &mut [Press]) {
    let mut end = 0;
    for press in presses.iter_mut() {
        end = end.max(press.edges.end);
        press.edges.end = end;
    }
    let mut start = usize::MAX;
    for press in presses.iter_mut().rev() {
        start = start.min(press.edges.start);
        press.edges.start = start;
    }
}

/// Neighbouring ranges that overlap, as one; they come in order of their beginnings.
pub(super) fn together(ranges: impl Iterator<Item = Range<usize>>) -> Vec<Range<usize>> {
    let mut all: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match all.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => all.push(range),
        }
    }
    all
}
