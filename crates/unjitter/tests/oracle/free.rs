//! Free alignment against exact sums: equal on trees, near elsewhere, and with derivatives of its own value.

use std::sync::{Arc, Mutex};

use serde_json::Value;
use unjitter::inference::{Alignment, Marginals, Order, Stamp, Timeline};
use unjitter::model::{Clock, Draws, OneAnnotator, StampModel, Sums};
use unjitter::params::ParameterSpec;
use unjitter::{Control, Error};

use super::assert_best;
use super::golden::{Case, assert_marginals, golden, numbers};
use super::kept::Kept;

/// The model of a case, without order and with a background, and its unconstrained parameters.
fn annotator(case: &Case<'_>) -> (OneAnnotator, Vec<f64>) {
    let counts = case.counts_kind().build().unwrap();
    let noise = case.noise_kind().build(1.0).unwrap();
    let unconstrained = |parameters: Vec<ParameterSpec>, json: &Value| -> Vec<f64> {
        let of = |one: &ParameterSpec| one.transform.unconstrained(&numbers(&json[&one.name]));
        parameters.iter().flat_map(|one| of(one).expect("in range")).collect()
    };
    let mut params = unconstrained(counts.parameters(), &case.json["counts"]);
    params.extend(unconstrained(noise.parameters(), &case.json["noise"]));
    params.push(number(&case.json["background"]).ln());
    let model = OneAnnotator::new(Arc::from(counts), Arc::from(noise));
    (model.with_order(Order::Free).with_background(), params)
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

/// Calls `work` with the case's stamps in time.
fn with_timeline<T>(case: &Case<'_>, work: impl FnOnce(Timeline<'_>) -> T) -> T {
    let stamps = Stamp::at(&case.stamps);
    let duration = number(&case.json["duration"]);
    work(Timeline { duration, ..Timeline::new(&case.times, &stamps, 1.0) })
}

fn posterior(case: &Case<'_>) -> Option<Marginals> {
    let (model, params) = annotator(case);
    let bound = model.bind(&params, Clock::default(), case.stamps.len());
    with_timeline(case, |timeline| bound.posterior(timeline, &case.pinned(), None).ok())
}

fn best_alignment(case: &Case<'_>, found: &Marginals) -> Alignment {
    let (model, params) = annotator(case);
    let bound = model.bind(&params, Clock::default(), case.stamps.len());
    with_timeline(case, |timeline| bound.best_alignment(timeline, &case.pinned(), found))
}

/// Whether stamps and the instances that could well own them form a forest.
fn is_forest(case: &Case<'_>) -> bool {
    let stamps = case.stamps.len();
    let mut tree: Vec<usize> = (0..stamps + case.times.len()).collect();
    for (i, row) in case.expected("responsibilities").as_array().expect("rows").iter().enumerate() {
        // What is less likely changes no other number by more.
        for (l, _) in numbers(row).iter().enumerate().filter(|(_, share)| **share > 1e-12) {
            if tree[l] == tree[stamps + i] {
                return false;
            }
            let (old, new) = (tree[l], tree[stamps + i]);
            tree.iter_mut().filter(|name| **name == old).for_each(|name| *name = new);
        }
    }
    true
}

/// How far an approximate posterior is off: with its sign, the log evidence; p(positive) of each instance;
/// for each stamp p(background) and the worst of its responsibilities.
struct Errors {
    log_evidence: f64,
    positive: Vec<f64>,
    responsibilities: Vec<f64>,
    background: Vec<f64>,
}

impl Errors {
    fn of(case: &Case<'_>, got: &Marginals) -> Self {
        let log_evidence =
            got.log_evidence + case.log_labels() - number(case.expected("log_evidence"));
        let off = |got: f64, want: &Value| (got - number(want)).abs();
        let positive = |i: usize| off(got.counts.positive(i), &case.expected("positive")[i]);
        let shares = &got.responsibilities;
        let responsibility = |l: usize| {
            let one = |i: usize| off(shares.get(i, l), &case.expected("responsibilities")[i][l]);
            (0..case.times.len()).map(one).fold(0.0, f64::max)
        };
        let background = |l: usize| {
            let owned: f64 = shares.of_stamp(l).iter().sum();
            off(1.0 - owned, &case.expected("background")[l])
        };
        Self {
            log_evidence,
            positive: (0..case.times.len()).map(positive).collect(),
            responsibilities: (0..case.stamps.len()).map(responsibility).collect(),
            background: (0..case.stamps.len()).map(background).collect(),
        }
    }
}

fn worst(errors: &[f64]) -> f64 {
    errors.iter().fold(0.0, |worst, error| worst.max(error.abs()))
}

