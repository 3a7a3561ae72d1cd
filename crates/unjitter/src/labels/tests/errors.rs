//! How far riders that agree on several stamps are from the sum over everything, for every combination.

use super::*;

/// Cases of each row.
const CASES: u64 = 12;

/// A row of the table in `docs/model.md`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row {
    what: &'static str,
    about: &'static [Variable],
    pub(super) order: Order,
    shared: bool,
    people: usize,
    classes: usize,
}

const ABOUT: [(&str, &[Variable]); 4] = [
    ("onset", &[Variable::Onset]),
    ("end", &[Variable::End]),
    ("presence", &[Variable::Presence]),
    ("onset, end", &[Variable::Onset, Variable::End]),
];

pub(super) fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    for (what, about) in ABOUT {
        for order in [Order::Free, Order::Ordered] {
            for shared in [false, true] {
                for (people, classes) in [(1, 1), (2, 1), (1, 2), (2, 2)] {
                    rows.push(Row { what, about, order, shared, people, classes });
                }
            }
        }
    }
    rows
}

impl Row {
    pub(super) fn case(&self, seed: u64) -> Case {
        let streams: Vec<(Variable, Order)> = (0..self.people)
            .flat_map(|_| self.about.iter().map(|&variable| (variable, self.order)))
            .collect();
        // Enumeration pays for every stamp of a stream with a factor.
        let stamps = if streams.len() == 1 { 3 } else { 2 };
        let case = Case::draw(self.classes, &streams, stamps, seed);
        if self.shared { case.sharing() } else { case }
    }

    /// One stream in order is one rider, if none of its stamps is far from the others.
    fn is_exact(&self) -> bool {
        self.order == Order::Ordered && self.people * self.about.len() == 1
    }

    /// Bounds of the mean errors of log Z and p(y).
    fn bounds(&self) -> [f64; 2] {
        match self.about {
            _ if self.is_exact() => [1e-9, 1e-9],
            // Neighbours of a run exclude each other as owners, all at once.
            [Variable::Presence] if !self.shared => [0.2, 0.06],
            _ => [0.03, 0.015],
        }
    }

    fn told(&self, errors: &[[f64; 4]]) -> String {
        let order = if self.order == Order::Free { "free" } else { "ordered" };
        let counts = if self.shared { "any" } else { "one" };
        let mean = |k: usize| errors.iter().map(|own| own[k]).sum::<f64>() / errors.len() as f64;
        let worst = |k: usize| errors.iter().map(|own| own[k]).fold(0.0, f64::max);
        let Self { what, people, classes, .. } = self;
        let numbers = match self.is_exact() {
            true => "exact | | | | | |".to_owned(),
            false => format!(
                "{:.4} | {:.3} | {:.4} | {:.3} | {:.4} | {:.3} |",
                mean(0),
                worst(0),
                mean(1),
                worst(1),
                mean(2),
                worst(2)
            ),
        };
        format!("| {what} | {order} | {counts} | {people} | {classes} | {numbers}")
    }
}

#[test]
fn every_combination_is_near_the_sum_over_everything() {
    for row in rows() {
        let all: Vec<[f64; 4]> = (0..CASES).map(|seed| errors(&row.case(seed), AGREEING)).collect();
        println!("{}", row.told(&all));
        let mean = |k: usize| all.iter().map(|own| own[k]).sum::<f64>() / all.len() as f64;
        let [evidence, presence] = row.bounds();
        assert!(mean(0) < evidence && mean(1) < presence, "{row:?}");
        // Where stamps belong, and how many events have none, are as near as labels.
        assert!(mean(2) < 2.0 * presence && mean(3) < 3.0 * presence, "{row:?}");
    }
}
