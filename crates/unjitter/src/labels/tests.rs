//! The chain against sums over all labels.

use super::*;
use crate::math::{Random, log_add, log_sigmoid, sigmoid, softplus};

const VARIABLES: [Variable; 3] = [Variable::Onset, Variable::End, Variable::Presence];

/// A chain of random spacing with random log-odds and messages.
struct Case {
    times: Vec<f64>,
    rates: Rates,
    nodes: Vec<[f64; 2]>,
    told: Told,
}

impl Case {
    fn draw(instances: usize, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let mut time = 0.0;
        let mut next = || {
            time += random.gamma(1.5);
            time
        };
        let times: Vec<f64> = (0..instances).map(|_| next()).collect();
        let rates = Rates { onset: random.gamma(1.0), offset: random.gamma(1.0) };
        let nodes = (0..instances).map(|_| [0.0, 2.0 * random.normal()]).collect();
        let mut told = Told::nothing(instances);
        for variable in VARIABLES {
            let own: Vec<f64> = (0..instances).map(|_| random.normal()).collect();
            told.add(variable, &own);
        }
        Self { times, rates, nodes, told }
    }

    fn chain(&self) -> Chain {
        Chain::new(&self.times, self.rates)
    }

    /// Whether a variable holds, from the definition.
    fn holds(labels: &[bool], variable: Variable, i: usize) -> bool {
        let before = i > 0 && labels[i - 1];
        let after = labels.get(i + 1).copied().unwrap_or(false);
        labels[i]
            && match variable {
                Variable::Onset => !before,
                Variable::End => !after,
                Variable::Presence => true,
            }
    }

    /// All labels with their log weights, from the definition of the process.
    fn enumerated(&self) -> Vec<(Vec<bool>, f64)> {
        let n = self.times.len();
        let Rates { onset, offset } = self.rates;
        let share = [offset / (onset + offset), onset / (onset + offset)];
        let all = (0..1_u32 << n).map(|bits| {
            let labels: Vec<bool> = (0..n).map(|i| (bits >> i) & 1 == 1).collect();
            let mut log_weight = 0.0;
            for i in 0..n {
                let y = usize::from(labels[i]);
                log_weight += self.nodes[i][y];
                for variable in VARIABLES {
                    if Self::holds(&labels, variable, i) {
                        log_weight += self.told.of(variable)[i];
                    }
                }
                if i > 0 {
                    let forgotten = (-(onset + offset) * (self.times[i] - self.times[i - 1])).exp();
                    let same = f64::from(labels[i] == labels[i - 1]);
                    log_weight += ((share[y] + (same - share[y]) * forgotten) / share[y]).ln();
                }
            }
            (labels, log_weight)
        });
        all.collect()
    }
}

#[test]
fn sums_marginals_and_the_best_labels_are_the_enumerated_ones() {
    for seed in 0..40 {
        let case = Case::draw(1 + seed as usize % 10, seed);
        let (chain, all) = (case.chain(), case.enumerated());
        let solved = chain.solve(&case.nodes, &case.told);
        let log_normaliser = all.iter().map(|own| own.1).fold(f64::NEG_INFINITY, log_add);
        // A thousand terms of order one: rounding only, here and below.
        assert!((solved.log_normaliser - log_normaliser).abs() < 1e-11, "seed {seed}");
        for variable in VARIABLES {
            let found = solved.variable(variable);
            for (i, found) in found.into_iter().enumerate() {
                let own = all.iter().filter(|(labels, _)| Case::holds(labels, variable, i));
                let want: f64 = own.map(|own| (own.1 - log_normaliser).exp()).sum();
                assert!((sigmoid(found) - want).abs() < 1e-12, "seed {seed} {variable:?} {i}");
            }
        }
        let positive = solved.positive();
        let presence = solved.variable(Variable::Presence);
        assert!(positive.iter().zip(presence).all(|(p, f)| *p == sigmoid(f)));
        let (labels, log_weight) = chain.best(&case.nodes, &case.told);
        let best = all.iter().max_by(|a, b| a.1.total_cmp(&b.1)).unwrap();
        assert_eq!(labels, best.0, "seed {seed}");
        assert!((log_weight - best.1).abs() < 1e-11, "seed {seed}"); // as above
    }
}

#[test]
fn what_is_untold_is_told_by_all_but_the_message_itself() {
    for seed in 0..10 {
        let case = Case::draw(6, seed);
        let (chain, solved) = (case.chain(), 3);
        for variable in VARIABLES {
            let untold = chain.solve(&case.nodes, &case.told).untold(variable);
            let mut without = case.told.clone();
            let mut less = vec![0.0; 6];
            less[solved] = -case.told.of(variable)[solved];
            without.add(variable, &less);
            let want = chain.solve(&case.nodes, &without).variable(variable)[solved];
            // Rounding of a few terms of order ten.
            assert!((untold[solved] - want).abs() < 1e-12, "seed {seed} {variable:?}");
        }
    }
}

