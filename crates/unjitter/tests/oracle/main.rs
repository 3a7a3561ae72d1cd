//! Bare inference against the enumeration oracle, which sums the joint term by term.

mod free;
mod golden;
#[path = "../common/kept.rs"]
mod kept;

use golden::{Case, assert_marginals, golden, numbers};
use serde_json::Value;
use unjitter::inference::{Lattice, Marginals, Stamp, Stamped, Timeline, dense};
use unjitter::params::{ParameterSpec, Transform};
use unjitter::{Error, PosteriorOptions, posterior};

#[test]
fn the_posterior_is_the_enumerated_one() {
    let files = [golden("oracle"), golden("background")];
    let cases = files.iter().flat_map(|file| file["cases"].as_array().expect("cases"));
    let cases: Vec<&Value> = cases.filter(|case| case["alignment"] != "free").collect();
    assert!(cases.len() > 110, "{} cases", cases.len());
    for case in cases.into_iter().map(Case::new) {
        let background_rate = case.json["background"].as_f64().unwrap_or(0.0);
        let options = PosteriorOptions { background_rate, ..PosteriorOptions::default() };
        let noise = case.noise();
        let pinned = case.pinned();
        // A simplex is kept relative to its last weight, so a split cannot end in zero.
        let Ok(counts) = case.counts() else {
            assert_eq!(case.name, "split-with-zeros");
            continue;
        };
        let found = posterior(&case.times, &case.stamps, &pinned, &counts, &noise, &options);
        if case.is_infeasible() {
            let error = found.err().unwrap_or_else(|| panic!("{} is infeasible", case.name));
            let named = matches!(error, Error::Infeasible { .. } | Error::TooManyStamps { .. });
            assert!(named, "{}: {error}", case.name);
            continue;
        }
        let found = found.unwrap_or_else(|error| panic!("{}: {error}", case.name));
        // Silence of the background before and after all instances and stamps.
        let moments = || case.times.iter().chain(&case.stamps).copied();
        let (first, last) =
            (moments().fold(f64::INFINITY, f64::min), moments().fold(f64::NEG_INFINITY, f64::max));
        let duration = case.json["duration"].as_f64().unwrap_or(last - first);
        let silent = -background_rate * (duration - (last - first));
        let marginals = Marginals {
            log_evidence: found.log_evidence() + silent,
            counts: found.counts().clone(),
            responsibilities: found.responsibilities().clone(),
        };
        // The promise of inference: 1e-10, of logs down to −6000 and of probabilities.
        assert_marginals(&case, &marginals, 1e-10, "posterior");
        for (i, (got, want)) in
            found.positive().iter().zip(numbers(case.expected("positive"))).enumerate()
        {
            assert!((got - want).abs() < 1e-10, "{}: positive {i}", case.name); // as above
        }
        let best = found.best_alignment();
        assert_best(&case, &best.instances, best.log_weight + silent);
    }
}

#[test]
fn lattices_banded_and_dense_are_the_enumerated_ones() {
    let files = [golden("oracle"), golden("background")];
    let cases = files.iter().flat_map(|file| file["cases"].as_array().expect("cases"));
    for case in cases.filter(|case| case["alignment"] != "free").map(Case::new) {
        let rate = case.json["background"].as_f64().unwrap_or(0.0);
        let no_more = -rate * case.json["duration"].as_f64().unwrap_or(0.0);
        let noise = case.noise();
        let pinned = case.pinned();
        let tables = match case.counts() {
            Ok(counts) => counts.tables(case.stamps.len()),
            Err(_) => case.categorical_tables(),
        };
        let stamps = Stamp::at(&case.stamps);
        let density = noise.density();
        let stamped = Timeline::new(&case.times, &stamps, 1.0).with(&density);
        let lattice = Lattice {
            stamped: Stamped { log_background: rate.ln(), ..stamped },
            log_odds: &pinned,
            counts: &tables,
        };
        if case.is_infeasible() {
            assert!(dense::marginals(&lattice).is_err(), "{}", case.name);
            assert!(lattice.marginals().is_err(), "{}", case.name);
            continue;
        }
        let mut dense = dense::marginals(&lattice).unwrap();
        let mut banded = lattice.marginals().unwrap();
        let best = lattice.best_alignment(&banded);
        assert_best(&case, &best.instances, best.log_weight + no_more);
        dense.log_evidence += no_more;
        banded.log_evidence += no_more;
        // The promise of inference, as above.
        assert_marginals(&case, &dense, 1e-10, "dense");
        assert_marginals(&case, &banded, 1e-10, "banded");
    }
}

