//! Learners, each with its grid of options, and their names in tables.

use serde::{Deserialize, Serialize};
use unjitter::baselines::{
    AlignmentLearner, DropNear, HandAligned, Learner, MultipleInstance, Naive, Smear,
};
use unjitter::evaluation::Contender;
use unjitter::io::suggest;
use unjitter::learning::Supervised;
use unjitter::{ClassifierSpec, FitOptions, Model, Priors};

use crate::failure::usage;
use crate::model_args::ClassifierName;

/// A way to learn from stamps or labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// All alignments: ours.
    Imprecise,
    /// Labels aligned by hand.
    HandAligned,
    /// Each stamp as a label of the nearest instance.
    Naive,
    /// Bags with witnesses.
    MultipleInstance,
    /// The same, with other instances near a stamp left out.
    DropNear,
    /// Soft labels around stamps.
    Smear,
}

/// Kinds by the ends of their names in the paper's tables, with an explanation for newcomers.
const KINDS: [(Kind, &str, &str); 6] = [
    (Kind::Imprecise, "M", "sloppy stamps, all alignments"),
    (Kind::HandAligned, "H", "labels aligned by hand"),
    (Kind::Naive, "N", "each stamp to the nearest instance"),
    (Kind::MultipleInstance, "MI", "multiple-instance witnesses"),
    (Kind::DropNear, "D", "nearest, instances near a stamp left out"),
    (Kind::Smear, "S", "soft labels around each stamp"),
];
/// Classifiers by the beginnings.
const CLASSIFIERS: [(ClassifierName, &str); 3] = [
    (ClassifierName::Logistic, "LR"),
    (ClassifierName::Kernel, "KLR"),
    (ClassifierName::Mlp, "NN"),
];

/// Beginning of the names of learners with this classifier.
pub(crate) fn abbreviation(classifier: ClassifierName) -> &'static str {
    CLASSIFIERS.iter().find(|(known, _)| *known == classifier).map_or("", |(_, name)| name)
}

/// A plain description of the learner of this name.
pub(crate) fn description(name: &str) -> &'static str {
    let end = name.rsplit('-').next().unwrap_or(name);
    KINDS.iter().find(|(_, known, _)| *known == end).map_or("", |(_, _, meaning)| meaning)
}

/// A learner and the options that it chooses from in each fold.
#[derive(Debug, Clone)]
pub struct Grid {
    /// Which learner.
    pub kind: Kind,
    /// Model of a learner from all alignments; all learners share its classifier and priors.
    pub model: Model,
    /// Settings of its fit; all learners share the optimiser.
    pub fit: FitOptions,
    /// Precisions of the prior on weights.
    pub precisions: Vec<f64>,
    /// Instances per bag, for [`Kind::MultipleInstance`].
    pub bag_sizes: Vec<usize>,
    /// Distances to a stamp, in the unit of the data, for [`Kind::DropNear`].
    pub radii: Vec<f64>,
    /// Widths of the bell, in the unit of the data, for [`Kind::Smear`].
    pub widths: Vec<f64>,
}

impl Grid {
    /// All combinations.
    pub fn candidates(&self) -> Vec<Box<dyn Learner>> {
        self.precisions.iter().flat_map(|&precision| self.at(precision)).collect()
    }

    /// The contender, named after its first candidate.
    pub fn contender(&self) -> Contender {
        let candidates = self.candidates();
        Contender { name: candidates.first().map_or(String::new(), |one| one.name()), candidates }
    }

    fn at(&self, weight_precision: f64) -> Vec<Box<dyn Learner>> {
        let priors = Priors { weight_precision, ..self.model.priors };
        let (classifier, optimiser) = (self.model.classifier.clone(), self.fit.optimiser.clone());
        let Model { labels, stamps, .. } = self.model;
        let supervised = Supervised { classifier, labels, stamps, priors, optimiser };
        let with = || supervised.clone();
        match self.kind {
            Kind::Imprecise => {
                let model = Model { priors, ..self.model.clone() };
                vec![Box::new(AlignmentLearner { model, fit: self.fit.clone() })]
            }
            Kind::HandAligned => vec![Box::new(HandAligned { supervised })],
            Kind::Naive => vec![Box::new(Naive { supervised })],
            Kind::MultipleInstance => each(&self.bag_sizes, |bag_size| {
                Box::new(MultipleInstance { supervised: with(), bag_size })
            }),
            Kind::DropNear => {
                each(&self.radii, |radius| Box::new(DropNear { supervised: with(), radius }))
            }
            Kind::Smear => {
                each(&self.widths, |width| Box::new(Smear { supervised: with(), width }))
            }
        }
    }
}

fn each<T: Copy>(values: &[T], learner: impl Fn(T) -> Box<dyn Learner>) -> Vec<Box<dyn Learner>> {
    values.iter().map(|&value| learner(value)).collect()
}

/// The meaning of a name such as LR-M.
pub(crate) fn parsed(name: &str) -> anyhow::Result<(ClassifierName, Kind)> {
    let upper = name.trim().to_uppercase();
    let full = if upper == "MI" { "LR-MI" } else { &upper };
    let (classifier, end) = full.split_once('-').ok_or_else(|| unknown(name))?;
    let kind = KINDS.iter().find(|(_, known, _)| *known == end).ok_or_else(|| unknown(name))?.0;
    let classifier = CLASSIFIERS.iter().find(|(_, known)| *known == classifier);
    Ok((classifier.ok_or_else(|| unknown(name))?.0, kind))
}

/// The contender of a name such as LR-M, with the options of `like` and classifiers from `build`.
pub(crate) fn named(
    name: &str,
    like: &Grid,
    build: impl Fn(ClassifierName) -> ClassifierSpec,
) -> anyhow::Result<Contender> {
    let (classifier, kind) = parsed(name)?;
    let classifier = build(classifier);
    let model = Model { classifier, ..like.model.clone() };
    Ok(Grid { kind, model, ..like.clone() }.contender())
}

fn unknown(name: &str) -> anyhow::Error {
    let mut names = vec!["MI".to_owned()];
    for (_, classifier) in CLASSIFIERS {
        names.extend(KINDS.iter().map(|(_, end, _)| format!("{classifier}-{end}")));
    }
    let upper = name.to_uppercase();
    let hint = match suggest(&upper, names.iter().map(String::as_str)) {
        Some(likely) => format!("did you mean {likely}?"),
        None => format!("there are {}", names.join(", ")),
    };
    usage(format!("there is no learner `{name}`; {hint}"))
}
