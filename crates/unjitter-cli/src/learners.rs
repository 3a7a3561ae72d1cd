//! Learners by the names of the paper's tables.

use unjitter::baselines::{
    DropNear, HandAligned, Imprecise, Learner, MultipleInstance, Naive, Smear,
};
use unjitter::evaluation::Contender;
use unjitter::io::suggest;
use unjitter::learning::Supervised;
use unjitter::{Activation, ClassifierSpec, FitOptions, Model, Priors};

use crate::failure::usage;

/// Names that `--learners` knows, with what they mean; LR, KLR and NN are classifiers.
pub(crate) const METHODS: [(&str, &str); 6] = [
    ("M", "sloppy stamps, all alignments"),
    ("H", "labels aligned by hand"),
    ("N", "each stamp to the nearest instance"),
    ("MI", "multiple-instance witnesses"),
    ("D", "nearest, instances near a stamp left out"),
    ("S", "soft labels around each stamp"),
];

/// What all candidates share, and what they are chosen from.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    /// Model of the learners that end in -M; its classifier is that of the learner.
    pub model: Model,
    /// How those are fitted.
    pub fit: FitOptions,
    /// Units of the perceptron's hidden layers.
    pub hidden: Vec<usize>,
    /// Landmarks of the kernel.
    pub landmarks: Option<usize>,
    /// Precisions of the prior on weights to choose from.
    pub precisions: Vec<f64>,
    /// Sizes of bags to choose from.
    pub bag_sizes: Vec<usize>,
    /// Length of time that counts as near, for D and S.
    pub near: f64,
}

/// In plain words, what a learner does.
pub(crate) fn description(name: &str) -> &'static str {
    let method = name.rsplit('-').next().unwrap_or(name);
    METHODS.iter().find(|(known, _)| *known == method).map_or("", |(_, meaning)| meaning)
}

/// The contender of a name, such as LR-M.
pub(crate) fn contender(name: &str, settings: &Settings) -> anyhow::Result<Contender> {
    let upper = name.trim().to_uppercase();
    let (classifier, method) = match upper.split_once('-') {
        Some(parts) => parts,
        None if upper == "MI" => ("LR", "MI"),
        None => return Err(unknown(name)),
    };
    let classifier = match classifier {
        "LR" => ClassifierSpec::Logistic,
        "KLR" => ClassifierSpec::Kernel { length_scale: None, landmarks: settings.landmarks },
        "NN" => {
            ClassifierSpec::Mlp { hidden: settings.hidden.clone(), activation: Activation::Tanh }
        }
        _ => return Err(unknown(name)),
    };
    let mut candidates: Vec<Box<dyn Learner>> = Vec::new();
    for &precision in &settings.precisions {
        let priors = Priors { weight_precision: precision, ..settings.model.priors };
        let classifier = classifier.clone();
        let supervised =
            Supervised { classifier: classifier.clone(), priors, ..Supervised::default() };
        match method {
            "M" => candidates.push(Box::new(Imprecise {
                model: Model { classifier, priors, ..settings.model.clone() },
                fit: settings.fit.clone(),
            })),
            "H" => candidates.push(Box::new(HandAligned { supervised })),
            "N" => candidates.push(Box::new(Naive { supervised })),
            "D" => candidates.push(Box::new(DropNear { supervised, radius: 2.0 * settings.near })),
            "S" => candidates.push(Box::new(Smear { supervised, width: settings.near })),
            "MI" => candidates.extend(settings.bag_sizes.iter().map(|&bag_size| {
                let supervised = supervised.clone();
                Box::new(MultipleInstance { supervised, bag_size }) as Box<dyn Learner>
            })),
            _ => return Err(unknown(name)),
        }
    }
    let name = candidates.first().map(|learner| learner.name()).ok_or_else(|| unknown(name))?;
    Ok(Contender { name, candidates })
}

fn unknown(name: &str) -> anyhow::Error {
    let mut names = vec!["MI".to_owned()];
    for classifier in ["LR", "KLR", "NN"] {
        names.extend(METHODS.iter().map(|(method, _)| format!("{classifier}-{method}")));
    }
    let upper = name.to_uppercase();
    let hint = match suggest(&upper, names.iter().map(String::as_str)) {
        Some(likely) => format!("did you mean {likely}?"),
        None => format!("there are {}", names.join(", ")),
    };
    usage(format!("there is no learner `{name}`; {hint}"))
}
