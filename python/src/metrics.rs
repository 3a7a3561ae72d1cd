//! How good a detector is.

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use unjitter::evaluation::{self, EventOptions};

use crate::convert::to_python;

/// Times and probabilities of detected events.
#[pyfunction]
#[expect(clippy::type_complexity, reason = "two arrays")]
pub(crate) fn detect_events<'py>(
    py: Python<'py>,
    times: PyReadonlyArray1<'py, f64>,
    probabilities: PyReadonlyArray1<'py, f64>,
    threshold: f64,
    min_separation: f64,
) -> PyResult<(Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>)> {
    let (times, probabilities) = (times.as_array().to_vec(), probabilities.as_array().to_vec());
    let options = EventOptions { threshold, min_separation };
    let found = py.detach(|| evaluation::detect_events(&times, &probabilities, &options));
    let found = found.map_err(to_python)?;
    let times: Vec<f64> = found.iter().map(|event| event.time).collect();
    let scores: Vec<f64> = found.iter().map(|event| event.score).collect();
    Ok((times.into_pyarray(py), scores.into_pyarray(py)))
}

/// True positives, false positives, false negatives, true negatives.
#[pyfunction]
pub(crate) fn confusion(
    probabilities: PyReadonlyArray1<'_, f64>,
    labels: PyReadonlyArray1<'_, bool>,
    threshold: f64,
) -> PyResult<(usize, usize, usize, usize)> {
    let (probabilities, labels) = (probabilities.as_array().to_vec(), labels.as_array().to_vec());
    let counts = evaluation::confusion(&probabilities, &labels, threshold).map_err(to_python)?;
    let evaluation::Confusion { true_positives, false_positives, false_negatives, true_negatives } =
        counts;
    Ok((true_positives, false_positives, false_negatives, true_negatives))
}
