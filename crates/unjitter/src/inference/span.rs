//! One span of a session: quiet stretches in closed form, blocks by recursion.
//!
//! A silent instance has u(0) = Σ_y p(y)·p(0 | y) and, by Bayes, p(y | silent) = p(y)·p(0 | y)/u(0).
//! An instance in a block is silent with what probability its stamps leave. Everything learning
//! needs comes out of these: the derivative in the log-odds is posterior minus prior,
//!
//! ```text
//! p(1 | z) − p(1) = e_1·p_0 − e_0·p_1 + (1 − e_0 − e_1) · p_0·p_1·(T_1(0) − T_0(0)) / u(0)
//! ```
//!
//! with e_y = p(some stamp, y | z), which loses no digits when p saturates.

use std::ops::Range;

use super::band::{Band, Span, Window};
use super::first_order::FirstOrder;
use super::log_space::LogSpace;
use super::one_stamp::OneStamp;
use super::table::Table;
use super::tables::CountTables;
use super::widen::LOG_DROP;

/// Why a span could not be solved as asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// A quantity left the range of f64; handled inside by log space.
    Underflow,
    /// The windows are too narrow: no path through them, or weight at their edges.
    Narrow,
}

/// Σ_i p(o_i = c, y_i = y | z), the sufficient statistic of the count parameters. For a first-order
/// model only the total and Σ c·expected[c] are meant: the table has two entries that carry them.
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

/// Below this, a linear weight may have lost digits to underflow.
const TINY: f64 = 1e-290;

/// Largest share of a stamp's responsibility that may lie within `RING` of the edge of its window.
/// Since densities there are smaller by e^RING than where the window would have ended without the
/// ring, the evidence no longer changes when less than this lies in it.
const RING_MASS: f64 = 1e-11;

/// Width of the ring, in log density: a factor of 10⁴.
pub(super) const RING: f64 = 9.2;

/// What a solver writes for the cells of a band.
#[derive(Debug)]
pub(super) struct Cells<'a> {
    /// p(w(i,l) | z), all cells of the session.
    pub(super) responsibilities: &'a mut [f64],
    /// p(w(i,l), y_i = 1 | z), where asked for.
    pub(super) positive: Option<&'a mut [f64]>,
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

/// Labels and silent weights of the instances of a span.
#[derive(Debug)]
pub(super) struct InstanceWeights<'a> {
    pub(super) tables: &'a CountTables,
    start: usize,
    p: [&'a [f64]; 2],
    silent: &'a [f64],
}

impl InstanceWeights<'_> {
    /// p(y | f_i).
    pub(super) fn label(&self, instance: usize, label: usize) -> f64 {
        self.p[label][instance - self.start]
    }

    /// u_i(0).
    pub(super) fn silent(&self, instance: usize) -> f64 {
        self.silent[instance - self.start]
    }

    /// u_i(c).
    pub(super) fn mixed(&self, instance: usize, count: usize) -> f64 {
        self.joint(instance, 0, count) + self.joint(instance, 1, count)
    }

    /// p(y | f_i)·c!·p(c | y).
    pub(super) fn joint(&self, instance: usize, label: usize, count: usize) -> f64 {
        self.label(instance, label) * self.tables.weight(label, count)
    }
}

/// Fails unless the scaled evidence of a column is far above what underflow could have taken: all
/// factors but the weights are at most one, and a lost number was below 1e-307.
pub(super) fn certify(evidence: f64, weight_max: f64) -> Result<(), Trouble> {
    // Written so that NaN fails.
    if evidence >= 1e-280 * weight_max.max(1.0) && evidence.is_finite() {
        Ok(())
    } else {
        Err(Trouble::Underflow)
    }
}

/// Running sums over a window, as neighbouring stamps read them.
#[derive(Debug)]
pub(super) struct Column<'a> {
    pub(super) window: Window,
    pub(super) values: &'a [f64],
}

impl Column<'_> {
    /// scale × (sum up to j − 1) for j in `reader`, a window that does not begin or end earlier.
    pub(super) fn sums_before(&self, reader: Window, scale: f64, out: &mut Vec<f64>) {
        out.clear();
        let (first, end) = (self.window.first + 1, self.window.end + 1);
        let none = first.clamp(reader.first, reader.end);
        let some = end.clamp(none, reader.end);
        out.resize(none - reader.first, 0.0);
        if some > none {
            out.extend(self.values[none - first..some - first].iter().map(|v| v * scale));
        }
        let total = self.values[self.values.len() - 1] * scale;
        out.resize(reader.len(), total);
    }

    /// scale × (sum from j + 1 on) for j in `reader`, a window that does not begin or end later.
    pub(super) fn sums_after(&self, reader: Window, scale: f64, out: &mut Vec<f64>) {
        out.clear();
        let all = self.window.first.saturating_sub(1).clamp(reader.first, reader.end);
        let some = (self.window.end - 1).clamp(all, reader.end);
        out.resize(all - reader.first, self.values[0] * scale);
        if some > all {
            let from = all + 1 - self.window.first;
            out.extend(self.values[from..from + some - all].iter().map(|v| v * scale));
        }
        out.resize(reader.len(), 0.0);
    }
}

