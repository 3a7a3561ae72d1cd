//! What is expected along a stretch, and where it goes.

use super::chain::Chain;
use super::count::Count;
use super::rates::Transition;

/// Places for expectations, each of the first edge or instance of a stretch and those behind it.
#[derive(Default)]
pub(super) struct Expected<'a> {
    /// p(y_i = k) times a sign is added, by instance and class.
    pub(super) presence: &'a mut [f64],
    pub(super) sign: f64,
    /// Expected events and those without a stamp, by stream and class.
    pub(super) counts: Vec<[f64; 2]>,
    /// The same by edge and class, for each stream, if that is wanted.
    pub(super) events: Vec<&'a mut [[f64; 2]]>,
    /// p(a stamp was given at an edge), by its cells here.
    pub(super) shares: Vec<f64>,
    /// p(a stamp was given here to an event of a class), by its number here and class.
    pub(super) classes: Vec<f64>,
}

impl<'a> Expected<'a> {
    /// Takes the first places: so many by edge and class, as many are made by cell, and by stamp and class.
    pub(super) fn split_off(&mut self, edges: usize, cells: usize, stamps: usize) -> Self {
        Self {
            presence: split_off(&mut self.presence, edges),
            sign: self.sign,
            counts: self.counts.clone(),
            events: self.events.iter_mut().map(|own| split_off(own, edges)).collect(),
            shares: vec![0.0; cells],
            classes: vec![0.0; stamps],
        }
    }

    /// Adds what labels of an edge, by its number here, say of its instance, if there is one.
    #[inline(always)]
    pub(super) fn add_labels(&mut self, n: impl Count, edge: usize, p: &[f64]) {
        let (labels, classes) = (n.get(), n.get() - 1);
        let own = self.presence.get_mut(edge * classes..(edge + 1) * classes).unwrap_or_default();
        for (own, y) in own.iter_mut().zip(1..) {
            *own += self.sign * (0..labels).map(|z| p[z * labels + y]).sum::<f64>();
        }
    }

    /// Adds events of a class, and those without a stamp.
    #[inline(always)]
    pub(super) fn count(&mut self, n: impl Count, stream: usize, class: usize, expected: [f64; 2]) {
        let own = &mut self.counts[stream * (n.get() - 1) + class];
        (0..2).for_each(|k| own[k] += expected[k]);
    }

    /// Tells at which edge, by its number here, such events are, if that is wanted.
    #[inline(always)]
    pub(super) fn place(
        &mut self,
        n: impl Count,
        (stream, class): (usize, usize),
        edge: usize,
        expected: [f64; 2],
    ) {
        if let Some(events) = self.events.get_mut(stream) {
            let own = &mut events[edge * (n.get() - 1) + class];
            (0..2).for_each(|k| own[k] += expected[k]);
        }
    }
}

/// Takes the first of all, as many as there are.
pub(super) fn split_off<'a, T>(all: &mut &'a mut [T], count: usize) -> &'a mut [T] {
    let count = count.min(all.len());
    all.split_off_mut(..count).unwrap_or_default()
}

/// Derivatives in log rates. Those of neighbours that are as far apart follow at once from all their transitions.
pub(super) struct Rated<'a> {
    chain: &'a Chain<'a>,
    d_rates: [f64; 2],
    /// How far apart those are of which not all is told.
    gap: Option<f64>,
    weights: Transition,
    expected: Transition,
}

impl<'a> Rated<'a> {
    pub(super) fn new(chain: &'a Chain<'a>) -> Self {
        let (weights, expected) = (Transition::INDEPENDENT, Transition::default());
        Self { chain, d_rates: [0.0; 2], gap: None, weights, expected }
    }

    /// How far apart the instances are that an edge joins.
    #[inline(always)]
    pub(super) fn gap(&self, edge: usize) -> Option<f64> {
        self.chain.gap(edge)
    }

    /// Adds expected pairs of labels along edges over this time, with these weights.
    #[inline(always)]
    pub(super) fn add(&mut self, n: impl Count, gap: Option<f64>, weights: &Transition, p: &[f64]) {
        if gap.is_none() {
            return;
        }
        if self.gap != gap {
            self.settle();
            (self.gap, self.weights) = (gap, *weights);
        }
        for z in 0..n.get() {
            for y in 0..n.get() {
                *self.expected.kind_mut(z, y) += p[z * n.get() + y];
            }
        }
    }

    fn settle(&mut self) {
        let Self { chain, d_rates, gap, weights, expected } = self;
        if let (Some(rates), Some(gap)) = (chain.rates, *gap) {
            rates.pull_back(gap, chain.classes(), weights, expected, d_rates);
        }
        self.expected = Transition::default();
    }

    /// Of all that was added.
    pub(super) fn d_rates(mut self) -> [f64; 2] {
        self.settle();
        self.d_rates
    }
}
