//! Properties of a fit beside its numbers: repeatability, units, partial knowledge and warnings.

mod common;

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use common::{Drawn, Truth};
use ndarray::{Array2, ArrayView1, Axis, concatenate};
use unjitter::features::Values;
use unjitter::learning::{LbfgsOptions, StopReason, Supervised, Target};
use unjitter::{
    Activation, ClassifierSpec, Control, Counts, Error, Features, FitOptions, Fitted, Iteration,
    Model, Noise, Progress, Session, Warning,
};

fn linear(row: ArrayView1<'_, f64>) -> f64 {
    -7.0 + 4.0 * row[0] - 2.0 * row[1]
}

fn truth() -> Truth<'static> {
    let rates: [(&str, &[f64]); 2] = [("false_rate", &[0.005]), ("hit_rate", &[0.9])];
    Truth {
        log_odds: &linear,
        features: 2,
        counts: Counts::Bernoulli.with(&rates).unwrap(),
        noise: Noise::Gaussian.with(&[("delay", &[0.6]), ("spread", &[0.7])]).unwrap(),
    }
}

fn drawn(sessions: usize, instances: usize, seed: u64) -> Vec<Session<'static>> {
    truth().draw_many(sessions, instances, seed).into_iter().map(|d| d.session).collect()
}

/// The same with events that features tell apart well.
fn clearly_drawn(sessions: usize, instances: usize, seed: u64) -> Vec<Session<'static>> {
    let clear = Truth { log_odds: &|x| 6.0 * linear(x), ..truth() };
    clear.draw_many(sessions, instances, seed).into_iter().map(|d| d.session).collect()
}

/// Stops only where rounding ends all progress.
fn to_the_end() -> FitOptions {
    let optimiser =
        LbfgsOptions { gradient_tolerance: 1e-9, value_tolerance: 0.0, ..LbfgsOptions::default() };
    FitOptions { restarts: 0, optimiser, ..FitOptions::default() }
}

fn fit(model: &Model, sessions: &[Session]) -> Fitted {
    model.fit(sessions, &to_the_end(), Control::default()).unwrap()
}

fn classifiers() -> [ClassifierSpec; 4] {
    let network = |hidden, activation| ClassifierSpec::Mlp { hidden, activation };
    [
        ClassifierSpec::Logistic,
        ClassifierSpec::Kernel { length_scale: None, landmarks: Some(25) },
        network(vec![4], Activation::Tanh),
        network(vec![4, 2], Activation::Relu),
    ]
}

/// Every natural value by name.
fn all_parameters(fitted: &Fitted) -> Vec<(String, Vec<f64>)> {
    fitted.parameter_names().map(|n| (n.to_owned(), fitted.parameter(n).unwrap())).collect()
}

fn assert_close(got: f64, want: f64, tolerance: f64, what: &str) {
    assert!((got - want).abs() <= tolerance, "{what}: {got} is not {want} ± {tolerance}");
}

/// A session with changed times, all else alike.
fn retimed(session: &Session, change: impl Fn(f64) -> f64) -> Session<'static> {
    let change = |times: &[f64]| times.iter().map(|&t| change(t)).collect();
    let (times, stamps) = (change(session.times()), change(session.stamps()));
    Session::new(session.name(), session.features().to_f64().into_owned(), times, stamps).unwrap()
}

/// All numbers of a fit, and how it went, to the bit.
fn bits(model: &Model, sessions: &[Session], threads: usize) -> impl PartialEq + std::fmt::Debug {
    // Bits differ or not long before convergence.
    let optimiser = LbfgsOptions { max_iterations: 8, ..LbfgsOptions::default() };
    let options = FitOptions {
        restarts: 1,
        seed: 3,
        threads: Some(threads),
        optimiser,
        ..FitOptions::default()
    };
    let fitted = model.fit(sessions, &options, Control::default()).unwrap();
    let bits = |v: &Vec<f64>| v.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    let params: Vec<_> =
        all_parameters(&fitted).into_iter().map(|(name, v)| (name, bits(&v))).collect();
    let outcome = fitted.outcome();
    let numbers = [outcome.value, outcome.log_evidence, outcome.gradient_norm];
    (params, numbers.map(f64::to_bits), outcome.iterations, outcome.evaluations)
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    // More than one task's worth of instances, in many sessions and in one.
    for sessions in [drawn(6, 2500, 1), drawn(1, 9_000, 1)] {
        for classifier in classifiers() {
            let model = Model { classifier, ..Model::default() };
            let one = bits(&model, &sessions, 1);
            assert_eq!(one, bits(&model, &sessions, 2), "{:?}", model.classifier);
            assert_eq!(one, bits(&model, &sessions, 1), "{:?}: the same again", model.classifier);
        }
    }
}

