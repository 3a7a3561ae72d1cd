//! Evidence and derivatives for every pair of counts and noise, in both orders.

use ndarray::Array2;

use super::*;
use crate::inference::{Stamp, Timeline};
use crate::labels::{Chain, Labels, Variable};
use crate::math::{log_sigmoid, sigmoid};
use crate::model::stamp_model::Clock;
use crate::model::{PosteriorOptions, Variation, Varying, posterior};
use crate::{Counts, Noise, Session};

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
    assert!(few.contains("the annotator takes 3 values, 1 were given"), "{few}");
}

#[test]
fn one_stream_of_points_keeps_its_bits() {
    for (order, _) in ORDERS {
        // Hardly any time divided by this is exact.
        let annotator = annotator(&Counts::Poisson, &Noise::Laplace, order, 0.3);
        let params = params_of(&annotator);
        let got = gradient(&annotator, &params, &STAMPS, &LOG_ODDS);
        let stamps = Stamp::at(&STAMPS);
        let rows = Given { log_odds: &LOG_ODDS, d_log_odds: Mutex::new(vec![0.0; 7]) };
        let mut sums = Sums::zeros(0, params.len());
        let bound = annotator.parts.model.bind(&params, Clock::default(), STAMPS.len());
        bound.add(Timeline::new(&TIMES, &stamps, 0.3), &rows, &mut sums).expect("an alignment");
        assert_eq!(got.log_evidence, sums.value - 3.0 * 0.3_f64.ln(), "{order:?}");
        assert_eq!(got.d_params, sums.d_annotator, "{order:?}");
        assert_eq!(got.d_log_odds, rows.d_log_odds.into_inner().expect("no panic"), "{order:?}");
    }
}

/// Stamps of two people, the second known to an interval.
const STAMPS_OF_TWO: [f64; 5] = [1.41, 1.83, 2.74, 5.32, 5.97];
const WIDTHS: [f64; 5] = [0.0, 0.5, 0.0, 1.2, 0.0];
const PEOPLE: [usize; 5] = [0, 1, 0, 1, 0];

/// Everything that may differ, in the unit of the data.
fn effects() -> Vec<Effect> {
    let by = |what: Varying, by: Factor, names: &[&str], scale: f64| {
        let names = names.iter().map(|&name| name.to_owned()).collect();
        Effect { variation: Variation { what, by }, names, scale }
    };
    vec![
        by(Varying::Delay, Factor::Annotator, &["bob", "ann"], 0.8),
        by(Varying::Offset, Factor::Clock, &["phone", "tablet"], 3.0),
        by(Varying::Drift, Factor::Clock, &["phone"], 0.02),
        by(Varying::Spread, Factor::Annotator, &["ann", "bob"], 0.4),
        by(Varying::MissRate, Factor::Annotator, &["ann", "bob"], 0.7),
        by(Varying::FalseRate, Factor::Subject, &["s1"], 0.7),
        by(Varying::BackgroundRate, Factor::Annotator, &["ann", "bob"], 0.7),
    ]
}

/// The groups of a person in a session of subject s1, stamped by phone.
fn group_of(person: &'static str) -> impl Fn(Factor) -> Option<&'static str> {
    move |by| match by {
        Factor::Annotator => Some(person),
        Factor::Subject => Some("s1"),
        Factor::Clock => Some("phone"),
        Factor::Session | Factor::Device | Factor::Class => None,
    }
}

/// An annotator with groups, about each of these, and parameters off their start.
fn grouped(labelling: Labelling, order: Order, unit: f64) -> (Annotator, Vec<f64>, Vec<Members>) {
    let annotator = annotator(&Counts::Bernoulli, &Noise::Gaussian, order, unit);
    let annotator = annotator.with_labels(labelling).with_groups(effects()).expect("groups");
    let start: [(&str, &[f64]); 6] = [
        ("counts.false_rate", &[0.07]),
        ("noise.delay", &[0.3]),
        ("background.rate", &[0.05]),
        ("groups.delay_by_annotator", &[0.2, -0.3]),
        ("groups.offset_by_clock", &[0.15, 0.0]),
        ("groups.drift_by_clock", &[0.04]),
    ];
    let params = annotator.start(&start).expect("values");
    let members = ["ann", "bob"].map(|person| annotator.members(group_of(person))).to_vec();
    (annotator, params, members)
}

const LABELLINGS: [Labelling; 4] = [
    Labelling { labels: Labels::Independent, stamps: Variable::Onset, ends: false },
    Labelling { labels: Labels::Chain, stamps: Variable::Onset, ends: false },
    Labelling { labels: Labels::Chain, stamps: Variable::End, ends: false },
    Labelling { labels: Labels::Chain, stamps: Variable::Presence, ends: false },
];

fn of_two(members: &[Members]) -> SessionStamps<'_> {
    SessionStamps { stamps: &STAMPS_OF_TWO, widths: &WIDTHS, annotators: &PEOPLE, members }
}

