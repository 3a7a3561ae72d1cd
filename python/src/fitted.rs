//! A fitted model.

use std::path::PathBuf;

use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use unjitter::evaluation::expected_f1_threshold;
use unjitter::model::Estimate;
use unjitter::planning::PlanOptions;
use unjitter::{AlignOptions, Aligned, AlignedStamp, ClassifierSpec, SeenEvent, Session};

use crate::convert::{from_json, to_json, to_python};
use crate::pool::{alone, each_row, threads_for};
use crate::posterior::owner;
use crate::session::{PyFeatures, PySession, lend};
use crate::stream::{Stream, stream};
use crate::watch::watched;

/// A fitted model.
#[pyclass(frozen, module = "unjitter._core")]
#[derive(Debug)]
pub(crate) struct Fitted(pub(crate) unjitter::Fitted);

impl Fitted {
    /// Whether work on rows is distributed over threads: only a kernel's is.
    fn is_shared(&self) -> bool {
        matches!(self.0.model().classifier, ClassifierSpec::Kernel { .. })
    }

    /// Runs work on the stamps of so many rows, in a pool if it is distributed, as is the search for clocks.
    fn pooled<T: Send>(&self, rows: usize, work: impl FnOnce() -> T + Send) -> PyResult<T> {
        let is_shared = self.is_shared() || !self.0.groups().is_empty();
        if is_shared { alone(threads_for(rows), work) } else { Ok(work()) }
    }

    fn aligned(
        &self,
        py: Python<'_>,
        session: &Session<'_>,
        level: f64,
        draws: usize,
    ) -> PyResult<Aligned> {
        let options = AlignOptions { level, draws, ..AlignOptions::default() };
        let threads = threads_for(session.len().saturating_mul(draws.max(1)));
        let aligned = py.detach(|| alone(threads, || self.0.align_with(session, &options)))?;
        aligned.map_err(to_python)
    }
}

#[pymethods]
impl Fitted {
    /// From the text of a model file.
    #[staticmethod]
    fn from_json(py: Python<'_>, text: &str) -> PyResult<Self> {
        let read = || unjitter::Fitted::from_json(text.as_bytes());
        py.detach(|| alone(threads_for(text.len()), read))?.map(Self).map_err(to_python)
    }

    /// The text of a model file.
    fn to_json(&self, py: Python<'_>) -> String {
        py.detach(|| self.0.to_json())
    }

