//! Transitions of the chain: a process in continuous time that begins runs at one rate and ends them at another.
//!
//! With onset rate a, offset rate b and s = a + b, the process is positive a share π₁ = a/s of the time. The class of a
//! run is drawn when it begins, each of K with the same probability. A transition is weighed by what the last label tells
//! beyond these shares, P(y' → y) / π_y; with r = b/a, after a time Δ,
//!
//! ```text
//! rest      0 → 0     1 + (a/b)·e^{−sΔ}
//! change    0 → k, k → 0     1 − e^{−sΔ}
//! other     j → k     ∫₀^Δ b·e^{−bt}·(1 − e^{−s(Δ−t)}) dt     the run ends, and another begins
//! same      k → k     other + K·(1 + r)·e^{−bΔ}               … or it goes on
//! ```
//!
//! With one class `same` is 1 + r·e^{−sΔ}, and there is no other.
//!
//! Why relative to the shares: the log-odds f of an instance then mean what they mean without a chain. Over long gaps all
//! weights are 1 and labels are independent; an instance of which features tell nothing, f_k = log(a/b) − log K, is summed
//! out without a trace, so that gaps, irregular spacing and more instances change nothing. At equal spacing only the
//! product a·b and the constant term of f can be told apart from data, not a from b: the prior on the onset rate does that.

use crate::math::exp_in_place;

/// Rates of onset and offset, per unit of time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rates {
    /// Runs that begin per unit of time outside of runs, > 0.
    pub(crate) onset: f64,
    /// Runs that end per unit of time inside of runs, > 0: one over the mean length of a run.
    pub(crate) offset: f64,
}

/// A number for every kind of transition: its weight, or how many of them are expected.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Transition {
    /// From no event to none.
    pub(super) rest: f64,
    /// A run begins, or ends.
    pub(super) change: f64,
    /// From a class to itself.
    pub(super) same: f64,
    /// From a class to another.
    pub(super) other: f64,
}

impl Transition {
    /// Labels that do not depend on each other.
    pub(super) const INDEPENDENT: Self = Self { rest: 1.0, change: 1.0, same: 1.0, other: 1.0 };

    /// Of the transition from one label to another.
    pub(super) fn kind(&self, from: usize, to: usize) -> f64 {
        match (from, to) {
            (0, 0) => self.rest,
            (0, _) | (_, 0) => self.change,
            _ if from == to => self.same,
            _ => self.other,
        }
    }

    pub(super) fn kind_mut(&mut self, from: usize, to: usize) -> &mut f64 {
        match (from, to) {
            (0, 0) => &mut self.rest,
            (0, _) | (_, 0) => &mut self.change,
            _ if from == to => &mut self.same,
            _ => &mut self.other,
        }
    }
}

/// Nodes and weights of Gauss and Legendre on 0 to 1, for polynomials of degree 9.
const NODES: [(f64, f64); 5] = [
    (0.046_910_077_030_668_004, 0.118_463_442_528_094_54),
    (0.230_765_344_947_158_45, 0.239_314_335_249_683_23),
    (0.5, 0.284_444_444_444_444_44),
    (0.769_234_655_052_841_6, 0.239_314_335_249_683_23),
    (0.953_089_922_969_332, 0.118_463_442_528_094_54),
];
/// Below this sΔ the integral is taken by these nodes, to 1e-15; its terms have one sign, and the closed form cancels.
const SHORT: f64 = 0.25;

impl Rates {
    /// Appends the weights of transitions over times ≥ 0 between so many classes.
    pub(super) fn transitions(&self, times: &[f64], classes: usize, out: &mut Vec<Transition>) {
        let evenly = times.iter().all(|time| *time == times[0]);
        let different = if evenly { &times[..times.len().min(1)] } else { times };
        let rate = self.onset + self.offset;
        let mut forgotten: Vec<f64> = different.iter().map(|time| -rate * time).collect();
        exp_in_place(&mut forgotten);
        let all = different.iter().zip(&forgotten);
        out.extend(all.map(|(&time, &forgotten)| self.over(time, forgotten, classes)));
        if let (true, Some(&own)) = (evenly && !times.is_empty(), out.last()) {
            out.resize(out.len() + times.len() - 1, own);
        }
    }

