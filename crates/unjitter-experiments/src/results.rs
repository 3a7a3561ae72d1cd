//! Outcomes on disk: numbers and figure of each, and one page for all.
//!
//! The page is rebuilt from every JSON file in the folder, so that a run changes its own sections and
//! leaves the others unchanged. Each file is written whole or not at all.

use std::path::{Path, PathBuf};

use anyhow::Context;
use unjitter_cli::figures::as_file;
use unjitter_cli::output::replace;

use crate::figure::figure;
use crate::markdown::page;
use crate::outcome::Outcome;

/// Folder of numbers and figures beside the page.
const RESULTS: &str = "results";

/// Writes outcomes into `folder`, and returns the path of the page.
pub(crate) fn write(outcomes: &[Outcome], folder: &Path) -> anyhow::Result<PathBuf> {
    let results = folder.join(RESULTS);
    std::fs::create_dir_all(&results)
        .with_context(|| format!("cannot make the folder {}", results.display()))?;
    for outcome in outcomes {
        let mut numbers = serde_json::to_string_pretty(outcome)?;
        numbers.push('\n');
        replace(&results.join(format!("{}.json", outcome.stem())), numbers.as_bytes())?;
        if outcome.how.figure {
            replace(
                &results.join(format!("{}.svg", outcome.stem())),
                as_file(&figure(outcome)).as_bytes(),
            )?;
        }
    }
    let path = folder.join("RESULTS.md");
    replace(&path, page(&read_all(&results)?, RESULTS).as_bytes())?;
    Ok(path)
}

/// Every outcome in the folder, by panel, experiment and dataset.
fn read_all(results: &Path) -> anyhow::Result<Vec<Outcome>> {
    let mut outcomes: Vec<Outcome> = Vec::new();
    let entries = std::fs::read_dir(results)
        .with_context(|| format!("cannot list the folder {}", results.display()))?;
    for entry in entries {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "json") {
            let text = std::fs::read_to_string(&path)
                .with_context(|| format!("cannot read {}", path.display()))?;
            let foreign = || format!("{} is no result of this version; delete it", path.display());
            let outcome: Outcome = serde_json::from_str(&text).with_context(foreign)?;
            let lengths = outcome.series.iter().map(|series| series.points.len());
            if lengths.clone().min() != lengths.max() || outcome.series.is_empty() {
                anyhow::bail!(foreign());
            }
            outcomes.push(outcome);
        }
    }
    let place = |o: &Outcome| (o.panel.clone(), o.name.clone(), o.dataset.name.clone());
    outcomes.sort_by_key(place);
    Ok(outcomes)
}