    /// From a model file.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let size = std::fs::metadata(&path).map_or(0, |file| file.len() as usize);
        let read = || unjitter::Fitted::load(&path);
        py.detach(|| alone(threads_for(size), read))?.map(Self).map_err(to_python)
    }

    /// Writes a model file, whole or not at all, with its threshold and further notes (JSON).
    fn save(&self, py: Python<'_>, path: PathBuf, threshold: f64, notes: &str) -> PyResult<()> {
        let notes = from_json("notes", notes)?;
        let mut fitted = self.0.clone();
        fitted.set_threshold(threshold).map_err(to_python)?;
        py.detach(|| fitted.save_noted(&path, &notes)).map_err(to_python)
    }

    /// Notes that the model file keeps, as JSON.
    fn metadata(&self) -> PyResult<String> {
        to_json(self.0.metadata())
    }

    /// The model that was fitted, as JSON.
    fn model(&self) -> PyResult<String> {
        to_json(self.0.model())
    }

    /// How learning ended, as JSON.
    fn outcome(&self) -> PyResult<String> {
        to_json(self.0.outcome())
    }

    /// The learned annotator, as JSON.
    fn learned(&self) -> PyResult<String> {
        to_json(&self.0.learned())
    }

    /// How the annotator tells the ends of bouts, as JSON: null if stamps tell none.
    fn learned_ends(&self) -> PyResult<String> {
        to_json(&self.0.learned_ends())
    }

    /// The distinct optima of the fit, the one in use first, as JSON.
    fn modes(&self) -> PyResult<String> {
        to_json(&self.0.modes())
    }

    /// The same fit with another of its optima in use, and on sessions the threshold with its best
    /// expected F1.
    #[pyo3(signature = (k, sessions=None, use_labels=false, threads=1))]
    fn use_mode(
        &self,
        py: Python<'_>,
        k: usize,
        sessions: Option<Vec<PySession<'_>>>,
        use_labels: bool,
        threads: usize,
    ) -> PyResult<Self> {
        let mut fitted = self.0.clone();
        if k > 0 {
            fitted = fitted.use_mode(k).map_err(to_python)?;
        }
        let Some(sessions) = sessions else { return Ok(Self(fitted)) };
        let sessions = lend(&sessions, use_labels)?;
        let found = watched(py, None, |control| {
            alone(threads, || expected_f1_threshold(&fitted, &sessions, control))
        })??;
        found.and_then(|threshold| fitted.set_threshold(threshold)).map_err(to_python)?;
        Ok(Self(fitted))
    }

    /// Kind and message of every warning.
    fn warnings(&self) -> PyResult<Vec<(String, String)>> {
        self.0.warnings().iter().map(describe).collect()
    }

    /// The same for the stamps of a session.
    fn far_stamps(&self, session: PySession<'_>) -> PyResult<Option<(String, String)>> {
        self.0.far_stamps(&session.lend(0, false)?).as_ref().map(describe).transpose()
    }

    #[getter]
    fn n_features(&self) -> usize {
        self.0.features()
    }

    /// Coefficients and intercept of a logistic classifier, for raw features.
    fn linear<'py>(&self, py: Python<'py>) -> Option<(Bound<'py, PyArray1<f64>>, f64)> {
        let (coefficients, intercept) = self.0.linear()?;
        Some((coefficients.into_pyarray(py), intercept))
    }

    /// Weights of a kernel classifier's landmarks.
    fn landmark_weights<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<f64>>> {
        Some(self.0.landmark_weights()?.into_pyarray(py))
    }

    #[getter]
    fn time_unit(&self) -> f64 {
        self.0.time_unit()
    }

    /// Probability from which an instance counts as an event.
    #[getter]
    fn threshold(&self) -> f64 {
        self.0.threshold()
    }

    /// Natural values of every parameter, by name.
    fn parameters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let all = PyDict::new(py);
        for name in self.0.parameter_names() {
            let values = self.0.parameter(name).map_err(to_python)?;
            all.set_item(name, values.into_pyarray(py))?;
        }
        Ok(all)
    }

    /// Standard error and both ends of the interval at a level, a row for each value of what was
    /// learned of the annotator and of every parameter, by name; NaN where they are not known.
    fn estimates<'py>(&self, py: Python<'py>, level: f64) -> PyResult<Bound<'py, PyDict>> {
        let learned = self.0.learned_estimates(level).map_err(to_python)?;
        let all = PyDict::new(py);
        let set = |name: &str, estimates: &[Option<Estimate>]| {
            let row = |own: &Option<Estimate>| {
                own.map_or([f64::NAN; 3], |own| [own.standard_error, own.low, own.high])
            };
            let rows: Vec<Vec<f64>> = estimates.iter().map(|own| row(own).to_vec()).collect();
            all.set_item(name, PyArray2::from_vec2(py, &rows)?)
        };
        set("delay", &[learned.delay])?;
        set("spread", &[learned.spread])?;
        set("miss_rate", &[learned.miss_rate])?;
        set("false_rate", &[learned.false_rate])?;
        set("background_rate", &[learned.background_rate])?;
        for name in self.0.parameter_names() {
            let mut own = self.0.estimates(name, level).map_err(to_python)?;
            own.resize(self.0.parameter(name).map_err(to_python)?.len(), None);
            set(name, &own)?;
        }
        Ok(all)
    }

    /// Log-odds that each row is positive.
    fn log_odds<'py>(
        &self,
        py: Python<'py>,
        features: PyFeatures<'py>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        each_row(py, &features, self.is_shared(), |rows| self.0.log_odds(rows))
    }

    /// Probability that each row is positive.
    fn predict<'py>(
        &self,
        py: Python<'py>,
        features: PyFeatures<'py>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        each_row(py, &features, self.is_shared(), |rows| self.0.predict(rows))
    }

    /// A recording that goes on.
    #[pyo3(signature = (threshold, min_separation, tolerance, within=None))]
    fn stream(
        &self,
        threshold: f64,
        min_separation: f64,
        tolerance: f64,
        within: Option<f64>,
    ) -> PyResult<Stream> {
        stream(&self.0.detector(), threshold, min_separation, tolerance, within)
    }

    /// Probability that each instance of a session is positive, whose events are not used.
    fn predict_session<'py>(
        &self,
        py: Python<'py>,
        session: PySession<'py>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let session = session.lend(0, false)?;
        let ask = || self.0.predict_session(&session);
        Ok(py.detach(|| self.pooled(session.len(), ask))?.map_err(to_python)?.into_pyarray(py))
    }

    /// Probability that the annotator stamps each instance of a session.
    fn predict_stamped_session<'py>(
        &self,
        py: Python<'py>,
        session: PySession<'py>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let session = session.lend(0, false)?;
        let ask = || self.0.predict_stamped_session(&session);
        Ok(py.detach(|| self.pooled(session.len(), ask))?.map_err(to_python)?.into_pyarray(py))
    }

    /// Classes of events by name, in order; none if events have no classes.
    fn classes(&self) -> Vec<String> {
        self.0.classes().to_vec()
    }

    /// Probabilities of records, by class of the event, if there are several.
    fn confusion<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray2<f64>>>> {
        let rows = self.0.confusion();
        Ok(rows.map(|rows| PyArray2::from_vec2(py, &rows)).transpose()?)
    }

    /// Probability of each class, by row and class, one after the other.
    fn predict_classes<'py>(
        &self,
        py: Python<'py>,
        features: PyFeatures<'py>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        each_row(py, &features, self.is_shared(), |rows| self.0.class_probabilities(rows))
    }

    /// The same of a session, whose events are not used.
    fn predict_classes_session<'py>(
        &self,
        py: Python<'py>,
        session: PySession<'py>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let session = session.lend(0, false)?;
        let ask = || self.0.predict_classes(&session);
        Ok(py.detach(|| self.pooled(session.len(), ask))?.map_err(to_python)?.into_pyarray(py))
    }

    /// Onset rate and offset rate, where labels form a chain.
    fn runs(&self) -> Option<(f64, f64)> {
        self.0.runs().map(|runs| (runs.onset_rate, runs.offset_rate))
    }

    /// Probability that the annotator stamps each row.
    fn predict_stamped<'py>(
        &self,
        py: Python<'py>,
        features: PyFeatures<'py>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        each_row(py, &features, self.is_shared(), |rows| self.0.predict_stamped(rows))
    }

    /// Density of the delay.
    fn delay_density<'py>(
        &self,
        py: Python<'py>,
        delays: PyReadonlyArray1<'py, f64>,
    ) -> Bound<'py, PyArray1<f64>> {
        self.0.delay_density(&delays.as_array().to_vec()).into_pyarray(py)
    }

    /// log p(stamps, known labels | features, times); what differs for groups that were not seen is
    /// integrated out.
    #[pyo3(signature = (session, use_labels=false))]
    fn log_evidence(
        &self,
        py: Python<'_>,
        session: PySession<'_>,
        use_labels: bool,
    ) -> PyResult<f64> {
        let session = session.lend(0, use_labels)?;
        let ask = || self.0.held_out_log_evidence(&session);
        py.detach(|| self.pooled(session.len(), ask))?.map_err(to_python)
    }

    /// What more sessions like these, or labels for them, would be worth (JSON), with options (JSON) and
    /// at a threshold. `show` sees the progress of refits, as in [`watched`].
    #[pyo3(signature = (sessions, options, threshold, use_labels=false, threads=1, show=None))]
    #[expect(clippy::too_many_arguments, reason = "what, how and on what, and who watches")]
    fn plan(
        &self,
        py: Python<'_>,
        sessions: Vec<PySession<'_>>,
        options: &str,
        threshold: f64,
        use_labels: bool,
        threads: usize,
        show: Option<Py<PyAny>>,
    ) -> PyResult<String> {
        let options: PlanOptions = from_json("options", options)?;
        let sessions = lend(&sessions, use_labels)?;
        let mut fitted = self.0.clone();
        fitted.set_threshold(threshold).map_err(to_python)?;
        let plan = watched(py, show, |control| {
            alone(threads, || fitted.plan(&sessions, &options, control))
        })??;
        to_json(&plan.map_err(to_python)?)
    }

    /// Columns of the aligned stamps, columns of the instances, log evidence and the log weight of
    /// the best alignment.
    #[pyo3(signature = (session, use_labels=false, level=0.95, draws=32))]
    fn align<'py>(
        &self,
        py: Python<'py>,
        session: PySession<'_>,
        use_labels: bool,
        level: f64,
        draws: usize,
    ) -> PyResult<(Bound<'py, PyDict>, Bound<'py, PyDict>, f64, f64)> {
        let aligned = self.aligned(py, &session.lend(0, use_labels)?, level, draws)?;
        let stamps = PyDict::new(py);
        macro_rules! column {
            ($into:ident, $rows:expr, $name:ident) => {
                let values: Vec<_> = $rows.iter().map(|row| row.$name).collect();
                $into.set_item(stringify!($name), values.into_pyarray(py))?;
            };
        }
        column!(stamps, aligned.stamps, stamp);
        column!(stamps, aligned.stamps, time);
        column!(stamps, aligned.stamps, low);
        column!(stamps, aligned.stamps, high);
        column!(stamps, aligned.stamps, instance);
        column!(stamps, aligned.stamps, instance_time);
        column!(stamps, aligned.stamps, p_instance);
        let best: Vec<i64> = aligned.stamps.iter().map(|row| owner(row.best_instance)).collect();
        stamps.set_item("best_instance", best.into_pyarray(py))?;
        column!(stamps, aligned.stamps, p_spurious);
        if self.0.model().ends {
            set_ends(&stamps, &aligned)?;
        }
        let instances = PyDict::new(py);
        if let Some(classes) = &aligned.classes {
            let stamped = (0..aligned.stamps.len()).map(|l| classes.of_stamp(l));
            let (names, p): (Vec<&str>, Vec<f64>) = stamped.unzip();
            stamps.set_item("aligned_class", names)?;
            stamps.set_item("p_class", p.into_pyarray(py))?;
            for (k, name) in classes.names.iter().enumerate() {
                let p: Vec<f64> = classes.instances.iter().map(|own| own[k]).collect();
                instances.set_item(format!("p_{name}"), p.into_pyarray(py))?;
            }
        }
        column!(instances, aligned.instances, time);
        column!(instances, aligned.instances, p_detector);
        column!(instances, aligned.instances, p_positive);
        column!(instances, aligned.instances, p_missed);
        column!(instances, aligned.instances, observed);
        Ok((stamps, instances, aligned.log_evidence, aligned.best_log_weight))
    }

    /// All parameters as the optimiser sees them.
    fn unconstrained<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.0.unconstrained().to_vec().into_pyarray(py)
    }

    /// The events that stamps belong to by the best alignment.
    #[pyo3(signature = (session, use_labels=false, draws=32))]
    fn align_events(
        &self,
        py: Python<'_>,
        session: PySession<'_>,
        use_labels: bool,
        draws: usize,
    ) -> PyResult<Vec<PyEvent>> {
        let session = session.lend(0, use_labels)?;
        let level = AlignOptions::default().level;
        let names = session.annotators();
        let told = |event: SeenEvent| {
            let SeenEvent { instance, time, end, p_positive, class, stamps, seen_by, .. } = event;
            let seen_by = seen_by.into_iter().map(|k| names[k].clone()).collect();
            (instance, time, end, p_positive, class, stamps.len(), seen_by)
        };
        let events = self.aligned(py, &session, level, draws)?.events(&session);
        Ok(events.into_iter().map(told).collect())
    }
}

