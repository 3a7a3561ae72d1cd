//! One fault at a time: just that one is found, and its message has what helps.

use unjitter::inspection::Severity::{self, Note, Problem, Suspicious};

use super::{Made, Tables, healthy, kinds};

/// The change to a dataset, the expected finding, its severity, and parts of its message.
pub(super) type Case = (&'static str, Severity, &'static str, Tables);

pub(super) fn check(cases: Vec<Case>) {
    for (expected, severity, words, tables) in cases {
        let findings = tables.findings();
        assert_eq!(kinds(&findings), [expected], "{findings:#?}");
        assert_eq!(findings[0].severity(), severity, "{expected}");
        let message = findings[0].to_string();
        assert!(message.contains(words), "{expected}: {message}");
    }
}

/// Three healthy sessions after `spoil`.
pub(super) fn spoilt(spoil: impl FnOnce(&mut Vec<Made>)) -> Tables {
    let mut sessions = healthy(3);
    spoil(&mut sessions);
    Tables::of(&sessions)
}

/// The same with another events table.
pub(super) fn events(change: impl FnOnce(String) -> String) -> Tables {
    let tables = spoilt(|_| {});
    Tables { events: change(tables.events), ..tables }
}

pub(super) fn all_stamps(sessions: &mut [Made], change: impl Fn(f64) -> f64) {
    sessions.iter_mut().flat_map(|session| &mut session.stamps).for_each(|z| *z = change(*z));
}

/// The times of the last session's instances and stamps, changed.
fn all_times(sessions: &mut [Made], change: impl Fn(f64) -> f64) {
    all_stamps(sessions, &change);
    sessions.iter_mut().flat_map(|session| &mut session.times).for_each(|t| *t = change(*t));
}

#[test]
fn healthy_tables_have_nothing_to_find() {
    assert_eq!(spoilt(|_| {}).findings(), []);
    assert_eq!(spoilt(|_| {}).unlabelled().findings(), []);
}

#[test]
fn names_and_tables() {
    check(vec![
        (
            "unknown_sessions",
            Problem,
            "2 events of 1 session without instances: `walk_1` (did you mean `walk-1`?)",
            events(|text| text + "walk_1,7\nwalk_1,9\n"),
        ),
        (
            "no_session_column",
            Problem,
            "add a column `session`",
            events(|_| "time\n1\n2\n".to_owned()),
        ),
        (
            "unreadable_times",
            Problem,
            "first `noon` on line",
            events(|text| text + "walk-1,noon\n"),
        ),
        ("no_events_table", Note, "not learned", events(|_| String::new())),
        ("no_stamps", Problem, "nothing to learn from", events(|_| "session,time\n".to_owned())),
        (
            "repeated_sessions",
            Suspicious,
            "walk-0 = copy",
            spoilt(|sessions| {
                let copy = Made { name: "copy".to_owned(), ..sessions[0].clone() };
                sessions.push(copy);
            }),
        ),
        (
            "repeated_stamps",
            Suspicious,
            "walk-0 = walk-1",
            spoilt(|sessions| sessions[1].stamps = sessions[0].stamps.clone()).unlabelled(),
        ),
    ]);
}

#[test]
fn units_of_time() {
    let milliseconds = |seconds: f64| (1000.0 * seconds).round();
    let since_1970 = |seconds: f64| (1.7e12 + 1000.0 * seconds).round();
    let instances = |sessions: &mut Vec<Made>, change: &dyn Fn(f64) -> f64| {
        sessions.iter_mut().flat_map(|s| &mut s.times).for_each(|t| *t = change(*t));
    };
    check(vec![
        (
            "unit_mismatch",
            Problem,
            "multiplied by 0.001: the events seem to be in a smaller unit",
            spoilt(|sessions| all_stamps(sessions, milliseconds)),
        ),
        (
            "unit_mismatch",
            Problem,
            "multiplied by 1000000: the instances seem to be in a smaller unit",
            // Hours of recording, so that microseconds taken for seconds are not absurd by
            // themselves.
            spoilt(|sessions| {
                all_times(sessions, |t| t * 1e-5);
                instances(sessions, &|t| t * 1e6);
            }),
        ),
        (
            "unit_mismatch",
            Problem,
            "multiplied by 60: the instances seem to be in a smaller unit",
            spoilt(|sessions| all_stamps(sessions, |z| z / 60.0)),
        ),
        (
            "other_unit",
            Note,
            "if the times are milliseconds, read them as such",
            spoilt(|sessions| all_times(sessions, milliseconds)),
        ),
        (
            "other_unit",
            Suspicious,
            "if the times are microseconds, read them as such",
            spoilt(|sessions| all_times(sessions, |t| (1e6 * t).round())),
        ),
        (
            "other_unit",
            Problem,
            "milliseconds since 1970",
            spoilt(|sessions| all_times(sessions, since_1970)),
        ),
    ]);
    // Seconds since 1970 are correct.
    assert_eq!(spoilt(|s| all_times(s, |t| (1e3 * t).round() / 1e3 + 1.7e9)).findings(), []);
}

