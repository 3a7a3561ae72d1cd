//! Multiple-instance learning: the paper's adaptation of MI-SVM (Andrews et al. 2002) to logistic
//! regression.
//!
//! A session is cut into bags of B neighbouring instances. A bag is positive if the nearest instance of a
//! stamp falls into it. All instances of negative bags are negative; in a positive bag only one instance
//! counts, its *witness*: the likeliest one by the detector. Choosing witnesses and fitting the detector
//! alternate until the witnesses stay. Neither step can worsen the objective. As in MI-SVM, the first
//! detector sees the mean of each positive bag.

use ndarray::{Array2, Axis};
use serde::{Deserialize, Serialize};

use super::naive::naive_labels;
use super::{Learner, TrainedModel, described};
use crate::labels::Labels;
use crate::learning::{Minimum, Supervised, Target};
use crate::model::Detector;
use crate::model::classifier::Classifier;
use crate::{Control, Error, FeatureView, Features, Recording, Result};

/// Most rounds, even if witnesses still change: each lowers the objective, so they cannot cycle, but
/// there could be many.
const MAX_ROUNDS: usize = 100;

/// Witness learning on bags: MI.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MultipleInstance {
    /// Classifier and priors.
    pub supervised: Supervised,
    /// Instances per bag, at least 1.
    pub bag_size: usize,
}

impl Default for MultipleInstance {
    fn default() -> Self {
        Self { supervised: Supervised::default(), bag_size: 4 }
    }
}

/// Course and result of the alternation.
#[derive(Debug)]
pub struct Witnesses {
    /// The final detector.
    pub detector: Detector,
    /// Per recording, the witness of each positive bag.
    pub instances: Vec<Vec<usize>>,
    /// The objective after every fit to witnesses; it never rises.
    pub objective: Vec<f64>,
    /// Whether the witnesses stopped changing.
    pub settled: bool,
}

impl Learner for MultipleInstance {
    fn name(&self) -> String {
        match super::abbreviation(&self.supervised.classifier) {
            "LR" => "MI".to_owned(),
            other => format!("{other}-MI"),
        }
    }

    fn weight_precision(&self) -> f64 {
        self.supervised.priors.weight_precision
    }

    fn options(&self) -> serde_json::Value {
        described("multiple_instance", self)
    }

    fn fit(
        &self,
        recordings: &[&Recording],
        seed: u64,
        control: Control<'_>,
    ) -> Result<TrainedModel> {
        Ok(TrainedModel::Detector(self.alternate(recordings, seed, control)?.detector))
    }
}

/// Bags of one recording: the ranges of the positive ones, and targets with only negatives set.
struct Bags {
    positive: Vec<Vec<usize>>,
    negatives: Vec<Target>,
}

impl MultipleInstance {
    /// Alternates between witnesses and detector, and reports the course.
    pub fn alternate(
        &self,
        recordings: &[&Recording],
        seed: u64,
        control: Control<'_>,
    ) -> Result<Witnesses> {
        if self.bag_size == 0 {
            let expected = "at least 1";
            return Err(Error::OutOfRange { name: "bag_size".into(), value: 0.0, expected });
        }
        if self.supervised.labels == Labels::Chain {
            return Err(Error::NotOfChain {
                what: "learning from a witness in each bag",
                instead: "compare other learners",
            });
        }
        self.supervised.priors.check()?;
        let features: Vec<FeatureView<'_>> =
            recordings.iter().map(|recording| recording.session.features()).collect();
        let quiet = Control { watch: None, ..control };
        let classifier = self.supervised.classifier.fit(&features, seed, quiet)?;
        let bags: Vec<Bags> = recordings.iter().map(|recording| self.bags(recording)).collect();
        let positives: usize = bags.iter().map(|bags| bags.positive.len()).sum();
        let negatives: f64 = bags.iter().flat_map(|b| &b.negatives).map(|t| t.weight).sum();
        if positives == 0 || negatives == 0.0 {
            return Err(Error::OneClass { positives: positives as f64, negatives });
        }
        let start = classifier.start(seed);
        let first = self.fit_to_means(classifier.as_ref(), &features, &bags, start, quiet)?;
        let mut params = first.params;
        let mut instances = choose(classifier.as_ref(), &params, &features, &bags);
        let mut objective = Vec::new();
        let mut settled = false;
        while !settled && objective.len() < MAX_ROUNDS {
            let minimum = self.fit_to_witnesses(
                classifier.as_ref(),
                &features,
                &bags,
                &instances,
                params,
                quiet,
            )?;
            objective.push(minimum.value);
            control.tell(objective.len(), MAX_ROUNDS, None);
            params = minimum.params;
            let next = choose(classifier.as_ref(), &params, &features, &bags);
            settled = next == instances;
            instances = next;
        }
        Ok(Witnesses {
            detector: Detector::new(classifier.into(), params),
            instances,
            objective,
            settled,
        })
    }

