//! Single alignments: the likeliest one, and draws from their posterior.
//!
//! The search stays within the windows of the marginals, which are known to be wide enough.

use super::count_tables::CountTables;
use super::free::best_owners;
use super::lattice::Lattice;
use super::log_space::LogSpace;
use super::marginals::Marginals;
use super::vocabulary::{Block, Order};
use super::weights::LogWeights;
use super::windows::Band;
use crate::Control;
use crate::math::Random;

/// Which instance gave each stamp.
#[derive(Debug, Clone, PartialEq)]
pub struct Alignment {
    /// One instance per stamp, or `usize::MAX` for a stamp from nowhere. In order, they do not decrease.
    pub instances: Vec<usize>,
    /// log p(alignment, z | x, t), labels summed out.
    pub log_weight: f64,
}

impl Lattice<'_> {
    /// The single likeliest alignment, given the marginals of the same lattice.
    pub fn best_alignment(&self, marginals: &Marginals) -> Alignment {
        let mut instances = Vec::with_capacity(self.stamped.stamps.len());
        let mut log_weight = 0.0;
        let mut quiet_from = 0;
        let mut log_space = LogSpace::default();
        self.for_blocks(marginals, |band, block, weights| {
            log_weight += self.log_silence(quiet_from..block.instances.start);
            quiet_from = block.instances.end;
            if self.stamped.order == Order::Free {
                let (owners, best) = best_owners(band, block, weights, self.stamped.log_background);
                log_weight += best;
                instances.extend(owners.into_iter().map(|owner| owner.unwrap_or(usize::MAX)));
                return;
            }
            let (counts, best) = log_space.best(band, block, weights);
            log_weight += best;
            append(&mut instances, block.instances.start, &counts);
        });
        log_weight += self.log_silence(quiet_from..self.log_odds.len());
        Alignment { instances, log_weight }
    }

    /// Draws `draws` alignments (one instance per stamp) from their posterior, given the marginals of the
    /// same lattice. If a stop is requested, the alignments remain incomplete.
    pub fn sample(
        &self,
        marginals: &Marginals,
        draws: usize,
        seed: u64,
        control: Control<'_>,
    ) -> Vec<Vec<usize>> {
        let mut random = Random::new(seed);
        let mut alignments = vec![Vec::with_capacity(self.stamped.stamps.len()); draws];
        let mut log_space = LogSpace::default();
        self.for_blocks(marginals, |band, block, weights| {
            if control.is_stop_requested() {
                return;
            }
            log_space.prepare_draws(band, block, weights);
            for alignment in alignments.iter_mut().take_while(|_| !control.is_stop_requested()) {
                let counts = log_space.draw(band, block, weights, &mut random);
                append(alignment, block.instances.start, &counts);
            }
            control.tell(block.stamps.end, self.stamped.stamps.len(), None);
        });
        alignments
    }

    /// Loads all blocks of the session in order, one at a time. Counts are taken one by one.
    fn for_blocks(
        &self,
        marginals: &Marginals,
        mut work: impl FnMut(&Band, &Block, &LogWeights<'_>),
    ) {
        let counts: CountTables = self.counts.without_ratios();
        let weights = LogWeights { tables: &counts, start: 0, log_odds: self.log_odds };
        let mut band = Band::default();
        band.take_windows(self.log_odds.len(), marginals.responsibilities.windows().to_vec());
        band.count_bytes(&counts, false);
        let _held = band.hold_session();
        let mut stamp = 0;
        while stamp < band.windows().len() {
            let block = band.block_at(stamp);
            stamp = block.stamps.end;
            band.load(block.stamps.clone(), &self.stamped).expect("the windows are wide enough");
            work(&band, &block, &weights);
        }
    }

    fn log_silence(&self, instances: std::ops::Range<usize>) -> f64 {
        self.log_odds[instances].iter().map(|&f| self.counts.log_mixed(f, 0)).sum()
    }
}

/// Appends each instance as often as its count.
fn append(alignment: &mut Vec<usize>, first: usize, counts: &[usize]) {
    for (instance, &count) in (first..).zip(counts) {
        alignment.extend(std::iter::repeat_n(instance, count));
    }
}
