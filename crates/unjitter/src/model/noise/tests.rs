//! Every noise model against the laws it must obey.

use super::*;

/// Models with parameters that cover their corners; (settings, unconstrained parameters).
fn cases() -> Vec<(Noise, Vec<f64>)> {
    let three = Noise::GaussianMixture { components: 3 };
    vec![
        (Noise::Gaussian, vec![0.0, 0.0]),
        (Noise::Gaussian, vec![-40.0, -2.0]),
        (Noise::GaussianMixture { components: 1 }, vec![2.0, 0.7]),
        (Noise::GaussianMixture { components: 2 }, vec![1.0, -0.5, 3.0, -1.0, 0.5]),
        (three.clone(), vec![0.5, -3.0, 0.0, 2.0, 30.0, 0.0, -1.5, 1.0]),
        (three, vec![f64::NEG_INFINITY, 1.0, 9.0, 2.0, 4.0, 0.0, -0.5, 1.0]),
        (Noise::Laplace, vec![0.3, 0.0]),
        (Noise::Laplace, vec![-2.0, 1.5]),
        (Noise::StudentT, vec![1.0, 0.5, 0.5_f64.ln()]),
        (Noise::StudentT, vec![1.0, -0.5, 1.3_f64.ln()]),
        (Noise::StudentT, vec![0.0, 0.2, 5_f64.ln()]),
        (Noise::StudentT, vec![-3.0, 0.0, 39_f64.ln()]),
        (Noise::StudentT, vec![0.0, 1.0, 1e8_f64.ln()]),
        (Noise::ShiftedGamma, vec![0.5, f64::NEG_INFINITY, 0.3]),
        (Noise::ShiftedGamma, vec![0.5, 0.2_f64.ln(), 0.3]),
        (Noise::ShiftedGamma, vec![-1.0, 3_f64.ln(), -1.0]),
        (Noise::ShiftedGamma, vec![-10.0, 99_f64.ln(), 0.0]),
        (Noise::Uniform { earliest: -0.4, latest: 3.0 }, vec![]),
    ]
}

fn built() -> Vec<(Box<dyn NoiseModel>, Vec<f64>)> {
    let build = |noise: Noise| noise.build(1.0).expect("valid settings");
    cases().into_iter().map(|(noise, params)| (build(noise), params)).collect()
}

fn log_density(model: &dyn NoiseModel, params: &[f64], delays: &[f64]) -> Vec<f64> {
    let mut out = vec![f64::NAN; delays.len()];
    model.log_density(params, delays, &mut out);
    out
}

/// Number of components, for the bounds that depend on it.
fn components(model: &dyn NoiseModel) -> usize {
    model.blocks().iter().map(|block| block.len).max().unwrap_or(1)
}

/// ∫ p over [a, b] by the tanh-sinh rule, whose nodes crowd towards both ends: peaks, kinks and
/// unbounded derivatives do no harm there.
fn integral(model: &dyn NoiseModel, params: &[f64], a: f64, b: f64) -> f64 {
    let half_pi = std::f64::consts::FRAC_PI_2;
    let step = 1.0 / 2000.0;
    let (mut delays, mut weights) = (Vec::new(), Vec::new());
    for i in -9000..=9000 {
        let t = f64::from(i) * step;
        let u = half_pi * t.sinh();
        // Distance to the nearer end, as a share of the interval: e^(−|u|) / (2 cosh u).
        let share = 1.0 / (1.0 + (2.0 * u.abs()).exp());
        delays.push(if u < 0.0 { a + (b - a) * share } else { b - (b - a) * share });
        weights.push(half_pi * t.cosh() * 2.0 * share * (1.0 - share) * (b - a) * step);
    }
    let log_densities = log_density(model, params, &delays);
    log_densities.iter().zip(weights).map(|(v, w)| v.exp() * w).sum()
}

/// P(delay ≤ x), split at the densest place found, where kinks and peaks are.
fn cumulative(model: &dyn NoiseModel, params: &[f64], x: f64) -> f64 {
    // The tail of half a degree of freedom beyond here is 1e-12.
    let (earliest, _) = model.reach(params, 80.0);
    let (low, high) = model.reach(params, 0.0);
    let peak = if model.blocks().is_empty() { x } else { 0.5 * (low + high) };
    if x <= peak {
        integral(model, params, earliest, x)
    } else {
        integral(model, params, earliest, peak) + integral(model, params, peak, x)
    }
}

