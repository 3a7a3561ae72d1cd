//! The likeliest labels of a chain: Viterbi 1967, in linear time.

use super::{Chain, Told};

impl Chain {
    /// The labels of the largest weight, and its logarithm; of equal ones those with the fewest positives
    /// towards the end.
    pub fn best(&self, nodes: &[[f64; 2]], told: &Told) -> (Vec<bool>, f64) {
        let nodes = self.told_nodes(nodes, told);
        let Some(&(mut here)) = nodes.first() else { return (Vec::new(), 0.0) };
        // The better label before each instance, by the label there.
        let mut came_from = Vec::with_capacity(nodes.len() - 1);
        for (i, node) in nodes.iter().enumerate().skip(1) {
            let edge = self.edge(i, told);
            let from = |y: usize| usize::from(here[1] + edge[1][y] > here[0] + edge[0][y]);
            let origin = [from(0), from(1)];
            here = [0, 1].map(|y| here[origin[y]] + edge[origin[y]][y] + node[y]);
            came_from.push(origin);
        }
        let mut label = usize::from(here[1] > here[0]);
        let log_weight = here[label];
        let mut labels = vec![label == 1];
        for origin in came_from.iter().rev() {
            label = origin[label];
            labels.push(label == 1);
        }
        labels.reverse();
        (labels, log_weight)
    }
}
