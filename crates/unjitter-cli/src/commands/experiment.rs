//! `unjitter experiment`: the paper's experiments, or your own, from a TOML file.

use clap::Args;

use crate::console::Console;

/// Run an experiment
#[derive(Debug, Clone, Args)]
pub(crate) struct Experiment {}

impl Experiment {
    pub(crate) fn run(self, _console: &Console) -> anyhow::Result<()> {
        Ok(())
    }
}
