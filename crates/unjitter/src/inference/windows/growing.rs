//! Windows that grow until they contain all relevant weight.
//!
//! Windows exclude paths that lose at least [`LOG_DROP`] against others in the densities of the stamps that
//! they move: a factor of 1e-16 each. Three things could make up for that. First, the odds of an instance to
//! have a stamp at all: their range is added to the drop of every moved stamp, which is enough for a stamp
//! whose window overlaps no other. Second, a stamp may have to make room for others: then weight shows at
//! the edges of the windows, and they grow until it does not (`edges`). Third, there may be no other path:
//! they grow. The second is a check, not a proof; the tests compare it with the dense recursion.
//!
//! With a background it is simpler. A stamp whose density at an instance, times the largest odds, is below
//! 1e-16 of the background comes from nowhere rather than from there, whatever the other stamps do.

use std::ops::Range;

use super::band::Band;
use super::placing::{LogDrop, Windows};
use crate::inference::count_tables::CountTables;
use crate::inference::vocabulary::{Impossible, Order, Stamped, Trouble};
use crate::memory::memory_limit;

/// Loss beyond which paths are excluded: a factor of 1e-16.
pub(in crate::inference) const LOG_DROP: f64 = 36.84;

/// The same for belief propagation, whose own error is far larger: a factor of 1e-10.
const FREE_LOG_DROP: f64 = 23.0;

fn log_drop(order: Order) -> f64 {
    match order {
        Order::Ordered => LOG_DROP,
        Order::Free => FREE_LOG_DROP,
    }
}

impl Stamped<'_> {
    /// The instances that each stamp may have come from rather than from the background, at least one, if odds of more
    /// than this favour none of them. There must be a background.
    pub(crate) fn reachable(&self, log_odds: f64) -> Vec<Range<usize>> {
        let mut windows = Windows::default();
        windows.place_above(self, self.log_background - log_odds - log_drop(self.order));
        windows.outer.iter().map(|window| window.first..window.end).collect()
    }
}

/// Doublings before the windows take the whole support of the density.
const DOUBLINGS: usize = 5;

/// A drop beyond which no density on f64 delays falls.
const WHOLE_SUPPORT: f64 = 1e300;

/// Places the windows of `band` and lets `attempt` work on it, with wider and wider windows until it no
/// longer finds them narrow. `together` means that it keeps the cells of all stamps at a time. Nothing is
/// allocated beyond the [limit](crate::memory).
pub(in crate::inference) fn widen<T>(
    band: &mut Band,
    stamped: &Stamped<'_>,
    counts: &CountTables,
    together: bool,
    mut attempt: impl FnMut(&mut Band) -> Result<T, Trouble>,
) -> Result<T, Impossible> {
    let range = counts.log_odds_range();
    let mut log_drop = LogDrop {
        paths: LOG_DROP,
        odds: range.unwrap_or(0.0),
        max_count: counts.max_count().max(1),
        chains: range.is_some() && stamped.order == Order::Ordered,
        floor: (stamped.log_background > f64::NEG_INFINITY)
            .then(|| stamped.log_background - counts.log_largest_odds() - log_drop(stamped.order)),
    };
    for attempts in 0.. {
        band.rebuild(stamped, log_drop).map_err(Impossible::Stamp)?;
        let mut attempted = in_memory(band, counts, together, &mut attempt)?;
        if let Err(Trouble::Underflow) = attempted {
            band.keep_blocks_whole();
            attempted = in_memory(band, counts, together, &mut attempt)?;
        }
        match attempted {
            Ok(value) => return Ok(value),
            Err(Trouble::Unsettled) => return Err(Impossible::Unsettled),
            Err(_) if log_drop.floor.is_some() => break,
            Err(_) if band.is_full() || log_drop.paths == WHOLE_SUPPORT => break,
            Err(_) if attempts < DOUBLINGS => log_drop = log_drop.doubled(),
            Err(_) => log_drop = LogDrop { paths: WHOLE_SUPPORT, chains: false, ..log_drop },
        }
    }
    Err(Impossible::Together)
}

/// Runs `attempt` if its memory is within the limit. An attempt that keeps everything together holds its
/// memory here; spans, which may run in parallel, each hold their own.
fn in_memory<T>(
    band: &mut Band,
    counts: &CountTables,
    together: bool,
    attempt: &mut impl FnMut(&mut Band) -> Result<T, Trouble>,
) -> Result<Result<T, Trouble>, Impossible> {
    let bytes = band.count_bytes(counts, together);
    if bytes > memory_limit() {
        return Err(Impossible::TooLarge(bytes));
    }
    let held = if together { band.hold_session() } else { None };
    let attempted = attempt(band);
    if held.is_some() {
        band.unload();
    }
    Ok(attempted)
}
