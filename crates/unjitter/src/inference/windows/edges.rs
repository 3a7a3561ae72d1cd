//! Checks, from the responsibilities inside, whether the windows of a band are wide enough.

use std::ops::Range;

use super::band::Band;
use super::growing::LOG_DROP;
use super::placing::RING;
use crate::inference::count_tables::CountTables;
use crate::inference::vocabulary::{Span, Trouble};

/// Largest share of a stamp's responsibility that may lie in the ring. This share is also the most by
/// which the evidence grew when the ring was added to the window. Densities beyond are smaller by e^RING
/// again, so after so small a gain a further ring adds nothing.
const RING_MASS: f64 = 1e-11;

/// Fails if a window that could be wider has weight at its edge.
pub(in crate::inference) fn check_edges(
    band: &Band,
    stamps: Range<usize>,
    responsibilities: &[f64],
) -> Result<(), Trouble> {
    for stamp in stamps {
        let (window, inner) = (band.windows()[stamp], band.inner(stamp));
        if window.len() == band.instances() {
            continue;
        }
        let shares = &responsibilities[band.cells_of(stamp)];
        let left = &shares[..inner.first.saturating_sub(window.first).min(shares.len())];
        let right =
            &shares[shares.len() - window.end.saturating_sub(inner.end).min(shares.len())..];
        let ring: f64 = left.iter().sum::<f64>() + right.iter().sum::<f64>();
        if ring > RING_MASS || is_pushed(band, stamp, shares) {
            return Err(Trouble::Narrow);
        }
    }
    Ok(())
}

/// Whether a stamp that crowds, or is far from every instance, has been pushed so far from its best place
/// that one outside its window might do as well.
fn is_pushed(band: &Band, stamp: usize, shares: &[f64]) -> bool {
    let outside = band.outside(stamp);
    if outside == f64::NEG_INFINITY {
        return false;
    }
    let cells = band.log_density(stamp).iter().zip(shares).filter(|(_, share)| **share > 0.0);
    let typical: f64 = cells.map(|(log_density, share)| log_density * share).sum();
    outside > typical - (LOG_DROP - RING + band.log_drop().odds)
}

/// If the odds of instances have no bound (a rate of exactly 0 or 1), fails if an instance outside a
/// stamp's window could outweigh those inside. The span is the whole session, loaded.
pub(in crate::inference) fn check_support(
    band: &Band,
    tables: &CountTables,
    span: &Span,
    log_odds: &[f64],
) -> Result<(), Trouble> {
    let odds: Vec<f64> =
        log_odds.iter().map(|&f| tables.log_mixed(f, 1) - tables.log_mixed(f, 0)).collect();
    // An instance that cannot be silent has infinite odds; the recursion handles those.
    let highest = odds.iter().copied().filter(|o| *o < f64::INFINITY).fold(f64::MIN, f64::max);
    for stamp in span.stamps.clone() {
        let window = band.windows()[stamp];
        if window.len() == band.instances() {
            continue;
        }
        let inside = &odds[window.first - span.instances.start..];
        let density = band.log_density(stamp).iter().zip(inside);
        let support = density.map(|(p, o)| p + o).fold(f64::NEG_INFINITY, f64::max);
        if highest - band.log_drop().alone() > support - band.log_scale(stamp) - LOG_DROP {
            return Err(Trouble::Narrow);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inference::windows::placing::LogDrop;
    use crate::inference::{DelayDensity, Stamp, Timeline};

    /// log p = −|d|.
    struct Tent;

    impl DelayDensity for Tent {
        fn log_density(&self, delays: &[f64], out: &mut [f64]) {
            out.iter_mut().zip(delays).for_each(|(out, d)| *out = -d.abs());
        }
        fn log_peak(&self) -> f64 {
            0.0
        }
        fn reach(&self, log_drop: f64) -> (f64, f64) {
            (-log_drop, log_drop)
        }

        fn log_mean_density(&self, _: &[f64], _: f64, _: &mut [f64]) {
            unreachable!("all times are known");
        }
    }

    /// Whether windows are wide enough for stamps that certainly belong to these instances.
    fn check(times: &[f64], stamps: &[f64], places: &[usize]) -> Result<(), Trouble> {
        let mut band = Band::default();
        let stamps = &Stamp::at(stamps);
        let stamped = Timeline::new(times, stamps, 1.0).with(&Tent);
        let drop = LogDrop { paths: LOG_DROP, odds: 2.0, max_count: 1, chains: true, floor: None };
        band.rebuild(&stamped, drop).unwrap();
        band.load(0..stamps.len(), &stamped).unwrap();
        let mut responsibilities = vec![0.0; band.cells()];
        for (stamp, place) in places.iter().enumerate() {
            let window = band.windows()[stamp];
            responsibilities[band.cells_of(stamp).start + place - window.first] = 1.0;
        }
        check_edges(&band, 0..stamps.len(), &responsibilities)
    }

    #[test]
    fn weight_in_the_ring_is_too_much() {
        let times: Vec<f64> = (0..200).map(f64::from).collect();
        // The window ends 39.84 from the stamp, and its ring begins 9.2 before that.
        assert!(check(&times, &[100.0], &[130]).is_ok());
        assert!(check(&times, &[100.0], &[70]).is_ok());
        assert!(check(&times, &[100.0], &[131]).is_err());
        assert!(check(&times, &[100.0], &[69]).is_err());
        // Two stamps share the drop: 21.42 from the second, and the ring 4.6 before that.
        assert!(check(&times, &[100.0, 101.0], &[117, 118]).is_ok());
        assert!(check(&times, &[100.0, 101.0], &[118, 119]).is_err());
    }

    #[test]
    fn a_crowded_stamp_must_not_be_pushed_to_where_outside_is_as_good() {
        // Instances come every eight, so that two stamps cannot both be near one.
        let times: Vec<f64> = (0..50).map(|i| 8.0 * f64::from(i)).collect();
        let stamps = [200.0, 200.0];
        assert!(check(&times, &stamps, &[25, 26]).is_ok());
        // Sixteen away, outside the ring, with the first instance outside 40 away.
        assert!(check(&times, &stamps, &[25, 27]).is_err());
    }
}
