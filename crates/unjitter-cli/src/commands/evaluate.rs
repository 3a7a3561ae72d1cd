//! `unjitter evaluate`: comparison of learners by cross-validation without leaks.

mod tables;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use serde::Serialize;
use unjitter::evaluation::{
    Contender, Criterion, CrossValidation, EventScoring, GroupBy, Summary, SummaryOptions,
};
use unjitter::io::Dataset;
use unjitter::labels::Labels;
use unjitter::learning::median_spacing;
use unjitter::{Control, Recording, Session};

use crate::checked::Checked;
use crate::config::ConfigFile;
use crate::console::{Console, show};
use crate::evaluation_file::EvaluationFile;
use crate::failure::{Mistake, usage};
use crate::input::Input;
use crate::interrupt::{self, Listening};
use crate::learners::{Grid, Kind, abbreviation, named, parsed};
use crate::model_args::{ClassifierName, LabelsName, ModelArgs};
use crate::output::{Output, is_stream, refuse_mixed};
use crate::threshold::{BEST_F1, EXPECTED_F1, threshold};

pub(crate) use tables::{
    BOUT_CAPTION, BOUT_HEADER, CLASS_CAPTION, CLASS_HEADER, align_right, any_class, bare_table,
    bout_rows, class_rows, event_scores, table, tolerance,
};

/// Compare learners by cross-validation over sessions or subjects
///
/// Every fold is held out once; options are chosen on the rest, by F1 on hand-aligned labels or,
/// where there are none, by the evidence of held-out stamps: of options within one standard error of
/// the best, over sessions, the simplest is taken. Learners are called as in the paper:
/// a classifier (LR, KLR, NN) and a way to learn from stamps (M all alignments, H labels by hand,
/// N nearest instance, MI multiple instance, D drop near, S smear).
#[derive(Debug, Clone, Args, Serialize)]
pub(crate) struct Evaluate {
    #[command(flatten)]
    input: Input,
    #[command(flatten)]
    #[serde(flatten)]
    checked: Checked,
    /// Learners to compare, separated by commas; the first is what the others are tested against
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    learners: Vec<String>,
    #[command(flatten)]
    model: ModelArgs,
    #[command(flatten)]
    folds: FoldArgs,
    #[command(flatten)]
    events: EventArgs,
    /// Where the results go, for report
    #[arg(short, long, value_name = "FILE", default_value = "evaluation.json")]
    #[serde(skip)]
    output: PathBuf,
    /// Replace the output if it is there
    #[arg(long)]
    force: bool,
    /// Keep finished work here; a run that was interrupted goes on where it was
    #[arg(long, value_name = "FILE")]
    #[serde(skip)]
    journal: Option<PathBuf>,
    /// Seed of everything random
    #[arg(long, default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    #[serde(skip)]
    config: ConfigFile,
}

/// How to cross-validate.
#[derive(Debug, Clone, Args, Serialize)]
pub(crate) struct FoldArgs {
    /// Folds
    #[arg(long, value_name = "N", default_value_t = 10, help_heading = "Cross-validation")]
    pub folds: usize,
    /// Folds within the rest, for choosing options
    #[arg(long, value_name = "N", default_value_t = 5, help_heading = "Cross-validation")]
    pub inner_folds: usize,
    /// What no fold may split
    #[arg(long, default_value = "session", help_heading = "Cross-validation")]
    pub group_by: Group,
    /// What options are chosen by; by default F1 if there are labels
    #[arg(long, help_heading = "Cross-validation")]
    pub criterion: Option<CriterionName>,
    /// Where probabilities are cut: a number, best-f1 (on training labels) or expected-f1 (no labels
    /// needed); by default 0.5, but expected-f1 for M learners whose options the evidence chose
    #[arg(long, value_name = "P", help_heading = "Cross-validation")]
    pub threshold: Option<String>,
    /// Precisions of the weights to choose from; by default --weight-precision alone
    #[arg(long, value_name = "X,…", value_delimiter = ',', help_heading = "Cross-validation")]
    pub precisions: Vec<f64>,
    /// Sizes of bags to choose from, for MI
    #[arg(
        long,
        value_name = "N,…",
        value_delimiter = ',',
        default_value = "4",
        help_heading = "Cross-validation"
    )]
    pub bag_sizes: Vec<usize>,
}

/// When an event counts as found.
#[derive(Debug, Clone, Args, Serialize)]
pub(crate) struct EventArgs {
    /// How far from a true event a detection may be, in seconds; by default two median spacings of
    /// the instances, but no more than half the median distance between true events
    #[arg(long, value_name = "T", help_heading = "Events")]
    pub tolerance: Option<f64>,
    /// Least time between two detected events, in seconds
    #[arg(long, value_name = "T", default_value_t = 0.0, help_heading = "Events")]
    pub min_separation: f64,
}

