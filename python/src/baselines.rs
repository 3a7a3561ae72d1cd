//! Learners to compare with, and the comparison.

use std::path::PathBuf;

use numpy::{IntoPyArray, PyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::Deserialize;
use unjitter::baselines::{
    AlignmentLearner, DropNear, HandAligned, Learner, MultipleInstance, Naive, Smear, TrainedModel,
};
use unjitter::evaluation::{Comparison, Contender, CrossValidation, SummaryOptions};
use unjitter::{Control, Recording};

use crate::convert::{from_json, to_json, to_python};
use crate::pool::{alone, each_row, threads_for};
use crate::session::{PyFeatures, PySession, recordings};
use crate::stream::{Stream, stream};
use crate::watch::watched;

/// Any learner, in the form of [`Learner::options`].
#[derive(Debug, Deserialize)]
#[serde(tag = "kind", content = "options", rename_all = "snake_case")]
enum AnyLearner {
    HandAligned(HandAligned),
    Naive(Naive),
    DropNear(DropNear),
    Smear(Smear),
    MultipleInstance(MultipleInstance),
    Imprecise(Box<AlignmentLearner>),
}

fn learner(text: &str) -> PyResult<Box<dyn Learner>> {
    Ok(match from_json("learner", text)? {
        AnyLearner::HandAligned(learner) => Box::new(learner),
        AnyLearner::Naive(learner) => Box::new(learner),
        AnyLearner::DropNear(learner) => Box::new(learner),
        AnyLearner::Smear(learner) => Box::new(learner),
        AnyLearner::MultipleInstance(learner) => Box::new(learner),
        AnyLearner::Imprecise(learner) => learner,
    })
}

/// The paper's name of a learner (JSON), such as LR-N.
#[pyfunction]
pub(crate) fn learner_name(text: &str) -> PyResult<String> {
    Ok(learner(text)?.name())
}

/// A detector without a model of the annotator.
#[pyclass(frozen, module = "unjitter._core")]
#[derive(Debug)]
pub(crate) struct Detector(unjitter::Detector);

#[pymethods]
impl Detector {
    #[staticmethod]
    fn from_json(py: Python<'_>, text: &str) -> PyResult<Self> {
        // A kernel is factorised again, which takes longer for a longer text.
        py.detach(|| alone(threads_for(text.len()), || from_json("detector", text)))?.map(Self)
    }

    fn to_json(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| to_json(&self.0))
    }

    #[getter]
    fn n_features(&self) -> usize {
        self.0.classifier().features()
    }

    /// Coefficients and intercept of a logistic classifier, for raw features.
    fn linear<'py>(&self, py: Python<'py>) -> Option<(Bound<'py, PyArray1<f64>>, f64)> {
        let (coefficients, intercept) = self.0.linear()?;
        Some((coefficients.into_pyarray(py), intercept))
    }

    /// Log-odds that each row is positive.
    fn log_odds<'py>(
        &self,
        py: Python<'py>,
        features: PyFeatures<'py>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        each_row(py, &features, true, |rows| self.0.log_odds(rows))
    }

    /// Probability that each row is positive.
    fn predict<'py>(
        &self,
        py: Python<'py>,
        features: PyFeatures<'py>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        each_row(py, &features, true, |rows| self.0.predict(rows))
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
        stream(&self.0, threshold, min_separation, tolerance, within)
    }

    /// Probability that each instance of a session is positive, whose events are not used.
    fn predict_session<'py>(
        &self,
        py: Python<'py>,
        session: PySession<'py>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let session = session.lend(0, false)?;
        let threads = threads_for(session.len());
        let found = py.detach(|| alone(threads, || self.0.predict_session(&session)))?;
        Ok(found.map_err(to_python)?.into_pyarray(py))
    }

    /// Onset rate and offset rate, where labels form a chain.
    fn runs(&self) -> Option<(f64, f64)> {
        self.0.runs().map(|runs| (runs.onset_rate, runs.offset_rate))
    }
}

