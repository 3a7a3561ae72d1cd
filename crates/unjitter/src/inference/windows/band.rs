//! The band: for each stamp, the window of instances it can have come from.
//!
//! `placing` places the windows. They are contiguous and move forward with the stamps, so the stamps form
//! *blocks* whose windows overlap; blocks do not touch, and the instances between them are silent. Work
//! is O(cells), the summed lengths of the windows. Densities are loaded for some stamps at a time, so
//! they stay in cache while in use and a long session takes no more memory for them than a short one.

use std::ops::Range;
use std::sync::Arc;

use multiversion::multiversion;

use super::placing::{LogDrop, Windows};
use crate::inference::buffers::make_room;
use crate::inference::vocabulary::{Block, Order, Span, Stamp, Stamped, Trouble, Window};
use crate::math::{LANES, Lanes, exp_in_place};

/// Cells of a panel, about: one or two megabytes with all that is computed for them, which stays in the
/// second-level cache.
pub(in crate::inference) const PANEL_CELLS: usize = if cfg!(test) { 1 << 6 } else { 1 << 15 };

/// Most cells of a block that is loaded whole: fetching them from the third-level cache costs less than
/// recomputing them. Tests have small blocks, which are to be cut as well.
const WHOLE_CELLS: usize = 4 * PANEL_CELLS;

/// The windows of a session's stamps, and the densities of the loaded stamps.
#[derive(Debug, Clone, Default)]
pub(in crate::inference) struct Band {
    instances: usize,
    log_drop: LogDrop,
    order: Order,
    whole_blocks: bool,
    /// Bytes that the session takes, if that is not little.
    pub(in crate::inference) needed: u64,
    /// Shared by the threads that work on runs of the same session.
    windows: Arc<Windows>,
    /// First of the stamps whose densities are filled in.
    first: usize,
    /// Cells of stamp `first + k` are `offsets[k]..offsets[k + 1]`: one per instance of its window,
    /// padded to a multiple of [`LANES`], so that loops over them have no remainder.
    offsets: Vec<usize>,
    /// Number of cells. The buffers may be longer: leftovers of an earlier load are not cleared.
    cells: usize,
    delays: Vec<f64>,
    log_densities: Vec<f64>,
    /// p(z_l | t_i) ÷ the largest of these in the window and the background.
    densities: Vec<f64>,
    log_scales: Vec<f64>,
    /// The background ÷ the same, one per loaded stamp.
    backgrounds: Vec<f64>,
}

impl Band {
    /// Places the windows again, keeping buffers.
    ///
    /// On failure names a stamp that has no instance within the support of the density.
    pub(in crate::inference) fn rebuild(
        &mut self,
        stamped: &Stamped<'_>,
        log_drop: LogDrop,
    ) -> Result<(), usize> {
        self.instances = stamped.times.len();
        self.log_drop = log_drop;
        self.order = stamped.order;
        self.whole_blocks = stamped.order == Order::Free;
        // Windows that other threads still share are left to them.
        let mut windows = Arc::try_unwrap(std::mem::take(&mut self.windows)).unwrap_or_default();
        let placed = windows.place(stamped, log_drop);
        if placed.is_ok() && log_drop.floor.is_none() && log_drop.max_count < stamped.stamps.len() {
            windows.make_room(stamped, log_drop);
        }
        self.windows = Arc::new(windows);
        placed
    }

    /// Takes windows that are known to be wide enough, for a session of so many instances.
    pub(in crate::inference) fn take_windows(&mut self, instances: usize, outer: Vec<Window>) {
        self.instances = instances;
        self.whole_blocks = true;
        self.windows = Arc::new(Windows { outer, ..Windows::default() });
    }

    /// Shares the windows of another band, to load its stamps on another thread.
    pub(in crate::inference) fn share_windows(&mut self, other: &Band) {
        self.instances = other.instances;
        self.log_drop = other.log_drop;
        self.order = other.order;
        self.whole_blocks = other.whole_blocks;
        self.needed = other.needed;
        self.windows = Arc::clone(&other.windows);
    }

