//! How likely labels are that somebody gave: the chain by itself, without stamps (Lafferty et al. 2001).
//!
//! Labels may be soft: a probability q that the instance is positive. They are read as one threshold for a whole session,
//! drawn at random between 0 and 1, from which on instances are positive: soft labels around a stamp are then runs around
//! it, which may be long or short. The expected log likelihood needs no draws, since of two neighbours both are positive
//! with min(q, q'), none is with min(1 − q, 1 − q'), and one begins or ends a run with |q − q'|:
//!
//! ```text
//! E log p(y | x) = Σ_i q_i·f_i + Σ_{i>0} E log g(y_{i−1}, y_i) − log Z        ∂/∂f_i = q_i − p(y_i = 1)
//! ```
//!
//! Without a chain it is minus the cross-entropy. One pass there and back.

use super::chain::{Base, Chain};
use super::count::Two;
use super::path::{Edges, Paths};
use super::rates::Transition;
use super::weight::{Log, Weight};

/// What a chain says of labels, and what it would without them.
#[derive(Debug)]
pub(crate) struct Labelled {
    /// E log p(y | features).
    pub(crate) log_likelihood: f64,
    /// p(y_i = 1 | features).
    pub(crate) presence: Vec<f64>,
    /// Derivatives in log onset rate and log offset rate.
    pub(crate) d_rates: [f64; 2],
}

