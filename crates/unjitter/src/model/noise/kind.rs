//! The description of a noise model, in one place: the command line makes its options from it, Python its
//! classes, and the tests their cases.

use serde::Serialize;

use super::{Noise, NoiseModel};
use crate::error::require;
use crate::{Error, Result};

/// A description of a noise model: a row of the table [`Noise::kinds`].
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Kind {
    /// Its name in files and in Python, in snake case.
    pub name: &'static str,
    /// One line about it, without a full stop.
    pub about: &'static str,
    /// The learned parameters of the model, in their order.
    pub parameters: &'static [Parameter],
    /// The fixed settings.
    pub settings: &'static [Setting],
    /// Builds the model from its settings, which are in range, for this unit of time.
    #[serde(skip)]
    pub(super) build: Build,
    /// Unconstrained parameters at which tests check the laws of all noise models.
    #[cfg(test)]
    #[serde(skip)]
    pub(super) corners: fn() -> Vec<(Noise, Vec<f64>)>,
}

type Build = fn(&[f64], f64) -> Result<Box<dyn NoiseModel>>;

/// A parameter that is learned, or given as a natural value.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Parameter {
    /// The name of its parameter.
    pub name: &'static str,
    /// One line about it, without a full stop.
    pub about: &'static str,
    /// Whether it is a list, as long as the [length](Value::Length) among the settings.
    pub is_list: bool,
    /// An ordinary value.
    pub example: &'static [f64],
}

/// A setting: a number that is part of the model and is not learned.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Setting {
    /// Its name in files, in Python and, with hyphens, on the command line.
    pub name: &'static str,
    /// One line about it, without a full stop.
    pub about: &'static str,
    /// The type of its value.
    pub value: Value,
    /// Least and largest.
    #[serde(skip)]
    pub range: (f64, f64),
    /// The range in words.
    pub expected: &'static str,
    /// Its default; a setting without one must be given.
    pub default: Option<f64>,
    /// An ordinary value.
    pub example: f64,
}

/// The type of a setting's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Value {
    /// A plain number.
    Number,
    /// A time in the unit of the data.
    Time,
    /// A whole number: the length of the parameters that are lists.
    Length,
}

impl Kind {
    /// The noise model with all of its settings, in their order.
    pub fn noise(&self, settings: &[f64]) -> Result<Noise> {
        for (setting, &value) in self.settings.iter().zip(settings) {
            let fits = setting.value != Value::Length || value.fract() == 0.0;
            require(&setting.full_name(), value, fits, setting.expected)?;
        }
        Noise::from_row(self.name, settings).ok_or_else(|| Error::ParameterLength {
            name: format!("the settings of {} noise", self.name),
            found: settings.len(),
            expected: self.settings.len(),
        })
    }

    /// The noise model with ordinary settings.
    pub fn example(&self) -> Noise {
        let settings: Vec<f64> = self.settings.iter().map(|setting| setting.example).collect();
        self.noise(&settings).expect("a row of the table has examples that fit")
    }

    /// Ordinary natural values, for [`Noise::with`].
    pub fn example_values(&self) -> Vec<(&'static str, &'static [f64])> {
        self.parameters.iter().map(|parameter| (parameter.name, parameter.example)).collect()
    }
}

impl Parameter {
    /// One number.
    pub(super) const fn number(
        name: &'static str,
        about: &'static str,
        example: &'static [f64; 1],
    ) -> Self {
        Self { name, about, is_list: false, example }
    }
}

impl Setting {
    fn full_name(&self) -> String {
        format!("noise.{}", self.name)
    }

    /// Fails if the value is out of range.
    pub(super) fn check(&self, value: f64) -> Result<()> {
        let (least, most) = self.range;
        require(&self.full_name(), value, (least..=most).contains(&value), self.expected)
    }
}