#[test]
fn densities_integrate_to_one() {
    for (model, params) in built() {
        let (_, latest) = model.reach(&params, 80.0);
        let total = cumulative(&*model, &params, latest);
        // Tails left out are below 3e-12; the rule itself is good to rounding.
        assert!((total - 1.0).abs() < 1e-11, "{model:?} {params:?}: {total}");
    }
}

#[test]
fn pull_back_equals_central_differences() {
    let mut random = Random::new(1);
    let step = 1e-4;
    for (model, params) in built() {
        let mut delays: Vec<f64> = (0..40).map(|_| model.sample(&params, &mut random)).collect();
        delays.push(model.reach(&params, 30.0).1);
        let responsibilities: Vec<f64> = delays.iter().map(|_| random.uniform()).collect();
        let total: f64 = responsibilities.iter().sum();
        let value = |params: &[f64]| -> f64 {
            let values = log_density(&*model, params, &delays);
            values.iter().zip(&responsibilities).map(|(v, r)| v * r).sum()
        };
        // Start from one everywhere: the gradient is added, not written.
        let mut d_params = vec![1.0; params.len()];
        model.pull_back(&params, &delays, &responsibilities, &mut d_params);
        for k in 0..params.len() {
            let at = |offset: f64| {
                let mut moved = params.clone();
                moved[k] += offset * step;
                value(&moved)
            };
            let slope = (8.0 * (at(1.0) - at(-1.0)) - (at(2.0) - at(-2.0))) / (12.0 * step);
            let error = d_params[k] - 1.0 - slope;
            // Rounding of a sum near 100, divided by the step; truncation where a density is steep.
            let allowed = 1e-8 * (slope.abs() + total);
            // A number at −∞ does not move: its derivative is zero and has no difference.
            if params[k].is_infinite() {
                assert_eq!(d_params[k], 1.0, "{model:?} parameter {k}");
            } else {
                assert!(error.abs() < allowed, "{model:?} {params:?} parameter {k}: {error:e}");
            }
        }
    }
}

const DROPS: [f64; 9] = [0.0, 1e-3, 0.5, 2.0, 10.0, 40.0, 700.0, 1e4, 1e6];

#[test]
fn reach_leaves_nothing_above_the_level_outside() {
    for (model, params) in built() {
        let peak = model.log_peak(&params);
        let slack = (2.0 * components(&*model) as f64).ln();
        let spread = model.spread(&params);
        for drop in DROPS {
            let (low, high) = model.reach(&params, drop);
            assert!(low <= high, "{model:?} {drop}: {low} {high}");
            for (end, outwards) in [(low, -spread), (high, spread)] {
                if end.is_infinite() {
                    continue;
                }
                let steps = [1e-9, 1e-6, 1e-3, 0.03, 0.3, 1.0, 3.0, 30.0, 1e3];
                let outside: Vec<f64> = steps.iter().map(|s| end + s * outwards).collect();
                for value in log_density(&*model, &params, &outside) {
                    // Rounding of the level, and of an end at a distance of 1e4 spreads.
                    assert!(value <= peak - drop + 1e-11 * (1.0 + drop), "{model:?} {drop}");
                }
                // Not wider than need be, except where the support ends.
                let at_end = log_density(&*model, &params, &[end])[0];
                let tight = at_end >= peak - drop - slack - 1e-6 * (1.0 + drop);
                let bounded = model.blocks().is_empty() || at_end == f64::NEG_INFINITY;
                assert!(tight || bounded, "{model:?} {params:?} {drop}: {at_end}");
            }
        }
    }
}

#[test]
fn reach_widens_with_the_drop_up_to_the_support() {
    for (model, params) in built() {
        let mut last = model.reach(&params, 0.0);
        for drop in DROPS.into_iter().chain([1e300, f64::INFINITY]) {
            let (low, high) = model.reach(&params, drop);
            assert!(low <= last.0 && high >= last.1, "{model:?} {drop}"); // false for NaN too
            last = (low, high);
        }
        let name = format!("{model:?}");
        assert_eq!(last.1 == f64::INFINITY, !name.starts_with("Uniform"), "{name}");
        let unbounded_below = !name.starts_with("Uniform") && !name.starts_with("ShiftedGamma");
        assert_eq!(last.0 == f64::NEG_INFINITY, unbounded_below, "{name}");
    }
}

