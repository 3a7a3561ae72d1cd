//! The distribution function of the delay, tabulated from its density.
//!
//! Noise models give densities alone, so that a new one is written quickly. Their reaches at falling levels
//! say where the density has its mode, its edges and its tails; between these it is integrated by
//! Gauss–Legendre, halving until halves agree. Between neighbours of the table it is a cubic with the right values
//! and densities at both, which is right to about 1e-9.

use super::vocabulary::DelayDensity;

/// Levels at which reaches are taken: those of a Gaussian every half standard deviation, out to e⁻³⁶ of
/// the peak.
const LEVELS: u32 = 17;
/// Times that a piece between two levels is halved, at least and at most.
const HALVED: (u32, u32) = (5, 20);
/// What two halves may differ from the whole by.
const AGREE: f64 = 1e-12;
/// Nodes and weights of Gauss–Legendre on −1..1.
pub(crate) const NODES: [(f64, f64); 5] = [
    (-0.906_179_845_938_664, 0.236_926_885_056_189_08),
    (-0.538_469_310_105_683, 0.478_628_670_499_366_47),
    (0.0, 0.568_888_888_888_888_9),
    (0.538_469_310_105_683, 0.478_628_670_499_366_47),
    (0.906_179_845_938_664, 0.236_926_885_056_189_08),
];

/// P(delay ≤ d), by a table.
#[derive(Debug, Clone, PartialEq)]
pub struct DelayDistribution {
    delays: Vec<f64>,
    /// P(delay ≤ d) at each of them, from 0 to 1.
    shares: Vec<f64>,
    /// Densities at each of them.
    densities: Vec<f64>,
}

impl DelayDistribution {
    /// Tabulates the integral of a density.
    pub fn new(density: &dyn DelayDensity) -> Self {
        let reach = |k: u32| density.reach(f64::from(k * k) / 8.0);
        let (earlier, later): (Vec<f64>, Vec<f64>) = (0..=LEVELS).map(reach).unzip();
        let mut edges: Vec<f64> = earlier.into_iter().rev().chain(later).collect();
        edges.retain(|edge| edge.is_finite());
        edges.dedup();
        let (mut delays, mut shares) = (edges[..edges.len().min(1)].to_vec(), vec![0.0]);
        for piece in edges.windows(2) {
            let whole = integral(density, piece[0], piece[1]);
            let mut add = |delay: f64, share: f64| {
                shares.push(shares[shares.len() - 1] + share);
                delays.push(delay);
            };
            halve(density, (piece[0], piece[1]), whole, 0, &mut add);
        }
        let total = shares[shares.len() - 1];
        let mut densities = vec![0.0; delays.len()];
        density.log_density(&delays, &mut densities);
        densities.iter_mut().for_each(|density| *density = density.exp() / total);
        shares.iter_mut().for_each(|share| *share /= total);
        Self { delays, shares, densities }
    }

    /// The delays of the table.
    pub(crate) fn delays(&self) -> &[f64] {
        &self.delays
    }

    /// Delays outside of which there are none.
    pub fn ends(&self) -> (f64, f64) {
        let end = |delay: Option<&f64>| delay.copied().unwrap_or(0.0);
        (end(self.delays.first()), end(self.delays.last()))
    }

    /// P(delay ≤ d).
    pub fn share_below(&self, delay: f64) -> f64 {
        let share = cubic(&self.delays, &self.shares, &self.densities, delay);
        // Beside an edge of the support the densities at both ends do not fit.
        let straight = interpolate(&self.delays, &self.shares, delay).unwrap_or(0.0);
        if (0.0..=1.0).contains(&share) { share } else { straight }
    }

    /// The delay that a share lies below.
    pub fn quantile(&self, share: f64) -> f64 {
        let straight = interpolate(&self.shares, &self.delays, share).unwrap_or(0.0);
        // Two of Newton's steps: the cell is so small that the straight line is nearly right.
        let step = |delay: f64| {
            let slope = interpolate(&self.delays, &self.densities, delay).unwrap_or(0.0);
            let next = delay - (self.share_below(delay) - share) / slope;
            Some(next).filter(|next| next.is_finite()).unwrap_or(delay)
        };
        step(step(straight))
    }
}

