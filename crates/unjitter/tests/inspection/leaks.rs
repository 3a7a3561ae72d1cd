//! Labels among the features.

use unjitter::inspection::Severity::{Problem, Suspicious};
use unjitter::math::Random;

use super::Tables;
use super::faults::{check, spoilt};

/// Healthy tables without labels but for a feature `name`, made of them.
fn leaking(name: &str, value: impl Fn(&str, &mut Random) -> f64) -> Tables {
    let mut random = Random::new(5);
    let tables = spoilt(|sessions| {
        for session in sessions {
            for (row, label) in session.features.iter_mut().zip(&session.labels) {
                row.push(value(label, &mut random));
            }
        }
    });
    let tables = tables.unlabelled();
    Tables { instances: tables.instances.replacen("x2", name, 1), ..tables }
}

#[test]
fn a_label_among_the_features_is_found_by_what_it_tells() {
    let one = |label: &str, _: &mut Random| f64::from(u8::from(label == "1"));
    check(vec![
        (
            "stamps_as_feature",
            Suspicious,
            "`smoking` goes with the stamps one to one",
            leaking("smoking", one),
        ),
        (
            "stamps_as_feature",
            Suspicious,
            "`coded`",
            leaking("coded", move |l, r| 7.0 - 3.0 * one(l, r)),
        ),
        ("stamps_as_feature", Problem, "`Event`", leaking("Event", one)),
        ("stamps_as_feature", Problem, "`LABEL`", leaking("LABEL", one)),
    ]);
}

#[test]
fn a_label_among_the_features_is_found_by_its_name() {
    let noise = |_: &str, random: &mut Random| random.normal();
    check(vec![(
        "label_name",
        Suspicious,
        "Labels is taken for a feature",
        leaking("Labels", noise),
    )]);
    // `event` may be many a thing.
    assert_eq!(leaking("event", noise).findings(), []);
}

#[test]
fn features_may_be_good() {
    // Three deviations apart, which tells nearly everything; and a flag that is right two times in
    // three.
    let good =
        leaking("good", |label, random| random.normal() + if label == "1" { 3.0 } else { 0.0 });
    let flag = leaking("flag", |label, random| {
        let p = if label == "1" { 0.67 } else { 0.04 };
        f64::from(u8::from(random.uniform() < p))
    });
    let rare = leaking("rare", |_, random| f64::from(u8::from(random.uniform() < 0.1)));
    for tables in [good, flag, rare] {
        assert_eq!(tables.findings(), []);
    }
}
