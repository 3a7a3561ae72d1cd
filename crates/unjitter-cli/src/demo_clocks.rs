//! The part of the demo in which every telephone has a clock of its own.
//!
//! The presses are those of the rest of the demo, moved by what the clock of each session is off. F1 is that in
//! the recordings that were learned from, which is quick and said so; their labels are not looked at.

use serde::Serialize;
use unjitter::evaluation::confusion;
use unjitter::learning::median_spacing;
use unjitter::math::Random;
use unjitter::model::{Factor, Varying};
use unjitter::{FitOptions, Fitted, Model, Recording, Session};

use crate::commands::fit::fit_sessions;
use crate::console::Console;
use crate::groups_text::estimates;
use crate::words::seconds;

/// The furthest that a clock is off, in seconds.
const FURTHEST: f64 = 60.0;

/// What clocks that are off do to a detector.
#[derive(Debug, Serialize)]
pub(crate) struct ClockDemo {
    /// F1 in the recordings learned from: by clocks that are right, by clocks that are off as if they were
    /// right, and by clocks that are off and learned too.
    f1_right: f64,
    f1_off: f64,
    f1_learned: f64,
    clocks: usize,
    /// Clocks that were found to within this many seconds, half a spacing.
    found: usize,
    within: f64,
}

/// Moves presses, learns from them with and without clocks, and compares. Delays are those of the one who
/// pressed, in seconds.
pub(crate) fn clock_demo(
    right: &Fitted,
    recordings: &[Recording<'_>],
    delay: f64,
    seed: u64,
    console: &Console,
) -> anyhow::Result<ClockDemo> {
    let mut random = Random::new(seed);
    let offset = |_: &Recording<'_>| FURTHEST * (2.0 * random.uniform() - 1.0);
    let offsets: Vec<f64> = recordings.iter().map(offset).collect();
    let mut sessions = Vec::new();
    for (own, offset) in recordings.iter().zip(&offsets) {
        let stamps = own.session.stamps().iter().map(|stamp| stamp + offset);
        sessions.push(own.session.clone().with_stamps(stamps.collect())?);
    }
    let options = FitOptions { seed, ..FitOptions::default() };
    let plain = fit_sessions(&sessions, &Model::default(), &options, console)?;
    let model = Model::default().with_clocks(Factor::Session);
    let clocked = fit_sessions(&sessions, &model, &options, console)?;
    let within = 0.5 * median_spacing(&sessions);
    // Only where stamps belong is known: delay and offset together.
    let is_found = |(session, offset): (&Session<'_>, &f64)| {
        let late = clocked.learned().delay + own_offset(&clocked, session.name());
        (late - delay - offset).abs() <= within
    };
    Ok(ClockDemo {
        f1_right: f1(right, recordings)?,
        f1_off: f1(&plain, recordings)?,
        f1_learned: f1(&clocked, recordings)?,
        clocks: sessions.len(),
        found: sessions.iter().zip(&offsets).filter(|own| is_found(*own)).count(),
        within,
    })
}

/// The learned offset of a session's clock.
fn own_offset(fitted: &Fitted, session: &str) -> f64 {
    let all = estimates(fitted);
    let own = all.iter().find(|own| own.variation.what == Varying::Offset && own.group == session);
    own.map_or(0.0, |own| own.value)
}

/// F1 of a detector in labelled recordings.
fn f1(fitted: &Fitted, recordings: &[Recording<'_>]) -> anyhow::Result<f64> {
    let (mut probabilities, mut labels) = (Vec::new(), Vec::new());
    for recording in recordings {
        probabilities.extend(fitted.predict_session(&recording.session)?);
        labels.extend_from_slice(recording.hand_labels()?);
    }
    Ok(confusion(&probabilities, &labels, fitted.threshold())?.scores().f1)
}

/// The comparison in words.
pub(crate) fn text(found: &ClockDemo) -> String {
    let ClockDemo { f1_right, f1_off, f1_learned, clocks, found, within } = found;
    format!(
        "If the telephone of every recording has its own clock, off by up to {} (the same presses, \
         moved),\nF1 in the recordings that were learned from is\n\n  \
         {f1_right:.3}  by clocks that are right\n  \
         {f1_off:.3}  by clocks that are off\n  \
         {f1_learned:.3}  the same, with --clock session\n\n\
         {found} of {clocks} clocks were found to within {}, half a breath.\n",
        seconds(FURTHEST),
        seconds(*within),
    )
}