#[test]
fn single_precision_changes_no_bit() {
    // Some rows are out of sight, and of these some have labels: such rows are copied.
    let with = |session: &Session, features: Features<'static>| {
        let labels = (0..session.len()).map(|i| (i % 7 == 0).then_some(false)).collect();
        Session::new(session.name(), features, session.times().to_vec(), Vec::new())
            .and_then(|session| session.with_observed(vec![(0.0, 250.0)]))
            .and_then(|observed| observed.with_stamps(session.stamps().to_vec()))
            .and_then(|stamped| stamped.with_labels(labels))
            .unwrap()
    };
    let sessions = drawn(3, 400, 21);
    let (mut single, mut double) = (Vec::new(), Vec::new());
    for session in &sessions {
        let features = session.features().to_f64().mapv(|x| x as f32);
        double.push(with(session, features.mapv(f64::from).into()));
        single.push(with(session, features.into()));
    }
    assert!(matches!(single[0].features().values(), Values::Single(_)));
    for classifier in classifiers() {
        let model = Model { classifier, ..Model::default() };
        // Bits differ or not long before convergence.
        let optimiser = LbfgsOptions { max_iterations: 8, ..LbfgsOptions::default() };
        let options = FitOptions { restarts: 1, optimiser, ..FitOptions::default() };
        let of = |sessions: &[Session]| {
            let fitted = model.fit(sessions, &options, Control::default()).unwrap();
            let aligned = fitted.align(&sessions[0]).unwrap();
            let odds = fitted.log_odds(sessions[1].features()).unwrap();
            (all_parameters(&fitted), fitted.outcome().clone(), format!("{aligned:?}"), odds)
        };
        assert_eq!(of(&single), of(&double), "{:?}", model.classifier);
    }
}

#[test]
fn the_order_of_sessions_does_not_matter() {
    let sessions = drawn(5, 300, 2);
    let reversed: Vec<Session> = sessions.iter().rev().cloned().collect();
    let exact = ClassifierSpec::Kernel { length_scale: None, landmarks: None };
    for classifier in [ClassifierSpec::Logistic, exact] {
        let model = Model { classifier, ..Model::default() };
        let (a, b) = (fit(&model, &sessions), fit(&model, &reversed));
        let what = format!("{:?}", model.classifier);
        // The same optimum, reached to a gradient of 1e-9·√value.
        assert_close(a.outcome().value, b.outcome().value, 1e-6, &what);
        let (x, y) = (a.learned(), b.learned());
        assert_close(x.delay, y.delay, 1e-6, &what); // likewise
        assert_close(x.spread, y.spread, 1e-6, &what); // likewise
        assert_close(x.miss_rate, y.miss_rate, 1e-6, &what); // likewise
        let features = sessions[0].features();
        for (p, q) in a.predict(features).unwrap().iter().zip(b.predict(features).unwrap()) {
            assert_close(*p, q, 1e-6, &what); // likewise
        }
    }
}

#[test]
fn frozen_parameters_stay_and_the_others_move() {
    let sessions = drawn(3, 400, 3);
    let free = fit(&Model::default(), &sessions);
    let held = [
        ("noise.delay", 0.25),
        ("noise.spread", 1.5),
        ("counts.hit_rate", 0.7),
        ("counts.false_rate", 0.0),
        ("classifier.weights[1]", 0.3),
        ("classifier.intercept", -2.0),
    ];
    for (name, value) in held {
        let fitted = fit(&Model::default().freeze(name, &[value]), &sessions);
        let (block, entry) = match name.split_once('[') {
            Some((block, _)) => (block, 1),
            None => (name, 0),
        };
        // There and back through a logarithm or a logit.
        assert_close(fitted.parameter(block).unwrap()[entry], value, 1e-14, name);
        for (other, values) in all_parameters(&fitted) {
            let before = free.parameter(&other).unwrap();
            for (k, (now, before)) in values.iter().zip(&before).enumerate() {
                let is_held = other == block && k == entry;
                assert!(is_held || now != before, "{name} held, {other} has not noticed");
            }
        }
        // A constraint without its prior term: compare evidence, not posterior.
        assert!(fitted.outcome().log_evidence < free.outcome().log_evidence + 5.0, "{name}");
    }
}

