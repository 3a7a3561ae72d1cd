//! Memory that the sum over labels and stamps takes, counted before it is allocated.
//!
//! It is counted in numbers of eight bytes, by instance, stamp and edge of a window, as the recursions lay them out. A test
//! compares the count with the allocations. O(stamps).

use super::riders::{Rider, Riders};
use super::scene::Scene;
use super::stretch::Stretch;
use super::told::Form;

/// Edges of messages that are visited one after the other, about.
pub(super) const RUN: usize = 4096;
/// Numbers per instance of whoever asks: times, what is known, and spare room; and by class: log-odds as they are and as
/// they are given, and derivatives.
const PER_INSTANCE: usize = 8;
const PER_CLASS: usize = 3;
/// Numbers per stamp: where it is placed, opened and kept, what it came to, and spare room.
const PER_STAMP: usize = 72;
/// Numbers per stretch of what happens there, and of its weights from label to label.
const PER_STRETCH: usize = 200;

impl Scene<'_> {
    /// Most bytes that the sum takes, with so many numbers of an earlier one that are still kept.
    pub(super) fn bytes(&self, riders: &Riders, stretches: &[Stretch], kept: usize) -> u64 {
        let form = &Form::new(self);
        let (labels, classes) = (form.labels, form.labels - 1);
        // What is told with stamps and without, and of each stream.
        let told = classes * (1 + 2 * form.streams.len());
        let asked = PER_INSTANCE + PER_CLASS * classes;
        // Weights, paths and labels by themselves, if these are logarithms.
        let logs = if self.chain.needs_logs() { 4 + 6 * labels + 2 + 2 * classes } else { 0 };
        let by_instance = (asked + told + logs) * (self.chain.instances() + 1);
        let by_stamp = (PER_STAMP + 2 * classes) * riders.presses.len();
        // Densities and shares, which are copied into the result, and once more by who asks.
        let numbers = by_instance + by_stamp + 4 * riders.cells + kept;
        // What is open, and weights of its events, in vectors that double; what is told of an open stream and of others.
        let events: usize = form.streams.iter().map(|own| own.occurrences.len()).sum();
        let situations = |own: &Stretch| match form.streams.len() {
            0 | 1 => 2,
            _ => 2 + 2 * own.riders.len(),
        };
        let crowded = |own: &Stretch| match own.states {
            Some(_) => {
                let situations = situations(own) * (2 * labels * labels + 1 + 5 * events);
                PER_STRETCH + 2 * own.opened * (3 + events) + situations + 4 * labels * labels
            }
            None => self.numbers_of_agreement(form, riders, own),
        };
        let by_stretch: usize = stretches.iter().map(crowded).sum();
        // One stretch at a time: weights of labels, once more with what is known of them; states before edges.
        let longest = stretches.iter().map(|own| own.edges.len()).max().unwrap_or(0);
        let states = stretches.iter().filter_map(|own| own.states).max().unwrap_or(0);
        let bases = 1 + usize::from(!self.known.is_empty());
        let at_once = bases * (labels + 6) * longest + states;
        8 * (numbers + by_stretch + at_once) as u64
    }

    /// Numbers of riders that agree.
    fn numbers_of_agreement(&self, form: &Form, riders: &Riders, stretch: &Stretch) -> usize {
        let (labels, squared) = (form.labels, form.labels * form.labels);
        let own = &riders.riders[stretch.riders.clone()];
        // Weights of labels and tallies; paths.
        let by_edge = (2 * labels + 4) + form.tally + 2 * (labels + 1);
        let messages: usize = own.iter().map(|rider| rider.edges.len()).sum();
        let cells: usize = own.iter().map(|rider| rider.cells(&riders.presses).len()).sum();
        let stamps: usize = own.iter().map(|rider| rider.presses.len()).sum();
        let of_rider = |rider: &Rider| {
            let events = form.streams[rider.stream].occurrences.len();
            let edges = rider.edges.len();
            let cells = rider.cells(&riders.presses).len();
            // Weights of edges and events, twice; states by label and stamps decided; what was said before.
            edges * (squared + 2 * events + 3 + form.message) + 2 * labels * (cells + edges)
        };
        let most = own.iter().map(of_rider).max().unwrap_or(0);
        let widest = own.iter().map(|rider| rider.edges.len()).max().unwrap_or(0);
        // Tallies of neighbours, in a vector that doubles.
        let together = (RUN + 2 * widest).min(messages).min(stretch.edges.len());
        let visits = most + 2 * form.tally * together;
        by_edge * stretch.edges.len()
            + form.message * messages
            + 2 * cells
            + PER_STAMP * stamps
            + visits
    }
}
