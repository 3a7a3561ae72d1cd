//! Experiments from their text to their page.

mod files;
mod grid;
mod page;
mod resume;

use std::path::Path;

use unjitter::{Recording, Session};

use crate::datasets::Dataset;
use crate::spec::Spec;

/// An experiment small enough for a test: two settings, two learners, one seed.
const TINY: &str = r#"
name = "tiny"
title = "A tiny experiment"
seeds = [0]
compare = "LR-M"

[cross_validation]
folds = 2
inner_folds = 2

[sweep]
over = "spread"
values = [0.5, 2.0]

[[learners]]
kind = "imprecise"
weight_precision = [1.0, 10.0]
restarts = 0

[[learners]]
kind = "hand_aligned"

[quick]
values = [1.0]
weight_precision = [1.0]
"#;

fn parse(text: &str) -> anyhow::Result<Spec> {
    Spec::parse(Path::new("some/tiny.toml"), text)
}

/// Sessions in which one feature reveals events, and another is noise.
fn dataset(sessions: usize) -> Dataset {
    let recording = |s: usize| {
        let count = 60;
        let truth: Vec<bool> = (0..count).map(|i| (i + s) % 9 == 4).collect();
        let features = ndarray::Array2::from_shape_fn((count, 2), |(i, j)| match j {
            0 => f64::from(u8::from(truth[i])) + 0.3 * ((7 * i + 3 * s) as f64).sin(),
            _ => ((5 * i + s) as f64).cos(),
        });
        let times = (0..count).map(|i| 2.0 * i as f64).collect();
        let session = Session::new(format!("s{s}"), features, times, vec![]).unwrap();
        Recording { session, truth: Some(truth) }
    };
    Dataset { name: "made up".to_owned(), recordings: (0..sessions).map(recording).collect() }
}
