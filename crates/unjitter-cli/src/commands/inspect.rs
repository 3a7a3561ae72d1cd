//! `unjitter inspect`: contents of a dataset, and what looks wrong.

use clap::Args;
use serde::Serialize;
use unjitter::inspection::{Inspection, Severity, inspect_files};

use crate::config::ConfigFile;
use crate::console::Console;
use crate::failure::Mistake;
use crate::input::Input;
use crate::inspection_text::{in_words, render};

/// Say what is in a dataset, and what looks wrong
///
/// Numbers of everything, a histogram of the delays from the nearest instance to each stamp, and
/// whatever looks wrong: units, clocks, names, duplicates, labels, columns that are not used. Events
/// are optional. What is a problem here is refused by fit, align, evaluate and report.
#[derive(Debug, Clone, Args, Serialize)]
pub(crate) struct Inspect {
    #[command(flatten)]
    input: Input,
    /// Exit with code 3 if something is a problem
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    config: ConfigFile,
}

impl Inspect {
    pub(crate) fn run(self, console: &Console) -> anyhow::Result<()> {
        let inspection = inspect_files(&self.input.files()?, &self.input.columns()?)?;
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