#[test]
fn clocks() {
    check(vec![
        (
            "shifted_clock",
            Problem,
            "all would fit if shifted by +1 h (a time zone?): walk-0, walk-1, walk-2",
            spoilt(|sessions| all_stamps(sessions, |z| z - 3600.0)),
        ),
        (
            "shifted_clock",
            Problem,
            "1 session (",
            spoilt(|sessions| all_stamps(&mut sessions[1..2], |z| z + 1000.0)),
        ),
        (
            "outside_session",
            Suspicious,
            "1 in walk-0, 1 in walk-2; look at their dates",
            events(|text| text + "walk-0,500\nwalk-2,-40\n"),
        ),
        (
            "outside_session",
            Problem,
            "in walk-1",
            // Far outside and far apart: no shift helps.
            spoilt(|sessions| all_stamps(sessions, |z| (z - 3.0) * 90.0)),
        ),
        (
            "far_from_positives",
            Suspicious,
            "about 8.",
            spoilt(|sessions| all_stamps(sessions, |z| z + 8.0)),
        ),
        (
            "far_from_positives",
            Suspicious,
            "before them in walk-1;",
            spoilt(|sessions| all_stamps(&mut sessions[1..2], |z| z - 8.0)),
        ),
    ]);
    // Late by three instances: people are.
    assert_eq!(spoilt(|sessions| all_stamps(sessions, |z| z + 3.0)).findings(), []);
    // Without labels this cannot be found.
    let shifted = spoilt(|sessions| all_stamps(sessions, |z| z + 8.0));
    assert_eq!(shifted.unlabelled().findings(), []);
}

#[test]
fn stamps() {
    let keep = |sessions: &mut Vec<Made>, count: usize| {
        sessions.iter_mut().for_each(|session| session.stamps.truncate(count));
    };
    check(vec![
        (
            "same_time",
            Note,
            "1 of",
            spoilt(|sessions| {
                let again = sessions[0].stamps[3];
                sessions[0].stamps.push(again);
            }),
        ),
        (
            "same_time",
            Suspicious,
            "drop repeated lines",
            events(|text| text.clone() + text.split_once('\n').unwrap().1),
        ),
        (
            "double_presses",
            Suspicious,
            "double presses?",
            spoilt(|sessions| {
                for session in sessions {
                    let again: Vec<f64> = session.stamps.iter().map(|z| z + 0.12).collect();
                    session.stamps.extend(again.iter().step_by(2));
                }
            }),
        ),
        (
            "unstamped",
            Suspicious,
            "1 of 3 sessions have no stamps, 1 of them with instances labelled positive: walk-1",
            spoilt(|sessions| sessions[1].stamps.clear()),
        ),
        ("unstamped", Note, "walk-1", spoilt(|sessions| sessions[1].stamps.clear()).unlabelled()),
        ("few_stamps", Suspicious, "only 6 stamps", spoilt(|sessions| keep(sessions, 2))),
        (
            "fewer_than_features",
            Note,
            "fewer stamps (24) than features (30)",
            spoilt(|sessions| {
                keep(sessions, 8);
                for (i, row) in sessions.iter_mut().flat_map(|s| &mut s.features).enumerate() {
                    row.extend((2..30).map(|k| ((i * k) as f64).sin()));
                }
            }),
        ),
        (
            "more_than_instances",
            Suspicious,
            "in walk-2",
            spoilt(|sessions| {
                sessions[2].stamps = (0..320).map(|k| 5.0 + 0.9 * f64::from(k)).collect();
            })
            .unlabelled(),
        ),
        (
            "wide_beside_gap",
            Note,
            "half a guess",
            // Everybody pressed all the time.
            spoilt(|sessions| {
                for session in sessions {
                    session.stamps = (0..100).map(|k| 5.0 + 2.9 * f64::from(k)).collect();
                    session.labels.iter_mut().enumerate().for_each(|(i, label)| {
                        *label = u8::from(i % 20 == 0).to_string();
                    });
                    session.stamps[0] += f64::from(session.name.as_bytes()[5]) / 100.0;
                }
            }),
        ),
    ]);
    // A session in which nothing happened needs no stamps.
    let calm = spoilt(|sessions| {
        sessions[1].stamps.clear();
        sessions[1].labels.fill("0".to_owned());
    });
    assert_eq!(calm.findings(), []);
}