/// The cubic between two neighbours of a table that has these values and slopes there; beyond its ends, the value
/// there.
pub(crate) fn cubic(at: &[f64], values: &[f64], slopes: &[f64], x: f64) -> f64 {
    let above = at.partition_point(|&entry| entry < x);
    if above == 0 || above == at.len() {
        return values.get(above.min(values.len().saturating_sub(1))).copied().unwrap_or(0.0);
    }
    let (i, j) = (above - 1, above);
    let width = at[j] - at[i];
    let s = (x - at[i]) / width;
    let rise = values[j] - values[i];
    let (a, b) = (slopes[i] * width - rise, rise - slopes[j] * width);
    values[i] + s * rise + s * (1.0 - s) * ((1.0 - s) * a + s * b)
}

/// The second column where the first, which does not fall, has this value; none if there are no rows.
fn interpolate(from: &[f64], to: &[f64], value: f64) -> Option<f64> {
    let above = from.partition_point(|&entry| entry < value);
    if above == 0 || above == from.len() {
        return to.get(above.min(to.len().saturating_sub(1))).copied();
    }
    let (low, high) = (from[above - 1], from[above]);
    let fraction = (value - low) / (high - low);
    Some(to[above - 1] + fraction * (to[above] - to[above - 1]))
}

/// Adds the ends and integrals of the pieces of an interval, each so small that its halves agree with it.
fn halve(
    density: &dyn DelayDensity,
    (low, high): (f64, f64),
    whole: f64,
    depth: u32,
    add: &mut dyn FnMut(f64, f64),
) {
    let middle = 0.5 * (low + high);
    let halves = [integral(density, low, middle), integral(density, middle, high)];
    let agree = (halves[0] + halves[1] - whole).abs() <= AGREE;
    if (depth >= HALVED.0 && agree) || depth == HALVED.1 {
        return add(high, halves[0] + halves[1]);
    }
    halve(density, (low, middle), halves[0], depth + 1, add);
    halve(density, (middle, high), halves[1], depth + 1, add);
}

fn integral(density: &dyn DelayDensity, low: f64, high: f64) -> f64 {
    let (middle, half) = (0.5 * (low + high), 0.5 * (high - low));
    let mut values = [0.0; NODES.len()];
    density.log_density(&NODES.map(|(node, _)| middle + half * node), &mut values);
    half * NODES.iter().zip(values).map(|((_, weight), value)| weight * value.exp()).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::noise::{Gaussian, Laplace, Noise, StudentT, Uniform};

    /// SciPy 1.17.1: `norm(0.4, 0.8).cdf`, `laplace(0.4, 0.8 / 2**0.5).cdf`, `t(3, 0.4, 0.8).cdf` and
    /// `uniform(-1, 4).cdf` at the delays below.
    #[test]
    fn shares_are_those_of_scipy() {
        let delays = [-2.0, 0.0, 0.4, 1.5, 4.0];
        let cases = [
            (
                Gaussian::at(0.4, 0.8),
                [0.0013498980316, 0.3085375387260, 0.5, 0.9154342776487, 0.9999966023269],
            ),
            (
                Laplace::at(0.4, 0.8),
                [0.0071847980452, 0.2465343456976, 0.5, 0.9284737546514, 0.9991387349070],
            ),
            (
                StudentT::at(0.4, 0.8, 3.0),
                [0.0288344428112, 0.3257239824241, 0.5, 0.8685869639867, 0.9897547938278],
            ),
            (Uniform::at(-1.0, 3.0), [0.0, 0.25, 0.35, 0.625, 1.0]),
        ];
        for (noise, wanted) in cases {
            let noise = noise.unwrap();
            let table = DelayDistribution::new(&noise.density());
            for (delay, wanted) in delays.into_iter().zip(wanted) {
                let found = table.share_below(delay);
                // A cubic between nodes a sixtieth of a standard deviation apart; tails are cut at e⁻³⁶.
                assert!((found - wanted).abs() < 2e-8, "{noise:?} at {delay}: {found}");
                let inside = wanted > 0.0 && wanted < 1.0;
                assert!(!inside || (table.quantile(found) - delay).abs() < 1e-9, "{noise:?}");
            }
        }
    }

    #[test]
    fn every_noise_model_has_one() {
        for kind in Noise::kinds() {
            let bound = kind.example().with(&kind.example_values()).unwrap();
            let table = DelayDistribution::new(&bound.density());
            let mut random = crate::math::Random::new(5);
            let draws: Vec<f64> = (0..4000).map(|_| bound.sample(&mut random)).collect();
            for share in [0.1, 0.5, 0.8] {
                let below = draws.iter().filter(|d| **d <= table.quantile(share)).count();
                // Four standard errors of 4000 draws.
                let apart = (below as f64 / 4000.0 - share).abs();
                assert!(apart < 4.0 * 0.008, "{} at {share}: {apart}", kind.name);
            }
        }
    }
}