    /// The weights over one time.
    pub(super) fn transition(&self, time: f64, classes: usize) -> Transition {
        let mut all = Vec::new();
        self.transitions(&[time], classes, &mut all);
        all[0]
    }

    /// The weights over a time after which this share of the past is left.
    #[inline(always)]
    fn over(&self, time: f64, forgotten: f64, classes: usize) -> Transition {
        let Self { onset, offset } = *self;
        let (rate, ratio) = (onset + offset, offset / onset);
        let passed = rate * time;
        // One less e^{−sΔ}, which for short times is nearly one.
        let change = if passed < SHORT { -(-passed).exp_m1() } else { 1.0 - forgotten };
        let rest = 1.0 + forgotten / ratio;
        if classes == 1 {
            return Transition { rest, change, same: 1.0 + ratio * forgotten, other: 0.0 };
        }
        let other = self.other(time);
        let same = other + classes as f64 * (1.0 + ratio) * (-offset * time).exp();
        Transition { rest, change, same, other }
    }

    /// The weight of an end and an onset.
    fn other(&self, time: f64) -> f64 {
        let Self { onset, offset } = *self;
        let rate = onset + offset;
        if rate * time < SHORT {
            let at = |(share, weight): (f64, f64)| {
                let ended = share * time;
                weight * (-offset * ended).exp() * -(-rate * (time - ended)).exp_m1()
            };
            return offset * time * NODES.into_iter().map(at).sum::<f64>();
        }
        let ended = offset * time;
        -(-ended).exp_m1() - ended * (-ended).exp() * means(onset * time)[0]
    }

    /// Adds the derivatives in log onset and log offset of these weights' logarithms over a time, times the expected
    /// numbers of transitions.
    pub(super) fn pull_back(
        &self,
        time: f64,
        classes: usize,
        weights: &Transition,
        expected: &Transition,
        d_rates: &mut [f64; 2],
    ) {
        let Self { onset, offset } = *self;
        let (begun, ended) = (onset * time, offset * time);
        // ∂ log(1 + u) = (u / (1 + u))·∂ log u, with log u = log a − log b − sΔ.
        let rest = expected.rest * (weights.rest - 1.0) / weights.rest;
        d_rates[0] += rest * (1.0 - begun);
        d_rates[1] -= rest * (1.0 + ended);
        // ∂ log(1 − e^{−sΔ}) = Δ·∂s·e^{−sΔ} / (1 − e^{−sΔ}); of two instances at one time none changes.
        if weights.change > 0.0 {
            let change = expected.change * (1.0 - weights.change) / weights.change;
            d_rates[0] += change * begun;
            d_rates[1] += change * ended;
        }
        if classes == 1 {
            // The same with log b − log a.
            let same = expected.same * (weights.same - 1.0) / weights.same;
            d_rates[0] -= same * (1.0 + begun);
            d_rates[1] += same * (1.0 - ended);
            return;
        }
        let of_other = if weights.other > 0.0 { expected.other / weights.other } else { 0.0 };
        let of_same = expected.same / weights.same;
        let [d_onset, d_offset] = self.d_other(time);
        d_rates[0] += (of_other + of_same) * d_onset;
        d_rates[1] += (of_other + of_same) * d_offset;
        let kept = classes as f64 * (-ended).exp();
        let ratio = offset / onset;
        d_rates[0] -= of_same * ratio * kept;
        d_rates[1] += of_same * kept * (ratio - (1.0 + ratio) * ended);
    }