#[test]
fn derivatives_match_central_differences() {
    const STEP: f64 = 1e-5;
    for seed in 0..20 {
        let case = Case::draw(7, seed);
        let chain = case.chain();
        let solved = chain.solve(&case.nodes, &case.told);
        let value = |rates: Rates, nodes: &[[f64; 2]], told: &Told| {
            Chain::new(&case.times, rates).solve(nodes, told).log_normaliser
        };
        // h² truncation and 1e-15/h rounding of a value of order ten.
        let check = |got: f64, above: f64, below: f64| {
            let want = (above - below) / (2.0 * STEP);
            assert!((got - want).abs() < 1e-8, "seed {seed}: {got} {want}");
        };
        let scaled = |onset: f64, offset: f64| {
            let Rates { onset: a, offset: b } = case.rates;
            let rates = Rates { onset: a * onset.exp(), offset: b * offset.exp() };
            value(rates, &case.nodes, &case.told)
        };
        let [d_onset, d_offset] = solved.d_rates();
        check(d_onset, scaled(STEP, 0.0), scaled(-STEP, 0.0));
        check(d_offset, scaled(0.0, STEP), scaled(0.0, -STEP));
        for (i, p) in solved.positive().into_iter().enumerate() {
            let moved = |step: f64| {
                let mut nodes = case.nodes.clone();
                nodes[i][1] += step;
                value(case.rates, &nodes, &case.told)
            };
            check(p, moved(STEP), moved(-STEP));
        }
        for variable in VARIABLES {
            for (i, log_odds) in solved.variable(variable).into_iter().enumerate() {
                let moved = |step: f64| {
                    let (mut told, mut more) = (case.told.clone(), vec![0.0; 7]);
                    more[i] = step;
                    told.add(variable, &more);
                    value(case.rates, &case.nodes, &told)
                };
                check(sigmoid(log_odds), moved(STEP), moved(-STEP));
            }
        }
    }
}

#[test]
fn far_apart_labels_are_independent() {
    let case = Case::draw(9, 4);
    let times: Vec<f64> = (0..9).map(|i| 1e4 * f64::from(i)).collect();
    let (chain, nothing) = (Chain::new(&times, case.rates), Told::nothing(9));
    let solved = chain.solve(&case.nodes, &nothing);
    // e^{−sΔ} is zero: sums of nine terms remain.
    let want: f64 = case.nodes.iter().map(|node| softplus(node[1])).sum();
    assert!((solved.log_normaliser - want).abs() < 1e-12);
    for (p, node) in solved.positive().iter().zip(&case.nodes) {
        assert!((p - sigmoid(node[1])).abs() < 1e-14); // one rounding
    }
    assert_eq!(solved.d_rates(), [0.0, 0.0]);
}

#[test]
fn silent_instances_move_nothing() {
    let case = Case::draw(6, 11);
    let told = |case: &Case| Told::nothing(case.times.len());
    let (rest, normaliser) = (case.rates.log_odds(), case.chain());
    let before = normaliser.solve(&case.nodes, &told(&case)).positive();
    let log_evidence = |case: &Case| {
        // Against a chain in which nothing is known: the weight of silence.
        let (chain, nothing) = (case.chain(), told(case));
        let silent = vec![[0.0, rest]; case.times.len()];
        chain.solve(&case.nodes, &nothing).log_normaliser
            - chain.solve(&silent, &nothing).log_normaliser
    };
    let (mut more, mut kept) = (Case::draw(6, 11), vec![true; 6]);
    for (at, part) in [(1, 0.2), (3, 0.7), (5, 0.5)] {
        let time = more.times[at - 1] + part * (more.times[at] - more.times[at - 1]);
        more.times.insert(at, time);
        more.nodes.insert(at, [0.0, rest]);
        kept.insert(at, false);
    }
    let after = more.chain().solve(&more.nodes, &told(&more)).positive();
    let after = after.iter().zip(&kept).filter(|(_, kept)| **kept).map(|(p, _)| p);
    for (before, after) in before.iter().zip(after) {
        assert!((before - after).abs() < 1e-13); // rounding of nine steps
    }
    assert!((log_evidence(&case) - log_evidence(&more)).abs() < 1e-12); // as above
}

#[test]
fn known_labels_are_certain_and_instances_at_one_time_are_one() {
    let rates = Rates { onset: 0.3, offset: 0.7 };
    let chain = Chain::new(&[0.0, 1.0, 1.0, 2.0], rates);
    let nodes = [f64::NEG_INFINITY, 0.4, -1.1, f64::INFINITY].map(Chain::node);
    let nothing = Told::nothing(4);
    let solved = chain.solve(&nodes, &nothing);
    let positive = solved.positive();
    assert_eq!((positive[0], positive[3], positive[1]), (0.0, 1.0, positive[2]));
    assert!(solved.d_rates().iter().all(|d| d.is_finite()));
    // Not the first at its time, so never an onset.
    assert_eq!(solved.variable(Variable::Onset)[2], f64::NEG_INFINITY);
    let step = rates.transition(1.0);
    let weight = |y: usize| step[0][y] + step[y][1] + [0.0, 0.4 - 1.1][y] - rest(rates, y);
    // Two instances at one time weigh 1/π_y: a single one, beside both log-odds.
    assert!((positive[1] - sigmoid(weight(1) - weight(0))).abs() < 1e-14); // one rounding
}

/// log π_y.
fn rest(rates: Rates, label: usize) -> f64 {
    log_sigmoid(if label == 1 { rates.log_odds() } else { -rates.log_odds() })
}

#[test]
fn long_chains_keep_their_digits() {
    // A hundred thousand instances, whose weight no number could hold.
    let times: Vec<f64> = (0..100_000).map(f64::from).collect();
    let chain = Chain::new(&times, Rates { onset: 0.01, offset: 0.1 });
    let nodes: Vec<[f64; 2]> = times.iter().map(|t| [0.0, 30.0 * (t / 50.0).sin()]).collect();
    let nothing = Told::nothing(times.len());
    let solved = chain.solve(&nodes, &nothing);
    assert!(solved.log_normaliser.is_finite() && solved.log_normaliser > 1e5);
    assert!(solved.positive().iter().all(|p| (0.0..=1.0).contains(p)));
    assert!(solved.d_rates().iter().all(|d| d.is_finite()));
}
