//! How many stamps were to be expected from one stamp to the next, given all before.
//!
//! If the model is right, stamps are a Poisson process of rate one in the time that this number counts
//! (the time-rescaling theorem), whatever the counts and the order of stamps.
//!
//! The rate of instance i depends on what it has given. With G_i(s) = Σ_c p(c)·sᶜ the generating function
//! of its counts, F the distribution of the delay and e_c the elementary symmetric polynomials of the
//! claims of the stamps so far,
//!
//! ```text
//! T_i(z) = Σ_c e_c · G_i⁽ᶜ⁾(1 − F(z − t_i))          how likely all of that and no other stamp until z are
//! rate   = ρ − Σ_i d log T_i / dz                    claim of stamp l: p_l(i) / (rate of all others at z_l)
//! ```
//!
//! so the number expected between two stamps is ρ times the time and log T_i there less log T_i here. Claims
//! are those of belief propagation without the stamps to come: exact where stamps do not compete for
//! instances. Instances in the dark, rare and unlikely, have the plain rate m_i·p(z − t_i). O(L + M·W·C²) for
//! windows of W instances and counts up to C.

use super::count_tables::CountTables;
use super::distribution::DelayDistribution;
use super::lattice::Lattice;
use crate::math::sigmoid;

/// Probability of larger counts at which a table ends.
const RARE: f64 = 1e-12;

/// The expected numbers of stamps of a session.
#[derive(Debug, Clone, PartialEq)]
pub struct Compensator {
    /// From the beginning to the first stamp, and from each stamp to the next, given all stamps before.
    pub gaps: Vec<f64>,
    /// After the last stamp.
    pub rest: f64,
    /// In all, given none.
    pub expected: f64,
}

/// What an instance has given so far, and what it may still give.
struct Source<'a> {
    counts: &'a CountTables,
    most: usize,
    /// Probability of either label.
    labels: [f64; 2],
    /// e_c up to a common factor.
    given: Vec<f64>,
    /// log T at the last stamp.
    log_total: f64,
}

impl Source<'_> {
    /// G⁽ᶜ⁾(s).
    fn derivative(&self, order: usize, s: f64) -> f64 {
        let of = |label: usize| {
            let mut sum = 0.0;
            for count in (order..=self.most).rev() {
                sum = sum * s / (count - order + 1) as f64 + self.counts.weight(label, count);
            }
            sum
        };
        let [negative, positive] = self.labels;
        let mut sum = 0.0;
        // A label that is ruled out may have a table of no meaning.
        if negative > 0.0 {
            sum += negative * of(0);
        }
        if positive > 0.0 {
            sum += positive * of(1);
        }
        sum
    }

    /// Σ_c e_c·G⁽ᶜ⁺ᵏ⁾(s).
    fn total(&self, k: usize, s: f64) -> f64 {
        let terms = self.given.iter().enumerate();
        terms.map(|(c, given)| given * self.derivative(c + k, s)).sum()
    }

    /// Takes the claim of a stamp of this density, where all others have a rate of `others`.
    fn claim(&mut self, density: f64, others: f64) {
        let mut next = vec![0.0; (self.given.len() + 1).min(self.most + 1)];
        for (c, given) in self.given.iter().enumerate() {
            next[c] += given * others;
            if c + 1 < next.len() {
                next[c + 1] += given * density;
            }
        }
        // Only ratios matter, and those of many claims leave the range of numbers.
        let sum: f64 = next.iter().sum();
        next.iter_mut().for_each(|entry| *entry /= sum);
        self.given = next;
    }
}

