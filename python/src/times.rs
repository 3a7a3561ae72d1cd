//! Times as text, read by the library so that Python and the command line agree.

use numpy::{IntoPyArray, PyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use unjitter::io::{Clock, TimeUnit};

/// Texts of one kind: numbers, or dates in nanoseconds since 1970 with, if they have zones, the seconds
/// that each is ahead of UTC.
#[derive(IntoPyObject)]
pub(crate) enum Times<'py> {
    Numbers(Bound<'py, PyArray1<f64>>),
    Dates(Bound<'py, PyArray1<i64>>, Option<Bound<'py, PyArray1<i32>>>),
}

/// One text.
#[derive(Clone, Copy)]
enum Time {
    Number(f64),
    Date(i64, Option<i32>),
}

impl Time {
    fn read(text: &str) -> Result<Self, String> {
        let clock = Clock::starting_at(text, TimeUnit::S).map_err(|words| expected(&words))?;
        if clock.is_time_of_day() {
            return Err(expected("a date or a number: a time of day alone has no day"));
        }
        match (clock.moment(), clock.zero_in_seconds()) {
            (Some((moment, offset)), _) => match i64::try_from(moment) {
                // NumPy uses the least of them for a missing date.
                Ok(moment) if moment > i64::MIN => Ok(Self::Date(moment, offset)),
                _ => Err(expected("a date from 1678 to 2261, as nanoseconds can count")),
            },
            (None, zero) => {
                let since_zero = clock.seconds(text).map_err(|words| expected(&words))?;
                Ok(Self::Number(zero.unwrap_or(0.0) + since_zero))
            }
        }
    }

    fn kind(self) -> &'static str {
        match self {
            Self::Number(_) => "a number",
            Self::Date(_, None) => "a date without a zone",
            Self::Date(_, Some(_)) => "a date with a zone",
        }
    }
}

fn expected(words: &str) -> String {
    format!(", expected {words}")
}

/// Times as in tables. All are of the kind of the first.
#[pyfunction]
pub(crate) fn read_times(py: Python<'_>, texts: Vec<String>) -> PyResult<Times<'_>> {
    let mut numbers = Vec::new();
    let (mut moments, mut offsets) = (Vec::new(), Vec::new());
    let mut first = None;
    for (position, text) in texts.iter().enumerate() {
        let refuse =
            |words| PyValueError::new_err(format!("{text:?} at position {position}{words}"));
        let time = Time::read(text.trim()).map_err(refuse)?;
        let kind = *first.get_or_insert(time.kind());
        if time.kind() != kind {
            let words = format!(" is {}, but the first is {kind}", time.kind());
            return Err(refuse(words));
        }
        match time {
            Time::Number(value) => numbers.push(value),
            Time::Date(moment, offset) => {
                moments.push(moment);
                offsets.extend(offset);
            }
        }
    }
    if moments.is_empty() {
        return Ok(Times::Numbers(numbers.into_pyarray(py)));
    }
    let zoned = !offsets.is_empty();
    Ok(Times::Dates(moments.into_pyarray(py), zoned.then(|| offsets.into_pyarray(py))))
}
