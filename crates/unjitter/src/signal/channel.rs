//! One channel of a sensor: checked values at times.

use crate::session::check_order;
use crate::{Error, Result};

/// Samples of one channel, in order of time. Sampling may be irregular and have gaps.
#[derive(Debug, Clone, PartialEq)]
pub struct Signal {
    times: Vec<f64>,
    values: Vec<f64>,
    missing: usize,
}

impl Signal {
    /// One value per time, in seconds; times are finite and do not decrease. A value that is NaN is
    /// a missing sample: it is dropped and counted. An infinite value is an error.
    pub fn new(times: Vec<f64>, values: Vec<f64>) -> Result<Self> {
        if times.len() != values.len() {
            return Err(Error::SignalLength { times: times.len(), values: values.len() });
        }
        check_order("time", &times)?;
        if let Some(index) = values.iter().position(|value| value.is_infinite()) {
            let expected = "a finite number, or NaN for a missing sample";
            return Err(Error::BadInput { what: "value", index, value: values[index], expected });
        }
        let all = times.len();
        let (times, values): (Vec<f64>, Vec<f64>) =
            times.into_iter().zip(values).filter(|(_, value)| !value.is_nan()).unzip();
        let missing = all - times.len();
        Ok(Self { times, values, missing })
    }

    /// Times of the samples that are there, in seconds.
    pub fn times(&self) -> &[f64] {
        &self.times
    }

    /// Their values.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Number of samples that are there.
    pub fn len(&self) -> usize {
        self.times.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    /// How many samples were NaN and were dropped.
    pub fn missing(&self) -> usize {
        self.missing
    }
}