/// Trains a learner (JSON) that gives a detector.
#[pyfunction]
pub(crate) fn learn(
    py: Python<'_>,
    learner: &str,
    sessions: Vec<PySession<'_>>,
    seed: u64,
    threads: usize,
) -> PyResult<Detector> {
    let learner = self::learner(learner)?;
    let recordings = recordings(&sessions)?;
    let training: Vec<&Recording<'_>> = recordings.iter().collect();
    let learn = |control: Control<'_>| alone(threads, || learner.fit(&training, seed, control));
    let trained = watched(py, None, learn)??;
    match trained.map_err(to_python)? {
        TrainedModel::Detector(detector) => Ok(Detector(detector)),
        TrainedModel::Fitted(_) => {
            Err(PyValueError::new_err(format!("{} leaves more than a detector", learner.name())))
        }
    }
}

/// How many true positives stay positive if each stamp goes to its nearest instance, and how many there are.
#[pyfunction]
pub(crate) fn kept_by_naive(sessions: Vec<PySession<'_>>) -> PyResult<(usize, usize)> {
    let (mut kept, mut all) = (0, 0);
    for recording in recordings(&sessions)? {
        let (own_kept, own) = unjitter::baselines::kept_by_naive(&recording).map_err(to_python)?;
        kept += own_kept;
        all += own;
    }
    Ok((kept, all))
}

/// One contender on one fold: the candidate, its threshold, the log evidence of held-out stamps, F1
/// against labels, and the probabilities of each held-out session.
type NewFold<'py> = (usize, f64, Option<f64>, Option<f64>, Vec<Bound<'py, PyArray1<f64>>>);

/// Compares contenders, each a name and candidates (JSON), by nested cross-validation: positions of the
/// sessions of each fold, results by contender and fold, a summary (JSON), and warnings.
#[pyfunction]
#[pyo3(signature = (contenders, options, summary, reference, sessions, threads, journal=None, show=None))]
#[expect(clippy::too_many_arguments, reason = "what, how and on what, and who watches")]
#[expect(
    clippy::type_complexity,
    reason = "folds, results by contender and fold, summary, warnings"
)]
pub(crate) fn compare<'py>(
    py: Python<'py>,
    contenders: Vec<(String, Vec<String>)>,
    options: &str,
    summary: &str,
    reference: usize,
    sessions: Vec<PySession<'_>>,
    threads: usize,
    journal: Option<PathBuf>,
    show: Option<Py<PyAny>>,
) -> PyResult<(Vec<Vec<usize>>, Vec<Vec<NewFold<'py>>>, String, Vec<String>)> {
    let contenders = contenders.into_iter().map(contender).collect::<PyResult<Vec<_>>>()?;
    let options: CrossValidation = from_json("options", options)?;
    let summary: SummaryOptions = from_json("summary", summary)?;
    // Reports wrong options before the work.
    summary.events.check().map_err(to_python)?;
    let recordings = recordings(&sessions)?;
    let compared = watched(py, show, |control| {
        alone(threads, || {
            let found = options.run(&recordings, &contenders, journal.as_deref(), control)?;
            let quiet = Control { watch: None, ..control };
            let lines = found.summary(&recordings, reference, &summary, quiet)?;
            let warnings = found.warnings(&recordings, &options);
            Ok((found, lines, warnings.iter().map(ToString::to_string).collect()))
        })
    })??;
    let (Comparison { folds, contenders, .. }, lines, warnings) = compared.map_err(to_python)?;
    let results = contenders.into_iter().map(|judged| {
        let fold = |fold: unjitter::evaluation::FoldResult| {
            let f1 = fold.confusion.map(|counts| counts.scores().f1);
            let evidence = fold.log_evidence();
            let probabilities = fold.probabilities.into_iter().map(|own| own.into_pyarray(py));
            (fold.chosen, fold.threshold, evidence, f1, probabilities.collect())
        };
        judged.folds.into_iter().map(fold).collect()
    });
    Ok((folds, results.collect(), to_json(&lines)?, warnings))
}

fn contender((name, candidates): (String, Vec<String>)) -> PyResult<Contender> {
    let candidates = candidates.iter().map(|text| learner(text)).collect::<PyResult<_>>()?;
    Ok(Contender { name, candidates })
}
