//! Whether the windows of a band are wide enough, judged by what was found inside them.

use std::ops::Range;

use super::band::{Band, Span};
use super::span::Trouble;
use super::tables::CountTables;
use super::widen::LOG_DROP;

/// Width of the ring at the edge of a window, in log density: a factor of 10⁴.
const RING: f64 = 9.2;

/// Largest share of a stamp's responsibility that may lie in the ring. That share is also how much
/// the evidence gained, at most, when the window grew by the ring; densities beyond it are smaller
/// by e^RING again, so with so little gained a further ring has nothing to add.
const RING_MASS: f64 = 1e-11;

/// Fails if a window that could be wider has weight at its edge.
pub(super) fn check_edges(
    band: &Band,
    stamps: Range<usize>,
    responsibilities: &[f64],
) -> Result<(), Trouble> {
    let edge = (RING - band.log_drop()).exp();
    for stamp in stamps {
        if band.windows()[stamp].len() == band.instances() {
            continue;
        }
        let shares = &responsibilities[band.cells_of(stamp)];
        let cells = band.density(stamp).iter().zip(shares);
        let in_ring = |(density, _): &(&f64, &f64)| **density < edge;
        let left = cells.clone().take_while(in_ring);
        let right = cells.rev().take_while(in_ring);
        let ring: f64 = left.chain(right).map(|(_, share)| share).sum();
        if ring > RING_MASS {
            return Err(Trouble::Narrow);
        }
    }
    Ok(())
}

/// Where the odds of instances have no bound (a rate of exactly 0 or 1), fails if an instance
/// outside a stamp's window could outweigh those inside. The span is the whole session, loaded.
pub(super) fn check_support(
    band: &Band,
    tables: &CountTables,
    span: &Span,
    log_odds: &[f64],
) -> Result<(), Trouble> {
    let odds: Vec<f64> =
        log_odds.iter().map(|&f| tables.log_mixed(f, 1) - tables.log_mixed(f, 0)).collect();
    // An instance that cannot be silent has infinite odds; the recursion itself sees to those.
    let highest = odds.iter().copied().filter(|o| *o < f64::INFINITY).fold(f64::MIN, f64::max);
    for stamp in span.stamps.clone() {
        let window = band.windows()[stamp];
        if window.len() == band.instances() {
            continue;
        }
        let inside = &odds[window.first - span.instances.start..];
        let density = band.log_density(stamp).iter().zip(inside);
        let support = density.map(|(p, o)| p + o).fold(f64::NEG_INFINITY, f64::max);
        if highest - band.log_drop() > support - band.log_scale(stamp) - LOG_DROP {
            return Err(Trouble::Narrow);
        }
    }
    Ok(())
}
