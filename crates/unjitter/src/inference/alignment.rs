//! Single alignments: the likeliest one, and draws from their posterior.
//!
//! The search stays within the windows of the marginals, which are known to be wide enough.

use super::count_tables::CountTables;
use super::free::best_owners;
use super::lattice::Lattice;
use super::log_space::{LogSpace, log_density, log_scale};
use super::marginals::Marginals;
use super::vocabulary::{Block, Order};
use super::weights::LogWeights;
use super::windows::Band;
use crate::Control;
use crate::math::{Random, log_add};

/// Which instance gave each stamp.
#[derive(Debug, Clone, PartialEq)]
pub struct Alignment {
    /// One instance per stamp, or none if the stamp came from nowhere. They do not decrease.
    pub instances: Vec<Option<usize>>,
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
                instances.extend(owners);
                return;
            }
            log_weight += log_space.sum_forward(band, block, weights, Walk::Best.add());
            log_weight += log_scale(band, block);
            instances.extend(log_space.walk_back(band, block, weights, Walk::Best));
        });
        log_weight += self.log_silence(quiet_from..self.log_odds.len());
        Alignment { instances, log_weight }
    }

    /// Draws `draws` alignments (an instance or none per stamp) from their posterior, given the marginals
    /// of the same lattice. If a stop is requested, the alignments remain incomplete.
    pub fn sample(
        &self,
        marginals: &Marginals,
        draws: usize,
        seed: u64,
        control: Control<'_>,
    ) -> Vec<Vec<Option<usize>>> {
        let mut random = Random::new(seed);
        let mut alignments = vec![Vec::with_capacity(self.stamped.stamps.len()); draws];
        let mut log_space = LogSpace::default();
        self.for_blocks(marginals, |band, block, weights| {
            if control.is_stop_requested() {
                return;
            }
            log_space.sum_forward(band, block, weights, log_add);
            for alignment in alignments.iter_mut().take_while(|_| !control.is_stop_requested()) {
                let walk = Walk::Draw(&mut random);
                alignment.extend(log_space.walk_back(band, block, weights, walk));
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

/// How one of several paths is chosen.
enum Walk<'a> {
    /// The heaviest.
    Best,
    /// In proportion to its weight.
    Draw(&'a mut Random),
}

impl Walk<'_> {
    /// Joins the weights of paths.
    fn add(&self) -> fn(f64, f64) -> f64 {
        match self {
            Self::Best => f64::max,
            Self::Draw(_) => log_add,
        }
    }

    /// Whether to take a path, given the weight of it and all others.
    fn takes(&mut self, path: f64, all: f64) -> bool {
        match self {
            Self::Best => path >= all,
            Self::Draw(random) => random.uniform() < (path - all).exp(),
        }
    }
}

impl LogSpace {
    /// The owner of each stamp of the block, none for one from nowhere, on a path from the last state to
    /// the first. Needs the forward sums, joined as the walk joins paths.
    fn walk_back(
        &mut self,
        band: &Band,
        block: &Block,
        weights: &LogWeights<'_>,
        mut walk: Walk<'_>,
    ) -> Vec<Option<usize>> {
        let mut owners = vec![None; block.stamps.len()];
        let mut to = owners.len();
        for row in (1..self.lows.len()).rev() {
            // The windows of other stamps begin later.
            to = to.min(self.highs[row]);
            let before = self.forward[self.at(row - 1, to.min(self.highs[row - 1]))];
            let begun = (self.highs[row - 1]..to).map(|stamp| self.log_backgrounds[stamp]);
            let silent = begun.fold(before, |sum, background| sum + background);
            self.weigh(block, weights, row);
            if walk.takes(silent + self.log_weights[0], self.forward[self.at(row, to)]) {
                continue;
            }
            self.arrive(band, block, row, walk.add());
            let low = self.lows[row - 1];
            let mut count = self.choose_count(row, to, &mut walk);
            while count > 0 {
                let all = self.open(row, count)[to - low];
                let fewer = self.open(row, count - 1)[to - 1 - low];
                let given = fewer + log_density(band, block, row, to - 1);
                if given >= all || walk.takes(given, all) {
                    owners[to - 1] = Some(block.instances.start + row - 1);
                    count -= 1;
                }
                to -= 1;
            }
        }
        owners
    }

    /// The number of stamps of an instance that is not silent.
    fn choose_count(&self, row: usize, to: usize, walk: &mut Walk<'_>) -> usize {
        let counts = 1..self.log_weights.len();
        let path =
            |count: usize| self.open(row, count)[to - self.lows[row - 1]] + self.log_weights[count];
        // The weights of so many stamps and more.
        let mut all: Vec<f64> = counts.clone().map(path).collect();
        for k in (1..all.len()).rev() {
            all[k - 1] = walk.add()(all[k - 1], all[k]);
        }
        let mut chosen = counts.zip(all);
        let chosen =
            chosen.find(|&(count, all)| path(count) >= all || walk.takes(path(count), all));
        chosen.map_or(0, |(count, _)| count)
    }

    /// x_c(l) of the instance of a row, from its lowest state on.
    fn open(&self, row: usize, count: usize) -> &[f64] {
        let (low, high) = self.states_of(row);
        &self.instance.open[count * (high - low + 1)..]
    }
}
