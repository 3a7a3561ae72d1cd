//! The sessions as if somebody had labelled them by hand.
//!
//! Nobody knows these labels, but what they would tell of the detector hardly depends on them (for a linear
//! one not at all), and what they would tell of the annotator only on which stamps have an event and which
//! events have none. So the likeliest are taken: the owners in the best alignment, unless their stamp is
//! more probably for nothing, and as many of the events without a stamp as are expected.

use crate::{AlignOptions, Fitted, Result, Session};

/// The session with labels for all its annotated instances; those it has are kept.
pub(super) fn labelled<'a>(fitted: &Fitted, session: &Session<'a>) -> Result<Session<'a>> {
    let options = AlignOptions { draws: 0, ..AlignOptions::default() };
    let aligned = fitted.align_with(session, &options)?;
    let mut positive = vec![false; session.len()];
    for stamp in aligned.stamps.iter().filter(|stamp| stamp.p_spurious < 0.5) {
        stamp.best_instance.into_iter().for_each(|i| positive[i] = true);
    }
    // An event each time that another whole one is expected, so that their number is right.
    let mut missed = 0.5;
    for (i, instance) in aligned.instances.iter().enumerate().filter(|(_, one)| one.observed) {
        let before = f64::floor(missed);
        missed += instance.p_missed;
        positive[i] |= missed.floor() > before;
    }
    let label = |i: usize| match aligned.instances[i].observed {
        true => Some(session.label(i).unwrap_or(positive[i])),
        false => session.label(i),
    };
    session.clone().with_labels((0..session.len()).map(label).collect())
}
