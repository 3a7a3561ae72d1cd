//! Place and meaning of each parameter in the flat vector.
//!
//! The optimiser sees one vector of unconstrained numbers. Each part declares its parameters as
//! [`ParameterSpec`]s; a [`Layout`] concatenates them and is the only place that knows an index. Users
//! see *natural* values (a rate, a spread in seconds); [`Transform`] maps between the two.

use std::ops::Range;

use crate::math::{log_sum, logit, sigmoid};
use crate::{Error, Result};

/// The part that turns features into log-odds.
pub const CLASSIFIER: &str = "classifier";

/// How a natural value is made from unconstrained numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transform {
    /// natural = x
    Free,
    /// natural = eˣ > 0
    Positive,
    /// natural = eˣ, or 0 if it is frozen there
    Rate,
    /// natural = 1 + eˣ > 1
    AboveOne,
    /// natural = sigmoid(x)
    Probability,
    /// natural = softmax(x₁, …, x_{K−1}, 0): K values from K − 1 numbers
    Simplex,
}

impl Transform {
    /// Number of unconstrained numbers for `natural_len` natural values.
    pub fn dim(self, natural_len: usize) -> usize {
        match self {
            Transform::Simplex => natural_len - 1,
            _ => natural_len,
        }
    }

    /// Natural values of a parameter.
    pub fn natural(self, unconstrained: &[f64]) -> Vec<f64> {
        let map = |f: fn(f64) -> f64| unconstrained.iter().map(|&x| f(x)).collect();
        match self {
            Transform::Free => unconstrained.to_vec(),
            Transform::Positive | Transform::Rate => map(f64::exp),
            Transform::AboveOne => map(|x| 1.0 + x.exp()),
            Transform::Probability => map(sigmoid),
            Transform::Simplex => log_softmax(unconstrained).iter().map(|v| v.exp()).collect(),
        }
    }

    /// Unconstrained numbers of a parameter. An end of the range maps to ±∞, which is allowed only for a
    /// frozen parameter. The error says what was expected.
    pub fn unconstrained(self, natural: &[f64]) -> std::result::Result<Vec<f64>, &'static str> {
        if natural.iter().any(|v| !v.is_finite()) {
            return Err("a finite number");
        }
        let map = |inside: fn(f64) -> bool, f: fn(f64) -> f64, expected| {
            if natural.iter().all(|&v| inside(v)) {
                Ok(natural.iter().map(|&v| f(v)).collect())
            } else {
                Err(expected)
            }
        };
        match self {
            Transform::Free => Ok(natural.to_vec()),
            Transform::Positive => map(|v| v > 0.0, f64::ln, "a number above 0"),
            Transform::Rate => map(|v| v >= 0.0, f64::ln, "a number of at least 0"),
            Transform::AboveOne => map(|v| v >= 1.0, |v| (v - 1.0).ln(), "a number of at least 1"),
            Transform::Probability => {
                map(|v| (0.0..=1.0).contains(&v), logit, "a probability from 0 to 1")
            }
            Transform::Simplex => simplex_logits(natural),
        }
    }
}

/// log softmax(x₁, …, x_{K−1}, 0).
pub fn log_softmax(logits: &[f64]) -> Vec<f64> {
    let mut all = logits.to_vec();
    all.push(0.0);
    let total = log_sum(&all);
    all.iter_mut().for_each(|v| *v -= total);
    all
}

fn simplex_logits(natural: &[f64]) -> std::result::Result<Vec<f64>, &'static str> {
    let (last, rest) = natural.split_last().ok_or("at least one weight")?;
    // Weights typed by hand are rounded; a larger deviation is a mistake.
    if natural.iter().any(|&v| v < 0.0) || (natural.iter().sum::<f64>() - 1.0).abs() > 1e-6 {
        return Err("weights of at least 0 that sum to 1");
    }
    if *last == 0.0 {
        return Err("a last weight above 0");
    }
    Ok(rest.iter().map(|v| v.ln() - last.ln()).collect())
}

