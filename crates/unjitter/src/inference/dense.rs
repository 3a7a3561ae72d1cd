//! The textbook recursion over all L × M cells in log space, for checking.
//!
//! No windows, no scaling, no case distinctions: O(L·M·C) sums and O(L·M) memory, written like its
//! equations. All fast code in this module is tested against it.

use super::lattice::Lattice;
use super::marginals::Marginals;
use super::vocabulary::{Impossible, Stamped};
use crate::math::{log_add, log_sum};

/// The same result as [`Lattice::marginals`], from every cell.
pub fn marginals(lattice: &Lattice<'_>) -> Result<Marginals, Impossible> {
    let (instances, stamps) = (lattice.stamped.times.len(), lattice.stamped.stamps.len());
    let width = stamps + 1;
    let most = lattice.counts.max_count().min(stamps);
    let log_density = log_densities(lattice);
    let log_u = |i: usize, c: usize| lattice.counts.log_mixed(lattice.log_odds[i], c);
    // log Π_{j=l+1..l+c} p(z_j | t_i), summed along the arc: a difference of prefix sums would be
    // −∞ − (−∞) under bounded noise.
    let log_arc = |i: usize, l: usize, c: usize| -> f64 {
        log_density[i * stamps + l..i * stamps + l + c].iter().sum()
    };

    let mut a = vec![f64::NEG_INFINITY; (instances + 1) * width];
    a[0] = 0.0;
    for i in 0..instances {
        for l in 0..width {
            for c in 0..=most.min(l) {
                let path = log_u(i, c) + a[i * width + l - c] + log_arc(i, l - c, c);
                a[(i + 1) * width + l] = log_add(a[(i + 1) * width + l], path);
            }
        }
    }
    let mut b = vec![f64::NEG_INFINITY; (instances + 1) * width];
    b[instances * width + stamps] = 0.0;
    for i in (0..instances).rev() {
        for l in 0..width {
            for c in 0..=most.min(stamps - l) {
                let path = log_u(i, c) + b[(i + 1) * width + l + c] + log_arc(i, l, c);
                b[i * width + l] = log_add(b[i * width + l], path);
            }
        }
    }
    let log_evidence = a[instances * width + stamps];
    if log_evidence == f64::NEG_INFINITY {
        return Err(Impossible::Together);
    }

    let mut counts = vec![vec![[0.0; 2]; most + 1]; instances];
    let mut values = vec![0.0; stamps * instances];
    let mut positive = vec![0.0; stamps * instances];
    for i in 0..instances {
        // Every row sums to the evidence. The row's own sum has the same rounding as its terms, which
        // matters when the logarithms reach tens of thousands.
        let row = i * width..(i + 1) * width;
        let meet: Vec<f64> = a[row.clone()].iter().zip(&b[row]).map(|(a, b)| a + b).collect();
        let log_evidence = log_sum(&meet);
        for l in 0..width {
            for c in 0..=most.min(stamps - l) {
                let log_path =
                    a[i * width + l] + log_arc(i, l, c) + b[(i + 1) * width + l + c] - log_evidence;
                for y in [0, 1] {
                    let log_joint = lattice.counts.log_joint(lattice.log_odds[i], y, c);
                    let mass = (log_path + log_joint).exp();
                    counts[i][c][y] += mass;
                    for stamp in l..l + c {
                        values[stamp * instances + i] += mass;
                        positive[stamp * instances + i] += mass * y as f64;
                    }
                }
            }
        }
    }
    Ok(Marginals::whole(log_evidence, &counts, &values, &positive))
}

/// log p(z_l | t_i), instance by instance.
fn log_densities(lattice: &Lattice<'_>) -> Vec<f64> {
    let Stamped { times, stamps, unit, density, .. } = lattice.stamped;
    let delays: Vec<f64> =
        times.iter().flat_map(|t| stamps.iter().map(move |z| (z.time - t) / unit)).collect();
    let mut out = vec![0.0; delays.len()];
    density.log_density(&delays, &mut out);
    out
}
