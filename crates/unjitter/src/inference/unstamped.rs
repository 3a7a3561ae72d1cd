//! A closed form for the instances of a span as if all were silent.
//!
//! A silent instance has u(0) = Σ_y p(y)·p(0 | y) and, by Bayes, p(y | silent) = p(y)·p(0 | y)/u(0);
//! the derivative of log u(0) in its log-odds is
//!
//! ```text
//! p(1 | silent) − p(1) = p(0)·p(1)·(p(0 | 1) − p(0 | 0)) / u(0)
//! ```
//!
//! which loses no digits when p saturates. One pass over whole stretches, eight instances at a time and
//! without a logarithm: weights are multiplied, with exponents kept separately. Blocks of stamps then add
//! their corrections.

use multiversion::multiversion;

use super::count_tables::CountTables;
use super::expected::Expected;
use crate::math::{LANES, Lanes, exp, sigmoid, sum_in_lanes};

/// Above this, the reciprocal of a linear weight may have lost digits to underflow, and logarithms take over.
const MOST: f64 = 1e37;

/// p(y | f) and 1/u(0) of the instances of a span.
#[derive(Debug, Default)]
pub(super) struct Unstamped {
    p: [Vec<f64>; 2],
    inverse: Vec<f64>,
    /// Positions of instances whose weights may not fit the linear domain.
    low: Vec<usize>,
    /// Positions of instances that cannot be silent.
    forced: Vec<usize>,
}

/// Sums over silent instances, in lanes.
struct Sums {
    /// Σ p(y | silent).
    shares: [Lanes; 2],
    /// Π 1/u(0) = mantissa · 2^exponent.
    mantissa: Lanes,
    exponent: [i64; LANES],
}

impl Unstamped {
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
        let [p0, p1] = &mut self.p;
        for buffer in [&mut *p0, &mut *p1, &mut self.inverse] {
            buffer.resize(log_odds.len(), 0.0);
        }
        mix(t, log_odds, p0, p1, &mut self.inverse, d_log_odds);
        let mut sums =
            Sums { shares: [Lanes::all(0.0); 2], mantissa: Lanes::all(1.0), exponent: [0; LANES] };
        self.low.clear();
        self.forced.clear();
        add_up(t, [p0, p1], &self.inverse, &mut sums, &mut self.low);
        let shares = sums.shares.map(Lanes::sum);
        for (expected, share) in expected.0.iter_mut().zip(shares) {
            expected[0] += share;
        }
        let exponent: i64 = sums.exponent.iter().sum();
        let mantissa: f64 = sums.mantissa.0.iter().product();
        let mut log_evidence = -mantissa.ln() - exponent as f64 * std::f64::consts::LN_2;
        // Mantissas lose NaN.
        if shares[1].is_nan() {
            return f64::NAN;
        }
        for at in 0..self.low.len() {
            let i = self.low[at];
            log_evidence += self.weigh_in_logs(tables, i, log_odds[i], d_log_odds, expected);
        }
        log_evidence
    }

    /// One instance whose weight may not fit the linear domain.
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

    /// Fills in p(y | f)·weight/u(0) of consecutive instances.
    pub(super) fn weigh_label(
        &self,
        label: usize,
        weight: f64,
        run: std::ops::Range<usize>,
        out: &mut [f64],
    ) {
        weigh_by(weight, &self.p[label][run.clone()], &self.inverse[run], out);
    }

    /// p(y | f_i), by position in the span.
    pub(super) fn label(&self, i: usize, label: usize) -> f64 {
        self.p[label][i]
    }

    /// Whether the weights of consecutive instances fit the linear domain.
    pub(super) fn holds(&self, run: std::ops::Range<usize>) -> bool {
        self.inverse[run].iter().all(|&inverse| inverse < MOST)
    }

    /// By how much log u(0) of consecutive instances exceeds what `weigh` counted for them: the weights of
    /// those that can hardly be silent are relative to a number that is still in range.
    pub(super) fn log_held(
        &self,
        tables: &CountTables,
        log_odds: &[f64],
        run: std::ops::Range<usize>,
    ) -> f64 {
        let low = self.low.iter().filter(|i| run.contains(i));
        low.map(|&i| -self.inverse[i].ln() - log_silence(tables, log_odds[i])).sum()
    }

    /// Positions of instances that cannot be silent, in order.
    pub(super) fn forced(&self) -> &[usize] {
        &self.forced
    }

    /// Number of instances.
    pub(super) fn len(&self) -> usize {
        self.inverse.len()
    }

    /// Fills in r = u(1)/u(0) of all instances; returns the largest.
    pub(super) fn odds(&self, tables: &CountTables, odds: &mut [f64]) -> f64 {
        let t = [tables.weight(0, 1), tables.weight(1, 1)];
        mix_odds(t, self.labels(), &self.inverse, odds)
    }

    /// Splits p(one stamp | z) of all instances, in `positives`, by label; returns the sums.
    pub(super) fn split(
        &self,
        tables: &CountTables,
        negatives: &mut [f64],
        positives: &mut [f64],
    ) -> [f64; 2] {
        let t = [tables.weight(0, 1), tables.weight(1, 1)];
        split_by_label(t, self.labels(), negatives, positives)
    }

    /// Corrects the derivatives for e_y = p(some stamp, y | z); returns by how much the number of silent
    /// instances of each label falls.
    pub(super) fn correct(
        &self,
        tables: &CountTables,
        log_odds: &[f64],
        mut emitted: [&mut [f64]; 2],
        d_log_odds: &mut [f64],
    ) -> [f64; 2] {
        // Instances whose weights may not fit the linear domain, one by one.
        let mut less = [0.0, 0.0];
        for &i in &self.low {
            let shares = silent_shares(tables, log_odds[i]);
            let [e0, e1] = emitted.each_mut().map(|e| std::mem::take(&mut e[i]));
            less = [less[0] + (e0 + e1) * shares[0], less[1] + (e0 + e1) * shares[1]];
            d_log_odds[i] = corrected(d_log_odds[i], [e0, e1], [self.p[0][i], self.p[1][i]]);
        }
        let t = [tables.weight(0, 0), tables.weight(1, 0)];
        let emitted = emitted.map(|e| &*e);
        let others = subtract_silence(t, self.labels(), &self.inverse, emitted, d_log_odds);
        [less[0] + others[0], less[1] + others[1]]
    }

    fn labels(&self) -> [&[f64]; 2] {
        self.p.each_ref().map(Vec::as_slice)
    }
}