/// The entry that makes weights unusable; `None` if only their sum is wrong.
fn simplex_culprit(natural: &[f64]) -> Option<usize> {
    let no_weight = natural.iter().position(|v| !(v.is_finite() && *v >= 0.0));
    let sums_to_one = (natural.iter().sum::<f64>() - 1.0).abs() <= 1e-6;
    no_weight.or_else(|| sums_to_one.then(|| natural.len() - 1))
}

/// The meaning of a parameter, which decides its prior.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// A weight of the classifier.
    Weight,
    /// The classifier's constant term.
    Intercept,
    /// P(at least one stamp | negative).
    FalseRate,
    /// P(at least one stamp | positive).
    HitRate,
    /// Probabilities of the counts 1..C, given at least one stamp.
    CountSplit,
    /// A location of the delay.
    Delay,
    /// A scale of the delay; the prior is on its square.
    Spread,
    /// Weights of the components of a mixture.
    MixtureWeight,
    /// Degrees of freedom of a Student-t.
    DegreesOfFreedom,
    /// Shape of a Gamma.
    Shape,
    /// Stamps per unit of time that no instance gives.
    Background,
    /// Runs that begin per unit of time, in a chain over labels.
    OnsetRate,
    /// Runs that end per unit of time of a run.
    OffsetRate,
    /// What events of one class are recorded as, by class; the number is that of their own.
    Confusion(usize),
    /// By how much a group differs from all others.
    Deviation,
}

/// A named group of parameters, as a part declares it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParameterSpec {
    /// Name within the part, such as "spread".
    pub name: String,
    /// Number of natural values.
    pub len: usize,
    /// How natural values are made.
    pub transform: Transform,
    /// Their meaning.
    pub role: Role,
    /// The power of the unit of time with which natural values scale: 1 for times, −1 for rates.
    pub time_power: i32,
}

impl ParameterSpec {
    /// A parameter whose values are not times.
    pub fn new(name: &str, len: usize, transform: Transform, role: Role) -> Self {
        Self { name: name.to_owned(), len, transform, role, time_power: 0 }
    }

    /// The same parameter with times as values.
    pub fn in_time(self) -> Self {
        Self { time_power: 1, ..self }
    }

    /// The same parameter with numbers per unit of time as values.
    pub fn per_time(self) -> Self {
        Self { time_power: -1, ..self }
    }
}

/// A parameter at its place in the flat vector.
#[derive(Debug, Clone)]
pub struct Parameter {
    /// Full name, such as "noise.spread".
    pub name: String,
    /// The part's declaration.
    pub spec: ParameterSpec,
    /// Its unconstrained numbers within the flat vector.
    pub range: Range<usize>,
}

impl Parameter {
    /// Natural values, times being multiples of `time_unit`.
    pub fn natural(&self, params: &[f64], time_unit: f64) -> Vec<f64> {
        let mut natural = self.spec.transform.natural(&params[self.range.clone()]);
        let scale = time_unit.powi(self.spec.time_power);
        natural.iter_mut().for_each(|v| *v *= scale);
        natural
    }

    /// One of its natural values.
    pub(crate) fn natural_entry(&self, params: &[f64], time_unit: f64, entry: usize) -> f64 {
        match self.spec.transform {
            Transform::Free => {
                params[self.range.start + entry] * time_unit.powi(self.spec.time_power)
            }
            _ => self.natural(params, time_unit)[entry],
        }
    }

    /// Unconstrained numbers for natural values given in the user's unit of time.
    pub fn unconstrained(&self, natural: &[f64], time_unit: f64) -> Result<Vec<f64>> {
        let scale = time_unit.powi(self.spec.time_power);
        let scaled: Vec<f64> = natural.iter().map(|v| v / scale).collect();
        let expected = match self.spec.transform.unconstrained(&scaled) {
            Ok(numbers) => return Ok(numbers),
            Err(expected) => expected,
        };
        let bad = |v: &f64| self.spec.transform.unconstrained(&[*v]).is_err();
        let culprit = match self.spec.transform {
            Transform::Simplex => simplex_culprit(natural),
            _ => Some(natural.iter().position(bad).unwrap_or(0)),
        };
        let (name, value) = match culprit {
            None => (format!("the sum of {}", self.name), natural.iter().sum()),
            Some(k) if natural.len() > 1 => (format!("{}[{k}]", self.name), natural[k]),
            Some(k) => (self.name.clone(), natural[k]),
        };
        Err(Error::OutOfRange { name, value, expected })
    }
}

