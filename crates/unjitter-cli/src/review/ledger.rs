//! The decisions in force, after all that was taken back and made again.
//!
//! Several people may have decided about an item, each in a log or all in one. The reviewer's own word counts
//! here, or else that of the one who spoke last; where two differ, that is a conflict until one of them agrees.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::item::{Decision, Item};
use super::log::{Line, What};

/// Decisions in force.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    /// The one whose word counts here.
    reviewer: String,
    steps: Vec<Step>,
    /// Who said what of an item, by the number of the step. Those that were taken back are not there.
    said: HashMap<Item, BTreeMap<String, (usize, Decision)>>,
    /// Steps of this log that can be taken back, and made again, by number.
    done: Vec<usize>,
    undone: Vec<usize>,
}

#[derive(Debug)]
struct Step {
    /// The line of this log; none in another's.
    seq: Option<u64>,
    who: String,
    decisions: Vec<(Item, Decision)>,
    in_force: bool,
}

/// An item on which people differ.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Conflict {
    pub(crate) item: Item,
    pub(crate) by: Vec<(String, Decision)>,
}

impl Ledger {
    /// An empty one for this reviewer.
    pub(crate) fn new(reviewer: &str) -> Self {
        Self { reviewer: reviewer.to_owned(), ..Self::default() }
    }

    /// Adds all lines of another's log.
    pub(crate) fn add_others(&mut self, lines: &[Line]) {
        let mut other = Self::new("");
        lines.iter().for_each(|line| other.add(line));
        for mut step in other.steps.into_iter().filter(|step| step.in_force) {
            step.seq = None;
            self.push(step);
        }
    }

    /// Adds a line of this log.
    pub(crate) fn add(&mut self, line: &Line) {
        match &line.what {
            What::Begin(_) => {}
            What::Decide(said) => {
                self.push(Step {
                    seq: Some(line.seq),
                    who: line.who.clone(),
                    decisions: said.iter().map(|said| (said.item, said.decision)).collect(),
                    in_force: true,
                });
                self.done.push(self.steps.len() - 1);
                self.undone.clear();
            }
            What::Undo(seq) => self.turn(*seq, false),
            What::Redo(seq) => self.turn(*seq, true),
        }
    }

    fn push(&mut self, step: Step) {
        let number = self.steps.len();
        for &(item, decision) in &step.decisions {
            self.said.entry(item).or_default().insert(step.who.clone(), (number, decision));
        }
        self.steps.push(step);
    }

    /// Takes a step back, or makes it again.
    fn turn(&mut self, seq: u64, again: bool) {
        let Some(number) = self.steps.iter().position(|step| step.seq == Some(seq)) else { return };
        self.steps[number].in_force = again;
        let (from, to) = match again {
            true => (&mut self.undone, &mut self.done),
            false => (&mut self.done, &mut self.undone),
        };
        from.retain(|own| *own != number);
        to.push(number);
        let items: HashSet<Item> =
            self.steps[number].decisions.iter().map(|(item, _)| *item).collect();
        self.said.retain(|item, _| !items.contains(item));
        // What was said before of these items counts again.
        for (number, step) in self.steps.iter().enumerate().filter(|(_, step)| step.in_force) {
            for &(item, decision) in &step.decisions {
                if items.contains(&item) {
                    self.said.entry(item).or_default().insert(step.who.clone(), (number, decision));
                }
            }
        }
    }

    /// The line that the reviewer would take back now.
    pub(crate) fn to_undo(&self) -> Option<u64> {
        self.last_of(&self.done)
    }

    /// The line that the reviewer would make again now.
    pub(crate) fn to_redo(&self) -> Option<u64> {
        self.last_of(&self.undone)
    }

    fn last_of(&self, steps: &[usize]) -> Option<u64> {
        let own = steps.iter().rev().find(|number| self.steps[**number].who == self.reviewer);
        own.and_then(|number| self.steps[*number].seq)
    }

    /// The items of a line of this log.
    pub(crate) fn items_of(&self, seq: u64) -> Vec<Item> {
        let step = self.steps.iter().find(|step| step.seq == Some(seq));
        step.map_or_else(Vec::new, |step| step.decisions.iter().map(|(item, _)| *item).collect())
    }

    /// What counts of an item.
    pub(crate) fn decision(&self, item: Item) -> Option<Decision> {
        let said = self.said.get(&item)?;
        let own = said.get(&self.reviewer).filter(|(_, decision)| decision.settles());
        let last = || said.values().max_by_key(|(number, decision)| (decision.settles(), *number));
        own.or_else(last).map(|(_, decision)| *decision)
    }

    /// All that counts, in order of items.
    pub(crate) fn decisions(&self) -> BTreeMap<Item, Decision> {
        self.said.keys().filter_map(|&item| Some((item, self.decision(item)?))).collect()
    }

