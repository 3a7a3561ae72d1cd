//! One span of a session: all instances as silent in closed form, then the corrections by its blocks of stamps.
//!
//! An instance in a block is silent with the probability that its stamps leave. Learning needs only e_y =
//! p(some stamp, y | z): the derivative in the log-odds is posterior minus prior,
//!
//! ```text
//! p(1 | z) − p(1) = e_1·p(0) − e_0·p(1) + (1 − e_0 − e_1) · (p(1 | silent) − p(1))
//! ```

use std::ops::Range;

use super::any_counts::AnyCounts;
use super::buffers::{make_room, refill};
use super::count_tables::CountTables;
use super::first_order::FirstOrder;
use super::free::{self, Free};
use super::log_first_order::LogFirstOrder;
use super::log_space::LogSpace;
use super::one_stamp::{Odds, OneStamp};
use super::outputs::{Outputs, Shares, SpanOutputs};
use super::unstamped::{Unstamped, log_silence};
use super::vocabulary::{Block, Order, Span, Stamped, Trouble, deepest};
use super::weights::{InstanceWeights, LogWeights};
use super::windows::{Band, check_edges, check_support};
use crate::math::LANES;

/// Solves spans, keeping its buffers between calls.
#[derive(Debug, Default)]
pub(super) struct SpanSolver {
    unstamped: Unstamped,
    responsibilities: Vec<f64>,
    positive: Vec<f64>,
    /// p(some stamp, y | z) of the span's instances. If an instance gives one stamp at most, the sum of
    /// both labels is in the second until all blocks are done. Padded windows may extend past the end.
    emitted: [Vec<f64>; 2],
    /// The same for such blocks solved in log space, already split by label.
    in_logs: Vec<(Range<usize>, [Vec<f64>; 2])>,
    odds: Vec<f64>,
    largest_odds: f64,
    saved: [Vec<f64>; 2],
    one_stamp: OneStamp,
    first_order: FirstOrder,
    any_counts: AnyCounts,
    log_space: LogSpace,
    log_first_order: LogFirstOrder,
    free: Free,
    /// Weights of a block's instances by label, for free alignment.
    by_label: [Vec<f64>; 2],
}

impl SpanSolver {
    /// Log evidence of the span's stamps. `log_odds` (±∞ for a known label) are those of the span's
    /// instances. Loads parts of the band as it needs them.
    pub(super) fn solve(
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
        let solved = self.solve_into(band, stamped, span, &weights, outputs);
        if held.is_some() {
            // Other threads may be waiting for this memory, so it is released before the next span.
            *self = Self::default();
            band.unload();
        }
        solved
    }

    fn solve_into(
        &mut self,
        band: &mut Band,
        stamped: &Stamped<'_>,
        span: &Span,
        weights: &LogWeights<'_>,
        mut outputs: SpanOutputs<'_>,
    ) -> Result<f64, Trouble> {
        let LogWeights { tables, start, log_odds } = *weights;
        let unbounded = tables.log_odds_range().is_none() && band.log_drop().floor.is_none();
        if unbounded {
            band.load(span.stamps.clone(), stamped)?;
            check_support(band, tables, span, log_odds)?;
        }
        let SpanOutputs { d_log_odds, expected, .. } = &mut outputs;
        let mut log_evidence = self.unstamped.weigh(tables, log_odds, d_log_odds, expected);
        let mut unreached = self.unstamped.forced().len();
        let may_be_cut = !unbounded && outputs.record.is_none() && tables.gives_one_stamp();
        self.begin(tables);
        let mut stamp = span.stamps.start;
        while stamp < span.stamps.end {
            let left = stamp..span.stamps.end;
            let run = if unbounded { left } else { band.blocks_at(left) };
            stamp = run.end;
            let windows = &band.windows()[run.clone()];
            let instances = windows[0].first - start..windows[windows.len() - 1].end - start;
            unreached -= self.unstamped.forced().iter().filter(|i| instances.contains(i)).count();
            log_evidence += if may_be_cut && band.is_long(&run) {
                self.long_block(band, stamped, run, weights, outputs.visit)?
            } else {
                if !unbounded {
                    band.load(run.clone(), stamped)?;
                }
                self.blocks(band, run, weights, &mut outputs)?
            };
        }
        // An instance that must give a stamp but is in no window.
        if unreached > 0 {
            return Err(Trouble::Narrow);
        }
        self.finish(weights, outputs);
        Ok(log_evidence)
    }

