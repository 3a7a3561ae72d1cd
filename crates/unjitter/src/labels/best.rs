//! One way in which all stamps were given, for results that name one event per stamp.
//!
//! The most probable pair of a stamp and an instance is taken first, then the next that agrees with those taken: one stamp
//! at most of an event, unless events may have several, and in order where order is kept. A stamp that more probably came
//! from nowhere than from any instance left has no owner. Such a way has about as many right owners as can be expected; it
//! need not be the likeliest of all.

use std::collections::{BTreeMap, HashSet};

use super::chain::Base;
use super::count::Count;
use super::path::{Edges, Paths};
use super::scene::{Occurrence, Scene};
use crate::inference::Order;

/// An instance for each stamp, or none if it came from nowhere. Each has the probabilities of instances from a first one
/// on.
pub(crate) fn owners(
    stamps: &[(usize, &[f64])],
    order: Order,
    may_share: bool,
) -> Vec<Option<usize>> {
    let mut pairs: Vec<(f64, usize, usize)> = Vec::new();
    for (l, &(first, shares)) in stamps.iter().enumerate() {
        let nowhere = 1.0 - shares.iter().sum::<f64>();
        let likely = shares.iter().enumerate().filter(|(_, share)| **share > nowhere);
        pairs.extend(likely.map(|(k, &share)| (share, l, first + k)));
    }
    pairs.sort_by(|a, b| b.0.total_cmp(&a.0));
    let (mut taken, mut placed) = (HashSet::new(), BTreeMap::new());
    for (_, l, i) in pairs {
        if placed.contains_key(&l) || (!may_share && taken.contains(&i)) {
            continue;
        }
        let before = placed.range(..l).next_back().is_none_or(|(_, own)| *own <= i);
        let after = placed.range(l..).next().is_none_or(|(_, own)| i <= *own);
        if order == Order::Free || (before && after) {
            placed.insert(l, i);
            taken.insert(i);
        }
    }
    (0..stamps.len()).map(|l| placed.get(&l).copied()).collect()
}

impl Scene<'_> {
    /// log p(stamps, given by these owners, known labels | features), by stream and source.
    pub(crate) fn log_weight(&self, owners: &[Vec<Vec<Option<usize>>>]) -> f64 {
        let base = Base::new(self.chain, self.known, false);
        let mut edges = Fixed { base, scene: self, given: BTreeMap::new() };
        let mut log_weight = edges.base.scales - self.chain.log_normaliser();
        for (s, (stream, owners)) in self.streams.iter().zip(owners).enumerate() {
            for (k, (source, owners)) in stream.sources.iter().zip(owners).enumerate() {
                let stamped = &source.stamped;
                for (l, owner) in owners.iter().enumerate() {
                    let mut log_density = [stamped.log_background];
                    if let Some(i) = *owner {
                        let delay = (stamped.stamps[l].time - stamped.times[i]) / stamped.unit;
                        stamped.log_densities_of(l, &[delay], &mut log_density);
                        let edge = (stream.variable.edge(i), s);
                        edges.given.entry(edge).or_default().push(k);
                    }
                    log_weight += log_density[0];
                }
            }
        }
        log_weight + Paths::new(&edges, false).log_normaliser()
    }
}

/// The edges of a session whose stamps have known owners.
struct Fixed<'a> {
    base: Base<f64>,
    scene: &'a Scene<'a>,
    /// The sources of the stamps given at an edge, by edge and stream.
    given: BTreeMap<(usize, usize), Vec<usize>>,
}

impl Edges<f64> for Fixed<'_> {
    fn labels(&self) -> usize {
        self.base.labels()
    }

    fn edges(&self) -> usize {
        self.base.edges()
    }

    fn weigh(&self, count: impl Count, edge: usize, out: &mut [f64]) {
        self.base.weigh(count, edge, out);
        let labels = self.labels();
        for (s, stream) in self.scene.streams.iter().enumerate() {
            let given = self.given.get(&(edge, s));
            let mut weights = vec![if given.is_some() { 0.0 } else { 1.0 }; out.len()];
            for Occurrence { from, to, class } in stream.variable.occurrences(labels - 1) {
                let habit = stream.habits[class];
                let recorded = |k: &usize| stream.sources[*k].recorded[class];
                weights[from * labels + to] = match given {
                    None => habit.silent,
                    Some(given) => {
                        let others = habit.further.powi(given.len() as i32 - 1);
                        habit.given * others * given.iter().map(recorded).product::<f64>()
                    }
                };
            }
            out.iter_mut().zip(weights).for_each(|(own, weight)| *own *= weight);
        }
    }
}
