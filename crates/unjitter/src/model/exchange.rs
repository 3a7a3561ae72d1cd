//! Several annotators of one session: what each knows of the labels is told to the others.
//!
//! Annotators are independent given the labels. Each stream of stamps is summed by itself, with log-odds c that
//! contain what all other streams know, and tells what it knows beyond them, its extrinsic log-odds λ:
//!
//! ```text
//! c_s,i = f_i + Σ_{r≠s} λ_r,i          λ_s,i = logit p_s(y_i = 1 | z_s, c_s) − c_s,i
//! log Z ≈ Σ_i [sp(f_i + Λ_i) − sp(f_i)] + Σ_s [log Z_s(c_s) + Σ_i sp(c_s,i) − sp(f_i + Λ_i)]
//! ```
//!
//! with Λ the sum of all λ and sp(x) = log(1 + eˣ), until nothing moves. Exact for one stream, and for several
//! if no stamp could belong to two instances; `docs/model.md` has the errors elsewhere. At the fixed point log Z is
//! stationary in λ, so its derivatives are posterior less prior in the log-odds, and each stream's own in its
//! parameters. Some seven rounds are usual; messages are kept from one evaluation to the next.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use super::stamp_model::{Bound, ROWS, Rows, Sums};
use crate::inference::{Impossible, Messages, Timeline};
use crate::labels::Kept;
use crate::math::{sigmoid, softplus};

/// Probabilities that move by less have settled.
const SETTLED: f64 = 1e-7;
/// The certificate: no probability moves by more when every stream is asked once more.
const CERTIFIED: f64 = 1e-5;
/// Rounds after which messages are averaged with those before, and after which the session fails.
const DAMPED_AFTER: usize = 20;
const MOST_ROUNDS: usize = 500;
/// Log-odds beyond which a label is certain to all digits.
const CERTAIN: f64 = 40.0;

/// What is kept of a session's exchange from one evaluation to the next.
#[derive(Debug, Default)]
pub struct Exchange {
    /// Of belief propagation, by stream.
    messages: Vec<Messages>,
    /// λ, by stream and instance.
    extrinsic: Mutex<Vec<Vec<f64>>>,
    /// Of stamps about labels that depend on each other.
    riders: Kept,
}

impl Clone for Exchange {
    fn clone(&self) -> Self {
        let (messages, riders) = (self.messages.clone(), self.riders.clone());
        Self { messages, extrinsic: Mutex::new(self.recall()), riders }
    }
}

impl Exchange {
    /// For so many streams.
    pub(crate) fn new(streams: usize) -> Self {
        let messages = (0..streams).map(|_| Messages::default()).collect();
        Self { messages, ..Self::default() }
    }

    /// Messages about labels that depend on each other.
    pub(super) fn riders(&self) -> &Kept {
        &self.riders
    }

    /// Messages of a stream.
    pub(crate) fn messages(&self, stream: usize) -> Option<&Messages> {
        self.messages.get(stream)
    }

    fn recall(&self) -> Vec<Vec<f64>> {
        // A panic elsewhere leaves messages that are as good as any to begin with.
        self.extrinsic.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn keep(&self, extrinsic: &[Vec<f64>]) {
        *self.extrinsic.lock().unwrap_or_else(PoisonError::into_inner) = extrinsic.to_vec();
    }
}

/// A stream of stamps with its model.
pub(super) struct Stream<'a> {
    pub(super) bound: &'a Bound<'a>,
    pub(super) timeline: Timeline<'a>,
    /// Positions of its stamps among all of the session.
    pub(super) positions: &'a [usize],
    /// Whether other threads may help to sum it.
    pub(super) in_parallel: bool,
}

/// What the streams of a session found together.
pub(super) struct Exchanged {
    /// log Z.
    pub(super) log_evidence: f64,
    /// c, by stream and instance.
    pub(super) log_odds: Vec<Vec<f64>>,
    /// ∂ log Z / ∂f, by instance; 0 if the label is known.
    pub(super) d_log_odds: Vec<f64>,
    /// Derivatives in the parameters of each stream.
    pub(super) sums: Vec<Sums>,
}

/// Lets the streams exchange what they know, beginning from the log-odds f of the features. Each has so many
/// parameters.
pub(super) fn exchange(
    streams: &[Stream<'_>],
    features: &[f64],
    parameters: usize,
    kept: Option<&Exchange>,
) -> Result<Exchanged, Impossible> {
    let mut extrinsic = kept.map_or(Vec::new(), Exchange::recall);
    if extrinsic.len() != streams.len() || extrinsic[0].len() != features.len() {
        extrinsic = vec![vec![0.0; features.len()]; streams.len()];
    }
    let mut asked = Asked { streams, features, parameters, kept, extrinsic };
    for round in 0.. {
        if round == MOST_ROUNDS || is_failing() {
            return Err(Impossible::Unsettled);
        }
        let damping = if round < DAMPED_AFTER { 1.0 } else { 0.5 };
        let mut moved: f64 = 0.0;
        for s in 0..streams.len() {
            let told = asked.ask(s)?.1;
            moved = moved.max(asked.take(s, told, damping));
        }
        if moved <= SETTLED {
            break;
        }
    }
    asked.finish()
}

#[cfg(not(test))]
fn is_failing() -> bool {
    false
}

#[cfg(test)]
use tests::is_failing;

struct Asked<'a> {
    streams: &'a [Stream<'a>],
    features: &'a [f64],
    parameters: usize,
    kept: Option<&'a Exchange>,
    extrinsic: Vec<Vec<f64>>,
}