/// The layout of the flat vector: named parts in order, each with its parameters.
#[derive(Debug, Clone)]
pub struct Layout {
    parts: Vec<(String, Range<usize>)>,
    parameters: Vec<Parameter>,
    dim: usize,
}

impl Layout {
    /// Concatenates the parts' parameters.
    pub fn new(parts: Vec<(impl Into<String>, Vec<ParameterSpec>)>) -> Self {
        let mut layout = Self { parts: Vec::new(), parameters: Vec::new(), dim: 0 };
        for (part, specs) in parts {
            let (part, start) = (part.into(), layout.dim);
            for spec in specs {
                let range = layout.dim..layout.dim + spec.transform.dim(spec.len);
                layout.dim = range.end;
                let name = format!("{part}.{}", spec.name);
                layout.parameters.push(Parameter { name, spec, range });
            }
            layout.parts.push((part, start..layout.dim));
        }
        layout
    }

    /// Length of the flat vector.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// All parameters, in order.
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// The range of a part in the flat vector; empty if there is no such part.
    pub fn part(&self, name: &str) -> Range<usize> {
        let own = self.parts.iter().find(|(part, _)| part == name);
        own.map_or(self.dim..self.dim, |(_, range)| range.clone())
    }

    /// The parameter that a number of the flat vector belongs to.
    pub(crate) fn at(&self, place: usize) -> Option<&Parameter> {
        self.parameters.iter().find(|own| own.range.contains(&place))
    }

    /// The parameter of that full name.
    pub fn parameter(&self, name: &str) -> Result<&Parameter> {
        self.parameters.iter().find(|b| b.name == name).ok_or_else(|| self.unknown(name))
    }

    fn unknown(&self, name: &str) -> Error {
        let known: Vec<&str> = self.parameters.iter().map(|b| b.name.as_str()).collect();
        Error::UnknownParameter { name: name.to_owned(), known: known.join(", ") }
    }

    /// Resolves `part.name` (a whole parameter) or `part.name[k]` (one entry) and its natural values to
    /// positions in the flat vector and unconstrained numbers.
    pub fn resolve(
        &self,
        name: &str,
        natural: &[f64],
        time_unit: f64,
    ) -> Result<(Range<usize>, Vec<f64>)> {
        let (base, entry) = match name.strip_suffix(']').and_then(|s| s.split_once('[')) {
            Some((base, index)) => (base, index.parse::<usize>().ok()),
            None => (name, None),
        };
        let parameter = self.parameter(base)?;
        let range = match entry {
            // A single entry of a simplex has no unconstrained number.
            Some(k) if k < parameter.spec.len && parameter.spec.transform != Transform::Simplex => {
                parameter.range.start + k..parameter.range.start + k + 1
            }
            None if base == name => parameter.range.clone(),
            _ => return Err(self.unknown(name)),
        };
        let expected = if entry.is_some() { 1 } else { parameter.spec.len };
        if natural.len() != expected {
            let found = natural.len();
            return Err(Error::ParameterLength { name: name.to_owned(), found, expected });
        }
        Ok((range, parameter.unconstrained(natural, time_unit)?))
    }
}

/// The parameters of a part from natural values, each given once.
pub fn from_natural(
    part: &'static str,
    parameters: Vec<ParameterSpec>,
    values: &[(&str, &[f64])],
) -> Result<Vec<f64>> {
    let layout = Layout::new(vec![(part, parameters)]);
    let mut params = vec![f64::NAN; layout.dim()];
    for (name, natural) in values {
        let (range, numbers) = layout.resolve(&format!("{part}.{name}"), natural, 1.0)?;
        params[range].copy_from_slice(&numbers);
    }
    for parameter in layout.parameters() {
        if !values.iter().any(|(name, _)| *name == parameter.spec.name) {
            let (name, expected) = (parameter.name.clone(), parameter.spec.len);
            return Err(Error::ParameterLength { name, found: 0, expected });
        }
    }
    Ok(params)
}
