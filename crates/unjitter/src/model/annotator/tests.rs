//! Evidence and derivatives for every pair of counts and noise, in both orders.

use super::*;
use crate::math::{log_sigmoid, sigmoid};
use crate::model::{PosteriorOptions, posterior};
use crate::{Counts, Noise};

const COUNTS: [Counts; 4] =
    [Counts::Bernoulli, Counts::Categorical { max_count: 3 }, Counts::Poisson, Counts::Geometric];

/// A unit of time that is not one, so that forgetting it shows.
const UNIT: f64 = 2.0;

const TIMES: [f64; 7] = [0.0, 1.1, 2.0, 3.2, 4.1, 5.0, 6.3];
const LOG_ODDS: [f64; 7] = [-2.0, 0.5, 1.0, -1.5, 0.3, -0.7, 3.0];
/// No delay is within 0.01 of a kink at 0.4.
const STAMPS: [f64; 3] = [1.83, 2.74, 5.97];

/// Both orders, with the accuracy of derivatives: differences have a truncation of h² and a rounding of
/// 1e-15/h of a value of order 10; messages settle to 1e-7.
const ORDERS: [(Order, f64); 2] = [(Order::Ordered, 1e-8), (Order::Free, 1e-6)];

fn every_pair(order: Order) -> impl Iterator<Item = Annotator> {
    COUNTS.iter().flat_map(move |counts| {
        let kinds = Noise::kinds().iter();
        kinds.map(move |kind| annotator(counts, &kind.example(), order, UNIT))
    })
}

fn annotator(counts: &Counts, noise: &Noise, order: Order, unit: f64) -> Annotator {
    Annotator::new(counts, noise, order, unit).expect("valid settings")
}

/// Parameters off their starting point, the location of the delay at 0.4.
fn params_of(annotator: &Annotator) -> Vec<f64> {
    let mut params = annotator
        .start(&[("counts.false_rate", &[0.07]), ("background.rate", &[0.1])])
        .expect("rates");
    let mut steps = [0.11, -0.3, 0.23, -0.17, 0.31].into_iter().cycle();
    for parameter in annotator.layout().parameters() {
        let steps = params[parameter.range.clone()].iter_mut().zip(&mut steps);
        steps.for_each(|(x, step)| *x += step);
        if ["noise.delay", "noise.shift"].contains(&parameter.name.as_str()) {
            let numbers = parameter.unconstrained(&[0.4], UNIT).expect("a delay");
            params[parameter.range.clone()].copy_from_slice(&numbers);
        }
    }
    params
}

fn gradient(annotator: &Annotator, params: &[f64], stamps: &[f64], log_odds: &[f64]) -> Gradient {
    annotator.gradient("test", params, &TIMES, stamps, log_odds).expect("an alignment exists")
}

/// Central differences of `value` in every coordinate.
fn differences(at: &[f64], value: impl Fn(&[f64]) -> f64) -> Vec<f64> {
    let step = 1e-5;
    let moved = |k: usize, by: f64| {
        let mut moved = at.to_vec();
        moved[k] += by;
        value(&moved)
    };
    (0..at.len()).map(|k| (moved(k, step) - moved(k, -step)) / (2.0 * step)).collect()
}

#[test]
fn every_pair_matches_central_differences() {
    for (order, tolerance) in ORDERS {
        for annotator in every_pair(order) {
            let params = params_of(&annotator);
            let got = gradient(&annotator, &params, &STAMPS, &LOG_ODDS);
            let value = |p: &[f64], f: &[f64]| gradient(&annotator, p, &STAMPS, f).log_evidence;
            let want_log_odds = differences(&LOG_ODDS, |f| value(&params, f));
            let want_params = differences(&params, |p| value(p, &LOG_ODDS));
            let pairs = got.d_log_odds.iter().zip(&want_log_odds);
            for (got, want) in pairs.chain(got.d_params.iter().zip(&want_params)) {
                let off = (got - want).abs() / want.abs().max(1.0);
                assert!(off < tolerance, "{annotator:?} {got} {want}");
            }
        }
    }
}

