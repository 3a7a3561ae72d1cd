//! Detection while instances arrive.

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use unjitter::evaluation::{Departed, StreamOptions, Told};

use crate::convert::to_python;
use crate::session::PyFeatures;

/// A recording that goes on.
#[pyclass(module = "unjitter._core")]
#[derive(Debug)]
pub(crate) struct Stream(unjitter::evaluation::Stream);

/// Time, probability and what may still move it, of each instance; begin, end and probability of each event.
type Left<'py> = ([Bound<'py, PyArray1<f64>>; 3], Vec<(f64, f64, f64)>);

/// A recording for this detector.
pub(crate) fn stream(
    detector: &unjitter::model::Detector,
    threshold: f64,
    min_separation: f64,
    tolerance: f64,
    within: Option<f64>,
) -> PyResult<Stream> {
    let options = StreamOptions { threshold, min_separation, tolerance, within };
    detector.stream(options).map(Stream).map_err(to_python)
}

fn left(py: Python<'_>, departed: Departed) -> Left<'_> {
    let each = |of: fn(&Told) -> f64| -> Bound<'_, PyArray1<f64>> {
        departed.instances.iter().map(of).collect::<Vec<f64>>().into_pyarray(py)
    };
    let events = departed.events.iter().map(|event| (event.time, event.end, event.score));
    (
        [each(|own| own.time), each(|own| own.probability), each(|own| own.unsettled)],
        events.collect(),
    )
}

#[pymethods]
impl Stream {
    /// Instances arrive.
    fn push<'py>(
        &mut self,
        py: Python<'py>,
        times: PyReadonlyArray1<'py, f64>,
        features: PyFeatures<'py>,
    ) -> PyResult<Left<'py>> {
        let (times, features) = (times.as_array().to_vec(), features.lend());
        let departed = py.detach(|| self.0.push(&times, features)).map_err(to_python)?;
        Ok(left(py, departed))
    }

    /// The recording ends.
    fn finish<'py>(&mut self, py: Python<'py>) -> Left<'py> {
        left(py, self.0.finish())
    }
}
