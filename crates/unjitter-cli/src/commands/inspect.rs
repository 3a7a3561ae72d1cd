//! `unjitter inspect`

use clap::Args;

use crate::console::Console;

/// Say what is in a dataset, and what looks wrong
#[derive(Debug, Clone, Args)]
pub(crate) struct Inspect {}

impl Inspect {
    pub(crate) fn run(self, _console: &Console) -> anyhow::Result<()> {
        Ok(())
    }
}
