//! Every fault is found in data that has just that fault, and nothing is found in healthy data.

mod faults;
mod healthy;
mod leaks;
mod presses;
mod refused;
mod scale;

use std::fmt::Write as _;

use unjitter::inspection::{Finding, Inspection, inspect_files};
use unjitter::io::{Columns, DatasetFiles};
use unjitter::math::Random;

/// A made-up session: an instance about every second, each tenth or so positive and stamped.
#[derive(Clone)]
struct Made {
    name: String,
    times: Vec<f64>,
    features: Vec<Vec<f64>>,
    labels: Vec<String>,
    stamps: Vec<f64>,
}

/// Healthy sessions, 300 instances each.
fn healthy(sessions: usize) -> Vec<Made> {
    let session = |k: usize| {
        let mut random = Random::new(k as u64);
        let times: Vec<f64> =
            (0..300).map(|i| f64::from(i) + 0.3 * random.uniform() + 5.0).collect();
        let positive: Vec<bool> = times.iter().map(|_| random.uniform() < 0.1).collect();
        let mut stamps: Vec<f64> = Vec::new();
        for (time, _) in times.iter().zip(&positive).filter(|(_, positive)| **positive) {
            stamps.push(time + 0.4 + 0.5 * random.normal());
        }
        let features = times.iter().map(|_| vec![random.normal(), random.normal()]).collect();
        let labels = positive.iter().map(|y| u8::from(*y).to_string()).collect();
        Made { name: format!("walk-{k}"), times, features, labels, stamps }
    };
    (0..sessions).map(session).collect()
}

/// The tables of sessions.
#[derive(Clone)]
struct Tables {
    instances: String,
    events: String,
}

impl Tables {
    fn of(sessions: &[Made]) -> Self {
        let width = sessions[0].features[0].len();
        let names: Vec<String> = (0..width).map(|k| format!("x{k}")).collect();
        let mut instances = format!("session,time,{},label\n", names.join(","));
        let mut events = "session,time\n".to_owned();
        for session in sessions {
            for (i, time) in session.times.iter().enumerate() {
                let values: Vec<String> =
                    session.features[i].iter().map(|value| value.to_string()).collect();
                let (name, label) = (&session.name, &session.labels[i]);
                let _ = writeln!(instances, "{name},{time},{},{label}", values.join(","));
            }
            for stamp in &session.stamps {
                let _ = writeln!(events, "{},{stamp}", session.name);
            }
        }
        Self { instances, events }
    }

    /// The same without labels.
    fn unlabelled(self) -> Self {
        let cut = |line: &str| line[..line.rfind(',').unwrap()].to_owned() + "\n";
        Self { instances: self.instances.lines().map(cut).collect(), ..self }
    }

    fn inspect(&self) -> Inspection {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        let files = DatasetFiles {
            instances: write("instances.csv", &self.instances),
            events: (!self.events.is_empty()).then(|| write("events.csv", &self.events)).into(),
            ..DatasetFiles::default()
        };
        inspect_files(&files, &Columns::default()).unwrap()
    }

    fn findings(&self) -> Vec<Finding> {
        self.inspect().findings
    }
}

/// The name that a finding has in JSON.
fn kind(finding: &Finding) -> String {
    serde_json::to_value(finding).unwrap()["kind"].as_str().unwrap().to_owned()
}

fn kinds(findings: &[Finding]) -> Vec<String> {
    findings.iter().map(kind).collect()
}