#[test]
fn free_alignment_is_exact_on_trees_and_near_elsewhere() {
    let golden = golden("background");
    let cases = golden["cases"].as_array().expect("cases").iter();
    let (mut exact, mut near) = (0, 0);
    for case in cases.filter(|case| case["alignment"] == "free").map(Case::new) {
        let found = posterior(&case);
        if case.is_infeasible() {
            assert!(found.is_none(), "{}", case.name);
            continue;
        }
        let found = found.unwrap_or_else(|| panic!("{} is possible", case.name));
        let best = best_alignment(&case, &found);
        assert_best(&case, &best.instances, best.log_weight);
        if is_forest(&case) {
            // Messages on a tree are done after two rounds; windows leave out 1e-10 of a stamp.
            assert_marginals(&case, &found, 1e-8, "free");
            exact += 1;
            continue;
        }
        let errors = Errors::of(&case, &found);
        let got = [&[errors.log_evidence][..], &errors.positive, &errors.responsibilities];
        let got = got.map(worst);
        // The worst by far is a full matching of three stamps and three instances.
        let most =
            if case.name == "free-matching" { [0.9, 0.0, 0.08] } else { [0.45, 0.011, 0.04] };
        assert!(got.iter().zip(most).all(|(got, most)| *got <= most), "{}: {got:?}", case.name);
        near += 1;
    }
    assert!(exact >= 6 && near >= 12, "{exact} exact, {near} near");
}

/// Prints the table of section 19, which has these rows to the digit.
#[test]
fn errors_of_free_alignment_are_as_documented() {
    let documented = include_str!("../../../../docs/model.md");
    let golden = golden("frontier");
    let cases: Vec<Case<'_>> =
        golden["cases"].as_array().expect("cases").iter().map(Case::new).collect();
    for (density, spread) in
        ["0.3", "0.6"].into_iter().flat_map(|d| ["0.3", "1.0", "3.0"].map(|s| (d, s)))
    {
        let name = format!("density-{density}-spread-{spread}-");
        let all: Vec<Errors> = cases
            .iter()
            .filter(|case| case.name.starts_with(&name))
            .map(|case| Errors::of(case, &posterior(case).expect("possible")))
            .collect();
        assert_eq!(all.len(), 10);
        // Never above, but for the accuracy of the messages.
        assert!(all.iter().all(|errors| errors.log_evidence < 1e-9));
        let column = |of: &dyn Fn(&Errors) -> Vec<f64>, digits: usize| {
            let errors: Vec<f64> = all.iter().flat_map(of).map(f64::abs).collect();
            let mean = errors.iter().sum::<f64>() / errors.len() as f64;
            format!("{mean:.digits$} | {:.digits$}", worst(&errors))
        };
        let columns = [
            column(&|errors| vec![errors.log_evidence], 3),
            column(&|errors| errors.positive.clone(), 4),
            column(&|errors| errors.responsibilities.clone(), 4),
            column(&|errors| errors.background.clone(), 4),
        ];
        let row = format!("| {density} | {spread} | {} |", columns.join(" | "));
        println!("{row}");
        assert!(documented.contains(&row), "{row}");
    }
}

#[test]
fn derivatives_are_those_of_the_approximate_evidence() {
    let golden = ["background", "frontier"].map(golden);
    let cases = golden.iter().flat_map(|file| file["cases"].as_array().expect("cases"));
    let mut compared = 0;
    for case in cases.filter(|case| case["alignment"] == "free").map(Case::new) {
        if case.is_infeasible() {
            continue;
        }
        let (model, params) = annotator(&case);
        // Log-odds first, then the model's own parameters.
        let at = |all: &[f64]| {
            let (log_odds, params) = all.split_at(case.times.len());
            let derivatives = Mutex::new(vec![0.0; log_odds.len()]);
            let rows = Kept { log_odds, derivatives };
            let mut sums = Sums::zeros(0, params.len());
            let bound = model.bind(params, Clock::default(), case.stamps.len());
            with_timeline(&case, |timeline| bound.add(timeline, &rows, &mut sums)).unwrap();
            let d_log_odds = rows.derivatives.into_inner().unwrap();
            (sums.value, [d_log_odds, sums.d_annotator].concat())
        };
        let point = [case.pinned(), params].concat();
        let (_, derivatives) = at(&point);
        for (k, &got) in derivatives.iter().enumerate().filter(|(k, _)| point[*k].is_finite()) {
            let moved = |step: f64| {
                let mut point = point.clone();
                point[k] += step;
                at(&point).0
            };
            let want = (moved(1e-4) - moved(-1e-4)) / 2e-4;
            // Differences have an error of h² times the third derivative.
            assert!(
                (got - want).abs() < 1e-6 * want.abs().max(1.0),
                "{}: {k}: {got} {want}",
                case.name
            );
            compared += 1;
        }
    }
    assert!(compared > 900, "{compared} derivatives compared");
}

#[test]
fn draws_without_order_are_refused() {
    let golden = golden("frontier");
    let case = Case::new(&golden["cases"][0]);
    let (model, params) = annotator(&case);
    let bound = model.bind(&params, Clock::default(), case.stamps.len());
    let draws = Draws { count: 3, seed: 1, control: Control::default() };
    let found = posterior(&case).expect("possible");
    let drawn =
        with_timeline(&case, |timeline| bound.sample(timeline, &case.pinned(), &found, draws));
    assert!(matches!(drawn, Err(Error::NoDraws)), "{drawn:?}");
}
