//! Conversion of errors and settings.

use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use unjitter::Error;

/// The library's message in the exception that Python users expect: `ValueError` for input, and the
/// system's error for files (`FileNotFoundError` and the like).
pub(crate) fn to_python(error: Error) -> PyErr {
    match error {
        Error::Io { path, source } => match source.raw_os_error() {
            Some(number) => {
                PyOSError::new_err((number, source.to_string(), path.display().to_string()))
            }
            None => PyOSError::new_err(format!("{}: {source}", path.display())),
        },
        other => {
            let cure = cure(&other).unwrap_or_default();
            PyValueError::new_err(format!("{other}{cure}"))
        }
    }
}

/// The argument that helps, which the library does not know.
fn cure(error: &Error) -> Option<String> {
    match error {
        Error::NumbersForNames { .. } => {
            Some("; if there is no header, say header=False".to_owned())
        }
        Error::NoColumn { field, .. } => Some(format!(" (it may be named with {}=...)", (*field)?)),
        Error::UnnamedColumn { field, columns, .. } => {
            let (field, example) = ((*field)?, (*columns).min(2));
            Some(format!("; name it by its number, as in {field}=\"{example}\""))
        }
        Error::StampContent { option, .. } | Error::StampFile { option, .. } => {
            Some(format!("; pass {}=", (*option)?))
        }
        _ => None,
    }
}

/// Settings in the form of model files. The Python half writes them, so a mistake here is one of values,
/// such as an unknown name.
pub(crate) fn from_json<T: serde::de::DeserializeOwned>(what: &str, text: &str) -> PyResult<T> {
    serde_json::from_str(text).map_err(|error| PyValueError::new_err(format!("{what}: {error}")))
}

/// Settings as JSON, for the Python half to read.
pub(crate) fn to_json<T: serde::Serialize>(value: &T) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| PyValueError::new_err(error.to_string()))
}