    /// Loads the densities of consecutive stamps in place of those loaded before.
    pub(in crate::inference) fn load(
        &mut self,
        run: Range<usize>,
        stamped: &Stamped<'_>,
    ) -> Result<(), Trouble> {
        self.fill_delays(run.clone(), stamped);
        make_room(&mut self.log_densities, self.cells);
        if stamped.stamps[run.clone()].iter().all(|stamp| stamp.width == 0.0) {
            let log_densities = &mut self.log_densities[..self.cells];
            stamped.density.log_density(&self.delays[..self.cells], log_densities);
        } else {
            for (stamp, cells) in run.zip(self.offsets.windows(2)) {
                let (delays, out) = (&self.delays[cells[0]..cells[1]], cells[0]..cells[1]);
                stamped.log_densities_of(stamp, delays, &mut self.log_densities[out]);
            }
        }
        self.scale_densities(stamped.log_background)
    }

    /// Makes every block load whole, however long: log space needs that.
    pub(in crate::inference) fn keep_blocks_whole(&mut self) {
        self.whole_blocks = true;
    }

    /// Releases the loaded cells.
    pub(in crate::inference) fn unload(&mut self) {
        let Self { instances, log_drop, order, whole_blocks, needed, .. } = *self;
        let windows = std::mem::take(&mut self.windows);
        *self =
            Self { instances, log_drop, order, whole_blocks, needed, windows, ..Self::default() };
    }

    /// Whether these stamps have too many cells to be loaded whole.
    pub(in crate::inference) fn is_long(&self, run: &Range<usize>) -> bool {
        !self.whole_blocks && self.first_stamps(run.clone(), WHOLE_CELLS).end < run.end
    }

    /// Whole blocks from `run.start` on that are loaded together, at least one.
    pub(in crate::inference) fn blocks_at(&self, run: Range<usize>) -> Range<usize> {
        let mut end = self.block_at(run.start).stamps.end;
        let panel = self.panel(run.clone());
        while end < run.end {
            let next = self.block_at(end).stamps.end;
            if next > panel.end {
                break;
            }
            end = next;
        }
        run.start..end
    }

    /// The panel from `run.start` on, at least one stamp.
    pub(in crate::inference) fn panel(&self, run: Range<usize>) -> Range<usize> {
        self.first_stamps(run, PANEL_CELLS)
    }

    /// The stamps from `run.start` on that have at most so many cells, but at least one stamp.
    fn first_stamps(&self, run: Range<usize>, cells: usize) -> Range<usize> {
        let mut room = cells;
        let mut end = run.start;
        while end < run.end {
            let own = self.windows()[end].len().next_multiple_of(LANES);
            if own > room && end > run.start {
                break;
            }
            room = room.saturating_sub(own);
            end += 1;
        }
        run.start..end
    }

    /// Whether every window contains every instance, so that no drop could widen it.
    pub(in crate::inference) fn is_full(&self) -> bool {
        self.windows().iter().all(|w| w.len() == self.instances)
    }

    /// Which owners are summed over.
    pub(in crate::inference) fn order(&self) -> Order {
        self.order
    }

    /// The drop beyond which windows end.
    pub(in crate::inference) fn log_drop(&self) -> LogDrop {
        self.log_drop
    }

    /// Number of instances.
    pub(in crate::inference) fn instances(&self) -> usize {
        self.instances
    }

    /// The loaded stamps.
    pub(in crate::inference) fn loaded(&self) -> Range<usize> {
        self.first..self.first + self.log_scales.len()
    }

    /// Number of cells of the loaded stamps, with padding.
    pub(in crate::inference) fn cells(&self) -> usize {
        self.cells
    }

    /// One window per stamp.
    pub(in crate::inference) fn windows(&self) -> &[Window] {
        &self.windows.outer
    }

