//! The content of an experiment file.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use unjitter::evaluation::CrossValidation;
use unjitter::simulation::Sloppiness;

use crate::datasets::{Dataset, Simulated};
use crate::learner::LearnerSpec;
use crate::place::{Mistake, unreadable};
use crate::quick::Quick;

/// An experiment: annotators × learners × datasets × seeds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Spec {
    /// Short name, also of files: letters, digits, `-` and `_`.
    pub name: String,
    /// Its result, in one line.
    pub title: String,
    /// Panel of the paper's figure, which is also the order of the results.
    #[serde(default)]
    pub panel: String,
    /// A paragraph for the results.
    #[serde(default)]
    pub about: String,
    /// The measured quantity.
    #[serde(default)]
    pub measure: Measure,
    /// Simulated datasets, if no recordings are given.
    #[serde(default = "Simulated::all")]
    pub datasets: Vec<Simulated>,
    /// Seeds of stamps.
    #[serde(default = "two_seeds")]
    pub seeds: Vec<u64>,
    /// Unit of the annotator's times.
    #[serde(default)]
    pub time_unit: TimeUnit,
    /// Settings of the evaluation; its seed is that of folds and fits.
    #[serde(default)]
    pub cross_validation: CrossValidation,
    /// The annotator.
    #[serde(default)]
    pub annotator: Sloppiness,
    /// A file of recorded human errors, instead of the annotator's `tails`.
    pub errors: Option<ErrorsFile>,
    /// A setting that takes several values.
    pub sweep: Option<Sweep>,
    /// The learners.
    #[serde(default)]
    pub learners: Vec<LearnerSpec>,
    /// The learner that all others are tested against, by name.
    pub compare: Option<String>,
    /// Differences of the quick version.
    #[serde(default)]
    pub quick: Quick,
}

fn two_seeds() -> Vec<u64> {
    vec![0, 1]
}

/// The measured quantity.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Measure {
    /// F1 of detectors on held-out sessions.
    #[default]
    F1,
    /// F1 of runs of positive instances that they find, of which half must be in common.
    Bouts,
    /// Share of true positives that are still positive after naive alignment; no learner needed.
    Kept,
}

/// Unit of an annotator's times.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TimeUnit {
    /// The median spacing of instances.
    #[default]
    MedianSpacing,
    /// The unit of the data itself.
    Data,
}

/// A column of a CSV file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ErrorsFile {
    /// The file, relative to the experiment's.
    pub file: PathBuf,
    /// Name of the column; by default `error`.
    pub column: Option<String>,
}

/// A setting and its values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Sweep {
    /// Which setting.
    pub over: Over,
    /// Its values, rising.
    pub values: Vec<f64>,
}

/// Settings that can be swept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Over {
    /// The annotator's spread, at both ends if both are pressed.
    Spread,
    /// Its mean delay.
    Delay,
    /// The spread of sessions' offsets.
    OffsetSpread,
    /// The share of events pressed.
    Pressed,
    /// Spurious presses per event.
    Extra,
    /// Components of the noise model of our learners.
    Components,
}

impl Over {
    /// The setting in words, with its unit.
    pub(crate) fn label(self, unit: TimeUnit) -> String {
        let unit = match unit {
            TimeUnit::MedianSpacing => "median spacings",
            TimeUnit::Data => "time units of the data",
        };
        match self {
            Over::Spread => format!("spread of delays ({unit})"),
            Over::Delay => format!("mean delay ({unit})"),
            Over::OffsetSpread => format!("spread of offsets between sessions ({unit})"),
            Over::Pressed => "share of true events pressed".to_owned(),
            Over::Extra => "number of extra presses per true event".to_owned(),
            Over::Components => "number of components of the noise model".to_owned(),
        }
    }
}

impl Spec {
    /// Reads and checks a file.
    pub(crate) fn read(path: &Path) -> anyhow::Result<Self> {
        let failed = |source| unjitter::Error::Io { path: path.to_owned(), source };
        let text = std::fs::read_to_string(path).map_err(failed)?;
        Self::parse(path, &text)
    }

    /// Reads and checks the text of a file; `path` is for messages, and for files beside it.
    pub(crate) fn parse(path: &Path, text: &str) -> anyhow::Result<Self> {
        let spec: Spec = toml::from_str(text).map_err(|error| unreadable(path, text, &error))?;
        spec.check().map_err(|mistake| mistake.in_file(path, text))?;
        if let Err(Mistake { at, problem }) = spec.quick(true).check() {
            let mistake = Mistake::new("quick", format!("is no experiment: {at} {problem}"));
            return Err(mistake.in_file(path, text));
        }
        Ok(spec)
    }

    /// The experiment, or its quick version.
    pub(crate) fn quick(&self, quick: bool) -> Self {
        if quick { self.quick.applied_to(self) } else { self.clone() }
    }

    /// The simulated datasets that it names.
    pub(crate) fn simulated(&self, quick: bool) -> unjitter::Result<Vec<Dataset>> {
        self.quick(quick).datasets.iter().map(|simulated| simulated.dataset()).collect()
    }

    /// Everything that can be checked without data.
    fn check(&self) -> Result<(), Mistake> {
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if self.name.is_empty() || !self.name.chars().all(is_word) {
            let problem = format!("is {:?}, expected letters, digits, - and _", self.name);
            return Err(Mistake::new("name", problem));
        }
        let at_least_one = "is empty, expected at least one";
        if self.seeds.is_empty() {
            return Err(Mistake::new("seeds", at_least_one));
        }
        if self.datasets.is_empty() {
            return Err(Mistake::new("datasets", at_least_one));
        }
        self.check_sweep()?;
        self.check_learners()
    }

    fn check_sweep(&self) -> Result<(), Mistake> {
        let Some(sweep) = &self.sweep else { return Ok(()) };
        if sweep.values.is_empty() {
            return Err(Mistake::new("sweep.values", "is empty, expected at least one"));
        }
        for (k, &value) in sweep.values.iter().enumerate() {
            let place = format!("sweep.values.{k}");
            if !value.is_finite() || k > 0 && value <= sweep.values[k - 1] {
                let problem = format!("is {value}, expected finite numbers, each above the last");
                return Err(Mistake::new(place, problem));
            }
            if sweep.over == Over::Components && !(value >= 1.0 && value.fract() == 0.0) {
                let problem = format!("is {value}, expected a whole number of components");
                return Err(Mistake::new(place, problem));
            }
        }
        Ok(())
    }

    fn check_learners(&self) -> Result<(), Mistake> {
        match (self.measure, self.learners.is_empty()) {
            (Measure::F1 | Measure::Bouts, true) => {
                return Err(Mistake::new("learners", "is missing, expected at least one"));
            }
            (Measure::Kept, false) => {
                return Err(Mistake::new("learners", "has no meaning where measure is \"kept\""));
            }
            _ => {}
        }
        for (k, learner) in self.learners.iter().enumerate() {
            learner.check(k)?;
            let name = learner.name();
            if self.learners[..k].iter().any(|other| other.name() == name) {
                let problem = format!("is a second {name}, expected names that differ");
                return Err(Mistake::new(format!("learners.{k}"), problem));
            }
        }
        let known = |name: &String| self.learners.iter().any(|learner| learner.name() == *name);
        match self.compare.as_ref().filter(|name| !known(name)) {
            Some(name) => {
                Err(Mistake::new("compare", format!("is {name:?}, expected one of the learners")))
            }
            None => Ok(()),
        }
    }
}
