//! One span of a session: everything silent in closed form, then what its blocks of stamps change.
//!
//! An instance in a block is silent with what probability its stamps leave. Everything learning
//! needs comes out of e_y = p(some stamp, y | z): the derivative in the log-odds is posterior
//! minus prior,
//!
//! ```text
//! p(1 | z) − p(1) = e_1·p(0) − e_0·p(1) + (1 − e_0 − e_1) · (p(1 | silent) − p(1))
//! ```

use std::ops::Range;

use super::Stamped;
use super::band::{Band, Span};
use super::edges::{check_edges, check_support};
use super::first_order::FirstOrder;
use super::log_space::LogSpace;
use super::one_stamp::OneStamp;
use super::silence::{Silence, log_silence};
use super::table::Table;
use super::tables::CountTables;

/// Why a span could not be solved as asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// A quantity left the range of f64; handled inside by log space.
    Underflow,
    /// The windows are too narrow: no path through them, or weight at their edges.
    Narrow,
}

/// Σ_i p(o_i = c, y_i = y | z), the sufficient statistic of the count parameters. For a first-order
/// model only the total and `Σ c·expected[c]` are meant: the table has two entries that carry them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Expected(pub [Vec<f64>; 2]);

impl Expected {
    /// All zero, for these tables.
    pub fn zeros(tables: &CountTables) -> Self {
        let len = if tables.ratios().is_some() { 2 } else { tables.max_count() + 1 };
        Self([vec![0.0; len], vec![0.0; len]])
    }

    /// Adds another session's counts; the tables may differ in length.
    pub fn add(&mut self, other: &Expected) {
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            if mine.len() < theirs.len() {
                mine.resize(theirs.len(), 0.0);
            }
            mine.iter_mut().zip(theirs).for_each(|(a, b)| *a += b);
        }
    }
}

/// Per instance of the session, p(o_i = c, y | z) for c = 1, 2, …
pub(super) type Record = Vec<Vec<[f64; 2]>>;

/// Log-odds of the instances of a span, with the tables that they mix.
#[derive(Debug, Clone, Copy)]
pub(super) struct LogWeights<'a> {
    pub(super) tables: &'a CountTables,
    /// First instance of the span.
    pub(super) start: usize,
    /// One per instance of the span.
    pub(super) log_odds: &'a [f64],
}

/// The same in the linear domain.
#[derive(Debug)]
pub(super) struct InstanceWeights<'a> {
    pub(super) tables: &'a CountTables,
    start: usize,
    silence: &'a Silence,
}

impl InstanceWeights<'_> {
    /// 1/u_i(0).
    pub(super) fn inverse_silent(&self, instance: usize) -> f64 {
        self.silence.inverse(instance - self.start)
    }

    /// Fills in r_i = u_i(1)/u_i(0).
    pub(super) fn fill_odds(&self, instances: Range<usize>, odds: &mut Vec<f64>) {
        odds.resize(instances.len(), 0.0);
        self.silence.odds(instances.start - self.start, self.tables, odds);
    }

    /// Splits p(one stamp | z) of a run of instances, in `positives`, by label; returns the sums.
    pub(super) fn split_one(
        &self,
        instances: Range<usize>,
        negatives: &mut [f64],
        positives: &mut [f64],
    ) -> [f64; 2] {
        self.silence.split(instances.start - self.start, self.tables, negatives, positives)
    }

    /// u_i(c).
    pub(super) fn mixed(&self, instance: usize, count: usize) -> f64 {
        self.joint(instance, 0, count) + self.joint(instance, 1, count)
    }

    /// p(y | f_i)·c!·p(c | y).
    pub(super) fn joint(&self, instance: usize, label: usize, count: usize) -> f64 {
        self.silence.label(instance - self.start, label) * self.tables.weight(label, count)
    }
}

/// What a span's solution is written to, besides its value.
pub struct SpanOutputs<'a> {
    /// p(1 | z) − p(1), one per instance of the span; overwritten.
    pub d_log_odds: &'a mut [f64],
    /// Added to.
    pub expected: &'a mut Expected,
    /// Called with the stamps' responsibilities, some stamps at a time.
    pub visit: &'a mut dyn FnMut(Shares<'_>),
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
    /// The band.
    pub band: &'a Band,
    /// p(w(i,l) | z), one per cell; zero in what pads.
    pub responsibilities: &'a [f64],
    /// p(w(i,l), y_i = 1 | z), where asked for.
    pub(super) positive: &'a [f64],
}

