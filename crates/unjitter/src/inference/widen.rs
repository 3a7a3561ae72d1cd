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
use crate::memory::memory_limit;

/// No alignment has positive probability, or none can be found in the memory there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Impossible {
    /// A stamp that no instance can have given.
    Stamp(usize),
    /// All stamps together.
    Together,
    /// The cells of all windows would take this many bytes.
    TooLarge(u64),
}

/// Drop in log density, below its best, at which a stamp's window ends: a factor of 1e-16.
pub(super) const LOG_DROP: f64 = 36.84;

/// Doublings before the windows take in the whole support of the density.
const DOUBLINGS: usize = 5;

/// A drop beyond which no density on f64 delays falls.
const WHOLE_SUPPORT: f64 = 1e300;

/// Places the windows of `band` and lets `attempt` work on it, with wider and wider windows until it no longer
/// finds them narrow. `together` says that it keeps the cells of all stamps at a time. Nothing is allocated
/// beyond the [limit](crate::memory).
pub fn widen<T>(
    band: &mut Band,
    stamped: &Stamped<'_>,
    counts: &CountTables,
    together: bool,
    mut attempt: impl FnMut(&mut Band) -> Result<T, Trouble>,
) -> Result<T, Impossible> {
    let mut log_drop = LOG_DROP + counts.log_odds_range().unwrap_or(0.0);
    for attempts in 0.. {
        band.rebuild(stamped, log_drop).map_err(Impossible::Stamp)?;
        let together = together || counts.log_odds_range().is_none();
        refuse_too_large(band.bytes(counts, together))?;
        let mut attempted = attempt(band);
        if let Err(Trouble::Underflow) = attempted {
            band.keep_blocks_whole();
            refuse_too_large(band.bytes(counts, together))?;
            attempted = attempt(band);
        }
        match attempted {
            Ok(value) => return Ok(value),
            Err(_) if band.is_full() || log_drop == WHOLE_SUPPORT => break,
            Err(_) if attempts < DOUBLINGS => log_drop *= 2.0,
            Err(_) => log_drop = WHOLE_SUPPORT,
        }
    }
    Err(Impossible::Together)
}

fn refuse_too_large(bytes: u64) -> Result<(), Impossible> {
    if bytes > memory_limit() { Err(Impossible::TooLarge(bytes)) } else { Ok(()) }
}
