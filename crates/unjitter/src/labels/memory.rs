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
/// Numbers per stamp: where it is placed and kept, what it came to, and spare room.
const PER_STAMP: usize = 48;

impl Scene<'_> {
    /// Most bytes that the sum takes, with so many numbers of an earlier one that are still kept.
    pub(super) fn bytes(&self, riders: &Riders, _stretches: &[Stretch], kept: usize) -> u64 {
        let form = &Form::new(self);
        let (labels, classes) = (form.labels, form.labels - 1);
        let squared = labels * labels;
        // Gaps and transitions; base weights and tallies; paths with stamps and without, and labels by themselves.
        let sums = 6 + (squared + form.tally) + 4 * (labels + 1) + labels;
        // What is told of instances, once in pieces and once together: with stamps and without, and of each stream.
        let told = 2 * classes * (2 + 2 * form.streams.len());
        let asked = PER_INSTANCE + PER_CLASS * classes;
        let by_instance = (asked + sums + told) * (self.chain.instances() + 1);
        let by_stamp = (PER_STAMP + 2 * classes) * riders.presses.len();
        // Densities and shares, which are copied into the result, and once more by who asks.
        let numbers =
            by_instance + by_stamp + form.message * riders.messages + 4 * riders.cells + kept;
        8 * (numbers + self.numbers_of_visits(form, riders)) as u64
    }

    /// Numbers of the visits of one thread.
    fn numbers_of_visits(&self, form: &Form, riders: &Riders) -> usize {
        let squared = form.labels * form.labels;
        let of_rider = |rider: &Rider| {
            let events = form.streams[rider.stream].occurrences.len();
            let edges = rider.edges.len();
            let cells = rider.cells(&riders.presses).len();
            // Weights of edges and events, twice; states by label and stamps decided; what was said before.
            edges * (squared + 2 * events + 3 + form.message) + 2 * form.labels * (cells + edges)
        };
        let most = riders.riders.iter().map(of_rider).max().unwrap_or(0);
        let widest = riders.riders.iter().map(|rider| rider.edges.len()).max().unwrap_or(0);
        // Tallies of neighbours, in a vector that doubles.
        let together = (RUN + 2 * widest).min(riders.messages).min(self.chain.instances() + 1);
        most + 2 * form.tally * together
    }
}
