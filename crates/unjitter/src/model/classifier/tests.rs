//! Laws that every classifier obeys, by table.

use ndarray::{Array2, ArrayView2, Axis, ShapeBuilder, s};
use serde_json::{Value, json};

use super::{Activation, Classifier, ClassifierSpec, ClassifierState};
use crate::math::Random;
use crate::{Control, Error, Features};

fn normal(rows: usize, columns: usize, seed: u64) -> Array2<f64> {
    let mut random = Random::new(seed);
    Array2::from_shape_simple_fn((rows, columns), || random.normal())
}

fn specs() -> Vec<ClassifierSpec> {
    let mut specs = vec![
        ClassifierSpec::Logistic,
        ClassifierSpec::Kernel { length_scale: None, landmarks: None },
        ClassifierSpec::Kernel { length_scale: Some(0.7), landmarks: Some(6) },
    ];
    for activation in [Activation::Tanh, Activation::Relu] {
        for hidden in [vec![], vec![5], vec![4, 3]] {
            specs.push(ClassifierSpec::Mlp { hidden, activation });
        }
    }
    specs
}

/// Parameters of ordinary size, away from any special point.
fn params(classifier: &dyn Classifier, seed: u64) -> Vec<f64> {
    let count = classifier.parameters().iter().map(|parameter| parameter.len).sum();
    normal(1, count, seed).into_raw_vec_and_offset().0
}

fn log_odds(
    classifier: &dyn Classifier,
    params: &[f64],
    features: ArrayView2<'_, f64>,
) -> Vec<f64> {
    let mut out = vec![f64::NAN; features.nrows()];
    classifier.log_odds(
        params,
        classifier.prepare(features.into(), Control::default()).view(),
        &mut out,
    );
    out
}

fn pull_back(
    classifier: &dyn Classifier,
    params: &[f64],
    features: ArrayView2<'_, f64>,
    d_log_odds: &[f64],
) -> Vec<f64> {
    let mut d_params = vec![0.0; params.len()];
    let prepared = classifier.prepare(features.into(), Control::default());
    classifier.pull_back(params, prepared.view(), d_log_odds, &mut d_params);
    d_params
}

#[test]
fn pull_back_equals_central_differences() {
    for spec in specs() {
        for (rows, columns) in [(1, 3), (9, 2), (300, 7), (4, 0)] {
            let features = normal(rows, columns, 1).mapv(|x| 5.0 + 3.0 * x);
            // Few enough training rows that the exact kernel model stays small.
            let training = features.slice(s![..rows.min(12), ..]);
            let classifier =
                spec.fit(&[Features::from(training).view()], 2, Control::default()).unwrap();
            let params = params(&*classifier, 3);
            let weights = normal(1, rows, 4).into_raw_vec_and_offset().0;
            let value = |params: &[f64]| -> f64 {
                let out = log_odds(&*classifier, params, features.view());
                out.iter().zip(&weights).map(|(f, w)| f * w).sum()
            };
            let got = pull_back(&*classifier, &params, features.view(), &weights);
            for k in 0..params.len() {
                let moved = |step: f64| {
                    let mut params = params.clone();
                    params[k] += step;
                    value(&params)
                };
                // No unit of these seeds comes within the step of its kink.
                let want = (moved(1e-5) - moved(-1e-5)) / 2e-5;
                let what = format!("{spec:?}, {rows} × {columns}, parameter {k}");
                // Values of O(100) round by 1e-14, over the step 1e-9: the floor of 1e-8.
                let tolerance = 1e-6 * want.abs() + 1e-8;
                assert!((got[k] - want).abs() < tolerance, "{what}: {} is not {want}", got[k]);
            }
        }
    }
}

#[test]
fn log_odds_are_overwritten_and_gradients_added_to() {
    for spec in specs() {
        let features = normal(8, 3, 1);
        let classifier =
            spec.fit(&[Features::from(features.view()).view()], 2, Control::default()).unwrap();
        let params = params(&*classifier, 3);
        let prepared = classifier.prepare(features.view().into(), Control::default());
        let (mut fresh, mut used) = (vec![0.0; 8], vec![7.0; 8]);
        classifier.log_odds(&params, prepared.view(), &mut fresh);
        classifier.log_odds(&params, prepared.view(), &mut used);
        assert_eq!(fresh, used, "{spec:?}");

        let once = pull_back(&*classifier, &params, features.view(), &fresh);
        let mut twice = once.clone();
        classifier.pull_back(&params, prepared.view(), &fresh, &mut twice);
        for (once, twice) in once.iter().zip(twice) {
            // The same sums, started from elsewhere: rounding of O(10) numbers.
            assert!((2.0 * once - twice).abs() < 1e-13 * (1.0 + twice.abs()), "{spec:?}");
        }
    }
}