/// What the blocks of a loaded band write to.
#[derive(Debug)]
pub(super) struct Outputs<'a> {
    /// p(w(i,l) | z), all loaded cells of the band.
    pub(super) responsibilities: &'a mut [f64],
    /// p(w(i,l), y_i = 1 | z), where asked for.
    pub(super) positive: Option<&'a mut [f64]>,
    /// p(1 | z) − p(1), one per instance of the span.
    pub(super) d_log_odds: &'a mut [f64],
    pub(super) expected: &'a mut Expected,
    /// Where asked for.
    pub(super) record: Option<&'a mut Record>,
}

impl Outputs<'_> {
    /// Notes p(o_i = count, y | z) where that is asked for.
    pub(super) fn record(&mut self, instance: usize, count: usize, label: usize, mass: f64) {
        if let Some(record) = self.record.as_deref_mut() {
            let counts = &mut record[instance];
            counts.resize(counts.len().max(count), [0.0; 2]);
            counts[count - 1][label] += mass;
        }
    }

    /// Keeps the expected counts that a block can change, in case it has to be redone.
    fn save(&self, block: &Span, saved: &mut [Vec<f64>; 2]) {
        for (saved, expected) in saved.iter_mut().zip(&self.expected.0) {
            saved.clear();
            saved.extend(expected.iter().take(block.stamps.len() + 1));
        }
    }

    /// Undoes what was added for a block.
    fn restore(&mut self, block: &Span, saved: &[Vec<f64>; 2]) {
        for (saved, expected) in saved.iter().zip(&mut self.expected.0) {
            expected[..saved.len()].copy_from_slice(saved);
        }
        if let Some(record) = self.record.as_deref_mut() {
            record[block.instances.clone()].iter_mut().for_each(Vec::clear);
        }
    }
}

/// Solves spans, keeping its buffers between calls.
#[derive(Debug, Default)]
pub struct SpanSolver {
    silence: Silence,
    responsibilities: Vec<f64>,
    positive: Vec<f64>,
    emitted: [Vec<f64>; 2],
    saved: [Vec<f64>; 2],
    one_stamp: OneStamp,
    first_order: FirstOrder,
    table: Table,
    log_space: LogSpace,
}

impl SpanSolver {
    /// Log evidence of the span's stamps. `log_odds` (±∞ for a known label) run over the span's
    /// instances. Loads of the band what it needs, when it needs it.
    pub fn solve(
        &mut self,
        band: &mut Band,
        stamped: &Stamped<'_>,
        tables: &CountTables,
        span: &Span,
        log_odds: &[f64],
        outputs: SpanOutputs<'_>,
    ) -> Result<f64, Trouble> {
        let weights = LogWeights { tables, start: span.instances.start, log_odds };
        self.solve_into(band, stamped, span, &weights, outputs, None)
    }

    pub(super) fn solve_into(
        &mut self,
        band: &mut Band,
        stamped: &Stamped<'_>,
        span: &Span,
        weights: &LogWeights<'_>,
        mut outputs: SpanOutputs<'_>,
        mut record: Option<&mut Record>,
    ) -> Result<f64, Trouble> {
        let LogWeights { tables, start, log_odds } = *weights;
        let unbounded = tables.log_odds_range().is_none();
        if unbounded {
            band.load(span.stamps.clone(), stamped)?;
            check_support(band, tables, span, log_odds)?;
        }
        let SpanOutputs { d_log_odds, expected, .. } = &mut outputs;
        let mut log_evidence = self.silence.weigh(tables, log_odds, d_log_odds, expected);
        let mut unreached = self.silence.forced().len();
        let whole = unbounded || record.is_some();
        let may_be_cut = !whole && tables.max_count() <= 1 && tables.ratios().is_none();
        let mut stamp = span.stamps.start;
        while stamp < span.stamps.end {
            let run = if whole {
                span.stamps.clone()
            } else {
                band.blocks_at(stamp..span.stamps.end)
            };
            stamp = run.end;
            let windows = &band.windows()[run.clone()];
            let instances = windows[0].first - start..windows[windows.len() - 1].end - start;
            unreached -= self.silence.forced().iter().filter(|i| instances.contains(i)).count();
            log_evidence += if may_be_cut && band.is_long(&run) {
                self.long_block(band, stamped, run, weights, &mut outputs)?
            } else {
                band.load(run.clone(), stamped)?;
                self.blocks(band, run, weights, &mut outputs, record.as_deref_mut())?
            };
        }
        // An instance that must give a stamp, and that no window reaches.
        if unreached > 0 { Err(Trouble::Narrow) } else { Ok(log_evidence) }
    }

