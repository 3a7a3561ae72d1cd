//! Several classes of events: one function for each, on one feature map.
//!
//! Any classifier gives the log-odds of each class against no event by a copy of its parameters, so that
//! p(y = k | x) ∝ exp f_k(x), and no event has 1 (softmax). Features are prepared once, since what
//! [`prepare`](Classifier::prepare) knows does not depend on classes. That is also all there is to save.

use super::{Classifier, ClassifierState};
use crate::params::ParameterSpec;
use crate::{Control, FeatureView, Features};

/// A copy of a classifier's parameters for each class.
#[derive(Debug)]
pub(crate) struct PerClass {
    inner: Box<dyn Classifier>,
    /// Parameters of one copy.
    size: usize,
    names: Vec<String>,
}

impl PerClass {
    /// For classes of these names.
    pub(crate) fn new(inner: Box<dyn Classifier>, names: Vec<String>) -> Self {
        let specs = inner.parameters();
        let size = specs.iter().map(|spec| spec.transform.dim(spec.len)).sum();
        Self { inner, size, names }
    }
}

impl Classifier for PerClass {
    fn parameters(&self) -> Vec<ParameterSpec> {
        let of_class = |class: &String| {
            let named = |spec: ParameterSpec| {
                let name = format!("{class}.{}", spec.name);
                ParameterSpec { name, ..spec }
            };
            self.inner.parameters().into_iter().map(named).collect::<Vec<_>>()
        };
        self.names.iter().flat_map(of_class).collect()
    }

    fn features(&self) -> usize {
        self.inner.features()
    }

    fn outputs(&self) -> usize {
        self.names.len()
    }

    fn start(&self, seed: u64) -> Vec<f64> {
        let of_class = |k: usize| self.inner.start(seed.wrapping_add(k as u64));
        (0..self.outputs()).flat_map(of_class).collect()
    }

    fn prepare<'a>(&self, features: Features<'a>, control: Control<'_>) -> Features<'a> {
        self.inner.prepare(features, control)
    }

    fn log_odds(&self, params: &[f64], prepared: FeatureView<'_>, out: &mut [f64]) {
        let outputs = self.outputs();
        let mut own = vec![0.0; prepared.nrows()];
        for (k, params) in params.chunks_exact(self.size).enumerate() {
            self.inner.log_odds(params, prepared, &mut own);
            out.iter_mut().skip(k).step_by(outputs).zip(&own).for_each(|(out, own)| *out = *own);
        }
    }

    fn pull_back(
        &self,
        params: &[f64],
        prepared: FeatureView<'_>,
        d_log_odds: &[f64],
        d_params: &mut [f64],
    ) {
        let copies = params.chunks_exact(self.size).zip(d_params.chunks_exact_mut(self.size));
        for (k, (params, d_params)) in copies.enumerate() {
            let own: Vec<f64> =
                d_log_odds.iter().skip(k).step_by(self.outputs()).copied().collect();
            self.inner.pull_back(params, prepared, &own, d_params);
        }
    }

    fn of_one_class(&self) -> Option<&dyn Classifier> {
        Some(self.inner.as_ref())
    }

    fn state(&self) -> ClassifierState {
        self.inner.state()
    }
}
