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
use super::column::make_room;
use super::edges::{check_edges, check_support};
use super::first_order::FirstOrder;
use super::log_space::LogSpace;
use super::one_stamp::{Odds, OneStamp};
use super::silence::{Silence, log_silence};
use super::table::Table;
use super::tables::CountTables;
use crate::math::LANES;

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
        let mut zeros = Self::default();
        zeros.clear(tables);
        zeros
    }

    /// All zero again, for these tables.
    pub fn clear(&mut self, tables: &CountTables) {
        let len = if tables.ratios().is_some() { 2 } else { tables.max_count() + 1 };
        for expected in &mut self.0 {
            expected.clear();
            expected.resize(len, 0.0);
        }
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

impl LogWeights<'_> {
    /// Where the instances of a block lie in the span.
    fn positions(&self, block: &Span) -> Range<usize> {
        block.instances.start - self.start..block.instances.end - self.start
    }
}

/// The same in the linear domain.
#[derive(Debug)]
pub(super) struct InstanceWeights<'a> {
    pub(super) tables: &'a CountTables,
    start: usize,
    silence: &'a Silence,
}

impl InstanceWeights<'_> {
    /// Fills in p(y | f_i)·weight/u_i(0) of a block's instances.
    pub(super) fn odds(&self, block: &Span, label: usize, weight: f64, out: &mut [f64]) {
        let run = block.instances.start - self.start..block.instances.end - self.start;
        self.silence.weigh_label(label, weight, run, out);
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
    /// p(some stamp, y | z) of the span's instances. Where an instance gives one stamp at most, the sum of
    /// both is in the second until all blocks are done. Padded windows may reach past the end.
    emitted: [Vec<f64>; 2],
    /// The same, by label already, of such blocks that were done in log space.
    in_logs: Vec<(Range<usize>, [Vec<f64>; 2])>,
    odds: Vec<f64>,
    largest_odds: f64,
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
        let held = band.hold_span(span, tables);
        let solved = self.solve_into(band, stamped, span, &weights, outputs, None);
        if held.is_some() {
            // Others may be waiting for it, so that it is not kept for the next span.
            *self = Self::default();
            band.unload();
        }
        solved
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
        let may_be_cut = !whole && gives_one_stamp(tables);
        self.begin(tables);
        let mut stamp = span.stamps.start;
        while stamp < span.stamps.end {
            let run =
                if whole { span.stamps.clone() } else { band.blocks_at(stamp..span.stamps.end) };
            stamp = run.end;
            let windows = &band.windows()[run.clone()];
            let instances = windows[0].first - start..windows[windows.len() - 1].end - start;
            unreached -= self.silence.forced().iter().filter(|i| instances.contains(i)).count();
            log_evidence += if may_be_cut && band.is_long(&run) {
                self.long_block(band, stamped, run, weights, outputs.visit)?
            } else {
                if !unbounded {
                    band.load(run.clone(), stamped)?;
                }
                self.blocks(band, run, weights, &mut outputs, record.as_deref_mut())?
            };
        }
        // An instance that must give a stamp, and that no window reaches.
        if unreached > 0 {
            return Err(Trouble::Narrow);
        }
        self.finish(weights, outputs.d_log_odds, outputs.expected, record);
        Ok(log_evidence)
    }

    /// Clears what blocks add to.
    fn begin(&mut self, tables: &CountTables) {
        let instances = self.silence.len();
        for emitted in &mut self.emitted {
            emitted.clear();
            emitted.resize(instances + LANES, 0.0);
        }
        self.in_logs.clear();
        self.odds.resize(instances, 0.0);
        if gives_one_stamp(tables) {
            self.largest_odds = self.silence.odds(tables, &mut self.odds);
        }
        // Zeros for padded windows to reach into.
        self.odds.resize(instances + LANES, 0.0);
    }

    /// Takes back what silence claimed for instances that have a stamp.
    fn finish(
        &mut self,
        weights: &LogWeights<'_>,
        d_log_odds: &mut [f64],
        expected: &mut Expected,
        record: Option<&mut Record>,
    ) {
        let [negatives, positives] =
            self.emitted.each_mut().map(|emitted| &mut emitted[..weights.log_odds.len()]);
        if gives_one_stamp(weights.tables) {
            let totals = self.silence.split(weights.tables, negatives, positives);
            expected.0[0][1] += totals[0];
            expected.0[1][1] += totals[1];
            if let Some(record) = record {
                for (i, pair) in (weights.start..).zip(negatives.iter().zip(positives.iter())) {
                    if *pair.0 > 0.0 || *pair.1 > 0.0 {
                        record[i].push([*pair.0, *pair.1]);
                    }
                }
            }
            for (run, emitted) in &self.in_logs {
                negatives[run.clone()].copy_from_slice(&emitted[0]);
                positives[run.clone()].copy_from_slice(&emitted[1]);
            }
        }
        let emitted = [negatives, positives];
        let silent = self.silence.correct(weights.tables, weights.log_odds, emitted, d_log_odds);
        expected.0[0][0] -= silent[0];
        expected.0[1][0] -= silent[1];
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
        let cells = band.cells();
        make_room(&mut responsibilities, cells);
        band.clear_padding(&mut responsibilities);
        if record.is_some() {
            make_room(&mut positive, cells);
        }
        let mut own = Outputs {
            responsibilities: &mut responsibilities[..cells],
            positive: record.is_some().then(|| &mut positive[..cells]),
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
        let shares =
            Shares { band, responsibilities: &responsibilities[..cells], positive: &positive };
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
        visit: &mut dyn FnMut(Shares<'_>),
    ) -> Result<f64, Trouble> {
        let block = band.block_at(stamps.start);
        let run = weights.positions(&block);
        if !self.silence.holds(run.clone()) {
            return Err(Trouble::Underflow);
        }
        let odds = Odds { start: weights.start, values: &self.odds, largest: self.largest_odds };
        let (shares, emitted) = (&mut self.responsibilities, &mut self.emitted[1][run]);
        self.one_stamp.solve_long(band, stamped, &block, &odds, shares, emitted, visit)
    }

    /// What a block adds to the log evidence of silence, with all that it changes.
    fn block(
        &mut self,
        band: &Band,
        block: &Span,
        weights: &LogWeights<'_>,
        outputs: &mut Outputs<'_>,
    ) -> Result<f64, Trouble> {
        outputs.save(block, &mut self.saved);
        let log_evidence = match self.scaled(band, block, weights, outputs) {
            Err(Trouble::Underflow) => {
                outputs.restore(block, &self.saved);
                self.in_logs(band, block, weights, outputs)?
            }
            other => other?,
        };
        check_edges(band, block.stamps.clone(), outputs.responsibilities)?;
        Ok(log_evidence)
    }

    /// The recursion in log space.
    fn in_logs(
        &mut self,
        band: &Band,
        block: &Span,
        weights: &LogWeights<'_>,
        outputs: &mut Outputs<'_>,
    ) -> Result<f64, Trouble> {
        let run = weights.positions(block);
        let mut own = [vec![0.0; run.len()], vec![0.0; run.len()]];
        let [negatives, positives] = &mut own;
        let whole =
            self.log_space.solve(band, block, weights, &mut [negatives, positives], outputs)?;
        if gives_one_stamp(weights.tables) {
            // What is in `emitted` is split by label later on, and this is split already.
            self.in_logs.push((run.clone(), own));
        } else {
            for (emitted, own) in self.emitted.iter_mut().zip(own) {
                emitted[run.clone()].copy_from_slice(&own);
            }
        }
        let silence = weights.log_odds[run].iter();
        Ok(whole - silence.map(|&f| log_silence(weights.tables, f)).sum::<f64>())
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
        let run = weights.positions(block);
        if !self.silence.holds(run.clone()) {
            return Err(Trouble::Underflow);
        }
        if gives_one_stamp(tables) {
            let odds = Odds { start, values: &self.odds, largest: self.largest_odds };
            let shares = &mut *outputs.responsibilities;
            let emitted = &mut self.emitted[1][run];
            let log_evidence = self.one_stamp.solve(band, block, &odds, shares, emitted)?;
            self.mark_positive(band, block, weights, outputs);
            return Ok(log_evidence);
        }
        let weights = InstanceWeights { tables, start, silence: &self.silence };
        let emitted = &mut self.emitted.each_mut().map(|emitted| &mut emitted[run.start..]);
        match tables.ratios() {
            Some(ratios) => self.first_order.solve(band, block, &weights, ratios, emitted, outputs),
            None => self.table.solve(band, block, &weights, emitted, outputs),
        }
    }

    /// Fills in p(w(i,l), y_i = 1 | z) of a block with one stamp at most, where that is asked for.
    fn mark_positive(
        &self,
        band: &Band,
        block: &Span,
        weights: &LogWeights<'_>,
        outputs: &mut Outputs<'_>,
    ) {
        let LogWeights { tables, start, .. } = *weights;
        let weights = InstanceWeights { tables, start, silence: &self.silence };
        let Some(positive) = outputs.positive.as_deref_mut() else { return };
        for stamp in block.stamps.clone() {
            let instances = band.windows()[stamp].first..;
            for (cell, i) in band.cells_of(stamp).zip(instances) {
                let share = outputs.responsibilities[cell];
                positive[cell] = if share > 0.0 {
                    share * weights.joint(i, 1, 1) / weights.mixed(i, 1)
                } else {
                    0.0
                };
            }
        }
    }
}

/// Whether an instance gives one stamp at most, and there are stamps to give.
pub(super) fn gives_one_stamp(tables: &CountTables) -> bool {
    tables.max_count() == 1 && tables.ratios().is_none()
}
