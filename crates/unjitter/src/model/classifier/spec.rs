//! Which classifier to fit, and a fitted one as it is saved.

use serde::{Deserialize, Serialize};

use super::{Activation, Classifier, Kernel, KernelSettings, KernelState, Logistic, Mlp};
use crate::settings::no_settings;
use crate::{Control, FeatureView, Result};

/// Which classifier, with its settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum ClassifierSpec {
    /// Linear in the standardised features.
    #[serde(deserialize_with = "no_settings")]
    Logistic,
    /// Linear in radial-basis functions around training instances; see [`KernelSettings`].
    Kernel {
        /// How far, in standard deviations of a feature, an instance makes itself felt.
        length_scale: Option<f64>,
        /// Training instances to build functions from; all of them by default.
        landmarks: Option<usize>,
    },
    /// Multilayer perceptron.
    Mlp {
        /// Units of each hidden layer, from the features on.
        hidden: Vec<usize>,
        /// What a hidden unit does to its input.
        activation: Activation,
    },
}

impl ClassifierSpec {
    /// Learns what does not depend on stamps or labels (means, scales, landmarks) from the training
    /// features: parts with one number of columns and at least one row between them.
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

    /// The name of the kind, as it stands in files.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Logistic => "logistic",
            Self::Kernel { .. } => "kernel",
            Self::Mlp { .. } => "mlp",
        }
    }
}

/// A fitted classifier without its parameters, as it is saved. What was read from a file must go
/// through [`check`](Self::check) before it is used.
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
    /// Whether this is what a fit of `spec` leaves behind, as far as `spec` alone can say.
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

    /// The classifier, if all sizes agree and all values are in range. Whatever the file said, this
    /// neither panics nor allocates by a size that only the file declares.
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