#[test]
fn a_new_unit_of_time_rescales_times_and_nothing_else() {
    let seconds = drawn(3, 400, 4);
    let milliseconds: Vec<Session> = seconds.iter().map(|s| retimed(s, |t| 1000.0 * t)).collect();
    for (unit, scaled_unit) in [(None, None), (Some(0.5), Some(500.0))] {
        let model = |time_unit| Model { time_unit, ..Model::default() };
        let (a, b) = (fit(&model(unit), &seconds), fit(&model(scaled_unit), &milliseconds));
        assert_eq!(b.time_unit(), 1000.0 * a.time_unit());
        for (name, values) in all_parameters(&a) {
            let factor = match name.split('.').next() {
                Some("noise") => 1000.0,
                Some("background") => 1e-3,
                _ => 1.0,
            };
            for (x, y) in values.iter().zip(b.parameter(&name).unwrap()) {
                // The same optimum up to the rounding of times.
                assert_close(y, factor * x, 1e-6 * factor * x.abs().max(1.0), &name);
            }
        }
        let (x, y) = (a.learned(), b.learned());
        assert_close(y.delay, 1000.0 * x.delay, 1e-3, "delay"); // 1e-6 of a second
        assert_close(y.spread, 1000.0 * x.spread, 1e-3, "spread"); // 1e-6 of a second
        assert_close(y.miss_rate, x.miss_rate, 1e-6, "miss rate"); // likewise
        assert_close(a.outcome().value, b.outcome().value, 1e-6, "value"); // likewise
        let stamps: usize = seconds.iter().map(|s| s.stamps().len()).sum();
        let want = a.outcome().log_evidence - stamps as f64 * 1000f64.ln();
        assert_close(b.outcome().log_evidence, want, 1e-6, "log evidence"); // likewise
        let by_session: f64 = milliseconds.iter().map(|s| b.log_evidence(s).unwrap()).sum();
        assert_close(by_session, want, 1e-6, "log evidence by session"); // likewise
    }
}

#[test]
fn epoch_seconds_fit_as_times_from_zero() {
    let plain = drawn(3, 400, 5);
    // Stamps are multiples of 2⁻¹⁶ and 1.7e9 has 31 bits: nothing is rounded.
    let epoch: Vec<Session> = plain.iter().map(|s| retimed(s, |t| t + 1.7e9)).collect();
    // Divided by 0.7, times from the epoch itself would be rounded.
    for time_unit in [None, Some(0.7)] {
        let model = Model { time_unit, ..Model::default() };
        let (a, b) = (fit(&model, &plain), fit(&model, &epoch));
        assert_eq!(all_parameters(&a), all_parameters(&b));
        assert_eq!(a.outcome(), b.outcome());
        let (x, y) = (a.align(&plain[0]).unwrap(), b.align(&epoch[0]).unwrap());
        assert_eq!(x.log_evidence, y.log_evidence);
        for (x, y) in x.stamps.iter().zip(&y.stamps) {
            assert_eq!((x.instance, x.p_instance), (y.instance, y.p_instance));
            assert_eq!(x.p_spurious, y.p_spurious);
            let shifted = [x.low, x.time, x.high].map(|time| time + 1.7e9);
            assert_eq!(shifted, [y.low, y.time, y.high]);
        }
    }
}