    /// Clears the sums that blocks add to.
    fn begin(&mut self, tables: &CountTables) {
        let instances = self.unstamped.len();
        for emitted in &mut self.emitted {
            emitted.clear();
            emitted.resize(instances + LANES, 0.0);
        }
        self.in_logs.clear();
        self.odds.resize(instances, 0.0);
        if tables.gives_one_stamp() {
            self.largest_odds = self.unstamped.odds(tables, &mut self.odds);
        }
        // Zeros for padded windows.
        self.odds.resize(instances + LANES, 0.0);
    }

    /// Corrects the silent solution for instances that have a stamp.
    fn finish(
        &mut self,
        weights: &LogWeights<'_>,
        SpanOutputs { d_log_odds, expected, record, .. }: SpanOutputs<'_>,
    ) {
        let [negatives, positives] =
            self.emitted.each_mut().map(|emitted| &mut emitted[..weights.log_odds.len()]);
        if weights.tables.gives_one_stamp() {
            let totals = self.unstamped.split(weights.tables, negatives, positives);
            expected.0[0][1] += totals[0];
            expected.0[1][1] += totals[1];
            if let Some(record) = record {
                for (row, pair) in record.iter_mut().zip(negatives.iter().zip(&*positives)) {
                    if *pair.0 > 0.0 || *pair.1 > 0.0 {
                        row.push([*pair.0, *pair.1]);
                    }
                }
            }
            for (run, emitted) in &self.in_logs {
                negatives[run.clone()].copy_from_slice(&emitted[0]);
                positives[run.clone()].copy_from_slice(&emitted[1]);
            }
        }
        let emitted = [negatives, positives];
        let silent = self.unstamped.correct(weights.tables, weights.log_odds, emitted, d_log_odds);
        expected.0[0][0] -= silent[0];
        expected.0[1][0] -= silent[1];
    }