fn gradient_of_two(
    annotator: &Annotator,
    params: &[f64],
    members: &[Members],
    log_odds: &[f64],
) -> Gradient {
    let stamps = of_two(members);
    annotator.gradient_of("two", params, &TIMES, &stamps, log_odds).expect("an alignment exists")
}

#[test]
fn annotators_intervals_groups_and_chains_match_central_differences() {
    // What streams tell each other settles to 1e-7. The evidence is stationary in it, its derivatives are not.
    const TOLERANCE: f64 = 2e-6;
    let mut known = LOG_ODDS;
    (known[1], known[4]) = (f64::INFINITY, f64::NEG_INFINITY);
    for (labelling, (order, _)) in LABELLINGS.into_iter().flat_map(|l| ORDERS.map(|o| (l, o))) {
        let (annotator, params, members) = grouped(labelling, order, UNIT);
        for log_odds in [LOG_ODDS, known] {
            let got = gradient_of_two(&annotator, &params, &members, &log_odds);
            let value =
                |p: &[f64], f: &[f64]| gradient_of_two(&annotator, p, &members, f).log_evidence;
            let want_params = differences(&params, |p| value(p, &log_odds));
            for (k, (got, want)) in got.d_params.iter().zip(&want_params).enumerate() {
                let off = (got - want).abs() / want.abs().max(1.0);
                assert!(off < TOLERANCE, "{labelling:?} {order:?} number {k}: {got} {want}");
            }
            let want_log_odds = differences(&log_odds, |f| value(&params, f));
            for (got, (want, f)) in got.d_log_odds.iter().zip(want_log_odds.iter().zip(log_odds)) {
                let want = if f.is_finite() { *want } else { 0.0 };
                let off = (got - want).abs() / want.abs().max(1.0);
                assert!(off < TOLERANCE, "{labelling:?} {order:?}: {got} {want}");
            }
        }
        // A tablet stamped nothing.
        let tablet = annotator.layout().parameter("groups.offset_by_clock").expect("one");
        let got = gradient_of_two(&annotator, &params, &members, &LOG_ODDS);
        assert_eq!(got.d_params[tablet.range.end - 1], 0.0);
    }
}

/// The same session as a detector would see it.
fn session() -> Session<'static> {
    let people = PEOPLE.map(|k| ["ann", "bob"][k].to_owned());
    Session::new("two", Array2::<f64>::zeros((7, 1)), TIMES.to_vec(), STAMPS_OF_TWO.to_vec())
        .and_then(|session| session.with_widths(WIDTHS.to_vec()))
        .and_then(|session| session.with_annotators(&people, &[]))
        .expect("a session")
        .with_subject("s1")
        .with_clock("phone")
}

#[test]
fn sessions_are_those_of_a_detector() {
    for (labelling, (order, _)) in LABELLINGS.into_iter().flat_map(|l| ORDERS.map(|o| (l, o))) {
        let (annotator, params, members) = grouped(labelling, order, UNIT);
        let got = gradient_of_two(&annotator, &params, &members, &LOG_ODDS);
        let all: Vec<usize> = (0..TIMES.len()).collect();
        let in_time =
            InTime::new(&session(), &all, UNIT, &annotator.parts.groups, &Classes::default());
        let rows = Given { log_odds: &LOG_ODDS, d_log_odds: Mutex::new(vec![0.0; 7]) };
        let mut sums = Sums::zeros(0, params.len());
        annotator.parts.bind(&params, &in_time).add(&rows, &mut sums).expect("an alignment");
        // The unit is divided out at another place: rounding, in messages that settle to 1e-7.
        let close = |got: f64, want: f64| (got - want).abs() < 1e-9 * want.abs().max(1.0);
        assert!(close(got.log_evidence, sums.value - 5.0 * UNIT.ln()), "{labelling:?} {order:?}");
        let d_log_odds = rows.d_log_odds.into_inner().expect("no panic");
        let wants = sums.d_annotator.iter().chain(&d_log_odds);
        for (got, want) in got.d_params.iter().chain(&got.d_log_odds).zip(wants) {
            assert!(close(*got, *want), "{labelling:?} {order:?}: {got} {want}");
        }
    }
}

