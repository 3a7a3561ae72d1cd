//! Which model: its parts, priors and optimiser.

use clap::{Args, ValueEnum};
use serde::Serialize;
use unjitter::inference::Order;
use unjitter::labels::{Labels, Variable};
use unjitter::learning::LbfgsOptions;
use unjitter::model::Variation;
use unjitter::prior::{Beta, Gamma, Normal};
use unjitter::{Activation, ClassifierSpec, Counts, FitOptions, Model, Priors};

use crate::delay_range::DelayRange;
use crate::failure::usage;
use crate::group_args::GroupArgs;
use crate::noise_args::NoiseArgs;

/// A model on the command line.
#[derive(Debug, Clone, Args, Serialize)]
pub(crate) struct ModelArgs {
    /// What turns features into a probability
    #[arg(long, default_value = "logistic", help_heading = "Model")]
    pub classifier: ClassifierName,
    /// How many stamps an instance may give
    #[arg(long, default_value = "auto", help_heading = "Model")]
    pub counts: CountsName,
    #[command(flatten)]
    #[serde(flatten)]
    noise: NoiseArgs,
    /// Whether presses may come in another order than the events they are for
    #[arg(long, default_value = "free", help_heading = "Model")]
    alignment: AlignmentName,
    /// Whether an event is one instance or a run of neighbours, as where windows overlap or events last longer
    /// than one of them: a chain learns how long runs are, and predictions are then smoothed
    #[arg(long, default_value = "independent", help_heading = "Model")]
    pub labels: LabelsName,
    /// What of a run stamps are about, with --labels chain; its onset by default
    #[arg(long, help_heading = "Model")]
    pub stamps: Option<StampsName>,
    /// How late presses are likely to be, from..to: 0.2..3s, or -500ms..2s if some come before the
    /// event (units are s, ms, min and h; seconds without one). A strong hint, not a limit: it decides
    /// between several explanations of the stamps, and replaces the prior on the delay
    #[arg(long, value_name = "RANGE", allow_hyphen_values = true, help_heading = "Model")]
    delay: Option<DelayRange>,
    #[command(flatten)]
    #[serde(flatten)]
    groups: GroupArgs,
    /// Units of each hidden layer of the perceptron; one layer of 16 by default
    #[arg(long, value_name = "N,…", value_delimiter = ',', help_heading = "Model")]
    pub hidden: Vec<usize>,
    /// How far an instance makes itself felt in the kernel, in standard deviations of a feature
    #[arg(long, value_name = "X", help_heading = "Model")]
    pub length_scale: Option<f64>,
    /// Instances that the kernel is built on; all of them by default
    #[arg(long, value_name = "N", help_heading = "Model")]
    pub landmarks: Option<usize>,
    /// Largest number of stamps of an instance, with categorical counts; 2 by default
    #[arg(long, value_name = "N", help_heading = "Model")]
    pub max_count: Option<usize>,
    /// Strength of the prior that keeps weights small
    #[arg(long, value_name = "X", default_value_t = 1.0, help_heading = "Model")]
    pub weight_precision: f64,
    /// Another prior: intercept-precision=X, hit-rate=A,B and silence=A,B (Beta), count-split=X,
    /// delay=MEAN,SD, variance=SHAPE,SCALE (inverse Gamma), mixture-weight=X,
    /// degrees-of-freedom=SHAPE,RATE, shape=SHAPE,RATE, background=SHAPE,RATE, and of a chain
    /// onset-rate=SHAPE,RATE and offset-rate=SHAPE,RATE (Gamma)
    #[arg(long, value_name = "NAME=VALUES", allow_hyphen_values = true, help_heading = "Model")]
    pub prior: Vec<String>,
    /// Hold a parameter still, such as noise.delay=0, noise.spread=1, counts.false_rate=0.01 or
    /// background.rate=0
    #[arg(long, value_name = "NAME=VALUES", allow_hyphen_values = true, help_heading = "Model")]
    pub freeze: Vec<String>,
    /// Unit in which priors measure delays and spreads, in seconds; the median spacing of instances by
    /// default
    #[arg(long, value_name = "T", help_heading = "Model")]
    pub time_unit: Option<f64>,
    /// Starts of the optimiser besides the naive one: wide, at the times before the stamps at which
    /// features change most, and beyond these at random
    #[arg(long, value_name = "N", default_value_t = 6, help_heading = "Learning")]
    pub restarts: usize,
    /// Iterations of a start after which to stop in any case
    #[arg(long, value_name = "N", default_value_t = 500, help_heading = "Learning")]
    pub max_iterations: usize,
}

