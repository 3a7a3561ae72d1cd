//! Datasets of the experiments.

use serde::{Deserialize, Serialize};
use unjitter::signal::CycleOptions;
use unjitter::simulation::Respiration;
use unjitter::{Control, Recording, Result};

/// Recordings with hand-aligned labels.
#[derive(Debug, Clone)]
pub(crate) struct Dataset {
    /// Its name, in headings and in the names of files.
    pub name: String,
    /// Its recordings; their stamps are replaced.
    pub recordings: Vec<Recording<'static>>,
}

/// Datasets that come with the program: simulated respiration at the scale of the paper's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Simulated {
    /// 13 sessions, 179 puffs.
    Mpuff,
    /// 30 sessions, 305 puffs.
    Puffmarker,
}

/// One population for all experiments and seeds, as the paper has one; seeds draw stamps.
const POPULATION: u64 = 0;

impl Simulated {
    pub(crate) fn all() -> Vec<Self> {
        vec![Self::Mpuff, Self::Puffmarker]
    }

    /// The recordings.
    pub(crate) fn dataset(self) -> Result<Dataset> {
        let (name, preset) = match self {
            Self::Mpuff => ("mpuff", Respiration::mpuff()),
            Self::Puffmarker => ("puffmarker", Respiration::puffmarker()),
        };
        let mut recordings = Vec::new();
        for band in preset.simulate(POPULATION, Control::default())? {
            recordings.push(band.session(&CycleOptions::default())?.recording());
        }
        Ok(Dataset { name: format!("simulated {name}"), recordings })
    }
}