#[test]
fn labels_and_times() {
    check(vec![
        (
            "one_class",
            Suspicious,
            "every label is 0",
            spoilt(|sessions| sessions.iter_mut().for_each(|s| s.labels.fill("0".to_owned()))),
        ),
        (
            "mostly_positive",
            Note,
            "the wrong way round?",
            spoilt(|sessions| {
                for label in sessions.iter_mut().flat_map(|session| &mut session.labels) {
                    *label = if label == "1" { "0" } else { "1" }.to_owned();
                }
            }),
        ),
        (
            "label_runs",
            Note,
            "positive instances come in 30 runs of 4 on average, with 30 stamps in all",
            spoilt(|sessions| {
                for session in sessions {
                    let is_positive = |i: usize| i % 30 >= 10 && i % 30 < 14;
                    session.labels =
                        (0..300).map(|i| u8::from(is_positive(i)).to_string()).collect();
                    session.stamps = (0..10).map(|k| session.times[30 * k + 10] + 0.3).collect();
                }
            }),
        ),
        (
            "partly_labelled",
            Note,
            "889 of 900 instances have a label",
            spoilt(|sessions| sessions[1].labels[..11].fill(String::new())),
        ),
        (
            "instances_at_one_time",
            Note,
            "1 of 900 instances are at the very time of the one before, first in session walk-2",
            spoilt(|sessions| sessions[2].times[7] = sessions[2].times[6]),
        ),
        (
            "long_gaps",
            Note,
            "1 long stretch without instances, the longest 6.",
            spoilt(|sessions| {
                sessions[1].times[150..].iter_mut().for_each(|t| *t += 400.0);
                let late = |z: &mut f64| *z += if *z > 155.0 { 400.0 } else { 0.0 };
                sessions[1].stamps.iter_mut().for_each(late);
            }),
        ),
        (
            "long_gaps",
            Suspicious,
            ", with 1 stamp in them, ",
            spoilt(|sessions| {
                sessions[1].times[150..].iter_mut().for_each(|t| *t += 400.0);
                let late = |z: &mut f64| *z += if *z > 155.0 { 400.0 } else { 0.0 };
                sessions[1].stamps.iter_mut().for_each(late);
                sessions[1].stamps.push(300.0);
            }),
        ),
    ]);
}

#[test]
fn features() {
    let more = |value: fn(usize, &[f64], &str) -> f64| {
        spoilt(|sessions| {
            for session in sessions {
                for (i, row) in session.features.iter_mut().enumerate() {
                    row.push(value(i, row, &session.labels[i]));
                }
            }
        })
    };
    check(vec![
        ("constant_features", Note, "everywhere: x2;", more(|_, _, _| 4.0)),
        (
            "nearly_constant",
            Note,
            "nearly everywhere: x2",
            spoilt(|sessions| {
                // One instance of 1200 differs.
                *sessions = healthy(4);
                sessions.iter_mut().flat_map(|s| &mut s.features).for_each(|row| row.push(0.0));
                sessions[0].features[9][2] = 1.0;
            }),
        ),
        ("repeated_features", Note, "x1 = x2", more(|_, row, _| row[1])),
        (
            "label_as_feature",
            Suspicious,
            "x2 is the label in disguise",
            more(|_, _, label| 1.0 - label.parse::<f64>().unwrap()),
        ),
        (
            "huge_values",
            Note,
            "as large as 1.0e38 in x2",
            more(|i, row, _| if i % 50 == 0 { -1e38 } else { row[0] - row[1] }),
        ),
    ]);
    // Rare, but not that rare; and much larger than its neighbours.
    assert_eq!(more(|i, _, _| if i % 100 == 0 { 1e9 } else { 0.0 }).findings(), []);
}
