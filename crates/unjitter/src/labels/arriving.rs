//! Labels of instances that arrive one by one.
//!
//! What comes before an instance is known when it arrives, and what comes behind it never all is. But whatever comes acts
//! through the label of the newest instance:
//!
//! ```text
//! p(y_i | all that will ever come) = Σ_z c(z)·p(y_i | all until now, y_newest = z),  c ≥ 0, Σ c = 1
//! ```
//!
//! So the largest difference between these over z bounds how far p(y_i) can still move. It shrinks as the chain forgets, and
//! once it is small nothing has to wait any longer. With one class it is, after a time t, whatever the scores are,
//!
//! ```text
//! at most e^{−2√(ab)·t},  a the rate of onsets and b of offsets
//! ```
//!
//! Scores scale columns of the transition matrix [1 + e/r, 1 − e; 1 − e, 1 + r·e], e = e^{−(a+b)Δ}, r = b/a, which leaves its
//! contraction of differences in log-odds as it is (Birkhoff, 1957): with φ the ratio of its diagonal's product to the other,
//! tanh(d/4) shrinks by (√φ − 1)/(√φ + 1). More instances with scores of their own forget more slowly than fewer, and in the
//! limit of ever shorter Δ that is 1 − 2√(ab)·Δ.
//!
//! The weights behind the oldest instance that waits are a product of one matrix per arrival, which grows at one end and
//! shrinks at the other. Two stacks of partial products keep it in O(S³) per instance on average, for S labels, however
//! many wait. All weights are logarithms: arrivals are slow beside them, and no score is too large.

use std::collections::VecDeque;

use super::Rates;
use super::chain::label_weights;
use crate::math::log_sum;

/// The labels of a recording until now, and the instances that wait to be told.
#[derive(Debug, Clone)]
pub(crate) struct Arriving {
    rates: Rates,
    /// No event, and the classes.
    labels: usize,
    /// When the newest instance was, and the weights of its labels given all until then.
    newest: Option<(f64, Vec<f64>)>,
    /// Times of the instances that wait, from the oldest on, and the weights of their labels given all until then.
    waiting: VecDeque<(f64, Vec<f64>)>,
    /// The edges from the oldest of them to the newest instance.
    edges: Edges,
}

/// What is known of the oldest instance that waits.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Oldest {
    /// Its time.
    pub(crate) time: f64,
    /// p(y = k | all until now), by class.
    pub(crate) presence: Vec<f64>,
    /// No probability can move by more than this, whatever may come.
    pub(crate) unsettled: f64,
}

impl Arriving {
    /// Nothing has arrived yet.
    pub(crate) fn new(rates: Rates, classes: usize) -> Self {
        let edges = Edges { labels: classes + 1, ..Edges::default() };
        Self { rates, labels: classes + 1, newest: None, waiting: VecDeque::new(), edges }
    }

    /// An instance arrives, not before the newest one, with the log-odds of each class against no event.
    pub(crate) fn push(&mut self, time: f64, scores: &[f64]) {
        let labels = self.labels;
        let mut own = vec![0.0; labels];
        label_weights(scores, None, &mut own);
        if let Some((newest, weights)) = &self.newest {
            let transition = self.rates.transition(time - newest, labels - 1);
            let edge =
                |at: usize| transition.kind(at / labels, at % labels).ln() + own[at % labels];
            let edge: Vec<f64> = (0..labels * labels).map(edge).collect();
            own = product(weights, &edge, labels);
            if !self.waiting.is_empty() {
                self.edges.push(edge);
            }
        }
        self.newest = Some((time, own.clone()));
        self.waiting.push_back((time, own));
    }

