//! Every count model against the laws it must obey.

use super::*;
use crate::math::Random;
use crate::params::Transform;

const KINDS: [Counts; 6] = [
    Counts::Bernoulli,
    Counts::Categorical { max_count: 1 },
    Counts::Categorical { max_count: 2 },
    Counts::Categorical { max_count: 5 },
    Counts::Poisson,
    Counts::Geometric,
];

fn models() -> Vec<Box<dyn CountModel>> {
    KINDS.iter().map(|kind| kind.build().expect("valid settings")).collect()
}

fn dim(model: &dyn CountModel) -> usize {
    model.parameters().iter().map(|b| b.transform.dim(b.len)).sum()
}

/// Parameters of size about one.
fn random_params(model: &dyn CountModel, random: &mut Random) -> Vec<f64> {
    (0..dim(model)).map(|_| random.normal()).collect()
}

fn log_table(model: &dyn CountModel, params: &[f64], label: usize, len: usize) -> Vec<f64> {
    let mut out = vec![f64::NAN; len];
    model.log_probabilities(params, label, &mut out);
    out
}

#[test]
fn tables_sum_to_one_and_zero_has_the_complement_of_the_rate() {
    let mut random = Random::new(1);
    for model in models() {
        for label in [0, 1].repeat(5) {
            let params = random_params(&*model, &mut random);
            // Geometric with logit 3, the largest drawn: 0.95^2000 is far below rounding.
            let table = log_table(&*model, &params, label, 2000);
            let total: f64 = table.iter().map(|v| v.exp()).sum();
            assert!((total - 1.0).abs() < 1e-13, "{model:?} {total}"); // rounding of 2000 terms
            let rate = 1.0 - table[0].exp();
            let (false_rate, miss_rate) = model.rates(&params);
            let told = [false_rate, 1.0 - miss_rate][label];
            assert!((rate - told).abs() < 1e-15, "{model:?}"); // rounding
        }
    }
}

#[test]
fn impossible_counts_have_probability_zero() {
    for model in models() {
        let Some(max_count) = model.max_count() else { continue };
        let table = log_table(&*model, &model.start(0.1, 0.9), 1, max_count + 3);
        assert!(table[..=max_count].iter().all(|v| v.is_finite()), "{model:?}");
        assert!(table[max_count + 1..].iter().all(|&v| v == f64::NEG_INFINITY), "{model:?}");
    }
}

#[test]
fn unbounded_models_have_their_closed_forms() {
    let params = [0.2_f64, 0.7].map(crate::math::logit);
    let mean = -(0.3_f64.ln());
    let poisson = log_table(&Poisson, &params, 1, 4);
    let geometric = log_table(&Geometric, &params, 0, 4);
    for c in 0..4 {
        let factorial = [1.0, 1.0, 2.0, 6.0][c];
        let want = 0.3 * mean.powi(c as i32) / factorial;
        assert!((poisson[c].exp() - want).abs() < 1e-15, "{c}"); // rounding
        let want = 0.8 * 0.2_f64.powi(c as i32);
        assert!((geometric[c].exp() - want).abs() < 1e-15, "{c}"); // rounding
    }
}

#[test]
fn each_label_has_the_rate_and_the_split_of_its_own_blocks() {
    let mut random = Random::new(4);
    for max_count in [1, 2, 4] {
        let model = Categorical::new(max_count);
        let params = random_params(&model, &mut random);
        let mut natural = std::collections::HashMap::new();
        let mut rest = params.as_slice();
        for parameter in model.parameters() {
            let (own, others) = rest.split_at(parameter.transform.dim(parameter.len));
            natural.insert(parameter.name.clone(), parameter.transform.natural(own));
            rest = others;
        }
        for (label, name) in ["false", "hit"].into_iter().enumerate() {
            let rate = natural[&format!("{name}_rate")][0];
            let table = log_table(&model, &params, label, max_count + 1);
            for (k, share) in natural[&format!("{name}_split")].iter().enumerate() {
                assert!((table[k + 1].exp() - rate * share).abs() < 1e-15, "{name}"); // rounding
            }
        }
    }
}

