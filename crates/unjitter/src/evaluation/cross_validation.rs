//! Nested cross-validation over sessions or subjects.
//!
//! Every outer fold is held out once. On the rest, an inner cross-validation compares each learner's
//! candidates (a grid of options); one is chosen, trained on all the rest and evaluated on the fold. Inner
//! and final fits are the cells of a journal; cells run in parallel and do not depend on each other's
//! order, so the numbers are the same on any number of threads and after any interruption.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::classes::FoundClasses;
use super::criterion::Criterion;
use super::fingerprint::{digest, fingerprint};
use super::folds::{GroupBy, folds, groups};
use super::instances::{Confusion, confusion};
use super::journal::Journal;
use super::selection::CandidateResult;
use super::threshold::Threshold;
use crate::baselines::{Annotated, Learner, TrainedModel};
use crate::{Control, Error, Recording, Result};

/// Settings of a cross-validation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CrossValidation {
    /// Outer folds.
    pub folds: usize,
    /// Inner folds, for choosing among candidates.
    pub inner_folds: usize,
    /// The unit that no fold may split.
    pub group_by: GroupBy,
    /// The criterion for choosing candidates; by default F1 if every recording has hand-aligned labels,
    /// and the held-out evidence otherwise.
    pub criterion: Option<Criterion>,
    /// Threshold of the probabilities; by default 0.5, but [`Threshold::ExpectedF1`] for a model of the
    /// annotator that was chosen by the evidence, which does not care whether probabilities reach 0.5.
    pub threshold: Option<Threshold>,
    /// Seed of the folds and of every fit.
    pub seed: u64,
}

impl Default for CrossValidation {
    fn default() -> Self {
        Self {
            folds: 10,
            inner_folds: 10,
            group_by: GroupBy::default(),
            criterion: None,
            threshold: None,
            seed: 0,
        }
    }
}

/// A learner to evaluate: one, or several candidates to choose from in each fold.
#[derive(Debug)]
pub struct Contender {
    /// Its name in tables.
    pub name: String,
    /// At least one.
    pub candidates: Vec<Box<dyn Learner>>,
}

impl Contender {
    /// A learner without a choice.
    pub fn single(learner: impl Learner + 'static) -> Self {
        Self { name: learner.name(), candidates: vec![Box::new(learner)] }
    }

    /// Candidates to choose from; the name is the first one's.
    pub fn grid<L: Learner + 'static>(candidates: impl IntoIterator<Item = L>) -> Self {
        let candidates: Vec<Box<dyn Learner>> =
            candidates.into_iter().map(|learner| Box::new(learner) as Box<dyn Learner>).collect();
        Self { name: candidates.first().map_or(String::new(), |first| first.name()), candidates }
    }
}

/// Results of all contenders.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// Positions of the recordings of each outer fold.
    pub folds: Vec<Vec<usize>>,
    /// Positions of the recordings that stay together: sessions, or those of one subject.
    pub groups: Vec<Vec<usize>>,
    /// One per contender.
    pub contenders: Vec<ContenderResult>,
}

/// Results of one contender.
#[derive(Debug, Clone, PartialEq)]
pub struct ContenderResult {
    /// Its name.
    pub name: String,
    /// One per outer fold.
    pub folds: Vec<FoldResult>,
    /// How its candidates did; empty if there was no choice, or if F1 made it.
    pub candidates: Vec<CandidateResult>,
}

/// Result of a contender on one outer fold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FoldResult {
    /// The chosen candidate.
    pub chosen: usize,
    /// Threshold of its probabilities.
    pub threshold: f64,
    /// Log evidence of the stamps of each held-out recording. `None` if some are impossible, and for a bare
    /// detector unless candidates are chosen by it and events are of one class: it does not say which of several a stamp
    /// is recorded as, so that its evidence would be of something else.
    pub evidence: Option<Vec<f64>>,
    /// Probabilities of the instances of each held-out recording.
    pub probabilities: Vec<Vec<f64>>,
    /// Hits and errors on hand-aligned labels, pooled over the fold, if it has labels.
    pub confusion: Option<Confusion>,
    /// Classes of events, if the detector knows any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub classes: Option<FoundClasses>,
}

impl FoldResult {
    /// Log evidence of all held-out stamps.
    pub fn log_evidence(&self) -> Option<f64> {
        Some(self.evidence.as_ref()?.iter().sum())
    }
}

impl ContenderResult {
    /// F1 of each fold; `None` without labels.
    pub fn f1(&self) -> Option<Vec<f64>> {
        self.folds.iter().map(|fold| Some(fold.confusion?.scores().f1)).collect()
    }