    /// The oldest instance that waits.
    pub(crate) fn oldest(&self) -> Option<Oldest> {
        let (time, weights) = self.waiting.front()?;
        let labels = self.labels;
        let behind = self.edges.product();
        let weight = |y: usize, z: usize| match &behind {
            Some(behind) => weights[y] + behind[y * labels + z],
            None if y == z => weights[y],
            None => f64::NEG_INFINITY,
        };
        let columns: Vec<Vec<f64>> =
            (0..labels).map(|z| (0..labels).map(|y| weight(y, z)).collect()).collect();
        let totals: Vec<f64> = columns.iter().map(|column| log_sum(column)).collect();
        let total = log_sum(&totals);
        let (mut presence, mut unsettled) = (vec![0.0; labels - 1], 0.0_f64);
        for y in 0..labels {
            let (mut p, mut least, mut most) = (0.0, f64::INFINITY, f64::NEG_INFINITY);
            for (column, &own) in columns.iter().zip(&totals).filter(|(_, own)| own.is_finite()) {
                let given = (column[y] - own).exp();
                p += given * (own - total).exp();
                (least, most) = (given.min(least), given.max(most));
            }
            unsettled = unsettled.max(most - least);
            if y > 0 {
                presence[y - 1] = p.min(1.0);
            }
        }
        Some(Oldest { time: *time, presence, unsettled })
    }

    /// The oldest instance waits no longer.
    pub(crate) fn pop(&mut self) {
        self.waiting.pop_front();
        self.edges.pop();
    }
}

/// A product of matrices to which one is added at one end, and from which one is taken at the other.
#[derive(Debug, Clone, Default)]
struct Edges {
    labels: usize,
    /// Products of an edge with all behind it among these, the first edge last.
    older: Vec<Vec<f64>>,
    newer: Vec<Vec<f64>>,
    of_newer: Option<Vec<f64>>,
}

impl Edges {
    fn push(&mut self, edge: Vec<f64>) {
        let all = match &self.of_newer {
            Some(before) => product(before, &edge, self.labels),
            None => edge.clone(),
        };
        self.of_newer = Some(all);
        self.newer.push(edge);
    }

    /// Takes the first one away, if there is one.
    fn pop(&mut self) {
        if self.older.is_empty() {
            while let Some(edge) = self.newer.pop() {
                let with_later = match self.older.last() {
                    Some(later) => product(&edge, later, self.labels),
                    None => edge,
                };
                self.older.push(with_later);
            }
            self.of_newer = None;
        }
        self.older.pop();
    }

    fn product(&self) -> Option<Vec<f64>> {
        match (self.older.last(), &self.of_newer) {
            (Some(older), Some(newer)) => Some(product(older, newer, self.labels)),
            (Some(only), None) | (None, Some(only)) => Some(only.clone()),
            (None, None) => None,
        }
    }
}