/// p(y | f), 1/u(0) with u(0) = Σ_y p(y | f)·t_y, and d log u(0)/df.
///
/// With e = e^−|f| and n_y = (1 + e)·p(y | f), one of them being 1 and the other e, the derivative is
/// e·(t_1 − t_0) / ((1 + e) · Σ_y n_y·t_y): one division serves all.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2+fma"))]
fn mix(
    t: [f64; 2],
    log_odds: &[f64],
    p0: &mut [f64],
    p1: &mut [f64],
    inverse: &mut [f64],
    d_log_odds: &mut [f64],
) {
    let outputs = p0.iter_mut().zip(p1).zip(inverse).zip(d_log_odds);
    for (&f, (((p0, p1), inverse), d)) in log_odds.iter().zip(outputs) {
        let e = exp(-f.abs());
        let (n0, n1) = if f >= 0.0 { (e, 1.0) } else { (1.0, e) };
        let total = 1.0 + e;
        let mixed = n0 * t[0] + n1 * t[1];
        // The reciprocal stays finite; an instance below this is weighed in logs.
        let held = mixed.max(1e-200);
        let both = 1.0 / (total * held);
        let inverse_total = both * held;
        *d = e * (t[1] - t[0]) * both;
        *p0 = n0 * inverse_total;
        *p1 = n1 * inverse_total;
        *inverse = total * total * both;
    }
}

#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2+fma"))]
fn weigh_by(weight: f64, p: &[f64], inverse: &[f64], out: &mut [f64]) {
    for (out, (p, inverse)) in out.iter_mut().zip(p.iter().zip(inverse)) {
        *out = p * weight * inverse;
    }
}

/// Sums p(y | silent) and multiplies u(0), except for groups of instances with too low a weight, whose
/// positions go to `low`.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2+fma"))]
fn add_up(t: [f64; 2], p: [&[f64]; 2], inverse: &[f64], sums: &mut Sums, low: &mut Vec<usize>) {
    let (groups, rest) = inverse.as_chunks::<LANES>();
    let p = p.map(|p| p.as_chunks::<LANES>());
    for (at, group) in groups.iter().enumerate() {
        add_group(t, [&p[0].0[at], &p[1].0[at]], group, at * LANES, sums, low);
    }
    // Missing lanes have no label and weight one: they change nothing.
    let mut last = [[0.0; LANES], [0.0; LANES], [1.0; LANES]];
    for (last, rest) in last.iter_mut().zip([p[0].1, p[1].1, rest]) {
        last[..rest.len()].copy_from_slice(rest);
    }
    add_group(t, [&last[0], &last[1]], &last[2], groups.len() * LANES, sums, low);
    low.retain(|&i| i < inverse.len());
}

