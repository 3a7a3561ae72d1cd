//! Models from files, and whether they go with the data.

use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;
use unjitter::Fitted;

use crate::failure::Mistake;

/// A model on the command line.
#[derive(Debug, Clone, Args, Serialize)]
pub(crate) struct ModelFile {
    /// The model that `fit` wrote
    #[arg(short, long, value_name = "FILE", default_value = "model.json")]
    pub model: PathBuf,
}

impl ModelFile {
    /// Reads it.
    pub(crate) fn load(&self) -> anyhow::Result<Fitted> {
        load(&self.model)
    }
}

fn load(path: &Path) -> anyhow::Result<Fitted> {
    if !path.exists() {
        let message = format!("there is no model {}; make one with `unjitter fit`", path.display());
        return Err(Mistake::Usage(message).into());
    }
    Fitted::load(path).map_err(|error| match error {
        unjitter::Error::Io { .. } => error.into(),
        other => Mistake::Data(format!("{}: {other}", path.display())).into(),
    })
}

/// The features that the model was fitted to, if its file says.
pub(crate) fn features(fitted: &Fitted) -> Option<Vec<String>> {
    serde_json::from_value(fitted.metadata().get("features")?.clone()).ok()
}
