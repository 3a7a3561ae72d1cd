//! Sums over all labels of a chain.
//!
//! Streams of stamps tell log-odds of their variables, Λ, which are weights of nodes (presence; onset of the first
//! instance, end of the last) and of edges (other onsets and ends). One pass forward and one back, Rabiner 1989,
//! give the normaliser, every marginal and its derivatives. Both passes are normalised logarithms of two states.
//! Time and memory O(n).

use super::{Rates, Variable};
use crate::math::{log_add, log_sum, sigmoid};

/// Transitions between the instances of a session.
#[derive(Debug, Clone)]
pub struct Chain {
    rates: Rates,
    /// Times between neighbours.
    gaps: Vec<f64>,
    /// g(y', y) across each gap.
    transitions: Vec<[[f64; 2]; 2]>,
}

/// What streams tell, by instance and variable: sums of extrinsic log-odds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Told {
    onset: Vec<f64>,
    end: Vec<f64>,
    presence: Vec<f64>,
}

impl Told {
    /// Nothing, for so many instances.
    pub fn nothing(instances: usize) -> Self {
        let zeros = || vec![0.0; instances];
        Self { onset: zeros(), end: zeros(), presence: zeros() }
    }

    /// What is told of a variable.
    pub fn of(&self, variable: Variable) -> &[f64] {
        match variable {
            Variable::Onset => &self.onset,
            Variable::End => &self.end,
            Variable::Presence => &self.presence,
        }
    }

    /// Adds what a stream tells of a variable.
    pub fn add(&mut self, variable: Variable, told: &[f64]) {
        let own = match variable {
            Variable::Onset => &mut self.onset,
            Variable::End => &mut self.end,
            Variable::Presence => &mut self.presence,
        };
        own.iter_mut().zip(told).for_each(|(sum, told)| *sum += told);
    }
}

/// The chain with log-odds and messages, summed over all labels.
#[derive(Debug, Clone)]
pub struct Solved<'a> {
    chain: &'a Chain,
    told: &'a Told,
    /// log Z.
    pub log_normaliser: f64,
    /// log α_i(y): instances up to i, normalised.
    forward: Vec<[f64; 2]>,
    /// log β_i(y): instances beyond i, normalised.
    backward: Vec<[f64; 2]>,
    nodes: Vec<[f64; 2]>,
}

impl Chain {
    /// Between instances at these times, which do not decrease.
    pub fn new(times: &[f64], rates: Rates) -> Self {
        let gaps: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let transitions = gaps.iter().map(|&gap| rates.transition(gap)).collect();
        Self { rates, gaps, transitions }
    }

    /// Log weights of the labels of an instance with log-odds f, ±∞ if it is known.
    pub fn node(f: f64) -> [f64; 2] {
        if f == f64::INFINITY { [f64::NEG_INFINITY, 0.0] } else { [0.0, f] }
    }

    /// Log weights of nodes with what is told of them.
    pub(super) fn told_nodes(&self, nodes: &[[f64; 2]], told: &Told) -> Vec<[f64; 2]> {
        let mut all = nodes.to_vec();
        all.iter_mut().zip(&told.presence).for_each(|(node, told)| node[1] += told);
        if let Some(last) = all.len().checked_sub(1) {
            all[0][1] += told.onset[0];
            all[last][1] += told.end[last];
        }
        all
    }

    /// Log weights of the edge that leads to an instance but the first, by the labels before and there.
    pub(super) fn edge(&self, to: usize, told: &Told) -> [[f64; 2]; 2] {
        let [[stay, onset], [end, run]] = self.transitions[to - 1];
        [[stay, onset + told.onset[to]], [end + told.end[to - 1], run]]
    }

    /// Sums over all labels, given log weights of nodes by label.
    pub fn solve<'a>(&'a self, nodes: &[[f64; 2]], told: &'a Told) -> Solved<'a> {
        let nodes = self.told_nodes(nodes, told);
        let mut forward = nodes.clone();
        let mut log_normaliser = 0.0;
        for i in 0..nodes.len() {
            if i > 0 {
                let (before, edge) = (forward[i - 1], self.edge(i, told));
                for y in 0..2 {
                    forward[i][y] += log_add(before[0] + edge[0][y], before[1] + edge[1][y]);
                }
            }
            log_normaliser += normalise(&mut forward[i]);
        }
        let mut backward = vec![[0.0; 2]; nodes.len()];
        for i in (1..nodes.len()).rev() {
            let (edge, node, after) = (self.edge(i, told), nodes[i], backward[i]);
            let there = [node[0] + after[0], node[1] + after[1]];
            for y in 0..2 {
                backward[i - 1][y] = log_add(edge[y][0] + there[0], edge[y][1] + there[1]);
            }
            normalise(&mut backward[i - 1]);
        }
        Solved { chain: self, told, log_normaliser, forward, backward, nodes }
    }
}

/// Makes two weights sum to one, and returns the logarithm of their sum.
fn normalise(weights: &mut [f64; 2]) -> f64 {
    let total = log_add(weights[0], weights[1]);
    if total > f64::NEG_INFINITY {
        weights.iter_mut().for_each(|weight| *weight -= total);
    }
    total
}

impl Solved<'_> {
    /// Log-odds of y_i.
    fn log_odds(&self, i: usize) -> f64 {
        let weight = |y: usize| self.forward[i][y] + self.backward[i][y];
        weight(1) - weight(0)
    }

    /// p(y_i = 1), by instance.
    pub fn positive(&self) -> Vec<f64> {
        (0..self.nodes.len()).map(|i| sigmoid(self.log_odds(i))).collect()
    }

    /// Log weights of the labels before an instance and there, up to a constant.
    fn pair(&self, to: usize) -> [[f64; 2]; 2] {
        let (edge, before) = (self.chain.edge(to, self.told), self.forward[to - 1]);
        let there = |y: usize| self.nodes[to][y] + self.backward[to][y];
        let weight = |y: usize, next: usize| before[y] + edge[y][next] + there(next);
        [[weight(0, 0), weight(0, 1)], [weight(1, 0), weight(1, 1)]]
    }

    /// Log-odds of a variable, by instance.
    pub fn variable(&self, variable: Variable) -> Vec<f64> {
        let instances = self.nodes.len();
        let of = |i: usize| match variable {
            Variable::Onset if i > 0 => {
                let [[a, onset], [b, c]] = self.pair(i);
                onset - log_sum(&[a, b, c])
            }
            Variable::End if i + 1 < instances => {
                let [[a, b], [end, c]] = self.pair(i + 1);
                end - log_sum(&[a, b, c])
            }
            _ => self.log_odds(i),
        };
        (0..instances).map(of).collect()
    }

    /// The same without what was told of that variable at that instance.
    pub fn untold(&self, variable: Variable) -> Vec<f64> {
        let told = self.told.of(variable).iter();
        self.variable(variable).iter().zip(told).map(|(all, told)| all - told).collect()
    }

    /// ∂ log Z in log onset rate and log offset rate.
    pub fn d_rates(&self) -> [f64; 2] {
        let mut d_rates = [0.0; 2];
        for (k, &gap) in self.chain.gaps.iter().enumerate() {
            let pair = self.pair(k + 1);
            let total = log_sum(pair.as_flattened());
            let shares = pair.map(|row| row.map(|weight| (weight - total).exp()));
            self.chain.rates.pull_back(gap, &shares, &mut d_rates);
        }
        d_rates
    }
}
