//! Single alignments: the likeliest one, and draws from their posterior.

use super::lattice::Lattice;
use super::log_space::LogSpace;
use super::solver::SpanSolver;
use super::vocabulary::{Block, Impossible};
use super::weights::LogWeights;
use super::windows::Band;
use crate::math::Random;

/// Which instance gave each stamp.
#[derive(Debug, Clone, PartialEq)]
pub struct Alignment {
    /// One instance per stamp; they do not decrease.
    pub instances: Vec<usize>,
    /// log p(alignment, z | x, t), labels summed out.
    pub log_weight: f64,
}

impl Lattice<'_> {
    /// The single likeliest alignment.
    pub fn best_alignment(&self) -> Result<Alignment, Impossible> {
        self.widened(|lattice, band| {
            lattice.sum(band, &mut SpanSolver::default())?;
            lattice.load(band)?;
            let mut instances = Vec::with_capacity(lattice.stamps.len());
            let mut log_weight = 0.0;
            let mut quiet_from = 0;
            let mut log_space = LogSpace::default();
            for block in blocks(band) {
                log_weight += lattice.log_silence(quiet_from..block.instances.start);
                quiet_from = block.instances.end;
                let (counts, best) = log_space.best(band, &block, &lattice.log_weights());
                log_weight += best;
                append(&mut instances, block.instances.start, &counts);
            }
            log_weight += lattice.log_silence(quiet_from..lattice.times.len());
            Ok(Alignment { instances, log_weight })
        })
    }

    /// `draws` alignments (one instance per stamp) drawn from their posterior.
    pub fn sample(&self, draws: usize, seed: u64) -> Result<Vec<Vec<usize>>, Impossible> {
        self.sample_while(draws, seed, || true)
    }

    /// The same while `goes_on` holds, which is asked before every piece of a draw; the rest is
    /// left out of the alignments after that.
    pub fn sample_while(
        &self,
        draws: usize,
        seed: u64,
        goes_on: impl Fn() -> bool,
    ) -> Result<Vec<Vec<usize>>, Impossible> {
        self.widened(|lattice, band| {
            lattice.sum(band, &mut SpanSolver::default())?;
            lattice.load(band)?;
            let mut random = Random::new(seed);
            let mut alignments = vec![Vec::with_capacity(lattice.stamps.len()); draws];
            let mut log_space = LogSpace::default();
            for block in blocks(band) {
                log_space.prepare_draws(band, &block, &lattice.log_weights());
                for alignment in &mut alignments {
                    if !goes_on() {
                        return Ok(alignments);
                    }
                    let counts = log_space.draw(band, &block, &lattice.log_weights(), &mut random);
                    append(alignment, block.instances.start, &counts);
                }
            }
            Ok(alignments)
        })
    }

    fn log_weights(&self) -> LogWeights<'_> {
        LogWeights { tables: self.counts, start: 0, log_odds: self.log_odds }
    }

    fn log_silence(&self, instances: std::ops::Range<usize>) -> f64 {
        self.log_odds[instances].iter().map(|&f| self.counts.log_mixed(f, 0)).sum()
    }
}

/// All blocks of a session, in order.
fn blocks(band: &Band) -> impl Iterator<Item = Block> + '_ {
    let mut stamp = 0;
    std::iter::from_fn(move || {
        (stamp < band.windows().len()).then(|| {
            let block = band.block_at(stamp);
            stamp = block.stamps.end;
            block
        })
    })
}

/// Appends each instance as often as its count says.
fn append(alignment: &mut Vec<usize>, first: usize, counts: &[usize]) {
    for (instance, &count) in (first..).zip(counts) {
        alignment.extend(std::iter::repeat_n(instance, count));
    }
}
