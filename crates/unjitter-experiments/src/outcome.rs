//! The numbers of an experiment on one dataset, as stored on disk.

use serde::{Deserialize, Serialize};
use unjitter::evaluation::MeanInterval;

use crate::spec::Measure;
use crate::stopwatch::Took;

/// An experiment on one dataset.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Outcome {
    /// Name of the experiment.
    pub name: String,
    /// Its panel in the paper.
    pub panel: String,
    /// Its title.
    pub title: String,
    /// Its paragraph.
    pub about: String,
    /// The measured quantity.
    pub measure: Measure,
    /// The dataset.
    pub dataset: DatasetSummary,
    /// The swept setting in words; `None` if there is only one setting.
    pub sweep: Option<String>,
    /// One per learner, in the order of the file.
    pub series: Vec<Series>,
    /// Paired tests, if requested.
    pub tests: Vec<Test>,
    /// How it was run.
    pub how: How,
}

/// Properties of a dataset.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DatasetSummary {
    /// Its name.
    pub name: String,
    /// Recordings.
    pub sessions: usize,
    /// Instances in all of them.
    pub instances: usize,
    /// Those that are true events.
    pub positives: usize,
    /// Length of the annotator's unit of time, in the unit of the data.
    pub unit: f64,
}

/// How an experiment was run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct How {
    /// The command.
    pub command: String,
    /// The version of the program.
    pub commit: String,
    /// Whether it was the quick version.
    pub quick: bool,
    /// Seeds.
    pub seeds: Vec<u64>,
    /// Outer folds; 0 for measures without learners.
    pub folds: usize,
    /// Inner folds.
    pub inner_folds: usize,
    /// Whether there is a figure.
    pub figure: bool,
    /// How long the command took, for all its datasets together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub took: Option<Took>,
}

/// Results of one learner.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Series {
    /// Its name.
    pub learner: String,
    /// What it learns from.
    pub role: Role,
    /// One per setting.
    pub points: Vec<Point>,
}

/// The role of a learner in the comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Role {
    /// Learns from all alignments.
    Ours,
    /// Learns from labels aligned by hand.
    Ceiling,
    /// Learns from stamps in another way.
    Baseline,
}

/// A learner at one setting.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Point {
    /// Value of the swept setting.
    pub x: Option<f64>,
    /// Scores of single folds (or sessions), each the mean over seeds.
    pub folds: Vec<f64>,
    /// Their mean, with its t-interval of 95 %, clipped to 0 and 1.
    pub mean: MeanInterval,
    /// The score of all folds and seeds taken together.
    pub pooled: f64,
    /// Precision of all folds and seeds taken together, for detectors.
    pub precision: Option<f64>,
    /// Recall of all folds and seeds taken together, for detectors.
    pub recall: Option<f64>,
}

/// A paired t-test over folds and seeds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Test {
    /// Value of the swept setting.
    pub x: Option<f64>,
    /// The learner in question.
    pub learner: String,
    /// The one it is tested against.
    pub against: String,
    /// Mean of the differences.
    pub difference: f64,
    /// After Bonferroni's correction.
    pub p_value: f64,
    /// Number of tests in the correction.
    pub comparisons: usize,
}

impl Outcome {
    /// Name of its files: the experiment and the dataset. A quick version has files of its own.
    pub(crate) fn stem(&self) -> String {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
        let dataset: String = self.dataset.name.chars().map(plain).collect();
        let quick = if self.how.quick { ".quick" } else { "" };
        format!("{}.{dataset}{quick}", self.name)
    }
}