    /// Contribution of whole, loaded blocks to the log evidence, beyond silence.
    fn blocks(
        &mut self,
        band: &Band,
        run: Range<usize>,
        weights: &LogWeights<'_>,
        outputs: &mut SpanOutputs<'_>,
    ) -> Result<f64, Trouble> {
        let record = outputs.record.as_deref_mut();
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
            start: weights.start,
            messages: outputs.messages,
        };
        let mut log_evidence = 0.0;
        let mut stamp = run.start;
        while stamp < run.end {
            let block = band.block_at(stamp);
            stamp = block.stamps.end;
            log_evidence += self.block(band, &block, weights, &mut own)?;
        }
        let shares = Shares {
            band,
            delays: band.delays(),
            responsibilities: &responsibilities[..cells],
            positive: &positive,
        };
        (outputs.visit)(shares);
        (self.responsibilities, self.positive) = (responsibilities, positive);
        Ok(log_evidence)
    }

    /// The same for one block that is loaded panel by panel.
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
        if !self.unstamped.holds(run.clone()) {
            return Err(Trouble::Underflow);
        }
        let odds = Odds { start: weights.start, values: &self.odds, largest: self.largest_odds };
        let (shares, emitted) = (&mut self.responsibilities, &mut self.emitted[1][run]);
        self.one_stamp.solve_long(band, stamped, &block, &odds, shares, emitted, visit)
    }

    /// Contribution of one block to the log evidence, beyond silence, and all its other outputs.
    fn block(
        &mut self,
        band: &Band,
        block: &Block,
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
        block: &Block,
        weights: &LogWeights<'_>,
        outputs: &mut Outputs<'_>,
    ) -> Result<f64, Trouble> {
        let run = weights.positions(block);
        let mut own = [vec![0.0; run.len()], vec![0.0; run.len()]];
        let [negatives, positives] = &mut own;
        let emitted = &mut [&mut negatives[..], &mut positives[..]];
        let whole = match weights.tables.ratios() {
            Some(ratios) => {
                self.log_first_order.solve(band, block, weights, ratios, emitted, outputs)?
            }
            None => self.log_space.solve(band, block, weights, emitted, outputs)?,
        };
        if weights.tables.gives_one_stamp() {
            // `emitted` is split by label later; this is split already.
            self.in_logs.push((run.clone(), own));
        } else {
            for (emitted, own) in self.emitted.iter_mut().zip(own) {
                emitted[run.clone()].copy_from_slice(&own);
            }
        }
        let silence = weights.log_odds[run].iter();
        Ok(whole - silence.map(|&f| log_silence(weights.tables, f)).sum::<f64>())
    }

    /// The recursion in the linear domain that fits the tables.
    fn scaled(
        &mut self,
        band: &Band,
        block: &Block,
        weights: &LogWeights<'_>,
        outputs: &mut Outputs<'_>,
    ) -> Result<f64, Trouble> {
        let LogWeights { tables, start, .. } = *weights;
        let run = weights.positions(block);
        if band.order() == Order::Free {
            return self.free_block(band, block, weights, outputs);
        }
        if !self.unstamped.holds(run.clone()) {
            return Err(Trouble::Underflow);
        }
        if tables.gives_one_stamp() {
            let odds = Odds { start, values: &self.odds, largest: self.largest_odds };
            let shares = &mut *outputs.responsibilities;
            let emitted = &mut self.emitted[1][run];
            let log_evidence = self.one_stamp.solve(band, block, &odds, shares, emitted)?;
            self.mark_positive(band, block, weights, outputs);
            return Ok(log_evidence);
        }
        let weights = InstanceWeights { tables, start, unstamped: &self.unstamped };
        let emitted = &mut self.emitted.each_mut().map(|emitted| &mut emitted[run.start..]);
        match tables.ratios() {
            Some(ratios) => self.first_order.solve(band, block, &weights, ratios, emitted, outputs),
            None => self.any_counts.solve(band, block, &weights, emitted, outputs),
        }
    }

    /// Belief propagation over a block, with the tally that fits the tables.
    fn free_block(
        &mut self,
        band: &Band,
        block: &Block,
        weights: &LogWeights<'_>,
        outputs: &mut Outputs<'_>,
    ) -> Result<f64, Trouble> {
        let LogWeights { tables, start, log_odds } = *weights;
        let run = weights.positions(block);
        let held = self.unstamped.log_held(tables, log_odds, run.clone());
        let instances = run.len();
        if tables.gives_one_stamp() {
            let tally = free::OneStamp { odds: &self.odds[run.start..] };
            let settled = self.free.settle(
                band,
                block,
                &tally,
                outputs.responsibilities,
                outputs.messages,
            )?;
            let log_evidence = tally.conclude(&settled, &mut self.emitted[1][run])?;
            self.mark_positive(band, block, weights, outputs);
            return Ok(log_evidence + held);
        }
        let of_instances = InstanceWeights { tables, start, unstamped: &self.unstamped };
        let emitted = &mut self.emitted.each_mut().map(|emitted| &mut emitted[run.clone()]);
        let windows = &band.windows()[block.stamps.clone()];
        let claimants = free::Claimants { band, block };
        if let Some(ratios) = tables.ratios() {
            for (y, silent) in self.by_label.iter_mut().enumerate() {
                refill(silent, instances + LANES, 0.0);
                of_instances.odds(block, y, tables.weight(y, 0), &mut silent[..instances]);
            }
            let silent = self.by_label.each_ref().map(Vec::as_slice);
            let tally = free::FirstOrder { ratios, silent };
            let settled = self.free.settle(
                band,
                block,
                &tally,
                outputs.responsibilities,
                outputs.messages,
            )?;
            return Ok(tally.conclude(&settled, claimants, emitted, outputs)? + held);
        }
        let most = deepest(windows).min(tables.max_count());
        let log_growth = tables.log_growth(most);
        let tally = free::AnyTable::new(instances, most, log_growth, |y, count, column| {
            of_instances.odds(block, y, tables.weight_beside(y, count, log_growth), column);
        });
        let settled =
            self.free.settle(band, block, &tally, outputs.responsibilities, outputs.messages)?;
        Ok(tally.conclude(&settled, claimants, emitted, outputs)? + held)
    }

    /// Fills in p(w(i,l), y_i = 1 | z) of a block with one stamp at most, if requested.
    fn mark_positive(
        &self,
        band: &Band,
        block: &Block,
        weights: &LogWeights<'_>,
        outputs: &mut Outputs<'_>,
    ) {
        let LogWeights { tables, start, .. } = *weights;
        let weights = InstanceWeights { tables, start, unstamped: &self.unstamped };
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
