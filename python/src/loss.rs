//! The log evidence of a batch of sequences and its derivatives, for the loss of a network.

use std::collections::HashMap;

use ndarray::Array2;
use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rayon::prelude::*;
use serde::Deserialize;
use unjitter::model::{
    Effect, Factor, Gradient, Labelling, Members, SessionStamps, Variation, Varying,
};
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
    settings: Settings,
    annotator: unjitter::model::Annotator,
}

/// Counts, noise and alignment, the unit of time, labels, what stamps are about, and what differs between groups.
type Settings = (String, String, String, f64, String, String, String);

/// One value per sequence, derivatives in all log-odds, and in the parameters by sequence.
type Derivatives<'py> =
    (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray2<f64>>);

#[pymethods]
impl Annotator {
    /// All but the unit is JSON.
    #[new]
    fn new(
        counts: String,
        noise: String,
        alignment: String,
        time_unit: f64,
        labels: String,
        stamps: String,
        effects: String,
    ) -> PyResult<Self> {
        let (count_model, noise_model): (Counts, Noise) =
            (from_json("counts", &counts)?, from_json("noise", &noise)?);
        let order = from_json("alignment", &alignment)?;
        let labelling = Labelling {
            labels: from_json("labels", &labels)?,
            stamps: from_json("stamps", &stamps)?,
            ends: false,
        };
        let annotator =
            unjitter::model::Annotator::new(&count_model, &noise_model, order, time_unit)
                .map_err(to_python)?
                .with_labels(labelling)
                .with_groups(effects_of(&effects, time_unit)?)
                .map_err(to_python)?;
        let settings = (counts, noise, alignment, time_unit, labels, stamps, effects);
        Ok(Self { settings, annotator })
    }

    /// For copies and pickles.
    fn __getnewargs__(&self) -> Settings {
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

    /// p(y_i = 1) of every instance of all sequences, before any stamp is seen.
    fn probabilities<'py>(
        &self,
        py: Python<'py>,
        params: PyReadonlyArray1<'_, f64>,
        batch: Batch<'py>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let params = params.as_array().to_vec();
        let batch = batch.owned(&self.annotator)?;
        let each = batch.sequences()?.into_iter().enumerate().map(|(k, own)| {
            let (name, Sequence { times, log_odds, .. }) = (format!("{k} of the batch"), own);
            let found = self.annotator.probabilities(&name, &params, times, log_odds);
            found.map_err(|error| of_sequence(k, error))
        });
        let found: Vec<Vec<f64>> = each.collect::<PyResult<_>>()?;
        Ok(found.concat().into_pyarray(py))
    }

    /// Log evidence of each sequence of a batch, with its derivatives. The result does not depend on the number of
    /// threads.
    fn gradient<'py>(
        &self,
        py: Python<'py>,
        params: PyReadonlyArray1<'_, f64>,
        batch: Batch<'py>,
        threads: usize,
    ) -> PyResult<Derivatives<'py>> {
        let params = params.as_array().to_vec();
        let batch = batch.owned(&self.annotator)?;
        let sequences = batch.sequences()?;
        let work: usize =
            sequences.iter().map(|own| own.times.len() * own.given.members.len()).sum();
        let busy = threads.min(work / INSTANCES_PER_THREAD).min(sequences.len()).max(1);
        let solve = |control: Control<'_>, k: usize| {
            // The results will not be used.
            if control.is_stop_requested() {
                return None;
            }
            let (name, Sequence { times, log_odds, given }) =
                (format!("{k} of the batch"), &sequences[k]);
            let found = self.annotator.gradient_of(&name, &params, times, given, log_odds);
            Some(found.map_err(|error| of_sequence(k, error)))
        };
        let all = |control: Control<'_>| {
            in_parallel(threads, busy, sequences.len(), |k| solve(control, k))
        };
        let solved = match work <= INSTANCES_AT_ONCE {
            true => py.detach(|| all(Control::default()))?,
            false => watched(py, None, all)??,
        };
        let solved: Vec<Gradient> = solved.into_iter().flatten().collect::<PyResult<_>>()?;

        let shape = (solved.len(), params.len());
        let values: Vec<f64> = solved.iter().map(|found| found.log_evidence).collect();
        let d_params = joined(solved.iter().map(|found| &found.d_params[..]));
        let d_params = Array2::from_shape_vec(shape, d_params).expect("one row per sequence");
        let d_log_odds = joined(solved.iter().map(|found| &found.d_log_odds[..]));
        Ok((values.into_pyarray(py), d_log_odds.into_pyarray(py), d_params.into_pyarray(py)))
    }
}

/// A number that differs between groups, and how wide, in the unit of the data.
#[derive(Deserialize)]
struct Differs {
    what: Varying,
    by: Factor,
    names: Vec<String>,
    scatter: Option<f64>,
}

