//! Clocks that are off and drift.

use unjitter::math::Random;
use unjitter::model::{Factor, GroupEstimate, Varying};
use unjitter::sync::{SyncOptions, SyncedClock, Verdict, moved_back, sync};
use unjitter::{AlignOptions, Control, Error, FitOptions, Fitted, Model, Session, Warning};

use crate::drawn::{Clock, Recording, USUAL, f1, fit, recordings};

/// Recordings stamped by clocks that are off by this much, and gain this much, as a standard deviation.
fn off(
    count: usize,
    offset: f64,
    drift: f64,
    seed: u64,
) -> (Vec<Recording>, Vec<Clock>, Vec<Session<'static>>) {
    let mut random = Random::new(seed);
    let all = recordings(count, &mut random);
    let clocks: Vec<Clock> =
        all.iter().map(|_| (offset * random.normal(), drift * random.normal())).collect();
    let stamp =
        |(own, &clock): (&Recording, &Clock)| own.session(own.stamps(USUAL, clock, &mut random));
    let sessions = all.iter().zip(&clocks).map(stamp).collect();
    (all, clocks, sessions)
}

fn by_session() -> Model {
    Model::default().with_clocks(Factor::Session)
}

/// The offsets and drifts that were learned, by session.
fn learned(fitted: &Fitted, what: Varying) -> Vec<GroupEstimate> {
    let all = fitted.group_estimates(0.95).unwrap();
    all.into_iter().filter(|own| own.variation.what == what).collect()
}

#[test]
fn offsets_and_drifts_are_found_and_held_by_their_intervals() {
    let (all, clocks, sessions) = off(40, 6.0, 0.01, 11);
    let (alike, fitted) = (fit(&Model::default(), &sessions), fit(&by_session(), &sessions));
    let spread = fitted.learned().spread;
    // 540 stamps, less two numbers for each of 40 sessions, tell the spread to 4 %.
    assert!((spread - 1.0).abs() < 0.12, "{spread}");
    let (offsets, drifts) = (learned(&fitted, Varying::Offset), learned(&fitted, Varying::Drift));
    let (mut near, mut inside, mut drift_inside) = (0, 0, 0);
    for ((offset, drift), clock) in offsets.iter().zip(&drifts).zip(&clocks) {
        let truth = clock.0 + USUAL.delay - fitted.learned().delay;
        near += usize::from((offset.value - truth).abs() < 1.0);
        let own = offset.estimate.unwrap();
        inside += usize::from(own.low <= truth && truth <= own.high);
        let own = drift.estimate.unwrap();
        drift_inside += usize::from(own.low <= clock.1 && clock.1 <= own.high);
    }
    println!("near {near}, inside {inside}, drifts inside {drift_inside} of 40; spread {spread}");
    // Some 13 stamps tell an offset to 0.3 spacings.
    assert!(near >= 38, "{near}");
    // 95 of 100; of 40 at least 34 in 99 of 100 cases.
    assert!(inside >= 34 && drift_inside >= 34, "{inside} {drift_inside}");
    // Without clocks all of that is scatter.
    assert!(alike.learned().spread > 4.0, "{:?}", alike.learned());
    assert!(f1(&fitted, &all) > f1(&alike, &all) - 0.01);
}

#[test]
fn clocks_that_are_right_change_nothing() {
    let (all, _, sessions) = off(30, 0.0, 0.0, 12);
    let (alike, fitted) = (fit(&Model::default(), &sessions), fit(&by_session(), &sessions));
    let (a, b) = (alike.learned(), fitted.learned());
    // A tenth of a standard error of the delay, and of the spread.
    assert!(
        (a.delay - b.delay).abs() < 0.05 && (a.spread / b.spread).ln().abs() < 0.05,
        "{a:?} {b:?}"
    );
    assert!((f1(&fitted, &all) - f1(&alike, &all)).abs() < 0.01);
    let width = |fitted: &Fitted| {
        let own = fitted.learned_estimates(0.95).unwrap().delay.unwrap();
        own.high - own.low
    };
    assert!(
        (width(&fitted) / width(&alike)).ln().abs() < 0.2,
        "{} {}",
        width(&fitted),
        width(&alike)
    );
    for own in learned(&fitted, Varying::Offset) {
        assert!(own.value.abs() < 0.3, "{own:?}");
    }
}

