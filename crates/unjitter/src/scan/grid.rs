//! The widths and lags that are looked at, from the data.
//!
//! Neither the spacing of instances nor the gap between stamps says how late people are; it is somewhere
//! between. So widths double from the spacing to some gaps. They are gaps halved or doubled, so that
//! more instances between the others add narrow widths and leave the rest as it is. Lags are steps of a
//! quarter of the width, out to some gaps, but not much further than the width: a delay of a minute
//! that scatters by a second is a wrong clock.

use super::stretch::Stretch;
use crate::math::{median, quantile};

/// The gap between stamps that counts as typical, as a share of all gaps: more than half of them may be
/// those of two people who press for the same event.
const TYPICAL: f64 = 0.75;
/// Furthest lag, in gaps: delays may be longer than the gap.
const FURTHEST_GAPS: f64 = 4.0;
/// Furthest lag, in bins.
const FURTHEST_BINS: f64 = 128.0;
/// Widest width, in gaps.
const WIDEST_GAPS: f64 = 2.0;
/// Bins in a width, where bins need not be shorter than the spacing.
const PARTS: usize = 4;
/// The surroundings extend so many widths to either side.
pub(super) const SURROUNDINGS: usize = 2;
/// Widths in the shortest recording that shows anything at this width.
const LEAST_WIDTHS: f64 = 2.0 * (2 * SURROUNDINGS + 1) as f64;
/// Bins that a piece of a recording has at least before it is cut, and how many times it is longer
/// than what lags reach.
const LEAST_PIECE: f64 = 65_536.0;
const PIECE_REACHES: f64 = 32.0;

/// All widths with their lags.
pub(super) struct Grid {
    /// The shortest bin.
    pub(super) bin: f64,
    pub(super) windows: Vec<Window>,
    /// No window is further than this from its stamp.
    pub(super) reach: f64,
    /// The longest piece of a recording.
    pub(super) longest: f64,
}

/// A width with its lags.
pub(super) struct Window {
    /// How often the shortest bin was doubled.
    pub(super) doubled: usize,
    /// Length of a bin.
    pub(super) bin: f64,
    /// Bins in the width.
    pub(super) bins: usize,
    /// Furthest lag to either side, in bins.
    pub(super) furthest: usize,
}

impl Grid {
    /// None if all instances are at one time, or there are no stamps.
    pub(super) fn of(recordings: &[Stretch<'_>]) -> Option<Self> {
        let spacing = median(gaps(recordings.iter().map(|recording| recording.times)))?;
        let mut gaps = gaps(recordings.iter().map(|recording| recording.stamps));
        gaps.sort_by(f64::total_cmp);
        let stamped = || recordings.iter().filter(|recording| !recording.stamps.is_empty());
        let longest = stamped().map(Stretch::span).reduce(f64::max)?;
        // Without gaps, lags may be as long as the recordings.
        let gap = match gaps.is_empty() {
            true => longest / FURTHEST_GAPS,
            false => quantile(&gaps, TYPICAL).min(longest),
        };
        let bin = gap * (spacing / gap).log2().round().exp2();
        if !bin.is_normal() {
            return None;
        }
        let windows = windows(bin, gap, longest / LEAST_WIDTHS);
        let aside = SURROUNDINGS as f64 + 0.5;
        let reach = FURTHEST_GAPS * gap + aside * windows.last()?.width();
        let longest = (LEAST_PIECE * bin).max(PIECE_REACHES * reach);
        Some(Self { bin, windows, reach, longest })
    }
}

/// All widths that the data have room for.
fn windows(bin: f64, gap: f64, room: f64) -> Vec<Window> {
    let finest = (1..PARTS).filter(|bins| bins.is_power_of_two()).map(|bins| (0, bins));
    let doubled = (0..64).map(|doubled| (doubled, PARTS));
    let window = |(doubled, bins): (usize, usize)| {
        let bin = bin * (doubled as f64).exp2();
        let furthest = (FURTHEST_GAPS * gap / bin).ceil().clamp(4.0, FURTHEST_BINS) as usize;
        Window { doubled, bin, bins, furthest }
    };
    let fits = |window: &Window| {
        let width = window.width();
        width <= room && (width <= WIDEST_GAPS * gap || window.doubled == 0)
    };
    finest.chain(doubled).map(window).take_while(fits).collect()
}

impl Window {
    /// The width.
    pub(super) fn width(&self) -> f64 {
        self.bins as f64 * self.bin
    }

    /// Number of lags.
    pub(super) fn lags(&self) -> usize {
        2 * self.furthest + 1
    }

    /// Lags in order of place: from the bin of a stamp to the middle of a window that begins so many
    /// bins before it.
    pub(super) fn lag(&self, place: usize) -> f64 {
        (self.furthest as f64 - place as f64 + 0.5 - 0.5 * self.bins as f64) * self.bin
    }
}

/// Positive differences of neighbours.
fn gaps<'a>(times: impl Iterator<Item = &'a [f64]>) -> Vec<f64> {
    let apart = |times: &'a [f64]| times.windows(2).map(|pair| pair[1] - pair[0]);
    times.flat_map(apart).filter(|&gap| gap > 0.0).collect()
}