#[test]
fn the_unit_of_time_changes_no_evidence() {
    for (labelling, (order, _)) in LABELLINGS.into_iter().flat_map(|l| ORDERS.map(|o| (l, o))) {
        let [one, other] = [1.0, 7.0].map(|unit| {
            let (annotator, mut params, members) = grouped(labelling, order, unit);
            // The first guesses are in units.
            let layout = annotator.layout();
            for (name, natural) in
                [("noise.spread", 0.9), ("labels.onset_rate", 0.2), ("labels.offset_rate", 0.6)]
            {
                let Ok((range, numbers)) = layout.resolve(name, &[natural], unit) else { continue };
                params[range].copy_from_slice(&numbers);
            }
            gradient_of_two(&annotator, &params, &members, &LOG_ODDS)
        });
        // Rounding, in messages that settle to 1e-7, in which the evidence is stationary.
        let off = (one.log_evidence - other.log_evidence).abs();
        assert!(off < 1e-10, "{labelling:?} {order:?}: {off}");
    }
}

#[test]
fn sessions_without_instances_say_nothing() {
    // One person, with groups and without, and two.
    for ((people, is_grouped), labelling) in
        [(1, false), (1, true), (2, true)].into_iter().flat_map(|p| LABELLINGS.map(|l| (p, l)))
    {
        let bare = annotator(&Counts::Bernoulli, &Noise::Gaussian, Order::Free, UNIT);
        let own = bare.with_labels(labelling);
        let own = own.with_groups(if is_grouped { effects() } else { Vec::new() });
        let own = own.expect("groups");
        let params = own.start(&[]).expect("a start");
        let members = ["ann", "bob"].map(|person| own.members(group_of(person)));
        let members = &members[..people];
        let stamps = SessionStamps { stamps: &[], widths: &[], annotators: &[], members };
        let found = own.gradient_of("none", &params, &[], &stamps, &[]).expect("no stamps");
        assert_eq!(found.log_evidence, 0.0, "{labelling:?}");
        assert_eq!(found.d_params, vec![0.0; params.len()], "{labelling:?}");
        assert!(own.probabilities("none", &params, &[], &[]).expect("no numbers").is_empty());
    }
}

#[test]
fn derivatives_in_log_odds_are_posterior_minus_probabilities() {
    for (labelling, (order, _)) in LABELLINGS.into_iter().flat_map(|l| ORDERS.map(|o| (l, o))) {
        let (annotator, params, members) = grouped(labelling, order, UNIT);
        let prior = annotator.probabilities("two", &params, &TIMES, &LOG_ODDS).expect("numbers");
        let got = gradient_of_two(&annotator, &params, &members, &LOG_ODDS);
        let in_time = InTime::given(&TIMES, &of_two(&members), UNIT);
        let found = annotator.parts.bind(&params, &in_time).posterior(&LOG_ODDS);
        let found = found.expect("an alignment exists");
        for (i, (d, prior)) in got.d_log_odds.iter().zip(prior).enumerate() {
            let off = d - (found.positive(i) - prior);
            assert!(off.abs() < 1e-6, "{labelling:?} {order:?}: {off}"); // messages settle to 1e-7
        }
    }
}

#[test]
fn stamps_of_a_chain_are_given_labels_that_are_certain() {
    let labelling = Labelling { labels: Labels::Chain, stamps: Variable::Onset, ends: false };
    let (annotator, params, members) = grouped(labelling, Order::Free, 1.0);
    let all: Vec<usize> = (0..TIMES.len()).collect();
    let rates = labelling.rates(&params, 1.0);
    let prior = Chain::new(&TIMES, 1, rates, &LOG_ODDS).presence();
    for (i, label) in [(2, true), (3, false)] {
        let mut certain = LOG_ODDS;
        certain[i] = if label { f64::INFINITY } else { f64::NEG_INFINITY };
        let got = gradient_of_two(&annotator, &params, &members, &certain);
        let mut labels = vec![None; TIMES.len()];
        labels[i] = Some(label);
        let session = session().with_labels(labels).expect("labels");
        let in_time =
            InTime::new(&session, &all, 1.0, &annotator.parts.groups, &Classes::default());
        let both = annotator.parts.bind(&params, &in_time).log_evidence(&LOG_ODDS);
        let of_label = (if label { prior[i] } else { 1.0 - prior[i] }).ln();
        // Messages settle to 1e-7, and the evidence is stationary in them.
        let off = got.log_evidence - (both.expect("an alignment") - of_label);
        assert!(off.abs() < 1e-10, "{label}: {off}");
    }
}

