//! A chain and one stream of stamps in order, summed exactly: what the exchange is tested against.
//!
//! ```text
//! α_i(y, l) = Σ_y' e^{f_i·y + g(y', y)} · [ u_v(0)·α_{i−1}(y', l) + u_v(1)·p_l(i)·α_{i−1}(y', l−1) ]
//! ```
//!
//! with v the onset, [y' = 0, y = 1], u_v(c) the probability of c stamps, one at most, and p_l(i) the density of stamp
//! l if instance i gave it. Dense, O(n·m): the band of windows is the business of `inference`.

use super::Chain;
use crate::math::{log_add, log_sum};

/// log Σ over labels and ordered alignments of the stamps' density times the chain's weight, without its normaliser.
/// `log_counts[v][c]`, `log_densities[l][i]`.
pub(crate) fn log_joint(
    chain: &Chain,
    nodes: &[[f64; 2]],
    log_counts: [[f64; 2]; 2],
    log_densities: &[Vec<f64>],
) -> f64 {
    let stamps = log_densities.len();
    let nothing = super::Told::nothing(nodes.len());
    let mut alpha = [vec![f64::NEG_INFINITY; stamps + 1], vec![f64::NEG_INFINITY; stamps + 1]];
    // Before the recording there is no run, and no stamp has been given.
    alpha[0][0] = 0.0;
    for (i, node) in nodes.iter().enumerate() {
        let edge = if i == 0 { [[0.0; 2]; 2] } else { chain.edge(i, &nothing) };
        let mut next = [vec![f64::NEG_INFINITY; stamps + 1], vec![f64::NEG_INFINITY; stamps + 1]];
        for (y, next) in next.iter_mut().enumerate() {
            for (before, alpha) in alpha.iter().enumerate() {
                let counts = log_counts[usize::from(before == 0 && y == 1)];
                let step = node[y] + edge[before][y];
                for l in 0..=stamps {
                    next[l] = log_add(next[l], step + counts[0] + alpha[l]);
                    if l > 0 {
                        let given = counts[1] + log_densities[l - 1][i] + alpha[l - 1];
                        next[l] = log_add(next[l], step + given);
                    }
                }
            }
        }
        alpha = next;
    }
    log_sum(&[alpha[0][stamps], alpha[1][stamps]])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::labels::Rates;
    use crate::math::Random;

    /// The sum over all labels and all sets of instances that gave the stamps, in order.
    fn enumerated(
        chain: &Chain,
        nodes: &[[f64; 2]],
        log_counts: [[f64; 2]; 2],
        log_densities: &[Vec<f64>],
    ) -> f64 {
        let n = nodes.len();
        let nothing = crate::labels::Told::nothing(n);
        let mut terms = Vec::new();
        for labels in 0..1_u32 << n {
            for givers in (0..1_u32 << n).filter(|g| g.count_ones() as usize == log_densities.len())
            {
                let (mut log_weight, mut stamp) = (0.0, 0);
                for i in 0..n {
                    let label = |i: usize| (labels >> i & 1) as usize;
                    log_weight += nodes[i][label(i)];
                    if i > 0 {
                        log_weight += chain.edge(i, &nothing)[label(i - 1)][label(i)];
                    }
                    let onset = label(i) == 1 && (i == 0 || label(i - 1) == 0);
                    let given = (givers >> i & 1) as usize;
                    log_weight += log_counts[usize::from(onset)][given];
                    if given == 1 {
                        log_weight += log_densities[stamp][i];
                        stamp += 1;
                    }
                }
                terms.push(log_weight);
            }
        }
        log_sum(&terms)
    }

    #[test]
    fn the_recursion_is_the_sum_over_labels_and_alignments() {
        for seed in 0..12 {
            let mut random = Random::new(seed);
            let times: Vec<f64> = (0..7).map(|i| f64::from(i) + 0.4 * random.uniform()).collect();
            let chain = Chain::new(&times, Rates { onset: 0.4, offset: 0.6 });
            let nodes: Vec<[f64; 2]> = times.iter().map(|_| [0.0, random.normal()]).collect();
            let log_counts = [[0.95_f64, 0.05], [0.2, 0.8]].map(|row| row.map(f64::ln));
            let stamps = [1.2, 3.0, 5.5].into_iter().take(1 + seed as usize % 3);
            let density = |z: f64| times.iter().map(|t| -(z - t) * (z - t)).collect::<Vec<f64>>();
            let densities: Vec<Vec<f64>> = stamps.map(density).collect();
            let got = log_joint(&chain, &nodes, log_counts, &densities);
            let want = enumerated(&chain, &nodes, log_counts, &densities);
            // Thousands of terms: rounding only.
            assert!((got - want).abs() < 1e-11, "seed {seed}: {got} {want}");
        }
    }
}
