//! Loading gives back the saved model.

use serde_json::{Value, json};
use unjitter::inference::Order;
use unjitter::{Fitted, Model};

use crate::{fit, models, session};

fn bits(numbers: &[f64]) -> Vec<u64> {
    numbers.iter().map(|x| x.to_bits()).collect()
}

fn assert_same(a: &Fitted, b: &Fitted) {
    let held_out = session("new", 3);
    let features = held_out.features();
    assert_eq!(bits(&a.predict(features).unwrap()), bits(&b.predict(features).unwrap()));
    let stamped = |fitted: &Fitted| bits(&fitted.predict_stamped(features).unwrap());
    assert_eq!(stamped(a), stamped(b));
    let (aligned, other) = (a.align(&held_out).unwrap(), b.align(&held_out).unwrap());
    assert!(aligned.log_evidence.is_finite());
    assert_eq!(aligned.log_evidence.to_bits(), other.log_evidence.to_bits());
    assert_eq!(aligned, other);
    for name in a.parameter_names() {
        let [one, two] = [a, b].map(|fitted| bits(&fitted.parameter(name).unwrap()));
        assert_eq!(one, two, "{name}");
    }
    assert_eq!(a.parameter_names().collect::<Vec<_>>(), b.parameter_names().collect::<Vec<_>>());
    assert_eq!((a.model(), a.time_unit()), (b.model(), b.time_unit()));
    assert_eq!((a.outcome(), a.warnings()), (b.outcome(), b.warnings()));
    assert_eq!((a.metadata(), a.threshold()), (b.metadata(), b.threshold()));
    // Everything once more, the unconstrained numbers included.
    assert_eq!(a.to_json(), b.to_json());
}

#[test]
fn every_part_comes_back_to_the_bit() {
    let folder = tempfile::tempdir().unwrap();
    for (k, model) in models().iter().enumerate() {
        let fitted = fit(model).with_metadata("note", json!({"seed": 1, "files": ["a", "b"]}));
        let fitted = fitted.unwrap();
        let path = folder.path().join(format!("{k}.json"));
        fitted.save(&path).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text, fitted.to_json());
        assert!(text.contains("\"-inf\""), "the frozen rate of {model:?}");
        assert_same(&fitted, &Fitted::load(&path).unwrap());
    }
}

/// Models of both versions of the format, one a line: a logistic classifier with each noise model.
const FIRST_VERSION: &str = include_str!("first_version.json");
const SECOND_VERSION: &str = include_str!("second_version.json");

fn value(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn files_that_were_written_before_are_read() {
    for text in SECOND_VERSION.lines() {
        let fitted = Fitted::from_json(text.as_bytes()).unwrap();
        assert!(!fitted.modes().is_empty());
        assert_eq!(value(text), value(&fitted.to_json()));
    }
    assert_eq!(SECOND_VERSION.lines().count(), 6);
}

#[test]
fn files_of_the_first_version_are_ordered_and_without_background() {
    for text in FIRST_VERSION.lines() {
        let fitted = Fitted::from_json(text.as_bytes()).unwrap();
        assert_eq!(fitted.model().alignment, Order::Ordered);
        assert_eq!((fitted.learned().background_rate, fitted.modes().len()), (0.0, 0));
        let (before, now) = (value(text), value(&fitted.to_json()));
        for unchanged in ["classifier", "outcome", "time_unit", "warnings", "metadata"] {
            assert_eq!(before[unchanged], now[unchanged], "{unchanged}");
        }
        let (old, new) = (&before["parameters"], now["parameters"].as_array().unwrap());
        assert_eq!(old.as_array().unwrap()[..], new[..new.len() - 1]);
        assert_eq!(new[new.len() - 1]["name"], "background.rate");
        assert_same(&fitted, &Fitted::from_json(fitted.to_json().as_bytes()).unwrap());
    }
    assert_eq!(FIRST_VERSION.lines().count(), 6);
}

#[test]
fn every_mode_comes_back() {
    let fitted = fit(&Model::paper());
    let back = Fitted::from_json(fitted.to_json().as_bytes()).unwrap();
    assert_eq!(back.modes(), fitted.modes());
    let spoilt = fitted.to_json().replacen("\"params\": [", "\"params\": [1.0, ", 1);
    let error = Fitted::from_json(spoilt.as_bytes()).unwrap_err().to_string();
    assert!(error.contains("model file: modes: a mode without "), "{error}");
}

#[test]
fn a_threshold_of_its_own_is_kept() {
    let mut fitted = fit(&Model::default());
    assert!(fitted.threshold() == 0.5 && !fitted.to_json().contains("threshold"));
    for threshold in [0.0, 0.1 + 0.2, 1.0] {
        fitted.set_threshold(threshold).unwrap();
        let back = Fitted::from_json(fitted.to_json().as_bytes()).unwrap();
        assert_eq!(back.threshold(), threshold);
        assert_same(&fitted, &back);
    }
    for threshold in [-0.1, 1.1, f64::NAN] {
        let error = fitted.set_threshold(threshold).unwrap_err().to_string();
        assert_eq!(error, format!("threshold is {threshold}, expected a number from 0 to 1"));
        assert_eq!(fitted.threshold(), 1.0);
    }
    let spoilt = fitted.to_json().replacen("\"threshold\": 1.0", "\"threshold\": 1.5", 1);
    let error = Fitted::from_json(spoilt.as_bytes()).unwrap_err().to_string();
    let want = "model file: threshold: threshold is 1.5, expected a number from 0 to 1";
    assert_eq!(error, want);
}

#[test]
fn the_file_is_for_people_too() {
    let text = fit(&Model::default()).to_json();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[1..3], ["  \"format\": \"unjitter model\",", "  \"version\": 2,"]);
    assert!(lines.iter().all(|line| line.len() <= 120), "{text}");
    let file: Value = serde_json::from_str(&text).unwrap();
    let spread = &file["parameters"][5];
    assert_eq!(spread["name"], "noise.spread");
    let numbers = |key: &str| spread[key][0].as_f64().unwrap();
    // The unit of time is the spacing of instances, 0.5: rounding of exp and log only.
    assert!((numbers("natural") - 0.5 * numbers("unconstrained").exp()).abs() < 1e-15);
}

#[test]
fn names_of_many_features_are_kept() {
    let names: Vec<String> = (0..30_000).map(|k| format!("{k:0>100}")).collect();
    let fitted = fit(&Model::default()).with_metadata("features", names.clone()).unwrap();
    let back = Fitted::from_json(fitted.to_json().as_bytes()).unwrap();
    assert_eq!(back.metadata()["features"], json!(names));
}

#[test]
fn metadata_is_bounded_and_kept() {
    let mut fitted = fit(&Model::default());
    fitted.set_metadata("a", 1.5).unwrap();
    fitted.set_metadata("a", "text").unwrap();
    let error = fitted.set_metadata("b", "x".repeat(32 << 20)).unwrap_err();
    let want = "size of metadata is 33554451, expected at most 33554432 bytes as JSON";
    assert_eq!(error.to_string(), want);
    let nested = |depth| (0..depth).fold(json!(0), |inner, _| json!([inner]));
    fitted.set_metadata("c", nested(32)).unwrap();
    let error = fitted.set_metadata("d", nested(33)).unwrap_err();
    assert_eq!(error.to_string(), "depth of metadata d is 33, expected at most 32");
    let back = Fitted::from_json(fitted.to_json().as_bytes()).unwrap();
    assert_eq!(back.metadata().keys().collect::<Vec<_>>(), ["a", "c"]);
    assert_same(&fitted, &back);
}