/// A classifier by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ClassifierName {
    /// Linear
    Logistic,
    /// Radial-basis kernel
    Kernel,
    /// Multilayer perceptron
    Mlp,
}

/// The alignments that are summed over, by name.
#[derive(Debug, Clone, Copy, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum AlignmentName {
    /// They may: right if presses scatter further than events are apart; the sum over all alignments is
    /// approximate (belief propagation)
    Free,
    /// They keep the order, as in the paper: the sum is exact, but the learned spread is too small if
    /// presses scatter further than events are apart
    Ordered,
}

impl From<AlignmentName> for Order {
    fn from(name: AlignmentName) -> Self {
        match name {
            AlignmentName::Free => Self::Free,
            AlignmentName::Ordered => Self::Ordered,
        }
    }
}

/// How labels depend on each other, by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum LabelsName {
    /// Not at all, given the features: an event is one instance
    Independent,
    /// They form runs: an event covers neighbours
    Chain,
}

impl From<LabelsName> for Labels {
    fn from(name: LabelsName) -> Self {
        match name {
            LabelsName::Independent => Self::Independent,
            LabelsName::Chain => Self::Chain,
        }
    }
}

/// What of a run stamps are about, by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum StampsName {
    /// Its first instance
    Onset,
    /// Its last instance
    End,
    /// Any of its instances: somebody presses now and then while it lasts
    Presence,
}

impl From<StampsName> for Variable {
    fn from(name: StampsName) -> Self {
        match name {
            StampsName::Onset => Self::Onset,
            StampsName::End => Self::End,
            StampsName::Presence => Self::Presence,
        }
    }
}

/// Counts by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum CountsName {
    /// One stamp at most, or several if the evidence says so
    Auto,
    /// One stamp at most
    Bernoulli,
    /// Up to --max-count
    Categorical,
    /// Any number, Poisson
    Poisson,
    /// Any number, geometric
    Geometric,
}

impl ModelArgs {
    /// The model for the library. `classifiers` are those in use, which learners may name.
    pub(crate) fn model(&self, classifiers: &[ClassifierName]) -> anyhow::Result<Model> {
        self.refuse_idle(classifiers)?;
        let mut priors = Priors { weight_precision: self.weight_precision, ..Priors::default() };
        for pair in &self.prior {
            set_prior(&mut priors, pair)?;
        }
        let mut model = Model {
            classifier: self.classifier_of(self.classifier),
            counts: self.counts(),
            noise: self.noise.noise()?,
            alignment: self.alignment.into(),
            priors,
            delay: self.delay.as_ref().map(|range| range.seconds),
            time_unit: self.time_unit,
            labels: self.labels.into(),
            stamps: self.stamps.map_or_else(Variable::default, Variable::from),
            ..Model::default()
        };
        for pair in &self.freeze {
            let (name, values) = name_and_values("--freeze", pair)?;
            model = model.freeze(name, values);
        }
        self.groups.applied(model)
    }

    /// What differs between groups of stamps.
    pub(crate) fn varies(&self) -> anyhow::Result<Vec<Variation>> {
        Ok(self.groups.applied(Model::default())?.varies)
    }

    /// Refuses settings of parts that are not in use: a user who gives one expects an effect.
    fn refuse_idle(&self, classifiers: &[ClassifierName]) -> anyhow::Result<()> {
        let has = |name| classifiers.contains(&name);
        let (kernel, mlp) = (has(ClassifierName::Kernel), has(ClassifierName::Mlp));
        let categorical = self.counts == CountsName::Categorical;
        let chain = self.labels == LabelsName::Chain;
        let settings = [
            ("--stamps", self.stamps.is_some(), chain, "--labels chain"),
            ("--hidden", !self.hidden.is_empty(), mlp, "--classifier mlp"),
            ("--length-scale", self.length_scale.is_some(), kernel, "--classifier kernel"),
            ("--landmarks", self.landmarks.is_some(), kernel, "--classifier kernel"),
            ("--max-count", self.max_count.is_some(), categorical, "--counts categorical"),
        ];
        let idle = settings.into_iter().find(|(_, is_given, is_used, _)| *is_given && !is_used);
        let idle = idle.map(|(option, .., part)| (option.to_owned(), part.to_owned()));
        match idle.or_else(|| self.noise.idle()) {
            Some((option, part)) => {
                Err(usage(format!("{option} has no effect here: it belongs to {part}")))
            }
            None => Ok(()),
        }
    }

