//! The likeliest owners of a block's stamps, labels summed out: an assignment by augmenting paths.
//!
//! Sought are the owners a_l, instances or the background, for which
//!
//! ```text
//! Σ_l [log p_l(a_l) or log ρ] + Σ_i log u_i(n_i)          n_i stamps at instance i
//! ```
//!
//! is largest. Stamps come one after the other. Every instance has a price, and every stamp is where log p less
//! the price is highest. A new stamp may displace another one, which moves to where it loses least, and so
//! on, until one finds an instance with room for it, or the background: Dijkstra's algorithm finds the path
//! that loses least, and prices then rise along it (Jonker & Volgenant, Computing 38, 1987). Paths are
//! short where there is room, so the work grows with the cells of the windows, about.
//!
//! This is exact if a further stamp never gains more than the one before it: log u(c) − log u(c−1) does not
//! increase. So it is for one stamp at most. It is not if several stamps make an event likelier, as with Poisson
//! counts. Gains are then averaged until they do not increase. If these averages do not matter to the result,
//! it is the best one all the same; otherwise stamps move, alone or together, as long as the true sum grows
//! (`neighbours`), from here and from all in the background. The better result is then better than all its
//! neighbours, but there may be a better one.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::market::Market;
use super::neighbours::Neighbours;
use crate::inference::vocabulary::Block;
use crate::inference::weights::LogWeights;
use crate::inference::windows::Band;

/// The owner of each stamp of a loaded block, none for the background, and the log of their weight.
pub(in crate::inference) fn best_owners(
    band: &Band,
    block: &Block,
    weights: &LogWeights<'_>,
    log_background: f64,
) -> (Vec<Option<usize>>, f64) {
    let market = Market::new(band, block, weights, log_background);
    let mut assignment = Assignment::new(&market);
    for stamp in 0..block.stamps.len() {
        assignment.add(stamp);
    }
    let Assignment { mut owners, mut counts, .. } = assignment;
    if !market.gains_are_true(&counts) {
        let alone = (vec![None; owners.len()], vec![0; counts.len()]);
        let starts = [(owners, counts), alone];
        let found = starts.map(|(owners, counts)| Neighbours::new(&market, owners, counts).best());
        let log_weight = |(owners, counts): &(Vec<_>, Vec<_>)| market.log_weight(owners, counts);
        let first_is_better = log_weight(&found[0]) >= log_weight(&found[1]);
        let [first, second] = found;
        (owners, counts) = if first_is_better { first } else { second };
    }
    let log_weight = market.log_weight(&owners, &counts);
    let first = block.instances.start;
    (owners.into_iter().map(|owner| owner.map(|i| first + i)).collect(), log_weight)
}

/// Owners of the stamps so far, and prices that make each stamp prefer its own.
struct Assignment<'a> {
    market: &'a Market<'a>,
    owners: Vec<Option<usize>>,
    counts: Vec<usize>,
    prices: Vec<f64>,
    /// The least loss with which a path reaches each instance, for those in `reached`; else ∞.
    losses: Vec<f64>,
    /// The stamp that would come there.
    comers: Vec<usize>,
    reached: Vec<usize>,
    passed: Vec<bool>,
    queue: BinaryHeap<Reached>,
    /// Instances that searches have passed.
    steps: usize,
}

/// Where the best path so far ends: its loss, its last stamp and the owner of that.
type End = (f64, usize, Option<usize>);

impl<'a> Assignment<'a> {
    fn new(market: &'a Market<'a>) -> Self {
        let instances = market.instances();
        Self {
            market,
            owners: vec![None; market.block.stamps.len()],
            counts: vec![0; instances],
            prices: (0..instances).map(|i| -market.gain(i, 0)).collect(),
            losses: vec![f64::INFINITY; instances],
            comers: vec![0; instances],
            reached: Vec::new(),
            passed: vec![false; instances],
            queue: BinaryHeap::new(),
            steps: 0,
        }
    }

    /// Adds a stamp.
    fn add(&mut self, stamp: usize) {
        let (least, mut last, mut owner) = self.search(stamp);
        for i in std::mem::take(&mut self.reached) {
            let (loss, passed) = (self.losses[i], std::mem::take(&mut self.passed[i]));
            self.losses[i] = f64::INFINITY;
            if passed && least.is_finite() {
                self.prices[i] += least - loss;
            }
        }
        // Without a path the stamp has no owner, and its weight is that of a background of zero.
        owner.iter().for_each(|&i| self.counts[i] += 1);
        while least.is_finite() {
            let left = std::mem::replace(&mut self.owners[last], owner);
            if last == stamp {
                break;
            }
            owner = left;
            last = self.comers[left.expect("stamps are displaced from instances")];
        }
    }