impl Lattice<'_> {
    /// The expected numbers of stamps between stamps; `watched` is how long somebody annotated up to a
    /// time.
    pub fn compensator(
        &self,
        distribution: &DelayDistribution,
        watched: &dyn Fn(f64) -> f64,
    ) -> Compensator {
        let (stamps, times, unit) = (self.stamped.stamps, self.stamped.times, self.stamped.unit);
        let background = self.stamped.log_background.exp() / unit;
        let mut sources: Vec<Source<'_>> = self.sources();
        let means: f64 = sources.iter().map(|source| source.derivative(1, 1.0)).sum();
        let ends = distribution.ends();
        let (mut first, mut end, mut before) = (0, 0, f64::NEG_INFINITY);
        let mut gaps = Vec::with_capacity(stamps.len() + 1);
        for l in 0..=stamps.len() {
            let now = stamps.get(l).map_or(f64::INFINITY, |stamp| stamp.time);
            while first < times.len() && times[first] + ends.1 * unit <= before {
                first += 1;
            }
            while end < times.len() && times[end] + ends.0 * unit < now {
                end += 1;
            }
            let left = |t: f64| 1.0 - distribution.share_below((now - t) / unit);
            let mut gap = background * (watched(now) - watched(before));
            let near = first.min(end)..end;
            for (source, &t) in sources[near.clone()].iter_mut().zip(&times[near.clone()]) {
                let log_total = source.total(0, left(t)).ln();
                gap += source.log_total - log_total;
                source.log_total = log_total;
            }
            gaps.push(gap.max(0.0));
            if l < stamps.len() {
                let near = (&mut sources[near.clone()], &times[near]);
                self.claim(near, background * unit, now, &left);
            }
            before = now;
        }
        let rest = gaps.pop().unwrap_or(0.0);
        let expected = means + background * watched(f64::INFINITY);
        Compensator { gaps, rest, expected }
    }

    fn sources(&self) -> Vec<Source<'_>> {
        let beyond = |label: usize, most: usize| -> f64 {
            (most + 1..=self.counts.max_count()).map(|c| self.counts.probability(label, c)).sum()
        };
        let mut most = self.counts.max_count();
        while most > 1 && [0, 1].into_iter().all(|label| beyond(label, most - 1) < RARE) {
            most -= 1;
        }
        let source = |f: &f64| {
            let labels = [sigmoid(-f), sigmoid(*f)];
            Source { counts: self.counts, most, labels, given: vec![1.0], log_total: 0.0 }
        };
        self.log_odds.iter().map(source).collect()
    }

    /// Lets the instances near a stamp claim it. Rates are per unit. A stamp so far from all instances that no
    /// rate is left changes nothing.
    fn claim(
        &self,
        (sources, times): (&mut [Source<'_>], &[f64]),
        background: f64,
        stamp: f64,
        left: &dyn Fn(f64) -> f64,
    ) {
        let delays: Vec<f64> = times.iter().map(|t| (stamp - t) / self.stamped.unit).collect();
        let mut densities = vec![0.0; delays.len()];
        self.stamped.density.log_density(&delays, &mut densities);
        densities.iter_mut().for_each(|density| *density = density.exp());
        let rate = |((source, &t), &density): ((&Source<'_>, &f64), &f64)| match density > 0.0 {
            true => density * source.total(1, left(t)) / source.total(0, left(t)),
            false => 0.0,
        };
        let rates: Vec<f64> = sources.iter().zip(times).zip(&densities).map(rate).collect();
        // Sums of what lies after each, so that nothing is subtracted.
        let mut after = vec![0.0; rates.len() + 1];
        for (k, rate) in rates.iter().enumerate().rev() {
            after[k] = after[k + 1] + rate;
        }
        if background + after[0] <= 0.0 {
            return;
        }
        let mut before = background;
        for (k, source) in sources.iter_mut().enumerate() {
            if densities[k] > 0.0 {
                source.claim(densities[k], before + after[k + 1]);
                source.log_total = source.total(0, left(times[k])).ln();
            }
            before += rates[k];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inference::{Stamp, Stamped, Timeline};
    use crate::model::counts::{Bernoulli, BoundCounts, Poisson};
    use crate::model::noise::Gaussian;

    fn compensator(counts: &BoundCounts, log_background: f64, stamps: &[f64]) -> Compensator {
        let (tables, noise) = (counts.tables(100), Gaussian::at(0.5, 1.0).unwrap());
        let (density, placed) = (noise.density(), Stamp::at(stamps));
        let stamped = Timeline::new(&[10.0], &placed, 1.0).with(&density);
        let stamped = Stamped { log_background, ..stamped };
        let lattice = Lattice { stamped, log_odds: &[f64::INFINITY], counts: &tables };
        let watched = |z: f64| z.clamp(0.0, 100.0);
        lattice.compensator(&DelayDistribution::new(&density), &watched)
    }

    #[test]
    fn one_instance_has_its_closed_forms() {
        // Half of the delays are below the mean: a stamp there. scipy.stats.norm.cdf(0) = 0.5.
        let one = Bernoulli::at(0.0, 0.8).unwrap();
        let found = compensator(&one, f64::NEG_INFINITY, &[10.5]);
        // −log(1 − 0.8·½), and nothing after the only stamp that there can be.
        assert!((found.gaps[0] + 0.6_f64.ln()).abs() < 1e-4, "{found:?}"); // by the table
        assert!(found.rest < 1e-9 && (found.expected - 0.8).abs() < 1e-9, "{found:?}");
        // A Poisson count forgets: λ·½ on either side.
        let many = Poisson::at(0.0, 0.8).unwrap();
        let found = compensator(&many, f64::NEG_INFINITY, &[10.5]);
        let mean = -(0.2_f64.ln());
        assert!((found.gaps[0] - 0.5 * mean).abs() < 1e-4, "{found:?}");
        assert!((found.rest - 0.5 * mean).abs() < 1e-4, "{found:?}");
        assert!((found.expected - mean).abs() < 1e-6, "{found:?}");
    }

    #[test]
    fn a_stamp_that_nothing_can_have_given_is_taken() {
        let one = Bernoulli::at(0.0, 0.8).unwrap();
        let found = compensator(&one, f64::NEG_INFINITY, &[10.5, 9e9]);
        assert_eq!(found.gaps.len(), 2);
        assert!(found.gaps[1] < 1e-9 && found.rest == 0.0, "{found:?}");
    }

    #[test]
    fn stamps_from_nowhere_count_by_time() {
        let one = Bernoulli::at(0.0, 0.8).unwrap();
        let found = compensator(&one, 0.1_f64.ln(), &[3.0, 50.0]);
        // −log 0.2 for the press that did not come, if neither stamp is taken for it.
        assert!((found.gaps[0] - 0.3).abs() < 1e-6, "{found:?}");
        assert!((found.gaps[1] - 4.7 + 0.2_f64.ln()).abs() < 1e-4, "{found:?}");
        assert!((found.rest - 5.0).abs() < 1e-6, "{found:?}");
    }
}
