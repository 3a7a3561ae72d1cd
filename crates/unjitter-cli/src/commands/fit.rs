//! `unjitter fit`: learn detector and annotator.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;
use unjitter::evaluation::{Threshold, expected_f1_threshold, fingerprint};
use unjitter::io::{Dataset, check_metadata};
use unjitter::learning::StopReason;
use unjitter::model::{GroupEstimate, LearnedEstimates, Mode, Runs};
use unjitter::{Control, Fitted, Learned, Session};

use super::evaluate::{align_right, bare_table};
use crate::annotator_text::{annotator, estimates, runs};
use crate::checked::Checked;
use crate::classes_text::Confusion;
use crate::config::ConfigFile;
use crate::console::{Console, show};
use crate::failure::{Mistake, usage};
use crate::groups_text;
use crate::input::Input;
use crate::interrupt::{self, Listening};
use crate::model_args::ModelArgs;
use crate::modes_text::{CAPTION, HEADER, check_mode, mode_number, rows, warning, with_mode};
use crate::output::{Output, is_stream, refuse_mixed};
use crate::tables::as_text;
use crate::threshold::{EXPECTED_F1, threshold};
use crate::words::{count, counted, few, number};

/// Learn a detector and how sloppy the annotator is
///
/// Writes a model file for align, predict and report. The file records every option and a
/// fingerprint of the data.
#[derive(Debug, Clone, Args, Serialize)]
pub(crate) struct Fit {
    #[command(flatten)]
    input: Input,
    #[command(flatten)]
    #[serde(flatten)]
    checked: Checked,
    #[command(flatten)]
    model: ModelArgs,
    /// Let the labels of the instances, where there are some, take part in learning; otherwise they
    /// are only for judging
    #[arg(long, help_heading = "Data")]
    use_labels: bool,
    /// Probability from which predict counts an instance as an event: a number, or expected-f1, the one
    /// with the best expected F1 here, given the stamps (no labels needed)
    #[arg(long, value_name = "P", default_value = "0.5")]
    threshold: String,
    /// Use another explanation of the stamps than the one that is chosen, by its number in the table
    /// that a first fit prints: 2 is the second. The model keeps all of them, and align, predict and
    /// report take --mode too
    #[arg(long, value_name = "N", value_parser = mode_number)]
    mode: Option<usize>,
    /// Where the model goes; `-` is standard output
    #[arg(short, long, value_name = "FILE", default_value = "model.json")]
    #[serde(skip)]
    output: PathBuf,
    /// Write a table of what was learned of every group, if something varies: what, by, group, value,
    /// standard_error, low, high (95 %), unit
    #[arg(long, value_name = "FILE")]
    #[serde(skip)]
    groups: Option<PathBuf>,
    /// Replace the outputs if they are there
    #[arg(long)]
    force: bool,
    /// Seed of everything random
    #[arg(long, default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    #[serde(skip)]
    config: ConfigFile,
}

/// The result of a fit, for machines.
#[derive(Debug, Serialize)]
struct FitResult<'a> {
    model: &'a Path,
    learned: Learned,
    /// Standard errors and 95 % intervals of the same.
    estimates: LearnedEstimates,
    /// What was learned of every group of stamps.
    groups: Vec<GroupEstimate>,
    /// Classes of events, and probabilities of what events of each are recorded as.
    #[serde(skip_serializing_if = "Option::is_none")]
    confusion: Option<Confusion<'a>>,
    /// How labels form runs, if they do.
    #[serde(skip_serializing_if = "Option::is_none")]
    runs: Option<Runs>,
    /// How the annotator tells the ends of bouts, if stamps have any.
    #[serde(skip_serializing_if = "Option::is_none")]
    ends: Option<Ends>,
    modes: &'a [Mode],
    converged: bool,
    iterations: usize,
    log_evidence: f64,
    threshold: f64,
    warnings: Vec<String>,
    sessions: usize,
    instances: usize,
    stamps: usize,
    features: Vec<String>,
    fingerprint: Option<&'a serde_json::Value>,
}

impl Fit {
    pub(crate) fn run(self, console: &Console) -> anyhow::Result<()> {
        let paths: Vec<&Path> =
            [self.output.as_path()].into_iter().chain(self.groups.as_deref()).collect();
        refuse_mixed(console, &paths)?;
        let mut output = Output::promise(paths, self.force)?;
        let model = self.model.model(&[self.model.classifier])?;
        if self.groups.is_some() && model.varies.is_empty() {
            return Err(usage("--groups has no effect here: it belongs to --varies or --clock"));
        }
        let threshold = threshold(&self.threshold, &[EXPECTED_F1])?;
        let data = self.input.read_stamped(self.use_labels)?;
        self.checked.warn(&data, &model.varies, console)?;
        let notes = notes(&data, serde_json::to_value(&self)?)?;
        let fitted = fit(&data, &model, &self.model.fit_options(self.seed), console)?;
        // The fit may have taken hours: without that mode, the model is written with the first.
        let no_such_mode = check_mode(&fitted, self.mode).err();
        let mut fitted = with_mode(fitted, self.mode.filter(|_| no_such_mode.is_none()))?;
        fitted.set_threshold(match threshold {
            Threshold::Fixed(p) => p,
            _ => expected_f1_threshold(&fitted, &data.sessions(), Control::default())?,
        })?;
        let fitted = with_notes(fitted, notes)?;
        output.add(&self.output, fitted.to_json());
        if let Some(path) = &self.groups {
            output.add(path, groups_text::csv(&groups_text::estimates(&fitted)));
        }
        output.write()?;
        let result = result(&fitted, &data, &self.output);
        for warning in &result.warnings {
            console.warn(warning);
        }
        if !is_stream(&self.output) && !self.groups.as_deref().is_some_and(is_stream) {
            console.result(&result, || text(&fitted, &data))?;
            console.note(&format!("wrote {}", self.output.display()));
            let annotators = annotators(&data);
            if model.varies.is_empty() && annotators > 1 {
                console.note(&format!(
                    "{annotators} annotators are taken to be alike: --varies delay=annotator lets \
                     them differ"
                ));
            }
        }
        match no_such_mode {
            Some(error) => Err(usage(format!("{error}; the model was written with mode 1 in use"))),
            None => Ok(()),
        }
    }
}

