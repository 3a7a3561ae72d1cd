//! The choice among a contender's candidates, from the cells of the inner cross-validations.

use super::criterion::Criterion;
use super::cross_validation::{FoldResult, InnerCell, InnerResult, Plan};
use super::folds::groups;
use super::instances::Confusion;
use super::selection::{CandidateResult, Simplicity, behind_best, simplest};

/// Finished cells.
type Inner<'c> = &'c [(InnerCell, InnerResult)];

impl Plan<'_> {
    /// The candidate of a contender for a fold: the best by F1, and of equals the first; or the simplest of
    /// those whose evidence equals the best.
    pub(super) fn choose(&self, contender: usize, fold: usize, inner: Inner<'_>) -> usize {
        if self.contenders[contender].candidates.len() == 1 {
            return 0;
        }
        match self.criterion() {
            Criterion::F1 => self.best_by_f1(contender, fold, inner),
            Criterion::LogEvidence => {
                let evidence = self.evidence(contender, fold, inner);
                let evidence: Vec<_> = evidence.into_iter().map(|all| self.grouped(all)).collect();
                simplest(&behind_best(&evidence), &self.simplicity(contender, inner))
            }
        }
    }

    fn best_by_f1(&self, contender: usize, fold: usize, inner: Inner<'_>) -> usize {
        let score = |candidate: usize| {
            let own = inner.iter().filter(|(cell, _)| {
                cell.contender == contender && cell.fold == fold && cell.candidate == candidate
            });
            let all = own.filter_map(|(_, result)| result.confusion);
            all.fold(Confusion::default(), std::ops::Add::add).scores().f1
        };
        let scores: Vec<f64> =
            (0..self.contenders[contender].candidates.len()).map(score).collect();
        (0..scores.len()).fold(0, |best, k| if scores[k] > scores[best] { k } else { best })
    }

    /// How all candidates did over the inner cross-validations of all folds, where evidence chose. A session
    /// is left out in all folds but its own, and counts once, with the mean.
    pub(super) fn candidates(
        &self,
        contender: usize,
        inner: Inner<'_>,
        results: &[FoldResult],
    ) -> Vec<CandidateResult> {
        let candidates = &self.contenders[contender].candidates;
        if candidates.len() == 1 || self.criterion() != Criterion::LogEvidence {
            return Vec::new();
        }
        let times = self.outer.len() as f64 - 1.0;
        let mut sums = vec![Some(vec![0.0; self.recordings.len()]); candidates.len()];
        for fold in 0..self.outer.len() {
            for (sum, own) in sums.iter_mut().zip(self.evidence(contender, fold, inner)) {
                *sum = sum.take().zip(own).map(|(sum, own)| {
                    sum.iter().zip(own).map(|(sum, own)| sum + own.unwrap_or(0.0) / times).collect()
                });
            }
        }
        let known = |all: Option<Vec<f64>>| Some(all?.into_iter().map(Some).collect());
        let evidence: Vec<_> = sums.into_iter().map(|all| self.grouped(known(all))).collect();
        let found = candidates.iter().zip(self.simplicity(contender, inner));
        found
            .zip(behind_best(&evidence))
            .enumerate()
            .map(|(k, ((learner, simplicity), behind))| CandidateResult {
                options: learner.options(),
                simplicity,
                behind,
                chosen: results.iter().filter(|result| result.chosen == k).count(),
            })
            .collect()
    }

    /// By candidate, the log evidence of each recording while it was left out inside a fold's rest; none
    /// where some are impossible.
    fn evidence(
        &self,
        contender: usize,
        fold: usize,
        inner: Inner<'_>,
    ) -> Vec<Option<Vec<Option<f64>>>> {
        let candidates = self.contenders[contender].candidates.len();
        let mut all = vec![Some(vec![None; self.recordings.len()]); candidates];
        let own = inner.iter().filter(|(cell, _)| cell.contender == contender && cell.fold == fold);
        for (cell, result) in own {
            match (&result.evidence, &mut all[cell.candidate]) {
                (Some(own), Some(all)) => {
                    cell.held_out.iter().zip(own).for_each(|(&k, own)| all[k] = Some(*own));
                }
                (_, lost) => *lost = None,
            }
        }
        all
    }

    /// Sums over the recordings that no fold may split, of those that have any.
    fn grouped(&self, evidence: Option<Vec<Option<f64>>>) -> Option<Vec<f64>> {
        let evidence = evidence?;
        let sum = |group: &Vec<usize>| -> Option<f64> { group.iter().map(|&k| evidence[k]).sum() };
        Some(groups(&self.recordings, self.options.group_by).iter().filter_map(sum).collect())
    }

    fn simplicity(&self, contender: usize, inner: Inner<'_>) -> Vec<Simplicity> {
        let of = |candidate: usize| {
            let own = inner
                .iter()
                .filter(|(cell, _)| cell.contender == contender && cell.candidate == candidate);
            let learner = &self.contenders[contender].candidates[candidate];
            Simplicity {
                parameters: own.map(|(_, result)| result.parameters).max().unwrap_or(0),
                weight_precision: learner.weight_precision(),
            }
        };
        (0..self.contenders[contender].candidates.len()).map(of).collect()
    }
}
