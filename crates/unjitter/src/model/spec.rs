//! What to fit: parts, priors and frozen parameters.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::classes::{Classes, check_classes};
use super::classifier::ClassifierSpec;
use super::counts::Counts;
use super::groups::{Factor, Variation, Varying};
use super::labelling::Labelling;
use super::noise::Noise;
use super::one_annotator::OneAnnotator;
use crate::error::require;
use crate::inference::Order;
use crate::labels::{Labels, Variable};
use crate::params::{Layout, Parameter, Role};
use crate::prior::Priors;
use crate::{Error, Result, Session};

/// A model before it has seen data. Any classifier combines with any counts and any noise.
///
/// ```
/// use unjitter::{Activation, ClassifierSpec, Counts, Model, Noise};
///
/// let model = Model {
///     classifier: ClassifierSpec::Mlp { hidden: vec![8], activation: Activation::Tanh },
///     counts: Counts::Poisson,
///     noise: Noise::StudentT,
///     ..Model::default()
/// }
/// .freeze("noise.delay", 0.0);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Model {
    /// Features to log-odds.
    pub classifier: ClassifierSpec,
    /// Number of stamps per instance.
    pub counts: Counts,
    /// Delays of the stamps.
    pub noise: Noise,
    /// Whether stamps keep the order of their instances.
    pub alignment: Order,
    /// Priors on all parameters.
    pub priors: Priors,
    /// The range of delays that is likely, in the unit of the data: a prior in words, in place of the one
    /// on the delay. Where stamps tell the ends of bouts, it is that of their beginnings.
    pub delay: Option<(f64, f64)>,
    /// The unit in which priors measure delays and spreads, in the unit of the data; by default the
    /// median spacing of instances.
    pub time_unit: Option<f64>,
    /// Parameters frozen at natural values, by name.
    pub frozen: Vec<Frozen>,
    /// How labels of neighbouring instances depend on each other.
    #[serde(skip_serializing_if = "is_default")]
    pub labels: Labels,
    /// What of a run stamps are about, if labels form a chain.
    #[serde(skip_serializing_if = "is_default")]
    pub stamps: Variable,
    /// Classes of events, in order of their names; none to learn those that sessions have.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<String>,
    /// Whether stamps tell the ends of runs too, with noise and rates of their own. Sessions with ends make it so.
    #[serde(skip_serializing_if = "is_default")]
    pub ends: bool,
    /// Numbers of the annotator that differ between groups of stamps.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub varies: Vec<Variation>,
    /// The furthest that delays or clocks of groups are looked for, in the unit of the data; by default twice
    /// the mean time between stamps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock_range: Option<f64>,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// A frozen parameter (`noise.delay`), or one frozen entry (`classifier.weights[2]`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Frozen {
    /// Name of the parameter or entry.
    pub name: String,
    /// Its natural values, in the unit of the data.
    pub values: Vec<f64>,
}

/// Natural values of a parameter: one number, or several.
#[derive(Debug, Clone, PartialEq)]
pub struct Natural(Vec<f64>);

impl From<f64> for Natural {
    fn from(value: f64) -> Self {
        Self(vec![value])
    }
}

impl From<Vec<f64>> for Natural {
    fn from(values: Vec<f64>) -> Self {
        Self(values)
    }
}

impl From<&[f64]> for Natural {
    fn from(values: &[f64]) -> Self {
        Self(values.to_vec())
    }
}

impl<const N: usize> From<&[f64; N]> for Natural {
    fn from(values: &[f64; N]) -> Self {
        Self(values.to_vec())
    }
}

impl Default for Model {
    /// Logistic regression, one stamp per event or several as the data say, Gaussian delays, in any order.
    fn default() -> Self {
        Self {
            classifier: ClassifierSpec::Logistic,
            counts: Counts::Auto,
            noise: Noise::Gaussian,
            alignment: Order::Free,
            priors: Priors::default(),
            delay: None,
            time_unit: None,
            frozen: Vec::new(),
            labels: Labels::default(),
            stamps: Variable::default(),
            classes: Vec::new(),
            ends: false,
            varies: Vec::new(),
            clock_range: None,
        }
    }
}

