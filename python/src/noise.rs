//! The table of noise models.

use pyo3::prelude::*;
use unjitter::Noise;

use crate::convert::to_json;

/// The table of noise models, as JSON.
#[pyfunction]
pub(crate) fn noise_kinds() -> PyResult<String> {
    to_json(&Noise::kinds())
}
