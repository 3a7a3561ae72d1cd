//! Assignments that differ in a few stamps, where several stamps at one instance may gain more than each alone.
//!
//! Tried are: one stamp to another owner; the stamps that gain most, together, to one instance; all stamps of
//! an instance to where each gains most.

use super::market::{Market, NEGLIGIBLE};

/// An assignment in search of a better one.
pub(super) struct Neighbours<'a> {
    market: &'a Market<'a>,
    owners: Vec<Option<usize>>,
    counts: Vec<usize>,
    /// Stamps of the move at hand, with their owners before it.
    moved: Vec<(usize, Option<usize>)>,
    /// What that move gains so far.
    gain: f64,
}

impl<'a> Neighbours<'a> {
    /// A search that begins with these owners.
    pub(super) fn new(
        market: &'a Market<'a>,
        owners: Vec<Option<usize>>,
        counts: Vec<usize>,
    ) -> Self {
        Self { market, owners, counts, moved: Vec::new(), gain: 0.0 }
    }

    /// Moves stamps as long as that gains; returns their owners, and the counts of the instances.
    pub(super) fn best(mut self) -> (Vec<Option<usize>>, Vec<usize>) {
        let mut goes_on = true;
        while goes_on {
            goes_on = false;
            for stamp in 0..self.owners.len() {
                self.take_to_best(stamp, None);
                goes_on |= self.accept();
            }
            for instance in 0..self.counts.len() {
                self.gather(instance);
                goes_on |= self.accept();
                self.scatter(instance);
                goes_on |= self.accept();
            }
        }
        (self.owners, self.counts)
    }

    /// What an owner gains by one more stamp, besides its density.
    fn one_more(&self, owner: Option<usize>) -> f64 {
        owner.map_or(0.0, |i| {
            let log_weight = |count| self.market.log_weight_of(i, count);
            log_weight(self.counts[i] + 1) - log_weight(self.counts[i])
        })
    }

    /// Moves a stamp.
    fn take(&mut self, stamp: usize, owner: Option<usize>) {
        let from = std::mem::replace(&mut self.owners[stamp], owner);
        self.moved.push((stamp, from));
        from.iter().for_each(|&i| self.counts[i] -= 1);
        self.gain -= self.market.log_share(stamp, from) + self.one_more(from);
        self.gain += self.market.log_share(stamp, owner) + self.one_more(owner);
        owner.iter().for_each(|&i| self.counts[i] += 1);
    }

    /// Moves a stamp to where it gains most, except to one instance.
    fn take_to_best(&mut self, stamp: usize, except: Option<usize>) {
        let from = self.owners[stamp];
        from.iter().for_each(|&i| self.counts[i] -= 1);
        let instances = self.market.owners(stamp).map(|(i, _)| Some(i));
        let value =
            |owner: &Option<usize>| self.market.log_share(stamp, *owner) + self.one_more(*owner);
        let all = instances.chain([None]).filter(|owner| except.is_none() || *owner != except);
        let best = all.max_by(|a, b| value(a).total_cmp(&value(b))).flatten();
        from.iter().for_each(|&i| self.counts[i] += 1);
        self.take(stamp, best);
    }

    /// Brings those stamps to an instance that together gain most, about.
    fn gather(&mut self, instance: usize) {
        let market = self.market;
        let gain = |stamp: usize| {
            let own = self.owners[stamp];
            let last = own.map_or(0.0, |i| {
                market.log_weight_of(i, self.counts[i])
                    - market.log_weight_of(i, self.counts[i] - 1)
            });
            market.log_share(stamp, Some(instance)) - market.log_share(stamp, own) - last
        };
        let others = market.claimants[instance].clone();
        let others = others.filter(|&stamp| self.owners[stamp] != Some(instance));
        let mut gains: Vec<(f64, usize)> = others.map(|stamp| (gain(stamp), stamp)).collect();
        gains.sort_by(|a, b| b.0.total_cmp(&a.0));
        let count = self.counts[instance];
        let (mut sum, mut most, mut stamps) = (0.0, 0.0, 0);
        for (k, (gain, _)) in gains.iter().enumerate() {
            sum += gain;
            let together = sum + market.log_weight_of(instance, count + k + 1)
                - market.log_weight_of(instance, count);
            if together > most {
                (most, stamps) = (together, k + 1);
            }
        }
        gains[..stamps].iter().for_each(|&(_, stamp)| self.take(stamp, Some(instance)));
    }

    /// Takes all stamps from an instance.
    fn scatter(&mut self, instance: usize) {
        for stamp in self.market.claimants[instance].clone() {
            if self.owners[stamp] == Some(instance) {
                self.take_to_best(stamp, Some(instance));
            }
        }
    }

    /// Keeps the move if it gains, and takes it back if not.
    fn accept(&mut self) -> bool {
        let gains = std::mem::take(&mut self.gain) > NEGLIGIBLE;
        for (stamp, from) in self.moved.drain(..).rev().filter(|_| !gains) {
            let to = std::mem::replace(&mut self.owners[stamp], from);
            to.iter().for_each(|&i| self.counts[i] -= 1);
            from.iter().for_each(|&i| self.counts[i] += 1);
        }
        gains
    }
}
