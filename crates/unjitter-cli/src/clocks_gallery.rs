//! The figure of clocks that were looked for.

use unjitter::model::Factor;
use unjitter::sync::{SyncedClock, Verdict};

use crate::clocks_text::{shown, verdict};
use crate::figures::{ClockPanel, Clocks, clocks};
use crate::gallery::{Drawing, drawing};
use crate::words::counted;

/// Name of the figure.
pub(crate) const STEM: &str = "clocks";
/// Most clocks that are drawn.
const DRAWN: usize = 24;

/// How well each offset explains the stamps, for every clock.
pub(crate) fn clocks_drawing(by: Factor, found: &[SyncedClock]) -> Drawing {
    // If one was found, no other is about as good.
    let others = |own: &SyncedClock| match own.verdict {
        Verdict::Several => {
            own.others.iter().map(|place| (place.offset, place.log_evidence)).collect()
        }
        _ => Vec::new(),
    };
    let panel = |own: &&SyncedClock| ClockPanel {
        name: own.name.clone(),
        verdict: verdict(own.verdict).to_owned(),
        is_found: own.verdict == Verdict::Found,
        best: if own.verdict == Verdict::NoStamps { f64::NAN } else { own.offset },
        interval: (own.low, own.high),
        others: others(own),
        profile: own.profile.clone(),
    };
    let title = format!("Where the clocks are, by {}", by.name());
    let more = found.len().saturating_sub(DRAWN);
    let data = Clocks {
        title: title.clone(),
        x_label: "stamps are late by, in seconds".to_owned(),
        panels: shown(found, DRAWN).iter().map(panel).collect(),
        more: (more > 0).then(|| format!("and {} that are found", counted(more, "other clock"))),
    };
    let caption = "How well each offset explains the stamps of a clock: log evidence less that of the \
                   best. One top alone is a clock that was found; several of about the same height \
                   cannot be told apart.";
    drawing(STEM, &title, caption, clocks(&data))
}