#[test]
fn constant_columns_do_no_harm() {
    let plain = drawn(3, 400, 6);
    let widened = |session: &Session| {
        let rows = session.len();
        let constants = Array2::from_shape_fn((rows, 3), |(_, j)| [0.0, 7.0, 1e9][j]);
        let features = concatenate![Axis(1), session.features().to_f64(), constants];
        let (times, stamps) = (session.times().to_vec(), session.stamps().to_vec());
        Session::new(session.name(), features, times, stamps).unwrap()
    };
    let wide: Vec<Session> = plain.iter().map(widened).collect();
    let few = ClassifierSpec::Kernel { length_scale: None, landmarks: Some(25) };
    // Networks are left out: more inputs mean other first weights, and so another optimum.
    for classifier in [ClassifierSpec::Logistic, few] {
        let model = Model { classifier, ..Model::default() };
        let (a, b) = (fit(&model, &plain), fit(&model, &wide));
        let (p, q) = (a.predict(plain[1].features()), b.predict(wide[1].features()));
        for (p, q) in p.unwrap().into_iter().zip(q.unwrap()) {
            // The same optimum; columns of zeros change only the order of additions.
            assert_close(p, q, 1e-6, &format!("{:?}", model.classifier));
        }
    }
}

/// A session with all its labels known.
fn labelled(drawn: Drawn) -> Session<'static> {
    let labels = drawn.labels.iter().map(|&y| Some(y)).collect();
    drawn.session.with_labels(labels).unwrap()
}

#[test]
fn with_every_label_known_the_detector_is_the_supervised_one() {
    let all = truth().draw_many(3, 400, 7);
    let targets: Vec<Vec<Target>> =
        all.iter().map(|d| d.labels.iter().map(|&y| y.into()).collect()).collect();
    let rows: Vec<_> =
        all.iter().zip(&targets).map(|(d, t)| (d.session.features(), t.as_slice())).collect();
    let options = to_the_end();
    let supervised = Supervised { optimiser: options.optimiser, ..Supervised::default() };
    let (detector, _) = supervised.fit(&rows, options.seed, Control::default()).unwrap();
    let want = detector.params().to_vec();

    // A third of each session unobserved: there the labels alone speak.
    let observed = |session: Session| {
        let inside = |z: &f64| *z < 130.0 || *z > 270.0;
        let stamps = session.stamps().iter().copied().filter(inside).collect();
        let (features, times) =
            (session.features().to_f64().into_owned(), session.times().to_vec());
        let labels = session.labels().expect("all are known").to_vec();
        let partly = Session::new(session.name(), features, times, stamps).unwrap();
        partly
            .with_labels(labels)
            .unwrap()
            .with_observed(vec![(-10.0, 130.0), (270.0, 410.0)])
            .unwrap()
    };
    let positives = all.iter().flat_map(|d| &d.labels).filter(|&&y| y).count() as f64;
    let sessions: Vec<Session> = all.into_iter().map(labelled).collect();
    let partly: Vec<Session> = sessions.iter().cloned().map(observed).collect();
    for sessions in [sessions, partly] {
        let fitted = fit(&Model::default(), &sessions);
        let got = [
            fitted.parameter("classifier.weights").unwrap(),
            fitted.parameter("classifier.intercept").unwrap(),
        ]
        .concat();
        for (got, want) in got.iter().zip(&want) {
            // Both at a gradient of 1e-9·√value, where the curvature is at least one.
            assert_close(*got, *want, 1e-5, "weight");
        }
        // Four standard errors, of the two thirds that are observed in the second round.
        let error = (0.09 / (positives * 2.0 / 3.0)).sqrt();
        assert_close(fitted.learned().miss_rate, 0.1, 4.0 * error, "miss rate");
    }
}

#[test]
fn where_nobody_watched_silence_says_nothing() {
    let all = truth().draw_many(4, 1500, 8);
    // The annotator left after 750: the rest of the stamps was never pressed.
    let cut = |drawn: &Drawn| {
        let session = &drawn.session;
        let stamps = session.stamps().iter().copied().filter(|&z| z <= 750.0).collect();
        let (features, times) =
            (session.features().to_f64().into_owned(), session.times().to_vec());
        Session::new(session.name(), features, times, stamps).unwrap()
    };
    let blind: Vec<Session> = all.iter().map(cut).collect();
    let told: Vec<Session> = blind
        .iter()
        .map(|session| session.clone().with_observed(vec![(-10.0, 750.0)]).unwrap())
        .collect();
    let positives: usize = all.iter().map(|d| d.labels[..750].iter().filter(|&&y| y).count()).sum();
    let error = (0.09 / positives as f64).sqrt();
    let miss_rate = |sessions: &[Session]| fit(&Model::default(), sessions).learned().miss_rate;
    // Five standard errors: labels are inferred.
    assert_close(miss_rate(&told), 0.1, 5.0 * error, "told of the gap");
    let blind = miss_rate(&blind);
    // Half of the positives look missed.
    assert!(blind > 0.1 + 10.0 * error, "not told of the gap, yet the miss rate is {blind}");

    let fitted = fit(&Model::default(), &told);
    let aligned = fitted.align(&told[0]).unwrap();
    for (i, instance) in aligned.instances.iter().enumerate() {
        assert_eq!(instance.observed, i <= 750, "{i}");
        if i > 750 {
            assert_eq!((instance.p_missed, instance.p_positive), (0.0, instance.p_detector), "{i}");
        }
    }
}

