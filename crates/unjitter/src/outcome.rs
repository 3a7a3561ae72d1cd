//! How learning ended, as data that fitted models and model files carry.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::error::gibibytes;

/// Why a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// The gradient is small enough.
    GradientTolerance,
    /// The value hardly falls any more.
    ValueTolerance,
    /// The iterations are used up.
    IterationLimit,
    /// No lower value was found, not even along steepest descent.
    LineSearchFailed,
    /// The watcher asked to stop.
    Cancelled,
}

/// How a fit ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outcome {
    /// Whether the best start ended by its own tolerances, or at a kink of the noise model from which no
    /// step leads down.
    pub converged: bool,
    /// Why the best start ended, or that the fit was cancelled.
    pub stop: StopReason,
    /// Its iterations.
    pub iterations: usize,
    /// Its evaluations of the objective.
    pub evaluations: usize,
    /// Minus the log posterior, as minimised: times in units of the model.
    pub value: f64,
    /// Largest entry of its gradient.
    pub gradient_norm: f64,
    /// log p(stamps, known labels | features, times), times in the unit of the data.
    pub log_evidence: f64,
    /// Which start was best; 0 is the naive one.
    pub best_start: usize,
    /// Final value of each start that was run; infinite (written as null) if the stamps were impossible
    /// at the start.
    pub values: Vec<Option<f64>>,
}

/// A difference of log evidence over sessions that were left out of learning.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HeldOut {
    /// Its mean over sessions.
    pub mean: f64,
    /// The standard error of that mean.
    pub standard_error: f64,
}

impl HeldOut {
    /// How much more evidence `own` has than `other`, session by session.
    pub(crate) fn difference(own: &[f64], other: &[f64]) -> Self {
        let count = own.len() as f64;
        let differences = || own.iter().zip(other).map(|(a, b)| a - b);
        let mean = differences().sum::<f64>() / count;
        let squares: f64 = differences().map(|d| (d - mean) * (d - mean)).sum();
        Self { mean, standard_error: (squares / (count * (count - 1.0).max(1.0))).sqrt() }
    }
}