impl Chain<'_> {
    /// For the probability that each instance is positive, of one class.
    pub(crate) fn labelled(&self, positive: &[f64]) -> Labelled {
        debug_assert_eq!((self.classes(), self.instances()), (1, positive.len()));
        match self.needs_logs() {
            false => self.labelled_in::<f64>(positive),
            true => self.labelled_in::<Log>(positive),
        }
    }

    fn labelled_in<W: Weight>(&self, positive: &[f64]) -> Labelled {
        let base = Base::<W>::new(self, &[], self.runs_in_parallel());
        let paths = Paths::new(&base, self.runs_in_parallel());
        let mut log_likelihood = -base.scales - paths.log_normaliser();
        let (mut presence, mut d_rates) = (Vec::with_capacity(positive.len()), [0.0; 2]);
        let mut weights = [W::ZERO; 4];
        for (i, (&q, score)) in positive.iter().zip(self.scores()).enumerate() {
            base.weigh(Two, i, &mut weights);
            paths.weigh(Two, i, &mut weights);
            let [rest, onset, end, same] = weights.map(W::number);
            presence.push(onset + same);
            // A label that is certain does not ask for the other one, whose weight may be zero.
            log_likelihood += if q > 0.0 { q * score } else { 0.0 };
            let (Some(gap), Some(rates)) = (i.checked_sub(1), self.rates) else { continue };
            let before = positive[gap];
            let (own, change) = (&base.transitions[i], (q - before).abs());
            let kinds = [
                (own.rest, (1.0 - q).min(1.0 - before)),
                (own.change, change),
                (own.same, q.min(before)),
            ];
            let told = kinds.iter().filter(|(_, share)| *share > 0.0);
            log_likelihood += told.map(|(weight, share)| share * weight.ln()).sum::<f64>();
            let beyond = Transition {
                rest: kinds[0].1 - rest,
                change: change - onset - end,
                same: kinds[2].1 - same,
                other: 0.0,
            };
            rates.pull_back(self.gap(i).unwrap_or_default(), 1, own, &beyond, &mut d_rates);
        }
        Labelled { log_likelihood, presence, d_rates }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::labels::Rates;
    use crate::math::{Random, log_add, softplus};

    const TIMES: [f64; 6] = [0.0, 0.4, 1.5, 1.7, 4.0, 4.3];
    const RATES: Rates = Rates { onset: 0.4, offset: 0.9 };

    fn scores(random: &mut Random) -> Vec<f64> {
        TIMES.map(|_| 1.5 * random.normal() - 0.3).to_vec()
    }

    /// The log weight of labels, from its definition.
    fn log_weight(scores: &[f64], labels: &[bool]) -> f64 {
        let sum = RATES.onset + RATES.offset;
        let share = |y: bool| if y { RATES.onset / sum } else { RATES.offset / sum };
        let mut total = 0.0;
        for (i, &y) in labels.iter().enumerate() {
            total += if y { scores[i] } else { 0.0 };
            if i > 0 {
                let left = (-sum * (TIMES[i] - TIMES[i - 1])).exp();
                let stays = if y == labels[i - 1] { left } else { 0.0 };
                total += ((share(y) * (1.0 - left) + stays) / share(y)).ln();
            }
        }
        total
    }

    /// log p(labels), by enumeration.
    fn log_probability(scores: &[f64], labels: &[bool]) -> f64 {
        let all = (0..1u32 << TIMES.len()).map(|code| {
            let labels: Vec<bool> = (0..TIMES.len()).map(|i| code >> i & 1 == 1).collect();
            log_weight(scores, &labels)
        });
        log_weight(scores, labels) - all.fold(f64::NEG_INFINITY, log_add)
    }

    fn found(scores: &[f64], positive: &[f64]) -> f64 {
        Chain::new(&TIMES, 1, Some(RATES), scores).labelled(positive).log_likelihood
    }

    #[test]
    fn labels_are_as_likely_as_enumeration_says() {
        let mut random = Random::new(1);
        for code in 0..64u32 {
            let scores = scores(&mut random);
            let labels: Vec<bool> = (0..TIMES.len()).map(|i| code >> i & 1 == 1).collect();
            let positive: Vec<f64> = labels.iter().map(|&y| f64::from(u8::from(y))).collect();
            let (got, want) = (found(&scores, &positive), log_probability(&scores, &labels));
            assert!((got - want).abs() < 1e-12, "{code}: {got} {want}"); // some tens of roundings
        }
    }

    #[test]
    fn soft_labels_are_hard_ones_at_all_thresholds() {
        let mut random = Random::new(2);
        for _ in 0..20 {
            let scores = scores(&mut random);
            let positive = TIMES.map(|_| random.uniform());
            // Labels are the same between two neighbouring values.
            let mut cuts = [&positive[..], &[0.0, 1.0]].concat();
            cuts.sort_by(f64::total_cmp);
            let mut want = 0.0;
            for pair in cuts.windows(2) {
                let labels = positive.map(|q| q > 0.5 * (pair[0] + pair[1]));
                want += (pair[1] - pair[0]) * log_probability(&scores, &labels);
            }
            let got = found(&scores, &positive);
            assert!((got - want).abs() < 1e-12, "{got} {want}"); // the same
        }
    }

    #[test]
    fn derivatives_match_central_differences_and_logarithms_agree() {
        const STEP: f64 = 1e-5;
        let mut random = Random::new(3);
        let (scores, positive) = (scores(&mut random), TIMES.map(|_| random.uniform()));
        let chain = Chain::new(&TIMES, 1, Some(RATES), &scores);
        let (own, logs) = (chain.labelled(&positive), chain.labelled_in::<Log>(&positive));
        assert!((own.log_likelihood - logs.log_likelihood).abs() < 1e-12); // the same
        for i in 0..TIMES.len() {
            let at = |step: f64| {
                let mut moved = scores.clone();
                moved[i] += step;
                found(&moved, &positive)
            };
            let slope = (at(STEP) - at(-STEP)) / (2.0 * STEP);
            // h² truncation and 1e-15/h rounding of values of order ten.
            assert!((positive[i] - own.presence[i] - slope).abs() < 1e-8, "{i}");
        }
        for k in 0..2 {
            let at = |step: f64| {
                let by = |j: usize| if j == k { step.exp() } else { 1.0 };
                let rates = Rates { onset: RATES.onset * by(0), offset: RATES.offset * by(1) };
                Chain::new(&TIMES, 1, Some(rates), &scores).labelled(&positive).log_likelihood
            };
            let slope = (at(STEP) - at(-STEP)) / (2.0 * STEP);
            assert!((own.d_rates[k] - slope).abs() < 1e-8, "{k}: {:?} {slope}", own.d_rates);
        }
    }

    #[test]
    fn without_a_chain_it_is_the_cross_entropy() {
        let mut random = Random::new(4);
        let (scores, positive) = (scores(&mut random), TIMES.map(|_| random.uniform()));
        let own = Chain::new(&TIMES, 1, None, &scores).labelled(&positive);
        let term = |(q, f): (f64, &f64)| -q * softplus(-f) - (1.0 - q) * softplus(*f);
        let want: f64 = positive.into_iter().zip(&scores).map(term).sum();
        assert!((own.log_likelihood - want).abs() < 1e-12); // rounding
    }
}