/// Fits with a progress bar, and stops on Ctrl-C.
pub(crate) fn fit(
    data: &Dataset,
    model: &unjitter::Model,
    options: &unjitter::FitOptions,
    console: &Console,
) -> anyhow::Result<Fitted> {
    fit_sessions(&data.sessions(), model, options, console)
}

/// The same for sessions.
pub(crate) fn fit_sessions(
    sessions: &[Session<'_>],
    model: &unjitter::Model,
    options: &unjitter::FitOptions,
    console: &Console,
) -> anyhow::Result<Fitted> {
    let _listening = Listening::start();
    let bar = console.progress("learning");
    let show = |progress| show(&bar, progress);
    let fitted = model.fit(sessions, options, interrupt::control(&show));
    bar.finish_and_clear();
    match fitted {
        Ok(fitted) if fitted.outcome().stop != StopReason::Cancelled => Ok(fitted),
        Ok(_) | Err(unjitter::Error::Cancelled) => {
            Err(Mistake::Interrupted("no model was written".to_owned()).into())
        }
        Err(error) => Err(error.into()),
    }
}

/// How many annotators the data name.
fn annotators(data: &Dataset) -> usize {
    let sessions = data.recordings.iter().map(|recording| &recording.session);
    sessions.flat_map(|session| session.annotators()).collect::<BTreeSet<_>>().len()
}

/// Notes of a model, by name.
type Notes = BTreeMap<String, serde_json::Value>;

/// The origin of a model, checked before the fit, which may take hours.
pub(crate) fn notes(data: &Dataset, options: serde_json::Value) -> anyhow::Result<Notes> {
    let notes = BTreeMap::from([
        ("program".to_owned(), format!("unjitter {}", env!("CARGO_PKG_VERSION")).into()),
        ("options".to_owned(), options),
        ("features".to_owned(), data.features.clone().into()),
        ("fingerprint".to_owned(), fingerprint(&data.recordings).into()),
    ]);
    check_metadata(&notes)?;
    Ok(notes)
}

/// The model with its notes.
pub(crate) fn with_notes(mut fitted: Fitted, notes: Notes) -> anyhow::Result<Fitted> {
    for (key, note) in notes {
        fitted.set_metadata(key, note)?;
    }
    Ok(fitted)
}

/// What was learned of how the annotator tells the ends of bouts.
#[derive(Debug, Serialize)]
struct Ends {
    learned: Learned,
    estimates: LearnedEstimates,
}

impl Ends {
    fn of(fitted: &Fitted) -> Option<Self> {
        let estimates = fitted.ends_estimates(0.95).expect("95 % is a level");
        Some(Self { learned: fitted.learned_ends()?, estimates: estimates? })
    }
}

fn result<'a>(fitted: &'a Fitted, data: &Dataset, model: &'a Path) -> FitResult<'a> {
    let outcome = fitted.outcome();
    FitResult {
        model,
        learned: fitted.learned(),
        estimates: estimates(fitted),
        groups: groups_text::estimates(fitted),
        confusion: Confusion::of(fitted),
        runs: fitted.runs(),
        ends: Ends::of(fitted),
        modes: fitted.modes(),
        converged: outcome.converged,
        iterations: outcome.iterations,
        log_evidence: outcome.log_evidence,
        threshold: fitted.threshold(),
        warnings: fitted.warnings().iter().map(warning).collect(),
        sessions: data.recordings.len(),
        instances: data.instances(),
        stamps: data.stamps(),
        features: data.features.clone(),
        fingerprint: fitted.metadata().get("fingerprint"),
    }
}

fn text(fitted: &Fitted, data: &Dataset) -> String {
    let mut text = format!(
        "Learned from {}: {}, {}, {} ({})\n\n",
        counted(data.recordings.len(), "session"),
        counted(data.instances(), "instance"),
        counted(data.stamps(), "stamp"),
        counted(data.features.len(), "feature"),
        few(&data.features),
    );
    text.push_str(&annotator(fitted));
    text.push_str(&runs(fitted, &data.sessions()));
    for table in groups_text::tables(fitted) {
        let _ = write!(text, "\n{}", as_text(&table, 1));
    }
    if let Some(confusion) = Confusion::of(fitted) {
        let _ = write!(text, "\n{}", confusion.text());
    }
    let outcome = fitted.outcome();
    let how = if outcome.converged { "converged" } else { "stopped" };
    let _ = write!(
        text,
        "\nThe fit {how} after {} iterations; log evidence {}",
        count(outcome.iterations),
        number(outcome.log_evidence),
    );
    if fitted.threshold() != 0.5 {
        let _ = write!(
            text,
            "\nAn event is found from a probability of {}",
            number(fitted.threshold())
        );
    }
    let modes = rows(fitted.modes());
    if !modes.is_empty() {
        let mut table = bare_table(&HEADER);
        table.add_rows(modes);
        align_right(&mut table, 1);
        let (table, caption) = (table.trim_fmt(), CAPTION.replace(". ", ".\n "));
        let _ = write!(text, "\n\nExplanations of the stamps\n{table}\n {caption}");
    }
    text
}