#[test]
fn a_session_that_nobody_watched_changes_nothing() {
    let mut sessions = drawn(2, 400, 9);
    let unwatched = |session: &Session| {
        let (features, times) =
            (session.features().to_f64().into_owned(), session.times().to_vec());
        let silent = Session::new("unwatched", features, times, vec![]).unwrap();
        // Between two instances: the interval holds none.
        silent.with_observed(vec![(0.25, 0.75)]).unwrap()
    };
    let extra = unwatched(&sessions[0]);
    let few = fit(&Model::paper(), &sessions[..1]);
    let aligned = few.align(&extra).unwrap();
    assert_eq!((aligned.log_evidence, aligned.stamps.len()), (0.0, 0));
    assert!(aligned.instances.iter().all(|i| !i.observed && i.p_positive == i.p_detector));
    sessions[1] = extra;
    let more = fit(&Model::paper(), &sessions);
    for (name, values) in all_parameters(&few) {
        for (x, y) in values.iter().zip(more.parameter(&name).unwrap()) {
            // The same rows twice have the same means and scales, up to rounding.
            assert_close(y, *x, 1e-6, &name);
        }
    }
}

#[test]
fn the_watcher_sees_every_start_fall() {
    let sessions = drawn(2, 300, 10);
    let options = FitOptions { restarts: 3, ..FitOptions::default() };
    let seen: Mutex<Vec<Iteration>> = Mutex::default();
    let reached = Mutex::new(0);
    let watch = |Progress { done, total, iteration }| {
        let mut reached = reached.lock().unwrap();
        assert!(*reached <= done && done <= total, "{reached}, then {done} of {total}");
        *reached = done;
        seen.lock().unwrap().push(iteration.unwrap());
    };
    let control = Control { watch: Some(&watch), ..Control::default() };
    let model = Model { counts: Counts::Bernoulli, ..Model::default() };
    let fitted = model.fit(&sessions, &options, control).unwrap();
    let seen = seen.into_inner().unwrap();
    assert!(seen.iter().all(|p| p.starts == 4));
    for start in 0..4 {
        let own: Vec<&Iteration> = seen.iter().filter(|p| p.start == start).collect();
        let iterations: Vec<usize> = own.iter().map(|p| p.number).collect();
        assert_eq!(iterations, (0..own.len()).collect::<Vec<_>>(), "start {start}");
        assert!(own.len() > 1, "start {start}");
        // The line search lets a value rise by its rounding only.
        assert!(own.windows(2).all(|w| w[1].value <= w[0].value + 1e-9), "start {start}");
    }
    let outcome = fitted.outcome();
    assert_eq!(outcome.values.len(), 4);
    let best = outcome.values.iter().flatten().copied().fold(f64::INFINITY, f64::min);
    assert_eq!(outcome.value, best);
    assert_eq!(outcome.values[outcome.best_start], Some(best));
}

#[test]
fn a_fit_that_is_stopped_before_its_first_value_says_so() {
    let sessions = drawn(2, 300, 11);
    let stop = AtomicBool::new(true);
    let control = Control { stop: Some(&stop), watch: Some(&|progress| panic!("{progress:?}")) };
    let result = Model::default().fit(&sessions, &FitOptions::default(), control);
    assert!(matches!(result, Err(Error::Cancelled)), "{result:?}");
}

