//! Every mistake in a file is refused by name and place.

use serde_json::{Value, json};
use unjitter::{Error, Fitted, Model};

use crate::{files, models};

fn message(bytes: &[u8]) -> String {
    Fitted::from_json(bytes).err().map_or("it was loaded".to_owned(), |error| error.to_string())
}

/// The message for a file after an edit.
fn spoilt(file: &str, edit: impl FnOnce(&mut Value)) -> String {
    let mut value: Value = serde_json::from_str(file).unwrap();
    edit(&mut value);
    message(value.to_string().as_bytes())
}

#[test]
fn text_that_is_no_model_is_refused_with_its_place() {
    let file = &files()[0];
    assert_eq!(message(b""), "model file: line 1, column 0: EOF while parsing a value");
    let want = "model file: line 1, column 1: invalid type: integer `3`, expected an object with \
                the fields of a model file";
    assert_eq!(message(b"3"), want);
    assert_eq!(message(b"{}"), "model file: format: missing, expected \"unjitter model\"");
    let half = &file[..file.len() / 2];
    let (line, column) = (half.lines().count(), half.lines().last().unwrap().len());
    let place = format!("model file: line {line}, column {column}: EOF while parsing ");
    assert!(message(half.as_bytes()).starts_with(&place), "{}", message(half.as_bytes()));
    let mut bytes = file.clone().into_bytes();
    bytes[20] = 0xff;
    assert_eq!(message(&bytes), "model file: byte 20: not UTF-8 text");
    let after = format!("{file}x");
    let line = file.lines().count() + 1;
    assert_eq!(
        message(after.as_bytes()),
        format!("model file: line {line}, column 1: trailing characters")
    );
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let deep = file.replacen("\"note\": [1", &format!("\"note\": [{deep}"), 1);
    assert!(message(deep.as_bytes()).ends_with(": recursion limit exceeded"));
    let overflow = file.replacen("\"time_unit\": 0.5", "\"time_unit\": 1e999", 1);
    assert!(message(overflow.as_bytes()).ends_with(": number out of range"));
}

