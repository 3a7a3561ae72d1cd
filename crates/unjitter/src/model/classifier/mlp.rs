//! Multilayer perceptron: any number of hidden layers, then one linear unit.
//!
//! Rows are processed in chunks, so that a chunk's activations stay in cache and each layer is one matrix
//! product. The pull-back repeats the forward pass of its chunk instead of storing the activations of a
//! whole session: one third more arithmetic, memory independent of the session. Features are centred when
//! they are read; their scales are folded into the first layer's weights.
//!
//! ```text
//! a₀ = standardised x,   a_{l+1} = activation(a_l W_l + b_l),   f = a_last · w + b
//! ```

use std::borrow::Cow;

use ndarray::linalg::general_mat_mul;
use ndarray::{ArrayView2, ArrayViewMut2};
use serde::{Deserialize, Serialize};

use super::{Classifier, ClassifierState, Standardiser, linear};
use crate::math::{Random, tanh_in_place};
use crate::params::{ParameterSpec, Role, Transform};
use crate::{Control, Error, FeatureView, Features, Result};

/// The most parameters that a network may have: 0.8 GB.
pub const MAX_PARAMETERS: usize = 100_000_000;

/// Rows that pass the layers together.
const CHUNK: usize = 256;

/// The activation function of hidden units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Activation {
    /// tanh(x)
    Tanh,
    /// max(x, 0), with derivative 0 at 0
    Relu,
}

impl Activation {
    fn apply(self, values: &mut [f64]) {
        match self {
            Activation::Tanh => tanh_in_place(values),
            // Not `max`, which would turn a NaN into 0 and hide it.
            Activation::Relu => {
                values.iter_mut().for_each(|x| *x = if *x < 0.0 { 0.0 } else { *x })
            }
        }
    }

    /// The derivative, from the output alone.
    fn slope(self, output: f64) -> f64 {
        match self {
            Activation::Tanh => 1.0 - output * output,
            Activation::Relu => f64::from(output > 0.0),
        }
    }

    /// Standard deviation of initial weights that keeps the size of signals from layer to layer: Glorot's
    /// for tanh, He's for the rectifier, which silences half of them.
    fn start_spread(self, inputs: usize, outputs: usize) -> f64 {
        match self {
            Activation::Tanh => (2.0 / (inputs + outputs) as f64).sqrt(),
            Activation::Relu => (2.0 / inputs as f64).sqrt(),
        }
    }
}

/// A multilayer perceptron on standardised features.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mlp {
    pub(super) standardiser: Standardiser,
    pub(super) hidden: Vec<usize>,
    pub(super) activation: Activation,
}

impl Mlp {
    /// Learns means and scales from the training features; `hidden` are the sizes of the hidden layers,
    /// the first one next to the features.
    pub fn fit(
        training: &[FeatureView<'_>],
        hidden: &[usize],
        activation: Activation,
    ) -> Result<Self> {
        check_sizes(training.first().map_or(0, |part| part.ncols()), hidden)?;
        let standardiser = Standardiser::fit(training.iter().copied());
        Ok(Self { standardiser, hidden: hidden.to_vec(), activation })
    }

    /// The network, if the values read from a file are usable.
    pub fn check(self) -> Result<Self> {
        self.standardiser.check()?;
        check_sizes(self.features(), &self.hidden).map_err(|error| Error::ModelFile {
            place: "classifier.hidden".to_owned(),
            problem: error.to_string(),
        })?;
        Ok(self)
    }

    /// (inputs, outputs) of every layer, the last one having one output.
    fn sizes(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let inputs = [self.features()].into_iter().chain(self.hidden.iter().copied());
        inputs.zip(self.hidden.iter().copied().chain([1]))
    }

    /// The layers at `params`.
    fn layers<'a>(&self, mut params: &'a [f64]) -> Vec<Layer<'a>> {
        let split = |(k, (inputs, outputs))| {
            let (weights, rest) = params.split_at(inputs * outputs);
            let (biases, rest) = rest.split_at(outputs);
            params = rest;
            let mut weights = Cow::Borrowed(weights);
            if k == 0 {
                self.divide_by_scales(weights.to_mut(), outputs);
            }
            Layer { inputs, outputs, weights, biases }
        };
        self.sizes().enumerate().map(split).collect()
    }

    /// Divides the first layer's weights (features × `outputs`), or derivatives in them.
    fn divide_by_scales(&self, weights: &mut [f64], outputs: usize) {
        for (weights, scale) in weights.chunks_exact_mut(outputs).zip(&self.standardiser.scales) {
            weights.iter_mut().for_each(|weight| *weight /= scale);
        }
    }

    /// The inputs of every layer for a few rows, in row order; the first are the centred features.
    fn forward(&self, layers: &[Layer<'_>], rows: FeatureView<'_>, signals: &mut [Vec<f64>]) {
        signals[0].clear();
        let means = &self.standardiser.means;
        rows.visit_rows(|row| {
            signals[0].extend(row.iter().zip(means).map(|(x, mean)| x - mean));
        });
        for (k, layer) in layers.iter().enumerate().take(self.hidden.len()) {
            let (before, after) = signals.split_at_mut(k + 1);
            let (input, output) = (&before[k], &mut after[0]);
            output.clear();
            (0..rows.nrows()).for_each(|_| output.extend_from_slice(layer.biases));
            let input = matrix(input, rows.nrows(), layer.inputs);
            add_product(input, layer.weights(), output);
            self.activation.apply(output);
        }
    }

    /// Adds to `sums` the derivatives in all parameters for a few rows whose inputs to every layer are
    /// `signals`; those in the first layer's weights are still divided.
    fn pull_back_chunk(
        &self,
        layers: &[Layer<'_>],
        signals: &[Vec<f64>],
        d_log_odds: &[f64],
        mut sums: &mut [f64],
    ) {
        let rows = d_log_odds.len();
        let mut d_output = d_log_odds.to_vec();
        for (k, layer) in layers.iter().enumerate().rev() {
            let &Layer { inputs, outputs, .. } = layer;
            let own = sums.split_off_mut(sums.len() - (inputs + 1) * outputs..);
            let (d_weights, d_biases) = own.expect("as long").split_at_mut(inputs * outputs);
            let input = matrix(&signals[k], rows, inputs);
            if k == self.hidden.len() {
                let input = Features::from(input);
                linear::add_rows(input.view(), &vec![0.0; inputs], &d_output, d_weights);
            } else {
                let d_output = matrix(&d_output, rows, outputs);
                add_product(input.reversed_axes(), d_output, d_weights);
            }
            for d_output in d_output.chunks_exact(outputs) {
                d_biases.iter_mut().zip(d_output).for_each(|(sum, d)| *sum += d);
            }
            if k > 0 {
                let mut d_input = vec![0.0; signals[k].len()];
                let weights = layer.weights().reversed_axes();
                add_product(matrix(&d_output, rows, outputs), weights, &mut d_input);
                let slopes = signals[k].iter().map(|&signal| self.activation.slope(signal));
                d_input.iter_mut().zip(slopes).for_each(|(d, slope)| *d *= slope);
                d_output = d_input;
            }
        }
    }
}

/// A layer's parameters; the first layer's weights are divided by the features' scales.
struct Layer<'a> {
    inputs: usize,
    outputs: usize,
    /// inputs × outputs
    weights: Cow<'a, [f64]>,
    biases: &'a [f64],
}