#[test]
fn a_cancelled_fit_returns_the_best_so_far_and_says_so() {
    let sessions = drawn(2, 300, 11);
    let options = FitOptions::default();
    // In the first start, and in the second, when the first has already ended well.
    for (start, iteration) in [(0, 0), (0, 4), (1, 2)] {
        let what = format!("cancelled in start {start} at {iteration}");
        let lowest = Mutex::new(f64::INFINITY);
        let stop = AtomicBool::new(false);
        let watch = |Progress { iteration: seen, .. }| {
            assert!(!stop.load(Ordering::Relaxed), "{what}, and going on");
            let seen = seen.unwrap();
            let mut lowest = lowest.lock().unwrap();
            *lowest = lowest.min(seen.value);
            stop.store((seen.start, seen.number) == (start, iteration), Ordering::Relaxed);
        };
        let control = Control { stop: Some(&stop), watch: Some(&watch) };
        let fitted = Model::default().fit(&sessions, &options, control).unwrap();
        let lowest = lowest.into_inner().unwrap();
        let outcome = fitted.outcome();
        assert_eq!(outcome.stop, StopReason::Cancelled, "{what}");
        assert!(!outcome.converged, "{what}");
        assert_eq!(outcome.value, lowest, "{what}");
        assert_eq!(outcome.values.len(), start + 1, "{what}");
        let warned = fitted
            .warnings()
            .iter()
            .any(|w| matches!(w, Warning::NotConverged { stop: StopReason::Cancelled, .. }));
        assert!(warned, "{what}: {:?}", fitted.warnings());
        assert!(fitted.predict(sessions[0].features()).is_ok(), "{what}");
    }
}

#[test]
fn a_clean_fit_has_no_warnings() {
    let fitted = Model::paper()
        .fit(&clearly_drawn(4, 1000, 12), &FitOptions::default(), Control::default())
        .unwrap();
    assert!(fitted.outcome().converged);
    assert_eq!(fitted.warnings(), []);
}

/// The one warning that `wanted` accepts, with its text.
fn warning(fitted: &Fitted, wanted: impl Fn(&Warning) -> bool) -> String {
    let found: Vec<&Warning> = fitted.warnings().iter().filter(|w| wanted(w)).collect();
    assert_eq!(found.len(), 1, "{:?}", fitted.warnings());
    found[0].to_string()
}

#[test]
fn a_fit_cut_short_warns() {
    let optimiser = LbfgsOptions { max_iterations: 1, ..LbfgsOptions::default() };
    let options = FitOptions { optimiser, ..FitOptions::default() };
    let fitted = Model::default().fit(&drawn(2, 300, 13), &options, Control::default()).unwrap();
    let text = warning(&fitted, |w| {
        matches!(w, Warning::NotConverged { stop: StopReason::IterationLimit, gradient_norm }
            if *gradient_norm == fitted.outcome().gradient_norm)
    });
    assert!(
        text.starts_with("learning stopped early (the iterations are used up, gradient "),
        "{text}"
    );
}

#[test]
fn a_spread_as_wide_as_the_gaps_warns() {
    let sessions = drawn(2, 500, 14);
    let mut gaps: Vec<f64> = sessions
        .iter()
        .flat_map(|s| s.stamps().windows(2).map(|w| w[1] - w[0]).collect::<Vec<_>>())
        .collect();
    gaps.sort_by(f64::total_cmp);
    let median = gaps[(gaps.len() - 1) / 2];
    let held = |spread: f64| fit(&Model::paper().freeze("noise.spread", &[spread]), &sessions);
    let near = |w: &Warning| matches!(w, Warning::SpreadNearGap { .. });
    let text = warning(&held(0.41 * median), near);
    let want = format!("{:.3} is large beside the median gap {median:.3}", 0.41 * median);
    assert!(text.contains(&want), "{text}");
    assert!(!held(0.39 * median).warnings().iter().any(near));
}

#[test]
fn a_detector_that_is_unsure_of_its_events_warns() {
    let sessions = clearly_drawn(4, 1000, 15);
    let unsure = |w: &Warning| matches!(w, Warning::UnsureDetector { .. });
    assert!(!fit(&Model::default(), &sessions).warnings().iter().any(unsure));
    // Features of another session have nothing to do with the stamps.
    let others = clearly_drawn(4, 1000, 16);
    let strange: Vec<Session> = sessions
        .iter()
        .zip(&others)
        .map(|(session, other)| {
            let features = other.features().to_f64().into_owned();
            let (times, stamps) = (session.times().to_vec(), session.stamps().to_vec());
            Session::new(session.name(), features, times, stamps).unwrap()
        })
        .collect();
    let fitted = fit(&Model::paper(), &strange);
    let text = warning(&fitted, unsure);
    let (mut expected, mut squares) = (0.0, 0.0);
    for session in &strange {
        for p in fitted.predict(session.features()).unwrap() {
            expected += p;
            squares += p * p;
        }
    }
    let want = format!("a probability of {:.2} on average", squares / expected);
    assert!(text.contains(&want), "{text}, expected {want}");
}

