//! `unjitter report`: one page to look at.

mod session;

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;
use unjitter::diagnosis::{Agreement, Diagnosis, DiagnosisOptions, agreement};
use unjitter::evaluation::Summary;
use unjitter::io::{Channels, Dataset, RawSignal, read_signals};
use unjitter::labels::Labels;
use unjitter::{AlignOptions, Aligned, Fitted, Warning};

use session::{missed, view};

use super::align::{align, refuse_aligned};
use super::diagnose::{OTHER_DATA, diagnosed, is_other, options};
use super::evaluate::{
    BOUT_CAPTION, BOUT_HEADER, CLASS_CAPTION, CLASS_HEADER, any_class, bout_rows, class_rows,
    event_scores, tolerance,
};
use crate::adapted::adapted;
use crate::agreement_text;
use crate::annotator_text;
use crate::checked::Checked;
use crate::classes_text;
use crate::config::ConfigFile;
use crate::console::Console;
use crate::diagnosis_gallery::{STEMS, diagnosis_drawings};
use crate::diagnosis_text;
use crate::evaluation_file::EvaluationFile;
use crate::gallery::{Drawing, drawings, drawn};
use crate::groups_text;
use crate::input::Input;
use crate::learners::description;
use crate::model_file::{ModelFile, adopt_columns};
use crate::modes_text::{CAPTION, HEADER, rows, warning};
use crate::output::{Output, is_stream, refuse_mixed};
use crate::report::{Fact, Report as Page, TableView, page};
use crate::words::{count, counted};

/// Probability from which a stamp is called spurious, and an event missed.
const THRESHOLD: f64 = 0.5;

/// Write a page to look at: timelines, figures, tables
///
/// One HTML file that needs nothing else: every session as a timeline to zoom into, with an arc from
/// each stamp to where it belongs; what was learned about the annotator, and about groups and
/// several annotators if there are any; and, with --evaluation, the learners compared.
#[derive(Debug, Clone, Args, Serialize)]
pub(crate) struct Report {
    #[command(flatten)]
    input: Input,
    #[command(flatten)]
    #[serde(flatten)]
    checked: Checked,
    #[command(flatten)]
    model: ModelFile,
    /// Results of `evaluate` on the same data
    #[arg(long, value_name = "FILE")]
    evaluation: Option<PathBuf>,
    /// Where the page goes; `-` is standard output
    #[arg(short, long, value_name = "FILE", default_value = "report.html")]
    output: PathBuf,
    /// Write the figures as SVG files into this folder too
    #[arg(long, value_name = "FOLDER")]
    figures: Option<PathBuf>,
    /// Title of the page
    #[arg(long)]
    title: Option<String>,
    /// Replace the outputs if they are there
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    config: ConfigFile,
}

impl Report {
    pub(crate) fn run(mut self, console: &Console) -> anyhow::Result<()> {
        refuse_mixed(console, &[self.output.as_path()])?;
        let mut promised = vec![self.output.clone()];
        if let Some(folder) = &self.figures {
            let stems = drawn(self.evaluation.is_some()).iter().chain(&STEMS);
            promised.extend(stems.map(|stem| folder.join(format!("{stem}.svg"))));
        }
        let mut output = Output::promise(promised.iter().map(PathBuf::as_path), self.force)?;
        let fitted = self.model.load()?;
        adopt_columns(&mut self.input, &fitted, console)?;
        let data = self.input.read_stamped(false)?;
        self.checked.refuse(&data, &fitted.model().varies, console)?;
        refuse_aligned(&data)?;
        let signals = self.signals(&data)?;
        let evaluation = match &self.evaluation {
            Some(path) => Some(EvaluationFile::load(path, &data.recordings)?),
            None => None,
        };
        let (fitted, unknown) = adapted(fitted, &data, console)?;
        let aligned = align(&fitted, &data, &AlignOptions::default())?;
        let mut figures = drawings(&fitted, &data, &aligned, evaluation.as_ref())?;
        let has_classes = fitted.classes().len() > 1;
        // Goodness of fit supposes independent labels, of one class.
        let found = match fitted.model().labels {
            Labels::Independent if !has_classes => {
                Some(diagnosed(&fitted, &data, &questions(&data), console)?)
            }
            _ => None,
        };
        let agreement = match has_classes {
            false => agreement(&fitted, &data.sessions())?,
            true => Agreement { annotators: Vec::new(), pairs: Vec::new() },
        };
        figures.extend(found.iter().flat_map(diagnosis_drawings));
        if let Some(folder) = &self.figures {
            for (name, svg) in figures.iter().map(Drawing::file) {
                output.add(folder.join(name), svg);
            }
        }
        let written = self.figures.as_ref().map_or(0, |_| figures.len());
        let content = Content {
            fitted: &fitted,
            data: &data,
            aligned: &aligned,
            signals: &signals,
            found: found.as_ref(),
            agreement: &agreement,
            unknown: unknown.as_deref(),
        };
        let title = self.title.clone().unwrap_or_else(|| content.title());
        let words = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
        let command = words.collect::<Vec<_>>().join(" ");
        output.add(&self.output, page(&content.page(title, command, figures, evaluation.as_ref())));
        output.write()?;
        if is_stream(&self.output) {
            return Ok(());
        }
        console.result(&serde_json::json!({ "report": self.output, "figures": written }), || {
            format!("wrote {}", self.output.display())
        })
    }