#[test]
fn log_peak_is_close_below_the_supremum() {
    for (model, params) in built() {
        let (low, high) = model.reach(&params, 10.0);
        let grid: Vec<f64> =
            (0..=200_000).map(|i| low + (high - low) * f64::from(i) / 200_000.0).collect();
        let values = log_density(&*model, &params, &grid);
        let highest = values.into_iter().fold(f64::NEG_INFINITY, f64::max);
        let peak = model.log_peak(&params);
        // The grid passes a peak at less than 1e-2 of its width, and the Laplace's kink at 5e-5.
        assert!(highest >= peak - 1e-4, "{model:?}: {highest} {peak}");
        let slack = match components(&*model) {
            1 => 1e-13, // rounding
            count => (2.0 * count as f64).ln(),
        };
        assert!(highest <= peak + slack, "{model:?}: {highest} {peak}");
    }
}

#[test]
fn draws_have_the_stated_moments() {
    let count = 20_000;
    for (model, params) in built() {
        let mut random = Random::new(2);
        let mut draws: Vec<f64> = (0..count).map(|_| model.sample(&params, &mut random)).collect();
        let root = (count as f64).sqrt();
        let degrees = params.get(2).map_or(f64::INFINITY, |v| v.exp());
        if format!("{model:?}") == "StudentT" && degrees < 9.0 {
            draws.sort_by(f64::total_cmp);
            let error = draws[count / 2] - model.delay(&params);
            // The median's standard error is 1/(2·p(median)·√n).
            let standard = 0.5 / (model.log_peak(&params).exp() * root);
            assert!(error.abs() < 5.0 * standard, "{model:?} {params:?}: {error}");
            continue;
        }
        let mean = draws.iter().sum::<f64>() / count as f64;
        let moment =
            |power| draws.iter().map(|d| (d - mean).powi(power)).sum::<f64>() / count as f64;
        let (delay, spread) = (model.delay(&params), model.spread(&params));
        assert!((mean - delay).abs() < 5.0 * spread / root, "{model:?}: {mean} {delay}");
        let standard = (moment(4) - moment(2).powi(2)).sqrt() / root;
        let error = moment(2) - spread * spread;
        assert!(error.abs() < 5.0 * standard, "{model:?} {params:?}: {error} {standard}");
    }
}

#[test]
fn draws_follow_the_density() {
    let count = 20_000;
    for (model, params) in built() {
        let mut random = Random::new(3);
        let mut draws: Vec<f64> = (0..count).map(|_| model.sample(&params, &mut random)).collect();
        draws.sort_by(f64::total_cmp);
        for i in (500..count).step_by(1000) {
            let error = cumulative(&*model, &params, draws[i]) - (i as f64 + 0.5) / count as f64;
            // Kolmogorov and Smirnov: a larger deviation anywhere has a chance of one in a thousand.
            let allowed = 1.95 / (count as f64).sqrt();
            assert!(error.abs() < allowed, "{model:?} {params:?} {i}: {error}");
        }
    }
}

#[test]
fn starts_have_the_delay_and_spread_asked_for() {
    for (model, params) in built() {
        for (delay, spread) in [(-3.0, 0.1), (0.0, 1.0), (2.5, 20.0)] {
            let start = model.start(delay, spread);
            assert_eq!(start.len(), params.len(), "{model:?}");
            if start.is_empty() {
                continue;
            }
            // Rounding of sums of numbers near the larger of the two.
            assert!((model.delay(&start) - delay).abs() < 1e-14 * (3.0 + spread), "{model:?}");
            assert!((model.spread(&start) - spread).abs() < 1e-13 * spread, "{model:?}");
        }
    }
    let start = Noise::GaussianMixture { components: 3 }.build(1.0).unwrap().start(0.0, 1.0);
    assert!(start[2] < start[3] && start[3] < start[4], "delays alike: {start:?}");
    assert!(start[5] < start[6] && start[6] < start[7], "spreads alike: {start:?}");
}

#[test]
fn a_mixture_of_one_is_the_gaussian_to_the_bit() {
    let (mixture, params) = (GaussianMixture::new(1), [1.7, -0.4]);
    let (delays, responsibilities) = ([-80.0, 0.0, 1.7, 2.0], [0.1, 0.9, 0.5, 0.3]);
    assert_eq!(log_density(&mixture, &params, &delays), log_density(&Gaussian, &params, &delays));
    let (mut a, mut b) = ([0.0; 2], [0.0; 2]);
    mixture.pull_back(&params, &delays, &responsibilities, &mut a);
    Gaussian.pull_back(&params, &delays, &responsibilities, &mut b);
    assert_eq!(a, b);
    for drop in DROPS {
        assert_eq!(mixture.reach(&params, drop), Gaussian.reach(&params, drop));
    }
    assert_eq!(mixture.log_peak(&params), Gaussian.log_peak(&params));
    assert_eq!(mixture.delay(&params), Gaussian.delay(&params));
}

