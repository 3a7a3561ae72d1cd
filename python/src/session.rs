//! Sessions of the Python half, lent to the library without a copy of their features.

use std::collections::HashSet;

use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use unjitter::{Features, Label, Recording, Session};

use crate::convert::to_python;

/// The arrays that the Python class `Session` has checked: C-contiguous, in double precision except for
/// features in single, labels as −1 (unknown), 0 or 1, ends as NaN where there is none.
#[derive(FromPyObject)]
pub(crate) struct PySession<'py> {
    #[pyo3(attribute("X"))]
    features: PyFeatures<'py>,
    times: PyReadonlyArray1<'py, f64>,
    events: PyReadonlyArray1<'py, f64>,
    labels: Option<PyReadonlyArray1<'py, i8>>,
    subject: Option<String>,
    observed: Option<PyReadonlyArray2<'py, f64>>,
    name: Option<String>,
    annotators: Option<Vec<String>>,
    also_annotated: Vec<String>,
    rounded: Option<PyReadonlyArray1<'py, f64>>,
    ends: Option<PyReadonlyArray1<'py, f64>>,
    classes: Option<Vec<String>>,
    label_classes: Option<Vec<Option<String>>>,
    device: Option<String>,
    clock: Option<String>,
}

/// Features in NumPy's precision.
#[derive(FromPyObject)]
pub(crate) enum PyFeatures<'py> {
    Double(PyReadonlyArray2<'py, f64>),
    Single(PyReadonlyArray2<'py, f32>),
}

impl PyFeatures<'_> {
    /// The same, borrowed.
    pub(crate) fn lend(&self) -> Features<'_> {
        match self {
            Self::Double(values) => values.as_array().into(),
            Self::Single(values) => values.as_array().into(),
        }
    }
}

impl PySession<'_> {
    /// The session, with borrowed features. It has labels only with `use_labels`. A session without a
    /// name is named by its `position`.
    pub(crate) fn lend(&self, position: usize, use_labels: bool) -> PyResult<Session<'_>> {
        self.lend_as(self.name.clone().unwrap_or_else(|| position.to_string()), use_labels)
    }

    fn lend_as(&self, name: String, use_labels: bool) -> PyResult<Session<'_>> {
        let (times, events) = (self.times.as_array().to_vec(), self.events.as_array().to_vec());
        let session = Session::new(name, self.features.lend(), times, events).map_err(to_python)?;
        let session = self.with_annotators(self.about(session))?;
        let session = match &self.rounded {
            Some(widths) => session.with_widths(widths.as_array().to_vec()).map_err(to_python)?,
            None => session,
        };
        let session = match &self.ends {
            Some(ends) => {
                let known = |end: &f64| Some(*end).filter(|end| !end.is_nan());
                session.with_ends(ends.as_array().iter().map(known).collect()).map_err(to_python)?
            }
            None => session,
        };
        let session = match &self.classes {
            Some(classes) => session.with_classes(classes).map_err(to_python)?,
            None => session,
        };
        let session = match &self.observed {
            Some(intervals) => {
                let intervals = intervals.as_array();
                let pairs = intervals.rows().into_iter().map(|row| (row[0], row[1])).collect();
                session.with_observed(pairs).map_err(to_python)?
            }
            None => session,
        };
        match &self.labels {
            Some(labels) if use_labels => {
                if let Some(classes) = &self.label_classes {
                    let labels = labels.as_array();
                    let label = |i: usize| match labels[i] {
                        0 => Some(Label::Nothing),
                        _ => classes[i].as_deref().map(Label::Event),
                    };
                    let all: Vec<Option<Label<'_>>> = (0..classes.len()).map(label).collect();
                    return session.with_class_labels(&all).map_err(to_python);
                }
                let known = |&label: &i8| (label >= 0).then_some(label > 0);
                session
                    .with_labels(labels.as_array().iter().map(known).collect())
                    .map_err(to_python)
            }
            _ => Ok(session),
        }
    }

    /// The session with what it has in common with others.
    fn about<'a>(&self, mut session: Session<'a>) -> Session<'a> {
        if let Some(subject) = &self.subject {
            session = session.with_subject(subject);
        }
        if let Some(device) = &self.device {
            session = session.with_device(device);
        }
        if let Some(clock) = &self.clock {
            session = session.with_clock(clock);
        }
        session
    }

    /// The session with who gave its stamps, if that is known.
    fn with_annotators<'a>(&self, session: Session<'a>) -> PyResult<Session<'a>> {
        match (&self.annotators, &self.also_annotated[..]) {
            (None, []) => Ok(session),
            (of_stamps, also) => {
                let of_stamps = of_stamps.as_deref().unwrap_or_default();
                session.with_annotators(of_stamps, also).map_err(to_python)
            }
        }
    }

    /// The session with its labels apart, if all are known: for evaluation, and for learners trained on them.
    fn recording_as(&self, name: String) -> PyResult<Recording<'_>> {
        let complete = |labels: &PyReadonlyArray1<'_, i8>| {
            let label = |&label: &i8| (label >= 0).then_some(label == 1);
            labels.as_array().iter().map(label).collect()
        };
        let truth = self.labels.as_ref().and_then(complete);
        Ok(Recording { session: self.lend_as(name, false)?, truth })
    }
}

/// The name of each session: its own, or its position if it has none. A position that equals another name
/// is changed.
fn names(sessions: &[PySession<'_>]) -> Vec<String> {
    let given: HashSet<&str> = sessions.iter().filter_map(|own| own.name.as_deref()).collect();
    let free = |position: usize| {
        let mut name = position.to_string();
        while given.contains(name.as_str()) {
            name.push_str(" (no name)");
        }
        name
    };
    let named = sessions.iter().enumerate();
    named.map(|(k, own)| own.name.clone().unwrap_or_else(|| free(k))).collect()
}

/// All sessions, lent.
pub(crate) fn lend<'a>(
    sessions: &'a [PySession<'_>],
    use_labels: bool,
) -> PyResult<Vec<Session<'a>>> {
    let named = sessions.iter().zip(names(sessions));
    named.map(|(session, name)| session.lend_as(name, use_labels)).collect()
}

/// All recordings, lent.
pub(crate) fn recordings<'a>(sessions: &'a [PySession<'_>]) -> PyResult<Vec<Recording<'a>>> {
    sessions.iter().zip(names(sessions)).map(|(session, name)| session.recording_as(name)).collect()
}
