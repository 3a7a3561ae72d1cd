//! What is expected along a stretch, and where it goes.

use super::chain::Chain;
use super::count::Count;
use super::rates::Transition;

/// Places for expectations, each of the first edge, instance, cell or stamp of a stretch and those behind it.
#[derive(Default)]
pub(super) struct Expected<'a> {
    /// p(y_i = k), by instance and class.
    pub(super) presence: &'a mut [f64],
    /// By stream: p(an event is at an edge), and that it is and has no stamp, by edge and class.
    pub(super) events: Vec<&'a mut [f64]>,
    pub(super) silent: Vec<&'a mut [f64]>,
    /// p(a stamp was given at an edge), by cell.
    pub(super) shares: &'a mut [f64],
    /// p(a stamp was given to an event of a class), by stamp and class.
    pub(super) classes: &'a mut [f64],
    /// The first of these among all.
    pub(super) first_cell: usize,
    pub(super) first_stamp: usize,
}

impl<'a> Expected<'a> {
    /// Takes the first places: so many by edge and class, cells and stamps.
    pub(super) fn split_off(
        &mut self,
        edges: usize,
        cells: usize,
        stamps: usize,
        classes: usize,
    ) -> Self {
        let streams = |all: &mut Vec<&'a mut [f64]>| {
            all.iter_mut().map(|own| split_off(own, edges)).collect()
        };
        let own = Self {
            presence: split_off(&mut self.presence, edges),
            events: streams(&mut self.events),
            silent: streams(&mut self.silent),
            shares: split_off(&mut self.shares, cells),
            classes: split_off(&mut self.classes, stamps * classes),
            first_cell: self.first_cell,
            first_stamp: self.first_stamp,
        };
        self.first_cell += cells;
        self.first_stamp += stamps;
        own
    }
}

/// Takes so many numbers, or all.
pub(super) fn split_off<'a>(all: &mut &'a mut [f64], count: usize) -> &'a mut [f64] {
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

    /// Adds what an edge says whose labels have these probabilities and transitions.
    #[inline(always)]
    pub(super) fn add(&mut self, n: impl Count, edge: usize, weights: &Transition, p: &[f64]) {
        let (Some(_), Some(gap)) = (self.chain.rates, edge.checked_sub(1)) else { return };
        let gap = self.chain.gaps[gap];
        if self.gap != Some(gap) {
            self.settle();
            (self.gap, self.weights) = (Some(gap), *weights);
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