    fn signals(&self, data: &Dataset) -> anyhow::Result<Vec<RawSignal>> {
        let Some(path) = self.input.files()?.signal else { return Ok(Vec::new()) };
        let columns = self.input.columns()?;
        Ok(read_signals(&path, &columns, Channels::First, &data.known_clocks())?.1)
    }
}

/// The questions for a page: those that do not take long.
pub(crate) fn questions(data: &Dataset) -> DiagnosisOptions {
    DiagnosisOptions { priors: false, ..options(data) }
}

/// The content of a page.
pub(crate) struct Content<'a> {
    pub fitted: &'a Fitted,
    pub data: &'a Dataset,
    pub aligned: &'a [Aligned],
    pub signals: &'a [RawSignal],
    /// Of independent labels of one class.
    pub found: Option<&'a Diagnosis>,
    pub agreement: &'a Agreement,
    /// A warning of clocks that were not found.
    pub unknown: Option<&'a str>,
}

impl Content<'_> {
    fn title(&self) -> String {
        let sessions = counted(self.data.recordings.len(), "session");
        format!("{}, {sessions}", counted(self.data.stamps(), "stamp"))
    }

    /// The page.
    pub(crate) fn page(
        &self,
        title: String,
        command: String,
        figures: Vec<Drawing>,
        evaluation: Option<&EvaluationFile>,
    ) -> Page {
        Page {
            title,
            command,
            warnings: self.warnings(evaluation),
            facts: self.facts(),
            sessions: (0..self.aligned.len()).map(|k| view(self, k)).collect(),
            // The timeline shows alignments better than a still picture.
            figures: figures
                .into_iter()
                .filter(|drawing| drawing.stem != "alignment")
                .map(|drawing| drawing.figure)
                .collect(),
            tables: self
                .modes()
                .into_iter()
                .chain(evaluation.into_iter().flat_map(comparison_tables))
                .chain(classes_text::tables(self.fitted, self.data))
                .chain(groups_text::tables(self.fitted))
                .chain(self.found.into_iter().flat_map(goodness_of_fit))
                .chain(self.left_out())
                .chain(agreement_text::tables(self.found, self.agreement))
                .collect(),
        }
    }

    fn warnings(&self, evaluation: Option<&EvaluationFile>) -> Vec<String> {
        // The report looks for far stamps in its own data.
        let not_far = |warning: &&Warning| !matches!(warning, Warning::FarStamps { .. });
        let mut warnings: Vec<String> =
            self.fitted.warnings().iter().filter(not_far).map(warning).collect();
        let sessions = self.data.recordings.iter().map(|recording| &recording.session);
        let far = sessions.filter_map(|session| self.fitted.far_stamps(session));
        warnings.extend(far.map(|warning| warning.to_string()));
        warnings.extend(self.unknown.map(str::to_owned));
        if is_other(self.fitted, self.data) {
            warnings.push(OTHER_DATA.to_owned());
        }
        warnings.extend(evaluation.iter().flat_map(|file| file.warnings.clone()));
        warnings
    }

    /// What a reader might look for in vain, where that would be.
    fn left_out(&self) -> Option<TableView> {
        let has_classes = self.fitted.classes().len() > 1;
        let told = match (has_classes, self.fitted.model().labels) {
            (true, _) => {
                "goodness of fit and agreement of annotators are not told of several classes of \
                 events; a model of one class tells them"
            }
            (false, Labels::Chain) => "goodness of fit is not told of labels that form runs",
            (false, Labels::Independent) => return None,
        };
        Some(finding(vec![told.to_owned()]))
    }

    /// The explanations of the stamps, if there are several.
    fn modes(&self) -> Option<TableView> {
        let rows = rows(self.fitted.modes());
        (!rows.is_empty()).then(|| TableView {
            title: "Explanations of the stamps".to_owned(),
            caption: CAPTION.to_owned(),
            header: HEADER.map(str::to_owned).to_vec(),
            rows: rows.into_iter().map(Vec::from).collect(),
        })
    }

    fn facts(&self) -> Vec<Fact> {
        let fact = |label: &str, value: String, explanation: &str| Fact {
            label: label.to_owned(),
            value,
            explanation: explanation.to_owned(),
        };
        let outcome = self.fitted.outcome();
        let ended = if outcome.converged { "converged" } else { "stopped early" };
        let sessions = self.data.recordings.len();
        let all = || self.aligned.iter().flat_map(|one| &one.stamps);
        let spurious = all().filter(|stamp| stamp.p_spurious > THRESHOLD).count();
        let missed: usize = (0..self.aligned.len()).map(|k| missed(self, k).len()).sum();
        let mut facts = annotator_text::facts(self.fitted, &self.data.sessions());
        facts.extend([
            fact(
                "stamps",
                count(self.data.stamps()),
                &format!("{spurious} of them probably spurious"),
            ),
            fact("probably missed", count(missed), "events that nobody pressed for"),
            fact("learning", ended.to_owned(), &format!("after {} iterations", outcome.iterations)),
            fact(
                "instances",
                count(self.data.instances()),
                &format!("in {}", counted(sessions, "session")),
            ),
        ]);
        facts
    }
}