    /// The derivatives of [`other`](Self::other) in log onset and log offset.
    fn d_other(&self, time: f64) -> [f64; 2] {
        let Self { onset, offset } = *self;
        let rate = onset + offset;
        if rate * time < SHORT {
            let mut sums = [0.0; 2];
            for (share, weight) in NODES {
                let (ended, left) = (share * time, (1.0 - share) * time);
                let weight = weight * offset * time * (-offset * ended).exp();
                let (begun, slope) = (-(-rate * left).exp_m1(), left * (-rate * left).exp());
                sums[0] += weight * onset * slope;
                sums[1] += weight * ((1.0 - offset * ended) * begun + offset * slope);
            }
            return sums;
        }
        let (begun, ended) = (onset * time, offset * time);
        let (kept, [mean, slope]) = ((-ended).exp(), means(begun));
        let d_onset = ended * kept * begun * slope;
        [d_onset, ended * kept * ((1.0 - mean) + ended * mean)]
    }
}

/// The integrals of e^{−xu} and u·e^{−xu} over u from 0 to 1: (1 − e^{−x})/x and (1 − (1 + x)·e^{−x})/x².
fn means(x: f64) -> [f64; 2] {
    if x < SHORT {
        // Where almost no run begins, both would cancel.
        let sums = NODES.into_iter().map(|(share, weight)| {
            let own = weight * (-x * share).exp();
            [own, share * own]
        });
        return sums.fold([0.0; 2], |all, own| [all[0] + own[0], all[1] + own[1]]);
    }
    let left = -(-x).exp_m1();
    [left / x, (left - x * (-x).exp()) / (x * x)]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Shares of the process after a time, by many small steps: the exponential of its generator.
    fn by_steps(rates: Rates, classes: usize, time: f64, from: usize) -> Vec<f64> {
        const STEPS: usize = 1 << 20;
        let step = time / STEPS as f64;
        // Squaring the matrix of one small step.
        let states = classes + 1;
        let mut matrix = vec![vec![0.0; states]; states];
        for (y, row) in matrix.iter_mut().enumerate() {
            row[y] = 1.0;
            for k in 1..states {
                if y == 0 {
                    row[k] = rates.onset / classes as f64 * step;
                    row[0] -= row[k];
                } else if y == k {
                    row[0] = rates.offset * step;
                    row[k] -= row[0];
                }
            }
        }
        for _ in 0..STEPS.trailing_zeros() {
            let product =
                |a: usize, b: usize| (0..states).map(|c| matrix[a][c] * matrix[c][b]).sum();
            matrix = (0..states).map(|a| (0..states).map(|b| product(a, b)).collect()).collect();
        }
        matrix[from].clone()
    }

    #[test]
    fn weights_are_those_of_the_process() {
        for (onset, offset, time) in [(0.3, 0.7, 1.1), (2.0, 0.1, 0.02), (0.05, 3.0, 0.6)] {
            for classes in [1, 3] {
                let rates = Rates { onset, offset };
                let own = rates.transition(time, classes);
                let positive = onset / (onset + offset) / classes as f64;
                let negative = offset / (onset + offset);
                let (rest, run) =
                    (by_steps(rates, classes, time, 0), by_steps(rates, classes, time, 1));
                let mut pairs = vec![
                    (own.rest, rest[0] / negative),
                    (own.change, rest[1] / positive),
                    (own.change, run[0] / negative),
                    (own.same, run[1] / positive),
                ];
                if classes > 1 {
                    pairs.push((own.other, run[2] / positive));
                }
                for (got, want) in pairs {
                    // A million steps, each off by the square of its length.
                    assert!((got - want).abs() < 1e-5 * want, "{classes} {time}: {got} {want}");
                }
            }
        }
    }

    #[test]
    fn both_ways_to_an_end_and_an_onset_agree_where_they_meet() {
        let rates = Rates { onset: 0.4, offset: 1.3 };
        let border = SHORT / 1.7;
        let (below, above) = (border * (1.0 - 1e-12), border * (1.0 + 1e-12));
        // The closed form loses two digits here, and 1e-12 of the time is the rest.
        assert!((rates.other(below) / rates.other(above) - 1.0).abs() < 1e-11);
        for (below, above) in rates.d_other(below).iter().zip(rates.d_other(above)) {
            assert!((below / above - 1.0).abs() < 1e-11);
        }
        // Two jumps: b·s·Δ²/2.
        let short = rates.other(1e-9) / (1.3 * 1.7 * 0.5e-18);
        assert!((short - 1.0).abs() < 1e-8, "{short}"); // the next order is 1e-9
    }

    #[test]
    fn an_end_and_an_onset_keep_their_digits_where_rates_are_far_apart() {
        // Onset rate, offset rate, time; the weight and its derivatives, from their formulas with 60 digits (decimal of
        // Python 3, central differences with a step of 1e-20).
        let known = [
            ((1e-12, 1.0, 1.0), [0.2642411176572993, 1.8393972058559858e-13, 0.36787944117144233]),
            ((1e-8, 3.0, 0.2), [0.1219013825788447, 3.2928698121736656e-10, 0.19757218912556432]),
            ((1e-5, 1.0, 7.0), [0.9927051676814326, 2.2340065598405712e-7, 0.04468087587695893]),
            ((1e-3, 0.5, 1.0), [0.09035559256438991, 1.515316143829324e-4, 0.15170845599482838]),
            (
                (10.0, 1e-9, 1.0),
                [9.000045395929718e-10, 9.995005997731121e-11, 9.000045391929672e-10],
            ),
            (
                (0.26, 1e-12, 1.0),
                [1.194291761679432e-13, 1.0951923802876157e-13, 1.1942917616832378e-13],
            ),
            ((0.4, 1.3, 40.0), [1.0, 8.483390746831358e-23, 5.683882187313757e-21]),
        ];
        for ((onset, offset, time), [weight, d_onset, d_offset]) in known {
            let rates = Rates { onset, offset };
            let [got_onset, got_offset] = rates.d_other(time);
            let pairs = [(rates.other(time), weight), (got_onset, d_onset), (got_offset, d_offset)];
            for (got, want) in pairs {
                // The difference of numbers nine times as large, and the rounding of e^−52.
                assert!((got / want - 1.0).abs() < 2e-14, "{rates:?}: {got:e} {want:e}");
            }
        }
    }

    #[test]
    fn derivatives_match_central_differences() {
        const STEP: f64 = 1e-5;
        let expected = Transition { rest: 0.7, change: 1.9, same: 1.3, other: 0.4 };
        for time in [1e-3, 0.1, 0.5, 7.0] {
            for classes in [1, 2, 5] {
                let value = |onset: f64, offset: f64| {
                    let rates = Rates { onset: 0.4 * onset.exp(), offset: 1.3 * offset.exp() };
                    let own = rates.transition(time, classes);
                    let other = if classes > 1 { expected.other * own.other.ln() } else { 0.0 };
                    other
                        + expected.rest * own.rest.ln()
                        + expected.change * own.change.ln()
                        + expected.same * own.same.ln()
                };
                let mut got = [0.0; 2];
                let rates = Rates { onset: 0.4, offset: 1.3 };
                let weights = rates.transition(time, classes);
                rates.pull_back(time, classes, &weights, &expected, &mut got);
                let want = [
                    (value(STEP, 0.0) - value(-STEP, 0.0)) / (2.0 * STEP),
                    (value(0.0, STEP) - value(0.0, -STEP)) / (2.0 * STEP),
                ];
                for (got, want) in got.iter().zip(want) {
                    // h² truncation and 1e-15/h rounding of values of order ten.
                    assert!((got - want).abs() < 1e-8, "{time} {classes}: {got} {want}");
                }
            }
        }
    }
}