#[test]
fn a_session_that_was_not_seen_has_its_clock_found() {
    let (_, _, sessions) = off(20, 5.0, 0.0, 13);
    let model = Model::default().varying(Varying::Offset, Factor::Session);
    let fitted = fit(&model, &sessions);
    let (all, clocks, others) = off(30, 5.0, 0.0, 14);
    let renamed =
        |(k, own): (usize, &Recording)| Recording { name: format!("new {k:02}"), ..own.clone() };
    let all: Vec<Recording> = all.iter().enumerate().map(renamed).collect();
    let others: Vec<Session<'static>> =
        all.iter().zip(&others).map(|(own, old)| own.session(old.stamps().to_vec())).collect();
    // Not guessed.
    assert!(matches!(fitted.align(&others[0]), Err(Error::UnseenGroup { .. })));
    let adapted = fitted.adapted(&others, Control::default()).unwrap();
    let offsets: Vec<GroupEstimate> = learned(&adapted.fitted, Varying::Offset)
        .into_iter()
        .filter(|own| own.group.starts_with("new"))
        .collect();
    let (mut near, mut inside, mut held, mut stamps) = (0, 0, 0.0, 0.0);
    for (k, (offset, clock)) in offsets.iter().zip(&clocks).enumerate() {
        let truth = clock.0 + USUAL.delay - fitted.learned().delay;
        near += usize::from((offset.value - truth).abs() < 1.0);
        let own = offset.estimate.unwrap();
        inside += usize::from(own.low <= truth && truth <= own.high);
        let aligned = adapted.fitted.align_with(&others[k], &AlignOptions::default()).unwrap();
        for own in &aligned.stamps {
            let (low, high) = (own.low as usize, own.high as usize);
            stamps += 1.0 - own.p_spurious;
            held += (1.0 - own.p_spurious)
                * f64::from(u8::from(all[k].labels[low..=high].contains(&true)));
        }
    }
    println!("near {near}, inside {inside} of 30; events inside {held} of {stamps}");
    assert!(near >= 27 && inside >= 25, "{near} {inside}"); // as above
    assert!(held > 0.93 * stamps, "{held} of {stamps}");
    // Sessions that were seen are what they were.
    let before = fitted.align(&sessions[3]).unwrap();
    assert_eq!(before, adapted.fitted.align(&sessions[3]).unwrap());
}

#[test]
fn the_evidence_of_a_new_session_is_integrated_over_its_offset() {
    let (_, _, sessions) = off(20, 3.0, 0.0, 15);
    let model = Model::default().varying(Varying::Offset, Factor::Session);
    let options = FitOptions { simulations: 0, ..FitOptions::default() };
    let fitted = model.fit(&sessions[..19], &options, Control::default()).unwrap();
    let scale = fitted.groups().effects()[0].scale * fitted.time_unit();
    // The same model with one offset for all, applied to stamps that were moved back by every offset.
    let still = fitted.adapted(&sessions[19..], Control::default()).unwrap();
    let at = |offset: f64| {
        let moved = sessions[19]
            .stamps()
            .iter()
            .map(|z| z - offset + still_offset(&still.fitted))
            .collect();
        let session = sessions[19].clone().with_stamps(moved).unwrap();
        let log_density =
            -0.5 * (offset / scale).powi(2) - (scale * std::f64::consts::TAU.sqrt()).ln();
        still.fitted.log_evidence(&session).unwrap() + log_density
    };
    let step = 0.05;
    let values: Vec<f64> = (-400..=400).map(|k| at(step * f64::from(k))).collect();
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let integral = most + (step * values.iter().map(|v| (v - most).exp()).sum::<f64>()).ln();
    let got = fitted.held_out_log_evidence(&sessions[19]).unwrap();
    // Laplace's approximation of a likelihood of a dozen stamps.
    assert!((got - integral).abs() < 0.1, "{got} {integral}");
}

/// The offset of the session that was added last.
fn still_offset(fitted: &Fitted) -> f64 {
    learned(fitted, Varying::Offset).last().unwrap().value
}

#[test]
fn what_stamps_do_not_tell_is_said() {
    let (_, _, sessions) = off(20, 4.0, 0.0, 16);
    let fitted = fit(&Model::default(), &sessions);
    // One press could belong to any event, and none tells nothing.
    let lonely = |name: &str, stamps: Vec<f64>| {
        let mut random = Random::new(3);
        Recording::draw(name.to_owned(), 300, &mut random).session(stamps)
    };
    let few = [lonely("one press", vec![150.0]), lonely("no press", Vec::new())];
    let options = SyncOptions { range: Some(60.0), ..SyncOptions::default() };
    let found = sync(&fitted, &few, &options, Control::default()).unwrap();
    let verdict = |name: &str| found.iter().find(|own| own.name == name).unwrap().verdict;
    assert_eq!(verdict("no press"), Verdict::NoStamps);
    assert!(matches!(verdict("one press"), Verdict::Several | Verdict::Flat), "{found:?}");
    let several = [few.to_vec(), sessions].concat();
    let model = Model { clock_range: Some(60.0), ..by_session() };
    let warnings = fit(&model, &several).warnings().to_vec();
    let names = warnings.iter().find_map(|own| match own {
        Warning::ClocksNotFound { several, flat } => Some([several.clone(), flat.clone()].concat()),
        _ => None,
    });
    assert!(names.unwrap().contains(&"one press".to_owned()), "{warnings:?}");
}

