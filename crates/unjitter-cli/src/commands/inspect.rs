//! `unjitter inspect`: contents of a dataset, and what looks wrong.

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;
use unjitter::inspection::{Inspection, Severity, inspect_files};

use crate::config::ConfigFile;
use crate::console::Console;
use crate::failure::Mistake;
use crate::gallery::changes_drawing;
use crate::input::Input;
use crate::inspection_text::{in_words, render};
use crate::output::Output;

/// Say what is in a dataset, and what looks wrong
///
/// Numbers of everything, a histogram of the delays from the nearest instance to each stamp, and
/// whatever looks wrong: units, clocks, names, duplicates, labels, columns that are not used. Events
/// are optional. What is a problem here is refused by fit, align, evaluate and report. With --figures,
/// also a picture of where around the stamps the features change.
#[derive(Debug, Clone, Args, Serialize)]
pub(crate) struct Inspect {
    #[command(flatten)]
    input: Input,
    /// Exit with code 3 if something is a problem
    #[arg(long)]
    strict: bool,
    /// Write the figure as an SVG file into this folder
    #[arg(long, value_name = "FOLDER")]
    figures: Option<PathBuf>,
    /// Replace the figure if it is there
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    config: ConfigFile,
}

impl Inspect {
    pub(crate) fn run(self, console: &Console) -> anyhow::Result<()> {
        let figure = self.figures.as_ref().map(|folder| folder.join("changes.svg"));
        let mut output = Output::promise(figure.as_deref(), self.force)?;
        let inspection = inspect_files(&self.input.files()?, &self.input.columns()?)?;
        if let (Some(path), Some(scan)) = (figure, &inspection.changes) {
            let drawn = changes_drawing(scan).map(|drawing| drawing.file().1);
            drawn.into_iter().for_each(|svg| output.add(&path, svg));
        }
        output.write()?;
        console.result(&for_machines(&inspection)?, || render(&inspection))?;
        let is_problem = |severity: Severity| severity == Severity::Problem;
        let problems =
            inspection.findings.iter().filter(|finding| is_problem(finding.severity())).count();
        if self.strict && problems > 0 {
            let message = format!("problems were found: {problems}");
            return Err(Mistake::Data(message).into());
        }
        Ok(())
    }
}

/// The inspection with the message and the severity of every finding.
fn for_machines(inspection: &Inspection) -> anyhow::Result<serde_json::Value> {
    let mut value = serde_json::to_value(inspection)?;
    let told = value["findings"].as_array_mut().into_iter().flatten();
    for (finding, told) in inspection.findings.iter().zip(told) {
        told["severity"] = serde_json::to_value(finding.severity())?;
        told["message"] = in_words(finding).into();
    }
    Ok(value)
}