    /// A classifier with the settings given for its kind.
    pub(crate) fn classifier_of(&self, name: ClassifierName) -> ClassifierSpec {
        match name {
            ClassifierName::Logistic => ClassifierSpec::Logistic,
            ClassifierName::Kernel => ClassifierSpec::Kernel {
                length_scale: self.length_scale,
                landmarks: self.landmarks,
            },
            ClassifierName::Mlp => {
                let hidden = match self.hidden.is_empty() {
                    true => vec![16],
                    false => self.hidden.clone(),
                };
                ClassifierSpec::Mlp { hidden, activation: Activation::Tanh }
            }
        }
    }

    fn counts(&self) -> Counts {
        match self.counts {
            CountsName::Auto => Counts::Auto,
            CountsName::Bernoulli => Counts::Bernoulli,
            CountsName::Categorical => {
                Counts::Categorical { max_count: self.max_count.unwrap_or(2) }
            }
            CountsName::Poisson => Counts::Poisson,
            CountsName::Geometric => Counts::Geometric,
        }
    }

    /// Settings of the fit.
    pub(crate) fn fit_options(&self, seed: u64) -> FitOptions {
        FitOptions {
            restarts: self.restarts,
            seed,
            // The program sets the threads once for everything.
            threads: None,
            optimiser: LbfgsOptions {
                max_iterations: self.max_iterations,
                ..LbfgsOptions::default()
            },
            ..FitOptions::default()
        }
    }
}

/// Priors that `--prior` accepts: name, number of values.
const PRIORS: [(&str, usize); 12] = [
    ("intercept-precision", 1),
    ("hit-rate", 2),
    ("silence", 2),
    ("count-split", 1),
    ("delay", 2),
    ("variance", 2),
    ("mixture-weight", 1),
    ("degrees-of-freedom", 2),
    ("shape", 2),
    ("background", 2),
    ("onset-rate", 2),
    ("offset-rate", 2),
];

fn set_prior(priors: &mut Priors, pair: &str) -> anyhow::Result<()> {
    let (name, values) = name_and_values("--prior", pair)?;
    let name = name.replace('_', "-");
    let Some((_, expected)) = PRIORS.iter().find(|(known, _)| *known == name) else {
        let names = PRIORS.map(|(name, _)| name);
        let hint = match unjitter::io::suggest(&name, names) {
            Some(likely) => format!("did you mean `{likely}`?"),
            None => format!("there are {}", names.join(", ")),
        };
        return Err(usage(format!("--prior {pair}: there is no prior `{name}`; {hint}")));
    };
    if values.len() != *expected {
        let found = values.len();
        return Err(usage(format!("--prior {pair}: {found} values, `{name}` takes {expected}")));
    }
    let (a, b) = (values[0], values.last().copied().unwrap_or_default());
    match name.as_str() {
        "intercept-precision" => priors.intercept_precision = a,
        "hit-rate" => (priors.hit_rate.a, priors.hit_rate.b) = (a, b),
        "silence" => priors.silence = Some(Beta { a, b }),
        "count-split" => priors.count_split = a,
        "delay" => priors.delay = Some(Normal { mean: a, sd: b }),
        "variance" => (priors.variance.shape, priors.variance.scale) = (a, b),
        "mixture-weight" => priors.mixture_weight = a,
        "degrees-of-freedom" => {
            (priors.degrees_of_freedom.shape, priors.degrees_of_freedom.rate) = (a, b);
        }
        "shape" => (priors.shape.shape, priors.shape.rate) = (a, b),
        "onset-rate" => priors.onset_rate = Some(Gamma { shape: a, rate: b }),
        "offset-rate" => priors.offset_rate = Some(Gamma { shape: a, rate: b }),
        _ => priors.background = Some(Gamma { shape: a, rate: b }),
    }
    Ok(())
}

/// NAME=VALUE,VALUE…
fn name_and_values<'a>(option: &str, pair: &'a str) -> anyhow::Result<(&'a str, Vec<f64>)> {
    let wrong = || usage(format!("{option} {pair}: expected NAME=VALUE or NAME=VALUE,VALUE"));
    let (name, values) = pair.split_once('=').ok_or_else(wrong)?;
    let values: Result<Vec<f64>, _> = values.split(',').map(|text| text.trim().parse()).collect();
    Ok((name.trim(), values.map_err(|_| wrong())?))
}