/// Solves spans, keeping its buffers between calls.
#[derive(Debug, Default)]
pub struct SpanSolver {
    p: [Vec<f64>; 2],
    silent: Vec<f64>,
    emitted: [Vec<f64>; 2],
    saved: [Vec<f64>; 2],
    one_stamp: OneStamp,
    first_order: FirstOrder,
    table: Table,
    log_space: LogSpace,
}

/// What a span's solution is written to, besides its value.
#[derive(Debug)]
pub(super) struct Outputs<'a> {
    pub(super) cells: Cells<'a>,
    pub(super) d_log_odds: &'a mut [f64],
    pub(super) expected: &'a mut Expected,
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

impl SpanSolver {
    /// Log evidence of the span's stamps. `log_odds` (±∞ for a known label) and `d_log_odds` run
    /// over the span's instances and `responsibilities` over all cells of the band; the latter two
    /// are overwritten, `expected` is added to.
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
        let cells = Cells { responsibilities, positive: None };
        let outputs = Outputs { cells, d_log_odds, expected, record: None };
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
        self.weigh_silence(tables, log_odds);
        if tables.log_odds_range().is_none() {
            check_support(band, tables, span, log_odds)?;
        }
        let start = span.instances.start;
        let mut log_evidence = 0.0;
        let mut quiet_from = start;
        let mut stamp = span.stamps.start;
        while stamp < span.stamps.end {
            let block = band.block_at(stamp);
            let quiet = quiet_from - start..block.instances.start - start;
            log_evidence += self.quiet(tables, quiet, log_odds, &mut outputs)?;
            log_evidence += self.block(band, tables, &block, start, log_odds, &mut outputs)?;
            quiet_from = block.instances.end;
            stamp = block.stamps.end;
        }
        let rest = quiet_from - start..span.instances.end - start;
        Ok(log_evidence + self.quiet(tables, rest, log_odds, &mut outputs)?)
    }

    /// p(y | f) and u(0) of every instance.
    fn weigh_silence(&mut self, tables: &CountTables, log_odds: &[f64]) {
        let silent_weight = [tables.weight(0, 0), tables.weight(1, 0)];
        let [p0, p1] = &mut self.p;
        p0.clear();
        p1.clear();
        self.silent.clear();
        for &f in log_odds {
            let e = (-f.abs()).exp();
            let likely = 1.0 / (1.0 + e);
            let (low, high) = (e * likely, likely);
            let (negative, positive) = if f >= 0.0 { (low, high) } else { (high, low) };
            p0.push(negative);
            p1.push(positive);
            self.silent.push(negative * silent_weight[0] + positive * silent_weight[1]);
        }
    }

    /// Log evidence of silence over a stretch, given by positions within the span.
    fn quiet(
        &mut self,
        tables: &CountTables,
        stretch: Range<usize>,
        log_odds: &[f64],
        outputs: &mut Outputs<'_>,
    ) -> Result<f64, Trouble> {
        // A product of 8 numbers above 1e-37 is a normal number: one logarithm serves all.
        const GROUP: usize = 8;
        const LEAST: f64 = 1e-37;
        let t = [tables.weight(0, 0), tables.weight(1, 0)];
        let mut log_evidence = 0.0;
        let mut silent = [0.0, 0.0];
        for from in stretch.clone().step_by(GROUP) {
            let group = from..(from + GROUP).min(stretch.end);
            let weights = &self.silent[group.clone()];
            if weights.iter().any(|&u| u <= LEAST) {
                for i in group {
                    log_evidence += self.quiet_in_logs(tables, i, log_odds[i], outputs)?;
                }
                continue;
            }
            log_evidence += weights.iter().product::<f64>().ln();
            let labels = self.p[0][group.clone()].iter().zip(&self.p[1][group.clone()]);
            let derivatives = &mut outputs.d_log_odds[group];
            for (((p0, p1), u), d) in labels.zip(weights).zip(derivatives) {
                let inverse = 1.0 / u;
                silent[0] += p0 * t[0] * inverse;
                silent[1] += p1 * t[1] * inverse;
                *d = p0 * p1 * (t[1] - t[0]) * inverse;
            }
        }
        outputs.expected.0[0][0] += silent[0];
        outputs.expected.0[1][0] += silent[1];
        Ok(log_evidence)
    }

    /// One silent instance whose weight the linear domain cannot hold.
    fn quiet_in_logs(
        &self,
        tables: &CountTables,
        i: usize,
        log_odds: f64,
        outputs: &mut Outputs<'_>,
    ) -> Result<f64, Trouble> {
        let log_u = tables.log_mixed(log_odds, 0);
        if log_u == f64::NEG_INFINITY {
            // It must give a stamp, and no window reaches it.
            return Err(Trouble::Narrow);
        }
        let shares = silent_shares(tables, log_odds);
        outputs.expected.0[0][0] += shares[0];
        outputs.expected.0[1][0] += shares[1];
        outputs.d_log_odds[i] = shares[1] - self.p[1][i];
        Ok(log_u)
    }

    /// Log evidence of a block of stamps.
    fn block(
        &mut self,
        band: &Band,
        tables: &CountTables,
        block: &Span,
        start: usize,
        log_odds: &[f64],
        outputs: &mut Outputs<'_>,
    ) -> Result<f64, Trouble> {
        for emitted in &mut self.emitted {
            emitted.clear();
            emitted.resize(block.instances.len(), 0.0);
        }
        let weights =
            InstanceWeights { tables, start, p: [&self.p[0], &self.p[1]], silent: &self.silent };
        let local = block.instances.start - start..block.instances.end - start;
        outputs.save(block, &mut self.saved);
        let held = self.silent[local.clone()].iter().all(|&u| u >= TINY);
        let solved = if held {
            let solved = if let Some(ratios) = tables.ratios() {
                self.first_order.solve(band, block, &weights, ratios, &mut self.emitted, outputs)
            } else if tables.max_count() <= 1 {
                self.one_stamp.solve(band, block, &weights, &mut self.emitted, outputs)
            } else {
                self.table.solve(band, block, &weights, &mut self.emitted, outputs)
            };
            solved.map(|relative| {
                relative + self.silent[local.clone()].iter().map(|u| u.ln()).sum::<f64>()
            })
        } else {
            Err(Trouble::Underflow)
        };
        let log_evidence = match solved {
            Err(Trouble::Underflow) => {
                self.emitted.iter_mut().for_each(|e| e.fill(0.0));
                outputs.restore(block, &self.saved);
                let weights = LogWeights { tables, start, log_odds };
                self.log_space.solve(band, block, &weights, &mut self.emitted, outputs)?
            }
            other => other?,
        };
        for (k, i) in local.enumerate() {
            let (e0, e1) = (self.emitted[0][k], self.emitted[1][k]);
            let (p0, p1, u) = (self.p[0][i], self.p[1][i], self.silent[i]);
            // Never negative but for rounding.
            let silent = (1.0 - e0 - e1).max(0.0);
            let t = [tables.weight(0, 0), tables.weight(1, 0)];
            let (shares, shift) = if u >= TINY {
                let inverse = 1.0 / u;
                ([p0 * t[0] * inverse, p1 * t[1] * inverse], p0 * p1 * (t[1] - t[0]) * inverse)
            } else {
                let shares = silent_shares(tables, log_odds[i]);
                (shares, shares[1] - p1)
            };
            outputs.expected.0[0][0] += silent * shares[0];
            outputs.expected.0[1][0] += silent * shares[1];
            outputs.d_log_odds[i] = e1 * p0 - e0 * p1 + silent * shift;
        }
        check_edges(band, block, outputs.cells.responsibilities)?;
        Ok(log_evidence)
    }
}

