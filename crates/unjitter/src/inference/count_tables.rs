//! The two count tables c!·p(c | y), and how they mix at an instance.

use crate::math::{ln_gamma, log_add};

/// Logarithm of a weight up to which products of several weights stay in the range of f64.
const ORDINARY: f64 = 200.0;

/// Weights c!·p(c | y) of c = 0..=C stamps for the two labels y, with the quantities that inference
/// derives once.
#[derive(Debug, Clone)]
pub struct CountTables {
    log_weights: [Vec<f64>; 2],
    weights: [Vec<f64>; 2],
    ratios: Option<[f64; 2]>,
    log_odds_range: Option<f64>,
    log_largest_odds: f64,
}

impl CountTables {
    /// Tables from log p(c | y) for c = 0..=C, the same C for both labels. C is the largest
    /// possible count or the number of stamps, whichever is less.
    ///
    /// `log_ratios` declares that c!·p(c | y) = p(0 | y)·exp(c · log_ratio_y): the sum over counts then
    /// needs no loop.
    ///
    /// # Panics
    /// If the tables are empty or differ in length.
    pub fn new(log_probabilities: [Vec<f64>; 2], log_ratios: Option<[f64; 2]>) -> Self {
        assert_eq!(log_probabilities[0].len(), log_probabilities[1].len());
        assert!(!log_probabilities[0].is_empty());
        let mut log_weights = log_probabilities;
        for table in &mut log_weights {
            let mut log_factorial = 0.0;
            for (c, value) in table.iter_mut().enumerate().skip(1) {
                log_factorial += (c as f64).ln();
                *value += log_factorial;
            }
        }
        let weights = [0, 1].map(|y: usize| log_weights[y].iter().map(|v| v.exp()).collect());
        // An infinite ratio belongs to a table of zeros: an impossible label.
        let ratio = |y: usize, log_ratio: f64| {
            if log_weights[y][0] == f64::NEG_INFINITY { 0.0 } else { log_ratio.exp() }
        };
        let ratios = log_ratios.map(|log| [ratio(0, log[0]), ratio(1, log[1])]);
        let (log_odds_range, log_largest_odds) = log_odds_range(&log_weights);
        Self { log_weights, weights, ratios, log_odds_range, log_largest_odds }
    }

    /// The same tables, summed count by count even if a ratio would do.
    pub fn without_ratios(&self) -> Self {
        Self { ratios: None, ..self.clone() }
    }

    /// Whether an instance gives one stamp at most, and there are stamps to give.
    pub(super) fn gives_one_stamp(&self) -> bool {
        self.max_count() == 1 && self.ratios().is_none()
    }

    /// C, the largest count in the tables.
    pub fn max_count(&self) -> usize {
        self.weights[0].len() - 1
    }

    /// c!·p(c | y).
    pub fn weight(&self, label: usize, count: usize) -> f64 {
        self.weights[label][count]
    }

    /// p(c | y).
    pub fn probability(&self, label: usize, count: usize) -> f64 {
        (self.log_weights[label][count] - ln_gamma(count as f64 + 1.0)).exp()
    }

    /// log κ such that the weights of up to `count` stamps, each divided by κᶜ, are of ordinary size; 0
    /// if they already are.
    pub(super) fn log_growth(&self, count: usize) -> f64 {
        let largest = self.log_weights.iter().map(|table| table[count]).fold(f64::MIN, f64::max);
        if largest.abs() > ORDINARY { largest / count as f64 } else { 0.0 }
    }

    /// c!·p(c | y)·κ⁻ᶜ.
    pub(super) fn weight_beside(&self, label: usize, count: usize, log_ratio: f64) -> f64 {
        match log_ratio == 0.0 {
            true => self.weight(label, count),
            false => (self.log_weights[label][count] - count as f64 * log_ratio).exp(),
        }
    }

    /// λ_y of a first-order model.
    pub fn ratios(&self) -> Option<[f64; 2]> {
        self.ratios
    }

    /// log c!·p(c | y).
    pub(super) fn log_weight(&self, label: usize, count: usize) -> f64 {
        self.log_weights[label][count]
    }

    /// log p(y | f) + log c!·p(c | y).
    pub fn log_joint(&self, log_odds: f64, label: usize, count: usize) -> f64 {
        let log_label = crate::math::log_sigmoid(if label == 1 { log_odds } else { -log_odds });
        log_label + self.log_weights[label][count]
    }

    /// log u(c) at an instance with these log-odds.
    pub fn log_mixed(&self, log_odds: f64, count: usize) -> f64 {
        log_add(self.log_joint(log_odds, 0, count), self.log_joint(log_odds, 1, count))
    }

    /// log of (largest ÷ smallest) odds that any log-odds can give a stamp; `None` if unbounded. The odds
    /// can favour a likelier instance over a stamp's nearest one by at most this factor per stamp, also
    /// if the likelier one gives c stamps: the largest odds cover all c together.
    pub fn log_odds_range(&self) -> Option<f64> {
        self.log_odds_range
    }

    /// log of the largest odds that any log-odds can give a stamp, per stamp.
    pub(super) fn log_largest_odds(&self) -> f64 {
        self.log_largest_odds
    }

    /// How many instances a span needs instead of `rows`: unbounded odds must be compared over the whole
    /// session.
    pub fn rows_of_span(&self, rows: usize) -> usize {
        if self.log_odds_range().is_some() { rows } else { usize::MAX }
    }
}

/// Logarithm of odds that nothing in the range of f64 outweighs: those of a rate of exactly 1.
const CERTAIN: f64 = 600.0;

fn log_odds_range(log_weights: &[Vec<f64>; 2]) -> (Option<f64>, f64) {
    if log_weights[0].len() == 1 {
        return (Some(0.0), 0.0);
    }
    let alone = |table: &Vec<f64>| table[1] - table[0];
    let lowest = log_weights.iter().map(alone).fold(f64::INFINITY, f64::min);
    let each = |table: &Vec<f64>| {
        let counts = table.iter().enumerate().skip(1);
        counts.map(|(c, weight)| (weight - table[0]) / c as f64).fold(f64::MIN, f64::max)
    };
    let highest = log_weights.iter().map(each).fold(f64::MIN, f64::max);
    let range = highest - lowest;
    (range.is_finite().then_some(range), highest.min(CERTAIN))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_carry_the_factorial() {
        let tables = CountTables::new([vec![0.0; 4], vec![0.5f64.ln(); 4]], None);
        assert_eq!(tables.max_count(), 3);
        // exp(log 6) and exp(log 6 − log 2) round once.
        assert!((tables.weight(0, 3) - 6.0).abs() < 1e-14);
        assert!((tables.weight(1, 3) - 3.0).abs() < 1e-14);
    }

    #[test]
    fn mixed_weight_is_the_sum_over_labels() {
        let tables = CountTables::new(
            [vec![0.9f64.ln(), 0.1f64.ln()], vec![0.2f64.ln(), 0.8f64.ln()]],
            None,
        );
        let p = crate::math::sigmoid(0.7);
        // A handful of roundings of numbers near one.
        assert!((tables.log_mixed(0.7, 1).exp() - ((1.0 - p) * 0.1 + p * 0.8)).abs() < 1e-15);
    }

    #[test]
    fn a_known_label_uses_its_own_table() {
        let tables = CountTables::new([vec![-1.0, -2.0], vec![-3.0, -4.0]], None);
        assert_eq!(tables.log_mixed(f64::INFINITY, 1), -4.0);
        assert_eq!(tables.log_mixed(f64::NEG_INFINITY, 0), -1.0);
    }
}
