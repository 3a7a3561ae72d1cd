//! Datasets of the experiments.

use serde::{Deserialize, Serialize};
use unjitter::signal::CycleOptions;
use unjitter::simulation::{Respiration, Wearable};
use unjitter::{Control, Recording, Result};

/// Recordings with hand-aligned labels.
#[derive(Debug, Clone)]
pub(crate) struct Dataset {
    /// Its name, in headings and in the names of files.
    pub name: String,
    /// Its recordings; their stamps are replaced.
    pub recordings: Vec<Recording<'static>>,
}

/// Datasets that come with the program: simulated respiration at the scale of the paper's, and windows of movement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Simulated {
    /// 13 sessions, 179 puffs.
    Mpuff,
    /// 30 sessions, 305 puffs.
    Puffmarker,
    /// 24 sessions, in which something is done for a while now and then.
    Wearable,
}

/// One population for all experiments and seeds, as the paper has one; seeds draw stamps.
const POPULATION: u64 = 0;

impl Simulated {
    /// The paper's.
    pub(crate) fn all() -> Vec<Self> {
        vec![Self::Mpuff, Self::Puffmarker]
    }

    /// The recordings.
    pub(crate) fn dataset(self) -> Result<Dataset> {
        let (name, recordings) = match self {
            Self::Mpuff => ("mpuff", breaths(&Respiration::mpuff())?),
            Self::Puffmarker => ("puffmarker", breaths(&Respiration::puffmarker())?),
            Self::Wearable => {
                ("wearable", Wearable::default().simulate(POPULATION, Control::default())?)
            }
        };
        Ok(Dataset { name: format!("simulated {name}"), recordings })
    }
}

fn breaths(study: &Respiration) -> Result<Vec<Recording<'static>>> {
    let bands = study.simulate(POPULATION, Control::default())?;
    bands.iter().map(|band| Ok(band.session(&CycleOptions::default())?.recording())).collect()
}
