//! Labels by themselves: what features and transitions say, without stamps.
//!
//! ```text
//! p(y | x) ∝ exp( Σ_i f_i(y_i) ) · Π_i g_i(y_{i−1}, y_i)
//! ```
//!
//! with f(0) = 0, the log-odds f(k) of class k, and the transitions g of a process in time ([`Rates`]), or 1 if labels are
//! independent.

use std::ops::Range;

use rayon::prelude::*;

use super::count::{Count, counted};
use super::expected::Rated;
use super::path::{Edges, Paths};
use super::rates::Transition;
use super::weight::{Log, Weight};
use super::{Rates, Variable};

/// Instances that a thread works on at a time.
const PIECE: usize = 4096;
/// Log-odds between labels of one instance above which their weights leave the range of numbers.
const FAR: f64 = 600.0;

/// The labels of a session: no event, or one of some classes.
#[derive(Debug, Clone)]
pub(crate) struct Chain<'a> {
    classes: usize,
    /// None if labels do not depend on each other.
    pub(super) rates: Option<Rates>,
    times: &'a [f64],
    /// Log-odds of each class against no event, by instance.
    scores: &'a [f64],
    in_parallel: bool,
}

impl<'a> Chain<'a> {
    /// Of instances at these times, which do not decrease, with log-odds by instance and class.
    pub(crate) fn new(
        times: &'a [f64],
        classes: usize,
        rates: Option<Rates>,
        scores: &'a [f64],
    ) -> Self {
        debug_assert_eq!(times.len() * classes, scores.len());
        Self { classes, rates, times, scores, in_parallel: false }
    }

    /// The same, with threads for long sessions.
    pub(crate) fn in_parallel(self, in_parallel: bool) -> Self {
        Self { in_parallel, ..self }
    }

    /// p(y_i = k) without stamps, by instance and class.
    pub(crate) fn presence(&self) -> Vec<f64> {
        match self.needs_logs() {
            false => self.presence_in::<f64>(),
            true => self.presence_in::<Log>(),
        }
    }

    /// p(an event of this kind is at instance i) without stamps, whatever its class.
    pub(crate) fn events(&self, variable: Variable) -> Vec<f64> {
        match self.needs_logs() {
            false => self.events_in::<f64>(variable),
            true => self.events_in::<Log>(variable),
        }
    }

    /// The logarithm of the sum over all labels without stamps.
    pub(crate) fn log_normaliser(&self) -> f64 {
        match self.needs_logs() {
            false => self.log_normaliser_in::<f64>(),
            true => self.log_normaliser_in::<Log>(),
        }
    }

    /// Whether weights leave the range of numbers.
    pub(super) fn needs_logs(&self) -> bool {
        self.scores.iter().any(|score| score.is_finite() && score.abs() > FAR)
    }

    fn presence_in<W: Weight>(&self) -> Vec<f64> {
        let paths = Paths::new(&Base::<W>::new(self, &[], self.in_parallel), self.in_parallel);
        let mut presence = vec![0.0; self.instances() * self.classes];
        let mut labels = vec![0.0; self.classes + 1];
        for (i, own) in presence.chunks_exact_mut(self.classes).enumerate() {
            paths.labels_of(i, &mut labels);
            own.copy_from_slice(&labels[1..]);
        }
        presence
    }

    fn events_in<W: Weight>(&self, variable: Variable) -> Vec<f64> {
        let base = Base::<W>::new(self, &[], self.in_parallel);
        let paths = Paths::new(&base, self.in_parallel);
        let (labels, occurrences) = (self.classes + 1, variable.occurrences(self.classes));
        let mut weights = vec![W::ZERO; labels * labels];
        let event = |instance: usize| {
            let edge = variable.edge(instance);
            counted!(labels, n => {
                base.weigh(n, edge, &mut weights);
                paths.weigh(n, edge, &mut weights);
            });
            let own = occurrences.iter().map(|own| weights[own.from * labels + own.to].number());
            own.sum()
        };
        (0..self.instances()).map(event).collect()
    }

