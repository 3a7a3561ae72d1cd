//! Naive learning: each stamp marks its nearest instance, and all others are negative.

use serde::{Deserialize, Serialize};

use super::{Learner, TrainedModel, abbreviation, described, fit_targets};
use crate::learning::{Supervised, Target};
use crate::session::nearest;
use crate::{Control, Recording, Result, Session};

/// Supervised learning on naively aligned stamps: LR-N, NN-N.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Naive {
    /// Classifier and priors.
    pub supervised: Supervised,
}

impl Learner for Naive {
    fn name(&self) -> String {
        format!("{}-N", abbreviation(&self.supervised.classifier))
    }

    fn weight_precision(&self) -> f64 {
        self.supervised.priors.weight_precision
    }

    fn options(&self) -> serde_json::Value {
        described("naive", self)
    }

    fn fit(
        &self,
        recordings: &[&Recording],
        seed: u64,
        control: Control<'_>,
    ) -> Result<TrainedModel> {
        let targets: Vec<Vec<Target>> = recordings
            .iter()
            .map(|recording| {
                observed_targets(&recording.session, &naive_labels(&recording.session))
            })
            .collect();
        fit_targets(&self.supervised, recordings, &targets, seed, control)
    }
}

/// Which instances are nearest to a stamp, or lie between its two ends.
pub(crate) fn naive_labels(session: &Session) -> Vec<bool> {
    let observed = session.observed_instances();
    let times: Vec<f64> = observed.iter().map(|&i| session.times()[i]).collect();
    let mut labels = vec![false; session.len()];
    for (l, &stamp) in session.stamps().iter().enumerate() {
        let first = nearest(&times, stamp);
        let last = session.end_of(l).map_or(first, |end| nearest(&times, end));
        observed[first..=last].iter().for_each(|&i| labels[i] = true);
    }
    labels
}

/// How many true positives in annotated intervals stay positive after each stamp has gone to its nearest
/// instance, and how many there are.
pub fn kept_by_naive(recording: &Recording) -> Result<(usize, usize)> {
    let truth = recording.hand_labels()?;
    let labels = naive_labels(&recording.session);
    let true_ones = || recording.session.observed_instances().into_iter().filter(|&i| truth[i]);
    Ok((true_ones().filter(|&i| labels[i]).count(), true_ones().count()))
}

/// Labels as targets; instances outside the annotated intervals are left out.
pub(super) fn observed_targets(session: &Session, labels: &[bool]) -> Vec<Target> {
    let mut targets = vec![Target { positive: 0.0, weight: 0.0 }; session.len()];
    for i in session.observed_instances() {
        targets[i] = Target::from(labels[i]);
    }
    targets
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::Array2;

    #[test]
    fn only_stamps_nearest_to_a_true_positive_keep_it() {
        let times = vec![0.0, 1.0, 2.0, 3.0, 4.0];
        // The second stamp strays from 2 to 3; the third is right; 0 is true but was not annotated.
        let session = Session::new("s", Array2::<f64>::zeros((5, 1)), times, vec![1.1, 2.6, 4.2])
            .and_then(|session| session.with_observed(vec![(0.5, 5.0)]))
            .unwrap();
        let truth = Some(vec![true, true, true, false, true]);
        assert_eq!(kept_by_naive(&Recording { session, truth }).unwrap(), (2, 3));
    }
}
