//! No false alarms on data that can be learned from.

use std::path::Path;

use unjitter::inspection::{Finding, Severity, inspect_files};
use unjitter::io::{Columns, DatasetFiles};
use unjitter::signal::CycleOptions;
use unjitter::simulation::{Annotator, Respiration};
use unjitter::{Control, Recording};

use super::{Made, Tables, kinds};
use crate::healthy as made;

/// No problem, nothing suspicious, and two notes at most.
fn assert_calm(findings: &[Finding], what: &str) {
    let worst = findings.iter().map(Finding::severity).max();
    assert!(worst.is_none_or(|worst| worst == Severity::Note), "{what}: {findings:#?}");
    assert!(findings.len() <= 2, "{what}: {:?}", kinds(findings));
}

/// Simulated breaths, stamped by `annotator`.
fn breaths(annotator: &Annotator, seed: u64) -> Vec<Made> {
    let recordings = Respiration::mpuff().simulate(seed, Control::default()).unwrap();
    let stamped = |(k, recording): (usize, &unjitter::simulation::ChestBand)| {
        let labelled = recording.session(&CycleOptions::default()).unwrap();
        let truth = labelled.labels.clone();
        let recording = Recording { session: labelled.session, truth: Some(truth.clone()) };
        let session = annotator.annotate(&recording, k as u64).unwrap().session;
        Made {
            name: session.name().to_owned(),
            times: session.times().to_vec(),
            features: (0..session.len()).map(|i| session.features().row(i)).collect(),
            labels: truth.iter().map(|y| u8::from(*y).to_string()).collect(),
            stamps: session.stamps().to_vec(),
        }
    };
    recordings.iter().enumerate().map(stamped).collect()
}

#[test]
fn simulated_breaths_are_calm() {
    for seed in 0..3 {
        for spread in [1.0, 5.0] {
            for delay in [0.0, 4.0] {
                let tables = Tables::of(&breaths(&Annotator::gaussian(delay, spread), seed));
                let what = format!("seed {seed}, delay {delay}, spread {spread}");
                assert_calm(&tables.findings(), &what);
                assert_calm(&tables.unlabelled().findings(), &what);
            }
        }
    }
}

#[test]
#[ignore = "needs recordings"]
fn recorded_data_is_calm() {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    for name in ["pvc_mitbih", "gait_turn"] {
        let folder = beside.join(name);
        for stamps in ["stamps_1x.csv", "stamps_2x.csv", "true_events.csv"] {
            let files = DatasetFiles {
                instances: folder.join("instances.csv"),
                events: Some(folder.join(stamps)).into(),
                sessions: Some(folder.join("sessions.csv")),
                ..DatasetFiles::default()
            };
            let inspection = inspect_files(&files, &Columns::default()).unwrap();
            assert_calm(&inspection.findings, &format!("{name} {stamps}"));
            assert!(inspection.summary.subjects.is_some());
        }
    }
}

#[test]
fn events_in_a_row_that_each_have_a_stamp_are_no_runs() {
    let mut sessions = made(3);
    for session in &mut sessions {
        let is_positive = |i: &usize| i % 30 >= 10 && i % 30 < 14;
        session.labels = (0..300).map(|i| u8::from(is_positive(&i)).to_string()).collect();
        session.stamps = (0..300).filter(is_positive).map(|i| session.times[i] + 0.3).collect();
    }
    let found = kinds(&Tables::of(&sessions).findings());
    assert!(!found.contains(&"label_runs".to_owned()), "{found:?}");
}

#[test]
fn features_change_where_the_events_are() {
    let mut sessions = made(6);
    let changes = |sessions: &[Made]| Tables::of(sessions).inspect().changes.unwrap().peaks;
    assert_eq!(changes(&sessions), []);
    for session in &mut sessions {
        for (row, label) in session.features.iter_mut().zip(&session.labels) {
            row[0] += if label == "1" { 3.0 } else { 0.0 };
        }
    }
    let peak = changes(&sessions)[0];
    assert!((peak.lag - 0.4).abs() < 0.5, "{peak:?}"); // half an instance's spacing
}