impl Asked<'_> {
    /// f + Λ of an instance.
    fn total(&self, instance: usize) -> f64 {
        self.features[instance] + self.extrinsic.iter().map(|own| own[instance]).sum::<f64>()
    }

    /// What a stream is told.
    fn log_odds(&self, s: usize) -> Vec<f64> {
        let without = |i: usize| {
            let others = self.extrinsic.iter().enumerate().filter(|(r, _)| *r != s);
            self.features[i] + others.map(|(_, own)| own[i]).sum::<f64>()
        };
        (0..self.features.len()).map(without).collect()
    }

    /// Sums a stream: its evidence and derivatives, and what it tells.
    fn ask(&self, s: usize) -> Result<(Sums, Vec<f64>), Impossible> {
        let Stream { bound, timeline, positions, in_parallel } = &self.streams[s];
        let log_odds = self.log_odds(s);
        let slopes = Mutex::new(vec![0.0; log_odds.len()]);
        let messages = self.kept.and_then(|kept| kept.messages(s));
        let rows = StreamRows { log_odds: &log_odds, slopes, messages, in_parallel: *in_parallel };
        let mut sums = Sums::zeros(0, self.parameters);
        bound.add(*timeline, &rows, &mut sums).map_err(|why| why.among(positions))?;
        let slopes = rows.slopes.into_inner().unwrap_or_else(PoisonError::into_inner);
        let bounds = bounds(bound.label_odds());
        let told = log_odds.iter().zip(slopes).map(|(&c, d)| extrinsic(c, d, bounds)).collect();
        Ok((sums, told))
    }

    /// Takes what a stream tells, and returns by how much a probability moves at most.
    fn take(&mut self, s: usize, told: Vec<f64>, damping: f64) -> f64 {
        let mut moved: f64 = 0.0;
        for (i, told) in told.into_iter().enumerate() {
            let before = self.total(i);
            let step = damping * (told - self.extrinsic[s][i]);
            self.extrinsic[s][i] += step;
            if before.is_finite() {
                moved = moved.max((sigmoid(before + step) - sigmoid(before)).abs());
            }
        }
        moved
    }

    /// Asks every stream once more, which may not move anything, and adds all up.
    fn finish(self) -> Result<Exchanged, Impossible> {
        let (mut log_evidence, mut moved): (f64, f64) = (0.0, 0.0);
        let (mut log_odds, mut sums) = (Vec::new(), Vec::new());
        let is_open = |i: &usize| self.features[*i].is_finite();
        let open: Vec<usize> = (0..self.features.len()).filter(is_open).collect();
        let totals: Vec<f64> = (0..self.features.len()).map(|i| self.total(i)).collect();
        for s in 0..self.streams.len() {
            let (own, told) = self.ask(s)?;
            let told_to = self.log_odds(s);
            log_evidence += own.value;
            for &i in &open {
                log_evidence += softplus(told_to[i]) - softplus(totals[i]);
                moved = moved.max((sigmoid(told_to[i] + told[i]) - sigmoid(totals[i])).abs());
            }
            log_odds.push(told_to);
            sums.push(own);
        }
        if moved.is_nan() || moved > CERTIFIED {
            return Err(Impossible::Unsettled);
        }
        let mut d_log_odds = vec![0.0; self.features.len()];
        for &i in &open {
            let (f, total) = (self.features[i], totals[i]);
            log_evidence += softplus(total) - softplus(f);
            // σ(f + Λ) − σ(f), without cancellation.
            d_log_odds[i] = -sigmoid(total) * sigmoid(-f) * (f - total).exp_m1();
        }
        if let Some(kept) = self.kept {
            kept.keep(&self.extrinsic);
        }
        Ok(Exchanged { log_evidence, log_odds, d_log_odds, sums })
    }
}

/// The least and the most that a stream can tell, from what its counts can. On the way to an optimum counts may be
/// so improbable for one label that both are −∞, or for both labels, so that none tells anything.
fn bounds((least, most): (f64, f64)) -> (f64, f64) {
    if least > most {
        return (0.0, 0.0);
    }
    (least.clamp(-CERTAIN, CERTAIN), most.clamp(-CERTAIN, CERTAIN))
}

/// What a stream knows beyond log-odds c of a label, if its probability becomes σ(c) + d.
fn extrinsic(c: f64, d: f64, (least, most): (f64, f64)) -> f64 {
    // A label that is known, or certain to all digits, cannot be told anything.
    if c.abs() > CERTAIN {
        return 0.0;
    }
    let told = (d / sigmoid(c)).ln_1p() - (-d / sigmoid(-c)).ln_1p();
    // Rounding can make a probability 0 or 1; the counts of the stream bound what it can tell.
    if told.is_nan() { if d > 0.0 { most } else { least } } else { told.clamp(least, most) }
}

/// Log-odds that a stream is told, and the derivatives in them.
struct StreamRows<'a> {
    log_odds: &'a [f64],
    slopes: Mutex<Vec<f64>>,
    messages: Option<&'a Messages>,
    in_parallel: bool,
}

impl Rows for StreamRows<'_> {
    fn at_a_time(&self) -> usize {
        ROWS
    }

    fn log_odds<'a>(&'a self, instances: Range<usize>, _: &'a mut [f64]) -> &'a [f64] {
        &self.log_odds[instances]
    }

    fn pull_back(&self, instances: Range<usize>, d_log_odds: &mut [f64], _: &mut Sums) {
        let mut slopes = self.slopes.lock().unwrap_or_else(PoisonError::into_inner);
        slopes[instances].copy_from_slice(d_log_odds);
    }

    fn messages(&self) -> Option<&Messages> {
        self.messages
    }

    fn in_parallel(&self) -> bool {
        self.in_parallel
    }
}

#[cfg(test)]
mod tests;
