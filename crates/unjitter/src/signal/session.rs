//! From a chest-band signal to a session of breaths, with separate true labels.

use super::{CycleOptions, Cycles, Signal, cycle_features, find_cycles};
use crate::error::require;
use crate::session::nearest;
use crate::{Recording, Result, Session};

/// A session from a signal with known true events. The session itself has no labels and no stamps, so
/// nothing can leak into learning by accident.
#[derive(Debug, Clone, PartialEq)]
pub struct LabelledSession {
    /// One instance per respiration cycle, at the start of the cycle.
    pub session: Session<'static>,
    /// Whether each cycle is a true event.
    pub labels: Vec<bool>,
    /// The cycles, and the rejected candidates.
    pub cycles: Cycles,
    /// True events without a cycle that begins near: the cycle detection has lost them.
    pub missed: Vec<f64>,
}

impl LabelledSession {
    /// The session with its labels beside it, for evaluation.
    pub fn recording(&self) -> Recording<'static> {
        Recording { session: self.session.clone(), truth: Some(self.labels.clone()) }
    }

    /// Times of the cycles that are true events.
    pub fn event_times(&self) -> Vec<f64> {
        let times = self.session.times().iter().zip(&self.labels);
        times.filter(|(_, label)| **label).map(|(&time, _)| time).collect()
    }
}

/// Finds the cycles of `signal`, describes them, and labels as true those that begin nearest to a true event.
///
/// An event is the beginning of a breath. It belongs to the cycle that starts nearest to it, if
/// that is within `tolerance` seconds and no earlier event has it; otherwise it is missed.
pub fn session_from_signal(
    name: &str,
    signal: &Signal,
    events: &[f64],
    options: &CycleOptions,
    tolerance: f64,
) -> Result<LabelledSession> {
    require("tolerance", tolerance, tolerance >= 0.0, "a finite number of at least 0")?;
    let cycles = find_cycles(signal, options)?;
    let starts: Vec<f64> = cycles.cycles.iter().map(|cycle| cycle.start).collect();
    let mut labels = vec![false; starts.len()];
    let mut missed = Vec::new();
    for &event in events {
        let nearest = nearest(&starts, event);
        if (starts[nearest] - event).abs() <= tolerance && !labels[nearest] {
            labels[nearest] = true;
        } else {
            missed.push(event);
        }
    }
    let features = cycle_features(&cycles.cycles, options.neighbours);
    let session = Session::new(name, features, starts, vec![])?;
    Ok(LabelledSession { session, labels, cycles, missed })
}
