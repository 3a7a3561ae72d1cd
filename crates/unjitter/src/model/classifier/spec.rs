//! Specification of a classifier, and its saved form after fitting.

use serde::{Deserialize, Serialize};

use super::{Activation, Classifier, Kernel, KernelSettings, KernelState, Logistic, Mlp};
use crate::settings::no_settings;
use crate::{Control, FeatureView, Result};

/// The kind of classifier, with its settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum ClassifierSpec {
    /// Linear in the standardised features.
    #[serde(deserialize_with = "no_settings")]
    Logistic,
    /// Linear in radial-basis functions around training instances; see [`KernelSettings`].
    Kernel {
        /// Distance, in standard deviations of a feature, over which an instance has influence.
        length_scale: Option<f64>,
        /// Number of training instances that serve as landmarks; all of them by default.
        landmarks: Option<usize>,
    },
    /// Multilayer perceptron.
    Mlp {
        /// Units of each hidden layer, the first one next to the features.
        hidden: Vec<usize>,
        /// The activation function of hidden units.
        activation: Activation,
    },
}

impl ClassifierSpec {
    /// Learns everything that does not depend on stamps or labels (means, scales, landmarks) from the
    /// training features: parts with the same number of columns and at least one row in all.
    pub fn fit(
        &self,
        training: &[FeatureView<'_>],
        seed: u64,
        control: Control<'_>,
    ) -> Result<Box<dyn Classifier>> {
        Ok(match self {
            Self::Logistic => Box::new(Logistic::fit(training)),
            &Self::Kernel { length_scale, landmarks } => {
                let settings = KernelSettings { length_scale, landmarks };
                Box::new(Kernel::fit(training, settings, seed, control)?)
            }
            Self::Mlp { hidden, activation } => Box::new(Mlp::fit(training, hidden, *activation)?),
        })
    }

    /// The name of the kind in files.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Logistic => "logistic",
            Self::Kernel { .. } => "kernel",
            Self::Mlp { .. } => "mlp",
        }
    }
}

/// The saved form of a fitted classifier, without its parameters. After reading from a file, call
/// [`check`](Self::check) before use.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ClassifierState {
    /// Logistic regression.
    Logistic(Logistic),
    /// Kernel logistic regression.
    Kernel(KernelState),
    /// Multilayer perceptron.
    Mlp(Mlp),
}

impl ClassifierState {
    /// Whether a fit of `spec` could leave this state, as far as `spec` alone can tell.
    pub(crate) fn suits(&self, spec: &ClassifierSpec) -> bool {
        match (self, spec) {
            (Self::Logistic(_), ClassifierSpec::Logistic)
            | (Self::Kernel(_), ClassifierSpec::Kernel { .. }) => true,
            (Self::Mlp(network), ClassifierSpec::Mlp { hidden, activation }) => {
                network.hidden == *hidden && network.activation == *activation
            }
            _ => false,
        }
    }

    /// The classifier, if all sizes agree and all values are in range. For any file, this neither panics
    /// nor allocates by a size that only the file declares.
    pub fn check(self) -> Result<Box<dyn Classifier>> {
        Ok(match self {
            Self::Logistic(logistic) => {
                logistic.standardiser.check()?;
                Box::new(logistic)
            }
            Self::Kernel(state) => Box::new(state.check()?),
            Self::Mlp(network) => Box::new(network.check()?),
        })
    }
}
