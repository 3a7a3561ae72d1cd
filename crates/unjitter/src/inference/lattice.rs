//! Inference's view of one session, and the whole posterior over its alignments.

use std::ops::Range;

use super::count_tables::CountTables;
use super::free::Messages;
use super::marginals::{CountMarginals, Marginals, Responsibilities};
use super::outputs::Shares;
use super::pass::{Buffers, Pass, SpanSolution};
use super::unstamped::silent_shares;
use super::vocabulary::{Impossible, Stamped};
use crate::scratch::Scratch;

/// Instances that are processed together, about: their numbers stay in the second-level cache.
const ROWS: usize = 512;

/// Instances and stamps in time, log-odds, count tables and the density of delays.
#[derive(Clone, Copy)]
pub struct Lattice<'a> {
    /// Instances and stamps in time, and the distribution of delays.
    pub stamped: Stamped<'a>,
    /// Log-odds of the label of each instance; ±∞ where it is known.
    pub log_odds: &'a [f64],
    /// c!·p(c | y), for all counts up to the number of stamps or the largest possible count.
    pub counts: &'a CountTables,
}

impl std::fmt::Debug for Lattice<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { stamped, log_odds, counts } = self;
        let mut shown = f.debug_struct("Lattice");
        shown.field("stamped", stamped).field("log_odds", log_odds).field("counts", counts);
        shown.finish()
    }
}

impl Lattice<'_> {
    /// The posterior over all alignments. Counts are summed one by one, so that each has its marginal.
    pub fn marginals(&self) -> Result<Marginals, Impossible> {
        self.marginals_in(&Scratch::default(), None)
    }

    /// The same in buffers that are there, beginning with messages that were kept.
    pub fn marginals_in(
        &self,
        scratch: &Scratch<Buffers>,
        messages: Option<&Messages>,
    ) -> Result<Marginals, Impossible> {
        let counts = self.counts.without_ratios();
        let pass = MarginalsPass { log_odds: self.log_odds, counts: &counts, messages };
        let found = self.stamped.run(&pass, &counts, scratch)?;
        let (counts, responsibilities) = found.sums;
        Ok(Marginals { log_evidence: found.log_evidence, counts, responsibilities })
    }
}

/// A pass that keeps the marginals of every cell.
struct MarginalsPass<'a> {
    log_odds: &'a [f64],
    counts: &'a CountTables,
    messages: Option<&'a Messages>,
}

impl Pass for MarginalsPass<'_> {
    type Sums = (CountMarginals, Responsibilities);

    const KEEPS_CELLS: bool = true;

    fn rows_at_a_time(&self) -> usize {
        ROWS
    }

    fn zero(&self) -> Self::Sums {
        Default::default()
    }

    fn log_odds<'a>(&'a self, instances: Range<usize>, _: &'a mut [f64]) -> &'a [f64] {
        &self.log_odds[instances]
    }

    fn take_stamps(&self, shares: Shares<'_>, sums: &mut Self::Sums) {
        sums.1.append(shares);
    }

    fn take_span(&self, solved: SpanSolution<'_>, sums: &mut Self::Sums) {
        for (stamped, &log_odds) in solved.record.iter().zip(solved.log_odds) {
            let emitted: f64 = stamped.iter().map(|pair| pair[0] + pair[1]).sum();
            // Negative only by rounding.
            let silent = (1.0 - emitted).max(0.0);
            sums.0
                .append(silent_shares(self.counts, log_odds).map(|share| silent * share), stamped);
        }
    }

    fn messages(&self) -> Option<&Messages> {
        self.messages
    }

    fn add(&self, _: &mut Self::Sums, _: Self::Sums) {
        unreachable!("what keeps cells runs in one piece");
    }
}