#[test]
fn the_ratio_rebuilds_the_weights() {
    let mut factorial = 1.0_f64;
    for (logit, label) in [(-40.0, 0), (-1.0, 1), (2.0, 0)] {
        let params = [logit, logit];
        let table = log_table(&Poisson, &params, label, 12);
        let ratio = Poisson.log_ratio(&params, label).expect("the weights are geometric");
        for (c, log_probability) in table.iter().enumerate() {
            factorial = if c == 0 { 1.0 } else { factorial * c as f64 };
            let weight = factorial.ln() + log_probability;
            let want = table[0] + c as f64 * ratio;
            assert!((weight - want).abs() < 1e-14 * (1.0 + want.abs()), "{c}"); // rounding
        }
    }
    for model in [Counts::Bernoulli, Counts::Categorical { max_count: 3 }, Counts::Geometric] {
        let model = model.build().expect("valid settings");
        assert_eq!(model.log_ratio(&model.start(0.1, 0.9), 1), None);
    }
}

#[test]
fn pull_back_equals_central_differences() {
    let mut random = Random::new(2);
    let step = 1e-4;
    for model in models() {
        let len = model.max_count().map_or(8, |c| c + 1);
        for label in [0, 1].repeat(5) {
            let params = random_params(&*model, &mut random);
            let expected: Vec<f64> = (0..len).map(|_| random.uniform()).collect();
            let value = |params: &[f64]| -> f64 {
                log_table(&*model, params, label, len)
                    .iter()
                    .zip(&expected)
                    .map(|(v, e)| v * e)
                    .sum()
            };
            // Start from one everywhere: the gradient is added, not written.
            let mut d_params = vec![1.0; params.len()];
            model.pull_back(&params, label, &expected, &mut d_params);
            for k in 0..params.len() {
                let at = |offset: f64| {
                    let mut moved = params.clone();
                    moved[k] += offset * step;
                    value(&moved)
                };
                let slope = (8.0 * (at(1.0) - at(-1.0)) - (at(2.0) - at(-2.0))) / (12.0 * step);
                let error = d_params[k] - 1.0 - slope;
                // Truncation is step⁴ = 1e-16; rounding of a value near 30, divided by the step.
                assert!(error.abs() < 1e-9, "{model:?} parameter {k}: {error:e}");
            }
        }
    }
}

#[test]
fn poisson_gradient_sees_two_sums_only() {
    let expected = [0.7, 0.2, 0.4, 0.1];
    let (instances, stamps) = rates::totals(&expected);
    assert!((instances - 1.4).abs() < 1e-15 && (stamps - 1.3).abs() < 1e-15); // rounding
    for logit in [-50.0, -2.0, 0.0, 3.0] {
        let (mut from_table, mut from_sums) = ([0.0; 2], [0.0; 2]);
        Poisson.pull_back(&[0.0, logit], 1, &expected, &mut from_table);
        Poisson.pull_back(&[0.0, logit], 1, &[instances - stamps, stamps], &mut from_sums);
        assert!((from_table[1] - from_sums[1]).abs() < 1e-15, "{logit}"); // rounding
        assert_eq!(from_table[0], 0.0);
    }
}

#[test]
fn poisson_gradient_keeps_its_digits_on_the_far_left() {
    for logit in [-30.0 - 1e-9, -30.0 + 1e-9, -700.0, f64::NEG_INFINITY] {
        let mut d_params = [0.0; 2];
        Poisson.pull_back(&[logit, 0.0], 0, &[0.0, 1.0], &mut d_params);
        // One stamp: d log λ − dλ = 1 − (3/2)·e^logit.
        assert!((d_params[0] - (1.0 - 1.5 * logit.exp())).abs() < 1e-15, "{logit}"); // rounding
    }
}

#[test]
fn saturated_logits_give_no_nan() {
    let ends = [-700.0, 700.0, -1e6, 1e6, f64::NEG_INFINITY, f64::INFINITY];
    for model in models() {
        for logit in ends {
            let mut params = model.start(0.5, 0.5);
            params[..2].fill(logit);
            let table = log_table(&*model, &params, 1, 9);
            assert!(table.iter().all(|v| !v.is_nan() && *v <= 0.0), "{model:?} {logit} {table:?}");
            let ratio = model.log_ratio(&params, 1);
            assert!(ratio.is_none_or(|v| !v.is_nan() && v < f64::INFINITY), "{model:?} {logit}");
            let mut d_params = vec![0.0; params.len()];
            for expected in [vec![1.0, 0.0], vec![0.0, 1.0], vec![0.3; 6]] {
                model.pull_back(&params, 1, &expected, &mut d_params);
            }
            assert!(d_params.iter().all(|v| v.is_finite()), "{model:?} {logit} {d_params:?}");
        }
        // Never a stamp: the count is zero for certain.
        let mut params = model.start(0.5, 0.5);
        params[1] = f64::NEG_INFINITY;
        assert_eq!(log_table(&*model, &params, 1, 2), [0.0, f64::NEG_INFINITY], "{model:?}");
    }
    // A frozen split entry of zero.
    let model = Categorical::new(3);
    let params = [0.0, 0.0, f64::NEG_INFINITY, 0.0, f64::NEG_INFINITY, 0.0];
    let table = log_table(&model, &params, 1, 4);
    assert_eq!(table[1], f64::NEG_INFINITY);
    assert!((table[2] - 0.25_f64.ln()).abs() < 1e-15); // rounding
    let mut d_params = [0.0; 6];
    model.pull_back(&params, 1, &[0.1, 0.0, 0.5, 0.4], &mut d_params);
    assert_eq!(d_params[4], 0.0);
    assert!(d_params.iter().all(|v| v.is_finite()));
}