#[test]
fn evidence_and_labels_are_those_of_the_posterior() {
    let (counts, noise, rate) = (Counts::Poisson, Noise::Laplace, 0.02);
    let values: [(&str, &[f64]); 2] = [("delay", &[0.4]), ("spread", &[1.3])];
    let rates: [(&str, &[f64]); 2] = [("false_rate", &[0.05]), ("hit_rate", &[0.8])];
    let (bound_counts, bound_noise) =
        (counts.with(&rates).expect("rates"), noise.with(&values).expect("values"));
    let start: [(&str, &[f64]); 5] = [
        ("counts.false_rate", &[0.05]),
        ("counts.hit_rate", &[0.8]),
        ("noise.delay", &[0.4]),
        ("noise.spread", &[1.3]),
        ("background.rate", &[rate]),
    ];
    // Another recursion and another unit of time: rounding only. Messages settle to 1e-7, and the
    // evidence is stationary in them.
    for (order, accuracy) in [(Order::Ordered, 1e-14), (Order::Free, 1e-7)] {
        let options = PosteriorOptions { alignment: order, background_rate: rate };
        let found = posterior(&TIMES, &STAMPS, &LOG_ODDS, &bound_counts, &bound_noise, &options)
            .expect("an alignment exists");
        let annotator = annotator(&counts, &noise, order, UNIT);
        let params = annotator.start(&start).expect("values");
        let got = gradient(&annotator, &params, &STAMPS, &LOG_ODDS);
        assert!((got.log_evidence - found.log_evidence()).abs() < 1e-12);
        for ((d, positive), f) in got.d_log_odds.iter().zip(found.positive()).zip(LOG_ODDS) {
            assert!((d - (positive - sigmoid(f))).abs() < accuracy, "{order:?}");
        }
        let natural = annotator.natural(&params).expect("numbers");
        let names: Vec<&str> = natural.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, start.map(|(name, _)| name));
        let there_and_back = natural.iter().zip(start).all(|((_, got), (_, want))| {
            (got[0] - want[0]).abs() < 1e-15 // one exponential and one logarithm
        });
        assert!(there_and_back, "{natural:?}");
        assert!((annotator.delay_and_spread(&params).expect("numbers").0 - 0.4).abs() < 1e-15);
    }
}

#[test]
fn known_labels_have_no_derivative() {
    let mut log_odds = LOG_ODDS;
    (log_odds[1], log_odds[3]) = (f64::INFINITY, f64::NEG_INFINITY);
    for (order, tolerance) in ORDERS {
        for annotator in every_pair(order) {
            let params = params_of(&annotator);
            let got = gradient(&annotator, &params, &STAMPS, &log_odds);
            assert_eq!((got.d_log_odds[1], got.d_log_odds[3]), (0.0, 0.0), "{annotator:?}");
            assert!(got.d_log_odds[0] != 0.0 && got.log_evidence.is_finite(), "{annotator:?}");
            let value = |p: &[f64]| gradient(&annotator, p, &STAMPS, &log_odds).log_evidence;
            for (got, want) in got.d_params.iter().zip(differences(&params, value)) {
                let off = (got - want).abs() / want.abs().max(1.0);
                assert!(off < tolerance, "{annotator:?} {got} {want}");
            }
        }
    }
}

#[test]
fn without_stamps_every_instance_is_silent() {
    for annotator in ORDERS.into_iter().flat_map(|(order, _)| every_pair(order)) {
        let params = params_of(&annotator);
        let got = gradient(&annotator, &params, &[], &LOG_ODDS);
        let silent = [log_sigmoid(-params[0]).exp(), log_sigmoid(-params[1]).exp()];
        let background = annotator.layout().part("background");
        // Of the background too, from the first instance to the last.
        let from_nowhere = params[background.start].exp() * 6.3 / UNIT;
        let mut want = -from_nowhere;
        for (f, d) in LOG_ODDS.iter().zip(&got.d_log_odds) {
            let weight = sigmoid(-f) * silent[0] + sigmoid(*f) * silent[1];
            want += weight.ln();
            // Bayes, with rounding.
            assert!((d - (sigmoid(*f) * silent[1] / weight - sigmoid(*f))).abs() < 1e-14);
        }
        assert!((got.log_evidence - want).abs() < 1e-13, "{annotator:?}"); // rounding
        let noise = annotator.layout().part("noise");
        assert!(got.d_params[noise].iter().all(|&d| d == 0.0), "{annotator:?}");
        let d_background = got.d_params[background.start];
        assert!((d_background + from_nowhere).abs() < 1e-14, "{annotator:?}"); // rounding
    }
}