/// p(y | silent) in log space; zero for both where the instance cannot be silent.
pub(super) fn silent_shares(tables: &CountTables, log_odds: f64) -> [f64; 2] {
    let log_u = tables.log_mixed(log_odds, 0);
    if log_u == f64::NEG_INFINITY {
        return [0.0, 0.0];
    }
    [0, 1].map(|y| (tables.log_joint(log_odds, y, 0) - log_u).exp())
}

/// Fails if a window that could be wider has weight at its edge.
fn check_edges(band: &Band, block: &Span, responsibilities: &[f64]) -> Result<(), Trouble> {
    let edge = (RING - band.log_drop()).exp();
    for stamp in block.stamps.clone() {
        if band.windows()[stamp].len() == band.instances() {
            continue;
        }
        let shares = &responsibilities[band.cells_of(stamp)];
        let ring: f64 = band
            .density(stamp)
            .iter()
            .zip(shares)
            .map(|(&density, &share)| if density < edge { share } else { 0.0 })
            .sum();
        if ring > RING_MASS {
            return Err(Trouble::Narrow);
        }
    }
    Ok(())
}

/// Where the odds of instances have no bound (a rate of exactly 0 or 1), fails if an instance
/// outside a stamp's window could outweigh those inside.
fn check_support(
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