/// Rows of weights times a square matrix, all logarithms; the largest of the result is 0.
fn product(rows: &[f64], matrix: &[f64], labels: usize) -> Vec<f64> {
    let mut terms = vec![0.0; labels];
    let mut all = Vec::with_capacity(rows.len());
    for row in rows.chunks_exact(labels) {
        for y in 0..labels {
            let own = row.iter().zip(matrix.iter().skip(y).step_by(labels));
            terms.iter_mut().zip(own).for_each(|(term, (a, b))| *term = a + b);
            all.push(log_sum(&terms));
        }
    }
    let highest = all.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    all.iter_mut().for_each(|weight| *weight -= highest);
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::labels::Chain;
    use crate::math::Random;

    const RATES: Rates = Rates { onset: 0.3, offset: 0.5 };

    /// Times, some of them equal, and scores by class.
    fn drawn(instances: usize, classes: usize, seed: u64) -> (Vec<f64>, Vec<f64>) {
        let mut random = Random::new(seed);
        let mut time = 0.0;
        let mut later = || {
            time += if random.uniform() < 0.2 { 0.0 } else { 2.0 * random.uniform() };
            time
        };
        let times = (0..instances).map(|_| later()).collect();
        (times, (0..instances * classes).map(|_| 3.0 * random.normal()).collect())
    }

    /// How an arrival leaves: its probabilities by class, and what may still move them.
    fn told(times: &[f64], scores: &[f64], classes: usize, at_most: f64) -> Vec<Oldest> {
        let (mut arriving, mut all) = (Arriving::new(RATES, classes), Vec::new());
        for (&time, scores) in times.iter().zip(scores.chunks(classes)) {
            arriving.push(time, scores);
            while let Some(oldest) = arriving.oldest().filter(|own| own.unsettled <= at_most) {
                arriving.pop();
                all.push(oldest);
            }
        }
        while let Some(oldest) = arriving.oldest() {
            arriving.pop();
            all.push(oldest);
        }
        all
    }

    #[test]
    fn what_leaves_is_what_the_whole_recording_says() {
        for (classes, seed) in [(1, 1), (1, 2), (3, 3)] {
            let (times, scores) = drawn(400, classes, seed);
            let want = Chain::new(&times, classes, Some(RATES), &scores).presence();
            // They wait for what they are told to, and for rounding.
            for at_most in [1e-9, 1e-3, 0.2] {
                let found = told(&times, &scores, classes, at_most);
                assert_eq!(found.len(), times.len());
                let found: Vec<f64> = found.into_iter().flat_map(|own| own.presence).collect();
                let worst = found.iter().zip(&want).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                assert!(worst <= at_most + 1e-12, "{classes} {at_most}: {worst}");
                // Some of them did leave before all was known.
                assert!(at_most < 1e-3 || worst > 1e-6, "{classes} {at_most}: {worst}");
            }
        }
    }

    #[test]
    fn no_instance_to_come_moves_a_probability_further_than_promised() {
        let (times, scores) = drawn(12, 1, 4);
        let mut arriving = Arriving::new(RATES, 1);
        times.iter().zip(&scores).for_each(|(&time, score)| arriving.push(time, &[*score]));
        let before = arriving.oldest().unwrap();
        // The surest of both, at once: they reach the ends of what is possible.
        let after = [-1e9, 1e9].map(|score| {
            let mut later = arriving.clone();
            later.push(times[11], &[score]);
            later.oldest().unwrap().presence[0]
        });
        let moved = after[1] - after[0];
        // Rounding of sums of logarithms.
        assert!((moved - before.unsettled).abs() < 1e-12, "{after:?} {before:?}");
        assert!(after[0] < before.presence[0] && before.presence[0] < after[1]);
    }

    #[test]
    fn a_chain_forgets_whatever_the_scores_are() {
        let mut random = Random::new(6);
        for case in 0..2000 {
            // The last of these rates and scores are those that forget the least.
            let is_worst = case % 4 == 3;
            let [onset, other] = [0; 2].map(|_| (1.5 * random.normal()).exp());
            let offset = if is_worst { onset } else { other };
            let mut arriving = Arriving::new(Rates { onset, offset }, 1);
            let mut time = 0.0;
            for _ in 0..1 + case % 13 {
                arriving.push(time, &[[0.5, 2.0, 6.0, 0.0][case % 4] * random.normal()]);
                time += [0.01, 0.1, 1.0][case / 4 % 3] * random.uniform() / (onset + offset);
            }
            let passed = arriving.newest.as_ref().unwrap().0;
            let most = (-2.0 * (onset * offset).sqrt() * passed).exp();
            let unsettled = arriving.oldest().unwrap().unsettled;
            // Rounding of sums of logarithms.
            assert!(unsettled <= most + 1e-13, "{unsettled} {most}");
            assert!(!is_worst || unsettled >= most - 1e-13, "{unsettled} {most}");
        }
    }

    #[test]
    fn few_wait_however_long_the_recording_is() {
        let (times, scores) = drawn(20_000, 1, 5);
        let (mut arriving, mut most) = (Arriving::new(RATES, 1), 0);
        for (&time, &score) in times.iter().zip(&scores) {
            arriving.push(time, &[score]);
            while arriving.oldest().is_some_and(|own| own.unsettled <= 1e-9) {
                arriving.pop();
            }
            most = most.max(arriving.waiting.len());
        }
        // The chain forgets by e^{-0.8} per unit of time, and instances are 0.8 apart: 32 bring 1e-9 by themselves.
        assert!((3..80).contains(&most), "{most}");
    }

    #[test]
    fn certain_scores_make_labels_certain() {
        let mut arriving = Arriving::new(RATES, 2);
        arriving.push(0.0, &[0.0, f64::INFINITY]);
        arriving.push(1.0, &[f64::NEG_INFINITY, 0.0]);
        let oldest = arriving.oldest().unwrap();
        assert_eq!((oldest.presence, oldest.unsettled), (vec![0.0, 1.0], 0.0));
    }
}
