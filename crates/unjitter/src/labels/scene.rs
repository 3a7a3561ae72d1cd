//! Stamps about labels that depend on each other: the input of the sum.

use super::Variable;
use super::chain::Chain;
use crate::inference::{Order, Stamped};

/// A session: its labels and all streams of stamps.
pub(crate) struct Scene<'a> {
    pub(crate) chain: &'a Chain<'a>,
    /// Known labels, 0 for no event and k for class k; empty if there are none.
    pub(crate) known: &'a [Option<usize>],
    pub(crate) streams: Vec<Stream<'a>>,
}

/// Stamps of one annotator about one variable. An event may be missed, and has one stamp at most or any number; a stamp
/// for nothing comes from the background.
pub(crate) struct Stream<'a> {
    /// What its stamps are about.
    pub(crate) variable: Variable,
    /// How many stamps an event has, by class.
    pub(crate) habits: Vec<Habit>,
    /// Whether its stamps keep the order of their events.
    pub(crate) order: Order,
    /// Its stamps, by what they are recorded as.
    pub(crate) sources: Vec<Source<'a>>,
}

/// How many stamps an event has.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Habit {
    /// The probability of none.
    pub(crate) silent: f64,
    /// The weight of one.
    pub(crate) given: f64,
    /// The weight of a further one, relative to that of one less; 0 if there is one at most.
    pub(crate) further: f64,
}

/// Stamps of a stream that are recorded as one class, with their densities.
pub(crate) struct Source<'a> {
    /// Instances, stamps, delays and background. The densities may differ between sources.
    pub(crate) stamped: Stamped<'a>,
    /// The probability that an event is recorded so, by its class.
    pub(crate) recorded: Vec<f64>,
}

impl Stream<'_> {
    /// Whether stamps that ride apart may be of one event: what each of them says then multiplies. Otherwise they exclude
    /// each other, and what they say is added.
    pub(super) fn shares_events(&self) -> bool {
        self.order == Order::Free && self.habits.iter().any(|habit| habit.further > 0.0)
    }
}

/// An edge at which something happens that a stream is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Occurrence {
    /// The label before the edge.
    pub(super) from: usize,
    /// The label that it leads to.
    pub(super) to: usize,
    /// The class of the event, counted from 0.
    pub(super) class: usize,
}

impl Variable {
    /// The edges at which an event of this kind happens, among so many classes.
    pub(super) fn occurrences(self, classes: usize) -> Vec<Occurrence> {
        let all = (0..=classes).flat_map(|from| (0..=classes).map(move |to| (from, to)));
        let happens = |&(from, to): &(usize, usize)| match self {
            Self::Onset => to > 0 && from != to,
            Self::End => from > 0 && from != to,
            Self::Presence => to > 0,
        };
        let class = |from, to| if self == Self::End { from } else { to };
        all.filter(happens)
            .map(|(from, to)| Occurrence { from, to, class: class(from, to) - 1 })
            .collect()
    }

    /// The edge at which it happens, for an instance: that behind the last instance of a run.
    pub(super) fn edge(self, instance: usize) -> usize {
        instance + usize::from(self == Self::End)
    }

    /// The instance of an edge.
    pub(super) fn instance(self, edge: usize) -> usize {
        edge - usize::from(self == Self::End)
    }
}