#[test]
fn an_empty_component_does_nothing() {
    let none = f64::NEG_INFINITY;
    let (three, two) = (GaussianMixture::new(3), GaussianMixture::new(2));
    let with = [none, 0.3, 9.0, 1.0, -2.0, 1.0, 0.5, 0.0];
    let without = [0.3, 1.0, -2.0, 0.5, 0.0];
    let delays = [-1e4, -2.0, 0.0, 9.0, 1e4];
    assert_eq!(log_density(&three, &with, &delays), log_density(&two, &without, &delays));
    let (mut a, mut b) = ([0.0; 8], [0.0; 5]);
    three.pull_back(&with, &delays, &[1.0; 5], &mut a);
    two.pull_back(&without, &delays, &[1.0; 5], &mut b);
    assert_eq!([a[1], a[3], a[4], a[6], a[7]], b);
    assert_eq!([a[0], a[2], a[5]], [0.0; 3]);
    assert_eq!(three.delay(&with), two.delay(&without));
}

#[test]
fn far_delays_stay_finite_in_a_mixture() {
    let mixture = GaussianMixture::new(2);
    let params = [0.0, 0.0, 10.0, -3.0, -2.0];
    let delays = [-1e8, 1e8];
    assert!(log_density(&mixture, &params, &delays).iter().all(|v| v.is_finite()));
    let mut d_params = [0.0; 5];
    mixture.pull_back(&params, &delays, &[1.0, 1.0], &mut d_params);
    assert!(d_params.iter().all(|v| v.is_finite()), "{d_params:?}");
}

#[test]
fn parameters_survive_the_way_through_their_natural_values() {
    for (model, params) in built() {
        let mut rest = params.as_slice();
        for block in model.blocks() {
            let (own, others) = rest.split_at(block.transform.dim(block.len));
            let natural = block.transform.natural(own);
            assert_eq!(natural.len(), block.len);
            let back = block.transform.unconstrained(&natural).expect("natural values are valid");
            for (a, b) in own.iter().zip(back) {
                // Rounding of logs near 18 and of 1 + eˣ.
                assert!(*a == b || (a - b).abs() < 1e-13, "{model:?} {}", block.name);
            }
            rest = others;
        }
        assert!(rest.is_empty(), "{model:?}");
    }
}

#[test]
fn settings_are_written_read_and_checked() {
    for (noise, _) in cases() {
        let text = serde_json::to_string(&noise).expect("plain data");
        assert!(text.contains(&format!("\"kind\":\"{}\"", noise.name())), "{text}");
        assert_eq!(serde_json::from_str::<Noise>(&text).expect("just written"), noise);
    }
    for text in [
        r#"{"kind":"cauchy"}"#,
        r#"{"kind":"gaussian_mixture"}"#,
        r#"{"kind":"gaussian_mixture","components":2,"other":1}"#,
        r#"{"kind":"gaussian","components":3}"#,
    ] {
        assert!(serde_json::from_str::<Noise>(text).is_err(), "{text}");
    }
    for components in [0, 65] {
        let error = Noise::GaussianMixture { components }.build(1.0).expect_err("out of range");
        assert!(matches!(error, Error::OutOfRange { value, .. } if value == components as f64));
    }
    let infinity = f64::INFINITY;
    for (earliest, latest) in [(1.0, 1.0), (2.0, 1.0), (0.0, infinity), (-infinity, 0.0)] {
        assert!(Noise::Uniform { earliest, latest }.build(1.0).is_err(), "{earliest} {latest}");
    }
    assert!(Noise::Uniform { earliest: f64::NAN, latest: 1.0 }.build(1.0).is_err());
}

#[test]
fn uniform_is_measured_in_the_unit_and_includes_its_ends() {
    let model = Noise::Uniform { earliest: -1.0, latest: 3.0 }.build(0.5).unwrap();
    assert_eq!(model.reach(&[], 7.0), (-2.0, 6.0));
    let outside = f64::NEG_INFINITY;
    let full = -(8f64.ln());
    let got = log_density(&*model, &[], &[-2.1, -2.0, 0.0, 6.0, 6.1]);
    assert_eq!(got, [outside, full, full, full, outside]);
    assert_eq!((model.delay(&[]), model.spread(&[])), (2.0, 8.0 / 12f64.sqrt()));
}