    /// F1 of each fold that has a positive label; `None` without labels. Without a positive, F1 is 0
    /// however good a learner is.
    pub fn f1_where_positive(&self) -> Option<Vec<f64>> {
        let all: Option<Vec<Confusion>> = self.folds.iter().map(|fold| fold.confusion).collect();
        let has_positive = |fold: &Confusion| fold.true_positives + fold.false_negatives > 0;
        Some(all?.into_iter().filter(has_positive).map(|fold| fold.scores().f1).collect())
    }

    /// Hits and errors of all folds together; `None` without labels.
    pub fn pooled(&self) -> Option<Confusion> {
        let all: Option<Vec<Confusion>> = self.folds.iter().map(|fold| fold.confusion).collect();
        Some(all?.into_iter().fold(Confusion::default(), std::ops::Add::add))
    }
}

/// Result of an inner fit on its held-out part.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct InnerResult {
    pub(super) confusion: Option<Confusion>,
    /// Of each held-out recording; `None` if not requested, or if some are impossible.
    pub(super) evidence: Option<Vec<f64>>,
    /// Numbers that were learned.
    pub(super) parameters: usize,
}

/// A line of the journal.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Cell {
    Inner(InnerResult),
    Fold(FoldResult),
}

impl CrossValidation {
    /// Evaluates contenders on recordings. With a `journal`, finished cells are stored there and reused.
    /// If a stop is requested, the work ends with [`Error::Interrupted`], also in the middle of a cell,
    /// and the journal has all finished cells.
    pub fn run(
        &self,
        recordings: &[Recording],
        contenders: &[Contender],
        journal: Option<&Path>,
        control: Control<'_>,
    ) -> Result<Comparison> {
        let all: Vec<&Recording> = recordings.iter().collect();
        let outer = folds(&all, self.folds, self.group_by, self.seed)?;
        for contender in contenders {
            if contender.candidates.is_empty() {
                return Err(Error::NoCandidates { contender: contender.name.clone() });
            }
        }
        let journal = match journal {
            None => Journal::none(),
            Some(path) => {
                Journal::open(path, &self.description(contenders), &fingerprint(recordings))?
            }
        };
        let knowing = knowing(contenders, &all)?;
        let plan = Plan { options: self, recordings: all, outer, contenders, knowing };
        let inner = plan.inner_cells()?;
        let work = Work {
            journal,
            done: AtomicUsize::new(0),
            total: inner.len() + plan.outer.len() * contenders.len(),
            control,
        };
        let quiet = Control { watch: None, ..control };
        let inner: Vec<(InnerCell, InnerResult)> = inner
            .into_par_iter()
            .map(|cell| {
                let result =
                    work.cell(&cell.name(), || Ok(Cell::Inner(plan.inner(&cell, quiet)?)))?;
                match result {
                    Cell::Inner(result) => Ok((cell, result)),
                    Cell::Fold(_) => Err(work.mixed_up(&cell.name())),
                }
            })
            .collect::<Result<_>>()?;
        let finals: Vec<(usize, usize)> = (0..contenders.len())
            .flat_map(|contender| (0..plan.outer.len()).map(move |fold| (contender, fold)))
            .collect();
        let results: Vec<FoldResult> = finals
            .into_par_iter()
            .map(|(contender, fold)| {
                let chosen = plan.choose(contender, fold, &inner);
                let name = format!("contender {contender} fold {fold}");
                match work
                    .cell(&name, || Ok(Cell::Fold(plan.last(contender, fold, chosen, quiet)?)))?
                {
                    Cell::Fold(result) => Ok(result),
                    Cell::Inner(_) => Err(work.mixed_up(&name)),
                }
            })
            .collect::<Result<_>>()?;
        let judged = contenders.iter().zip(results.chunks(plan.outer.len())).enumerate();
        let contenders = judged
            .map(|(k, (contender, folds))| ContenderResult {
                name: contender.name.clone(),
                folds: folds.to_vec(),
                candidates: plan.candidates(k, &inner, folds),
            })
            .collect();
        let groups = groups(&plan.recordings, self.group_by);
        Ok(Comparison { folds: plan.outer, groups, contenders })
    }

    /// Number of cells of [`run`](Self::run).
    pub fn cells(&self, recordings: &[Recording], contenders: &[Contender]) -> Result<usize> {
        let all: Vec<&Recording> = recordings.iter().collect();
        let outer = folds(&all, self.folds, self.group_by, self.seed)?;
        let knowing = Vec::new();
        let plan = Plan { options: self, recordings: all, outer, contenders, knowing };
        Ok(plan.inner_cells()?.len() + plan.outer.len() * contenders.len())
    }

    /// 32 hexadecimal digits that change with everything that decides the numbers: options, contenders,
    /// recordings. They make a good name for a journal.
    pub fn key(&self, recordings: &[Recording], contenders: &[Contender]) -> String {
        let description = self.description(contenders).to_string();
        digest(&[&description, &fingerprint(recordings)])
    }

