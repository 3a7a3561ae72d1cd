//! Stamp files of other programs, read and written by the library.

use std::path::PathBuf;
use std::sync::Arc;

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use unjitter::io::{MovedStamps, packed_for, write_stamps};
use unjitter::stamps::{self, FORMATS, Format, Found, Origin, ReadOptions, TierName, WriteOptions};

use crate::convert::to_python;

/// Microseconds since 1970, of UTC or of an unknown zone, and the seconds that the zone is ahead of UTC.
type Moment = (i64, Option<i32>);

fn moment(origin: Origin) -> Moment {
    let micros = origin.nanoseconds.div_euclid(1000);
    (i64::try_from(micros).unwrap_or(i64::MAX), origin.offset)
}

fn origin((micros, offset): Moment) -> Origin {
    Origin { nanoseconds: i128::from(micros) * 1000, offset }
}

/// A file with stamps, as it was read.
#[pyclass(frozen, module = "unjitter._core")]
#[derive(Debug)]
pub(crate) struct StampFile(Arc<stamps::StampFile>);

/// Stamps: times, labels, durations, origin.
type Columns<'py> =
    (Bound<'py, PyArray1<f64>>, Vec<String>, Bound<'py, PyArray1<f64>>, Option<Moment>);

#[pymethods]
impl StampFile {
    /// Reads a file.
    #[new]
    #[pyo3(signature = (path, format, **options))]
    fn new(
        py: Python<'_>,
        path: PathBuf,
        format: &str,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let format = Format::named(format).map_err(to_python)?;
        let options = read_options(options)?;
        let read = py.detach(|| stamps::StampFile::read(&path, Some(format), &options));
        Ok(Self(Arc::new(read.map_err(to_python)?)))
    }

    /// Its stamps, in the order of the file.
    fn found<'py>(&self, py: Python<'py>) -> Columns<'py> {
        let Found { times, durations, labels, origin, .. } = self.0.found().clone();
        (times.into_pyarray(py), labels, durations.into_pyarray(py), origin.map(moment))
    }

    /// The name of the format to write it in under a name.
    fn format_for(&self, path: PathBuf) -> PyResult<&'static str> {
        Ok(self.0.format_for(&path).map_err(to_python)?.name)
    }

    /// Whether second 0 is that of the first stamp only because nothing tells when the recording began.
    #[getter]
    fn origin_is_guess(&self) -> bool {
        self.0.found().origin_is_guess
    }

    /// Writes all of it with its stamps at `times`, without those that are not `kept`; those that last until
    /// `ends`, unless that is NaN, end there.
    #[pyo3(signature = (path, times, kept, overwrite, ends=None))]
    fn write(
        &self,
        py: Python<'_>,
        path: PathBuf,
        times: PyReadonlyArray1<'_, f64>,
        kept: PyReadonlyArray1<'_, bool>,
        overwrite: bool,
        ends: Option<PyReadonlyArray1<'_, f64>>,
    ) -> PyResult<()> {
        let (times, kept) = (times.as_slice()?.to_vec(), kept.as_slice()?.to_vec());
        let file = match ends {
            None => self.0.clone(),
            Some(ends) => {
                let told = |&end: &f64| (!end.is_nan()).then_some(end);
                Arc::new(self.0.with_ends(ends.as_slice()?.iter().map(told).collect()))
            }
        };
        let moved = MovedStamps { file, times, kept, path: path.clone() };
        py.detach(|| write_stamps(&path, overwrite, &moved)).map_err(to_python)
    }
}

/// Name, description, options of reading, options of writing, those that are needed, whether files may be packed.
type Described = (
    &'static str,
    &'static str,
    &'static [&'static str],
    &'static [&'static str],
    &'static [&'static str],
    bool,
);

/// All formats.
#[pyfunction]
pub(crate) fn stamp_formats() -> Vec<Described> {
    let described = |format: &Format| {
        let &Format { name, description, reads, writes, needs, packable, .. } = format;
        (name, description, reads, writes, needs, packable)
    };
    FORMATS.iter().map(described).collect()
}

/// The name of the format that the name of a file tells.
#[pyfunction]
pub(crate) fn stamp_format_by_name(path: PathBuf) -> Option<&'static str> {
    Format::told_by_name(&path).map(|format| format.name)
}

/// The name of the format of a file.
#[pyfunction]
pub(crate) fn stamp_format_by_file(path: PathBuf) -> PyResult<&'static str> {
    Ok(Format::told_by_file(&path).map_err(to_python)?.name)
}

/// Writes a file of stamps alone, which are in order of time.
#[pyfunction]
#[pyo3(signature = (path, format, times, labels, durations, moment, overwrite, **options))]
#[expect(clippy::too_many_arguments, reason = "columns, and where they go")]
pub(crate) fn write_new_stamps(
    py: Python<'_>,
    path: PathBuf,
    format: &str,
    times: PyReadonlyArray1<'_, f64>,
    labels: Vec<String>,
    durations: PyReadonlyArray1<'_, f64>,
    moment: Option<Moment>,
    overwrite: bool,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<()> {
    let format = Format::named(format).map_err(to_python)?;
    let found = Found {
        times: times.as_slice()?.to_vec(),
        durations: durations.as_slice()?.to_vec(),
        labels,
        origin: moment.map(origin),
        ..Found::default()
    };
    let options = write_options(options)?;
    py.detach(|| {
        let content = packed_for(&path, stamps::compose(format, &found, &options)?);
        write_stamps(&path, overwrite, &content)
    })
    .map_err(to_python)
}

/// Writes bytes to a file, whole or not at all.
#[pyfunction]
pub(crate) fn write_whole(py: Python<'_>, path: PathBuf, content: &[u8]) -> PyResult<()> {
    py.detach(|| unjitter::io::replace(&path, content)).map_err(to_python)
}

/// The moment that an ISO-8601 text spells.
#[pyfunction]
pub(crate) fn read_moment(text: &str) -> PyResult<Moment> {
    Ok(moment(Origin::parse(text).map_err(to_python)?))
}

/// An option that is there and not None.
fn option<'py, T>(options: Option<&Bound<'py, PyDict>>, name: &str) -> PyResult<Option<T>>
where
    T: for<'a> FromPyObject<'a, 'py>,
    for<'a> <T as FromPyObject<'a, 'py>>::Error: Into<PyErr>,
{
    let Some(value) = options.map(|options| options.get_item(name)).transpose()?.flatten() else {
        return Ok(None);
    };
    match value.is_none() {
        true => Ok(None),
        false => value.extract().map(Some).map_err(Into::into),
    }
}

fn read_options(options: Option<&Bound<'_, PyDict>>) -> PyResult<ReadOptions> {
    let tier = match option::<i64>(options, "tier") {
        Ok(number) => number.map(TierName::Numbered),
        Err(_) => option(options, "tier")?.map(TierName::Named),
    };
    Ok(ReadOptions {
        time: option(options, "time")?,
        label: option(options, "label")?,
        duration: option(options, "duration")?,
        origin: option(options, "origin")?.map(origin),
        encoding: option(options, "encoding")?,
        fs: option(options, "fs")?,
        tier,
    })
}

fn write_options(options: Option<&Bound<'_, PyDict>>) -> PyResult<WriteOptions> {
    Ok(WriteOptions {
        time: option(options, "time")?,
        label: option(options, "label")?,
        duration: option(options, "duration")?,
        delimiter: option(options, "delimiter")?,
        dates: option(options, "dates")?.unwrap_or(false),
        fs: option(options, "fs")?,
        tier: option(options, "tier")?,
        end: option(options, "end")?,
    })
}
