//! One session as inference sees it, and the whole posterior over its alignments.

use super::count_tables::CountTables;
use super::expected::Expected;
use super::marginals::{CountMarginals, Marginals, Responsibilities};
use super::outputs::{Record, SpanOutputs};
use super::solver::SpanSolver;
use super::unstamped::silent_shares;
use super::vocabulary::{DelayDensity, Impossible, Stamped, Trouble};
use super::weights::LogWeights;
use super::windows::{Band, widen};

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
