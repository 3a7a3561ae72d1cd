//! From raw signals to instances.

use ndarray::{Array2, ArrayView1};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use unjitter::signal::{
    CYCLE_FEATURES, Cycle, CycleOptions, Cycles, LabelledSession, SUMMARIES, Signal, WindowOptions,
};

use crate::convert::{from_json, to_python};

/// Times and values of a channel.
type Channel<'py> = (PyReadonlyArray1<'py, f64>, PyReadonlyArray1<'py, f64>);

fn signal((times, values): &Channel<'_>) -> PyResult<Signal> {
    Signal::new(times.as_array().to_vec(), values.as_array().to_vec()).map_err(to_python)
}

/// Names of the features of a cycle.
#[pyfunction]
pub(crate) fn cycle_feature_names() -> Vec<&'static str> {
    CYCLE_FEATURES.to_vec()
}

/// Names of the summaries of a window.
#[pyfunction]
pub(crate) fn summary_names() -> Vec<&'static str> {
    SUMMARIES.to_vec()
}

/// Cycles as columns: the run of each; start, peak, end, the three values there, stretch and the two
/// areas; the number of runs; and how many were rejected as short, long and small.
#[derive(IntoPyObject)]
pub(crate) struct NewCycles<'py>(
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray2<f64>>,
    usize,
    (usize, usize, usize),
);

impl<'py> NewCycles<'py> {
    fn new(py: Python<'py>, found: &Cycles) -> Self {
        let runs: Vec<i64> = found.cycles.iter().map(|cycle| cycle.run as i64).collect();
        let rows = found.cycles.iter().flat_map(|cycle| {
            [
                cycle.start,
                cycle.peak,
                cycle.end,
                cycle.start_value,
                cycle.peak_value,
                cycle.end_value,
                cycle.stretch,
                cycle.inhalation_area,
                cycle.exhalation_area,
            ]
        });
        let table = Array2::from_shape_vec((runs.len(), 9), rows.collect()).expect("nine each");
        let rejected = (found.rejected.short, found.rejected.long, found.rejected.small);
        Self(runs.into_pyarray(py), table.into_pyarray(py), found.runs, rejected)
    }
}

fn cycle((row, &run): (ArrayView1<'_, f64>, &i64)) -> Cycle {
    Cycle {
        run: run as usize,
        start: row[0],
        peak: row[1],
        end: row[2],
        start_value: row[3],
        peak_value: row[4],
        end_value: row[5],
        stretch: row[6],
        inhalation_area: row[7],
        exhalation_area: row[8],
    }
}

/// The respiration cycles of a signal.
#[pyfunction]
pub(crate) fn find_cycles<'py>(
    py: Python<'py>,
    channel: Channel<'py>,
    options: &str,
) -> PyResult<NewCycles<'py>> {
    let options: CycleOptions = from_json("options", options)?;
    let signal = signal(&channel)?;
    let found = py.detach(|| unjitter::signal::find_cycles(&signal, &options));
    Ok(NewCycles::new(py, &found.map_err(to_python)?))
}

/// Features of cycles that were found, cycles × features.
#[pyfunction]
pub(crate) fn cycle_features<'py>(
    py: Python<'py>,
    runs: PyReadonlyArray1<'py, i64>,
    table: PyReadonlyArray2<'py, f64>,
    neighbours: usize,
) -> Bound<'py, PyArray2<f64>> {
    let (runs, table) = (runs.as_array(), table.as_array());
    let cycles: Vec<Cycle> = table.rows().into_iter().zip(runs).map(cycle).collect();
    py.detach(|| unjitter::signal::cycle_features(&cycles, neighbours)).into_pyarray(py)
}

/// Times, features and labels of the cycles of a signal, and the true events without a cycle that begins near.
#[pyfunction]
#[expect(clippy::type_complexity, reason = "four arrays")]
pub(crate) fn session_from_signal<'py>(
    py: Python<'py>,
    name: &str,
    channel: Channel<'py>,
    events: PyReadonlyArray1<'py, f64>,
    options: &str,
    tolerance: f64,
) -> PyResult<(
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray2<f64>>,
    Bound<'py, PyArray1<bool>>,
    Bound<'py, PyArray1<f64>>,
)> {
    let options: CycleOptions = from_json("options", options)?;
    let (signal, events) = (signal(&channel)?, events.as_array().to_vec());
    let made = py.detach(|| {
        unjitter::signal::session_from_signal(name, &signal, &events, &options, tolerance)
    });
    let LabelledSession { session, labels, missed, .. } = made.map_err(to_python)?;
    Ok((
        session.times().to_vec().into_pyarray(py),
        session.features().to_f64().into_owned().into_pyarray(py),
        labels.into_pyarray(py),
        missed.into_pyarray(py),
    ))
}

/// Times and features of sliding windows, the names of the features, and the number of windows with too
/// few samples.
#[pyfunction]
#[expect(clippy::type_complexity, reason = "two arrays, names and a number")]
pub(crate) fn windows<'py>(
    py: Python<'py>,
    channels: Vec<Channel<'py>>,
    names: Vec<String>,
    options: &str,
) -> PyResult<(Bound<'py, PyArray1<f64>>, Bound<'py, PyArray2<f64>>, Vec<String>, usize)> {
    let options: WindowOptions = from_json("options", options)?;
    let signals: Vec<Signal> = channels.iter().map(signal).collect::<PyResult<_>>()?;
    let found = py.detach(|| unjitter::signal::windows(&signals, &options)).map_err(to_python)?;
    let names = options.names(&names.iter().map(String::as_str).collect::<Vec<_>>());
    Ok((found.times.into_pyarray(py), found.features.into_pyarray(py), names, found.skipped))
}
