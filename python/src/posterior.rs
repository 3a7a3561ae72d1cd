//! Bare inference, for callers with their own log-odds.

use ndarray::Array3;
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArray3, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use unjitter::model::{BoundCounts, BoundNoise};
use unjitter::{Counts, Noise, PosteriorOptions};

use crate::convert::{from_json, to_python};
use crate::watch::watched;

/// Natural values of a part's parameters, by name.
pub(crate) type Values = Vec<(String, Vec<f64>)>;

/// A count model (JSON) at natural values.
pub(crate) fn bind_counts(counts: &str, values: &Values) -> PyResult<BoundCounts> {
    from_json::<Counts>("counts", counts)?.with(&borrow(values)).map_err(to_python)
}

/// A noise model (JSON) at natural values.
pub(crate) fn bind_noise(noise: &str, values: &Values) -> PyResult<BoundNoise> {
    from_json::<Noise>("noise", noise)?.with(&borrow(values)).map_err(to_python)
}

fn borrow(values: &Values) -> Vec<(&str, &[f64])> {
    values.iter().map(|(name, values)| (name.as_str(), &values[..])).collect()
}

/// Most numbers in all draws together: 1.6 GB while they are copied.
const MAX_DRAWN: usize = 100_000_000;

/// Numbers per draw besides its stamps.
const DRAW: usize = 4;

/// The posterior over the alignments of one session.
#[pyclass(frozen, module = "unjitter._core")]
#[derive(Debug)]
pub(crate) struct Posterior(unjitter::Posterior);

/// The posterior over alignments and labels. The alignment is JSON.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "three arrays, two models with values, two options")]
pub(crate) fn posterior(
    py: Python<'_>,
    times: PyReadonlyArray1<'_, f64>,
    events: PyReadonlyArray1<'_, f64>,
    log_odds: PyReadonlyArray1<'_, f64>,
    counts: &str,
    count_values: Values,
    noise: &str,
    noise_values: Values,
    alignment: &str,
    background_rate: f64,
) -> PyResult<Posterior> {
    let [times, stamps, log_odds] =
        [&times, &events, &log_odds].map(|values| values.as_array().to_vec());
    let (counts, noise) = (bind_counts(counts, &count_values)?, bind_noise(noise, &noise_values)?);
    let options =
        PosteriorOptions { alignment: from_json("alignment", alignment)?, background_rate };
    py.detach(|| unjitter::posterior(&times, &stamps, &log_odds, &counts, &noise, &options))
        .map(Posterior)
        .map_err(to_python)
}

/// A matrix by columns: values, the row of each, and the beginning of each column.
type Columns<'py> =
    (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>);

#[pymethods]
impl Posterior {
    /// log p(stamps | log-odds, times).
    #[getter]
    fn log_evidence(&self) -> f64 {
        self.0.log_evidence()
    }

    /// p(y = 1 | stamps).
    fn positive<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.0.positive().into_pyarray(py)
    }

    /// p(o = c, y | stamps), instances × counts × labels.
    fn counts<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray3<f64>> {
        let counts = self.0.counts();
        let instances = counts.instances();
        let most = (0..instances).map(|i| counts.row(i).len()).max().unwrap_or(0).max(2);
        let mut values = Array3::zeros((instances, most, 2));
        for i in 0..instances {
            for (c, pair) in counts.row(i).iter().enumerate() {
                values[[i, c, 0]] = pair[0];
                values[[i, c, 1]] = pair[1];
            }
        }
        values.into_pyarray(py)
    }

    /// p(w(i,l) | stamps), instances × stamps.
    fn responsibilities<'py>(&self, py: Python<'py>) -> Columns<'py> {
        let found = self.0.responsibilities();
        let (mut values, mut rows, mut starts) = (Vec::new(), Vec::new(), vec![0]);
        for stamp in 0..found.stamps() {
            values.extend_from_slice(found.of_stamp(stamp));
            rows.extend(found.instances(stamp).map(|row| row as i64));
            starts.push(values.len() as i64);
        }
        (values.into_pyarray(py), rows.into_pyarray(py), starts.into_pyarray(py))
    }

    /// The single likeliest alignment: the instance of each stamp (−1 if it came from nowhere), and its log
    /// weight.
    fn best_alignment<'py>(&self, py: Python<'py>) -> (Bound<'py, PyArray1<i64>>, f64) {
        let best = py.detach(|| self.0.best_alignment());
        let instances: Vec<i64> = best.instances.iter().map(|&i| owner(i)).collect();
        (instances.into_pyarray(py), best.log_weight)
    }

    /// Alignments drawn from the posterior, draws × stamps; −1 for a stamp from nowhere.
    fn sample<'py>(
        &self,
        py: Python<'py>,
        draws: usize,
        seed: u64,
    ) -> PyResult<Bound<'py, PyArray2<i64>>> {
        let stamps = self.0.responsibilities().stamps();
        let most = MAX_DRAWN / (stamps + DRAW);
        if draws > most {
            let problem = format!("n is {draws}, expected at most {most} for {stamps} stamps");
            return Err(PyValueError::new_err(problem));
        }
        let samples = watched(py, None, |control| self.0.sample(draws, seed, control))?;
        let samples = samples.map_err(to_python)?;
        let flat: Vec<i64> = samples.into_iter().flatten().map(owner).collect();
        let shape = (draws, stamps);
        let table = ndarray::Array2::from_shape_vec(shape, flat).expect("one instance per stamp");
        Ok(table.into_pyarray(py))
    }
}

/// An instance as NumPy has it; −1 for none.
pub(crate) fn owner(instance: Option<usize>) -> i64 {
    instance.map_or(-1, |instance| instance as i64)
}