/// A sign that the result may not be what it seems.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Warning {
    /// The optimiser stopped before it was done.
    NotConverged {
        /// Why it stopped.
        stop: StopReason,
        /// Largest entry of the gradient there.
        gradient_norm: f64,
    },
    /// The detector is not sure of its own events.
    UnsureDetector {
        /// Σ p² ÷ Σ p over the instances: the mean probability of an event at the detected events.
        confidence: f64,
    },
    /// The learned spread is near the gap between stamps, so that the imposed order biases it low.
    SpreadNearGap {
        /// Learned spread.
        spread: f64,
        /// Median gap between neighbouring stamps.
        median_gap: f64,
    },
    /// A start or a step was given up because its sums exceeded the memory limit.
    MemoryLimit {
        /// Name of the first session that this happened to.
        session: String,
        /// The memory its sums would have taken, about.
        bytes: u64,
        /// The limit.
        limit: u64,
    },
    /// Sums over the owners of stamps did not converge, so that a start was lost, or learning ended where it met them.
    NotSettled {
        /// Name of the first session that this happened to.
        session: String,
        /// How many sessions it happened to.
        sessions: usize,
    },
    /// Two different annotators explain the stamps about equally well.
    Modes {
        /// Delay of the one that was chosen.
        delay: f64,
        /// Its spread.
        spread: f64,
        /// Delay of the other.
        other_delay: f64,
        /// Its spread.
        other_spread: f64,
    },
    /// The learned spread is below half the spacing of instances on a grid, which cannot tell it.
    TinySpread {
        /// Learned spread.
        spread: f64,
        /// Median spacing of instances.
        spacing: f64,
    },
    /// The stamps of one event are several; the default counts were chosen accordingly.
    SeveralStamps {
        /// Stamps of an event, on average.
        mean: f64,
        /// By how much the log evidence is higher than with one stamp at most.
        gain: f64,
    },
    /// The stamps of one event may be several, though one at most was taken.
    PerhapsSeveralStamps {
        /// Stamps of an event, on average, if so.
        mean: f64,
        /// By how much the log evidence is lower then.
        loss: f64,
    },
    /// The data cannot tell some parameters apart.
    TradePlaces {
        /// Their names.
        parameters: Vec<String>,
    },
    /// Clocks that the stamps do not tell: they are taken to be like the others.
    ClocksNotFound {
        /// Those for which several places explain the stamps about equally well.
        several: Vec<String>,
        /// Those of which the stamps hardly tell anything.
        flat: Vec<String>,
    },
    /// Stamps that lie far from every instance.
    FarStamps {
        /// Name of the session.
        session: String,
        /// How many.
        count: usize,
        /// The furthest of them.
        index: usize,
        /// Its time.
        time: f64,
        /// How far its delay to the nearest instance is from the mean delay, in spreads.
        spreads: f64,
    },
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Warning::NotConverged { stop, gradient_norm } => write!(
                f,
                "learning stopped early ({}, gradient {gradient_norm:.2e}): the result may still \
                 move; {}",
                in_words(*stop),
                cure(*stop)
            ),
            Warning::UnsureDetector { confidence } => write!(
                f,
                "the detector is not sure of its events: it gives them a probability of \
                 {confidence:.2} on average. Either the features hardly tell events apart, or the fit \
                 has gone wrong, and delay and spread with it; check unit and clock of the stamps, try \
                 more restarts, more stamps or other features"
            ),
            Warning::SpreadNearGap { spread, median_gap } => write!(
                f,
                "the learned spread {spread:.3} is large beside the median gap {median_gap:.3} \
                 between stamps: the true spread is probably larger, by half in most cases; hold it \
                 at its value if you know that"
            ),
            Warning::MemoryLimit { session, bytes, limit } => write!(
                f,
                "session {session}: a start or a step of learning would have taken {}, with a limit of {}, \
                 and was given up; what was learned may be worse for it. Allow more memory, or check unit \
                 and clock of the stamps",
                gibibytes(*bytes),
                gibibytes(*limit)
            ),
            Warning::NotSettled { session, sessions } => {
                match sessions {
                    1 => write!(f, "session {session}: its sum over all owners of stamps")?,
                    _ => write!(
                        f,
                        "{sessions} sessions, the first of them {session}: their sums over all owners of \
                         stamps"
                    )?,
                }
                write!(
                    f,
                    " did not converge at a start or at the end of learning, which was given up there; what \
                     was learned may be worse for it. Stamps in order, or fewer stamps of one instance, can be \
                     summed exactly"
                )
            }
            Warning::Modes { delay, spread, other_delay, other_spread } => write!(
                f,
                "two explanations of the stamps are about equally good: presses {delay:.3} ± {spread:.3} late, \
                 which was chosen, and {other_delay:.3} ± {other_spread:.3} late, with a detector that \
                 fires at another time. To settle it, say how late presses can be, label some instances \
                 or one session and learn from these labels too, or confirm some stamps"
            ),
            Warning::TinySpread { spread, spacing } => write!(
                f,
                "the learned spread {spread:.3} is below half the spacing {spacing:.3} of the \
                 windows, which cannot tell such a spread: take it as {spacing:.3} or less"
            ),
            Warning::SeveralStamps { mean, gain } => write!(
                f,
                "events have several stamps, {mean:.1} on average: counts without a limit explain them \
                 better than one stamp at most, by {gain:.0} in the log evidence, and were used"
            ),
            Warning::PerhapsSeveralStamps { mean, loss } => write!(
                f,
                "events may have several stamps: {mean:.1} on average explain them nearly as well as one at \
                 most, which was taken, with {loss:.0} less in the log evidence. If several people pressed, \
                 or one of them twice, take Poisson counts"
            ),
            Warning::TradePlaces { parameters } => write!(
                f,
                "the stamps hardly tell {} apart: more of the one and less of the other explain them as \
                 well, so each alone is uncertain; hold one if you know it, or label some instances",
                parameters.join(" and ")
            ),
            Warning::ClocksNotFound { several, flat } => {
                write!(f, "clocks were not found, and are taken to be about as the others: ")?;
                let told = [
                    (several, "several offsets explain the stamps about equally well"),
                    (flat, "the stamps hardly tell the offset"),
                ];
                for (k, (names, why)) in told.iter().filter(|(own, _)| !own.is_empty()).enumerate()
                {
                    let semicolon = if k > 0 { "; " } else { "" };
                    write!(f, "{semicolon}for {} {why}", some(names))?;
                }
                write!(f, ". Look at their profiles, or say how far clocks can be off")
            }
            Warning::FarStamps { session, count, index, time, spreads } => write!(
                f,
                "session {session}: {count} stamps lie far from every instance and widen the learned \
                 spread; stamp {index} at {time} is {spreads:.0} spreads off; leave them out, or say \
                 when somebody was annotating"
            ),
        }
    }
}

/// The first names, and how many others there are.
fn some(names: &[String]) -> String {
    const TOLD: usize = 3;
    let first = names[..names.len().min(TOLD)].join(", ");
    match names.len() {
        ..=TOLD => first,
        all => format!("{first} and {} others", all - TOLD),
    }
}

fn in_words(stop: StopReason) -> &'static str {
    match stop {
        StopReason::GradientTolerance => "the gradient is small",
        StopReason::ValueTolerance => "the value hardly falls",
        StopReason::IterationLimit => "the iterations are used up",
        StopReason::LineSearchFailed => "no lower value was found",
        StopReason::Cancelled => "it was interrupted",
    }
}

fn cure(stop: StopReason) -> &'static str {
    match stop {
        StopReason::IterationLimit => "allow more iterations",
        StopReason::Cancelled => "let it run to its end",
        _ => "try more restarts",
    }
}
