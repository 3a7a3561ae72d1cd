//! Summary of a comparison: one line per contender.

use serde::{Deserialize, Serialize};

use super::bootstrap::{BootstrapOptions, Interval, bootstrap_interval};
use super::calibration::brier_score;
use super::classes::ClassScores;
use super::cross_validation::{Comparison, ContenderResult};
use super::curve::average_precision;
use super::event_summary::{EventScoring, EventSummary};
use super::instances::{Confusion, confusion};
use super::scores::Scores;
use super::selection::{CandidateResult, HeldOut, behind_best};
use super::significance::{bonferroni, paired_t_test};
use crate::{Control, Recording, Result};

/// Settings of a summary.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SummaryOptions {
    /// For the interval of F1.
    pub bootstrap: BootstrapOptions,
    /// For events.
    pub events: EventScoring,
}

/// Results of a contender over all held-out sessions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Its name.
    pub name: String,
    /// Against hand-aligned labels; `None` if a session has none.
    pub labelled: Option<LabelledSummary>,
    /// Mean log evidence of a held-out stamp; `None` if some stamps were impossible.
    pub log_evidence_per_stamp: Option<f64>,
    /// How much less log evidence it has than the best contender, per session (or subject), paired over them;
    /// `None` without evidence.
    #[serde(default)]
    pub behind: Option<HeldOut>,
    /// How its candidates did, where the evidence chose among them.
    #[serde(default)]
    pub candidates: Vec<CandidateResult>,
}

/// Results of a contender against hand-aligned labels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LabelledSummary {
    /// Precision, recall and F1 from the summed hits and errors of all sessions.
    pub scores: Scores,
    /// Interval of that F1 under resampling of sessions, or of subjects if folds keep them together.
    pub f1_interval: Interval,
    /// F1 of each fold.
    pub fold_f1: Vec<f64>,
    /// Area under the curve of precision and recall.
    pub average_precision: f64,
    /// Mean squared error of the probabilities.
    pub brier_score: f64,
    /// Scores of events instead of instances.
    pub events: EventSummary,
    /// Scores of instances by class, if labels name classes and the contender knows them; see
    /// [`Comparison::class_scores`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub classes: Option<ClassScores>,
    /// Probability of a difference in F1 to the reference at least as large as this one over the folds,
    /// by a paired t-test, corrected for the number of comparisons. `None` for the reference itself.
    pub p_value: Option<f64>,
}

impl Comparison {
    /// One line per contender. Tests compare with the contender at `reference`.
    pub fn summary(
        &self,
        recordings: &[Recording],
        reference: usize,
        options: &SummaryOptions,
        control: Control<'_>,
    ) -> Result<Vec<Summary>> {
        let stamps: usize = recordings.iter().map(|one| one.session.stamps().len()).sum();
        let reference_f1 = self.contenders.get(reference).and_then(ContenderResult::f1);
        let evidence: Vec<_> = self.contenders.iter().map(|one| self.evidence(one)).collect();
        let mut lines = Vec::with_capacity(self.contenders.len());
        for ((k, judged), behind) in self.contenders.iter().enumerate().zip(behind_best(&evidence))
        {
            let evidence = evidence[k].as_ref().filter(|_| stamps > 0);
            let mut labelled = self.labelled(judged, recordings, options, control)?;
            if let (Some(labelled), Some(reference_f1)) = (&mut labelled, &reference_f1)
                && k != reference
            {
                let test = paired_t_test(&labelled.fold_f1, reference_f1)?;
                labelled.p_value = Some(bonferroni(test.p_value, self.contenders.len() - 1)?);
            }
            lines.push(Summary {
                name: judged.name.clone(),
                labelled,
                log_evidence_per_stamp: evidence.map(|all| all.iter().sum::<f64>() / stamps as f64),
                behind,
                candidates: judged.candidates.clone(),
            });
            control.tell(lines.len(), self.contenders.len(), None);
        }
        Ok(lines)
    }

    /// Log evidence of the stamps of each group of recordings; `None` if some have none.
    fn evidence(&self, judged: &ContenderResult) -> Option<Vec<f64>> {
        let mut by_recording = vec![0.0; self.groups.iter().map(Vec::len).sum()];
        for (fold, result) in self.folds.iter().zip(&judged.folds) {
            for (&k, own) in fold.iter().zip(result.evidence.as_ref()?) {
                *by_recording.get_mut(k)? = *own;
            }
        }
        let sum = |group: &Vec<usize>| group.iter().map(|&k| by_recording[k]).sum();
        Some(self.groups.iter().map(sum).collect())
    }

    /// Probabilities of a contender's held-out instances, by recording.
    pub fn probabilities<'a>(
        &self,
        judged: &'a ContenderResult,
        recordings: usize,
    ) -> Vec<&'a [f64]> {
        let mut by_recording: Vec<&[f64]> = vec![&[]; recordings];
        for (fold, result) in self.folds.iter().zip(&judged.folds) {
            for (&recording, probabilities) in fold.iter().zip(&result.probabilities) {
                by_recording[recording] = probabilities;
            }
        }
        by_recording
    }

    fn labelled(
        &self,
        judged: &ContenderResult,
        recordings: &[Recording],
        options: &SummaryOptions,
        control: Control<'_>,
    ) -> Result<Option<LabelledSummary>> {
        let (Some(pooled), Some(fold_f1)) = (judged.pooled(), judged.f1()) else { return Ok(None) };
        let probabilities = self.probabilities(judged, recordings.len());
        let mut threshold = vec![0.5; recordings.len()];
        for (fold, result) in self.folds.iter().zip(&judged.folds) {
            fold.iter().for_each(|&recording| threshold[recording] = result.threshold);
        }
        let (mut all, mut labels) = (Vec::new(), Vec::new());
        let mut by_session = Vec::with_capacity(recordings.len());
        for (k, recording) in recordings.iter().enumerate() {
            let truth = recording.hand_labels()?;
            by_session.push(confusion(probabilities[k], truth, threshold[k])?);
            all.extend_from_slice(probabilities[k]);
            labels.extend_from_slice(truth);
        }
        let f1 = |drawn: &[usize]| {
            let total = drawn.iter().flat_map(|&k| &self.groups[k]).map(|&k| by_session[k]);
            total.fold(Confusion::default(), std::ops::Add::add).scores().f1
        };
        let quiet = Control { watch: None, ..control };
        let f1_interval = bootstrap_interval(self.groups.len(), &options.bootstrap, f1, quiet)?;
        Ok(Some(LabelledSummary {
            scores: pooled.scores(),
            f1_interval,
            fold_f1,
            average_precision: average_precision(&all, &labels)?,
            brier_score: brier_score(&all, &labels)?,
            events: options.events.summary(recordings, &probabilities, &threshold)?,
            classes: None,
            p_value: None,
        }))
    }
}
