//! The profile of one parameter: how far the log posterior falls as it moves away and all others follow.
//!
//! Near a boundary, such as a rate of nothing, the log posterior is no parabola, and an interval from its
//! curvature is wrong on one side at least. The profile is followed to where it has fallen enough. It is
//! kept as the signed root r of twice the fall, which grows about linearly with the parameter and is
//! normal in large samples.

use serde::{Deserialize, Serialize};

/// Some places on the profile of a parameter, on its unconstrained scale.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Where the parameter is in the flat vector.
    pub(crate) place: usize,
    /// Its standard error by the curvature: the distance of a small root, over that root.
    pub(crate) standard_error: f64,
    /// Root and distance from the estimate, both with a sign and increasing; the estimate itself is left out.
    pub(crate) nodes: Vec<(f64, f64)>,
}

impl Profile {
    /// The parameter's distance from its estimate at this root. Beyond the last node it goes on straight.
    pub(crate) fn distance(&self, root: f64) -> f64 {
        let own = |&&(r, _): &&(f64, f64)| r * root > 0.0;
        // Distance over root: smooth, known at the estimate too, and linear between the nodes.
        let mut before = (0.0, self.standard_error);
        let mut side: Vec<(f64, f64)> =
            self.nodes.iter().filter(own).map(|&(r, d)| (r.abs(), d / r)).collect();
        side.sort_by(|a, b| a.0.total_cmp(&b.0));
        for (r, per_root) in side {
            if root.abs() <= r {
                let share = (root.abs() - before.0) / (r - before.0);
                return root * (before.1 + share * (per_root - before.1));
            }
            before = (r, per_root);
        }
        root * before.1
    }

    /// All parameters with this one moved to where its root is this.
    pub(crate) fn moved(&self, params: &[f64], root: f64) -> Vec<f64> {
        let mut moved = params.to_vec();
        moved[self.place] += self.distance(root);
        moved
    }

    /// Whether it can be one of a parameter: finite, with signs that agree, and increasing.
    pub(crate) fn is_sound(&self) -> bool {
        let is_good = |&(root, distance): &(f64, f64)| {
            root.is_finite() && distance.is_finite() && root * distance > 0.0
        };
        let increase = |pair: &[(f64, f64)]| pair[0].0 < pair[1].0 && pair[0].1 < pair[1].1;
        self.standard_error.is_finite()
            && self.standard_error > 0.0
            && self.nodes.iter().all(is_good)
            && self.nodes.windows(2).all(increase)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn between_nodes_a_bent_profile_is_followed() {
        // distance = r + r²/10 in both directions: exact, since distance over root is linear.
        let at = |r: f64| r + r * r / 10.0;
        let nodes = [-3.0, -1.0, 1.0, 2.0].map(|r| (r, at(r))).to_vec();
        let profile = Profile { place: 0, standard_error: 1.0, nodes };
        assert!(profile.is_sound());
        for root in [-2.9, -0.3, 0.0, 0.5, 1.7] {
            assert!((profile.distance(root) - at(root)).abs() < 1e-14); // roundings of three operations
        }
        // No nodes on one side: as the curvature says.
        let bare = Profile { nodes: Vec::new(), ..profile.clone() };
        assert_eq!(bare.distance(-2.0), -2.0);
        let crossed = Profile { nodes: vec![(1.0, 2.0), (2.0, 1.0)], ..profile };
        assert!(!crossed.is_sound());
    }
}