    /// Log density of the likeliest instance outside the window of a stamp, if it crowds or is far from
    /// every instance; else −∞.
    pub(in crate::inference) fn outside(&self, stamp: usize) -> f64 {
        self.windows.outside.get(stamp).copied().unwrap_or(f64::NEG_INFINITY)
    }

    /// The window of a stamp without its ring.
    pub(in crate::inference) fn inner(&self, stamp: usize) -> Window {
        self.windows.inner[stamp]
    }

    /// Range of a loaded stamp's cells.
    pub(in crate::inference) fn cells_of(&self, stamp: usize) -> Range<usize> {
        let start = self.offsets[stamp - self.first];
        start..start + self.windows()[stamp].len()
    }

    /// The same with the padding: a multiple of [`LANES`].
    pub(in crate::inference) fn padded_cells_of(&self, stamp: usize) -> Range<usize> {
        self.offsets[stamp - self.first]..self.offsets[stamp - self.first + 1]
    }

    /// Zeros the padding of the loaded stamps.
    pub(in crate::inference) fn clear_padding(&self, cells: &mut [f64]) {
        for (k, window) in self.windows()[self.first..][..self.offsets.len() - 1].iter().enumerate()
        {
            cells[self.offsets[k] + window.len()..self.offsets[k + 1]].fill(0.0);
        }
    }

    /// Delays z − t, one per cell; the padding repeats the last one.
    pub(in crate::inference) fn delays(&self) -> &[f64] {
        &self.delays[..self.cells]
    }

    /// Densities of all loaded cells, divided by the largest of their stamp; zero in the padding.
    pub(in crate::inference) fn densities(&self) -> &[f64] {
        &self.densities[..self.cells]
    }

    /// Densities of a stamp, divided by their largest.
    pub(in crate::inference) fn density(&self, stamp: usize) -> &[f64] {
        &self.densities[self.cells_of(stamp)]
    }

    /// Log densities of a stamp.
    pub(in crate::inference) fn log_density(&self, stamp: usize) -> &[f64] {
        &self.log_densities[self.cells_of(stamp)]
    }

    /// The background of a stamp, divided like its densities.
    pub(in crate::inference) fn background(&self, stamp: usize) -> f64 {
        self.backgrounds[stamp - self.first]
    }

    /// Log of the largest density of a stamp, or of the background if that is larger.
    pub(in crate::inference) fn log_scale(&self, stamp: usize) -> f64 {
        self.log_scales[stamp - self.first]
    }

    /// The block of stamps that begins at `stamp`.
    pub(in crate::inference) fn block_at(&self, stamp: usize) -> Block {
        let windows = self.windows();
        let mut next = stamp + 1;
        while next < windows.len() && windows[next].first < windows[next - 1].end {
            next += 1;
        }
        Block { instances: windows[stamp].first..windows[next - 1].end, stamps: stamp..next }
    }

    /// Cuts the session into spans of at least `min_instances` instances (the last may be shorter). No
    /// block crosses a span's end, so each span can be solved by itself.
    pub(in crate::inference) fn spans(&self, min_instances: usize) -> Vec<Span> {
        let (instances, stamps) = (self.instances, self.windows().len());
        let mut spans = Vec::new();
        let mut start = Span { instances: 0..0, stamps: 0..0 };
        while start.instances.end < instances {
            let from = start.instances.end;
            let mut end = (from + min_instances).min(instances);
            let mut stamp = start.stamps.end;
            while stamp < stamps && self.windows()[stamp].first < end {
                end = end.max(self.windows()[stamp].end);
                stamp += 1;
            }
            start = Span { instances: from..end, stamps: start.stamps.end..stamp };
            spans.push(start.clone());
        }
        spans
    }

