//! Backgrounds that explain nothing, and hundreds of stamps of one event.
//!
//! Ways to give the stamps of one free stream are summed over the sets of events that have one, so that there may be any
//! number of stamps.

use super::*;
use crate::math::log_sum;

impl Case {
    /// The log evidence of one free stream, and p(y_i = 1).
    fn by_sets(&self) -> (f64, Vec<f64>) {
        let density = &self.densities()[0];
        let (mut logs, mut before) = (Vec::new(), f64::NEG_INFINITY);
        for labels in self.sequences() {
            let log_weight = self.log_weight(&labels);
            before = log_add(before, log_weight);
            logs.push(log_weight + self.log_given(&labels, density));
        }
        let total = log_sum(&logs);
        let mut presence = vec![0.0; self.times.len()];
        for (labels, log) in self.sequences().iter().zip(logs) {
            for (i, _) in labels.iter().enumerate().filter(|(_, y)| **y > 0) {
                presence[i] += (log - total).exp();
            }
        }
        (total - before, presence)
    }

    /// log p(stamps | labels) of one class.
    fn log_given(&self, labels: &[usize], density: &Normal) -> f64 {
        let own = &self.heard[0];
        let Habit { silent, given, further } = own.habits[0];
        let is_event = |i: &usize| Self::event(labels, own.variable, *i).is_some();
        let events: Vec<f64> = (0..labels.len()).filter(is_event).map(|i| self.times[i]).collect();
        // Logarithms by the set of events that have a stamp.
        let mut ways = vec![f64::NEG_INFINITY; 1 << events.len()];
        ways[0] = silent.ln() * events.len() as f64;
        for stamp in own.stamps.iter().flatten() {
            let mut next: Vec<f64> = ways.iter().map(|own| own + self.log_background).collect();
            for (k, time) in events.iter().enumerate() {
                let mut log_density = [0.0];
                density.log_density(&[stamp.time - time], &mut log_density);
                for (set, way) in ways.iter().enumerate() {
                    let weight = if set >> k & 1 == 0 { given / silent } else { further };
                    let with = &mut next[set | 1 << k];
                    *with = log_add(*with, way + log_density[0] + weight.ln());
                }
            }
            ways = next;
        }
        log_sum(&ways)
    }
}

/// Errors of log Z and p(y).
fn errors_by_sets(case: &Case, effort: Effort) -> [f64; 2] {
    let (found, (log_evidence, presence)) = (case.summed_with(effort), case.by_sets());
    let off = found.presence.iter().zip(presence).map(|(got, want)| (got - want).abs());
    [(found.log_evidence - log_evidence).abs(), off.fold(0.0, f64::max)]
}

#[test]
fn sets_of_events_are_the_enumerated_ones() {
    for seed in 0..4 {
        let case = Case::draw(1, &[(Variable::Onset, Order::Free)], 3, seed);
        for case in [case.clone(), case.sharing()] {
            let (want, got) = (case.enumerated(), case.by_sets());
            assert!((want.log_evidence - got.0).abs() < 1e-12, "{seed}"); // rounding
            for (want, got) in want.presence.iter().zip(got.1) {
                assert!((want - got).abs() < 1e-12, "{seed}"); // rounding
            }
        }
    }
}

#[test]
fn a_background_may_be_faint() {
    for seed in 0..20 {
        for variable in [Variable::Onset, Variable::End] {
            let case = Case::draw(1, &[(variable, Order::Free)], 3, seed);
            for case in [case.clone(), case.sharing()] {
                for background in [1e-20_f64, 1e-60] {
                    let log_background = background.ln();
                    // Stamps that only one instance explains, or none; agreement is an approximation, and windows leave
                    // out 1e-10 of the background for each stamp.
                    let case = Case { spread: 0.1, log_background, ..case.clone() };
                    for (effort, most) in [(AGREEING, [0.02, 0.01]), (Effort::USUAL, [1e-8; 2])] {
                        let [log_evidence, presence] = errors_by_sets(&case, effort);
                        assert!(log_evidence < most[0], "{variable:?} {seed}: {log_evidence}");
                        assert!(presence < most[1], "{variable:?} {seed}: {presence}");
                    }
                }
            }
        }
    }
}

/// Hundreds of stamps about the third of seven instances.
fn crowd(stamps: usize, seed: u64) -> Case {
    let mut random = Random::new(seed);
    let mut case = Case::draw(1, &[(Variable::Onset, Order::Free)], 0, seed);
    let mut own: Vec<f64> = (0..stamps).map(|_| case.times[2] + 0.7 * random.normal()).collect();
    own.sort_by(f64::total_cmp);
    case.heard[0].stamps = vec![Stamp::at(&own)];
    case
}

#[test]
fn an_event_may_have_hundreds_of_stamps() {
    for seed in 0..4 {
        for stamps in [50, 500] {
            for background in [1e-2_f64, 1e-20] {
                let case = crowd(stamps, seed);
                for case in [case.clone(), case.sharing()] {
                    let case = Case { log_background: background.ln(), ..case };
                    let [log_evidence, presence] = errors_by_sets(&case, Effort::USUAL);
                    // The sum is an approximation, as in `errors`.
                    assert!(log_evidence < 0.01, "{stamps} {background} {seed}: {log_evidence}");
                    assert!(presence < 1e-3, "{stamps} {background} {seed}: {presence}");
                }
            }
        }
    }
}