#[inline(always)]
fn add_group(
    t: [f64; 2],
    p: [&[f64; LANES]; 2],
    inverse: &[f64; LANES],
    first: usize,
    sums: &mut Sums,
    low: &mut Vec<usize>,
) {
    const EXPONENT: u64 = 0x7ff << 52;
    const ONE: u64 = 1.0f64.to_bits();
    if inverse.iter().any(|&inverse| inverse >= MOST) {
        low.extend(first..first + LANES);
        return;
    }
    let inverse = Lanes(*inverse);
    sums.shares[0] += Lanes(*p[0]) * t[0] * inverse;
    sums.shares[1] += Lanes(*p[1]) * t[1] * inverse;
    let product = (sums.mantissa * inverse).0.map(f64::to_bits);
    for (sum, bits) in sums.exponent.iter_mut().zip(product) {
        *sum += (bits >> 52) as i64 - 1023;
    }
    sums.mantissa = Lanes(product.map(|bits| f64::from_bits(bits & !EXPONENT | ONE)));
}

#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2+fma"))]
fn mix_odds(t: [f64; 2], [p0, p1]: [&[f64]; 2], inverse: &[f64], odds: &mut [f64]) -> f64 {
    for (((odds, p0), p1), inverse) in odds.iter_mut().zip(p0).zip(p1).zip(inverse) {
        *odds = (p0 * t[0] + p1 * t[1]) * inverse;
    }
    let (groups, rest) = odds.as_chunks::<LANES>();
    let mut largest = Lanes::all(0.0);
    groups.iter().for_each(|group| largest = largest.max(Lanes(*group)));
    largest.0.iter().chain(rest).copied().fold(0.0, f64::max)
}

#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2+fma"))]
fn split_by_label(
    t: [f64; 2],
    [p0, p1]: [&[f64]; 2],
    negatives: &mut [f64],
    positives: &mut [f64],
) -> [f64; 2] {
    for (((negative, positive), p0), p1) in
        negatives.iter_mut().zip(positives.iter_mut()).zip(p0).zip(p1)
    {
        let (joint0, joint1) = (p0 * t[0], p1 * t[1]);
        let scale = *positive / (joint0 + joint1);
        // An instance that cannot give a stamp has none to split.
        let scale = if *positive > 0.0 { scale } else { 0.0 };
        *negative = joint0 * scale;
        *positive = joint1 * scale;
    }
    [sum_in_lanes(negatives), sum_in_lanes(positives)]
}

#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2+fma"))]
fn subtract_silence(
    t: [f64; 2],
    p: [&[f64]; 2],
    inverse: &[f64],
    emitted: [&[f64]; 2],
    d_log_odds: &mut [f64],
) -> [f64; 2] {
    let inputs = emitted[0].iter().zip(emitted[1]).zip(p[0].iter().zip(p[1]));
    for (d, ((e0, e1), (p0, p1))) in d_log_odds.iter_mut().zip(inputs) {
        *d = corrected(*d, [*e0, *e1], [*p0, *p1]);
    }
    // One sum at a time: the compiler would pair two in one loop in short vectors.
    [0, 1].map(|y| t[y] * sum_of_products(p[y], inverse, emitted))
}

/// Σ p·inverse·(e_0 + e_1).
#[inline(always)]
fn sum_of_products(p: &[f64], inverse: &[f64], [e0, e1]: [&[f64]; 2]) -> f64 {
    let [(p, last_p), (inverse, last_inverse)] = [p, inverse].map(<[f64]>::as_chunks::<LANES>);
    let [(e0, last_e0), (e1, last_e1)] = [e0, e1].map(<[f64]>::as_chunks::<LANES>);
    let mut sums = Lanes::all(0.0);
    for ((p, inverse), (e0, e1)) in p.iter().zip(inverse).zip(e0.iter().zip(e1)) {
        sums += Lanes(*p) * Lanes(*inverse) * (Lanes(*e0) + Lanes(*e1));
    }
    let last = last_p.iter().zip(last_inverse).zip(last_e0.iter().zip(last_e1));
    sums.sum() + last.map(|((p, inverse), (e0, e1))| p * inverse * (e0 + e1)).sum::<f64>()
}

/// p(1 | z) − p(1) of an instance, from p(1 | silent) − p(1) and e_y.
#[inline(always)]
fn corrected(silent: f64, [e0, e1]: [f64; 2], [p0, p1]: [f64; 2]) -> f64 {
    e1 * p0 - e0 * p1 + (1.0 - (e0 + e1)) * silent
}

/// log u(0); zero for an instance that cannot be silent.
pub(super) fn log_silence(tables: &CountTables, log_odds: f64) -> f64 {
    let log_weight = tables.log_mixed(log_odds, 0);
    if log_weight == f64::NEG_INFINITY { 0.0 } else { log_weight }
}

/// p(y | silent); zero for both where the instance cannot be silent.
pub(super) fn silent_shares(tables: &CountTables, log_odds: f64) -> [f64; 2] {
    let [negative, positive] = [0, 1].map(|label| tables.log_weight(label, 0));
    // ∞ − ∞: the only possible label is never silent.
    let given_silence = log_odds + (positive - negative);
    if given_silence.is_nan() {
        return [0.0, 0.0];
    }
    [sigmoid(-given_silence), sigmoid(given_silence)]
}