#[test]
fn deviations_are_normal_and_as_wide_as_was_said() {
    let priors = Priors::default();
    let (annotator, params, _) = grouped(LABELLINGS[1], Order::Free, UNIT);
    let is_free = vec![true; params.len()];
    let (value, gradient) = annotator.log_prior(&priors, &params, &is_free).expect("a prior");
    let want =
        differences(&params, |p| annotator.log_prior(&priors, p, &is_free).expect("a prior").0);
    for (got, want) in gradient.iter().zip(want) {
        // h² of truncation and a rounding of 1e-15/h of a value of order 10.
        assert!((got - want).abs() < 1e-8 * want.abs().max(1.0), "{got} {want}");
    }
    let mut others = is_free.clone();
    others[annotator.parts.deviations()].fill(false);
    let (without, _) = annotator.log_prior(&priors, &params, &others).expect("a prior");
    let log_normal = |deviation: f64, scale: f64| {
        let spreads: f64 = deviation / scale;
        -0.5 * spreads * spreads - scale.ln() - 0.5 * (2.0 * std::f64::consts::PI).ln()
    };
    // In units of 2: delays of ann and bob, offsets of phone and tablet, the drift, and seven zeros.
    let of_times = [(0.1, 0.4), (-0.15, 0.4), (0.075, 1.5), (0.0, 1.5), (0.04, 0.02)];
    let others = [(0.0, 0.4); 2].into_iter().chain([(0.0, 0.7); 5]);
    let want: f64 = of_times.into_iter().chain(others).map(|(x, s)| log_normal(x, s)).sum();
    assert!((value - without - want).abs() < 1e-12, "{} {want}", value - without); // rounding
}

#[test]
fn groups_are_told_by_name() {
    let (annotator, params, members) = grouped(LABELLINGS[0], Order::Free, UNIT);
    // Names are in order, whatever the order in which they came.
    assert_eq!(members[0], [0, 2, 4, 5, 7, 9, 10].map(Some));
    assert_eq!(members[1], [1, 2, 4, 6, 8, 9, 11].map(Some));
    let stranger = annotator.members(|_| Some("nobody"));
    assert_eq!(stranger, [None; 7]);
    let natural = annotator.natural(&params).expect("numbers");
    let delays = natural.iter().find(|(name, _)| *name == "groups.delay_by_annotator");
    // One division and one product.
    assert!(delays.expect("delays").1.iter().zip([0.2, -0.3]).all(|(a, b)| (a - b).abs() < 1e-15));
}

#[test]
fn mistakes_of_several_annotators_are_named() {
    let uniform = Noise::Uniform { earliest: 0.0, latest: 0.5 };
    let annotator = annotator(&Counts::Bernoulli, &uniform, Order::Free, UNIT);
    let params = annotator.start(&[("background.rate", &[0.0])]).expect("a start");
    let two: [Members; 2] = [Vec::new(), Vec::new()];
    let good = SessionStamps {
        stamps: &[0.3, 1.2, 9.0],
        widths: &[],
        annotators: &[0, 1, 1],
        members: &two,
    };
    let message = |given: SessionStamps<'_>| {
        let result = annotator.gradient_of("seven", &params, &TIMES, &given, &LOG_ODDS);
        result.expect_err("a mistake").to_string()
    };
    let far = message(good);
    assert!(far.contains("session seven") && far.contains("stamp 2 at 9:"), "{far}");
    let crowd = SessionStamps { stamps: &[0.1; 8], annotators: &[1; 8], ..good };
    assert!(message(crowd).contains("session seven: 8 stamps"), "{}", message(crowd));
    let short = message(SessionStamps { annotators: &[0, 1], ..good });
    assert!(short.contains("2 annotators for 3 stamps"), "{short}");
    let whose = message(SessionStamps { annotators: &[], ..good });
    assert!(whose.contains("0 annotators for 3 stamps"), "{whose}");
    let nobody = message(SessionStamps { stamps: &[], annotators: &[], members: &[], ..good });
    assert!(nobody.contains("0 annotators for 0 stamps"), "{nobody}");
    let third = message(SessionStamps { annotators: &[0, 1, 2], ..good });
    assert!(third.contains("annotator of stamp 2 is 2"), "{third}");
    let narrow = message(SessionStamps { widths: &[0.0, -1.0, 0.0], ..good });
    assert!(narrow.contains("the width of stamp 1 is -1"), "{narrow}");
    let members = [vec![Some(0)], vec![Some(0)]];
    let grouped = message(SessionStamps { members: &members, ..good });
    assert!(grouped.contains("1 groups of an annotator for 0 numbers that vary"), "{grouped}");
}

#[test]
fn mistakes_of_groups_are_named() {
    let message = |effects: Vec<Effect>| {
        let annotator = annotator(&Counts::Bernoulli, &Noise::Gaussian, Order::Free, UNIT);
        annotator.with_groups(effects).expect_err("a mistake").to_string()
    };
    let effect = |what| Effect {
        variation: Variation { what, by: Factor::Device },
        names: vec!["phone".to_owned()],
        scale: 1.0,
    };
    let delay = || effect(Varying::Delay);
    let twice = message(vec![delay(), delay()]);
    assert!(twice.contains("delay by device"), "{twice}");
    let none = message(vec![Effect { names: Vec::new(), ..delay() }]);
    assert!(none.contains("delay by device"), "{none}");
    let narrow = message(vec![Effect { scale: 0.0, ..delay() }]);
    assert!(narrow.contains("how wide delay by device scatters is 0"), "{narrow}");
}