    /// The path from a new stamp that loses least.
    fn search(&mut self, stamp: usize) -> End {
        let mut end = (f64::INFINITY, stamp, None);
        self.queue.clear();
        self.reach_from(stamp, 0.0, &mut end);
        while let Some(Reached { loss, instance }) = self.queue.pop() {
            if loss >= end.0 {
                break;
            }
            if std::mem::replace(&mut self.passed[instance], true) {
                continue;
            }
            self.steps += 1;
            let room = -self.market.gain(instance, self.counts[instance]);
            let loss_here = loss + room - self.prices[instance];
            if loss_here < end.0 {
                end = (loss_here, self.comers[instance], Some(instance));
            }
            for other in self.market.claimants[instance].clone() {
                if self.owners[other] == Some(instance) {
                    let profit =
                        self.market.log_share(other, Some(instance)) - self.prices[instance];
                    self.reach_from(other, loss + profit, &mut end);
                }
            }
        }
        end
    }

    /// Lets a stamp go anywhere, at a loss against this profit.
    fn reach_from(&mut self, stamp: usize, profit: f64, end: &mut End) {
        let market = self.market;
        if profit - market.log_background < end.0 {
            *end = (profit - market.log_background, stamp, None);
        }
        for (instance, log_density) in market.owners(stamp) {
            let loss = profit - (log_density - self.prices[instance]);
            if loss < self.losses[instance] && !self.passed[instance] {
                if self.losses[instance] == f64::INFINITY {
                    self.reached.push(instance);
                }
                self.losses[instance] = loss;
                self.comers[instance] = stamp;
                self.queue.push(Reached { loss, instance });
            }
        }
    }
}

/// An instance that a path reaches; the least loss comes first.
#[derive(PartialEq)]
struct Reached {
    loss: f64,
    instance: usize,
}

impl Eq for Reached {}

impl Ord for Reached {
    fn cmp(&self, other: &Self) -> Ordering {
        other.loss.total_cmp(&self.loss).then(other.instance.cmp(&self.instance))
    }
}

impl PartialOrd for Reached {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inference::windows::LogDrop;
    use crate::inference::{CountTables, DelayDensity, Stamp, Timeline};
    use crate::math::Random;

    /// log p = −d².
    struct Bell;

    impl DelayDensity for Bell {
        fn log_density(&self, delays: &[f64], out: &mut [f64]) {
            out.iter_mut().zip(delays).for_each(|(out, d)| *out = -d * d);
        }
        fn log_peak(&self) -> f64 {
            0.0
        }
        fn reach(&self, log_drop: f64) -> (f64, f64) {
            (-log_drop.sqrt(), log_drop.sqrt())
        }

        fn log_mean_density(&self, _: &[f64], _: f64, _: &mut [f64]) {
            unreachable!("all times are known");
        }
    }

    /// Instances that the searches for so many stamps pass, with two instances for each.
    fn steps(stamps: usize) -> usize {
        let mut random = Random::new(4);
        let times: Vec<f64> = (0..2 * stamps).map(|i| i as f64 / 2.0).collect();
        let mut presses: Vec<f64> = (0..stamps).map(|_| stamps as f64 * random.uniform()).collect();
        presses.sort_by(f64::total_cmp);
        let log_odds: Vec<f64> = times.iter().map(|_| 3.0 * random.normal()).collect();
        let placed = Stamp::at(&presses);
        let stamped = Timeline::new(&times, &placed, 1.0).with(&Bell);
        let mut band = Band::default();
        let drop =
            LogDrop { paths: 400.0, max_count: 1, floor: Some(-400.0), ..LogDrop::default() };
        band.rebuild(&stamped, drop).unwrap();
        band.load(0..stamps, &stamped).unwrap();
        let table = |rate: f64| vec![(1.0 - rate).ln(), rate.ln()];
        let tables = CountTables::new([table(0.01), table(0.9)], None);
        let weights = LogWeights { tables: &tables, start: 0, log_odds: &log_odds };
        let block = band.block_at(0);
        assert_eq!(block.stamps, 0..stamps, "one block");
        let market = Market::new(&band, &block, &weights, f64::NEG_INFINITY);
        let mut assignment = Assignment::new(&market);
        (0..stamps).for_each(|stamp| assignment.add(stamp));
        assert!(assignment.owners.iter().all(Option::is_some));
        assignment.steps
    }

    #[test]
    fn the_work_grows_with_the_stamps() {
        let (few, many) = (steps(1000), steps(8000));
        println!("{few} {many}");
        assert!(many < 10 * few, "{few} {many}");
    }
}