/// A column of numbers, by name.
type Column<T> = (&'static str, fn(&T) -> f64);

/// Columns of the ends of stamps, NaN where a stamp tells none.
fn set_ends(stamps: &Bound<'_, PyDict>, aligned: &Aligned) -> PyResult<()> {
    let numbers: [Column<AlignedStamp>; 5] = [
        ("end_stamp", |own| own.stamp),
        ("end", |own| own.time),
        ("end_low", |own| own.low),
        ("end_high", |own| own.high),
        ("end_p_spurious", |own| own.p_spurious),
    ];
    for (name, number) in numbers {
        let end = |l: usize| aligned.ends.get(l).and_then(Option::as_ref).map_or(f64::NAN, number);
        let column = (0..aligned.stamps.len()).map(end);
        stamps.set_item(name, column.collect::<Vec<f64>>().into_pyarray(stamps.py()))?;
    }
    Ok(())
}

/// An event: instance, time, end, probability, class if there are several, the number of stamps and who gave them.
type PyEvent = (usize, f64, f64, f64, Option<String>, usize, Vec<String>);

/// A warning's kind, as in model files, and its message.
pub(crate) fn describe(warning: &unjitter::Warning) -> PyResult<(String, String)> {
    let value = serde_json::to_value(warning)
        .map_err(|error| pyo3::exceptions::PyRuntimeError::new_err(error.to_string()))?;
    let kind = value.get("kind").and_then(|kind| kind.as_str()).unwrap_or_default();
    Ok((kind.to_owned(), warning.to_string()))
}