/// What differs between groups, from JSON. How wide it usually does, for stamps about two units apart.
fn effects_of(text: &str, time_unit: f64) -> PyResult<Vec<Effect>> {
    let effect = |Differs { what, by, names, scatter }| Effect {
        variation: Variation { what, by },
        names,
        scale: scatter.unwrap_or_else(|| what.usual_scale(2.0 * time_unit)),
    };
    Ok(from_json::<Vec<Differs>>("varies", text)?.into_iter().map(effect).collect())
}

/// The arrays that the Python class `Batch` has checked. Sequences are concatenated: instances with lengths
/// `instances`, stamps with lengths `stamps`.
#[derive(FromPyObject)]
struct Batch<'py> {
    times: PyReadonlyArray1<'py, f64>,
    log_odds: PyReadonlyArray1<'py, f64>,
    instances: Vec<usize>,
    events: PyReadonlyArray1<'py, f64>,
    stamps: Vec<usize>,
    /// Of the interval around each stamp; none if all times are known.
    widths: Option<PyReadonlyArray1<'py, f64>>,
    /// The number of who gave each stamp, among those of its sequence; none if everybody annotated alone.
    annotators: Option<PyReadonlyArray1<'py, i64>>,
    /// For each sequence the groups of each annotator, by factor; none if each has one annotator, of no group.
    groups: Option<Vec<Vec<HashMap<String, String>>>>,
}

/// The same without the interpreter.
struct Owned {
    times: Vec<f64>,
    log_odds: Vec<f64>,
    instances: Vec<usize>,
    events: Vec<f64>,
    stamps: Vec<usize>,
    widths: Vec<f64>,
    annotators: Vec<usize>,
    members: Vec<Vec<Members>>,
}

/// One sequence of a batch.
struct Sequence<'a> {
    times: &'a [f64],
    log_odds: &'a [f64],
    given: SessionStamps<'a>,
}

impl Batch<'_> {
    /// Copied, with groups by number.
    fn owned(self, annotator: &unjitter::model::Annotator) -> PyResult<Owned> {
        let [times, log_odds, events] =
            [&self.times, &self.log_odds, &self.events].map(|values| values.as_array().to_vec());
        let members = |own: HashMap<String, String>| {
            annotator.members(|by| own.get(by.name()).map(String::as_str))
        };
        let members = match self.groups {
            Some(groups) => {
                groups.into_iter().map(|all| all.into_iter().map(members).collect()).collect()
            }
            None => vec![vec![members(HashMap::new())]; self.instances.len()],
        };
        let number = |&number: &i64| {
            let negative =
                |_| PyValueError::new_err(format!("an annotator is {number}, expected at least 0"));
            usize::try_from(number).map_err(negative)
        };
        let annotators = match &self.annotators {
            Some(numbers) => numbers.as_array().iter().map(number).collect::<PyResult<_>>()?,
            None => Vec::new(),
        };
        let widths = self.widths.map_or_else(Vec::new, |widths| widths.as_array().to_vec());
        let (instances, stamps) = (self.instances, self.stamps);
        Ok(Owned { times, log_odds, instances, events, stamps, widths, annotators, members })
    }
}

impl Owned {
    /// Its sequences; fails unless all that is told of them is of one length.
    fn sequences(&self) -> PyResult<Vec<Sequence<'_>>> {
        let times = cut("times", &self.times, &self.instances)?;
        let log_odds = cut("log_odds", &self.log_odds, &self.instances)?;
        let events = cut("events", &self.events, &self.stamps)?;
        let none = vec![0; self.stamps.len()];
        let lengths = |is_empty: bool| if is_empty { &none } else { &self.stamps };
        let widths = cut("widths", &self.widths, lengths(self.widths.is_empty()))?;
        let annotators = cut("annotators", &self.annotators, lengths(self.annotators.is_empty()))?;
        for (what, found) in [("events", events.len()), ("groups", self.members.len())] {
            if found != times.len() {
                let message = format!("{what} of {found} sequences for {}", times.len());
                return Err(PyValueError::new_err(message));
            }
        }
        let sequence = |k: usize| Sequence {
            times: times[k],
            log_odds: log_odds[k],
            given: SessionStamps {
                stamps: events[k],
                widths: widths[k],
                annotators: annotators[k],
                members: &self.members[k],
            },
        };
        Ok((0..times.len()).map(sequence).collect())
    }
}

/// The pieces of a flat array, by their lengths.
fn cut<'a, T>(what: &str, mut flat: &'a [T], lengths: &[usize]) -> PyResult<Vec<&'a [T]>> {
    let total: usize = lengths.iter().sum();
    if total != flat.len() {
        let message = format!("{what} has {} values, expected {total}", flat.len());
        return Err(PyValueError::new_err(message));
    }
    let piece = |&length: &usize| flat.split_off(..length).expect("they add up");
    Ok(lengths.iter().map(piece).collect())
}

/// The pieces one after the other, copied whole.
fn joined<'a>(pieces: impl Iterator<Item = &'a [f64]> + Clone) -> Vec<f64> {
    let mut all = Vec::with_capacity(pieces.clone().map(<[f64]>::len).sum());
    pieces.for_each(|piece| all.extend_from_slice(piece));
    all
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
