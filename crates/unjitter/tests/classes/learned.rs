//! Simulated data give confusion, rates and noise back.

use unjitter::Model;

use crate::drawn::{NAMES, Plan, confusion, fit, sessions};

#[test]
fn confusion_rates_and_noise_come_back() {
    let drawn = Plan::usual(40).draw(1);
    let fitted = fit(&Model::default(), &sessions(&drawn));
    println!("{:?}", fitted.outcome());
    println!("{:?}", fitted.learned());
    println!("{:?}", fitted.confusion());
    println!("{:?}", fitted.warnings());
    assert_eq!(fitted.classes(), NAMES);
    let found = fitted.confusion().unwrap();
    for (row, want) in found.iter().zip(confusion()) {
        for (got, want) in row.iter().zip(want) {
            // Some 200 stamps of a class: a standard error of 0.025, and the prior's half an event.
            assert!((got - want).abs() < 0.08, "{found:?}");
        }
    }
    let mut right = 0.0;
    let mut all = 0.0;
    for own in &drawn {
        let p = fitted.predict_classes(&own.session).unwrap();
        for (p, truth) in p.chunks_exact(3).zip(&own.truth) {
            let best = (0..3).max_by(|&a, &b| p[a].total_cmp(&p[b])).filter(|&k| p[k] > 0.5);
            if truth.is_some() || best.is_some() {
                all += 1.0;
                right += f64::from(u8::from(best == *truth));
            }
        }
    }
    println!("right {}", right / all);
}