    /// Everything that decides the numbers.
    fn description(&self, contenders: &[Contender]) -> serde_json::Value {
        let contenders: Vec<serde_json::Value> = contenders
            .iter()
            .map(|contender| {
                let candidates: Vec<_> =
                    contender.candidates.iter().map(|learner| learner.options()).collect();
                serde_json::json!({ "name": contender.name, "candidates": candidates })
            })
            .collect();
        serde_json::json!({ "cross_validation": self, "contenders": contenders })
    }
}

/// All cells of the work.
pub(super) struct Plan<'a> {
    pub(super) options: &'a CrossValidation,
    pub(super) recordings: Vec<&'a Recording<'a>>,
    pub(super) outer: Vec<Vec<usize>>,
    pub(super) contenders: &'a [Contender],
    /// The candidates of each, told what all recordings are of.
    knowing: Vec<Vec<Knowing>>,
}

/// A candidate that was told; none if that changes nothing.
type Knowing = Option<Box<dyn Learner>>;

/// Candidates that know what all recordings are of: a class that is rare may be in no recording but those held out.
fn knowing(contenders: &[Contender], all: &[&Recording<'_>]) -> Result<Vec<Vec<Knowing>>> {
    let of = |contender: &Contender| {
        contender.candidates.iter().map(|learner| learner.knowing(all)).collect()
    };
    contenders.iter().map(of).collect()
}

/// One inner fit: a candidate trained outside one outer fold and one inner fold.
#[derive(Debug)]
pub(super) struct InnerCell {
    pub(super) contender: usize,
    pub(super) candidate: usize,
    pub(super) fold: usize,
    inner_fold: usize,
    training: Vec<usize>,
    pub(super) held_out: Vec<usize>,
}

impl InnerCell {
    fn name(&self) -> String {
        let Self { contender, candidate, fold, inner_fold, .. } = self;
        format!("contender {contender} candidate {candidate} fold {fold} inner {inner_fold}")
    }
}

impl<'a> Plan<'a> {
    pub(super) fn criterion(&self) -> Criterion {
        let labelled = self.recordings.iter().all(|recording| recording.truth.is_some());
        let default = if labelled { Criterion::F1 } else { Criterion::LogEvidence };
        self.options.criterion.unwrap_or(default)
    }

    fn threshold(&self, contender: usize, annotated: &Annotated<'_>) -> Result<f64> {
        let had_choice = self.contenders[contender].candidates.len() > 1;
        let by_evidence = had_choice && self.criterion() == Criterion::LogEvidence;
        let default = match by_evidence && annotated.is_own() {
            true => Threshold::ExpectedF1,
            false => Threshold::default(),
        };
        self.options.threshold.unwrap_or(default).choose_annotated(annotated)
    }

    fn learner(&self, contender: usize, candidate: usize) -> &dyn Learner {
        let knowing = self.knowing.get(contender).and_then(|own| own.get(candidate)?.as_deref());
        knowing.unwrap_or(self.contenders[contender].candidates[candidate].as_ref())
    }

    /// A trained learner with a model of the annotator.
    fn annotated<'b>(
        &self,
        trained: &'b TrainedModel,
        training: &'b [&'b Recording<'b>],
        control: Control<'b>,
    ) -> Annotated<'b> {
        let tells_ends = self.recordings.iter().any(|recording| recording.session.has_ends());
        Annotated::new(trained, training, self.options.seed, control).told_ends(tells_ends)
    }

    /// Whether events are of several classes.
    fn has_classes(&self) -> bool {
        let names = self.recordings.iter().flat_map(|recording| recording.session.classes());
        names.collect::<BTreeSet<&String>>().len() > 1
    }

    fn at(&self, positions: &[usize]) -> Vec<&'a Recording<'a>> {
        positions.iter().map(|&k| self.recordings[k]).collect()
    }

    /// Recordings outside an outer fold.
    fn rest(&self, fold: usize) -> Vec<usize> {
        (0..self.recordings.len()).filter(|k| self.outer[fold].binary_search(k).is_err()).collect()
    }

    fn inner_cells(&self) -> Result<Vec<InnerCell>> {
        let mut cells = Vec::new();
        if self.contenders.iter().all(|contender| contender.candidates.len() == 1) {
            return Ok(cells);
        }
        for fold in 0..self.outer.len() {
            let rest = self.rest(fold);
            let CrossValidation { inner_folds, group_by, seed, .. } = *self.options;
            // Another shuffle for every outer fold, the same for all contenders.
            let inner =
                folds(&self.at(&rest), inner_folds, group_by, seed.wrapping_add(1 + fold as u64))?;
            for (inner_fold, positions) in inner.iter().enumerate() {
                let held_out: Vec<usize> = positions.iter().map(|&p| rest[p]).collect();
                let training: Vec<usize> =
                    rest.iter().copied().filter(|k| held_out.binary_search(k).is_err()).collect();
                for (contender, grid) in self.contenders.iter().enumerate() {
                    if grid.candidates.len() == 1 {
                        continue;
                    }
                    for candidate in 0..grid.candidates.len() {
                        let (training, held_out) = (training.clone(), held_out.clone());
                        cells.push(InnerCell {
                            contender,
                            candidate,
                            fold,
                            inner_fold,
                            training,
                            held_out,
                        });
                    }
                }
            }
        }
        Ok(cells)
    }

    fn inner(&self, cell: &InnerCell, control: Control<'_>) -> Result<InnerResult> {
        let learner = self.learner(cell.contender, cell.candidate);
        let training = self.at(&cell.training);
        let trained = learner.fit(&training, self.options.seed, control)?;
        let annotated = self.annotated(&trained, &training, control);
        let (held_out, parameters) = (self.at(&cell.held_out), trained.parameters()?);
        match self.criterion() {
            Criterion::F1 => {
                let threshold = self.threshold(cell.contender, &annotated)?;
                let mut confusion = Confusion::default();
                for recording in held_out {
                    let probabilities = trained.predict_session(&recording.session)?;
                    confusion = confusion + judge(recording, &probabilities, threshold)?;
                }
                Ok(InnerResult { confusion: Some(confusion), evidence: None, parameters })
            }
            Criterion::LogEvidence => {
                let evidence = evidence(&annotated, &held_out)?;
                Ok(InnerResult { confusion: None, evidence, parameters })
            }
        }
    }

    /// Trains the chosen candidate on all but the fold, and evaluates it there.
    fn last(
        &self,
        contender: usize,
        fold: usize,
        chosen: usize,
        control: Control<'_>,
    ) -> Result<FoldResult> {
        let learner = self.learner(contender, chosen);
        let training = self.at(&self.rest(fold));
        let trained = learner.fit(&training, self.options.seed, control)?;
        let annotated = self.annotated(&trained, &training, control);
        let threshold = self.threshold(contender, &annotated)?;
        let held_out = self.at(&self.outer[fold]);
        let mut probabilities = Vec::new();
        let mut confusion = Some(Confusion::default());
        for recording in &held_out {
            let found = trained.predict_session(&recording.session)?;
            confusion = match (confusion, &recording.truth) {
                (Some(sum), Some(_)) => Some(sum + judge(recording, &found, threshold)?),
                _ => None,
            };
            probabilities.push(found);
        }
        // For a bare detector an annotator would have to be fitted first.
        let by_evidence = self.criterion() == Criterion::LogEvidence;
        let is_wanted = annotated.is_own() || (by_evidence && !self.has_classes());
        let evidence = match is_wanted {
            true => evidence(&annotated, &held_out)?,
            false => None,
        };
        let classes = FoundClasses::of(&trained, &held_out, threshold)?;
        Ok(FoldResult { chosen, threshold, evidence, probabilities, confusion, classes })
    }
}

