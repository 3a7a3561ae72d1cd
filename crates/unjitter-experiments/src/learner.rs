//! A learner of an experiment, and its grid of candidates.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use unjitter::evaluation::Contender;
use unjitter::inference::Order;
use unjitter::labels::Labels;
use unjitter::learning::{FitOptions, LbfgsOptions};
use unjitter::{ClassifierSpec, Model, Noise};
use unjitter_cli::learners::{Grid, Kind};

use crate::place::Mistake;

/// Starts besides the naive one; both models have the same, for a fair comparison.
const RESTARTS: usize = 2;

/// One learner; lists are grids to choose from in each fold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LearnerSpec {
    /// Which learner.
    pub kind: Kind,
    /// Its name in tables; by default the paper's.
    pub name: Option<String>,
    /// Its classifier.
    #[serde(default = "logistic", deserialize_with = "all_heard")]
    pub classifier: ClassifierSpec,
    /// Noise model, only for `imprecise`; by default Gaussian.
    pub noise: Option<Noise>,
    /// The model, only for `imprecise`; by default the library's.
    pub model: Option<Whose>,
    /// Whether stamps keep the order of their instances, only for `imprecise`; by default as in the model.
    pub alignment: Option<Order>,
    /// How labels depend on each other; by default not at all.
    #[serde(default)]
    pub labels: Labels,
    /// Precisions of the prior on weights.
    #[serde(default = "one")]
    pub weight_precision: Vec<f64>,
    /// Instances per bag, only for `multiple_instance`.
    pub bag_size: Option<Vec<usize>>,
    /// Distance to a stamp in units, only for `drop_near`.
    pub radius: Option<Vec<f64>>,
    /// Width of the bell in units, only for `smear`.
    pub width: Option<Vec<f64>>,
    /// Starts besides the naive one, only for `imprecise`; by default two.
    pub restarts: Option<usize>,
    /// When the optimiser stops.
    #[serde(default)]
    pub optimiser: LbfgsOptions,
}

/// A model with all its settings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Whose {
    /// The library's default.
    #[default]
    Library,
    /// The paper's.
    Paper,
}

impl Whose {
    fn model(self) -> Model {
        match self {
            Self::Library => Model::default(),
            Self::Paper => Model::paper(),
        }
    }
}

fn logistic() -> ClassifierSpec {
    ClassifierSpec::Logistic
}

/// A classifier without unknown settings, which the library itself would overlook.
fn all_heard<'de, D: Deserializer<'de>>(input: D) -> Result<ClassifierSpec, D::Error> {
    let found = toml::Table::deserialize(input)?;
    let classifier = ClassifierSpec::deserialize(found.clone()).map_err(D::Error::custom)?;
    let heard = toml::Table::try_from(&classifier).map_err(D::Error::custom)?;
    match found.keys().find(|key| !heard.contains_key(*key)) {
        Some(key) => {
            let name = classifier.name();
            Err(D::Error::custom(format!("unknown field `{key}` of a {name} classifier")))
        }
        None => Ok(classifier),
    }
}

fn one() -> Vec<f64> {
    vec![1.0]
}

impl LearnerSpec {
    /// Its name in tables.
    pub(crate) fn name(&self) -> String {
        self.name.clone().unwrap_or_else(|| self.grid(None, 1.0).contender().name + self.variant())
    }

    /// What the name adds where the model is not the library's default.
    fn variant(&self) -> &'static str {
        if self.labels == Labels::Chain {
            return " (chain)";
        }
        let whose = self.model.unwrap_or_default();
        match (whose, self.alignment.unwrap_or(whose.model().alignment)) {
            (Whose::Library, Order::Free) => "",
            (Whose::Library, Order::Ordered) => " (in order)",
            (Whose::Paper, Order::Ordered) => " (paper)",
            (Whose::Paper, Order::Free) => " (paper, any order)",
        }
    }

    /// Whether other stamps would change what it learns.
    pub(crate) fn sees_stamps(&self) -> bool {
        self.kind != Kind::HandAligned
    }

    /// The grid. `components` replaces the noise model of our learners; `unit` is the length of the
    /// annotator's unit of time.
    pub(crate) fn contender(&self, components: Option<usize>, unit: f64) -> Contender {
        Contender { name: self.name(), candidates: self.grid(components, unit).candidates() }
    }

    fn grid(&self, components: Option<usize>, unit: f64) -> Grid {
        let noise = match components {
            None => self.noise.clone().unwrap_or(Noise::Gaussian),
            // The same density, and the same fit as for any other Gaussian.
            Some(1) => Noise::Gaussian,
            Some(components) => Noise::GaussianMixture { components },
        };
        let times = |given: &Option<Vec<f64>>| {
            let usual = given.clone().unwrap_or(vec![1.0]);
            usual.into_iter().map(|time| time * unit).collect()
        };
        let model = self.model.unwrap_or_default().model();
        Grid {
            kind: self.kind,
            model: Model {
                classifier: self.classifier.clone(),
                noise,
                labels: self.labels,
                alignment: self.alignment.unwrap_or(model.alignment),
                ..model
            },
            fit: FitOptions {
                restarts: self.restarts.unwrap_or(RESTARTS),
                optimiser: self.optimiser.clone(),
                ..FitOptions::default()
            },
            precisions: self.weight_precision.clone(),
            bag_sizes: self.bag_size.clone().unwrap_or(vec![4]),
            radii: times(&self.radius),
            widths: times(&self.width),
        }
    }

    /// Refuses settings that this kind does not have, and empty grids. `k` is its position.
    pub(crate) fn check(&self, k: usize) -> Result<(), Mistake> {
        let given = [
            ("noise", self.noise.is_some(), Kind::Imprecise),
            ("model", self.model.is_some(), Kind::Imprecise),
            ("alignment", self.alignment.is_some(), Kind::Imprecise),
            ("restarts", self.restarts.is_some(), Kind::Imprecise),
            ("bag_size", self.bag_size.is_some(), Kind::MultipleInstance),
            ("radius", self.radius.is_some(), Kind::DropNear),
            ("width", self.width.is_some(), Kind::Smear),
        ];
        for (key, is_given, kind) in given {
            if is_given && self.kind != kind {
                let problem = format!("has no meaning for {:?}, only for {kind:?}", self.kind);
                return Err(Mistake::new(format!("learners.{k}.{key}"), problem));
            }
        }
        if self.grid(None, 1.0).candidates().is_empty() {
            return Err(Mistake::new(format!("learners.{k}"), "has an empty grid"));
        }
        let is_bad = |precision: &&f64| !(precision.is_finite() && **precision >= 0.0);
        if let Some(precision) = self.weight_precision.iter().find(is_bad) {
            let problem = format!("holds {precision}, expected finite numbers of at least 0");
            return Err(Mistake::new(format!("learners.{k}.weight_precision"), problem));
        }
        if self.bag_size.iter().flatten().any(|&size| size == 0) {
            let problem = "holds 0, expected at least 1 instance per bag";
            return Err(Mistake::new(format!("learners.{k}.bag_size"), problem));
        }
        Ok(())
    }
}
