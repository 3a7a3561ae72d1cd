//! Every noise model against the laws it must obey.

use super::*;

/// All models with parameters that cover their corners; (settings, unconstrained parameters).
fn cases() -> Vec<(Noise, Vec<f64>)> {
    Noise::kinds().iter().flat_map(|kind| (kind.corners)()).collect()
}

fn built() -> Vec<(Box<dyn NoiseModel>, Vec<f64>)> {
    let build = |noise: Noise| noise.build(1.0).expect("valid settings");
    cases().into_iter().map(|(noise, params)| (build(noise), params)).collect()
}

pub(super) fn log_density(model: &dyn NoiseModel, params: &[f64], delays: &[f64]) -> Vec<f64> {
    let mut out = vec![f64::NAN; delays.len()];
    model.log_density(params, delays, &mut out);
    out
}

/// Number of components, for the bounds that depend on it.
fn components(model: &dyn NoiseModel) -> usize {
    model.parameters().iter().map(|parameter| parameter.len).max().unwrap_or(1)
}

/// ∫ p over [a, b] by the tanh-sinh rule, whose nodes crowd towards both ends: peaks, kinks and unbounded
/// derivatives there do no harm.
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

/// P(delay ≤ x), split at the densest place found, which covers kinks and peaks.
fn cumulative(model: &dyn NoiseModel, params: &[f64], x: f64) -> f64 {
    // The tail of half a degree of freedom beyond here is 1e-12.
    let (earliest, _) = model.reach(params, 80.0);
    let (low, high) = model.reach(params, 0.0);
    let peak = if model.parameters().is_empty() { x } else { 0.5 * (low + high) };
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
        // Omitted tails are below 3e-12; the rule itself is good to rounding.
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
        // Of either sign, and eight negative ones together.
        let sign = |k: usize| if (8..16).contains(&k) || k.is_multiple_of(5) { -1.0 } else { 1.0 };
        let responsibilities: Vec<f64> =
            (0..delays.len()).map(|k| sign(k) * random.uniform()).collect();
        let total: f64 = responsibilities.iter().map(|r| r.abs()).sum();
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
                // Not wider than necessary, except where the support ends.
                let at_end = log_density(&*model, &params, &[end])[0];
                let tight = at_end >= peak - drop - slack - 1e-6 * (1.0 + drop);
                let bounded = model.parameters().is_empty() || at_end == f64::NEG_INFINITY;
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
        // A delay outside the widest reach is impossible.
        let spread = model.spread(&params);
        for outside in [last.0 - 1e-6 * spread, last.1 + 1e-6 * spread] {
            let value = log_density(&*model, &params, &[outside])[0];
            let is_beyond = outside.is_infinite() || value == f64::NEG_INFINITY;
            assert!(is_beyond, "{model:?} {params:?}: {value} at {outside}");
        }
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
        // Tails that fall like a power of the delay: moments are infinite, or have infinite errors.
        let (low, high) = model.reach(&params, 80.0);
        if high - low > 1e3 * model.spread(&params) {
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
}

#[test]
fn parameters_survive_the_way_through_their_natural_values() {
    for (model, params) in built() {
        let mut rest = params.as_slice();
        for parameter in model.parameters() {
            let (own, others) = rest.split_at(parameter.transform.dim(parameter.len));
            let natural = parameter.transform.natural(own);
            assert_eq!(natural.len(), parameter.len);
            let back =
                parameter.transform.unconstrained(&natural).expect("natural values are valid");
            for (a, b) in own.iter().zip(back) {
                // Rounding of logs near 18 and of 1 + eˣ.
                assert!(*a == b || (a - b).abs() < 1e-13, "{model:?} {}", parameter.name);
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
        assert!(text.starts_with(&format!("{{\"kind\":\"{}\"", noise.name())), "{text}");
        assert_eq!(serde_json::from_str::<Noise>(&text).expect("just written"), noise);
        let more = text.replace('}', ",\"other\":1}");
        assert!(serde_json::from_str::<Noise>(&more).is_err(), "{more}");
        assert_eq!(noise.kind().noise(&noise.settings()).expect("its own settings"), noise);
        for (k, setting) in noise.kind().settings.iter().enumerate() {
            let less = text.replace(&format!("\"{}\":", setting.name), "\"other\":");
            assert!(serde_json::from_str::<Noise>(&less).is_err(), "{less}");
            for value in [f64::NAN, f64::INFINITY, setting.range.0 - 1.0, setting.range.1 + 1.0] {
                let mut settings = noise.settings();
                settings[k] = value;
                let refused = noise.kind().noise(&settings).and_then(|noise| noise.build(1.0));
                let is_ordinary = value == setting.range.0 || value == setting.range.1;
                assert!(is_ordinary || refused.is_err(), "{} {value}", setting.name);
            }
        }
    }
    assert!(serde_json::from_str::<Noise>(r#"{"kind":"cauchy"}"#).is_err());
}

#[test]
fn the_table_says_what_the_models_are() {
    for kind in Noise::kinds() {
        let noise = kind.example();
        assert_eq!(noise.kind().name, kind.name);
        let parameters = noise.build(1.0).expect("ordinary settings").parameters();
        let names: Vec<&str> = parameters.iter().map(|parameter| parameter.name.as_str()).collect();
        let said: Vec<&str> = kind.parameters.iter().map(|parameter| parameter.name).collect();
        assert_eq!(said, names, "{}", kind.name);
        let is_list = |parameter: &Parameter| parameter.example.len() > 1;
        assert!(kind.parameters.iter().all(|one| one.is_list == is_list(one)), "{}", kind.name);
        noise.with(&kind.example_values()).expect("ordinary values");
        let lengths = kind.settings.iter().filter(|setting| setting.value == Value::Length);
        let lists = kind.parameters.iter().any(|parameter| parameter.is_list);
        assert_eq!(lengths.count(), usize::from(lists), "{}", kind.name);
        let names = kind.settings.iter().map(|setting| setting.name).chain(said);
        let words = names.chain([kind.name]).all(|name| {
            name.chars().all(|c| c.is_ascii_lowercase() || c == '_') && !name.is_empty()
        });
        assert!(words, "{}: a name is in snake case", kind.name);
        let refused = kind.noise(&[1.0; 9]).expect_err("nobody has so many").to_string();
        assert!(refused.contains(kind.name), "{refused}");
        assert!((kind.corners)().iter().all(|(noise, _)| noise.name() == kind.name));
        assert!(!(kind.corners)().is_empty(), "{}: nothing holds it to the laws", kind.name);
    }
}
