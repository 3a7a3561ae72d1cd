//! Kolmogorov's and Smirnov's distance between numbers and what they should be, with its band.

use serde::Serialize;

/// How far the distribution of some numbers is from the one that they should have.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Distance {
    /// The largest difference between the two distribution functions.
    pub distance: f64,
    /// What it stays below in 95 of 100 cases if the model is right; 1 if there are no numbers.
    pub band: f64,
    /// How many numbers there are; of weighted ones, how many equal ones say as much.
    pub count: f64,
}

impl Distance {
    /// Of numbers that should be uniform on 0 to 1, with weights, in any order. `count` decides the band.
    pub(crate) fn of_uniform(mut shares: Vec<(f64, f64)>, count: f64) -> Self {
        shares.sort_by(|a, b| a.0.total_cmp(&b.0));
        let total: f64 = shares.iter().map(|(_, weight)| weight).sum();
        let (mut below, mut distance) = (0.0, 0.0_f64);
        for (share, weight) in shares {
            // On either side of the step.
            distance = distance.max((share - below / total).abs());
            below += weight;
            distance = distance.max((share - below / total).abs());
        }
        Self { distance, band: band(count), count }
    }

    /// Whether the numbers are not what they should be.
    pub fn is_outside(&self) -> bool {
        self.distance > self.band
    }
}

/// What the distance of `count` numbers stays below in 95 of 100 cases: the limit law, with the correction of
/// Stephens (1970), *Use of the Kolmogorov–Smirnov, Cramér–von Mises and related statistics without extensive
/// tables*.
fn band(count: f64) -> f64 {
    let root = count.sqrt();
    if count > 0.0 { (1.358_098_8 / (root + 0.12 + 0.11 / root)).min(1.0) } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_those_of_scipy() {
        // SciPy 1.17.1: kstest([0.05, 0.3, 0.35, 0.9, 1.7, 2.2, 0.01], "expon").statistic
        let gaps = [0.05, 0.3, 0.35, 0.9, 1.7, 2.2, 0.01_f64];
        let shares = |weight: f64| gaps.iter().map(|gap| (-(-gap).exp_m1(), weight)).collect();
        let found = Distance::of_uniform(shares(1.0), 7.0);
        assert!((found.distance - 0.2761166611472848).abs() < 1e-14, "{found:?}"); // roundings
        // Weights that are all alike do not matter.
        let weighted = Distance::of_uniform(shares(0.25), 7.0);
        assert!((found.distance - weighted.distance).abs() < 1e-14, "{weighted:?}");
        let none = Distance::of_uniform(Vec::new(), 0.0);
        assert!(!none.is_outside() && none.distance == 0.0);
    }

    #[test]
    fn bands_are_those_of_scipy() {
        // SciPy 1.17.1: kstwo.ppf(0.95, n).
        let exact = [
            (5.0, 0.5632751983660635),
            (10.0, 0.4092460847775048),
            (20.0, 0.2940753144343292),
            (50.0, 0.18840647917792508),
            (200.0, 0.09515787601831346),
            (1000.0, 0.042776500461245),
            (100_000.0, 0.004293014618329405),
        ];
        for (count, wanted) in exact {
            // The correction is that good.
            assert!((band(count) / wanted - 1.0).abs() < 0.006, "{count}: {}", band(count));
        }
    }

    #[test]
    fn weights_count() {
        // All weight below 0.2: the distribution functions differ by 0.8 there.
        let found = Distance::of_uniform(vec![(0.9, 0.0), (0.2, 3.0), (0.1, 1.0)], 4.0);
        assert!((found.distance - 0.8).abs() < 1e-15, "{found:?}");
    }
}
