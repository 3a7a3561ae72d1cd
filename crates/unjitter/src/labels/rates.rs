//! Transitions of the chain: a process in continuous time that begins runs at one rate and ends them at another.
//!
//! With onset rate a, offset rate b and s = a + b, the process is positive a share π₁ = a/s of the time, and
//! after a time Δ it is where it was or has forgotten that: P(y' → y) = π_y + ([y = y'] − π_y)·e^{−sΔ}. The
//! transition is what the last label tells beyond that share:
//!
//! ```text
//! g(y', y) = log P(y' → y) − log π_y
//! g(0, 0) = log(1 + (a/b)·e^{−sΔ})     g(1, 1) = log(1 + (b/a)·e^{−sΔ})     g(0, 1) = g(1, 0) = log(1 − e^{−sΔ})
//! ```
//!
//! Why less log π: the log-odds f of an instance then mean what they mean without a chain. Over long gaps g is 0 and
//! labels are independent; an instance of which features tell nothing, f = log(a/b), is summed out without a
//! trace, so that gaps, irregular spacing and more instances change nothing. At equal spacing only the product
//! a·b and the constant term of f can be told apart from data, not a from b: the prior on the onset rate does that.

/// Rates of onset and offset, per unit of time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rates {
    /// Runs that begin per unit of time outside of runs, > 0.
    pub onset: f64,
    /// Runs that end per unit of time inside of runs, > 0: one over the mean length of a run.
    pub offset: f64,
}

impl Rates {
    /// log π₁/π₀: log-odds of an instance of which nothing is known.
    pub fn log_odds(&self) -> f64 {
        self.onset.ln() - self.offset.ln()
    }

    /// g(y', y) over a time ≥ 0, by y' and y.
    pub(crate) fn transition(&self, time: f64) -> [[f64; 2]; 2] {
        let Self { onset, offset } = *self;
        let passed = (onset + offset) * time;
        let change = (-(-passed).exp_m1()).ln();
        let stay = |ratio: f64| (ratio * (-passed).exp()).ln_1p();
        [[stay(onset / offset), change], [change, stay(offset / onset)]]
    }

    /// Adds the derivatives in log onset and log offset of g over a time, weighted by y' and y.
    pub(crate) fn pull_back(&self, time: f64, weights: &[[f64; 2]; 2], d_rates: &mut [f64; 2]) {
        let Self { onset, offset } = *self;
        let passed = (onset + offset) * time;
        // ∂ log(1 + u) = (u / (1 + u))·∂ log u, with log u = ±(log a − log b) − sΔ.
        let share = |ratio: f64| {
            let u = ratio * (-passed).exp();
            u / (1.0 + u)
        };
        let negative = weights[0][0] * share(onset / offset);
        let positive = weights[1][1] * share(offset / onset);
        let (odds, stays) = (negative - positive, negative + positive);
        // ∂ log(1 − e^{−sΔ}) = Δ·∂s / (e^{sΔ} − 1); of two instances at one time none changes.
        let changes = weights[0][1] + weights[1][0];
        let changes = if changes == 0.0 { 0.0 } else { changes / passed.exp_m1() };
        d_rates[0] += odds + onset * time * (changes - stays);
        d_rates[1] += -odds + offset * time * (changes - stays);
    }
}
