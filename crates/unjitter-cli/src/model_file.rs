//! Models from files, and their match with the data.

use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;
use unjitter::Fitted;

use crate::console::Console;
use crate::failure::Mistake;
use crate::input::Input;
use crate::modes_text::{mode_number, with_mode};

/// A model on the command line.
#[derive(Debug, Clone, Args, Serialize)]
pub(crate) struct ModelFile {
    /// The model that `fit` wrote
    #[arg(short, long, value_name = "FILE", default_value = "model.json")]
    pub model: PathBuf,
    /// Use another explanation of the stamps than `fit` chose, by its number in the table that `fit`
    /// and `report` show: 2 is the second. The threshold stays that of the model
    #[arg(long, value_name = "N", value_parser = mode_number)]
    pub mode: Option<usize>,
}

impl ModelFile {
    /// Reads it.
    pub(crate) fn load(&self) -> anyhow::Result<Fitted> {
        with_mode(load(&self.model)?, self.mode)
    }
}

fn load(path: &Path) -> anyhow::Result<Fitted> {
    if !path.exists() {
        let message = format!("there is no model {}; make one with `unjitter fit`", path.display());
        return Err(Mistake::Usage(message).into());
    }
    Ok(Fitted::load(path)?)
}

/// Options of columns and events from the model's fit, unless others are given now.
pub(crate) fn adopt_columns(
    input: &mut Input,
    fitted: &Fitted,
    console: &Console,
) -> anyhow::Result<()> {
    let note = |name: &str| fitted.metadata().get(name).cloned();
    let recorded = fitted.metadata().get("options").and_then(|options| options.get("input"));
    if let Some(events) = recorded.and_then(|recorded| input.adopt(recorded)) {
        console.note(&format!(
            "only events with {events}, as the model was fitted; --only '' takes all"
        ));
    }
    let columns = &mut input.columns;
    if !columns.features.is_empty() {
        return Ok(());
    }
    match note("features").map(serde_json::from_value) {
        Some(Ok(features)) => {
            columns.features = features;
            // Other columns of the table do not matter.
            columns.ignore.clear();
        }
        _ => console.warn("the model does not name its features: columns are taken in order"),
    }
    Ok(())
}