    fn bags(&self, recording: &Recording) -> Bags {
        let session = &recording.session;
        let labels = naive_labels(session);
        let mut bags = Bags {
            positive: Vec::new(),
            negatives: vec![Target { positive: 0.0, weight: 0.0 }; session.len()],
        };
        for bag in session.observed_instances().chunks(self.bag_size) {
            if bag.iter().any(|&i| labels[i]) {
                bags.positive.push(bag.to_vec());
            } else {
                bag.iter().for_each(|&i| bags.negatives[i].weight = 1.0);
            }
        }
        bags
    }

    fn fit_to_witnesses(
        &self,
        classifier: &dyn Classifier,
        features: &[FeatureView<'_>],
        bags: &[Bags],
        witnesses: &[Vec<usize>],
        start: Vec<f64>,
        control: Control<'_>,
    ) -> Result<Minimum> {
        let targets: Vec<Vec<Target>> = bags
            .iter()
            .zip(witnesses)
            .map(|(bags, witnesses)| {
                let mut targets = bags.negatives.clone();
                witnesses.iter().for_each(|&i| targets[i] = Target::from(true));
                targets
            })
            .collect();
        let data: Vec<_> =
            features.iter().zip(&targets).map(|(rows, targets)| (*rows, &targets[..])).collect();
        self.supervised.fit_classifier(classifier, &data, start, control)
    }

    fn fit_to_means(
        &self,
        classifier: &dyn Classifier,
        features: &[FeatureView<'_>],
        bags: &[Bags],
        start: Vec<f64>,
        control: Control<'_>,
    ) -> Result<Minimum> {
        let means: Vec<Features<'_>> = features
            .iter()
            .zip(bags)
            .map(|(rows, bags)| {
                let mut means = Array2::zeros((bags.positive.len(), rows.ncols()));
                for (mut mean, bag) in means.rows_mut().into_iter().zip(&bags.positive) {
                    let bag = rows.select(bag);
                    mean.assign(
                        &bag.view().to_f64().mean_axis(Axis(0)).expect("a bag has instances"),
                    );
                }
                means.into()
            })
            .collect();
        let positive: Vec<Vec<Target>> =
            means.iter().map(|means| vec![Target::from(true); means.view().nrows()]).collect();
        let of_means = means.iter().zip(&positive).map(|(rows, t)| (rows.view(), &t[..]));
        let of_negatives = features.iter().zip(bags).map(|(rows, b)| (*rows, &b.negatives[..]));
        let data: Vec<_> = of_negatives.chain(of_means).collect();
        self.supervised.fit_classifier(classifier, &data, start, control)
    }
}

/// The likeliest instance of each positive bag; the earliest of equals.
fn choose(
    classifier: &dyn Classifier,
    params: &[f64],
    features: &[FeatureView<'_>],
    bags: &[Bags],
) -> Vec<Vec<usize>> {
    let witnesses = |(rows, bags): (&FeatureView<'_>, &Bags)| {
        let mut log_odds = vec![0.0; rows.nrows()];
        classifier.log_odds(
            params,
            classifier.prepare((*rows).into(), Control::default()).view(),
            &mut log_odds,
        );
        let likeliest = |bag: &Vec<usize>| {
            let mut best = bag[0];
            for &i in bag {
                if log_odds[i] > log_odds[best] {
                    best = i;
                }
            }
            best
        };
        bags.positive.iter().map(likeliest).collect()
    };
    features.iter().zip(bags).map(witnesses).collect()
}
