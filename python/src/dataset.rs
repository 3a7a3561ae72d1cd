//! Datasets on disk, read by the library so that Python and the command line agree.

use std::path::PathBuf;

use ndarray::Array2;
use numpy::{IntoPyArray, PyArray1, PyArray2};
use pyo3::prelude::*;
use unjitter::io::{Clock, Columns, Dataset, DatasetFiles};
use unjitter::{Label, Recording, Session};

use crate::convert::{from_json, to_python};

/// A session for the Python class.
#[derive(IntoPyObject)]
pub(crate) struct NewSession<'py> {
    #[pyo3(item("X"))]
    features: Bound<'py, PyArray2<f64>>,
    #[pyo3(item)]
    times: Bound<'py, PyArray1<f64>>,
    #[pyo3(item)]
    events: Bound<'py, PyArray1<f64>>,
    #[pyo3(item)]
    labels: Option<NewLabels<'py>>,
    #[pyo3(item)]
    subject: Option<String>,
    #[pyo3(item)]
    observed: Option<Bound<'py, PyArray2<f64>>>,
    #[pyo3(item)]
    name: String,
    #[pyo3(item)]
    annotators: Option<Vec<String>>,
    #[pyo3(item)]
    also_annotated: Vec<String>,
    #[pyo3(item)]
    rounded: Option<Bound<'py, PyArray1<f64>>>,
    #[pyo3(item)]
    ends: Option<Bound<'py, PyArray1<f64>>>,
    #[pyo3(item)]
    classes: Option<Vec<String>>,
    #[pyo3(item)]
    device: Option<String>,
    #[pyo3(item)]
    clock: Option<String>,
}

/// Labels of a session: −1 (unknown), 0 or 1; or none, 0 or the class of the event.
#[derive(IntoPyObject)]
enum NewLabels<'py> {
    Numbers(Bound<'py, PyArray1<i8>>),
    Names(Vec<Option<NewLabel>>),
}

#[derive(IntoPyObject)]
enum NewLabel {
    Nothing(i8),
    Event(String),
}

impl<'py> NewSession<'py> {
    /// The session of a recording, and its labels: those it knows itself, or else the true ones.
    pub(crate) fn new(py: Python<'py>, recording: &Recording<'_>) -> Self {
        let session = &recording.session;
        let known = |label: &Option<bool>| label.map_or(-1, i8::from);
        let numbers = |all: Vec<i8>| -> NewLabels<'py> { NewLabels::Numbers(all.into_pyarray(py)) };
        let labels = match (session.labels(), &recording.truth) {
            (Some(own), _) if !session.classes().is_empty() => {
                Some(NewLabels::Names((0..own.len()).map(|i| named(session, i)).collect()))
            }
            (Some(own), _) => Some(numbers(own.iter().map(known).collect())),
            (None, Some(own)) => Some(numbers(own.iter().map(|&label| i8::from(label)).collect())),
            (None, None) => None,
        };
        let widths: Vec<f64> = (0..session.stamps().len()).map(|l| session.width_of(l)).collect();
        let are_between = widths.iter().any(|&width| width > 0.0);
        let observed = session.observed().map(|intervals| {
            let flat = intervals.iter().flat_map(|&(start, end)| [start, end]).collect();
            Array2::from_shape_vec((intervals.len(), 2), flat).expect("two ends each")
        });
        Self {
            features: session.features().to_f64().into_owned().into_pyarray(py),
            times: session.times().to_vec().into_pyarray(py),
            events: session.stamps().to_vec().into_pyarray(py),
            labels,
            subject: session.subject().map(str::to_owned),
            observed: observed.map(|observed| observed.into_pyarray(py)),
            name: session.name().to_owned(),
            annotators: annotators_of(session),
            also_annotated: session.annotators().to_vec(),
            rounded: are_between.then(|| widths.into_pyarray(py)),
            ends: ends_of(py, session),
            classes: classes_of(session),
            device: session.device().map(str::to_owned),
            clock: session.clock().map(str::to_owned),
        }
    }
}

/// When what each stamp tells ended, NaN where it tells none, if any does.
pub(crate) fn ends_of<'py>(
    py: Python<'py>,
    session: &Session<'_>,
) -> Option<Bound<'py, PyArray1<f64>>> {
    let end = |l: usize| session.end_of(l).unwrap_or(f64::NAN);
    let ends = || (0..session.stamps().len()).map(end).collect::<Vec<f64>>().into_pyarray(py);
    session.has_ends().then(ends)
}

/// The label of an instance, with the class of its event.
fn named(session: &Session<'_>, instance: usize) -> Option<NewLabel> {
    session.class_label(instance).map(|label| match label {
        Label::Nothing => NewLabel::Nothing(0),
        Label::Event(class) => NewLabel::Event(class.to_owned()),
    })
}

/// The class that each stamp is recorded as, if stamps have classes.
fn classes_of(session: &Session<'_>) -> Option<Vec<String>> {
    let of_stamps = (0..session.stamps().len()).map(|l| session.class_of(l).map(str::to_owned));
    of_stamps.collect::<Option<Vec<String>>>().filter(|_| !session.classes().is_empty())
}

/// Who gave each stamp of a session, if that is known.
pub(crate) fn annotators_of(session: &Session<'_>) -> Option<Vec<String>> {
    let names = session.annotators();
    let of_stamp = |l: usize| session.annotator_of(l).map(|k| names[k].clone());
    let of_stamps: Option<Vec<String>> = (0..session.stamps().len()).map(of_stamp).collect();
    of_stamps.filter(|_| !names.is_empty())
}

/// Sessions of a folder or of single files, each with the moment at its zero, if that is not 0: a date as
/// in the table, or a number of seconds; and the names of the features.
#[pyfunction]
#[pyo3(signature = (folder=None, instances=None, events=None, sessions=None, columns="{}"))]
#[expect(clippy::type_complexity, reason = "sessions with their zeros, and names")]
pub(crate) fn read_dataset<'py>(
    py: Python<'py>,
    folder: Option<PathBuf>,
    instances: Option<PathBuf>,
    events: Option<PathBuf>,
    sessions: Option<PathBuf>,
    columns: &str,
) -> PyResult<(Vec<(NewSession<'py>, Option<String>)>, Vec<String>)> {
    let columns: Columns = from_json("columns", columns)?;
    let dataset = py.detach(|| {
        let given = DatasetFiles {
            instances: instances.unwrap_or_default(),
            events: events.into(),
            sessions,
            ..DatasetFiles::default()
        };
        let files = match &folder {
            Some(folder) => given.or_in_folder(folder)?,
            None => given,
        };
        Dataset::read(&files, &columns, true)
    });
    let Dataset { recordings, clocks, features, .. } = dataset.map_err(to_python)?;
    let zero = |clock: &Clock| {
        let number = || clock.zero_in_seconds().filter(|&zero| zero != 0.0);
        clock.start().or_else(|| number().map(|zero| zero.to_string()))
    };
    let sessions = recordings.into_iter().zip(&clocks);
    // One by one, so that no more than one session is in memory twice.
    let sessions = sessions.map(|(own, clock)| (NewSession::new(py, &own), zero(clock))).collect();
    Ok((sessions, features))
}