#[test]
fn a_row_gives_the_same_bits_alone_and_in_company() {
    let wide = ClassifierSpec::Mlp { hidden: vec![33, 9], activation: Activation::Tanh };
    for spec in specs().into_iter().chain([wide]) {
        let features = normal(270, 7, 1);
        let training = Features::from(features.slice(s![..40, ..]));
        let classifier = spec.fit(&[training.view()], 2, Control::default()).unwrap();
        let params = params(&*classifier, 3);
        let all = log_odds(&*classifier, &params, features.view());
        for together in [1, 3, 100] {
            let parts = features.axis_chunks_iter(Axis(0), together);
            let got: Vec<f64> =
                parts.flat_map(|part| log_odds(&*classifier, &params, part)).collect();
            assert_eq!(got, all, "{spec:?}, {together} together");
        }
    }
}

#[test]
fn strided_features_give_the_same() {
    for spec in specs() {
        let features = normal(270, 5, 1);
        let mut by_column = Array2::zeros((270, 5).f());
        by_column.assign(&features);
        let mut wide = Array2::zeros((540, 10));
        wide.slice_mut(s![..;2, ..;-2]).assign(&features);
        let classifier = spec
            .fit(&[Features::from(features.slice(s![..20, ..])).view()], 2, Control::default())
            .unwrap();
        let params = params(&*classifier, 3);
        let run = |view: ArrayView2<'_, f64>| {
            let out = log_odds(&*classifier, &params, view);
            let gradient = pull_back(&*classifier, &params, view, &out);
            (out, gradient)
        };
        let want = run(features.view());
        assert_eq!(run(by_column.view()), want, "{spec:?}");
        assert_eq!(run(wide.slice(s![..;2, ..;-2])), want, "{spec:?}");

        let strided = spec
            .fit(&[Features::from(wide.slice(s![..40;2, ..;-2])).view()], 2, Control::default())
            .unwrap();
        assert_eq!(strided.state(), classifier.state(), "{spec:?}");
    }
}

#[test]
fn parameters_describe_the_start() {
    for spec in specs() {
        for columns in [0, 4] {
            let classifier = spec
                .fit(&[Features::from(normal(10, columns, 1).view()).view()], 2, Control::default())
                .unwrap();
            let start = classifier.start(3);
            let parameters = classifier.parameters();
            assert_eq!(
                start.len(),
                parameters.iter().map(|parameter| parameter.len).sum::<usize>(),
                "{spec:?}"
            );
            assert_eq!(classifier.features(), columns);
            let last = parameters.last().unwrap();
            assert_eq!((last.len, last.role), (1, crate::params::Role::Intercept));
        }
    }
    let spec = ClassifierSpec::Mlp { hidden: vec![4, 3], activation: Activation::Tanh };
    let parameters = spec
        .fit(&[Features::from(normal(10, 2, 1).view()).view()], 2, Control::default())
        .unwrap()
        .parameters();
    let names: Vec<(&str, usize)> = parameters.iter().map(|b| (b.name.as_str(), b.len)).collect();
    let want = [
        ("layer0.weights", 8),
        ("layer0.biases", 4),
        ("layer1.weights", 12),
        ("layer1.biases", 3),
        ("output.weights", 3),
        ("output.intercept", 1),
    ];
    assert_eq!(names, want);
}

#[test]
fn a_network_without_hidden_layers_is_logistic_regression() {
    let features = normal(300, 6, 1);
    let spec = ClassifierSpec::Mlp { hidden: vec![], activation: Activation::Relu };
    let network =
        spec.fit(&[Features::from(features.view()).view()], 2, Control::default()).unwrap();
    let logistic = ClassifierSpec::Logistic
        .fit(&[Features::from(features.view()).view()], 2, Control::default())
        .unwrap();
    let params = params(&*logistic, 3);
    let got = log_odds(&*network, &params, features.view());
    let want = log_odds(&*logistic, &params, features.view());
    assert!(got.iter().zip(&want).all(|(a, b)| (a - b).abs() < 1e-13)); // 6 terms of O(1)
    let got = pull_back(&*network, &params, features.view(), &want);
    let want = pull_back(&*logistic, &params, features.view(), &want);
    assert!(got.iter().zip(&want).all(|(a, b)| (a - b).abs() < 1e-11)); // 300 terms of O(10)
}

#[test]
fn a_saved_classifier_comes_back_with_the_same_bits() {
    for spec in specs() {
        let features = normal(90, 3, 1);
        let classifier =
            spec.fit(&[Features::from(features.view()).view()], 2, Control::default()).unwrap();
        let params = params(&*classifier, 3);
        let text = serde_json::to_string(&classifier.state()).unwrap();
        let state: ClassifierState = serde_json::from_str(&text).unwrap();
        assert_eq!(serde_json::to_value(&state).unwrap()["kind"], spec.name());
        let back = state.check().unwrap();
        let run = |c: &dyn Classifier| log_odds(c, &params, features.view());
        assert_eq!(run(&*back), run(&*classifier), "{spec:?}");
    }
}