impl Model {
    /// The same model with a number of the annotator that differs between groups of stamps.
    pub fn varying(mut self, what: Varying, by: Factor) -> Self {
        self.varies.push(Variation { what, by });
        self
    }

    /// The same model with clocks that are off, and run fast or slow, each by its own amount.
    pub fn with_clocks(self, by: Factor) -> Self {
        self.varying(Varying::Offset, by).varying(Varying::Drift, by)
    }

    /// The same model with a parameter frozen at its natural value, or values if it has several.
    pub fn freeze(mut self, name: &str, values: impl Into<Natural>) -> Self {
        self.frozen.push(Frozen { name: name.to_owned(), values: values.into().0 });
        self
    }

    /// The classes of events by name.
    pub(crate) fn class_names(&self) -> Classes {
        Classes::new(&self.classes)
    }

    /// How labels depend on each other, and what of them stamps are about.
    pub(crate) fn labelling(&self) -> Labelling {
        Labelling { labels: self.labels, stamps: self.stamps, ends: self.ends }
    }

    /// The same model for these sessions: stamps that tell when bouts ended need labels that form runs.
    pub fn for_ends_of(&self, sessions: &[Session<'_>]) -> Result<Self> {
        let Some(session) = sessions.iter().find(|session| session.has_ends()) else {
            return Ok(self.clone());
        };
        if self.stamps != Variable::Onset {
            return Err(Error::EndsOfOther { session: session.name().to_owned() });
        }
        Ok(Self { labels: Labels::Chain, ends: true, ..self.clone() })
    }

    /// The same model with the classes of these sessions, unless it has its own, which must be among these then.
    pub(crate) fn with_classes_of(&self, sessions: &[Session<'_>]) -> Result<Self> {
        let mut model = self.clone();
        if model.classes.is_empty() {
            let names: BTreeSet<&String> = sessions.iter().flat_map(Session::classes).collect();
            model.classes = names.into_iter().cloned().collect();
        }
        // Some of what may be asked of one class may not be of several.
        model.check_stamps()?;
        sessions.iter().try_for_each(|session| model.check_classes(session))?;
        Ok(model)
    }

    /// Whether every label is a yes or no of its own.
    fn are_labels_plain(&self) -> bool {
        self.labels == Labels::Independent && self.classes.len() < 2
    }

    /// The error for something that supposes labels that are a yes or no of their own.
    fn not_plain(&self, what: &'static str, instead: &'static str) -> Error {
        match self.labels {
            Labels::Chain => Error::NotOfChain { what, instead },
            Labels::Independent => Error::SeveralClasses { what, classes: self.classes.join(", ") },
        }
    }

    /// The error for a share of other instances that are stamped, which only plain labels have.
    fn no_false_rate(&self) -> Error {
        self.not_plain("a false rate", "stamps for nothing are those of the background")
    }

    /// Fails if labels that form a chain, or are of several classes, cannot have been stamped like this.
    fn check_stamps(&self) -> Result<()> {
        if self.are_labels_plain() {
            return Ok(());
        }
        if self.varies.iter().any(|own| own.what == Varying::FalseRate) {
            return Err(self.no_false_rate());
        }
        if self.counts != Counts::Poisson && self.counts.build()?.max_count() != Some(1) {
            let instead =
                "take counts of one stamp at most (bernoulli), or of any number (poisson)";
            return Err(self.not_plain("this model of counts", instead));
        }
        let is_silent = |own: &Frozen| {
            let name = own.name.trim_start_matches("ends.").trim_end_matches("[0]");
            name == "background.rate" && own.values.contains(&0.0)
        };
        if self.frozen.iter().any(is_silent) {
            let instead = "all stamps for nothing are those of the background";
            return Err(self.not_plain("a background.rate held at 0", instead));
        }
        Ok(())
    }

    /// Fails if a session has classes that a model with classes does not know, or an event without one.
    pub(crate) fn check_classes(&self, session: &Session<'_>) -> Result<()> {
        if self.classes.is_empty() {
            return Ok(());
        }
        let name = || session.name().to_owned();
        let is_known = |class: &&String| self.classes.binary_search(class).is_ok();
        if let Some(class) = session.classes().iter().find(|class| !is_known(class)) {
            let (class, known) = (class.clone(), self.classes.join(", "));
            return Err(Error::UnknownClass { session: name(), class, known });
        }
        let is_event = |&i: &usize| session.label(i) == Some(true);
        let is_bare = |i: &usize| is_event(i) && session.class_label(*i).is_none();
        match (0..session.len()).find(is_bare).filter(|_| self.classes.len() > 1) {
            Some(instance) => Err(Error::LabelWithoutClass { session: name(), instance }),
            None => Ok(()),
        }
    }

    /// The model of the stamps, whose times are in this unit; so many of them per unit of the data are usual,
    /// if the background goes with them.
    pub(crate) fn stamp_model(
        &self,
        time_unit: f64,
        stamp_rate: Option<f64>,
    ) -> Result<OneAnnotator> {
        let (counts, noise) = (self.counts.build()?, self.noise.build(time_unit)?);
        let annotator = OneAnnotator::new(counts.into(), noise.into()).with_order(self.alignment);
        Ok(match stamp_rate {
            Some(rate) => annotator.with_proportional_background(rate * time_unit),
            None => annotator.with_background(),
        })
    }

    /// The paper's model: stamps in order, one at most per instance, none from nowhere, and its priors.
    pub fn paper() -> Self {
        let model = Self {
            counts: Counts::Bernoulli,
            alignment: Order::Ordered,
            priors: Priors::paper(),
            ..Self::default()
        };
        model.freeze("background.rate", 0.0)
    }

    /// Checks everything that needs no data.
    pub(crate) fn check(&self) -> Result<()> {
        self.priors.check()?;
        if let Some((earliest, latest)) = self.delay {
            require(
                "delay: earliest",
                earliest,
                earliest < latest,
                "a finite number below the latest",
            )?;
            require("delay: latest", latest, true, "a finite number")?;
        }
        if let Some(range) = self.clock_range {
            require("clock_range", range, range > 0.0, "a time above 0")?;
        }
        check_classes(&self.classes)?;
        if self.ends && (self.labels, self.stamps) != (Labels::Chain, Variable::Onset) {
            return Err(Error::EndsWithoutRuns);
        }
        if self.labels == Labels::Independent && self.stamps != Variable::default() {
            return Err(Error::NoRuns { stamps: self.stamps.name() });
        }
        self.check_stamps()?;
        for (k, variation) in self.varies.iter().enumerate() {
            let is_clock = matches!(variation.what, Varying::Offset | Varying::Drift);
            if is_clock && variation.by == Factor::Class {
                return Err(Error::ClockOfClass { variation: variation.to_string() });
            }
            if self.varies[..k].contains(variation) {
                return Err(Error::VariesTwice { variation: variation.to_string() });
            }
        }
        match self.time_unit {
            Some(value) if !(value > 0.0 && value.is_finite()) => Err(Error::OutOfRange {
                name: "time_unit".to_owned(),
                value,
                expected: "a finite number above 0",
            }),
            _ => Ok(()),
        }
    }

    /// The unconstrained value of every frozen parameter.
    pub(crate) fn frozen_params(&self, layout: &Layout, unit: f64) -> Result<Vec<Option<f64>>> {
        let mut frozen = vec![None; layout.dim()];
        for Frozen { name, values } in &self.frozen {
            let (range, numbers) = layout.resolve(name, values, unit)?;
            for (at, number) in range.zip(numbers) {
                frozen[at] = Some(number);
            }
        }
        if !self.are_labels_plain() {
            let is_false_rate = |own: &&Parameter| own.spec.role == Role::FalseRate;
            for at in
                layout.parameters().iter().filter(is_false_rate).flat_map(|own| own.range.clone())
            {
                // A stamp for nothing comes from the background: instances that are no event give none.
                let given = frozen[at].replace(f64::NEG_INFINITY);
                if given.is_some_and(|given| given != f64::NEG_INFINITY) {
                    return Err(self.no_false_rate());
                }
            }
        }
        Ok(frozen)
    }
}