    fn fill_delays(&mut self, run: Range<usize>, stamped: &Stamped<'_>) {
        self.first = run.start;
        self.offsets.clear();
        self.offsets.push(0);
        let mut cells = 0;
        for window in &self.windows.outer[run.clone()] {
            cells += window.len().next_multiple_of(LANES);
            self.offsets.push(cells);
        }
        self.cells = cells;
        make_room(&mut self.delays, cells);
        let delays = &mut self.delays[..cells];
        let stamps = &stamped.stamps[run.clone()];
        let per_unit = 1.0 / stamped.unit;
        let windows = &self.windows.outer[run];
        subtract_times(windows, stamped.times, stamps, per_unit, delays);
    }

    fn scale_densities(&mut self, log_background: f64) -> Result<(), Trouble> {
        make_room(&mut self.densities, self.cells);
        self.log_scales.resize(self.offsets.len() - 1, 0.0);
        let mut densities = std::mem::take(&mut self.densities);
        self.log_scales.fill(log_background);
        divide_by_largest(&self.offsets, &self.log_densities, &mut densities, &mut self.log_scales);
        let scales = self.log_scales.iter();
        self.backgrounds.clear();
        self.backgrounds.extend(scales.map(|scale| (log_background - scale).exp()));
        let is_narrow = self.log_scales.contains(&f64::NEG_INFINITY);
        if !is_narrow {
            exp_in_place(&mut densities[..self.cells]);
            self.clear_padding(&mut densities);
        }
        self.densities = densities;
        if is_narrow { Err(Trouble::Narrow) } else { Ok(()) }
    }
}

/// Fills in (z − t) / unit over the windows, each padded to whole groups.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2+fma"))]
fn subtract_times(
    windows: &[Window],
    times: &[f64],
    stamps: &[Stamp],
    per_unit: f64,
    mut delays: &mut [f64],
) {
    for (window, stamp) in windows.iter().zip(stamps) {
        let (cells, rest) = delays.split_at_mut(window.len().next_multiple_of(LANES));
        delays = rest;
        let (cells, pad) = cells.split_at_mut(window.len());
        for (delay, time) in cells.iter_mut().zip(&times[window.first..window.end]) {
            *delay = (stamp.time - time) * per_unit;
        }
        pad.fill(cells.last().copied().unwrap_or(0.0));
    }
}

