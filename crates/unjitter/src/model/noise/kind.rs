//! What a noise model says of itself, once, for everybody who asks: the command line makes its
//! options of it, Python its classes, and the tests their cases.

use serde::Serialize;

use super::{Noise, NoiseModel};
use crate::error::require;
use crate::{Error, Result};

/// A noise model in words: a row of the table [`Noise::kinds`].
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Kind {
    /// Its name in files and in Python, in snake case.
    pub name: &'static str,
    /// One line about it, without a full stop.
    pub about: &'static str,
    /// What is learned: the parameters of the model, in their order.
    pub parameters: &'static [Parameter],
    /// What is fixed.
    pub settings: &'static [Setting],
    /// Builds the model from its settings, which are in their ranges, for this unit of time.
    #[serde(skip)]
    pub(super) build: Build,
    /// Unconstrained parameters at which tests hold it to the laws of all noise models.
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
    /// Whether it has as many values as the [length](Value::Length) among the settings says.
    pub is_list: bool,
    /// An ordinary value.
    pub example: &'static [f64],
}

/// A setting: a number that belongs to the model itself, and that nobody learns.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Setting {
    /// Its name in files, in Python and, with hyphens, on the command line.
    pub name: &'static str,
    /// One line about it, without a full stop.
    pub about: &'static str,
    /// What number it is.
    pub value: Value,
    /// Least and largest.
    #[serde(skip)]
    pub range: (f64, f64),
    /// The range in words.
    pub expected: &'static str,
    /// What it is where nobody says; without that it must be given.
    pub default: Option<f64>,
    /// An ordinary value.
    pub example: f64,
}

/// What number a setting is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Value {
    /// A plain number.
    Number,
    /// A time in the unit of the data.
    Time,
    /// A whole number: how many values those parameters have that are lists.
    Length,
}

impl Kind {
    /// The noise model with these settings, all of them and in their order.
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

    /// Refuses what is out of range.
    pub(super) fn check(&self, value: f64) -> Result<()> {
        let (least, most) = self.range;
        require(&self.full_name(), value, (least..=most).contains(&value), self.expected)
    }
}
