//! The log evidence of a batch of sequences and its derivatives, for the loss of a network.

use ndarray::Array2;
use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rayon::prelude::*;
use unjitter::model::Gradient;
use unjitter::{Control, Counts, Error, Noise, Priors};

use crate::convert::{from_json, to_python};
use crate::pool::kept;
use crate::posterior::Values;
use crate::watch::watched;

/// Least number of instances per thread: fewer are done sooner than another thread wakes.
const INSTANCES_PER_THREAD: usize = 2048;
/// Most instances for which nobody waits long enough to interrupt: some milliseconds.
const INSTANCES_AT_ONCE: usize = 100_000;

/// The evidence as a function of log-odds and of the annotator's parameters.
#[pyclass(frozen, module = "unjitter._core")]
#[derive(Debug)]
pub(crate) struct Annotator {
    settings: (String, String, String, f64),
    annotator: unjitter::model::Annotator,
}

/// One value per sequence, derivatives in all log-odds, and in the parameters by sequence.
type Derivatives<'py> =
    (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray2<f64>>);

#[pymethods]
impl Annotator {
    #[new]
    fn new(counts: String, noise: String, alignment: String, time_unit: f64) -> PyResult<Self> {
        let (count_model, noise_model): (Counts, Noise) =
            (from_json("counts", &counts)?, from_json("noise", &noise)?);
        let order = from_json("alignment", &alignment)?;
        let annotator =
            unjitter::model::Annotator::new(&count_model, &noise_model, order, time_unit)
                .map_err(to_python)?;
        Ok(Self { settings: (counts, noise, alignment, time_unit), annotator })
    }

    /// For copies and pickles.
    fn __getnewargs__(&self) -> (String, String, String, f64) {
        self.settings.clone()
    }

    /// Full name of each parameter, and how many unconstrained numbers it has.
    fn parameters(&self) -> Vec<(String, usize)> {
        let parameters = self.annotator.layout().parameters().iter();
        parameters.map(|parameter| (parameter.name.clone(), parameter.range.len())).collect()
    }

    /// Start parameters, unconstrained: natural values if given, else a first guess.
    fn start<'py>(&self, py: Python<'py>, values: Values) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let values: Vec<(&str, &[f64])> =
            values.iter().map(|(name, values)| (name.as_str(), &values[..])).collect();
        Ok(self.annotator.start(&values).map_err(to_python)?.into_pyarray(py))
    }

    /// Natural values of every parameter.
    fn natural(&self, params: PyReadonlyArray1<'_, f64>) -> PyResult<Values> {
        let params = params.as_array().to_vec();
        let natural = self.annotator.natural(&params).map_err(to_python)?;
        Ok(natural.into_iter().map(|(name, values)| (name.to_owned(), values)).collect())
    }

    /// Mean and standard deviation of the delay.
    fn delay_and_spread(&self, params: PyReadonlyArray1<'_, f64>) -> PyResult<(f64, f64)> {
        self.annotator.delay_and_spread(&params.as_array().to_vec()).map_err(to_python)
    }

    /// The log prior (JSON) of the free parameters, and its gradient.
    fn log_prior<'py>(
        &self,
        py: Python<'py>,
        priors: &str,
        params: PyReadonlyArray1<'_, f64>,
        is_free: Vec<bool>,
    ) -> PyResult<(f64, Bound<'py, PyArray1<f64>>)> {
        let priors: Priors = from_json("priors", priors)?;
        let params = params.as_array().to_vec();
        let prior = self.annotator.log_prior(&priors, &params, &is_free);
        let (value, gradient) = prior.map_err(to_python)?;
        Ok((value, gradient.into_pyarray(py)))
    }

    /// Log evidence of each sequence of a batch, with its derivatives. Sequences are concatenated in
    /// `times` and `log_odds` (with lengths `instances`) and in `events` (with lengths `stamps`). The
    /// result does not depend on the number of threads.
    #[expect(clippy::too_many_arguments, reason = "three arrays, how to cut them, and parameters")]
    fn gradient<'py>(
        &self,
        py: Python<'py>,
        params: PyReadonlyArray1<'_, f64>,
        times: PyReadonlyArray1<'_, f64>,
        events: PyReadonlyArray1<'_, f64>,
        log_odds: PyReadonlyArray1<'_, f64>,
        instances: Vec<usize>,
        stamps: Vec<usize>,
        threads: usize,
    ) -> PyResult<Derivatives<'py>> {
        let [params, times, events, log_odds] =
            [&params, &times, &events, &log_odds].map(|values| values.as_array().to_vec());
        let times = cut("times", &times, &instances)?;
        let events = cut("events", &events, &stamps)?;
        let log_odds = cut("log_odds", &log_odds, &instances)?;
        if times.len() != events.len() {
            let message = format!("events of {} sequences for {}", events.len(), times.len());
            return Err(PyValueError::new_err(message));
        }
        let all_instances = instances.iter().sum::<usize>();
        let busy = threads.min(all_instances / INSTANCES_PER_THREAD).min(times.len()).max(1);
        let solve = |control: Control<'_>, k: usize| {
            // The results will not be used.
            if control.is_stop_requested() {
                return None;
            }
            let name = format!("{k} of the batch");
            let found = self.annotator.gradient(&name, &params, times[k], events[k], log_odds[k]);
            Some(found.map_err(|error| of_sequence(k, error)))
        };
        let all =
            |control: Control<'_>| in_parallel(threads, busy, times.len(), |k| solve(control, k));
        let solved = match all_instances <= INSTANCES_AT_ONCE {
            true => py.detach(|| all(Control::default()))?,
            false => watched(py, None, all)??,
        };
        let solved: Vec<Gradient> = solved.into_iter().flatten().collect::<PyResult<_>>()?;

        let width = params.len();
        let values: Vec<f64> = solved.iter().map(|found| found.log_evidence).collect();
        let d_params = solved.iter().flat_map(|found| found.d_params.iter().copied()).collect();
        let d_params =
            Array2::from_shape_vec((solved.len(), width), d_params).expect("one row per sequence");
        let d_log_odds: Vec<f64> = solved.into_iter().flat_map(|found| found.d_log_odds).collect();
        Ok((values.into_pyarray(py), d_log_odds.into_pyarray(py), d_params.into_pyarray(py)))
    }
}

/// The pieces of a flat array, by their lengths.
fn cut<'a>(what: &str, mut flat: &'a [f64], lengths: &[usize]) -> PyResult<Vec<&'a [f64]>> {
    let total: usize = lengths.iter().sum();
    if total != flat.len() {
        let message = format!("{what} has {} values, expected {total}", flat.len());
        return Err(PyValueError::new_err(message));
    }
    let piece = |&length: &usize| flat.split_off(..length).expect("they add up");
    Ok(lengths.iter().map(piece).collect())
}

/// All results, in order, in pieces that keep so many of the threads busy.
fn in_parallel<T: Send>(
    threads: usize,
    busy: usize,
    tasks: usize,
    run: impl Fn(usize) -> T + Sync,
) -> PyResult<Vec<T>> {
    if busy == 1 {
        return Ok((0..tasks).map(run).collect());
    }
    // Sequences differ in length: four pieces for each.
    let least = tasks.div_ceil(4 * busy);
    kept(threads, || (0..tasks).into_par_iter().with_min_len(least).map(&run).collect())
}

/// The library's message, with the place in the batch if it names no session.
fn of_sequence(index: usize, error: Error) -> PyErr {
    match error {
        Error::BadInput { .. } => {
            PyValueError::new_err(format!("session {index} of the batch: {error}"))
        }
        other => to_python(other),
    }
}
