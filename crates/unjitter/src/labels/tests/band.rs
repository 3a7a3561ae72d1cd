//! Long sessions with one ordered stream, against a recursion over labels and stamps in the logarithm.
//!
//! ```text
//! α_i(y, l) = Σ_y' e^{f_i(y)} g_i(y', y)·[ v(y', y)·u(0)·α(y', l) + u(1)·p_l(i)·Σ_k ρ^k·α(y', l − 1 − k) ]
//! ```
//!
//! where an edge at which there is no event takes the first term alone, without u(0), and k stamps before the given one
//! come from nowhere. Dense in instances and stamps, so that it knows nothing of windows, riders or scales.

use super::*;
use crate::math::log_sum;

impl Case {
    /// Sessions as long as real ones, whose stamps are now close to each other and now far apart.
    pub(super) fn long(instances: usize, variable: Variable, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let mut time = 0.0;
        let times: Vec<f64> = (0..instances)
            .map(|_| {
                time += 0.5 + random.uniform();
                time
            })
            .collect();
        let rates = Rates { onset: 0.02, offset: 0.15 };
        let (mut scores, mut events) = (Vec::new(), Vec::new());
        let (mut label, mut last) = (false, 0.0);
        for &t in &times {
            let [leave, other] = match label {
                true => [rates.offset, rates.onset],
                false => [rates.onset, rates.offset],
            };
            let forgotten = (-(leave + other) * (t - last)).exp();
            let changes = random.uniform() < leave / (leave + other) * (1.0 - forgotten);
            if changes && label == (variable == Variable::End) {
                events.push(last.max(t - 1.0));
            }
            label ^= changes;
            last = t;
            scores.push(if label { 0.5 } else { -2.0 } + 1.5 * random.normal());
        }
        let spread = 2.0;
        let mut stamps: Vec<f64> = Vec::new();
        for event in events {
            if random.uniform() < 0.85 {
                stamps.push(event + spread * random.normal());
            }
            if random.uniform() < 0.1 {
                stamps.push(random.uniform() * time);
            }
        }
        stamps.sort_by(f64::total_cmp);
        let habits = vec![Habit { silent: 0.15, given: 0.85, further: 0.0 }];
        let order = Order::Ordered;
        let (recorded, stamps) = (vec![vec![1.0]], vec![Stamp::at(&stamps)]);
        let heard = vec![Heard { variable, habits, order, recorded, stamps }];
        let (rates, log_background, known) = (Some(rates), -5.0, vec![None; instances]);
        Self { times, classes: 1, rates, scores, known, spread, log_background, heard }
    }

    /// The logarithm of the sum over labels and stamps in order, without the normaliser of the labels.
    fn log_joint(&self) -> f64 {
        let [Heard { variable, habits, stamps, .. }] = self.heard.as_slice() else {
            unreachable!("one stream")
        };
        let (Habit { silent, given, further }, stamps) = (habits[0], &stamps[0]);
        let density = &self.densities()[0];
        let none = vec![f64::NEG_INFINITY; stamps.len() + 1];
        let mut alpha = [none.clone(), none.clone()];
        alpha[0][0] = 0.0;
        // Edge i leads to instance i, the last one behind the recording.
        for i in 0..=self.times.len() {
            let transition = match (i, self.rates) {
                (0, _) | (_, None) => rates::Transition::INDEPENDENT,
                _ if i == self.times.len() => rates::Transition::INDEPENDENT,
                (_, Some(rates)) => {
                    rates.transition(self.times[i] - self.times[i - 1], self.classes)
                }
            };
            let mut next = [none.clone(), none.clone()];
            for (before, alpha) in alpha.iter().enumerate() {
                for (label, next) in next.iter_mut().enumerate() {
                    let Some(step) = self.log_step(i, before, label, &transition) else { continue };
                    let event = match variable {
                        Variable::Onset => before == 0 && label == 1,
                        Variable::End => before == 1 && label == 0,
                        Variable::Presence => label == 1,
                    };
                    let silence = if event { silent.ln() } else { 0.0 };
                    // Ways with stamps from nowhere behind the last given one, and ways that give one here.
                    let (mut undecided, mut passed) = (f64::NEG_INFINITY, f64::NEG_INFINITY);
                    for l in 0..=stamps.len() {
                        next[l] = log_add(next[l], step + silence + alpha[l]);
                        let Some(stamp) = stamps.get(l).filter(|_| event) else { continue };
                        let at = i - usize::from(*variable == Variable::End);
                        let mut log_density = [0.0];
                        density.log_density(&[stamp.time - self.times[at]], &mut log_density);
                        undecided = log_add(undecided, alpha[l]);
                        let first = undecided + given.ln();
                        let here = log_add(first, passed + further.ln()) + log_density[0];
                        next[l + 1] = log_add(next[l + 1], step + here);
                        passed = log_add(passed + self.log_background, here);
                        undecided += self.log_background;
                    }
                }
            }
            alpha = next;
        }
        let nowhere = |l: usize| (stamps.len() - l) as f64 * self.log_background;
        let ends: Vec<f64> = (0..=stamps.len()).map(|l| alpha[0][l] + nowhere(l)).collect();
        log_sum(&ends)
    }

    /// The weight of an edge without stamps; none if it is impossible.
    fn log_step(
        &self,
        edge: usize,
        before: usize,
        label: usize,
        transition: &rates::Transition,
    ) -> Option<f64> {
        if edge == 0 && before == 1 {
            return None;
        }
        let Some(&score) = self.scores.get(edge) else { return (label == 0).then_some(0.0) };
        let is_possible = self.known[edge].is_none_or(|known| known == label);
        let score = if label == 1 { score } else { 0.0 };
        is_possible.then(|| score + transition.kind(before, label).ln())
    }
}

#[test]
fn the_recursion_is_the_sum_over_everything() {
    for seed in 0..4 {
        for variable in [Variable::Onset, Variable::End, Variable::Presence] {
            let mut case = Case::draw(1, &[(variable, Order::Ordered)], 3, seed);
            case.known = vec![None; case.times.len()];
            case.known[2] = Some(0);
            for case in [case.clone(), case.sharing()] {
                let got = case.log_joint() - case.chain().log_normaliser();
                // Thousands of terms of order one.
                assert!(
                    (got - case.enumerated().log_evidence).abs() < 1e-11,
                    "{variable:?} {seed}"
                );
            }
        }
    }
}

#[test]
fn long_sessions_are_those_of_the_recursion() {
    for (seed, variable) in [Variable::Onset, Variable::End, Variable::Presence].iter().enumerate()
    {
        let mut case = Case::long(2000, *variable, seed as u64);
        let stamps = case.heard[0].stamps[0].len();
        assert!(stamps > 20, "{variable:?}: {stamps} stamps");
        for shared in [false, true] {
            if shared {
                case = case.sharing();
            }
            let found = case.summed();
            let all = case.log_joint();
            let off = found.log_evidence - (all - case.chain().log_normaliser());
            println!("{variable:?}, shared {shared}: {stamps} stamps, log Z off by {off:.1e}");
            // Windows leave out 1e-10 of the background for each stamp, and riders settle to the square of 1e-6.
            assert!(off.abs() < 1e-7, "{variable:?}, shared {shared}: {off}");
            for i in [0, 399, 1000, 1777, 1999] {
                case.known[i] = Some(1);
                let want = (case.log_joint() - all).exp();
                case.known[i] = None;
                let off = found.presence[i] - want;
                assert!(off.abs() < 1e-6, "{variable:?}, shared {shared}, {i}: {off}");
            }
        }
    }
}
