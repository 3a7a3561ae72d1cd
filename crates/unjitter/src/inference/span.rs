//! One span of a session: everything silent in closed form, then what its blocks of stamps change.
//!
//! An instance in a block is silent with what probability its stamps leave. Everything learning
//! needs comes out of e_y = p(some stamp, y | z): the derivative in the log-odds is posterior
//! minus prior,
//!
//! ```text
//! p(1 | z) − p(1) = e_1·p(0) − e_0·p(1) + (1 − e_0 − e_1) · (p(1 | silent) − p(1))
//! ```

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
    /// u_i(0).
    pub(super) fn silent(&self, instance: usize) -> f64 {
        self.silence.weight(instance - self.start)
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
    emitted: [Vec<f64>; 2],
    saved: [Vec<f64>; 2],
    one_stamp: OneStamp,
    first_order: FirstOrder,
    table: Table,
    log_space: LogSpace,
}

impl SpanSolver {
    /// Log evidence of the span's stamps. `log_odds` (±∞ for a known label) and `d_log_odds` run
    /// over the span's instances and `responsibilities` over the loaded cells of the band, which hold
    /// the span's stamps; the latter two are overwritten, `expected` is added to.
    #[expect(
        clippy::too_many_arguments,
        reason = "three inputs of the session, one of the span, three outputs"
    )]
    pub fn solve(
        &mut self,
        band: &Band,
        tables: &CountTables,
        span: &Span,
        log_odds: &[f64],
        responsibilities: &mut [f64],
        d_log_odds: &mut [f64],
        expected: &mut Expected,
    ) -> Result<f64, Trouble> {
        let outputs =
            Outputs { responsibilities, positive: None, d_log_odds, expected, record: None };
        self.solve_into(band, tables, span, log_odds, outputs)
    }

    pub(super) fn solve_into(
        &mut self,
        band: &Band,
        tables: &CountTables,
        span: &Span,
        log_odds: &[f64],
        mut outputs: Outputs<'_>,
    ) -> Result<f64, Trouble> {
        if tables.log_odds_range().is_none() {
            check_support(band, tables, span, log_odds)?;
        }
        let mut log_evidence =
            self.silence.weigh(tables, log_odds, outputs.d_log_odds, outputs.expected);
        let weights = LogWeights { tables, start: span.instances.start, log_odds };
        let mut in_blocks = 0;
        let mut stamp = span.stamps.start;
        while stamp < span.stamps.end {
            let block = band.block_at(stamp);
            stamp = block.stamps.end;
            log_evidence += self.block(band, &block, &weights, &mut outputs)?;
            let run = block.instances.start - weights.start..block.instances.end - weights.start;
            in_blocks += self.silence.forced().iter().filter(|i| run.contains(i)).count();
        }
        // An instance that must give a stamp, and that no window reaches.
        if in_blocks < self.silence.forced().len() {
            return Err(Trouble::Narrow);
        }
        Ok(log_evidence)
    }

    /// What a block adds to the log evidence of silence, with all that it changes.
    fn block(
        &mut self,
        band: &Band,
        block: &Span,
        weights: &LogWeights<'_>,
        outputs: &mut Outputs<'_>,
    ) -> Result<f64, Trouble> {
        for emitted in &mut self.emitted {
            emitted.clear();
            emitted.resize(block.instances.len(), 0.0);
        }
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
        self.correct(block, weights, outputs);
        check_edges(band, block, outputs.responsibilities)?;
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
    fn correct(&self, block: &Span, weights: &LogWeights<'_>, outputs: &mut Outputs<'_>) {
        let first = block.instances.start - weights.start;
        let [negatives, positives] = &self.emitted;
        for (i, (e0, e1)) in (first..).zip(negatives.iter().zip(positives)) {
            let emitted = e0 + e1;
            let shares = self.silence.shares(weights.tables, i, weights.log_odds[i]);
            outputs.expected.0[0][0] -= emitted * shares[0];
            outputs.expected.0[1][0] -= emitted * shares[1];
            let d = &mut outputs.d_log_odds[i];
            *d = e1 * self.silence.label(i, 0) - e0 * self.silence.label(i, 1)
                + (1.0 - emitted) * *d;
        }
    }
}