#[test]
fn a_table_of_one_is_the_bernoulli_to_the_bit() {
    let (table, model) = (Categorical::new(1), Bernoulli);
    let params = model.start(0.03, 0.8);
    assert_eq!(table.start(0.03, 0.8), params);
    for label in [0, 1] {
        let log_probabilities = log_table(&model, &params, label, 3);
        assert_eq!(log_table(&table, &params, label, 3), log_probabilities);
        let (mut a, mut b) = ([0.0; 2], [0.0; 2]);
        table.pull_back(&params, label, &[0.4, 0.6], &mut a);
        model.pull_back(&params, label, &[0.4, 0.6], &mut b);
        assert_eq!(a, b);
    }
}

#[test]
fn starts_have_the_rates_asked_for_and_halving_splits() {
    for model in models() {
        let params = model.start(0.02, 0.85);
        assert_eq!(params.len(), dim(&*model), "{model:?}");
        for (label, rate) in [(0, 0.02), (1, 0.85)] {
            let none = log_table(&*model, &params, label, 1)[0].exp();
            assert!((none - (1.0 - rate)).abs() < 1e-15, "{model:?}"); // rounding
        }
    }
    let table = log_table(&Categorical::new(4), &Categorical::new(4).start(0.1, 0.9), 0, 5);
    for c in 1..4 {
        let halving = table[c] - table[c + 1] - std::f64::consts::LN_2;
        assert!(halving.abs() < 1e-14, "{c}"); // rounding
    }
}

#[test]
fn parameters_survive_the_way_through_their_natural_values() {
    let mut random = Random::new(3);
    for model in models() {
        let params = random_params(&*model, &mut random);
        let mut rest = params.as_slice();
        for parameter in model.parameters() {
            let (own, others) = rest.split_at(parameter.transform.dim(parameter.len));
            let natural = parameter.transform.natural(own);
            assert_eq!(natural.len(), parameter.len);
            let back =
                parameter.transform.unconstrained(&natural).expect("natural values are valid");
            for (a, b) in own.iter().zip(back) {
                assert!((a - b).abs() < 1e-13, "{model:?} {}", parameter.name); // rounding of logs
            }
            rest = others;
        }
        assert!(rest.is_empty());
        let names: Vec<String> = model.parameters().iter().map(|b| b.name.clone()).collect();
        assert_eq!(names[..2], ["false_rate", "hit_rate"]);
        assert!(model.parameters()[..2].iter().all(|b| b.transform == Transform::Probability));
    }
}

#[test]
fn settings_are_written_read_and_checked() {
    for kind in KINDS {
        let text = serde_json::to_string(&kind).expect("plain data");
        assert!(text.contains(&format!("\"kind\":\"{}\"", kind.name())), "{text}");
        assert_eq!(serde_json::from_str::<Counts>(&text).expect("just written"), kind);
    }
    for text in [
        r#"{"kind":"binomial"}"#,
        r#"{"kind":"categorical"}"#,
        r#"{"kind":"categorical","max_count":2,"other":1}"#,
        r#"{"kind":"poisson","max_count":2}"#,
    ] {
        assert!(serde_json::from_str::<Counts>(text).is_err(), "{text}");
    }
    for max_count in [0, 1001] {
        let error = Counts::Categorical { max_count }.build().expect_err("out of range");
        assert!(matches!(error, Error::OutOfRange { value, .. } if value == max_count as f64));
    }
    assert!(Counts::Categorical { max_count: 1000 }.build().is_ok());
}
