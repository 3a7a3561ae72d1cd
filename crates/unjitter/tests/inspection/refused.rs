//! Refusals before learning: every gross fault of units and clocks is found without labels, and ordinary
//! sloppiness is accepted.

use ndarray::Array2;
use unjitter::inspection::{Finding, Severity, check};
use unjitter::io::Clock;
use unjitter::signal::CycleOptions;
use unjitter::simulation::{Respiration, Sloppiness, Tails};
use unjitter::{Control, Recording, Session};

use super::{kind, kinds};

/// Simulated breaths, about four seconds each.
fn breaths(sessions: usize, seed: u64) -> Vec<Recording<'static>> {
    let bands =
        Respiration::mpuff().with_sessions(sessions).simulate(seed, Control::default()).unwrap();
    let recording = |band: &unjitter::simulation::ChestBand| {
        let labelled = band.session(&CycleOptions::default()).unwrap();
        Recording { session: labelled.session, truth: Some(labelled.labels) }
    };
    bands.iter().map(recording).collect()
}

/// Recordings one behind the other, as one.
fn joined(parts: &[Recording<'_>], name: &str) -> Recording<'static> {
    let (mut times, mut values, mut truth) = (Vec::new(), Vec::new(), Vec::new());
    for part in parts {
        let own = part.session.times();
        let begin = times.last().map_or(0.0, |end| end + 4.0) - own[0];
        times.extend(own.iter().map(|t| t + begin));
        part.session.features().visit_rows(|row| values.extend_from_slice(row));
        truth.extend_from_slice(part.truth.as_ref().unwrap());
    }
    let shape = (times.len(), values.len() / times.len());
    let features = Array2::from_shape_vec(shape, values).unwrap();
    let session = Session::new(name, features, times, Vec::new()).unwrap();
    Recording { session, truth: Some(truth) }
}

fn stamped(
    recordings: &[Recording<'static>],
    how: &Sloppiness,
    seed: u64,
) -> Vec<Session<'static>> {
    let annotator = how.annotator(recordings, 4.0).unwrap();
    let stamped = annotator.annotate_all(recordings, seed).unwrap();
    stamped.into_iter().map(|recording| recording.session).collect()
}

/// The sessions with their stamps changed.
fn changed(
    sessions: &[Session<'static>],
    change: impl Fn(usize, f64) -> f64,
) -> Vec<Session<'static>> {
    let one = |(k, session): (usize, &Session<'static>)| {
        let stamps = session.stamps().iter().map(|&z| change(k, z)).collect();
        session.clone().with_stamps(stamps).unwrap()
    };
    sessions.iter().enumerate().map(one).collect()
}

fn findings(sessions: &[Session<'_>], clocks: &[Clock]) -> Vec<Finding> {
    let width = sessions[0].features().ncols();
    let names: Vec<String> = (0..width).map(|k| format!("x{k}")).collect();
    check(sessions, clocks, &names)
}

fn problems(sessions: &[Session<'_>], clocks: &[Clock]) -> Vec<Finding> {
    let mut findings = findings(sessions, clocks);
    findings.retain(|finding| finding.severity() == Severity::Problem);
    findings
}

const SLOPPY: Sloppiness = Sloppiness {
    tails: Tails::Gaussian,
    delay: 0.5,
    spread: 1.0,
    offset_spread: 0.0,
    drift_spread: 0.0,
    rounded: 0.0,
    people: 1,
    together: false,
    habits: (0.0, 0.0),
    pressed: 0.9,
    extra: 0.1,
    ends: None,
};

#[test]
fn wrong_units_and_clocks_are_refused() {
    let sessions = stamped(&breaths(13, 0), &SLOPPY, 0);
    let clocks = vec![Clock::default(); sessions.len()];
    type Change = fn(usize, f64) -> f64;
    let cases: [(&str, &str, Change); 9] = [
        ("unit_mismatch", "multiplied by 0.001", |_, z| 1e3 * z),
        ("unit_mismatch", "multiplied by 1.00e-6", |_, z| 1e6 * z),
        ("unit_mismatch", "multiplied by 1.00e-9", |_, z| 1e9 * z),
        ("unit_mismatch", "multiplied by 60", |_, z| z / 60.0),
        ("unit_mismatch", "multiplied by 1000", |_, z| z / 1e3),
        ("shifted_clock", "shifted by -1 h", |_, z| z + 3600.0),
        ("shifted_clock", "shifted by +2 h", |_, z| z - 7200.0),
        ("shifted_clock", "shifted by +3653 days", |_, z| z - 3653.0 * 86400.0),
        (
            "shifted_clock",
            "of 4 sessions",
            |k, z| if k % 4 == 1 || k == 0 { z + 7200.0 } else { z },
        ),
    ];
    for (expected, words, change) in cases {
        let sessions = changed(&sessions, change);
        let found = problems(&sessions, &clocks);
        assert_eq!(kinds(&found), [expected], "{words}: {found:#?}");
        assert!(found[0].to_string().contains(words), "{words}: {}", found[0]);
        // The same in an unknown unit, except for hours.
        let found = problems(&sessions, &[]);
        assert_eq!(kinds(&found), [expected], "{words}: {found:#?}");
        assert!(!found[0].in_unit_of_times().contains(" h"), "{}", found[0].in_unit_of_times());
    }
    assert_eq!(findings(&sessions, &clocks), []);
}

#[test]
fn a_clock_that_is_off_within_a_day_is_told_by_the_features() {
    let days: Vec<Recording<'static>> =
        (0..3).map(|k| joined(&breaths(40, k), &format!("day-{k}"))).collect();
    let sessions = stamped(&days, &SLOPPY, 1);
    let clocks = vec![Clock::default(); 3];
    assert_eq!(findings(&sessions, &clocks), []);
    for (shift, words) in [(3600.0, "-1 h (a time zone?)"), (-2220.0, "+37"), (7200.0, "-2 h")] {
        let shifted = changed(&sessions, |_, z| z + shift);
        for clocks in [&clocks[..], &[]] {
            let found = problems(&shifted, clocks);
            assert_eq!(kinds(&found), ["shifted_inside"], "{shift}: {found:#?}");
        }
        let found = problems(&shifted, &clocks)[0].to_string();
        assert!(found.contains(words), "{found}");
    }
    // One day of three, which the others tell how to look at.
    let one = changed(&sessions, |k, z| if k == 1 { z - 3600.0 } else { z });
    let found = problems(&one, &clocks);
    assert_eq!(kinds(&found), ["shifted_inside"], "{:#?}", findings(&one, &clocks));
    assert!(found[0].to_string().contains("day-1 by +1 h"), "{}", found[0]);
    // Ordinary sloppiness: late by eight breaths.
    assert_eq!(problems(&changed(&sessions, |_, z| z + 32.0), &clocks), []);
}

#[test]
fn sloppy_people_are_not_refused() {
    let ways = [
        Sloppiness { spread: 8.0, ..SLOPPY },
        Sloppiness { delay: 8.0, ..SLOPPY },
        Sloppiness { offset_spread: 5.0, ..SLOPPY },
        Sloppiness { pressed: 0.7, extra: 0.3, ..SLOPPY },
        Sloppiness { tails: Tails::StudentT { degrees_of_freedom: 2.1 }, spread: 8.0, ..SLOPPY },
    ];
    for seed in 0..3 {
        let recordings = breaths(13, seed);
        for how in &ways {
            let sessions = stamped(&recordings, how, seed);
            let clocks = vec![Clock::default(); sessions.len()];
            for (from, to) in [(0, 13), (0, 10), (3, 13), (5, 6)] {
                let found = problems(&sessions[from..to], &clocks[from..to]);
                assert_eq!(found, [], "{how:?}, seed {seed}, sessions {from} to {to}");
            }
        }
    }
}

#[test]
fn few_stamps_prove_nothing() {
    for recording in breaths(4, 7) {
        let session = recording.session;
        let end = session.times()[session.len() - 1];
        for stamps in [vec![], vec![end + 60.0], vec![-7200.0, end + 7200.0], vec![1e9, 1e9 + 1.0]]
        {
            let few = session.clone().with_stamps(stamps).unwrap();
            assert_eq!(findings(&[few], &[Clock::default()]).iter().map(kind).next(), None);
        }
    }
}