    fn log_normaliser_in<W: Weight>(&self) -> f64 {
        let base = Base::<W>::new(self, &[], self.in_parallel);
        base.scales + Paths::new(&base, self.in_parallel).log_normaliser()
    }

    /// The logarithm of the sum over all labels without stamps, p(y_i = k), and derivatives of the logarithm in log rates,
    /// where weights leave the range of numbers.
    pub(super) fn in_logs(&self, in_parallel: bool) -> (f64, Vec<f64>, [f64; 2]) {
        let base = Base::<Log>::new(self, &[], in_parallel);
        let paths = Paths::new(&base, in_parallel);
        let (mut presence, mut rates) = (Vec::new(), Rated::new(self));
        let (labels, mut weights) = (self.classes + 1, vec![Log::ZERO; (self.classes + 1).pow(2)]);
        for i in 0..self.instances() {
            counted!(labels, n => {
                base.weigh(n, i, &mut weights);
                paths.weigh(n, i, &mut weights);
            });
            let p: Vec<f64> = weights.iter().map(|own| own.number()).collect();
            presence.extend((1..labels).map(|y| p.iter().skip(y).step_by(labels).sum::<f64>()));
            counted!(labels, n => rates.add(n, self.gap(i), &base.transitions[i], &p));
        }
        (base.scales + paths.log_normaliser(), presence, rates.d_rates())
    }

    pub(super) fn instances(&self) -> usize {
        self.times.len()
    }

    /// The time between the instances that an edge joins; none at both ends of a recording.
    #[inline(always)]
    pub(super) fn gap(&self, edge: usize) -> Option<f64> {
        Some(self.times.get(edge)? - self.times.get(edge.checked_sub(1)?)?)
    }

    /// Log-odds of each class against no event, by instance.
    pub(super) fn scores(&self) -> &[f64] {
        self.scores
    }

    pub(super) fn classes(&self) -> usize {
        self.classes
    }

    pub(super) fn runs_in_parallel(&self) -> bool {
        self.in_parallel
    }
}

/// Edges of a chain without stamps: all, or some that follow each other.
#[derive(Debug, Clone)]
pub(super) struct Base<W> {
    labels: usize,
    edges: usize,
    /// Transitions along each edge.
    pub(super) transitions: Vec<Transition>,
    /// Weights of the labels that each edge leads to, the largest one.
    nodes: Vec<W>,
    /// Sum of the logarithms that these were divided by.
    pub(super) scales: f64,
}

impl<W: Weight> Base<W> {
    /// All edges, with the known labels, 0 for no event and k for class k, which are empty if there are none. An infinite
    /// score makes its class certain, or impossible.
    pub(super) fn new(chain: &Chain<'_>, known: &[Option<usize>], in_parallel: bool) -> Self {
        let all = 0..chain.instances() + 1;
        let starts: Vec<usize> = all.clone().step_by(PIECE).collect();
        let piece = |first| Self::of(chain, known, first..all.end.min(first + PIECE));
        let pieces: Vec<Self> = match in_parallel {
            true => starts.into_par_iter().map(piece).collect(),
            false if starts.len() == 1 => return Self::of(chain, known, all),
            false => starts.into_iter().map(piece).collect(),
        };
        let (transitions, nodes) = (Vec::with_capacity(all.end), Vec::new());
        let none =
            Self { labels: chain.classes + 1, edges: all.end, transitions, nodes, scales: 0.0 };
        pieces.into_iter().fold(none, |mut whole, own| {
            whole.nodes.reserve_exact(all.end * whole.labels - whole.nodes.len());
            whole.transitions.extend(own.transitions);
            whole.nodes.extend(own.nodes);
            Self { scales: whole.scales + own.scales, ..whole }
        })
    }

