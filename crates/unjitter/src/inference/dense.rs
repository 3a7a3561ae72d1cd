//! The textbook recursion over all L × M cells in log space, for checking.
//!
//! No windows, no scaling, no case distinctions: O(L·M·C) sums and O(L·M) memory, written like its
//! equations. All fast code in this module is tested against it.

use super::lattice::Lattice;
use super::marginals::Marginals;
use super::vocabulary::{Impossible, Stamped};
use crate::math::{log_add, log_sum};

const ZERO: f64 = f64::NEG_INFINITY;

/// The same result as [`Lattice::marginals`], from every cell.
pub fn marginals(lattice: &Lattice<'_>) -> Result<Marginals, Impossible> {
    let (instances, stamps) = (lattice.stamped.times.len(), lattice.stamped.stamps.len());
    let dense = Dense {
        width: stamps + 1,
        most: lattice.counts.max_count().min(stamps),
        log_background: lattice.stamped.log_background,
        log_density: log_densities(lattice),
    };
    let log_u = |i: usize, c: usize| lattice.counts.log_mixed(lattice.log_odds[i], c);

    // The first l stamps by the first i instances, the last of these stamps by one of them: states are
    // those after stamps with owners, so that those from nowhere are placed in one way only.
    let mut owned = vec![vec![ZERO; dense.width]; instances + 1];
    owned[0][0] = 0.0;
    for i in 0..instances {
        let open = dense.open(i, &dense.arrived(&owned[i]));
        let log_weights: Vec<f64> = (0..=dense.most).map(|c| log_u(i, c)).collect();
        let sum = |(l, owned): (usize, &f64)| {
            let given = |c: usize| log_weights[c] + dense.given(i, &open, l, c);
            (1..=dense.most.min(l)).map(given).fold(log_weights[0] + owned, log_add)
        };
        owned[i + 1] = owned[i].iter().enumerate().map(sum).collect();
    }
    let log_evidence = dense.arrived(&owned[instances])[stamps];
    if log_evidence == ZERO {
        return Err(Impossible::Together);
    }
    // All ways in which the instances from i on give the stamps after l.
    let mut b = vec![vec![ZERO; dense.width]; instances + 1];
    b[instances][stamps] = 0.0;
    for l in (0..stamps).rev() {
        b[instances][l] = b[instances][l + 1] + dense.log_background;
    }
    for i in (0..instances).rev() {
        b[i] = dense.follow(i, &b[i + 1], |c| log_u(i, c)).swap_remove(0);
    }

    let mut counts = vec![vec![[0.0; 2]; dense.most + 1]; instances];
    let mut values = vec![0.0; stamps * instances];
    let mut positive = vec![0.0; stamps * instances];
    for i in 0..instances {
        // Every row sums to the evidence. The row's own sum has the same rounding as its terms, which
        // matters when the logarithms reach tens of thousands.
        let meet =
            |b: &[f64]| log_sum(&owned[i].iter().zip(b).map(|(a, b)| a + b).collect::<Vec<_>>());
        let log_evidence = meet(&b[i]);
        let open = dense.open(i, &dense.arrived(&owned[i]));
        for y in [0, 1] {
            let log_joint = |c: usize| lattice.counts.log_joint(lattice.log_odds[i], y, c);
            counts[i][0][y] = (log_joint(0) + meet(&b[i + 1]) - log_evidence).exp();
            let follow = dense.follow(i, &b[i + 1], log_joint);
            for l in 1..dense.width {
                for c in 1..=dense.most.min(l) {
                    let given = dense.given(i, &open, l, c) - log_evidence;
                    counts[i][c][y] += (given + log_joint(c) + b[i + 1][l]).exp();
                    let mass = (given + follow[c][l]).exp();
                    values[(l - 1) * instances + i] += mass;
                    positive[(l - 1) * instances + i] += mass * y as f64;
                }
            }
        }
    }
    Ok(Marginals::whole(log_evidence, &counts, &values, &positive))
}

/// One instance at a time; states l are numbers of stamps.
struct Dense {
    width: usize,
    most: usize,
    log_background: f64,
    log_density: Vec<f64>,
}

impl Dense {
    /// a(l) = a°(l) + ρ·a(l−1): all ways to l, from those in which stamp l has an owner.
    fn arrived(&self, owned: &[f64]) -> Vec<f64> {
        let mut arrived = owned.to_vec();
        for l in 1..self.width {
            arrived[l] = log_add(arrived[l], self.log_background + arrived[l - 1]);
        }
        arrived
    }

    /// x_c(l) = p(z_l | t_i)·x_{c−1}(l−1) + ρ·x_c(l−1), from x_0 = a: i has given c stamps so far.
    fn open(&self, i: usize, arrived: &[f64]) -> Vec<Vec<f64>> {
        let mut open = vec![arrived.to_vec()];
        for c in 1..=self.most {
            let mut here = vec![ZERO; self.width];
            for l in c..self.width {
                here[l] = log_add(self.given(i, &open, l, c), self.log_background + here[l - 1]);
            }
            open.push(here);
        }
        open
    }

    /// p(z_l | t_i)·x_{c−1}(l−1): stamp l is the c-th of i.
    fn given(&self, i: usize, open: &[Vec<f64>], l: usize, c: usize) -> f64 {
        self.log_density[i * (self.width - 1) + l - 1] + open[c - 1][l - 1]
    }

    /// f_c(l) = weight(c)·b(l) + n_c(l) with n_c(l) = p(z_{l+1} | t_i)·f_{c+1}(l+1) + ρ·n_c(l+1): what can
    /// follow once i has given c stamps, the last of them l (any l for c = 0).
    fn follow(&self, i: usize, b: &[f64], weight: impl Fn(usize) -> f64) -> Vec<Vec<f64>> {
        let mut follow = vec![vec![ZERO; self.width]; self.most + 2];
        for c in (0..=self.most).rev() {
            let (mut next, weight) = (ZERO, weight(c));
            for l in (c..self.width).rev() {
                if l + 1 < self.width {
                    let given = self.log_density[i * (self.width - 1) + l] + follow[c + 1][l + 1];
                    next = log_add(given, self.log_background + next);
                }
                follow[c][l] = log_add(weight + b[l], next);
            }
        }
        follow
    }
}

/// log p(z_l | t_i), instance by instance.
fn log_densities(lattice: &Lattice<'_>) -> Vec<f64> {
    let Stamped { times, stamps, unit, .. } = lattice.stamped;
    let delays: Vec<f64> =
        times.iter().flat_map(|t| stamps.iter().map(move |z| (z.time - t) / unit)).collect();
    let mut out = vec![0.0; delays.len()];
    let of: Vec<usize> = times.iter().flat_map(|_| 0..stamps.len()).collect();
    lattice.stamped.log_densities(&of, &delays, &mut out);
    out
}
