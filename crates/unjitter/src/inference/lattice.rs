//! One session as inference sees it, and the whole posterior over its alignments.

use std::ops::Range;

use super::band::{Band, Window};
use super::silence::silent_shares;
use super::span::{Expected, LogWeights, Record, Shares, SpanOutputs, SpanSolver, Trouble};
use super::tables::CountTables;
use super::widen::{Impossible, widen};
use super::{DelayDensity, Stamped};

/// Instances with their times and log-odds, stamps, count tables and the density of delays.
#[derive(Clone, Copy)]
pub struct Lattice<'a> {
    /// Time of each instance; they do not decrease.
    pub times: &'a [f64],
    /// The stamps; they do not decrease.
    pub stamps: &'a [f64],
    /// Log-odds of the label of each instance; ±∞ where it is known.
    pub log_odds: &'a [f64],
    /// c!·p(c | y), for at least as many counts as there are stamps or as are possible.
    pub counts: &'a CountTables,
    /// p(z − t).
    pub density: &'a dyn DelayDensity,
}

impl std::fmt::Debug for Lattice<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lattice")
            .field("times", &self.times)
            .field("stamps", &self.stamps)
            .field("log_odds", &self.log_odds)
            .field("counts", &self.counts)
            .finish_non_exhaustive()
    }
}

/// The posterior over alignments, in its marginals.
#[derive(Debug, Clone)]
pub struct Marginals {
    /// log p(z | x, t).
    pub log_evidence: f64,
    /// p(o_i = c, y_i = y | z).
    pub counts: CountMarginals,
    /// p(w(i,l) | z): which instance gave which stamp.
    pub responsibilities: Responsibilities,
}

/// p(o_i = c, y_i = y | z): for each instance, a row of pairs (y = 0, y = 1) for c = 0, 1, ….
#[derive(Debug, Clone)]
pub struct CountMarginals {
    offsets: Vec<usize>,
    values: Vec<[f64; 2]>,
}

impl CountMarginals {
    /// From the pairs of each instance, so many in all.
    pub(super) fn new(rows: impl IntoIterator<Item = Vec<[f64; 2]>>, pairs: usize) -> Self {
        let mut counts = Self { offsets: vec![0], values: Vec::with_capacity(pairs) };
        for row in rows {
            counts.values.extend(row);
            counts.offsets.push(counts.values.len());
        }
        counts
    }

    /// Number of instances.
    pub fn instances(&self) -> usize {
        self.offsets.len() - 1
    }

    /// The pairs of one instance, from c = 0 on; counts beyond the end have probability zero.
    pub fn row(&self, instance: usize) -> &[[f64; 2]] {
        &self.values[self.offsets[instance]..self.offsets[instance + 1]]
    }

    /// p(y_i = 1 | z).
    pub fn positive(&self, instance: usize) -> f64 {
        self.row(instance).iter().map(|pair| pair[1]).sum()
    }

    /// p(o_i = 0, y_i = 1 | z): positive, and no stamp says so.
    pub fn missed(&self, instance: usize) -> f64 {
        self.row(instance)[0][1]
    }
}

/// p(w(i,l) | z), kept only within each stamp's window.
#[derive(Debug, Clone)]
pub struct Responsibilities {
    windows: Vec<Window>,
    offsets: Vec<usize>,
    values: Vec<f64>,
    positive: Vec<f64>,
}

impl Responsibilities {
    pub(super) fn new(windows: Vec<Window>, values: Vec<f64>, positive: Vec<f64>) -> Self {
        let mut offsets = vec![0];
        for window in &windows {
            offsets.push(offsets[offsets.len() - 1] + window.len());
        }
        Self { windows, offsets, values, positive }
    }

    /// Adds what was found for the stamps of a loaded band, which follow on those before.
    fn append(&mut self, Shares { band, responsibilities, positive }: Shares<'_>) {
        let cells = band.loaded().map(|stamp| band.windows()[stamp].len()).sum();
        self.values.reserve_exact(cells);
        self.positive.reserve_exact(cells);
        for stamp in band.loaded() {
            self.values.extend_from_slice(&responsibilities[band.cells_of(stamp)]);
            self.positive.extend_from_slice(&positive[band.cells_of(stamp)]);
        }
    }

    /// Number of stamps.
    pub fn stamps(&self) -> usize {
        self.windows.len()
    }

    /// The instances that `stamp` can have come from.
    pub fn instances(&self, stamp: usize) -> Range<usize> {
        self.windows[stamp].first..self.windows[stamp].end
    }

    /// p(w(i,l) | z) over those instances; sums to one.
    pub fn of_stamp(&self, stamp: usize) -> &[f64] {
        &self.values[self.offsets[stamp]..self.offsets[stamp + 1]]
    }

