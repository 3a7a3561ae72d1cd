//! The file that `evaluate` writes and `report` reads.

use std::path::Path;

use serde::{Deserialize, Serialize};
use unjitter::Recording;
use unjitter::evaluation::{Comparison, Summary, fingerprint};

use crate::failure::Mistake;

/// Largest file that is read.
const MAX_BYTES: u64 = 1 << 30;

/// A comparison of learners on one dataset.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EvaluationFile {
    /// The program that wrote it.
    pub program: String,
    /// Of the data.
    pub fingerprint: String,
    /// Every option.
    pub options: serde_json::Value,
    /// Names of the sessions of each fold.
    pub folds: Vec<Vec<String>>,
    /// Warnings about these folds.
    pub warnings: Vec<String>,
    /// One per learner.
    pub learners: Vec<LearnerResult>,
}

/// Results of one learner.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LearnerResult {
    /// Its scores.
    pub summary: Summary,
    /// In each fold, the options that were chosen on the rest.
    pub chosen: Vec<serde_json::Value>,
    /// Probabilities of the held-out instances, by session in the order of the data.
    pub probabilities: Vec<Vec<f64>>,
}

impl EvaluationFile {
    /// Combines the results of a comparison.
    pub(crate) fn new(
        comparison: &Comparison,
        summaries: Vec<Summary>,
        candidates: &[Vec<serde_json::Value>],
        recordings: &[Recording],
        warnings: Vec<String>,
        options: serde_json::Value,
    ) -> Self {
        let name = |k: &usize| recordings[*k].session.name().to_owned();
        let learners = comparison.contenders.iter().zip(summaries).zip(candidates);
        Self {
            program: format!("unjitter {}", env!("CARGO_PKG_VERSION")),
            fingerprint: fingerprint(recordings),
            options,
            folds: comparison.folds.iter().map(|fold| fold.iter().map(name).collect()).collect(),
            warnings,
            learners: learners
                .map(|((judged, summary), candidates)| LearnerResult {
                    summary,
                    chosen: judged.folds.iter().map(|f| candidates[f.chosen].clone()).collect(),
                    probabilities: comparison
                        .probabilities(judged, recordings.len())
                        .into_iter()
                        .map(<[f64]>::to_vec)
                        .collect(),
                })
                .collect(),
        }
    }

    /// Reads a file and checks that it belongs to these recordings.
    pub(crate) fn load(path: &Path, recordings: &[Recording]) -> anyhow::Result<Self> {
        let wrong = |problem: String| Mistake::Data(format!("{}: {problem}", path.display()));
        let failed = |source| unjitter::Error::Io { path: path.to_owned(), source };
        if std::fs::metadata(path).map_err(failed)?.len() > MAX_BYTES {
            return Err(wrong("it is larger than any evaluation".to_owned()).into());
        }
        let bytes = std::fs::read(path).map_err(failed)?;
        let file: Self = serde_json::from_slice(&bytes)
            .map_err(|error| wrong(format!("{error}; expected a file that `evaluate` wrote")))?;
        if file.fingerprint != fingerprint(recordings) {
            let problem = "it was made from other data; run `unjitter evaluate` on these";
            return Err(wrong(problem.to_owned()).into());
        }
        for learner in &file.learners {
            let lengths = learner.probabilities.iter().map(Vec::len);
            if !lengths.eq(recordings.iter().map(|recording| recording.session.len())) {
                let name = &learner.summary.name;
                return Err(wrong(format!("{name} lacks probabilities of some instances")).into());
            }
        }
        Ok(file)
    }
}