#[test]
fn specifications_are_plain_to_write() {
    let read = |value: Value| serde_json::from_value::<ClassifierSpec>(value).unwrap();
    assert_eq!(read(json!({"kind": "logistic"})), ClassifierSpec::Logistic);
    let kernel = ClassifierSpec::Kernel { length_scale: None, landmarks: Some(5) };
    assert_eq!(read(json!({"kind": "kernel", "landmarks": 5})), kernel);
    let network = ClassifierSpec::Mlp { hidden: vec![8], activation: Activation::Relu };
    assert_eq!(read(json!({"kind": "mlp", "hidden": [8], "activation": "relu"})), network);
}

#[test]
fn settings_out_of_range_are_refused() {
    let kernel = |length_scale, landmarks| ClassifierSpec::Kernel { length_scale, landmarks };
    let network = |hidden| ClassifierSpec::Mlp { hidden, activation: Activation::Tanh };
    let bad = [
        kernel(Some(0.0), None),
        kernel(Some(-1.0), None),
        kernel(Some(f64::NAN), None),
        kernel(Some(f64::INFINITY), None),
        kernel(None, Some(0)),
        network(vec![3, 0]),
        network(vec![100_000_000]),
        network(vec![usize::MAX, usize::MAX]),
    ];
    for spec in bad {
        let error = spec
            .fit(&[Features::from(normal(5, 2, 1).view()).view()], 2, Control::default())
            .unwrap_err();
        assert!(matches!(error, Error::OutOfRange { .. }), "{spec:?}: {error}");
    }
}

/// Every way in this list to spoil a saved classifier must give an error, from the reader or from
/// `check`; a panic would fail the test.
#[test]
fn spoilt_states_are_refused() {
    let features = normal(9, 2, 1);
    let saved = |spec: ClassifierSpec| {
        serde_json::to_value(
            spec.fit(&[Features::from(features.view()).view()], 2, Control::default())
                .unwrap()
                .state(),
        )
        .unwrap()
    };
    let logistic = saved(ClassifierSpec::Logistic);
    let kernel = saved(ClassifierSpec::Kernel { length_scale: None, landmarks: None });
    let network = saved(ClassifierSpec::Mlp { hidden: vec![3], activation: Activation::Tanh });
    let first_row = &kernel["landmarks"]["values"].as_array().unwrap()[..2];
    let twice = [first_row, first_row].concat();
    let repeated = json!({"rows": 2, "columns": 2, "values": twice});
    let no_columns = |rows: u64| json!({"rows": rows, "columns": 0, "values": []});
    let spoilt = [
        (&logistic, "/standardiser/scales", json!([1.0])),
        (&logistic, "/standardiser/scales/0", json!(0.0)),
        (&logistic, "/standardiser/means/1", json!(null)),
        (&logistic, "/kind", json!("other")),
        (&kernel, "/length_scale", json!(-1.0)),
        (&kernel, "/standardiser/means", json!([1.0, 2.0, 3.0])),
        (&kernel, "/standardiser", json!({"means": [], "scales": []})),
        (&kernel, "/landmarks/rows", json!(8)),
        (&kernel, "/landmarks/rows", json!(u64::MAX)),
        (&kernel, "/landmarks/columns", json!(1_u64 << 63)),
        (&kernel, "/landmarks/values/3", json!("x")),
        (&kernel, "/landmarks", repeated),
        (&kernel, "/landmarks", no_columns(0)),
        (&kernel, "/landmarks", no_columns(1 << 40)),
        (&network, "/hidden/0", json!(0)),
        (&network, "/hidden/0", json!(u64::MAX)),
        (&network, "/hidden", json!([1_u64 << 40, 1_u64 << 40])),
        (&network, "/activation", json!("sigmoid")),
        (&network, "/standardiser/scales/1", json!(-2.0)),
    ];
    for (state, place, value) in spoilt {
        let mut state = state.clone();
        *state.pointer_mut(place).unwrap() = value.clone();
        let read = serde_json::from_value::<ClassifierState>(state);
        assert!(read.is_err() || read.unwrap().check().is_err(), "{place} = {value}");
    }

    // Rows that take no space in the file, in a classifier without features.
    let mut state = kernel.clone();
    state["standardiser"] = json!({"means": [], "scales": []});
    state["landmarks"] = no_columns(1 << 40);
    let read: ClassifierState = serde_json::from_value(state.clone()).unwrap();
    assert!(matches!(read.check(), Err(Error::ModelFile { .. })));
    state["landmarks"] = no_columns(1);
    let read: ClassifierState = serde_json::from_value(state).unwrap();
    assert_eq!(read.check().unwrap().features(), 0);
}