#[test]
fn stamps_far_from_every_instance_warn() {
    let session = drawn(1, 500, 18).swap_remove(0);
    let mut stamps = session.stamps().to_vec();
    stamps.extend([520.0, 540.0]);
    let last = stamps.len() - 1;
    let (features, times) = (session.features().to_f64().into_owned(), session.times().to_vec());
    let sessions = [Session::new("night", features, times, stamps).unwrap()];
    let model = Model::paper().freeze("noise.spread", &[0.7]).freeze("noise.delay", &[0.6]);
    let fitted = fit(&model, &sessions);
    let text = warning(&fitted, |w| {
        matches!(w, Warning::FarStamps { session, count: 2, index, time: 540.0, .. }
            if session == "night" && *index == last)
    });
    // (540 − 0.6 − 499) / 0.7 = 57.7.
    let want = format!("stamp {last} at 540 is 58 spreads off");
    assert!(text.starts_with("session night: 2 stamps lie far from every instance"), "{text}");
    assert!(text.contains(&want), "{text}");
}

#[test]
fn a_spread_below_the_step_of_a_grid_warns() {
    let model = Model::paper().freeze("noise.spread", &[0.4]);
    let tiny = |w: &Warning| matches!(w, Warning::TinySpread { .. });
    let windows = drawn(2, 300, 19);
    let text = warning(&fit(&model, &windows), tiny);
    assert!(text.contains("spread 0.400 is below half the spacing 1.000 of the windows"), "{text}");
    let found_in_a_signal = windows.iter().map(|session| {
        let features = session.features().to_f64().into_owned();
        let times = (0..session.len()).map(|i| i as f64 + 0.3 * (i as f64).sin()).collect();
        Session::new(session.name(), features, times, session.stamps().to_vec()).unwrap()
    });
    assert!(!fit(&model, &found_in_a_signal.collect::<Vec<_>>()).warnings().iter().any(tiny));
}

#[test]
fn the_evidence_of_a_fit_is_that_of_its_sessions() {
    let mut sessions = drawn(3, 200, 21);
    // A frozen parameter has no prior, and a known label is part of the evidence.
    let labels = (0..200).map(|i| (i == 7).then_some(true)).collect();
    sessions[0] = sessions[0].clone().with_labels(labels).unwrap();
    let fitted = fit(&Model::default().freeze("noise.delay", &[0.1]), &sessions);
    let each = sessions.iter().map(|session| fitted.log_evidence(session).unwrap());
    // One is derived from the final value less the prior, the others are summed anew: rounding.
    assert_close(fitted.outcome().log_evidence, each.sum(), 1e-9, "log evidence");
}

#[test]
fn features_too_large_to_standardise_are_an_error_of_supervised_learning_too() {
    let features =
        Array2::from_shape_fn((4, 1), |(i, _)| if i % 2 == 0 { 1.7e308 } else { -1.7e308 });
    let features = Features::from(features);
    let targets = [true, false, true, false].map(Target::from);
    let error = Supervised::default()
        .fit(&[(features.view(), &targets)], 0, Control::default())
        .unwrap_err();
    let message = error.to_string();
    assert!(message.starts_with("the log posterior at the start is "), "{message}");
    assert!(message.ends_with("features or frozen values may be extreme"), "{message}");
}

#[test]
fn restarts_beyond_counting_are_refused() {
    for restarts in [1_000_001, usize::MAX] {
        let options = FitOptions { restarts, ..FitOptions::default() };
        let error = Model::default()
            .fit(&drawn(1, 50, 0), &options, Control::default())
            .unwrap_err()
            .to_string();
        assert!(error.ends_with("expected a number from 0 to 1000000"), "{error}");
    }
}