#[test]
fn a_background_that_is_held_at_zero_is_none() {
    let rate: [(&str, &[f64]); 1] = [("background.rate", &[0.0])];
    for (order, _) in ORDERS {
        for annotator in every_pair(order) {
            let params = annotator.start(&rate).expect("a rate");
            let got = gradient(&annotator, &params, &[1.83, 5.97], &LOG_ODDS);
            // Not even a rounding.
            assert_eq!(got.d_params.last(), Some(&0.0), "{annotator:?}");
        }
        let annotator = annotator(&Counts::Bernoulli, &Noise::Gaussian, order, UNIT);
        let params = annotator.start(&rate).expect("a rate");
        let many = annotator.gradient("test", &params, &TIMES, &[1.0; 8], &LOG_ODDS);
        assert!(matches!(many, Err(Error::TooManyStamps { .. })), "{order:?}: {many:?}");
        let params = annotator.start(&[]).expect("a start");
        assert!(annotator.gradient("test", &params, &TIMES, &[1.0; 8], &LOG_ODDS).is_ok());
    }
}

#[test]
fn epoch_seconds_keep_their_digits() {
    // Hardly any time divided by this is exact.
    let annotator = annotator(&Counts::Bernoulli, &Noise::Gaussian, Order::Ordered, 0.3);
    let params = params_of(&annotator);
    // A power of two, so that the shifted times are exact to 2⁻²².
    let epoch = 2_f64.powi(30);
    let exact = |t: &f64| (t * 1024.0).round() / 1024.0;
    let [times, stamps] = [&TIMES[..], &STAMPS].map(|v| v.iter().map(exact).collect::<Vec<_>>());
    let [late_times, late_stamps] =
        [&times, &stamps].map(|v| v.iter().map(|t| epoch + t).collect::<Vec<_>>());
    let near = annotator.gradient("test", &params, &times, &stamps, &LOG_ODDS);
    let far = annotator.gradient("test", &params, &late_times, &late_stamps, &LOG_ODDS);
    assert_eq!(near.expect("an alignment"), far.expect("an alignment"));
}

#[test]
fn impossible_inputs_are_named() {
    let uniform = Noise::Uniform { earliest: 0.0, latest: 0.5 };
    let annotator = annotator(&Counts::Bernoulli, &uniform, Order::Ordered, UNIT);
    let none: [(&str, &[f64]); 1] = [("background.rate", &[0.0])];
    let params = annotator.start(&none).expect("a start");
    let message = |params: &[f64], stamps: &[f64], log_odds: &[f64]| {
        let result = annotator.gradient("seven", params, &TIMES, stamps, log_odds);
        result.expect_err("a mistake").to_string()
    };
    let far = message(&params, &[9.0], &LOG_ODDS);
    assert!(far.contains("session seven") && far.contains("stamp 0 at 9"), "{far}");
    let many = message(&params, &[0.1; 8], &LOG_ODDS);
    assert!(many.contains("session seven: 8 stamps"), "{many}");
    let short = message(&params, &[0.1], &LOG_ODDS[1..]);
    assert!(short.contains("6 log-odds for 7 instances"), "{short}");
    let unordered = message(&params, &[3.3, 0.1], &LOG_ODDS);
    assert!(unordered.contains("stamp 1"), "{unordered}");
    let diverged = message(&[f64::NAN, 0.0, 0.0], &[0.1], &LOG_ODDS);
    assert!(diverged.contains("counts.false_rate is NaN"), "{diverged}");
    let few = message(&[0.0], &[0.1], &LOG_ODDS);
    assert!(few.contains("counts, noise and background"), "{few}");
}