impl Layer<'_> {
    fn weights(&self) -> ArrayView2<'_, f64> {
        matrix(&self.weights, self.inputs, self.outputs)
    }
}

fn matrix(values: &[f64], rows: usize, columns: usize) -> ArrayView2<'_, f64> {
    ArrayView2::from_shape((rows, columns), values).expect("its size")
}

/// c += a · b, where c is in row order.
fn add_product(a: ArrayView2<'_, f64>, b: ArrayView2<'_, f64>, c: &mut [f64]) {
    let mut c = ArrayViewMut2::from_shape((a.nrows(), b.ncols()), c).expect("its size");
    general_mat_mul(1.0, &a, &b, 1.0, &mut c);
}

impl Classifier for Mlp {
    fn parameters(&self) -> Vec<ParameterSpec> {
        let parameter =
            |name: String, len, role| ParameterSpec::new(&name, len, Transform::Free, role);
        let mut parameters = Vec::new();
        for (k, (inputs, outputs)) in self.sizes().enumerate() {
            let (layer, biases, role) = if k < self.hidden.len() {
                (format!("layer{k}"), "biases", Role::Weight)
            } else {
                ("output".to_owned(), "intercept", Role::Intercept)
            };
            parameters.push(parameter(format!("{layer}.weights"), inputs * outputs, Role::Weight));
            parameters.push(parameter(format!("{layer}.{biases}"), outputs, role));
        }
        parameters
    }

    fn features(&self) -> usize {
        self.standardiser.features()
    }

    fn start(&self, seed: u64) -> Vec<f64> {
        let mut random = Random::new(seed);
        let mut params = Vec::new();
        for (inputs, outputs) in self.sizes() {
            let spread = self.activation.start_spread(inputs, outputs);
            params.extend((0..inputs * outputs).map(|_| spread * random.normal()));
            params.extend((0..outputs).map(|_| 0.0));
        }
        params
    }

    fn prepare<'a>(&self, features: Features<'a>, _: Control<'_>) -> Features<'a> {
        features
    }

    fn log_odds(&self, params: &[f64], prepared: FeatureView<'_>, out: &mut [f64]) {
        let layers = self.layers(params);
        let mut signals = vec![Vec::new(); layers.len()];
        let chunks = prepared.chunks(CHUNK);
        for (rows, out) in chunks.zip(out.chunks_mut(CHUNK)) {
            self.forward(&layers, rows, &mut signals);
            let k = self.hidden.len();
            let &Layer { inputs, ref weights, biases, .. } = &layers[k];
            let signal = Features::from(matrix(&signals[k], out.len(), inputs));
            linear::log_odds(signal.view(), &vec![0.0; inputs], weights, biases[0], out);
        }
    }