fn judge(recording: &Recording, probabilities: &[f64], threshold: f64) -> Result<Confusion> {
    confusion(probabilities, recording.hand_labels()?, threshold)
}

/// Log evidence of each recording; `None` if one is impossible.
fn evidence(annotated: &Annotated<'_>, held_out: &[&Recording]) -> Result<Option<Vec<f64>>> {
    let each = held_out.iter().map(|recording| annotated.log_evidence(recording));
    let each: Vec<f64> = each.collect::<Result<_>>()?;
    Ok(each.iter().all(|own| own.is_finite()).then_some(each))
}

/// The state of running cells.
struct Work<'a> {
    journal: Journal<Cell>,
    done: AtomicUsize,
    total: usize,
    control: Control<'a>,
}

impl Work<'_> {
    /// The result of a cell, from the journal or computed.
    fn cell(&self, name: &str, work: impl FnOnce() -> Result<Cell>) -> Result<Cell> {
        if self.control.is_stop_requested() {
            return Err(self.interrupted());
        }
        let result = match self.journal.get(name) {
            Some(result) => result.clone(),
            None => {
                let result = work().map_err(|error| match error {
                    Error::Cancelled => self.interrupted(),
                    other => other,
                })?;
                self.journal.note(name, &result)?;
                result
            }
        };
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        self.control.tell(done, self.total, None);
        Ok(result)
    }

    fn interrupted(&self) -> Error {
        Error::Interrupted { done: self.done.load(Ordering::Relaxed), total: self.total }
    }

    fn mixed_up(&self, name: &str) -> Error {
        self.journal.refuse(format!("cell {name} is of another kind than expected"))
    }
}