/// The best alignment to the instance, unless several are best, and its weight.
fn assert_best(case: &Case<'_>, instances: &[Option<usize>], log_weight: f64) {
    if !case.name.starts_with("tie-") {
        let want = case.expected("best_alignment").as_array().expect("owners").iter();
        let want: Vec<Option<usize>> =
            want.map(|owner| owner.as_u64().map(|i| i as usize)).collect();
        assert_eq!(instances, want, "{}", case.name);
    }
    let want = case.expected("best_log_weight").as_f64().expect("feasible");
    let got = log_weight + case.log_labels();
    // A sum of at most thirty logs, down to −6000: rounding only, as for the evidence.
    assert!((got - want).abs() < 1e-10 * want.abs().max(1.0), "{}: {got} {want}", case.name);
}

/// The derivatives that the parts make of the marginals are those of the enumerated evidence.
#[test]
fn pulled_back_marginals_are_the_enumerated_derivatives() {
    let golden = golden("oracle");
    let mut compared = 0;
    for case in golden["cases"].as_array().expect("cases").iter().map(Case::new) {
        let (Ok(counts), false) = (case.counts(), case.is_infeasible()) else { continue };
        let (noise, pinned) = (case.noise(), case.pinned());
        let found = posterior(
            &case.times,
            &case.stamps,
            &pinned,
            &counts,
            &noise,
            &PosteriorOptions::default(),
        )
        .unwrap();
        let close = |got: f64, want: &Value, name: &str| {
            // No two-sided derivative at a bound or a kink.
            let Some(want) = want.as_f64() else { return 0 };
            // Sums of at most twenty terms with posteriors good to 1e-10.
            let tolerance = 1e-9 * want.abs().max(1.0);
            assert!((got - want).abs() < tolerance, "{}: {name} {got} {want}", case.name);
            1
        };

        let json = &case.json["counts"];
        let rate = |name: &str| json[name].as_f64().expect("a rate");
        let model = case.counts_kind().build().unwrap();
        let params = model.start(rate("false_rate"), rate("hit_rate"));
        let mut d_params = vec![0.0; params.len()];
        for label in [0, 1] {
            let expected: Vec<f64> = (0..=case.stamps.len())
                .map(|c| {
                    let of = |i| found.counts().row(i).get(c).map_or(0.0, |pair| pair[label]);
                    (0..case.times.len()).map(of).sum()
                })
                .collect();
            model.pull_back(&params, label, &expected, &mut d_params);
        }
        let gradient = &case.json["gradient"];
        compared += close(d_params[0], &gradient["false_rate_logit"], "false_rate");
        compared += close(d_params[1], &gradient["hit_rate_logit"], "hit_rate");

        let model = case.noise_kind().build(1.0).unwrap();
        let json = &case.json["noise"];
        let unconstrained = |block: &ParameterSpec| {
            block.transform.unconstrained(&numbers(&json[&block.name])).expect("in range")
        };
        let params: Vec<f64> = model.parameters().iter().flat_map(unconstrained).collect();
        let (mut delays, mut shares) = (Vec::new(), Vec::new());
        for (l, z) in case.stamps.iter().enumerate() {
            let own = found.responsibilities().instances(l);
            delays.extend(case.times[own].iter().map(|t| z - t));
            shares.extend_from_slice(found.responsibilities().of_stamp(l));
        }
        let mut d_params = vec![0.0; params.len()];
        model.pull_back(&params, &delays, &shares, &mut d_params);
        let mut at = 0;
        for block in model.parameters() {
            let natural = numbers(&json[&block.name]);
            let want = &gradient["noise"][&block.name];
            for (k, value) in natural.iter().enumerate() {
                // d natural / d unconstrained; a simplex is not differentiated along itself there.
                let slope = match block.transform {
                    Transform::Free => 1.0,
                    Transform::Positive => *value,
                    Transform::AboveOne => value - 1.0,
                    _ => continue,
                };
                let want = if want.is_array() { &want[k] } else { want };
                let scaled = want.as_f64().map_or(Value::Null, |want| (want * slope).into());
                compared += close(d_params[at + k], &scaled, &block.name);
            }
            at += block.transform.dim(block.len);
        }
    }
    assert!(compared > 250, "{compared} derivatives compared");
}