    /// What whole blocks, loaded, add to the log evidence of silence.
    fn blocks(
        &mut self,
        band: &Band,
        run: Range<usize>,
        weights: &LogWeights<'_>,
        outputs: &mut SpanOutputs<'_>,
        record: Option<&mut Record>,
    ) -> Result<f64, Trouble> {
        let mut responsibilities = std::mem::take(&mut self.responsibilities);
        let mut positive = std::mem::take(&mut self.positive);
        responsibilities.resize(band.cells(), 0.0);
        band.clear_padding(&mut responsibilities);
        if record.is_some() {
            positive.resize(band.cells(), 0.0);
        }
        let mut own = Outputs {
            responsibilities: &mut responsibilities,
            positive: record.is_some().then_some(&mut positive[..]),
            d_log_odds: outputs.d_log_odds,
            expected: outputs.expected,
            record,
        };
        let mut log_evidence = 0.0;
        let mut stamp = run.start;
        while stamp < run.end {
            let block = band.block_at(stamp);
            stamp = block.stamps.end;
            log_evidence += self.block(band, &block, weights, &mut own)?;
        }
        let shares = Shares { band, responsibilities: &responsibilities, positive: &positive };
        (outputs.visit)(shares);
        (self.responsibilities, self.positive) = (responsibilities, positive);
        Ok(log_evidence)
    }

    /// The same of one block that is loaded panel by panel.
    fn long_block(
        &mut self,
        band: &mut Band,
        stamped: &Stamped<'_>,
        stamps: Range<usize>,
        weights: &LogWeights<'_>,
        outputs: &mut SpanOutputs<'_>,
    ) -> Result<f64, Trouble> {
        let block = band.block_at(stamps.start);
        let LogWeights { tables, start, .. } = *weights;
        if !self.silence.holds(block.instances.start - start..block.instances.end - start) {
            return Err(Trouble::Underflow);
        }
        self.clear_emitted(&block);
        let own = InstanceWeights { tables, start, silence: &self.silence };
        let emitted = &mut self.emitted;
        let log_evidence =
            self.one_stamp.solve_long(band, stamped, &block, &own, emitted, outputs)?;
        self.correct(&block, weights, outputs.d_log_odds, outputs.expected);
        Ok(log_evidence)
    }

    fn clear_emitted(&mut self, block: &Span) {
        for emitted in &mut self.emitted {
            emitted.clear();
            emitted.resize(block.instances.len(), 0.0);
        }
    }

    /// What a block adds to the log evidence of silence, with all that it changes.
    fn block(
        &mut self,
        band: &Band,
        block: &Span,
        weights: &LogWeights<'_>,
        outputs: &mut Outputs<'_>,
    ) -> Result<f64, Trouble> {
        self.clear_emitted(block);
        outputs.save(block, &mut self.saved);
        let log_evidence = match self.scaled(band, block, weights, outputs) {
            Err(Trouble::Underflow) => {
                outputs.restore(block, &self.saved);
                self.emitted.iter_mut().for_each(|e| e.fill(0.0));
                let whole =
                    self.log_space.solve(band, block, weights, &mut self.emitted, outputs)?;
                let run =
                    block.instances.start - weights.start..block.instances.end - weights.start;
                let silence = weights.log_odds[run].iter();
                whole - silence.map(|&f| log_silence(weights.tables, f)).sum::<f64>()
            }
            other => other?,
        };
        self.correct(block, weights, outputs.d_log_odds, outputs.expected);
        check_edges(band, block.stamps.clone(), outputs.responsibilities)?;
        Ok(log_evidence)
    }

    /// The recursion that suits the tables, in the linear domain.
    fn scaled(
        &mut self,
        band: &Band,
        block: &Span,
        weights: &LogWeights<'_>,
        outputs: &mut Outputs<'_>,
    ) -> Result<f64, Trouble> {
        let LogWeights { tables, start, .. } = *weights;
        if !self.silence.holds(block.instances.start - start..block.instances.end - start) {
            return Err(Trouble::Underflow);
        }
        let weights = InstanceWeights { tables, start, silence: &self.silence };
        let emitted = &mut self.emitted;
        if let Some(ratios) = tables.ratios() {
            self.first_order.solve(band, block, &weights, ratios, emitted, outputs)
        } else if tables.max_count() <= 1 {
            self.one_stamp.solve(band, block, &weights, emitted, outputs)
        } else {
            self.table.solve(band, block, &weights, emitted, outputs)
        }
    }

    /// Takes back what silence claimed for the instances of a block.
    fn correct(
        &self,
        block: &Span,
        weights: &LogWeights<'_>,
        d_log_odds: &mut [f64],
        expected: &mut Expected,
    ) {
        let LogWeights { tables, start, log_odds } = *weights;
        let run = block.instances.start - start..block.instances.end - start;
        let emitted = self.emitted.each_ref().map(Vec::as_slice);
        let d_log_odds = &mut d_log_odds[run.clone()];
        let log_odds = &log_odds[run.clone()];
        let silent = self.silence.correct(run.start, tables, log_odds, emitted, d_log_odds);
        expected.0[0][0] -= silent[0];
        expected.0[1][0] -= silent[1];
    }
}
