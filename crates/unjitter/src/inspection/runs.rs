//! Positive instances in runs that are stamped once: events that cover several instances.
//!
//! If labels were independent, an instance behind a positive one would be positive as often as any other. How far more
//! often it is, in standard errors, tells runs from chance. That alone does not ask for a chain: each of several events in
//! a row may have its stamp, as each puff of a cigarette has. So there must also be about as many stamps as runs, nearer
//! than as many as positive instances, as ratios.
//!
//! Without labels nothing is said. Features of neighbours resemble each other in runs, but also where they drift or look at
//! their surroundings: of the instances of a recording of heart beats that look most like stamped ones, more than half have
//! another behind them, though such beats come alone.

use super::finding::Finding;
use super::view::View;

/// Standard errors above chance.
const DEVIATIONS: f64 = 5.0;
/// Mean length of a run, in instances, from which an event covers several.
const SEVERAL: f64 = 1.5;

pub(super) fn check(view: &View<'_>) -> Option<Finding> {
    let (mut positives, mut labelled, mut runs) = (0usize, 0usize, 0usize);
    // Positive instances with a labelled one behind them, and those of them that go on.
    let (mut followed, mut go_on) = (0usize, 0usize);
    for session in &view.sessions {
        let mut before = None;
        for &label in session.labels.iter() {
            let is_positive = label == Some(true);
            labelled += usize::from(label.is_some());
            positives += usize::from(is_positive);
            runs += usize::from(is_positive && before != Some(true));
            if before == Some(true) && label.is_some() {
                followed += 1;
                go_on += usize::from(is_positive);
            }
            before = label;
        }
    }
    let stamps = view.streams().map(Vec::len).sum::<usize>();
    if followed == 0 || stamps == 0 || positives == labelled {
        return None;
    }
    let share = positives as f64 / labelled as f64;
    let expected = share * followed as f64;
    let beyond = (go_on as f64 - expected) / (expected * (1.0 - share)).sqrt();
    // Those of one annotator: several who stamp the same runs are not more stamps of each.
    let annotators = view.sessions.iter().map(|session| session.streams.len()).max().unwrap_or(1);
    let each = stamps as f64 / annotators.max(1) as f64;
    let is_once = each * each < runs as f64 * positives as f64;
    let is_long = positives as f64 >= SEVERAL * runs as f64;
    (beyond > DEVIATIONS && is_once && is_long).then_some(Finding::LabelRuns {
        positives,
        runs,
        stamps,
    })
}