/// What there is to say of goodness of fit.
fn finding(remarks: Vec<String>) -> TableView {
    TableView {
        title: "Goodness of fit".to_owned(),
        caption: "What the model says of these sessions, beside what they are.".to_owned(),
        header: vec!["finding".to_owned()],
        rows: remarks.into_iter().map(|remark| vec![remark]).collect(),
    }
}

/// What a diagnosis says, and the sessions that fit worst.
fn goodness_of_fit(found: &Diagnosis) -> Vec<TableView> {
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    let remarks = finding(found.remarks(" s"));
    let sessions = TableView {
        title: "Sessions that fit worst".to_owned(),
        caption: diagnosis_text::CAPTION.to_owned(),
        header: texts(&diagnosis_text::HEADER),
        rows: diagnosis_text::rows(found),
    };
    let intervals = found.intervals.as_deref().map(|intervals| TableView {
        title: "How sure".to_owned(),
        caption:
            "Intervals of 95 %: from the curvature of the log posterior, from following it, from \
                  how much sessions or subjects differ if these are many, and from other draws of \
                  them if `unjitter diagnose --bootstrap` was asked."
                .to_owned(),
        header: texts(&diagnosis_text::INTERVALS),
        rows: diagnosis_text::interval_rows(intervals),
    });
    [remarks].into_iter().chain(intervals).chain([sessions]).collect()
}

/// The learners compared: by instances and events, by what runs have in common, and by class.
fn comparison_tables(file: &EvaluationFile) -> Vec<TableView> {
    let summaries: Vec<&Summary> = file.learners.iter().map(|one| &one.summary).collect();
    [Some(comparison_table(file)), bout_comparison(&summaries), class_comparison(&summaries)]
        .into_iter()
        .flatten()
        .collect()
}

fn bout_comparison(summaries: &[&Summary]) -> Option<TableView> {
    let rows: Vec<Vec<String>> = bout_rows(summaries);
    (!rows.is_empty()).then(|| TableView {
        title: "Learners compared by runs".to_owned(),
        caption: BOUT_CAPTION.to_owned(),
        header: BOUT_HEADER.map(str::to_owned).to_vec(),
        rows,
    })
}

fn class_comparison(summaries: &[&Summary]) -> Option<TableView> {
    let rows: Vec<Vec<String>> = summaries.iter().flat_map(|own| class_rows(own)).collect();
    (!rows.is_empty()).then(|| TableView {
        title: "Learners compared by class".to_owned(),
        caption: format!("{CLASS_CAPTION} {}", any_class(summaries)),
        header: CLASS_HEADER.map(str::to_owned).to_vec(),
        rows,
    })
}

fn comparison_table(file: &EvaluationFile) -> TableView {
    let columns = [
        "learner",
        "learns from",
        "F1",
        "95 % interval",
        "precision",
        "recall",
        "average precision",
        "event F1",
        "event precision",
        "event recall",
        "false alarms / h",
    ];
    let mut caption = format!("On held-out sessions, {} folds.", file.folds.len());
    let events = file.learners.iter().find_map(|one| Some(one.summary.labelled.as_ref()?.events));
    if let Some(events) = &events {
        caption += &format!(" {}", tolerance(events));
    }
    let rows = file.learners.iter().map(|learner| {
        let summary = &learner.summary;
        let mut row = vec![summary.name.clone(), description(&summary.name).to_owned()];
        match &summary.labelled {
            Some(labelled) => {
                row.extend([
                    format!("{:.3}", labelled.scores.f1),
                    format!("{:.3} to {:.3}", labelled.f1_interval.low, labelled.f1_interval.high),
                    format!("{:.3}", labelled.scores.precision),
                    format!("{:.3}", labelled.scores.recall),
                    format!("{:.3}", labelled.average_precision),
                ]);
                row.extend(event_scores(&labelled.events));
            }
            None => row.resize(columns.len(), "no labels".to_owned()),
        }
        row
    });
    TableView {
        title: "Learners compared".to_owned(),
        caption,
        header: columns.map(str::to_owned).to_vec(),
        rows: rows.collect(),
    }
}
