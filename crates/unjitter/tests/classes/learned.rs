//! Simulated data give confusion, rates and noise back, and stamps their classes.

use unjitter::labels::Labels;
use unjitter::model::{Factor, Varying};
use unjitter::{Control, Counts, Detector, FitOptions, Model};

use crate::drawn::{self, Drawn, NAMES, Plan, confusion, fit, sessions};

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

#[test]
fn nothing_is_learned_of_a_false_rate_that_there_is_not() {
    let drawn = Plan { instances: 120, ..Plan::usual(4) }.draw(3);
    let sessions = sessions(&drawn);
    let options = FitOptions { restarts: 0, standard_errors: false, ..FitOptions::default() };
    let fit = |model: &Model| model.fit(&sessions, &options, Control::default());
    let fitted = fit(&Model::default()).unwrap();
    assert_eq!(fitted.learned().false_rate, 0.0);
    // An instance that is surely no event is not stamped.
    let (p, q) = (
        fitted.predict(sessions[0].features()).unwrap(),
        fitted.predict_stamped(sessions[0].features()).unwrap(),
    );
    let hit_rate = 1.0 - fitted.learned().miss_rate;
    // One product: rounding only.
    assert!(p.iter().zip(&q).all(|(p, q)| (q - p * hit_rate).abs() < 1e-12));
    let refused = |model: Model| fit(&model).unwrap_err().to_string();
    let words = [
        refused(Model::default().freeze("counts.false_rate", 0.1)),
        refused(Model::default().varying(Varying::FalseRate, Factor::Session)),
        refused(Model { counts: Counts::Geometric, ..Model::default() }),
        refused(Model::default().freeze("background.rate", 0.0)),
    ];
    let what =
        ["a false rate", "a false rate", "this model of counts", "a background.rate held at 0"];
    for (words, what) in words.iter().zip(what) {
        let begins =
            format!("{what} does not work with several classes of events, and the model has ");
        assert!(words.starts_with(&begins), "{words}");
    }
    // Nothing else is refused.
    let table = Model { counts: Counts::Categorical { max_count: 1 }, ..Model::default() };
    assert!(fit(&table).is_ok());
}

#[test]
fn a_detector_of_classes_predicts_as_the_fit_does_and_comes_back_from_text() {
    for labels in [Labels::Independent, Labels::Chain] {
        let drawn = Plan { instances: 120, run: 3, ..Plan::usual(4) }.draw(4);
        let sessions = sessions(&drawn);
        let options = FitOptions { restarts: 0, standard_errors: false, ..FitOptions::default() };
        let model = Model { labels, ..Model::default() };
        let fitted = model.fit(&sessions, &options, Control::default()).unwrap();
        let want = fitted.predict_session(&sessions[0]).unwrap();
        let detector = fitted.detector();
        assert_eq!(detector.classes(), NAMES);
        assert_eq!(detector.predict_session(&sessions[0]).unwrap(), want);
        let text = serde_json::to_string(&detector).unwrap();
        let again: Detector = serde_json::from_str(&text).unwrap();
        assert_eq!(again.predict_session(&sessions[0]).unwrap(), want);
        assert_eq!(serde_json::to_string(&again).unwrap(), text);
        let damaged = text.replace("\"cough\",\"sneeze\"", "\"sneeze\",\"cough\"");
        assert_ne!(damaged, text);
        assert!(serde_json::from_str::<Detector>(&damaged).is_err());
    }
}

/// The fit and the sum over sessions count the same: labels where nobody watched are a chain of their own.
#[test]
fn labels_that_nobody_watched_are_in_the_evidence() {
    for labels in [Labels::Independent, Labels::Chain] {
        let drawn = Plan { instances: 120, run: 3, ..Plan::usual(3) }.draw(6);
        let watched = |own: &Drawn| {
            let known = drawn::labels(&own.truth).into_iter().enumerate();
            let known: Vec<_> =
                known.map(|(i, label)| label.filter(|_| i > 60 && i % 3 > 0)).collect();
            let inside: Vec<bool> = own.session.stamps().iter().map(|&z| z <= 80.5).collect();
            let session = own.session.clone().keeping_stamps(|l| inside[l]);
            session.with_observed(vec![(-9.0, 80.5)]).unwrap().with_class_labels(&known).unwrap()
        };
        let sessions: Vec<_> = drawn.iter().map(watched).collect();
        let options = FitOptions { restarts: 0, standard_errors: false, ..FitOptions::default() };
        let model = Model { labels, ..Model::default() };
        let fitted = model.fit(&sessions, &options, Control::default()).unwrap();
        let each = sessions.iter().map(|session| fitted.log_evidence(session).unwrap());
        let (sum, told) = (each.sum::<f64>(), fitted.outcome().log_evidence);
        // Messages begin elsewhere, and have six digits.
        assert!((sum - told).abs() < 1e-4 * sum.abs(), "{labels:?}: {sum} {told}");
    }
}
