//! Instances at the same time, and stretches without instances.

use super::finding::Finding;
use super::view::{Stamped, View};

/// A stretch without instances is long from this many usual spacings.
const LONG: f64 = 100.0;
/// A stamp this many usual spacings from either end of a stretch is in its middle.
const MARGIN: f64 = 10.0;

pub(super) fn check(view: &View<'_>) -> Vec<Finding> {
    at_one_time(view).into_iter().chain(long_gaps(view)).collect()
}

fn at_one_time(view: &View<'_>) -> Option<Finding> {
    let repeated = |session: &&Stamped<'_>| session.times.windows(2).any(|t| t[0] == t[1]);
    let session = view.sessions.iter().find(repeated)?.name.to_owned();
    let instances = view.gaps.partition_point(|&gap| gap <= 0.0);
    Some(Finding::InstancesAtOneTime { instances, of: view.instances(), session })
}

fn long_gaps(view: &View<'_>) -> Option<Finding> {
    let least = LONG * view.spacing;
    let (mut gaps, mut stamps) = (0, 0);
    let mut longest: Option<(f64, &Stamped<'_>, f64)> = None;
    for session in &view.sessions {
        for pair in session.times.windows(2) {
            let gap = pair[1] - pair[0];
            if gap <= least {
                continue;
            }
            gaps += 1;
            let until = |time| session.stamps.partition_point(|&stamp| stamp < time);
            let margin = MARGIN * view.spacing;
            stamps += until(pair[1] - margin) - until(pair[0] + margin);
            if longest.is_none_or(|(length, ..)| gap > length) {
                longest = Some((gap, session, pair[0]));
            }
        }
    }
    longest.map(|(longest, session, start)| Finding::LongGaps {
        gaps,
        longest,
        session: session.name.to_owned(),
        start: session.clock.unwrap_or_default().write_rounded(start),
        stamps,
    })
}