    /// p(w(i,l), y_i = 1 | z) over those instances; what it lacks of one is the probability that
    /// the stamp is spurious.
    pub fn of_stamp_positive(&self, stamp: usize) -> &[f64] {
        &self.positive[self.offsets[stamp]..self.offsets[stamp + 1]]
    }

    /// p(w(i,l) | z) of one cell, zero outside the window.
    pub fn get(&self, instance: usize, stamp: usize) -> f64 {
        let instances = self.instances(stamp);
        if instances.contains(&instance) {
            self.of_stamp(stamp)[instance - instances.start]
        } else {
            0.0
        }
    }
}

impl Lattice<'_> {
    fn stamped(&self) -> Stamped<'_> {
        let Self { times, stamps, density, .. } = *self;
        Stamped { times, stamps, unit: 1.0, density }
    }

    /// log p(z | x, t) alone.
    pub fn log_evidence(&self) -> Result<f64, Impossible> {
        let mut solver = SpanSolver::default();
        let mut band = Band::default();
        widen(&mut band, &self.stamped(), self.counts, false, |band| self.sum(band, &mut solver))
    }

    /// The posterior over all alignments.
    pub fn marginals(&self) -> Result<Marginals, Impossible> {
        self.widened(|lattice, band| lattice.solve(band, &mut SpanSolver::default()))
    }

    /// Lets `attempt` work on windows that grow as needed. Counts are summed one by one, so that
    /// each has its marginal.
    pub(super) fn widened<T>(
        &self,
        mut attempt: impl FnMut(&Lattice<'_>, &mut Band) -> Result<T, Trouble>,
    ) -> Result<T, Impossible> {
        let counts = self.counts.without_ratios();
        let lattice = Lattice { counts: &counts, ..*self };
        let mut band = Band::default();
        widen(&mut band, &self.stamped(), &counts, true, |band| attempt(&lattice, band))
    }

    /// The log evidence within the windows of a band, if they are wide enough.
    pub(super) fn sum(&self, band: &mut Band, solver: &mut SpanSolver) -> Result<f64, Trouble> {
        let mut d_log_odds = vec![0.0; self.times.len()];
        let mut expected = Expected::zeros(self.counts);
        let mut log_evidence = 0.0;
        for span in band.spans(self.times.len()) {
            let outputs = SpanOutputs {
                d_log_odds: &mut d_log_odds[span.instances.clone()],
                expected: &mut expected,
                visit: &mut |_| {},
            };
            let log_odds = &self.log_odds[span.instances.clone()];
            log_evidence +=
                solver.solve(band, &self.stamped(), self.counts, &span, log_odds, outputs)?;
        }
        Ok(log_evidence)
    }

    /// Loads every stamp.
    pub(super) fn load(&self, band: &mut Band) -> Result<(), Trouble> {
        band.load(0..self.stamps.len(), &self.stamped())
    }

    fn solve(&self, band: &mut Band, solver: &mut SpanSolver) -> Result<Marginals, Trouble> {
        let mut responsibilities =
            Responsibilities::new(band.windows().to_vec(), Vec::new(), Vec::new());
        let mut d_log_odds = vec![0.0; self.times.len()];
        let mut expected = Expected::zeros(self.counts);
        let mut record: Record = vec![Vec::new(); self.times.len()];
        let mut log_evidence = 0.0;
        for span in band.spans(self.times.len()) {
            let start = span.instances.start;
            let log_odds = &self.log_odds[span.instances.clone()];
            let weights = LogWeights { tables: self.counts, start, log_odds };
            let outputs = SpanOutputs {
                d_log_odds: &mut d_log_odds[span.instances.clone()],
                expected: &mut expected,
                visit: &mut |shares| responsibilities.append(shares),
            };
            let record = Some(&mut record);
            log_evidence +=
                solver.solve_into(band, &self.stamped(), &span, &weights, outputs, record)?;
        }
        let pairs = record.len() + record.iter().map(Vec::len).sum::<usize>();
        let rows = record.into_iter().zip(self.log_odds).map(|(stamped, &log_odds)| {
            let emitted: f64 = stamped.iter().map(|pair| pair[0] + pair[1]).sum();
            // Never negative but for rounding.
            let silent = (1.0 - emitted).max(0.0);
            let shares = silent_shares(self.counts, log_odds);
            let mut row = vec![[silent * shares[0], silent * shares[1]]];
            row.extend(stamped);
            row
        });
        Ok(Marginals { log_evidence, counts: CountMarginals::new(rows, pairs), responsibilities })
    }
}
