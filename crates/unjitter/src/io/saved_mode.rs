//! A mode as model files have it. Its parameters may be infinite: a background frozen at 0 has the
//! logarithm −∞.

use serde::{Deserialize, Serialize};

use super::extended::Extended;
use crate::model::{Learned, Mode};
use crate::outcome::HeldOut;

/// A [`Mode`] with all its parameters.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SavedMode {
    learned: Learned,
    log_posterior: f64,
    log_evidence: f64,
    held_out: Option<HeldOut>,
    shift: i64,
    params: Vec<Extended>,
}

impl From<&Mode> for SavedMode {
    fn from(mode: &Mode) -> Self {
        let Mode { learned, log_posterior, log_evidence, held_out, shift, .. } = *mode;
        let params = mode.params.iter().copied().map(Extended).collect();
        Self { learned, log_posterior, log_evidence, held_out, shift, params }
    }
}

impl From<SavedMode> for Mode {
    fn from(saved: SavedMode) -> Self {
        let SavedMode { learned, log_posterior, log_evidence, held_out, shift, .. } = saved;
        let params = saved.params.iter().map(|x| x.0).collect();
        Self { learned, log_posterior, log_evidence, held_out, shift, params }
    }
}
