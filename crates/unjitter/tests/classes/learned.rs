//! Simulated data give confusion, rates and noise back, and stamps their classes.

use unjitter::Model;
use unjitter::labels::Labels;

use crate::drawn::{Drawn, NAMES, Plan, confusion, fit, sessions};

/// The share of stamps whose event is of the class that is told of it.
fn right(drawn: &[Drawn], told: impl Fn(&Drawn, usize) -> Option<usize>) -> f64 {
    let (mut right, mut all) = (0.0, 0.0);
    for own in drawn {
        for (l, stamp) in own.session.stamps().iter().enumerate() {
            // Events are seven instances apart or more, and stamps half an instance late.
            let near = |i: &usize| (own.session.times()[*i] + 0.5 - stamp).abs();
            let event = (0..own.truth.len()).filter(|&i| own.truth[i].is_some());
            let event = event.min_by(|a, b| near(a).total_cmp(&near(b))).unwrap();
            all += 1.0;
            right += f64::from(u8::from(own.truth[event] == told(own, l)));
        }
    }
    right / all
}

#[test]
fn confusion_rates_and_noise_come_back() {
    let drawn = Plan::usual(40).draw(1);
    let fitted = fit(&Model::default(), &sessions(&drawn));
    assert!(fitted.outcome().converged);
    assert_eq!(fitted.classes(), NAMES);
    let (learned, found) = (fitted.learned(), fitted.confusion().unwrap());
    println!("{learned:?} {found:?}");
    // Some 600 stamps: standard errors of 0.04, 0.03 and 0.015; the detector's tail takes a few events for missed.
    assert!((learned.delay - 0.5).abs() < 0.12, "{learned:?}");
    assert!((learned.spread - 1.0).abs() < 0.09, "{learned:?}");
    assert!((learned.miss_rate - 0.1).abs() < 0.06, "{learned:?}");
    for (row, want) in found.iter().zip(confusion()) {
        for (got, want) in row.iter().zip(want) {
            // Some 200 stamps of a class: a standard error of 0.025, and the prior's half an event.
            assert!((got - want).abs() < 0.08, "{found:?}");
        }
    }
    let number = |name: &str| NAMES.iter().position(|own| *own == name);
    let recorded = right(&drawn, |own, l| own.session.class_of(l).and_then(number));
    let aligned = right(&drawn, |own, l| {
        let aligned = fitted.align(&own.session).unwrap();
        number(aligned.classes.unwrap().of_stamp(l).0)
    });
    println!("right as recorded {recorded}, as aligned {aligned}");
    // One record in eight is wrong; features tell classes by three and a half standard deviations.
    assert!(recorded < 0.9 && aligned > 0.95, "{recorded} {aligned}");
}

#[test]
fn runs_of_classes_stamped_by_two_people_come_back() {
    let people = vec!["ann", "bob"];
    let plan = Plan { instances: 400, run: 4, people, ..Plan::usual(15) };
    let fitted =
        fit(&Model { labels: Labels::Chain, ..Model::default() }, &sessions(&plan.draw(2)));
    let (learned, found) = (fitted.learned(), fitted.confusion().unwrap());
    println!("{learned:?} {found:?}");
    assert!((learned.delay - 0.5).abs() < 0.2, "{learned:?}");
    assert!((learned.spread - 1.0).abs() < 0.15, "{learned:?}");
    for (row, want) in found.iter().zip(confusion()) {
        for (got, want) in row.iter().zip(want) {
            // As above, with 170 stamps of a class.
            assert!((got - want).abs() < 0.1, "{found:?}");
        }
    }
}