impl EventArgs {
    fn scoring(&self, labels: Labels) -> anyhow::Result<EventScoring> {
        let Self { tolerance, min_separation } = *self;
        let scoring = EventScoring { tolerance, min_separation, labels, ..EventScoring::default() };
        // Reports wrong options before the work.
        scoring.check()?;
        Ok(scoring)
    }
}

/// What no fold may split.
#[derive(Debug, Clone, Copy, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Group {
    Session,
    Subject,
}

/// What options are chosen by.
#[derive(Debug, Clone, Copy, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum CriterionName {
    F1,
    LogEvidence,
}

impl FoldArgs {
    fn cross_validation(&self, seed: u64) -> anyhow::Result<CrossValidation> {
        let parsed = |text: &String| threshold(text, &[BEST_F1, EXPECTED_F1]);
        let threshold = self.threshold.as_ref().map(parsed).transpose()?;
        for (option, found) in [("--folds", self.folds), ("--inner-folds", self.inner_folds)] {
            if found < 2 {
                return Err(usage(format!("{option} {found}: expected at least 2")));
            }
        }
        Ok(CrossValidation {
            folds: self.folds,
            inner_folds: self.inner_folds,
            group_by: match self.group_by {
                Group::Session => GroupBy::Session,
                Group::Subject => GroupBy::Subject,
            },
            criterion: self.criterion.map(|criterion| match criterion {
                CriterionName::F1 => Criterion::F1,
                CriterionName::LogEvidence => Criterion::LogEvidence,
            }),
            threshold,
            seed,
        })
    }
}

impl Evaluate {
    /// Whether events are runs: bouts are, whatever was asked for.
    fn labels(&self, data: &Dataset) -> Labels {
        let has_ends = data.recordings.iter().any(|one| one.session.has_ends());
        if has_ends { Labels::Chain } else { self.model.labels.into() }
    }

    pub(crate) fn run(self, console: &Console) -> anyhow::Result<()> {
        refuse_mixed(console, &[self.output.as_path()])?;
        let mut output = Output::promise([self.output.as_path()], self.force)?;
        self.journal.iter().try_for_each(|journal| output.keep(journal))?;
        let data = self.input.read_stamped(false)?;
        self.checked.warn(&data, &self.model.varies()?, console)?;
        let contenders = self.contenders(&data)?;
        let how = How {
            folds: self.folds.cross_validation(self.seed)?,
            events: self.events.scoring(self.labels(&data))?,
            journal: self.journal.as_deref(),
            note: serde_json::to_value(&self)?,
        };
        let file = compare_by_class(&data.recordings, &data.classes, &contenders, how, console)?;
        output.add(&self.output, serde_json::to_vec(&file)?);
        output.write()?;
        if is_stream(&self.output) {
            return Ok(());
        }
        let summaries: Vec<&Summary> = file.learners.iter().map(|one| &one.summary).collect();
        console.result(&summaries, || table(&summaries))?;
        if summaries.iter().any(|one| one.labelled.is_some()) && self.events.tolerance.is_none() {
            console.note("another distance from an event to its detection: --tolerance T");
        }
        let classes = classes(data.recordings.iter().map(|one| &one.session));
        if classes.len() > 1 && summaries.iter().all(|own| class_rows(own).is_empty()) {
            console.note(
                "no scores by class: they need a learner M, and labels that all name the class of an event",
            );
        }
        console.note(&format!("wrote {}", self.output.display()));
        Ok(())
    }

    fn contenders(&self, data: &Dataset) -> anyhow::Result<Vec<Contender>> {
        let names = self.names(data)?;
        let kinds = names.iter().map(|name| Ok(parsed(name)?.1));
        let kinds = kinds.collect::<anyhow::Result<Vec<Kind>>>()?;
        if self.labels(data) == Labels::Chain && kinds.contains(&Kind::MultipleInstance) {
            let runs = match self.model.labels {
                LabelsName::Chain => "takes no --labels chain",
                LabelsName::Independent => "events that have an end form runs",
            };
            return Err(usage(format!("--learners: MI supposes independent labels, and {runs}")));
        }
        let classifiers = names.iter().map(|name| Ok(parsed(name)?.0));
        let classifiers = classifiers.collect::<anyhow::Result<Vec<ClassifierName>>>()?;
        let model = self.model.model(&classifiers)?.for_ends_of(&data.sessions())?;
        let spacing = median_spacing(&data.sessions());
        let grid = Grid {
            kind: Kind::Imprecise,
            fit: self.model.fit_options(self.seed),
            precisions: match self.folds.precisions.is_empty() {
                true => vec![model.priors.weight_precision],
                false => self.folds.precisions.clone(),
            },
            bag_sizes: self.folds.bag_sizes.clone(),
            radii: vec![2.0 * spacing],
            widths: vec![spacing],
            model,
        };
        let build = |classifier| self.model.classifier_of(classifier);
        names.iter().map(|name| named(name, &grid, build)).collect()
    }

