//! Checks of the data before anything is learned from them.

use clap::Args;
use serde::Serialize;
use unjitter::inspection::{Finding, Severity, check_dataset};
use unjitter::io::Dataset;
use unjitter::model::{Variation, Varying};

use crate::console::Console;
use crate::failure::Mistake;
use crate::inspection_text::in_words;

/// Whether to go on with data that look wrong.
#[derive(Debug, Clone, Args, Serialize)]
pub(crate) struct Checked {
    /// Go on even if something is wrong with the data beyond doubt, such as stamps in another unit
    /// or off by hours
    #[arg(long, help_heading = "Data")]
    pub anyway: bool,
}

impl Checked {
    /// Refuses data that are certainly wrong, unless what is wrong is learned; returns the suspicious
    /// findings.
    pub(crate) fn refuse(
        &self,
        data: &Dataset,
        varies: &[Variation],
        console: &Console,
    ) -> anyhow::Result<Vec<Finding>> {
        let mut findings = check_dataset(data);
        if varies.iter().any(|own| own.what == Varying::Offset) {
            findings.retain(|finding| !is_of_clocks(finding));
        }
        let is_problem = |finding: &Finding| finding.severity() == Severity::Problem;
        let (problems, suspicious): (Vec<_>, Vec<_>) = findings.into_iter().partition(is_problem);
        let told: Vec<String> = problems.iter().map(in_words).collect();
        if self.anyway {
            told.iter().for_each(|problem| console.warn(problem));
        } else if !told.is_empty() {
            let message = format!(
                "{}\n`unjitter inspect` shows the data; --anyway goes on all the same",
                told.join("\nand ")
            );
            return Err(Mistake::Data(message).into());
        }
        Ok(suspicious)
    }

    /// The same, and warns of suspicious findings.
    pub(crate) fn warn(
        &self,
        data: &Dataset,
        varies: &[Variation],
        console: &Console,
    ) -> anyhow::Result<()> {
        let suspicious = self.refuse(data, varies, console)?;
        suspicious.iter().for_each(|finding| console.warn(&in_words(finding)));
        Ok(())
    }
}

/// Whether a finding is of stamps by a clock that is off.
fn is_of_clocks(finding: &Finding) -> bool {
    matches!(
        finding,
        Finding::ShiftedClock { .. }
            | Finding::ShiftedInside { .. }
            | Finding::OutsideSession { .. }
            | Finding::FarFromPositives { .. }
    )
}
