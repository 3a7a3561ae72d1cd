//! The instances of a span as if all of them were silent, in closed form.
//!
//! A silent instance has u(0) = Σ_y p(y)·p(0 | y) and, by Bayes, p(y | silent) = p(y)·p(0 | y)/u(0);
//! the derivative of log u(0) in its log-odds is
//!
//! ```text
//! p(1 | silent) − p(1) = p(0)·p(1)·(p(0 | 1) − p(0 | 0)) / u(0)
//! ```
//!
//! which loses no digits when p saturates. One pass over whole stretches, a logarithm for every
//! eight instances; blocks of stamps then add what they change.

use multiversion::multiversion;

use super::span::Expected;
use super::tables::CountTables;
use crate::math::exp_in_place;

/// Below this, a linear weight may have lost digits to underflow, and logarithms take over. The
/// product of [`GROUP`] weights above it is a normal number.
const LEAST: f64 = 1e-37;

/// Instances that share a logarithm.
const GROUP: usize = 8;

/// p(y | f) and u(0) of the instances of a span.
#[derive(Debug, Default)]
pub(super) struct Silence {
    p: [Vec<f64>; 2],
    weights: Vec<f64>,
    /// Positions of instances that cannot be silent.
    forced: Vec<usize>,
}

impl Silence {
    /// Weighs every instance; writes the derivatives of silence, adds its expected counts and
    /// returns its log evidence. An instance that cannot be silent counts as zero in all of them.
    pub(super) fn weigh(
        &mut self,
        tables: &CountTables,
        log_odds: &[f64],
        d_log_odds: &mut [f64],
        expected: &mut Expected,
    ) -> f64 {
        let t = [tables.weight(0, 0), tables.weight(1, 0)];
        self.fill(t, log_odds);
        self.forced.clear();
        let mut log_evidence = 0.0;
        let mut silent = [[0.0; GROUP]; 2];
        for from in (0..log_odds.len()).step_by(GROUP) {
            let group = from..(from + GROUP).min(log_odds.len());
            let weights = &self.weights[group.clone()];
            if weights.iter().any(|&u| u <= LEAST) {
                for i in group {
                    log_evidence +=
                        self.weigh_in_logs(tables, i, log_odds[i], d_log_odds, expected);
                }
                continue;
            }
            log_evidence += weights.iter().product::<f64>().ln();
            let p = self.p.each_ref().map(|p| &p[group.clone()]);
            let derivatives = &mut d_log_odds[group];
            for k in 0..weights.len() {
                let inverse = 1.0 / weights[k];
                silent[0][k] += p[0][k] * t[0] * inverse;
                silent[1][k] += p[1][k] * t[1] * inverse;
                derivatives[k] = p[0][k] * p[1][k] * (t[1] - t[0]) * inverse;
            }
        }
        for (expected, silent) in expected.0.iter_mut().zip(silent) {
            expected[0] += silent.iter().sum::<f64>();
        }
        log_evidence
    }

    fn fill(&mut self, t: [f64; 2], log_odds: &[f64]) {
        let [p0, p1] = &mut self.p;
        for buffer in [&mut *p0, &mut *p1, &mut self.weights] {
            buffer.resize(log_odds.len(), 0.0);
        }
        p0.iter_mut().zip(log_odds).for_each(|(e, f)| *e = -f.abs());
        exp_in_place(p0);
        mix(t, log_odds, p0, p1, &mut self.weights);
    }

    /// One instance whose weight the linear domain may not hold.
    fn weigh_in_logs(
        &mut self,
        tables: &CountTables,
        i: usize,
        log_odds: f64,
        d_log_odds: &mut [f64],
        expected: &mut Expected,
    ) -> f64 {
        let log_weight = log_silence(tables, log_odds);
        let shares = silent_shares(tables, log_odds);
        for (expected, share) in expected.0.iter_mut().zip(shares) {
            expected[0] += share;
        }
        d_log_odds[i] = shares[1] - self.p[1][i];
        if shares == [0.0, 0.0] {
            self.forced.push(i);
            d_log_odds[i] = 0.0;
        }
        log_weight
    }

    /// p(y | f_i), by position in the span.
    pub(super) fn label(&self, i: usize, label: usize) -> f64 {
        self.p[label][i]
    }

    /// u_i(0).
    pub(super) fn weight(&self, i: usize) -> f64 {
        self.weights[i]
    }

    /// Whether the linear domain holds the weights of a run of instances.
    pub(super) fn holds(&self, run: std::ops::Range<usize>) -> bool {
        self.weights[run].iter().all(|&u| u > LEAST)
    }

    /// Positions of instances that cannot be silent, in order.
    pub(super) fn forced(&self) -> &[usize] {
        &self.forced
    }

    /// p(y | i silent).
    pub(super) fn shares(&self, tables: &CountTables, i: usize, log_odds: f64) -> [f64; 2] {
        if self.weights[i] > LEAST {
            let inverse = 1.0 / self.weights[i];
            [0, 1].map(|y| self.p[y][i] * tables.weight(y, 0) * inverse)
        } else {
            silent_shares(tables, log_odds)
        }
    }
}

/// From e^−|f| in `p0`: p(y | f) and u(0) = Σ_y p(y | f)·t_y.
#[multiversion(targets("x86_64+avx2"))]
fn mix(t: [f64; 2], log_odds: &[f64], p0: &mut [f64], p1: &mut [f64], weights: &mut [f64]) {
    let outputs = p0.iter_mut().zip(p1).zip(weights);
    for (&f, ((p0, p1), weight)) in log_odds.iter().zip(outputs) {
        let high = 1.0 / (1.0 + *p0);
        let low = *p0 * high;
        (*p0, *p1) = if f >= 0.0 { (low, high) } else { (high, low) };
        *weight = *p0 * t[0] + *p1 * t[1];
    }
}

/// log u(0); zero for an instance that cannot be silent.
pub(super) fn log_silence(tables: &CountTables, log_odds: f64) -> f64 {
    let log_weight = tables.log_mixed(log_odds, 0);
    if log_weight == f64::NEG_INFINITY { 0.0 } else { log_weight }
}

/// p(y | silent) in log space; zero for both where the instance cannot be silent.
pub(super) fn silent_shares(tables: &CountTables, log_odds: f64) -> [f64; 2] {
    let log_weight = tables.log_mixed(log_odds, 0);
    if log_weight == f64::NEG_INFINITY {
        return [0.0, 0.0];
    }
    [0, 1].map(|y| (tables.log_joint(log_odds, y, 0) - log_weight).exp())
}