    /// Names of the learners: those given, or the usual ones.
    fn names(&self, data: &Dataset) -> anyhow::Result<Vec<String>> {
        let classifier = self.model.classifier;
        if self.learners.is_empty() {
            let labelled = data.recordings.iter().all(|recording| recording.truth.is_some());
            let ends: &[&str] = if labelled { &["M", "H", "MI", "N"] } else { &["M", "MI", "N"] };
            let form_runs = self.labels(data) == Labels::Chain;
            let usual = ends
                .iter()
                .filter(|end| !(form_runs && **end == "MI"))
                .map(|end| format!("{}-{end}", abbreviation(classifier)));
            return Ok(usual.collect());
        }
        let names = self.learners.clone();
        if let Some(k) = (1..names.len()).find(|&k| names[..k].contains(&names[k])) {
            return Err(usage(format!("--learners has {} twice", names[k])));
        }
        if classifier != ClassifierName::Logistic {
            let message = "--classifier has no effect here: --learners names the classifiers";
            return Err(usage(message));
        }
        Ok(names)
    }
}

/// The classes of all sessions, in order of their names.
pub(crate) fn classes<'a>(sessions: impl Iterator<Item = &'a Session<'static>>) -> Vec<String> {
    let names: BTreeSet<&String> = sessions.flat_map(Session::classes).collect();
    names.into_iter().cloned().collect()
}

/// Settings of a comparison.
pub(crate) struct How<'a> {
    /// Folds and thresholds.
    pub folds: CrossValidation,
    /// When an event counts as detected.
    pub events: EventScoring,
    /// The file of finished work.
    pub journal: Option<&'a Path>,
    /// The origin that the file records.
    pub note: serde_json::Value,
}

/// Runs a comparison with a progress bar. The first contender is the reference of the tests.
pub(crate) fn compare(
    recordings: &[Recording],
    contenders: &[Contender],
    how: How<'_>,
    console: &Console,
) -> anyhow::Result<EvaluationFile> {
    compare_by_class(recordings, &[], contenders, how, console)
}

/// The same, with scores by class where labels name classes: one per instance, empty for no event.
fn compare_by_class(
    recordings: &[Recording],
    classes: &[Option<Vec<String>>],
    contenders: &[Contender],
    how: How<'_>,
    console: &Console,
) -> anyhow::Result<EvaluationFile> {
    let _listening = Listening::start();
    let bar = console.progress("comparing");
    let show = |progress| show(&bar, progress);
    let control = interrupt::control(&show);
    let How { folds, events, journal, note } = how;
    let comparison = folds.run(recordings, contenders, journal, control);
    bar.finish_and_clear();
    let comparison = comparison.map_err(|error| match (error, journal) {
        (unjitter::Error::Interrupted { done, total }, Some(path)) => {
            let journal = path.display();
            let message = format!("{journal} has {done} of {total} cells; run again to go on");
            Mistake::Interrupted(message).into()
        }
        (error, _) => anyhow::Error::new(error),
    })?;
    let options = SummaryOptions { events, ..SummaryOptions::default() };
    let quiet = Control { watch: None, ..control };
    let mut summaries = comparison.summary(recordings, 0, &options, quiet)?;
    for (summary, judged) in summaries.iter_mut().zip(&comparison.contenders) {
        if let Some(labelled) = &mut summary.labelled {
            labelled.classes = comparison.class_scores(judged, classes)?;
        }
    }
    let warnings = comparison.warnings(recordings, &folds);
    let warnings: Vec<String> = warnings.iter().map(ToString::to_string).collect();
    warnings.iter().for_each(|warning| console.warn(warning));
    let candidates: Vec<Vec<serde_json::Value>> = contenders
        .iter()
        .map(|contender| contender.candidates.iter().map(|learner| learner.options()).collect())
        .collect();
    Ok(EvaluationFile::new(&comparison, summaries, &candidates, recordings, warnings, note))
}
