//! Notation of stamps: in pairs, rounded, with unused columns.

use unjitter::inspection::Severity::{Note, Suspicious};

use super::faults::{all_stamps, check, events, spoilt};
use super::{Made, Tables};

/// The events with a further column.
fn with_column(name: &str, value: impl Fn(usize) -> String) -> Tables {
    events(|text| {
        let rows = text.lines().skip(1).enumerate().map(|(k, row)| format!("{row},{}\n", value(k)));
        format!("session,time,{name}\n") + &rows.collect::<String>()
    })
}

/// One instance in twenty is positive, so that events lie well apart.
fn rare(sessions: &mut [Made]) {
    for session in sessions {
        let places: Vec<usize> = (0..15).map(|k| 20 * k + (7 * k) % 5).collect();
        session.labels.iter_mut().for_each(|label| *label = "0".to_owned());
        places.iter().for_each(|&k| session.labels[k] = "1".to_owned());
        let phase = f64::from(session.name.as_bytes()[5]) / 300.0;
        session.stamps = places.iter().map(|&k| session.times[k] + phase).collect();
        // No two sessions are alike when they are rounded.
        session.stamps.truncate(usize::from(session.name.as_bytes()[5] - b'0') + 12);
    }
}

#[test]
fn two_people_pressing_for_each_event() {
    let two = |apart: f64| {
        spoilt(|sessions| {
            rare(sessions);
            for session in sessions {
                let again: Vec<f64> = session.stamps.iter().map(|z| z + apart).collect();
                session.stamps.extend(again);
            }
        })
    };
    check(vec![("pairs", Suspicious, "lie about 2.5 s apart", two(2.5))]);
    // As far apart as events: this cannot be found.
    assert_eq!(two(9.0).findings(), []);
    assert_eq!(spoilt(|sessions| rare(sessions)).findings(), []);
}

#[test]
fn two_people_who_are_told_apart() {
    let two = |column: &str| {
        let tables = spoilt(|sessions| {
            rare(sessions);
            for session in sessions {
                session.stamps = session.stamps.iter().flat_map(|&z| [z, z + 2.5]).collect();
            }
        });
        let people = ["al", "bo"].into_iter().cycle();
        let rows = tables.events.lines().skip(1).zip(people);
        let rows: String = rows.map(|(row, name)| format!("{row},{name}\n")).collect();
        Tables { events: format!("session,time,{column}\n{rows}"), ..tables }
    };
    let (known, unknown) = (two("annotator").inspect(), two("person").inspect());
    assert_eq!((known.summary.annotators, unknown.summary.annotators), (Some(2), None));
    assert_eq!(super::kinds(&known.findings), [""; 0]);
    assert_eq!(super::kinds(&unknown.findings), ["pairs"]);
    // Gaps are those between events, not between people.
    assert!(known.summary.stamp_gap > unknown.summary.stamp_gap, "{:?}", known.summary);
}

#[test]
fn stamps_to_the_minute() {
    let rounded = |grid: f64, shift: f64| {
        spoilt(|sessions| {
            rare(sessions);
            // A slow recording: an instance every three seconds.
            for session in &mut *sessions {
                session.times.iter_mut().for_each(|t| *t *= 3.0);
                session.stamps.iter_mut().for_each(|z| *z *= 3.0);
            }
            all_stamps(sessions, |z| (z / grid).round() * grid + shift);
        })
        .unlabelled()
    };
    check(vec![
        (
            "rounded_stamps",
            Suspicious,
            "a whole multiple of 60 s, with instances 3",
            rounded(60.0, 0.0),
        ),
        ("rounded_stamps", Note, "about 2.89 s of it", rounded(10.0, 0.0)),
    ]);
    // Rounded to less than the spacing of instances, or on an unusual grid.
    assert_eq!(rounded(1.0, 0.0).findings(), []);
    assert_eq!(rounded(10.0, 0.37).findings(), []);
}

#[test]
fn columns_that_are_not_used() {
    let two = |one: &'static str, other: &'static str| {
        move |k: usize| if k.is_multiple_of(3) { one } else { other }.to_owned()
    };
    check(vec![
        (
            "several_kinds",
            Suspicious,
            "`Trial_Type` of the events tells 2 kinds apart: puff, cough;",
            with_column("Trial_Type", two("cough", "puff")),
        ),
        (
            "several_annotators",
            Note,
            "2 people apart: bo, al; their stamps are taken for those of one",
            with_column("rater", two("al", "bo")),
        ),
        (
            "ends_unused",
            Note,
            "`stop_time` of the events is not used",
            with_column("stop_time", |_| "1".into()),
        ),
    ]);
    // One kind, notes, and an unknown name.
    for tables in [
        with_column("class", |_| "puff".into()),
        with_column("label", |k| format!("note {k}")),
        with_column("button", two("A", "B")),
    ] {
        assert_eq!(tables.findings(), []);
    }
}