    /// These edges.
    pub(super) fn of(chain: &Chain<'_>, known: &[Option<usize>], edges: Range<usize>) -> Self {
        let (labels, classes) = (chain.classes + 1, chain.classes);
        let instances = edges.start..edges.end.min(chain.instances());
        let mut logs = vec![0.0; edges.len() * labels];
        let mut scales = 0.0;
        for (i, logs) in instances.clone().zip(logs.chunks_exact_mut(labels)) {
            let scores = &chain.scores[i * classes..(i + 1) * classes];
            scales += label_weights(scores, known.get(i).copied().flatten(), logs);
        }
        // Behind the last instance there is no event.
        logs[instances.len() * labels..]
            .iter_mut()
            .skip(1)
            .for_each(|log| *log = f64::NEG_INFINITY);
        let gaps: Vec<f64> = instances.clone().filter_map(|edge| chain.gap(edge)).collect();
        let mut transitions = Vec::with_capacity(edges.len());
        // Recordings begin without an event, which says nothing of the labels inside.
        transitions.extend((edges.start == 0).then_some(Transition::INDEPENDENT));
        match chain.rates {
            Some(rates) => rates.transitions(&gaps, classes, &mut transitions),
            None => transitions.resize(edges.len(), Transition::INDEPENDENT),
        }
        transitions.resize(edges.len(), Transition::INDEPENDENT);
        Self { labels, edges: edges.len(), transitions, nodes: W::exp(logs), scales }
    }

    /// Weights of some edges: of the labels that they lead to, and of transitions.
    #[inline(always)]
    pub(super) fn slices(&self, edges: Range<usize>) -> (&[W], &[Transition]) {
        let nodes = &self.nodes[edges.start * self.labels..edges.end * self.labels];
        (nodes, &self.transitions[edges])
    }
}

/// Overwrites `out` with the weights of an edge.
#[inline(always)]
pub(super) fn weigh<W: Weight>(n: impl Count, nodes: &[W], transition: &Transition, out: &mut [W]) {
    for z in 0..n.get() {
        for y in 0..n.get() {
            out[z * n.get() + y] = W::of(transition.kind(z, y)).times(nodes[y]);
        }
    }
}

/// Overwrites logarithms of the weights of an instance's labels, the largest of which is 0 unless one is known; returns
/// what they are less.
pub(super) fn label_weights(scores: &[f64], known: Option<usize>, logs: &mut [f64]) -> f64 {
    let highest = scores.iter().copied().fold(0.0, f64::max);
    if highest == f64::INFINITY || known.is_some() {
        return certain(logs, scores, known);
    }
    logs[0] = -highest;
    logs[1..].iter_mut().zip(scores).for_each(|(log, score)| *log = score - highest);
    highest
}

/// Logarithms of the weights of labels of which one is known, or certain by its score; returns what they are less.
fn certain(logs: &mut [f64], scores: &[f64], known: Option<usize>) -> f64 {
    let certain = scores.iter().position(|&score| score == f64::INFINITY).map(|k| k + 1);
    let Some(label) = known.or(certain) else { return 0.0 };
    logs.fill(f64::NEG_INFINITY);
    // Known against a certain score, it is impossible.
    logs[label] =
        if certain.is_none_or(|certain| certain == label) { 0.0 } else { f64::NEG_INFINITY };
    match certain {
        Some(_) => 0.0,
        None if label == 0 => 0.0,
        None => scores[label - 1],
    }
}

impl<W: Weight> Edges<W> for Base<W> {
    fn labels(&self) -> usize {
        self.labels
    }

    fn edges(&self) -> usize {
        self.edges
    }

    #[inline(always)]
    fn weigh(&self, count: impl Count, edge: usize, out: &mut [W]) {
        let nodes = &self.nodes[edge * count.get()..(edge + 1) * count.get()];
        weigh(count, nodes, &self.transitions[edge], out);
    }
}