/// Subtracts from each stamp's log densities the largest of them and of its scale, and stores that one.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2+fma"))]
fn divide_by_largest(
    offsets: &[usize],
    log_densities: &[f64],
    divided: &mut [f64],
    log_scales: &mut [f64],
) {
    for (cells, scale) in offsets.windows(2).zip(log_scales) {
        let (groups, _) = log_densities[cells[0]..cells[1]].as_chunks::<LANES>();
        let (divided, _) = divided[cells[0]..cells[1]].as_chunks_mut::<LANES>();
        let mut largest = Lanes::all(f64::NEG_INFINITY);
        groups.iter().for_each(|group| largest = largest.max(Lanes(*group)));
        *scale = largest.0.into_iter().fold(*scale, f64::max);
        for (divided, group) in divided.iter_mut().zip(groups) {
            *divided = (Lanes(*group) - Lanes::all(*scale)).0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inference::{DelayDensity, Timeline};

    /// A triangular-looking density: log p = −|d|, cut off beyond `support`.
    struct Tent {
        support: f64,
    }

    impl DelayDensity for Tent {
        fn log_density(&self, delays: &[f64], out: &mut [f64]) {
            for (out, d) in out.iter_mut().zip(delays) {
                *out = if d.abs() <= self.support { -d.abs() } else { f64::NEG_INFINITY };
            }
        }
        fn log_peak(&self) -> f64 {
            0.0
        }
        fn reach(&self, log_drop: f64) -> (f64, f64) {
            let far = log_drop.min(self.support);
            (-far, far)
        }

        fn log_mean_density(&self, _: &[f64], _: f64, _: &mut [f64]) {
            unreachable!("all times are known");
        }
    }

    fn band(times: &[f64], stamps: &[f64], log_drop: f64, support: f64) -> Result<Band, usize> {
        let mut band = Band::default();
        let stamps = &Stamp::at(stamps);
        let density = Tent { support };
        let stamped = Timeline::new(times, stamps, 1.0).with(&density);
        let log_drop =
            LogDrop { paths: log_drop, max_count: 1, chains: true, ..LogDrop::default() };
        band.rebuild(&stamped, log_drop)?;
        band.load(0..stamps.len(), &stamped).unwrap();
        Ok(band)
    }

    #[test]
    fn windows_hold_what_is_within_the_drop() {
        let times: Vec<f64> = (0..20).map(f64::from).collect();
        let band = band(&times, &[5.0, 15.25], 3.0, 1e9).unwrap();
        // Near stamps share a reach of drop + NEAR = 4 around the stamp.
        assert_eq!(band.windows(), [Window { first: 1, end: 10 }, Window { first: 12, end: 20 }]);
        assert_eq!(band.density(0)[4], 1.0);
        assert_eq!(band.log_scale(1), -0.25);
    }

    #[test]
    fn stamps_that_are_pushed_share_the_drop() {
        let times: Vec<f64> = (0..300).map(f64::from).collect();
        let stamps = Stamp::at(&[100.0, 101.0, 101.5, 250.0]);
        let density = Tent { support: 1e9 };
        let stamped = Timeline::new(&times, &stamps, 1.0).with(&density);
        let mut band = Band::default();
        let drop =
            LogDrop { paths: 12.0, odds: 2.0, max_count: 1, chains: true, ..LogDrop::default() };
        band.rebuild(&stamped, drop).unwrap();
        // With a drop of 1 for being near: 15 alone, 9 for two, 7 for three, from the last one that is pushed.
        let windows = [(85, 109), (91, 111), (93, 117), (235, 266)];
        let windows = windows.map(|(first, end)| Window { first, end });
        assert_eq!(band.windows(), windows);
        // Without a bound on the odds, no stamp pushes another.
        band.rebuild(&stamped, LogDrop { chains: false, ..drop }).unwrap();
        assert_eq!(band.windows()[1], Window { first: 86, end: 117 });
    }

    #[test]
    fn a_far_stamp_gets_the_drop_below_its_own_best() {
        let times = [0.0, 1.0, 2.0, 100.0];
        let band = band(&times, &[52.0], 3.0, 1e9).unwrap();
        // Best is 48 away (instance 3); the drop of 3 takes in delays up to 51: instances 1 and 2.
        assert_eq!(band.windows(), [Window { first: 1, end: 4 }]);
        assert_eq!(band.density(0)[2], 1.0);
    }

    #[test]
    fn a_stamp_out_of_the_support_is_named() {
        assert_eq!(band(&[0.0, 1.0], &[0.5, 30.0], 3.0, 10.0).unwrap_err(), 1);
    }

    #[test]
    fn spans_never_cut_a_block() {
        let times: Vec<f64> = (0..100).map(f64::from).collect();
        let stamps = [9.0, 12.0, 50.0, 51.0, 97.0];
        let band = band(&times, &stamps, 2.0, 1e9).unwrap();
        for min in 1..60 {
            let spans = band.spans(min);
            assert_eq!(spans.first().unwrap().instances.start, 0);
            assert_eq!(spans.last().unwrap().instances.end, 100);
            assert_eq!(spans.last().unwrap().stamps.end, 5);
            for pair in spans.windows(2) {
                assert_eq!(pair[0].instances.end, pair[1].instances.start);
                assert_eq!(pair[0].stamps.end, pair[1].stamps.start);
            }
            for span in &spans {
                for window in &band.windows()[span.stamps.clone()] {
                    assert!(span.instances.start <= window.first);
                    assert!(window.end <= span.instances.end);
                }
            }
        }
    }
}
