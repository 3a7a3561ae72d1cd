//! Outputs of the solvers.

use std::ops::Range;

use super::expected::Expected;
use super::free::Messages;
use super::vocabulary::Block;
use super::windows::Band;

/// Per instance of a span, p(o_i = c, y | z) for c = 1, 2, …
pub(super) type Record = Vec<Vec<[f64; 2]>>;

/// Outputs for a span's solution, besides its value.
pub(super) struct SpanOutputs<'a> {
    /// p(1 | z) − p(1), one per instance of the span; overwritten.
    pub(super) d_log_odds: &'a mut [f64],
    /// Added to.
    pub(super) expected: &'a mut Expected,
    /// If requested: cleared, one per instance of the span.
    pub(super) record: Option<&'a mut Record>,
    /// Called with the responsibilities of some stamps at a time.
    pub(super) visit: &'a mut dyn FnMut(Shares<'_>),
    /// Messages of the last evaluation, if they are kept.
    pub(super) messages: Option<&'a Messages>,
}

impl std::fmt::Debug for SpanOutputs<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("SpanOutputs");
        shown.field("d_log_odds", &self.d_log_odds).field("expected", &self.expected);
        shown.finish_non_exhaustive()
    }
}

/// Responsibilities of the stamps that a band has loaded.
#[derive(Debug, Clone, Copy)]
pub struct Shares<'a> {
    pub(super) band: &'a Band,
    /// z − t, in units, one per cell.
    pub delays: &'a [f64],
    /// p(w(i,l) | z), one per cell; zero in the padding.
    pub responsibilities: &'a [f64],
    /// p(w(i,l), y_i = 1 | z), if requested.
    pub(super) positive: &'a [f64],
}

impl Shares<'_> {
    /// Number of stamps.
    pub fn stamps(&self) -> usize {
        self.band.loaded().len()
    }

    /// Each stamp with its cells.
    pub fn cells(&self) -> impl Iterator<Item = (usize, Range<usize>)> + '_ {
        self.band.loaded().map(|stamp| (stamp, self.band.cells_of(stamp)))
    }
}

/// Outputs for the blocks of a loaded band.
#[derive(Debug)]
pub(super) struct Outputs<'a> {
    /// p(w(i,l) | z), all loaded cells of the band.
    pub(super) responsibilities: &'a mut [f64],
    /// p(w(i,l), y_i = 1 | z), if requested.
    pub(super) positive: Option<&'a mut [f64]>,
    pub(super) expected: &'a mut Expected,
    /// If requested.
    pub(super) record: Option<&'a mut Record>,
    /// First instance of the span.
    pub(super) start: usize,
    /// Messages of the last evaluation, if they are kept.
    pub(super) messages: Option<&'a Messages>,
}

impl Outputs<'_> {
    /// Records p(o_i = count, y | z) if requested.
    pub(super) fn record(&mut self, instance: usize, count: usize, label: usize, mass: f64) {
        if let Some(record) = self.record.as_deref_mut() {
            let counts = &mut record[instance - self.start];
            counts.resize(counts.len().max(count), [0.0; 2]);
            counts[count - 1][label] += mass;
        }
    }

    /// Adds p(w(instance, stamp), y | z), for both labels.
    pub(super) fn add_share(
        &mut self,
        band: &Band,
        stamp: usize,
        instance: usize,
        masses: [f64; 2],
    ) {
        let window = band.windows()[stamp];
        if !(window.first..window.end).contains(&instance) {
            return;
        }
        let cell = band.cells_of(stamp).start + instance - window.first;
        self.responsibilities[cell] += masses[0] + masses[1];
        if let Some(positive) = self.positive.as_deref_mut() {
            positive[cell] += masses[1];
        }
    }

    /// Zeros the shares of a block before additions.
    pub(super) fn clear_shares(&mut self, band: &Band, block: &Block) {
        for stamp in block.stamps.clone() {
            self.responsibilities[band.cells_of(stamp)].fill(0.0);
            if let Some(positive) = self.positive.as_deref_mut() {
                positive[band.cells_of(stamp)].fill(0.0);
            }
        }
    }

    /// Saves the expected counts that a block can change, in case it must be redone.
    pub(super) fn save(&self, block: &Block, saved: &mut [Vec<f64>; 2]) {
        for (saved, expected) in saved.iter_mut().zip(&self.expected.0) {
            saved.clear();
            saved.extend(expected.iter().take(block.stamps.len() + 1));
        }
    }

    /// Restores the expected counts from before a block.
    pub(super) fn restore(&mut self, block: &Block, saved: &[Vec<f64>; 2]) {
        for (saved, expected) in saved.iter().zip(&mut self.expected.0) {
            expected[..saved.len()].copy_from_slice(saved);
        }
        if let Some(record) = self.record.as_deref_mut() {
            let instances = block.instances.start - self.start..block.instances.end - self.start;
            record[instances].iter_mut().for_each(Vec::clear);
        }
    }
}
