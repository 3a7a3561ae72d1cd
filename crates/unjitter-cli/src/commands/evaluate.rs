//! `unjitter evaluate`: learners side by side, by cross-validation that cannot leak.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use comfy_table::{CellAlignment, Table, TableComponent, presets};
use serde::Serialize;
use unjitter::Recording;
use unjitter::evaluation::{
    BootstrapOptions, CellsDone, Contender, Criterion, CrossValidation, GroupBy, LabelledSummary,
    Summary, Threshold,
};
use unjitter::io::Dataset;
use unjitter::learning::median_spacing;

use crate::config::ConfigFile;
use crate::console::Console;
use crate::evaluation_file::EvaluationFile;
use crate::failure::{Mistake, usage};
use crate::input::Input;
use crate::interrupt::{self, Listening};
use crate::learners::{Grid, Kind, abbreviation, description, named};
use crate::model_args::ModelArgs;
use crate::output::{Output, is_stream, refuse_mixed};

/// Compare learners by cross-validation over sessions or subjects
///
/// Every fold is held out once; options are chosen on the rest, by F1 on hand-aligned labels or,
/// where there are none, by the evidence of held-out stamps. Learners are called as in the paper:
/// a classifier (LR, KLR, NN) and a way to learn from stamps (M all alignments, H labels by hand,
/// N nearest instance, MI multiple instance, D drop near, S smear).
#[derive(Debug, Clone, Args, Serialize)]
pub(crate) struct Evaluate {
    #[command(flatten)]
    input: Input,
    /// Learners to compare, separated by commas; the first is what the others are tested against
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    learners: Vec<String>,
    #[command(flatten)]
    model: ModelArgs,
    #[command(flatten)]
    folds: FoldArgs,
    /// Where the results go, for report
    #[arg(short, long, value_name = "FILE", default_value = "evaluation.json")]
    output: PathBuf,
    /// Replace the output if it is there
    #[arg(long)]
    force: bool,
    /// Keep finished work here; a run that was interrupted goes on where it was
    #[arg(long, value_name = "FILE")]
    journal: Option<PathBuf>,
    /// Seed of everything random
    #[arg(long, default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
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
    /// needed)
    #[arg(long, value_name = "P", default_value = "0.5", help_heading = "Cross-validation")]
    pub threshold: String,
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
        let threshold = match self.threshold.as_str() {
            "best-f1" => Threshold::BestF1,
            "expected-f1" => Threshold::ExpectedF1,
            number => Threshold::Fixed(number.parse().map_err(|_| {
                usage(format!("--threshold {number}: expected a number, best-f1 or expected-f1"))
            })?),
        };
        if matches!(threshold, Threshold::Fixed(p) if !(0.0..=1.0).contains(&p)) {
            let found = &self.threshold;
            return Err(usage(format!("--threshold {found}: expected a number from 0 to 1")));
        }
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
    pub(crate) fn run(self, console: &Console) -> anyhow::Result<()> {
        refuse_mixed(console, &[self.output.as_path()])?;
        let mut output = Output::promise([self.output.as_path()], self.force)?;
        self.input.protect([self.output.as_path()], None)?;
        let data = self.input.read_stamped(false)?;
        let contenders = self.contenders(&data)?;
        let options = self.folds.cross_validation(self.seed)?;
        let journal = self.journal.as_deref();
        let options_json = serde_json::to_value(&self)?;
        let file =
            compare(&data.recordings, &contenders, &options, journal, options_json, console)?;
        output.add(&self.output, serde_json::to_vec(&file)?);
        output.write()?;
        if is_stream(&self.output) {
            return Ok(());
        }
        let summaries: Vec<&Summary> = file.learners.iter().map(|one| &one.summary).collect();
        console.result(&summaries, || table(&summaries))?;
        console.note(&format!("wrote {}", self.output.display()));
        Ok(())
    }