    /// Who said what counts of an item.
    pub(crate) fn reviewer_of(&self, item: Item) -> Option<&str> {
        let decision = self.decision(item)?;
        let said = self.said.get(&item)?;
        let mut by = said.iter().filter(|(_, (_, own))| *own == decision);
        by.next().map(|(who, _)| who.as_str())
    }

    /// Items on which people differ, in order.
    pub(crate) fn conflicts(&self) -> Vec<Conflict> {
        let differs = |said: &BTreeMap<String, (usize, Decision)>| {
            let mut all = said.values();
            let first = all.next().map(|(_, decision)| *decision);
            first.is_some_and(|_| {
                said.values().any(|(_, a)| said.values().any(|(_, b)| !a.agrees(*b)))
            })
        };
        let mut conflicts: Vec<Conflict> = self
            .said
            .iter()
            .filter(|(_, said)| differs(said))
            .map(|(&item, said)| Conflict {
                item,
                by: said.iter().map(|(who, (_, decision))| (who.clone(), *decision)).collect(),
            })
            .collect();
        conflicts.sort_by_key(|conflict| conflict.item);
        conflicts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::review::item::Action;
    use crate::review::log::Said;

    fn line(seq: u64, who: &str, what: What) -> Line {
        let text = String::new;
        Line { seq, when: text(), who: who.to_owned(), model: text(), data: text(), what }
    }

    fn accept(items: &[(Item, usize)]) -> What {
        let said = |&(item, instance): &(Item, usize)| Said {
            item,
            decision: Decision { action: Action::Accept, instance: Some(instance) },
            stamp: None,
            time: None,
        };
        What::Decide(items.iter().map(said).collect())
    }

    const A: Item = Item::Stamp(0, 0);
    const B: Item = Item::Stamp(0, 1);

    fn places(ledger: &Ledger) -> [Option<usize>; 2] {
        [A, B].map(|item| ledger.decision(item).and_then(|decision| decision.instance))
    }

    #[test]
    fn what_is_taken_back_leaves_what_was_said_before() {
        let mut ledger = Ledger::new("Ada");
        ledger.add(&line(1, "Ada", accept(&[(A, 5)])));
        ledger.add(&line(2, "Ada", accept(&[(A, 6), (B, 7)])));
        assert_eq!(places(&ledger), [Some(6), Some(7)]);
        assert_eq!((ledger.to_undo(), ledger.to_redo()), (Some(2), None));
        ledger.add(&line(3, "Ada", What::Undo(2)));
        assert_eq!(places(&ledger), [Some(5), None]);
        assert_eq!((ledger.to_undo(), ledger.to_redo()), (Some(1), Some(2)));
        ledger.add(&line(4, "Ada", What::Undo(1)));
        assert_eq!(places(&ledger), [None, None]);
        assert_eq!((ledger.to_undo(), ledger.to_redo()), (None, Some(1)));
        ledger.add(&line(5, "Ada", What::Redo(1)));
        ledger.add(&line(6, "Ada", What::Redo(2)));
        assert_eq!(places(&ledger), [Some(6), Some(7)]);
        ledger.add(&line(7, "Ada", What::Undo(2)));
        ledger.add(&line(8, "Ada", accept(&[(B, 9)])));
        assert_eq!((ledger.to_undo(), ledger.to_redo()), (Some(8), None));
        assert_eq!(places(&ledger), [Some(5), Some(9)]);
    }

    #[test]
    fn people_who_differ_are_a_conflict_and_one_s_own_word_counts() {
        let mut ledger = Ledger::new("Ada");
        ledger.add_others(&[
            line(1, "Ben", accept(&[(A, 5), (B, 1)])),
            line(2, "Ben", What::Undo(1)),
        ]);
        assert_eq!(places(&ledger), [None, None]);
        ledger.add_others(&[line(1, "Ben", accept(&[(A, 5), (B, 1)]))]);
        assert_eq!(places(&ledger), [Some(5), Some(1)]);
        assert_eq!(ledger.to_undo(), None);
        ledger.add(&line(1, "Ada", accept(&[(A, 6)])));
        assert_eq!(places(&ledger), [Some(6), Some(1)]);
        let conflicts = ledger.conflicts();
        assert_eq!(conflicts.len(), 1);
        assert_eq!((conflicts[0].item, conflicts[0].by.len()), (A, 2));
        ledger.add(&line(2, "Ben", accept(&[(A, 5)])));
        assert_eq!(places(&ledger), [Some(6), Some(1)]);
        ledger.add(&line(3, "Ada", accept(&[(A, 5)])));
        assert_eq!(ledger.conflicts(), []);
    }
}