    fn pull_back(
        &self,
        params: &[f64],
        prepared: FeatureView<'_>,
        d_log_odds: &[f64],
        d_params: &mut [f64],
    ) {
        let layers = self.layers(params);
        let mut signals = vec![Vec::new(); layers.len()];
        let mut sums = vec![0.0; d_params.len()];
        let chunks = prepared.chunks(CHUNK);
        for (rows, d_log_odds) in chunks.zip(d_log_odds.chunks(CHUNK)) {
            self.forward(&layers, rows, &mut signals);
            self.pull_back_chunk(&layers, &signals, d_log_odds, &mut sums);
        }
        self.divide_by_scales(&mut sums, layers[0].outputs);
        d_params.iter_mut().zip(sums).for_each(|(d, sum)| *d += sum);
    }

    fn state(&self) -> ClassifierState {
        ClassifierState::Mlp(self.clone())
    }
}

/// Checks that hidden layers are not empty and that the network is not absurdly large.
fn check_sizes(features: usize, hidden: &[usize]) -> Result<()> {
    if let Some(k) = hidden.iter().position(|&size| size == 0) {
        let name = format!("hidden[{k}]");
        return Err(Error::OutOfRange { name, value: 0.0, expected: "at least 1 unit" });
    }
    let mut inputs = features;
    let mut total = Some(0_usize);
    let mut estimate = 0.0;
    for &outputs in hidden.iter().chain([&1]) {
        let layer = inputs.checked_add(1).and_then(|rows| rows.checked_mul(outputs));
        total = total.zip(layer).and_then(|(total, layer)| total.checked_add(layer));
        estimate += (inputs as f64 + 1.0) * outputs as f64;
        inputs = outputs;
    }
    match total {
        Some(total) if total <= MAX_PARAMETERS => Ok(()),
        _ => Err(Error::OutOfRange {
            name: "number of classifier parameters".to_owned(),
            value: estimate,
            expected: "at most 100000000",
        }),
    }
}

#[cfg(test)]
mod tests {
    use ndarray::{Array2, array};

    use super::*;
    use crate::features::view;

    #[test]
    fn one_hidden_layer_equals_the_formula_on_a_worked_example() {
        // Mean 2 and scale 1, so the standardised features are −1 and 1.
        let features = array![[1.0], [3.0]];
        // Two units: weights 2 and −1, biases 0.5 and 0; output weights 1 and 3, intercept −0.25.
        let params = [2.0, -1.0, 0.5, 0.0, 1.0, 3.0, -0.25];
        let run = |activation| {
            let network = Mlp::fit(&[view(&features)], &[2], activation).unwrap();
            let mut out = [f64::NAN; 2];
            network.log_odds(&params, view(&features), &mut out);
            out
        };
        assert_eq!(run(Activation::Relu), [3.0 - 0.25, 2.5 - 0.25]);
        let want = [
            (-1.5_f64).tanh() + 3.0 * 1.0_f64.tanh() - 0.25,
            2.5_f64.tanh() + 3.0 * (-1.0_f64).tanh() - 0.25,
        ];
        for (got, want) in run(Activation::Tanh).iter().zip(want) {
            assert!((got - want).abs() < 1e-15); // three additions of O(1)
        }
    }

    #[test]
    fn a_rectifier_at_zero_has_no_slope() {
        let features = array![[0.0], [0.0]];
        let network = Mlp::fit(&[view(&features)], &[1], Activation::Relu).unwrap();
        let mut d_params = [0.0; 4];
        network.pull_back(&[1.0, 0.0, 1.0, 0.0], view(&features), &[1.0, 1.0], &mut d_params);
        assert_eq!(d_params, [0.0, 0.0, 0.0, 2.0]);
    }

    #[test]
    fn first_weights_have_the_documented_spread_and_biases_are_zero() {
        let features = Array2::zeros((1, 300));
        for (activation, variance) in
            [(Activation::Tanh, 2.0 / 500.0), (Activation::Relu, 2.0 / 300.0)]
        {
            let network = Mlp::fit(&[view(&features)], &[200], activation).unwrap();
            let params = network.start(5);
            assert_eq!(params, network.start(5));
            let (weights, rest) = params.split_at(300 * 200);
            assert!(rest[..200].iter().all(|&bias| bias == 0.0));
            let got = weights.iter().map(|w| w * w).sum::<f64>() / weights.len() as f64;
            // The relative standard error of a variance of 60 000 normals is 0.6%: five of them.
            assert!((got / variance - 1.0).abs() < 0.03, "{got} is not {variance}");
        }
    }

    #[test]
    fn sizes_are_checked_without_overflow() {
        let check = |features, hidden: &[usize]| check_sizes(features, hidden).is_ok();
        assert!(check(0, &[]) && check(5, &[3, 2]));
        assert!(!check(5, &[3, 0]));
        assert!(check(99_999_999, &[]) && !check(100_000_000, &[]));
        assert!(!check(5, &[usize::MAX]) && !check(usize::MAX, &[2]));
        assert!(!check(5, &[1 << 33, 1 << 33]));
    }
}
