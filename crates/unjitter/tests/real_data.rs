//! On recorded data, where it is at hand: as good as training on the labels themselves.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use ndarray::Array2;
use unjitter::learning::{Supervised, Target};
use unjitter::{FitOptions, Model, Session};

/// The folder with recordings beside the checkout, if there is one.
fn folder(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data").join(name);
    path.is_dir().then_some(path)
}

/// Rows of a plain CSV file, split at commas, without its header.
fn rows(path: &Path) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().skip(1).map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

/// Sessions with the given stamps, and their labels apart.
fn sessions(folder: &Path, stamps: &str) -> Vec<(Session, Vec<bool>)> {
    let mut times_of: HashMap<String, Vec<f64>> = HashMap::new();
    for row in rows(&folder.join(stamps)) {
        times_of.entry(row[0].clone()).or_default().push(row[1].parse().unwrap());
    }
    let all = rows(&folder.join("instances.csv"));
    all.chunk_by(|a, b| a[0] == b[0])
        .map(|rows| {
            let columns = rows[0].len() - 3;
            let number = |row: &Vec<String>, k: usize| row[k].parse::<f64>().unwrap();
            let features =
                Array2::from_shape_fn((rows.len(), columns), |(i, j)| number(&rows[i], j + 2));
            let times = rows.iter().map(|row| number(row, 1)).collect();
            let labels = rows.iter().map(|row| number(row, columns + 2) == 1.0).collect();
            let mut stamps = times_of.remove(&rows[0][0]).unwrap_or_default();
            stamps.sort_by(f64::total_cmp);
            (Session::new(&rows[0][0], features, times, stamps).unwrap(), labels)
        })
        .collect()
}

fn f1(predicted: impl Iterator<Item = (f64, bool)>) -> f64 {
    let (mut hits, mut wrong) = (0.0, 0.0);
    for (p, label) in predicted {
        match (p >= 0.5, label) {
            (true, true) => hits += 1.0,
            (false, false) => {}
            _ => wrong += 1.0,
        }
    }
    2.0 * hits / (2.0 * hits + wrong)
}

#[test]
fn sloppy_stamps_teach_as_well_as_labels() {
    let Some(folder) = folder("pvc_mitbih") else {
        eprintln!("skipped: no recordings beside the checkout");
        return;
    };
    let data = sessions(&folder, "stamps_2x.csv");
    let targets: Vec<Vec<Target>> =
        data.iter().map(|(_, labels)| labels.iter().map(|&y| y.into()).collect()).collect();
    let rows: Vec<_> =
        data.iter().zip(&targets).map(|((s, _), t)| (s.features(), t.as_slice())).collect();
    let (detector, _) = Supervised::default().fit(&rows, 0).unwrap();
    let by_hand = f1(data.iter().flat_map(|(session, labels)| {
        detector.predict(session.features()).unwrap().into_iter().zip(labels.iter().copied())
    }));

    let training: Vec<Session> = data.iter().map(|(session, _)| session.clone()).collect();
    let fitted = Model::default().fit(&training, &FitOptions::default()).unwrap();
    let ours = f1(data.iter().flat_map(|(session, labels)| {
        fitted.predict(session.features()).unwrap().into_iter().zip(labels.iter().copied())
    }));
    // The promise of the method on this data: within 5 % of training on the labels.
    assert!(ours >= 0.95 * by_hand, "F1 {ours} from stamps, {by_hand} from labels");
}
