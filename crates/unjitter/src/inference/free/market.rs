//! What owners and stamps of a block gain from each other.

use std::ops::Range;

use crate::inference::vocabulary::Block;
use crate::inference::weights::LogWeights;
use crate::inference::windows::Band;

/// Gains below this are rounding.
pub(super) const NEGLIGIBLE: f64 = 1e-9;

/// What stamps and instances of a block gain from each other. Both are counted from the block's first.
pub(super) struct Market<'a> {
    pub(super) band: &'a Band,
    pub(super) block: &'a Block,
    pub(super) log_background: f64,
    /// The stamps whose windows contain each instance.
    pub(super) claimants: Vec<Range<usize>>,
    /// log u(c) of instance i for as many stamps as could be its own, from `offsets[i]` on.
    pub(super) log_weights: Vec<f64>,
    /// What the stamp after c stamps gains, averaged so that it does not increase with c.
    pub(super) gains: Vec<f64>,
    pub(super) offsets: Vec<usize>,
}

impl<'a> Market<'a> {
    pub(super) fn new(
        band: &'a Band,
        block: &'a Block,
        weights: &LogWeights<'_>,
        log_background: f64,
    ) -> Self {
        let mut market = Self {
            band,
            block,
            log_background,
            claimants: claimants(band, block),
            log_weights: Vec::new(),
            gains: Vec::new(),
            offsets: vec![0],
        };
        let log_odds = &weights.log_odds[weights.positions(block)];
        let most = |claimants: &Range<usize>| claimants.len().min(weights.tables.max_count());
        let numbers = market.claimants.iter().map(|claimants| most(claimants) + 1).sum();
        market.log_weights.reserve_exact(numbers);
        market.offsets.reserve_exact(log_odds.len());
        for (claimants, &log_odds) in market.claimants.iter().zip(log_odds) {
            let of_count = |count| weights.tables.log_mixed(log_odds, count);
            market.log_weights.extend((0..=most(claimants)).map(of_count));
            market.offsets.push(market.log_weights.len());
        }
        market.average_gains();
        market
    }

    /// Fills in the gains. To give its first stamp to an instance that must have one gains more than anything
    /// else could.
    pub(super) fn average_gains(&mut self) {
        let (mut lowest, mut highest) = (0.0_f64, 0.0_f64);
        let densities = (0..self.block.stamps.len()).flat_map(|stamp| self.log_density(stamp));
        let logs = densities.chain(&self.log_weights).chain([&self.log_background]);
        for log in logs.copied().filter(|log| log.is_finite()) {
            (lowest, highest) = (lowest.min(log), highest.max(log));
        }
        let must = 4.0 * (highest - lowest + 1.0) * (self.block.stamps.len() + 1) as f64;
        self.gains = vec![f64::NEG_INFINITY; self.log_weights.len()];
        let mut corners: Vec<(usize, f64)> = Vec::new();
        for counts in self.offsets.windows(2) {
            let log_weights = &mut self.log_weights[counts[0]..counts[1]];
            if log_weights[0] == f64::NEG_INFINITY {
                log_weights[0] = -must;
            }
            corners.clear();
            for (count, &log_weight) in log_weights.iter().enumerate() {
                let corner = (count, log_weight);
                while let [.., a, b] = corners[..]
                    && slope(a, b) <= slope(b, corner)
                {
                    corners.pop();
                }
                if log_weight > f64::NEG_INFINITY {
                    corners.push(corner);
                }
            }
            for pair in corners.windows(2) {
                let own = counts[0] + pair[0].0..counts[0] + pair[1].0;
                self.gains[own].fill(slope(pair[0], pair[1]));
            }
        }
    }

    pub(super) fn instances(&self) -> usize {
        self.claimants.len()
    }

    pub(super) fn log_density(&self, stamp: usize) -> &[f64] {
        self.band.log_density(self.block.stamps.start + stamp)
    }

    /// The instances that could own a stamp, with the log density of each.
    pub(super) fn owners(&self, stamp: usize) -> impl Iterator<Item = (usize, f64)> {
        let window = self.band.windows()[self.block.stamps.start + stamp];
        let first = window.first - self.block.instances.start;
        (first..).zip(self.log_density(stamp).iter().copied())
    }

    /// Log density of a stamp at an owner.
    pub(super) fn log_share(&self, stamp: usize, owner: Option<usize>) -> f64 {
        let window = self.band.windows()[self.block.stamps.start + stamp];
        let at = |i: usize| self.log_density(stamp)[i + self.block.instances.start - window.first];
        owner.map_or(self.log_background, at)
    }

    /// log u(c) of an instance; −∞ beyond its most.
    pub(super) fn log_weight_of(&self, instance: usize, count: usize) -> f64 {
        let own = &self.log_weights[self.offsets[instance]..self.offsets[instance + 1]];
        own.get(count).copied().unwrap_or(f64::NEG_INFINITY)
    }

    /// The averaged gain of one more stamp.
    pub(super) fn gain(&self, instance: usize, count: usize) -> f64 {
        self.gains[self.offsets[instance] + count]
    }

    /// Whether averaged gains are the true ones at these counts, so that no others are better.
    pub(super) fn gains_are_true(&self, counts: &[usize]) -> bool {
        counts.iter().enumerate().all(|(i, &count)| {
            let averaged: f64 = (0..count).map(|before| self.gain(i, before)).sum();
            let true_gain = self.log_weight_of(i, count) - self.log_weight_of(i, 0);
            (averaged - true_gain).abs() < NEGLIGIBLE
        })
    }

    pub(super) fn log_weight(&self, owners: &[Option<usize>], counts: &[usize]) -> f64 {
        let shares = owners.iter().enumerate().map(|(stamp, &owner)| self.log_share(stamp, owner));
        let weights = counts.iter().enumerate().map(|(i, &count)| self.log_weight_of(i, count));
        shares.chain(weights).sum()
    }
}

/// The increase per stamp between two counts.
fn slope(a: (usize, f64), b: (usize, f64)) -> f64 {
    (b.1 - a.1) / (b.0 - a.0) as f64
}

/// The stamps whose windows contain each instance: neighbours, since windows move forward.
fn claimants(band: &Band, block: &Block) -> Vec<Range<usize>> {
    let windows = &band.windows()[block.stamps.clone()];
    let (mut from, mut to) = (0, 0);
    let of_instance = |instance: usize| {
        from += windows[from..].iter().take_while(|window| window.end <= instance).count();
        to += windows[to..].iter().take_while(|window| window.first <= instance).count();
        from..to.max(from)
    };
    block.instances.clone().map(of_instance).collect()
}
