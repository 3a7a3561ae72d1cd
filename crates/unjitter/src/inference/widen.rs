//! Windows that grow until they hold everything that matters.
//!
//! A window leaves out instances whose density is below the stamp's best by [`LOG_DROP`] and more:
//! a factor of 1e-16 each. Three things could make up for so small a density. The odds of an
//! instance to have a stamp at all: their range is added to the drop, which settles the matter for
//! a stamp whose window meets no other. Having to make room for other stamps: then weight shows at
//! the edges of the windows, and they grow until it no longer does (`edges`). Having no path
//! otherwise: they grow. The second of these is a check, not a proof; the tests hold it against
//! the dense recursion.

use super::Stamped;
use super::band::Band;
use super::span::Trouble;
use super::tables::CountTables;

/// No alignment has positive probability.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Impossible {
    /// A stamp that no instance can have given, if that is the reason.
    pub stamp: Option<usize>,
}

/// Drop in log density, below its best, at which a stamp's window ends: a factor of 1e-16.
pub(super) const LOG_DROP: f64 = 36.84;

/// Doublings before the windows take in the whole support of the density.
const DOUBLINGS: usize = 5;

/// A drop beyond which no density on f64 delays falls.
const WHOLE_SUPPORT: f64 = 1e300;

/// Places the windows of `band` and lets `attempt` work on it, with wider and wider windows until it no longer
/// finds them narrow.
pub fn widen<T>(
    band: &mut Band,
    stamped: &Stamped<'_>,
    counts: &CountTables,
    mut attempt: impl FnMut(&mut Band) -> Result<T, Trouble>,
) -> Result<T, Impossible> {
    let mut log_drop = LOG_DROP + counts.log_odds_range().unwrap_or(0.0);
    for attempts in 0.. {
        band.rebuild(stamped, log_drop).map_err(|stamp| Impossible { stamp: Some(stamp) })?;
        let mut attempted = attempt(band);
        if let Err(Trouble::Underflow) = attempted {
            band.keep_blocks_whole();
            attempted = attempt(band);
        }
        match attempted {
            Ok(value) => return Ok(value),
            Err(_) if band.is_full() || log_drop == WHOLE_SUPPORT => break,
            Err(_) if attempts < DOUBLINGS => log_drop *= 2.0,
            Err(_) => log_drop = WHOLE_SUPPORT,
        }
    }
    Err(Impossible { stamp: None })
}