    fn contenders(&self, data: &Dataset) -> anyhow::Result<Vec<Contender>> {
        let labelled = data.recordings.iter().all(|recording| recording.truth.is_some());
        let model = self.model.model()?;
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
        let ends: &[&str] = if labelled { &["M", "H", "MI", "N"] } else { &["M", "MI", "N"] };
        let usual = ends.iter().map(|end| format!("{}-{end}", abbreviation(self.model.classifier)));
        let names: Vec<String> = match self.learners.is_empty() {
            true => usual.collect(),
            false => self.learners.clone(),
        };
        if let Some(k) = (1..names.len()).find(|&k| names[..k].contains(&names[k])) {
            return Err(usage(format!("--learners has {} twice", names[k])));
        }
        let build = |classifier| self.model.classifier_of(classifier);
        names.iter().map(|name| named(name, &grid, build)).collect()
    }
}

/// Runs a comparison with a bar. The first contender is the reference of the tests.
pub(crate) fn compare(
    recordings: &[Recording],
    contenders: &[Contender],
    options: &CrossValidation,
    journal: Option<&Path>,
    options_json: serde_json::Value,
    console: &Console,
) -> anyhow::Result<EvaluationFile> {
    let _listening = Listening::start();
    let bar = console.progress("comparing", 0);
    let comparison = options.run(recordings, contenders, journal, &|CellsDone { done, total }| {
        bar.set_length(total as u64);
        bar.set_position(done as u64);
        interrupt::check()
    });
    bar.finish_and_clear();
    let comparison = comparison.map_err(|error| match (error, journal) {
        (unjitter::Error::Interrupted { done, total }, Some(path)) => {
            let journal = path.display();
            let message = format!("{journal} has {done} of {total} cells; run again to go on");
            Mistake::Interrupted(message).into()
        }
        (error, _) => anyhow::Error::new(error),
    })?;
    let summaries = comparison.summary(recordings, 0, &BootstrapOptions::default())?;
    let candidates: Vec<Vec<serde_json::Value>> = contenders
        .iter()
        .map(|contender| contender.candidates.iter().map(|learner| learner.options()).collect())
        .collect();
    Ok(EvaluationFile::new(&comparison, summaries, &candidates, recordings, options_json))
}

/// The comparison for people.
pub(crate) fn table(summaries: &[&Summary]) -> String {
    let labelled = summaries.iter().any(|summary| summary.labelled.is_some());
    let mut table = Table::new();
    table.load_preset(presets::UTF8_HORIZONTAL_ONLY);
    table.remove_style(TableComponent::HorizontalLines);
    table.remove_style(TableComponent::MiddleIntersections);
    let header: &[&str] = match labelled {
        true => &["learner", "learns from", "F1", "95 % interval", "precision", "recall", "p"],
        false => &["learner", "learns from", "log evidence per stamp"],
    };
    table.set_header(header);
    for summary in summaries {
        let mut row = vec![summary.name.clone(), description(&summary.name).to_owned()];
        match &summary.labelled {
            Some(labelled) => row.extend(scores(labelled)),
            None => {
                let evidence = summary.log_evidence_per_stamp;
                row.push(evidence.map_or("impossible".to_owned(), |value| format!("{value:.3}")));
            }
        }
        table.add_row(row);
    }
    for column in table.column_iter_mut().skip(2) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    let note = match summaries {
        [first, _, ..] if labelled => {
            let name = &first.name;
            format!(
                "\n p: how easily chance alone gives such a difference to {name} over the folds\n    \
                 (paired t-test, corrected for the number of learners)"
            )
        }
        _ => String::new(),
    };
    table.trim_fmt() + &note
}

fn scores(labelled: &LabelledSummary) -> [String; 5] {
    let LabelledSummary { scores, f1_interval, p_value, .. } = labelled;
    [
        format!("{:.3}", scores.f1),
        format!("{:.3} to {:.3}", f1_interval.low, f1_interval.high),
        format!("{:.3}", scores.precision),
        format!("{:.3}", scores.recall),
        match p_value {
            None => String::new(),
            Some(p) if *p < 0.001 => "< 0.001".to_owned(),
            Some(p) => format!("{p:.3}"),
        },
    ]
}