#[test]
fn stamps_of_nothing_are_not_given_a_clock() {
    let (_, _, sessions) = off(20, 4.0, 0.0, 16);
    let fitted = fit(&Model::default(), &sessions);
    let mut random = Random::new(31);
    // As many as of other sessions, at any time; and those of right clocks.
    let mut drawn = |name: String, is_real: bool| {
        let own = Recording::draw(name, 300, &mut random);
        let clock = (12.0 * random.normal(), 0.0);
        let mut stamps = own.stamps(USUAL, clock, &mut random);
        if !is_real {
            stamps.iter_mut().for_each(|stamp| *stamp = 299.0 * random.uniform());
            stamps.sort_by(f64::total_cmp);
        }
        own.session(stamps)
    };
    let options = SyncOptions { range: Some(60.0), ..SyncOptions::default() };
    let mut found = |is_real: bool| {
        let all: Vec<Session<'_>> = (0..40).map(|k| drawn(format!("{k}"), is_real)).collect();
        let clocks = sync(&fitted, &all, &options, Control::default()).unwrap();
        clocks.iter().filter(|own| own.verdict == Verdict::Found).count()
    };
    let (strange, real) = (found(false), found(true));
    // Of 40. The best of all places alone would make it 11.
    assert!(strange <= 5 && real >= 38, "{strange} {real}");
}

#[test]
fn threads_change_no_bit() {
    let (_, _, sessions) = off(12, 5.0, 0.005, 17);
    let with = |threads: usize| {
        let options = FitOptions { threads: Some(threads), ..FitOptions::default() };
        by_session().fit(&sessions, &options, Control::default()).unwrap().to_json()
    };
    assert_eq!(with(1), with(3));
}

#[test]
fn a_model_with_clocks_is_read_back() {
    let (_, _, sessions) = off(8, 5.0, 0.0, 18);
    let fitted = fit(&by_session(), &sessions);
    let text = fitted.to_json();
    let again = Fitted::from_json(text.as_bytes()).unwrap();
    assert_eq!(again.to_json(), text);
    assert_eq!(fitted.align(&sessions[2]).unwrap(), again.align(&sessions[2]).unwrap());
    let refused = |from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        let error = Fitted::from_json(text.replacen(from, to, 1).as_bytes()).unwrap_err();
        error.to_string()
    };
    assert!(refused("\"s001\"", "\"s009\"").contains("names in order"));
    assert!(refused("\"what\": \"offset\"", "\"what\": \"delay\"").contains("model.varies"));
}

#[test]
fn clocks_are_looked_for_by_a_model_that_has_groups_of_its_own() {
    let (_, clocks, sessions) = off(14, 5.0, 0.0, 19);
    let fitted = fit(&by_session(), &sessions[..8]);
    // Some of them it has seen, and their offsets are not to be told beyond those that it knows.
    let options = SyncOptions { drift: 0.0, ..SyncOptions::default() };
    let found = sync(&fitted, &sessions, &options, Control::default()).unwrap();
    for (own, clock) in found.iter().zip(&clocks) {
        let truth = clock.0 + USUAL.delay - fitted.learned().delay;
        assert_eq!(own.verdict, Verdict::Found, "{} {truth}", own.name);
        // A dozen stamps tell an offset to 0.3 spacings.
        assert!((own.offset - truth).abs() < 1.2, "{} {} {truth}", own.name, own.offset);
    }
}

#[test]
fn stamps_are_moved_back_by_the_clock_of_who_gave_them() {
    let names = ["ann", "bob", "cyd"].map(str::to_owned);
    let features = ndarray::Array2::<f64>::zeros((11, 1));
    let times: Vec<f64> = (100..=110).map(f64::from).collect();
    let session = Session::new("s", features, times, vec![102.0, 107.2, 110.0]).unwrap();
    let session = session.with_annotators(&names, &[]).unwrap();
    let clock = |name: &str, verdict: Verdict| SyncedClock {
        name: name.to_owned(),
        stamps: 1,
        verdict,
        offset: 2.0,
        low: 1.0,
        high: 3.0,
        drift: 0.1,
        probability: 1.0,
        others: Vec::new(),
        profile: Vec::new(),
    };
    let clocks = [clock("bob", Verdict::Found), clock("cyd", Verdict::Flat)];
    // 105 is the middle, from where on bob's clock gains a tenth.
    let moved = moved_back(&session, Factor::Annotator, &clocks);
    for (got, want) in moved.iter().zip([102.0, 105.0 + 0.2 / 1.1, 110.0]) {
        assert!((got - want).abs() < 1e-12, "{moved:?}"); // sums of numbers of order 100
    }
    assert_eq!(moved_back(&session, Factor::Clock, &clocks), session.stamps());
}