#[test]
fn format_and_version_are_checked_before_anything_else() {
    let other = |format: Value, version: Value| {
        let file = json!({"format": format, "version": version, "new": [1], "model": 3});
        message(file.to_string().as_bytes())
    };
    let future = Fitted::from_json(br#"{"version": 3, "format": "unjitter model", "model": 7}"#);
    assert!(matches!(future, Err(Error::ModelVersion { found: 3, expected: 2, .. })));
    assert_eq!(
        other(json!("unjitter model"), json!(0)),
        "model file: version: it is 0, this program reads 2"
    );
    let want = "model file: version: expected a whole number";
    assert_eq!(other(json!("unjitter model"), json!("1")), want);
    assert_eq!(other(json!("unjitter model"), json!(1.5)), want);
    assert_eq!(
        other(json!("pickle"), json!(1)),
        "model file: format: it is \"pickle\", expected \"unjitter model\""
    );
    assert_eq!(
        other(json!([1]), json!(1)),
        "model file: format: it is [1], expected \"unjitter model\""
    );
    let no_version = message(br#"{"format": "unjitter model"}"#);
    assert_eq!(no_version, "model file: version: missing, expected 2");
}

#[test]
fn unknown_and_missing_fields_are_named() {
    let files = files();
    let unknown = |file: &str, at: &str| {
        spoilt(file, |value| {
            value.pointer_mut(at).unwrap()["extra"] = json!(1);
        })
    };
    let missing = |file: &str, at: &str, key: &str| {
        spoilt(file, |value| {
            value.pointer_mut(at).unwrap().as_object_mut().unwrap().remove(key).unwrap();
        })
    };
    for (file, at, path) in [
        (0, "", "extra"),
        (0, "/model", "extra"),
        (0, "/model/classifier", "extra"),
        (0, "/model/priors/delay", "extra"),
        (0, "/outcome", "extra"),
        (0, "/warnings/0", "extra"),
        (0, "/parameters/1", "extra"),
        (0, "/classifier/logistic", "extra"),
        (0, "/classifier/logistic/standardiser", "extra"),
        (1, "/classifier/kernel", "extra"),
        (1, "/classifier/kernel/landmarks", "extra"),
        (2, "/classifier/mlp", "extra"),
    ] {
        let found = unknown(&files[file], at);
        assert!(found.contains(&format!("unknown field `{path}`")), "{at}: {found}");
        assert!(found.contains("model file: line 1, column "), "{at}: {found}");
    }
    for (at, key, path) in [
        ("", "model", "model"),
        ("", "metadata", "metadata"),
        ("/model", "noise", "noise"),
        ("/model/priors", "delay", "priors.delay"),
        ("/outcome", "stop", "stop"),
        ("/parameters/1", "natural", "natural"),
        ("/classifier/logistic/standardiser", "means", "means"),
    ] {
        let found = missing(&files[0], at, key);
        assert!(found.contains(&format!("missing field `{path}`")), "{at}: {found}");
    }
    // However long a name in the file is, the message is not.
    let long = spoilt(&files[0], |value| value["x".repeat(100_000)] = json!(1));
    assert!(long.len() < 1000, "{}", long.len());
}

/// The paths of all objects in a tree.
fn objects(value: &Value, path: &str, found: &mut Vec<String>) {
    let entries: Vec<(String, &Value)> = match value {
        Value::Array(items) => {
            items.iter().enumerate().map(|(k, item)| (k.to_string(), item)).collect()
        }
        Value::Object(entries) => entries.iter().map(|(k, item)| (k.clone(), item)).collect(),
        _ => return,
    };
    found.extend(value.is_object().then(|| path.to_owned()));
    entries.iter().for_each(|(key, item)| objects(item, &format!("{path}/{key}"), found));
}

#[test]
fn settings_that_nobody_knows_are_named_wherever_they_stand() {
    for model in models() {
        let written = serde_json::to_value(&model).unwrap();
        let mut places = Vec::new();
        objects(&written, "", &mut places);
        // The model, its three parts, the priors with four of their own, and the frozen parameters.
        assert!(places.len() >= 10, "{places:?}");
        for place in places {
            let mut spoilt = written.clone();
            spoilt.pointer_mut(&place).unwrap()["extra"] = json!(1);
            let error = serde_json::from_value::<Model>(spoilt).map_err(|error| error.to_string());
            assert!(error.as_ref().is_err_and(|e| e.contains("`extra`")), "{place}: {error:?}");
        }
    }
}

#[test]
fn parameters_that_do_not_fit_the_model_are_named() {
    let file = &files()[0];
    let blocks = |edit: fn(&mut Vec<Value>)| {
        spoilt(file, |value| edit(value["parameters"].as_array_mut().unwrap()))
    };
    let numbers = |edit: fn(&mut Value)| spoilt(file, |value| edit(&mut value["parameters"]));
    let table = [
        (blocks(|b| drop(b.pop())), "parameters: background.rate is missing"),
        (
            blocks(|b| drop(b.remove(1))),
            "parameters: parameter 1 is counts.false_rate, expected classifier.intercept",
        ),
        (blocks(|b| b.swap(4, 5)), "parameters: parameter 4 is noise.spread, expected noise.delay"),
        (
            blocks(|b| b.push(json!({"name": "x", "unconstrained": [], "natural": []}))),
            "parameters: parameter x is not part of the model",
        ),
        (
            numbers(|b| b[0]["unconstrained"] = json!([1.0])),
            "parameters.classifier.weights: 1 unconstrained numbers, expected 2",
        ),
        (
            numbers(|b| b[5]["natural"] = json!([1.0, 2.0])),
            "parameters.noise.spread: 2 natural values, expected 1",
        ),
        (
            numbers(|b| b[3]["unconstrained"][0] = json!("inf")),
            "parameters.counts.hit_rate: natural value 0 is",
        ),
        (
            numbers(|b| {
                b[3]["unconstrained"][0] = json!("inf");
                b[3]["natural"][0] = json!(1);
            }),
            "parameters.counts.hit_rate.unconstrained[0]: it is inf, which only a frozen parameter \
             may be",
        ),
        (
            numbers(|b| {
                b[2]["unconstrained"][0] = json!(-40.0);
                b[2]["natural"][0] = json!(0);
            }),
            "parameters.counts.false_rate.unconstrained[0]: it is -40.0, but model.frozen holds it at \
             -inf",
        ),
        (
            numbers(|b| b[5]["unconstrained"][0] = json!(800.0)),
            "parameters.noise.spread: the unconstrained numbers give the natural value 0 as inf",
        ),
        (numbers(|b| b[4]["unconstrained"][0] = json!("nan")), "line 1, column "),
    ];
    for (found, want) in table {
        assert!(found.starts_with(&format!("model file: {want}")), "{found}\n{want}");
    }
}

#[test]
fn an_edited_natural_value_is_noticed() {
    let file = &files()[0];
    let shift = |factor: f64| {
        spoilt(file, |value| {
            let natural = &mut value["parameters"][5]["natural"][0];
            *natural = json!(natural.as_f64().unwrap() * factor);
        })
    };
    let found = shift(1.1);
    assert!(found.starts_with("model file: parameters.noise.spread: natural value 0 is "));
    assert!(found.contains("but the unconstrained numbers, which are what counts, give "));
    assert!(shift(1.0 + 1e-8).contains("noise.spread"));
    assert_eq!(shift(1.0 + 1e-11), "it was loaded");
}

#[test]
fn settings_out_of_range_are_named() {
    let files = files();
    let set = |file: usize, at: &str, to: Value| {
        spoilt(&files[file], |value| *value.pointer_mut(at).unwrap() = to)
    };
    let categorical = json!({"kind": "categorical", "max_count": 1_000_000_000_000_u64});
    let mixture = json!({"kind": "gaussian_mixture", "components": 1_000_000_000});
    let uniform = |earliest: f64, latest: f64| json!({"kind": "uniform", "earliest": earliest, "latest": latest});
    let hidden = |sizes: Value| {
        spoilt(&files[2], |value| {
            value["model"]["classifier"]["hidden"] = sizes.clone();
            value["classifier"]["mlp"]["hidden"] = sizes;
        })
    };
    let huge = 1_000_000_000_000_000_000_u64;
    let table = [
        (set(0, "/time_unit", json!(0)), "time_unit: it is 0.0, expected a finite number above 0"),
        (
            set(0, "/time_unit", json!(-1)),
            "time_unit: it is -1.0, expected a finite number above 0",
        ),
        (
            set(0, "/model/time_unit", json!(2.0)),
            "time_unit: it is 0.5, but model.time_unit asks for 2.0",
        ),
        (
            set(0, "/model/time_unit", json!(0)),
            "model: time_unit is 0, expected a finite number above 0",
        ),
        (
            set(0, "/model/priors/delay", json!({"mean": 0, "sd": 0})),
            "model: prior delay.sd is 0, expected a number above 0",
        ),
        (
            set(0, "/model/counts", categorical),
            "model: counts.max_count is 1000000000000, expected a largest count from 1 to \
             1000",
        ),
        (
            set(0, "/model/noise", mixture),
            "model: noise.components is 1000000000, expected a number of components from 1 \
             to 64",
        ),
        (
            set(0, "/model/noise", uniform(2.0, 1.0)),
            "model: noise.latest is 1, expected a finite time after noise.earliest",
        ),
        (
            // Finite, but not in units of 0.5.
            set(0, "/model/noise", uniform(0.0, 1.5e308)),
            "model: noise.latest is inf, expected a finite time after noise.earliest",
        ),
        (
            set(0, "/model/frozen/0/name", json!("counts.x")),
            "model.frozen: there is no parameter counts.x; the model has classifier.weights, \
             classifier.intercept, counts.false_rate, counts.hit_rate, noise.delay, noise.spread",
        ),
        (
            set(0, "/model/frozen/0/name", json!("classifier.weights[2]")),
            "model.frozen: there is no parameter classifier.weights[2]; the model has",
        ),
        (
            set(0, "/model/frozen/0/values", json!([])),
            "model.frozen: counts.false_rate takes 1 values, 0 were given",
        ),
        (
            set(0, "/model/frozen/0/values/0", json!(1.5)),
            "model.frozen: counts.false_rate is 1.5, expected a probability from 0 to 1",
        ),
        (
            set(
                0,
                "/model/classifier",
                json!({"kind": "kernel", "length_scale": null, "landmarks": null}),
            ),
            "classifier: not what model.classifier asks for, which is kernel",
        ),
        (
            set(2, "/model/classifier/hidden/0", json!(4)),
            "classifier: not what model.classifier asks for, which is mlp",
        ),
        (
            set(1, "/model/classifier/landmarks", json!(0)),
            "model.classifier: landmarks is 0, expected at least 1",
        ),
        (
            set(0, "/classifier/logistic/standardiser/scales/1", json!(0)),
            "classifier.standardiser.scales[1]: the scale is 0, expected a number above 0",
        ),
        (
            set(1, "/classifier/kernel/landmarks/rows", json!(huge)),
            "classifier.landmarks: 18 values for 1000000000000000000 × 2 entries",
        ),
        (
            set(1, "/classifier/kernel/landmarks/values", json!(vec![0; 18])),
            "classifier: the kernel matrix of 9 landmarks cannot be factorised: pivot 1 is 0",
        ),
        (hidden(json!([huge, huge])), "classifier.hidden: number of classifier parameters is"),
        (
            hidden(json!([1_000_000])),
            "parameters.classifier.layer0.weights: 6 unconstrained numbers, expected 2000000",
        ),
        (hidden(json!([3, 0])), "classifier.hidden: hidden[1] is 0, expected at least 1 unit"),
        (
            hidden(json!(vec![1; 100])),
            "parameters: 11 parameters are too few for 100 hidden layers",
        ),
        (
            hidden(json!(vec![1; 1001])),
            "classifier.hidden: 1001 hidden layers, expected at most 1000",
        ),
        (
            set(0, "/metadata/note", json!("x".repeat(32 << 20))),
            "metadata: size of metadata is 33554443, expected at most 33554432 bytes as JSON",
        ),
        (
            set(0, "/warnings", json!(vec![0; 4_000_000])),
            "warnings: 4000001 values, expected at most 4000000",
        ),
    ];
    for (found, want) in table {
        assert!(found.starts_with(&format!("model file: {want}")), "{found}\n{want}");
    }
}
